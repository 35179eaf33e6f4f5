"""A hypothesis tried on many texts: means, intervals, chance, and what a weight is worth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from seqviz.compute.attention import masks, patterns
from seqviz.compute.attention import walkthrough as by_hand
from seqviz.compute.attention.saturation import saturation
from seqviz.compute.attention.trials import HeadTrials
from seqviz.data.pronoun_pairs import PAIRS


def made(share: np.ndarray, other: np.ndarray | None = None, even: float = 0.5) -> HeadTrials:
    other = np.zeros((len(share), 0, *share.shape[1:])) if other is None else other
    labels = tuple(map(str, range(len(share))))
    return HeadTrials("pronoun", share, other, np.ones(share.shape[1:]), even, labels, False, 1.0)


def test_head_trials_mean_ci_uses_student_t():
    share = np.random.RandomState(1).beta(3, 2, (24, 2, 3))
    result = made(share)
    values = share[:, 1, 2]
    expected = stats.ttest_1samp(values, 0.5).confidence_interval(0.95)
    assert result.mean_of(1, 2).ci == pytest.approx((expected.low, expected.high))
    assert result.mean_of(1, 2).mean == pytest.approx(values.mean())
    assert result.best == divmod(int(share.mean(0).argmax()), 3)


def test_head_trials_ignoring_word_follows_no_pair():
    """A head that ignores the word has a mean share of one half."""
    first = np.random.RandomState(0).uniform(0, 1, (24, 1, 1))
    other = np.stack([first, first], 1)
    result = made((first + 1 - first) / 2, other)
    assert result.mean_of(0, 0).mean == pytest.approx(0.5, abs=1e-15)
    assert result.followed(0, 0).correct == 0
    turned = np.stack([np.full_like(first, 0.6), np.full_like(first, 0.3)], 1)
    assert made(first, turned).followed(0, 0).correct == 24


def test_head_trials_best_by_chance_grows_with_heads():
    """One head: the quantile of a sum of signs; more heads: more; no difference to even: even."""
    random = np.random.RandomState(0)
    item = made(0.5 + random.normal(0, 0.1, (60, 1, 1)))
    spread = np.sqrt(((item.share - 0.5) ** 2).sum()) / 60  # of the mean, signs drawn anew
    assert item.best_by_chance - 0.5 == pytest.approx(1.645 * spread, rel=0.08)
    many = made(0.5 + random.normal(0, 0.1, (60, 6, 12)))
    assert many.best_by_chance - 0.5 > 1.5 * (item.best_by_chance - 0.5)
    assert made(np.full((24, 6, 12), 0.5)).best_by_chance == 0.5


def test_pairs_differ_in_one_word_and_contain_both_nouns():
    assert len({(pair.first, pair.second) for pair in PAIRS}) == len(PAIRS)
    for pair in PAIRS:
        item, other = (sentence.split() for sentence in pair.sentences)
        assert [a != b for a, b in zip(item, other, strict=True)].count(True) == 1
        assert item.count("it") == 1
        assert {pair.first, pair.second} <= set(item)


def test_carried_first_weights_share_by_norm():
    weights = np.array([[[[1.0, 0, 0], [0.5, 0.25, 0.25], [0.8, 0.1, 0.1]]]])
    norms = np.array([[[0.1, 1.0, 3.0]]])
    result = patterns.carried_first(weights, norms)
    by_hand_ = [0.05 / (0.05 + 0.25 + 0.75), 0.08 / (0.08 + 0.1 + 0.3)]
    assert result[0, 0] == pytest.approx(np.mean(by_hand_))
    same = patterns.carried_first(weights, np.ones((1, 1, 3)))
    assert same[0, 0] == pytest.approx((0.5 + 0.8) / 2)


@pytest.mark.parametrize("decoder", [False, True])
@pytest.mark.parametrize("reach", [1, 3, 4, 20])
def test_sparse_masks_match_definition(decoder, reach):
    n = 12
    for kind in masks.SPARSE:
        result = masks.allowed(np.ones(n, bool), kind, decoder, reach=reach)
        expected = [
            [
                (abs(i - j) < reach or (kind == "strided" and (i - j) % reach == 0))
                and (j <= i or not decoder)
                for j in range(n)
            ]
            for i in range(n)
        ]
        np.testing.assert_array_equal(result, expected)
        assert masks.cells_computed(kind, n, decoder, reach) == np.sum(expected)
    with pytest.raises(ValueError, match="at least one token, not 0"):
        masks.allowed(np.ones(n, bool), "window", decoder, reach=0)


def test_cells_computed_of_root_stride_is_n_sqrt_n():
    """Child et al. (2019): n sqrt(n) cells in a decoder, within a factor of two."""
    for n, root in ((256, 16), (1024, 32)):
        cells = masks.cells_computed("strided", n, True, root)
        assert 1 < cells / (n * root) < 2


# --- the walk ------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", by_hand.ORDERS)
def test_walk_order_permutes_words(order):
    usual, result = by_hand.walk(heads=2), by_hand.walk(heads=2, order=order)
    assert sorted(result.words) == sorted(usual.words)
    indices = [usual.words.index(word) for word in result.words]
    np.testing.assert_array_equal(result.embeddings, usual.embeddings[indices])
    # without a mask the new vectors move with their words (Yun et al. 2020: equivariance)
    assert by_hand.moved_by_order(result, usual) < 1e-5
    causal = by_hand.walk(heads=2, order=order, causal=True)
    moved = by_hand.moved_by_order(causal, by_hand.walk(heads=2, causal=True))
    assert (moved > 0.1) == (order != "text")
    if order == "alphabet":
        assert list(result.words) == sorted(usual.words)
    with pytest.raises(ValueError, match="order is one of text"):
        by_hand.walk(order="length")


@pytest.mark.parametrize("width", by_hand.WIDTHS)
@pytest.mark.parametrize("part", ["query", "key", "value"])
def test_walk_joined_matrix_holds_all_heads(width, part):
    result = by_hand.walk(heads=4, width=width)
    full = by_hand.joined(getattr(result.weights, part))
    assert full.shape == (16, 4 * result.d_k)
    for head in range(4):
        columns = slice(head * result.d_k, (head + 1) * result.d_k)
        np.testing.assert_array_equal(full[:, columns], getattr(result.weights, part)[head])
    assert by_hand.cut_apart(result, part) < 1e-5


def test_saturation_big_size_divides_by_more():
    base, big = saturation(), saturation(size="big")
    np.testing.assert_array_equal(base.largest[:2], big.largest[:2])
    assert big.theory[2, -1] == pytest.approx(base.theory[2, -1] / 2)
    with pytest.raises(ValueError, match="base, big, not 'huge'"):
        saturation(size="huge")
