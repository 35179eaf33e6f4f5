"""Dot-product attention: closed forms, PyTorch's own, explicit loops, and the texts' variants."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from seqviz.compute.attention.scaled import OPERATORS, attend, divisor, entropy, softmax

# A handful of float64 roundings of numbers of size 1.
ROUNDING = 1e-12
CAUSAL = np.tri(3, dtype=bool)
# Scores of discrepancy D-30: queries are the rows, keys the unit vectors.
PRINTED = np.array([[2.0, 1.0, 3.0], [1.0, 2.0, 0.5], [0.3, 1.0, 2.0]])
BOTH = pytest.mark.parametrize("operator", OPERATORS)


def drawn(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.RandomState(seed).standard_normal(shape)


# The base Transformer: 8 with d_k; 22.627 with d, as one of the texts writes (D-24).
@pytest.mark.parametrize(("scale", "expected"), [("d_k", 8.0), ("d", math.sqrt(512)), ("none", 1)])
def test_divisor_matches_scale(scale, expected):
    assert divisor(scale, 64, 512) == expected


@pytest.mark.parametrize(
    ("scores", "weights"),
    [
        ([math.log(0.5) + 7, math.log(0.25) + 7, math.log(0.25) + 7], [0.5, 0.25, 0.25]),
        ([1e300, -1e300, 0.0], [1, 0, 0]),  # huge scores do not overflow
        ([-1e300] * 4, [0.25] * 4),
        ([-math.inf] * 2, [0, 0]),  # a query that may look at nothing
        ([[0.0, 0.0], [0.0, math.log(3)]], [[0.5, 0.5], [0.25, 0.75]]),
    ],
)
def test_softmax_matches_closed_form(scores, weights):
    np.testing.assert_allclose(softmax(np.array(scores)), weights, rtol=ROUNDING)


@pytest.mark.parametrize(
    ("weights", "bits"),
    [
        ([[1.0]], 0),
        ([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]], 0),  # and a query that may look nowhere
        ([[0.5, 0.5], [0.9, 0.1]], [1, -(0.9 * math.log2(0.9) + 0.1 * math.log2(0.1))]),
        ([0.5, 0.25, 0.125, 0.125], 1.75),
        ([[1 / 3] * 3, [0.5, 0.5, 0.0]], [math.log2(3), 1]),
        ([[[1 / 16] * 16]], 4),
    ],
)
def test_entropy_matches_closed_form(weights, bits):
    result = entropy(np.array(weights))
    np.testing.assert_allclose(result, bits, atol=ROUNDING)
    assert not np.signbit(result).any()  # "-0 bits" would be seen in a table


@BOTH
def test_attend_multiplied_mask_leaks(operator):
    """The run of D-30, printed with four decimals."""
    result = attend(PRINTED, np.eye(3), np.eye(3), allowed=CAUSAL, operator=operator)
    expected = {
        "add": [[1, 0, 0], [0.2689, 0.7311, 0]],
        "multiply": [[0.7870, 0.1065, 0.1065], [0.2447, 0.6652, 0.0900]],
    }[operator]
    np.testing.assert_allclose(result.weights[:2], expected, atol=5e-5)  # half of the last decimal


@pytest.mark.parametrize("blind", [False, True])  # whether a query may look at nothing
@pytest.mark.parametrize("allowed", [None, CAUSAL, drawn(3, 5) > -0.5], ids=str)
@pytest.mark.parametrize(("shape", "kept"), [((), ()), ((2, 3), (2, 3)), ((4,), (1,))], ids=str)
def test_attend_matches_torch(shape, kept, allowed, blind):
    """Leading axes broadcast. Where a query may look at nothing there are zeros, not nan."""
    n = 3 if allowed is None else allowed.shape[1]
    q, k, v = drawn(*shape, 3, 6), drawn(*kept, n, 6, seed=1), drawn(*kept, n, 2, seed=2)
    allowed = np.ones((3, n), bool) if allowed is None and blind else allowed
    mask = None
    if allowed is not None:
        allowed = (allowed | (np.arange(n) == 0)) & (not blind or np.arange(3)[:, None] > 0)
        mask = torch.from_numpy(allowed)
    theirs = scaled_dot_product_attention(
        *(torch.from_numpy(np.broadcast_to(a, (*shape, *a.shape[-2:])).copy()) for a in (q, k, v)),
        attn_mask=mask,
    )
    result = attend(q, k, v, divide_by=divisor("d_k", 6, 6), allowed=allowed)
    np.testing.assert_allclose(result.output, theirs.numpy(), atol=ROUNDING)


@BOTH
def test_attend_stages_match_explicit_loop(operator):
    q, k, v = drawn(3, 4), drawn(3, 4, seed=1), drawn(3, 2, seed=2)
    for array in (q, k, v):
        array.flags.writeable = False  # readings are
    result = attend(q, k, v, divide_by=2.0, temperature=0.5, allowed=CAUSAL, operator=operator)
    for i in range(3):
        scores = [sum(q[i, c] * k[j, c] for c in range(4)) for j in range(3)]
        scaled = [score / 2.0 / 0.5 for score in scores]
        closed = -math.inf if operator == "add" else 0.0
        masked = [scaled[j] if j <= i else closed for j in range(3)]
        powers = [math.exp(score) for score in masked]
        weights = [power / sum(powers) for power in powers]
        output = [sum(weights[j] * v[j, c] for j in range(3)) for c in range(2)]
        for stage, row in zip(
            (result.scores, result.scaled, result.masked, result.weights, result.output),
            (scores, scaled, masked, weights, output),
            strict=True,
        ):
            np.testing.assert_allclose(stage[i], row, rtol=ROUNDING, atol=ROUNDING)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@BOTH
def test_attend_keeps_dtype(dtype, operator):
    x = drawn(3, 4).astype(dtype)
    result = attend(x, x, x, divide_by=2.0, temperature=0.7, allowed=CAUSAL, operator=operator)
    assert {stage.dtype for stage in vars(result).values()} == {np.dtype(dtype)}
    assert entropy(result.weights).dtype == dtype


@pytest.mark.parametrize(
    ("function", "setting"),
    [
        (divisor, {"scale": "sqrt", "d_k": 16, "d": 16}),
        (divisor, {"scale": "d_k", "d_k": 0, "d": 16}),
        (divisor, {"scale": "none", "d_k": 4, "d": 0}),
        *((attend, dict.fromkeys(("queries", "keys", "values"), PRINTED) | setting)
          for setting in ({"divide_by": 0.0}, {"divide_by": -1.0}, {"divide_by": math.nan},
                          {"temperature": 0.0}, {"temperature": math.inf},
                          {"operator": "subtract"})),
    ],
)  # fmt: skip
def test_attend_and_divisor_reject_bad_settings(function, setting):
    with pytest.raises(ValueError, match=r"^[A-Z].*\.$"):
        function(**setting)
