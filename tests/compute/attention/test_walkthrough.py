"""The walk-through of the Transformer chapter: every number it prints, and what must follow.

Tolerances for printed numbers: relative 1e-4 for those in scientific notation, absolute 1e-4 for
those with four decimals. The authors' machine rounded float32 a little differently (largest
differences found: 4.4e-5 and 5.8e-5), and our float64 recomputation agrees with ours.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from seqviz.compute.attention.scaled import attend
from seqviz.compute.attention.walkthrough import IDS, WORDS, walk

SCIENTIFIC = {"rtol": 1e-4, "atol": 0}
DECIMALS = {"rtol": 0, "atol": 1e-4}
# float32 roundings of sums of 16 products as large as 50; relative to the largest
SINGLE = 2e-5


def close(result, expected, **tolerance):
    np.testing.assert_allclose(result, expected, **tolerance)


# --- printed numbers ------------------------------------------------------------------------------

# Where a number stands in a walk, with which settings, as printed, with which tolerance.
PRINTED = {
    "without parameters, output of the second word": (
        lambda result: result.basic.output[1], {},
        [-9.3975e-01, -4.6856e-01, 1.0311e+00, -2.8192e-01, 4.9373e-01, -1.2896e-02, -2.7327e-01,
         -7.6358e-01, 1.3958e+00, -9.9543e-01, -7.1288e-04, 1.2449e+00, -7.8077e-02, 1.2765e+00,
         -1.4589e+00, -2.1601e+00], SCIENTIFIC),
    "without parameters, weights of the second word": (
        lambda result: result.basic.weights[1], {},
        [5.8773e-07, 9.9910e-01, 8.9788e-04, 7.4187e-08, 3.2391e-07, 3.4407e-07, 5.4033e-07,
         2.8926e-08], SCIENTIFIC),
    "without parameters, sums of rows": (
        lambda result: result.basic.weights.sum(axis=-1), {}, np.ones(8), DECIMALS),
    # D-41: the chapter says columns; its code sums the rows. Half of the last printed decimal and
    # eight float32 roundings.
    "without parameters, sums of columns": (
        lambda result: result.basic.weights.sum(axis=0), {},
        [0.992701, 0.999430, 1.010092, 0.951733, 0.997543, 1.048283, 1.000158, 1.000059],
        {"rtol": 0, "atol": 2e-6}),
    "scores of the second query": (
        lambda result: result.attention.scores[0, 1], {},
        [-25.1623, 9.3602, 14.3667, 32.1482, 53.8976, 46.6626, -1.2131, -32.9391], DECIMALS),
    "scaled weights of the second query": (
        lambda result: result.attention.weights[0, 1], {},
        [2.2317e-09, 1.2499e-05, 4.3696e-05, 3.7242e-03, 8.5596e-01, 1.4025e-01, 8.8896e-07,
         3.1936e-10], SCIENTIFIC),
    "unscaled weights of the second query": (
        lambda result: result.attention.weights[0, 1, 4:6], {"scale": "none"},
        [9.9928e-01, 7.2037e-04], SCIENTIFIC),
    "context of the second word": (
        lambda result: result.attention.output[0, 1], {},
        [-1.2226, -3.4387, -4.3928, -5.2125, -1.1249, -3.3041, -1.4316, -3.2765, -2.5114, -2.6105,
         -1.5793, -2.8433, -2.4142, -0.3998, -1.9917, -3.3499], DECIMALS),
    # `multihead_keys[2, 1]`: the third head, as index 2 says (D-42: the chapter says second)
    "third head, second key": (
        lambda result: result.vectors.key[2, 1], {"heads": 8},
        [-1.9619, -0.7701, -0.7280, -1.6840, -1.0801, -1.6778, 0.6763, 0.6547, 1.4445, -2.7016,
         -1.1364, -1.1204, -2.4430, -0.5982, -0.8292, -1.4401], DECIMALS),
}  # fmt: skip


def test_sentence_ids_are_alphabetical_ranks():
    sentence = "can you help me to translate this sentence"
    assert " ".join(WORDS) == sentence
    alphabet = {word: index for index, word in enumerate(sorted(sentence.split()))}
    assert tuple(alphabet[word] for word in WORDS) == IDS == (0, 7, 1, 2, 5, 6, 4, 3)
    assert tuple(walk().ids) == IDS


@pytest.mark.parametrize("name", PRINTED)
def test_walk_reproduces_printed_numbers(name):
    there, settings, printed, tolerance = PRINTED[name]
    close(there(walk(**settings)), printed, **tolerance)


# --- the chapter's own code -----------------------------------------------------------------------


def test_walk_matches_chapter_code():
    """Its calls in its order, with PyTorch's global generator, set back afterwards."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(123)
        x = torch.nn.Embedding(10, 16)(torch.tensor(IDS)).detach()
        torch.manual_seed(123)
        item = [torch.rand(16, 16) for _ in range(3)]
        torch.manual_seed(123)
        torch.rand(16, 16)
        many = [torch.rand(8, 16, 16) for _ in range(3)]
        last = torch.nn.Linear(8 * 16, 16)
    single, multi = walk(), walk(heads=8)
    np.testing.assert_array_equal(single.embeddings, x.numpy())
    for matrix, ours in zip(item, vars(single.vectors).values(), strict=True):
        close(ours[0], torch.stack([matrix @ row for row in x]).numpy(), atol=SINGLE)
    stacked = x.T.repeat(8, 1, 1)
    for matrices, ours in zip(many, vars(multi.vectors).values(), strict=True):
        close(ours, torch.bmm(matrices, stacked).permute(0, 2, 1).numpy(), atol=SINGLE)
    np.testing.assert_array_equal(multi.output_weight, last.weight.detach().numpy().T)
    np.testing.assert_array_equal(multi.output_bias, last.bias.detach().numpy())
    close(
        multi.combined,
        last(torch.from_numpy(multi.concatenated)).detach().numpy(),
        atol=SINGLE,
    )


def test_walk_preserves_global_rng_state():
    before = torch.get_rng_state()
    walk(seed=7, heads=4)
    assert torch.equal(torch.get_rng_state(), before)


# --- second implementation ------------------------------------------------------------------------


@pytest.mark.parametrize(("heads", "causal"), [(1, True), (8, False)])
def test_walk_matches_torch_attention(heads, causal):
    result = walk(heads=heads, causal=causal)
    q, k, v = (torch.from_numpy(a.astype(np.float64)) for a in vars(result.vectors).values())
    theirs = scaled_dot_product_attention(q, k, v, is_causal=causal).numpy()
    # scores of size 300 in float32 are off by 1e-5 each, and so are the weights
    close(result.attention.output, theirs, rtol=1e-4, atol=5e-4)
    joined = np.concatenate(list(theirs), axis=1)
    close(result.combined, joined @ result.output_weight + result.output_bias, rtol=1e-4, atol=5e-4)


@pytest.mark.parametrize(
    ("scale", "operator", "divide_by"),
    [("d_k", "add", 2.0), ("d", "multiply", 4.0), ("none", "add", 1.0)],
)
def test_walk_stages_match_float64(scale, operator, divide_by):
    """`attend` has its own tests; here it gets the projections, and gives to the last matrix."""
    result = walk(5, 4, 2, scale, 0.5, operator, True)
    assert result.divide_by == divide_by
    x, n = result.embeddings.astype(np.float64), len(WORDS)
    expected = [x @ w.astype(np.float64) for w in vars(result.weights).values()]
    for ours, theirs in zip(vars(result.vectors).values(), expected, strict=True):
        close(ours, theirs, atol=SINGLE)
    causal = np.tri(n, dtype=bool)
    np.testing.assert_array_equal(result.forbidden, ~causal)
    stages = attend(
        *expected, divide_by=divide_by, temperature=0.5, allowed=causal, operator=operator
    )
    for name, stage in vars(stages).items():  # float32 sums of size 100
        close(getattr(result.attention, name), stage, rtol=1e-3, atol=1e-3)
    joined = np.hstack(list(stages.output))
    close(result.concatenated, joined, atol=1e-3)
    close(result.combined, joined @ result.output_weight + result.output_bias, atol=1e-3)


# --- settings -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("d_k", "heads", "width", "used"),
    [(1, 1, "full", 1), (64, 8, "full", 64), (16, 2, "full", 16), (64, 1, "split", 16),
     (1, 4, "split", 4), (64, 8, "split", 2)],
)  # fmt: skip
def test_walk_returns_expected_shapes(d_k, heads, width, used):
    """Split, the heads side by side are as wide as the model, whatever d_k (D-29)."""
    result = walk(d_k=d_k, heads=heads, width=width)
    assert (result.d_k, result.divide_by) == (used, math.sqrt(used))
    assert {var.shape for var in vars(result.vectors).values()} == {(heads, 8, used)}
    assert result.attention.weights.shape == (heads, 8, 8)
    assert result.concatenated.shape == (8, heads * used)
    assert result.output_weight.shape == (heads * used, 16)
    assert result.combined.shape == (8, 16)
    stages = (result.embeddings, result.attention.masked, result.attention.weights, result.combined)
    assert {stage.dtype for stage in stages} == {np.dtype(np.float32)}
    assert all(np.isfinite(stage).all() for stage in stages)


def test_walk_basic_applies_temperature_and_mask_unscaled():
    plain, warm = walk().basic, walk(d_k=4, heads=2, temperature=4.0, causal=True).basic
    np.testing.assert_array_equal(plain.scaled, plain.scores)
    close(warm.scaled, plain.scores / 4, rtol=1e-6)  # one float32 rounding
    later = ~np.tri(8, dtype=bool)
    assert np.isneginf(warm.masked[later]).all()
    assert not warm.weights[later].any()
    assert np.isfinite(plain.masked).all()
    assert not walk().forbidden.any()


@pytest.mark.parametrize(
    "setting",
    [{"seed": -1}, {"seed": 2**32}, {"d_k": 0}, {"d_k": 65}, {"heads": 0}, {"heads": 9},
     {"scale": "m"}, {"operator": "subtract"}, {"width": "half"},
     {"heads": 3, "width": "split"}, {"temperature": 0.0}],
    ids=str,
)  # fmt: skip
def test_walk_rejects_bad_settings(setting):
    with pytest.raises(ValueError, match=r"^[A-Z0-9].*\.$"):
        walk(**setting)
