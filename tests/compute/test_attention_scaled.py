"""Dot-product attention: closed forms, PyTorch's own, explicit loops, and the texts' variants."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from seqviz.compute.attention.scaled import (
    OPERATORS,
    SCALES,
    attend,
    divisor,
    entropy,
    softmax,
)

# A handful of float64 roundings of numbers of size 1.
ROUNDING = 1e-12
CAUSAL = np.tri(3, dtype=bool)
# Scores of discrepancy D-30: queries are the rows, keys the unit vectors.
PRINTED = np.array([[2.0, 1.0, 3.0], [1.0, 2.0, 0.5], [0.3, 1.0, 2.0]])


def drawn(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.RandomState(seed).standard_normal(shape)


@pytest.mark.parametrize(
    ("scale", "d_k", "d", "expected"),
    # The base Transformer: 8 with d_k; 22.627 with d, as one of the texts writes (D-24).
    [("d_k", 64, 512, 8.0), ("d", 64, 512, math.sqrt(512)), ("none", 64, 512, 1.0)],
)
def test_divisors(scale, d_k, d, expected):
    assert divisor(scale, d_k, d) == expected
    assert scale in SCALES


@pytest.mark.parametrize("setting", [("sqrt", 16, 16), ("d_k", 0, 16), ("none", 4, 0)])
def test_divisors_that_there_are_not(setting):
    with pytest.raises(ValueError, match=r"^[A-Z].*\.$"):
        divisor(*setting)


def test_softmax_of_logarithms_is_their_share():
    shares = np.array([[0.5, 0.25, 0.25], [0.125, 0.125, 0.75]])
    np.testing.assert_allclose(softmax(np.log(shares) + 7), shares, rtol=ROUNDING)


def test_softmax_of_huge_scores_does_not_overflow():
    np.testing.assert_array_equal(softmax(np.array([1e300, -1e300, 0.0])), [1, 0, 0])
    np.testing.assert_array_equal(softmax(np.full(4, -1e300)), np.full(4, 0.25))


def test_a_query_that_may_look_at_nothing_mixes_nothing():
    """Zeros, not nan: as PyTorch's attention has it."""
    allowed = np.array([[False, False, False], [True, False, False], [True, True, True]])
    q, k, v = drawn(3, 4), drawn(3, 4, seed=1), drawn(3, 2, seed=2)
    found = attend(q, k, v, allowed=allowed)
    np.testing.assert_array_equal(found.weights[0], 0)
    np.testing.assert_array_equal(found.output[0], 0)
    theirs = scaled_dot_product_attention(
        *(torch.from_numpy(a) for a in (q, k, v)), attn_mask=torch.from_numpy(allowed), scale=1.0
    )
    np.testing.assert_allclose(found.output, theirs.numpy(), atol=ROUNDING)


@pytest.mark.parametrize("n", [1, 2, 3, 16])
def test_entropy_of_equal_weights_is_log2_of_their_number(n):
    # 1/n is rounded, and so is its logarithm: a few last bits
    assert entropy(np.full((2, n), 1 / n)) == pytest.approx([math.log2(n)] * 2, abs=ROUNDING)


def test_entropy_of_certainty_is_zero_and_positive_zero():
    found = entropy(np.array([0.0, 1.0, 0.0]))
    assert found == 0
    assert not np.signbit(found)
    assert entropy(np.zeros(3)) == 0


def test_entropy_by_hand():
    # 1/2 * 1 bit + 2 * 1/4 * 2 bits, all exact in float64
    assert entropy(np.array([0.5, 0.25, 0.25])) == 1.5


@pytest.mark.parametrize("operator", OPERATORS)
def test_a_mask_that_is_multiplied_leaks(operator):
    """The run of D-30, printed with four decimals."""
    found = attend(PRINTED, np.eye(3), np.eye(3), allowed=CAUSAL, operator=operator)
    expected = {
        "add": [[1, 0, 0], [0.2689, 0.7311, 0]],
        "multiply": [[0.7870, 0.1065, 0.1065], [0.2447, 0.6652, 0.0900]],
    }[operator]
    np.testing.assert_allclose(found.weights[:2], expected, atol=5e-5)  # half of the last decimal
    forbidden = found.masked[~CAUSAL]
    np.testing.assert_array_equal(forbidden, -np.inf if operator == "add" else 0)
    np.testing.assert_array_equal(found.masked[CAUSAL], found.scaled[CAUSAL])


@pytest.mark.parametrize("allowed", [None, CAUSAL, drawn(3, 5) > -0.5], ids=str)
@pytest.mark.parametrize("shape", [(), (4,), (2, 3)], ids=str)
def test_against_pytorch(shape, allowed):
    keys = 3 if allowed is None else allowed.shape[1]
    q, k, v = drawn(*shape, 3, 6), drawn(*shape, keys, 6, seed=1), drawn(*shape, keys, 2, seed=2)
    if allowed is not None:
        allowed = allowed | (np.arange(keys) == 0)  # no empty row here
    mask = None if allowed is None else torch.from_numpy(allowed)
    theirs = scaled_dot_product_attention(*(torch.from_numpy(a) for a in (q, k, v)), attn_mask=mask)
    found = attend(q, k, v, divide_by=divisor("d_k", 6, 6), allowed=allowed)
    np.testing.assert_allclose(found.output, theirs.numpy(), atol=ROUNDING)
    np.testing.assert_allclose(found.weights.sum(axis=-1), 1, atol=ROUNDING)


def test_causal_against_pytorch_is_causal():
    q, k, v = drawn(2, 3, 6), drawn(2, 3, 6, seed=1), drawn(2, 3, 6, seed=2)
    theirs = scaled_dot_product_attention(*(torch.from_numpy(a) for a in (q, k, v)), is_causal=True)
    found = attend(q, k, v, divide_by=math.sqrt(6), allowed=CAUSAL)
    np.testing.assert_allclose(found.output, theirs.numpy(), atol=ROUNDING)


@pytest.mark.parametrize("operator", OPERATORS)
def test_every_stage_against_a_loop(operator):
    q, k, v = drawn(3, 4), drawn(3, 4, seed=1), drawn(3, 2, seed=2)
    found = attend(q, k, v, divide_by=2.0, temperature=0.5, allowed=CAUSAL, operator=operator)
    for i in range(3):
        scores = [sum(q[i, c] * k[j, c] for c in range(4)) for j in range(3)]
        scaled = [score / 2.0 / 0.5 for score in scores]
        closed = -math.inf if operator == "add" else 0.0
        masked = [scaled[j] if j <= i else closed for j in range(3)]
        powers = [math.exp(score) for score in masked]
        weights = [power / sum(powers) for power in powers]
        output = [sum(weights[j] * v[j, c] for j in range(3)) for c in range(2)]
        for stage, row in zip(
            (found.scores, found.scaled, found.masked, found.weights, found.output),
            (scores, scaled, masked, weights, output),
            strict=True,
        ):
            np.testing.assert_allclose(stage[i], row, rtol=ROUNDING, atol=ROUNDING)


def test_heads_broadcast():
    q, k, v = drawn(4, 3, 6), drawn(1, 5, 6, seed=1), drawn(1, 5, 2, seed=2)
    found = attend(q, k, v)
    for head in range(4):
        alone = attend(q[head], k[0], v[0])
        np.testing.assert_allclose(found.output[head], alone.output, atol=ROUNDING)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("operator", OPERATORS)
def test_precision_stays(dtype, operator):
    x = drawn(3, 4).astype(dtype)
    found = attend(x, x, x, divide_by=2.0, temperature=0.7, allowed=CAUSAL, operator=operator)
    stages = (found.scores, found.scaled, found.masked, found.weights, found.output)
    assert {stage.dtype for stage in stages} == {np.dtype(dtype)}
    assert entropy(found.weights).dtype == dtype


def test_temperature_goes_from_one_key_to_all():
    x = drawn(3, 4)
    assert attend(x, x, x, temperature=1e-4).weights.max(axis=-1) == pytest.approx([1, 1, 1])
    # scores of size 10 divided by 1e9 leave 1e-8
    np.testing.assert_allclose(attend(x, x, x, temperature=1e9).weights, 1 / 3, atol=1e-8)


def test_attention_has_no_order_of_its_own():
    """Permuted keys and values give the same outputs; permuted queries permuted ones."""
    q, k, v, order = drawn(3, 4), drawn(3, 4, seed=1), drawn(3, 2, seed=2), [2, 0, 1]
    before = attend(q, k, v).output
    np.testing.assert_allclose(attend(q, k[order], v[order]).output, before, atol=ROUNDING)
    np.testing.assert_allclose(attend(q[order], k, v).output, before[order], atol=ROUNDING)


@pytest.mark.parametrize(
    "setting",
    [
        {"divide_by": 0.0},
        {"divide_by": -1.0},
        {"divide_by": math.nan},
        {"temperature": 0.0},
        {"temperature": math.inf},
        {"operator": "subtract"},
    ],
    ids=str,
)
def test_settings_that_there_are_not(setting):
    x = drawn(3, 4)
    with pytest.raises(ValueError, match=r"^The .*\.$"):
        attend(x, x, x, **setting)


def test_inputs_are_left_alone():
    arrays = [drawn(3, 4), drawn(3, 4, seed=1), drawn(3, 4, seed=2)]
    copies = [a.copy() for a in arrays]
    attend(*arrays, divide_by=2.0, allowed=CAUSAL, operator="multiply")
    for array, copy in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_importing_costs_only_numpy():
    code = (
        "import sys; import seqviz.compute.attention.scaled, seqviz.compute.attention.walkthrough,"
        " seqviz.compute.attention.saturation;"
        "print(sorted({'torch', 'scipy', 'statsmodels', 'streamlit'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
