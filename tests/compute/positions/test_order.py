"""Words in another order: attention is torch's, and what notices the order and what does not."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from seqviz.compute.positions import order, relative
from seqviz.compute.positions.orders import MOST_WORDS, SCHEMES, compare_orders, shuffle, vectors
from tests.tiers import pairwise

# Sums of some hundreds of products of size 1 in another order, over a size of about 1.
ROUNDING = 1e-12
MARY, JOHN = "Mary gave John a flower", "John gave Mary a flower"
LONG = " ".join(f"w{k}" for k in range(MOST_WORDS))
WORDS = np.random.RandomState(0).standard_normal((6, 16))


def row(result, scheme: str) -> np.ndarray:
    return result.moved[SCHEMES.index(scheme)]


# ---------------------------------------------------------------------------------------- one head
@pytest.mark.parametrize("scheme", relative.SCHEMES)
@pytest.mark.parametrize("causal", [False, True])
def test_attend_matches_torch(scheme, causal):
    maps, positions = relative.projections(16, 2), np.arange(6)
    result = order.attend(WORDS, scheme, causal, seed=2)
    x = relative.placed(WORDS, positions, scheme, 2)
    scores = relative.scores(WORDS, positions, scheme, maps, 2)
    # Their scores are q . k / 4 + bias: with q = 0 the bias brings any scheme's.
    bias = torch.tensor(np.where(np.tri(6) > 0, scores, -np.inf) if causal else scores)
    zero, value = torch.zeros(1, 6, 16).double(), torch.tensor(x @ maps.value)[None]
    theirs = torch.nn.functional.scaled_dot_product_attention(zero, zero, value, attn_mask=bias)
    np.testing.assert_allclose(result.outputs, theirs[0].numpy(), atol=ROUNDING)
    np.testing.assert_allclose(result.weights, bias.softmax(dim=1).numpy(), atol=ROUNDING)
    if scheme in ("none", "sinusoidal", "learned"):
        q, k, v = (torch.tensor(x @ m)[None] for m in (maps.query, maps.key, maps.value))
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        np.testing.assert_allclose(result.outputs, theirs[0].numpy(), atol=ROUNDING)


@pairwise(scheme=relative.SCHEMES, causal=[False, True], seed=[0, 1])
def test_attend_is_equivariant_only_without_encoding_and_mask(scheme, causal, seed):
    permutation = np.array([2, 0, 4, 1, 3, 5])
    item = order.attend(WORDS, scheme, causal, seed).outputs
    other = order.attend(WORDS[permutation], scheme, causal, seed).outputs
    gap = np.abs(other - item[permutation]).max()
    if scheme == "none" and not causal:
        assert gap < ROUNDING
        assert np.abs(other - item).max() > 0.1  # not "exactly the same answer"
    else:
        assert gap > 0.01


# ---------------------------------------------------------------------------------------- partners
@pytest.mark.parametrize(
    ("first", "second", "partner", "strangers"),
    [
        (MARY, JOHN, (2, 1, 0, 3, 4), False),
        ("the cat the dog", "dog the cat the", (1, 2, 3, 0), False),  # the n-th "the" with the n-th
        ("a a a", "a a", (0, 1, -1), True),
        ("a b", "b c a d", (2, 0), True),
        ("The THE the", "the tHe THE", (0, 1, 2), False),  # upper and lower case are one word
        ("one two", "three", (-1, -1), True),
        ("我们 b 我们", "我们 我们 b", (0, 2, 1), False),
        ("玛丽给了约翰", "约翰给了玛丽", (4, 5, 2, 3, 0, 1), False),  # read character by character
        ("AI很有趣", "很有趣AI", (3, 0, 1, 2), False),
    ],
)
def test_compare_orders_pairs_words(first, second, partner, strangers):
    order_comparison = compare_orders(first, second)
    assert order_comparison.partner == partner
    assert order_comparison.strangers == strangers
    assert " ".join(order_comparison.words).replace(" ", "") == first.replace(" ", "")
    assert len(order_comparison.words) == len(partner)
    assert order_comparison.paired.tolist() == [k for k, other in enumerate(partner) if other >= 0]
    for gaps in order_comparison.moved:
        np.testing.assert_array_equal(np.isnan(gaps), np.array(partner) < 0)
    assert math.isnan(order_comparison.farthest("none")) == (set(partner) == {-1})


# ------------------------------------------------------------------------------------ equivariance
@pytest.mark.parametrize(
    ("text", "draw"), [(MARY, 1), ("the cat saw the dog and the bird", 2), (LONG, 3)]
)
def test_compare_orders_is_zero_only_without_encoding(text, draw):
    """Without encoding and mask, shuffling words changes nothing but their places."""
    order_comparison = compare_orders(text, shuffle(text, draw))
    assert row(order_comparison, "none").max() < ROUNDING
    assert order_comparison.farthest("none") == 0  # rounding is told as 0
    for scheme in SCHEMES[1:]:  # the least is 0.3 of the outputs
        assert order_comparison.farthest(scheme) == row(order_comparison, scheme).max() > 1e-3, (
            scheme
        )


def test_compare_orders_detects_order_by_causal_mask_alone():
    none = row(compare_orders(MARY, JOHN, causal=True), "none")
    assert none[:3].min() > 1e-3  # Mary, gave, John see other words before them
    assert none[3:].max() < ROUNDING  # a, flower see the same words as before


def test_compare_orders_rotary_leaves_values_unrotated():
    """Words that all look alike have the same output anywhere, whatever the scores are."""
    order_comparison = compare_orders("a a a a", "a a a a a a")
    assert (
        max(row(order_comparison, "rotary").max(), row(order_comparison, "none").max()) < ROUNDING
    )
    assert row(order_comparison, "sinusoidal").min() > 1e-3


@pytest.mark.parametrize("causal", [False, True])
def test_compare_orders_of_same_order_is_zero(causal):
    order_comparison = compare_orders(MARY, MARY.upper(), causal)
    assert not order_comparison.moved.any()
    np.testing.assert_array_equal(order_comparison.first, order_comparison.second)


@pytest.mark.parametrize(
    ("first", "second", "causal", "seed"),
    [(MARY, JOHN, False, 0), (MARY, JOHN, True, 7), ("a b", "b c a d", False, 3)],
)
def test_compare_orders_matches_attend_per_order(first, second, causal, seed):
    order_comparison = compare_orders(first, second, causal, seed)
    for index, scheme in enumerate(SCHEMES):
        item, other = (
            order.attend(vectors(words, seed), scheme, causal, seed)
            for words in (order_comparison.words, order_comparison.others)
        )
        size = np.linalg.norm(item.outputs, axis=1).mean()
        gap = np.linalg.norm(item.outputs - other.outputs[list(order_comparison.partner)], axis=1)
        np.testing.assert_allclose(order_comparison.moved[index], gap / size, atol=ROUNDING)
        np.testing.assert_array_equal(order_comparison.first[index], item.weights)
        np.testing.assert_array_equal(order_comparison.second[index], other.weights)


def test_compare_orders_farthest_ignores_unpaired_words():
    order_comparison = compare_orders("a b c", "b a")
    moved = np.full(order_comparison.moved.shape, np.nan)
    moved[0, :2], moved[3, :2] = (1e-13, 3e-13), (0.2, 0.125)
    assert replace(order_comparison, moved=moved).farthest("none") == 0  # rounding
    assert replace(order_comparison, moved=moved).farthest("rotary") == 0.2


# ---------------------------------------------------------------------------- vectors and shuffles
def test_vectors_are_independent_of_word_position():
    item, other = vectors(("a", "Flower", "x")), vectors(("flower", "x", "b", "A"))
    np.testing.assert_array_equal(item, other[[3, 0, 1]])
    assert not np.array_equal(vectors(("a",), 1), vectors(("a",), 2))
    assert np.isfinite(vectors(("a", "b", "c"), 2**32 - 1)).all()  # a seed beyond 32 bits
    # Printed once: links are to show the same picture in years.
    printed = [-0.07173561, 0.17814078, -0.68371139]
    np.testing.assert_allclose(vectors(("flower",))[0, :3], printed, atol=5e-9)


def test_shuffle_permutes_words():
    orders = {shuffle(MARY, draw) for draw in range(1, 51)}
    assert len(orders) > 30  # of 120
    for other in orders:
        assert sorted(other.split()) == sorted(MARY.split())
    assert shuffle(MARY, 4) == shuffle("  Mary\tgave John\na  flower ", 4)
    assert (shuffle(""), shuffle("one")) == ("", "one")


def test_compare_orders_accepts_max_words():
    assert MOST_WORDS == 24
    assert np.isfinite(compare_orders(LONG, shuffle(LONG, 3)).moved).all()
