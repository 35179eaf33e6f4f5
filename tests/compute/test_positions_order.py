"""Shuffled words: equivariant without encoding and mask, and only then; attention is torch's."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from seqviz.compute.positions import order, relative
from seqviz.refusal import Refusal

# Two ways of adding the same few dozen numbers of size 1 to 10.
ROUNDING = 1e-13
WORDS = np.random.RandomState(0).standard_normal((6, 16))
SWAP = np.array([4, 1, 2, 3, 0, 5])
ORDERS = [SWAP, np.arange(6)[::-1].copy(), np.array([2, 0, 4, 1, 3, 5])]


@pytest.mark.parametrize("scheme", order.SCHEMES)
@pytest.mark.parametrize("causal", [False, True])
def test_attention_is_torchs(scheme, causal):
    maps, table = relative.projections(16, 2), relative.learned_table(16, 2)
    found = order.attend(WORDS, scheme, causal, seed=2)
    x = relative.placed(WORDS, np.arange(6), scheme, table)
    weights = torch.tensor(found.scores)
    if causal:
        weights = weights.masked_fill(torch.ones(6, 6).triu(1).bool(), -torch.inf)
    weights = weights.softmax(dim=1)
    np.testing.assert_allclose(found.weights, weights.numpy(), atol=ROUNDING)
    np.testing.assert_allclose(found.outputs, weights.numpy() @ x @ maps.value, atol=ROUNDING)
    if scheme in ("none", "sinusoidal", "learned"):
        q, k, v = (torch.tensor(x @ m)[None] for m in (maps.query, maps.key, maps.value))
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        np.testing.assert_allclose(found.outputs, theirs[0].numpy(), atol=ROUNDING)


def test_identity_attention_by_hand():
    found = order.attend(np.eye(4)[:2], kind="identity")
    near = 1 / (1 + np.exp(-0.5))  # scores 1/sqrt(4) with itself, 0 with the other
    np.testing.assert_allclose(found.weights, [[near, 1 - near], [1 - near, near]], rtol=1e-15)
    np.testing.assert_allclose(found.outputs[0], [near, 1 - near, 0, 0], rtol=1e-15)


@pytest.mark.parametrize("kind", ["random", "identity"])
@pytest.mark.parametrize("permutation", ORDERS)
def test_without_encoding_and_mask_outputs_only_move_with_their_words(permutation, kind):
    found = order.shuffled(WORDS, permutation, kind=kind)
    assert found.equivariance < ROUNDING
    assert found.moved.max() < ROUNDING
    assert found.pooled < ROUNDING
    assert found.invariance > 0.1  # not "exactly the same answer"


@pytest.mark.parametrize("scheme", order.SCHEMES)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("kind", ["random", "identity"])
def test_an_encoding_or_a_mask_breaks_it(scheme, causal, kind):
    if scheme == "none" and not causal:
        return  # the test above
    found = order.shuffled(WORDS, ORDERS[2], scheme, causal, kind)
    assert found.equivariance > 0.01
    assert found.pooled > 1e-3
    assert found.moved.max() >= found.equivariance


def test_under_a_mask_a_word_is_told_from_those_before_it_only():
    found = order.shuffled(WORDS, SWAP, causal=True)
    # The last word stays last and sees the same set; the second sees another first word.
    assert found.moved[5] < ROUNDING
    assert found.moved[[0, 1, 2, 3, 4]].min() > 0.1
    np.testing.assert_array_equal(np.triu(found.after.weights, 1), 0)


def test_definitions_in_loops():
    found = order.shuffled(WORDS, ORDERS[2], "sinusoidal")
    f, g = found.before.outputs, found.after.outputs
    for place, word in enumerate(ORDERS[2]):
        assert found.moved[word] == pytest.approx(np.linalg.norm(g[place] - f[word]), abs=1e-14)
    assert found.equivariance == max(abs(g[p] - f[w]).max() for p, w in enumerate(ORDERS[2]))
    assert found.invariance == abs(g - f).max()
    assert found.pooled == pytest.approx(abs(sum(g) - sum(f)).max() / 6, abs=1e-15)
    shuffled = order.attend(WORDS[ORDERS[2]], "sinusoidal")
    np.testing.assert_array_equal(g, shuffled.outputs)


@pytest.mark.parametrize("scheme", order.SCHEMES)
def test_the_same_order_and_a_single_word_change_nothing(scheme):
    for words in (WORDS, WORDS[:1]):
        found = order.shuffled(words, np.arange(len(words)), scheme, causal=True)
        assert (found.equivariance, found.invariance, found.pooled) == (0, 0, 0)


def test_swapping_equal_words_changes_nothing_without_encoding():
    words = WORDS.copy()
    words[4] = words[0]
    assert order.shuffled(words, SWAP).invariance == 0
    assert order.shuffled(words, SWAP, "rotary").invariance == 0  # the input is the same


def test_a_real_table_takes_the_place_of_the_stand_in():
    table = np.random.RandomState(9).standard_normal((6, 16))
    with_table = order.attend(WORDS, "learned", table=table)
    added = order.attend(WORDS + table, "none")
    np.testing.assert_allclose(with_table.outputs, added.outputs, atol=ROUNDING)
    zeroed = order.shuffled(WORDS, SWAP, "learned", table=np.zeros((6, 16)))
    assert zeroed.equivariance < ROUNDING


def test_what_cannot_work_is_refused():
    for call, code in (
        (lambda: order.attend(WORDS[:0]), "encoding_positions"),
        (lambda: order.attend(WORDS, "learned", table=np.ones((5, 16))), "beyond_table"),
        (lambda: order.attend(WORDS[:, :7], "rotary"), "odd_head"),
        (lambda: order.shuffled(WORDS, np.array([0, 0, 1, 2, 3, 4])), "permutation"),
        (lambda: order.shuffled(WORDS, np.arange(5)), "permutation"),
    ):
        with pytest.raises(Refusal) as caught:
            call()
        assert caught.value.code == code
    with pytest.raises(ValueError, match="Unknown scheme"):
        order.attend(WORDS, "absolute")
    with pytest.raises(ValueError, match="projections"):
        order.attend(WORDS, kind="zero")
