"""Draws from scores: portable, exact in distribution, the same after the way to a browser."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare

from seqviz.compute.gpt import draw
from seqviz.compute.gpt.futures import ContinuationTree
from testing.fake import fake


def test_scores_keep_top_logits_exact_and_round_rest_to_float16():
    logits = np.random.RandomState(0).normal(0, 4, 5000).astype(np.float32)
    result = draw.scores(logits)
    first = draw.order(logits)[: draw.EXACT]
    np.testing.assert_array_equal(result[first], logits[first])
    rest = np.setdiff1d(np.arange(5000), first)
    np.testing.assert_array_equal(result[rest], result[rest].astype(np.float16))
    assert result[rest].max() <= result[first].min()
    np.testing.assert_allclose(result, logits, rtol=1e-3)
    np.testing.assert_allclose(draw.entropy(result), draw.entropy(logits), rtol=1e-3)


def test_order_breaks_ties_by_token_id():
    scores = np.array([1.0, 2, 1, 2, -np.inf])
    assert draw.order(scores).tolist() == [1, 3, 0, 2, 4]
    p = draw.probabilities(scores)
    assert p[4] == 0
    ends = np.cumsum(p[[1, 3, 0, 2]])
    assert [draw.draw(scores, u) for u in (0.0, ends[0] - 1e-9, ends[0], ends[1], ends[2])] == [
        1, 1, 3, 0, 2
    ]  # fmt: skip
    assert draw.draw(scores, np.nextafter(1, 0)) == 2  # never what was cut


def test_foremost_matches_order_with_ties():
    rng = np.random.RandomState(0)
    for count in (1, 5, 39, 40, 50):
        scores = rng.randint(0, 6, 40).astype(float)
        scores[:3] = -np.inf
        np.testing.assert_array_equal(draw.foremost(scores, count), draw.order(scores)[:count])


def test_draws_match_distribution():
    rng = np.random.RandomState(1)
    scores = draw.scores(rng.normal(0, 2, 30).astype(np.float32))
    count = 20_000
    samples = np.bincount(draw.draws(scores, rng.uniform(size=count).tolist()), minlength=30)
    expected = count * draw.probabilities(scores)
    large = expected > 5
    rest = (samples[~large].sum(), expected[~large].sum())
    test = chisquare([*samples[large], rest[0]], [*expected[large], rest[1]])
    assert test.pvalue > 1e-3


def test_entropy_matches_known_distributions():
    assert draw.entropy(np.zeros(8)) == pytest.approx(3)
    assert draw.entropy(np.array([0.0, 0, -np.inf, -np.inf])) == pytest.approx(1)
    assert draw.entropy(np.array([[0.0, -np.inf], [0, 0]])) == pytest.approx([0, 1])


def test_continuation_tree_reports_best_path_and_open_mass():
    """Two first tokens of 0.6 and 0.3; behind the first one the end at 0.5 and another at 0.3."""
    tree = fake(
        ContinuationTree, parent=np.array([-1, -1, 0, 0]), token=np.array([4, 5, 2, 6]),
        depth=np.array([1, 1, 2, 2]), log=np.log([0.6, 0.3, 0.3, 0.18]), steps=3,
        expanded=np.arange(4) == 0, ended=np.arange(4) == 2,
    )  # fmt: skip
    assert tree.is_complete.tolist() == [False, False, True, False]
    assert tree.covered == pytest.approx(0.3)
    assert tree.best == 2
    assert not tree.proven  # behind b there may be as much
    assert np.exp(tree.open_log) == pytest.approx(0.3)
    assert tree.path_to(3) == (0, 3)
    assert tree.nodes((4, 6, 1)) == (0, 3)
    assert tree.nodes((9,)) == ()
