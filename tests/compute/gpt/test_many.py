"""Counts of many draws lie in their binomial bands as often as such bands say."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from seqviz.compute.gpt import draw
from seqviz.compute.gpt.draw import many_draws, uniforms


def test_many_draws_match_single_draws():
    scores = np.random.RandomState(0).normal(0, 2, 60)
    us = uniforms(5, 200)
    result = many_draws(scores, us, 8)
    tokens = [draw.draw(scores, u) for u in us]
    np.testing.assert_array_equal(draw.draws(scores, us), tokens)
    assert result.ids.tolist() == draw.order(scores)[:8].tolist()
    counts = result.counts()
    assert counts[:8].tolist() == [tokens.count(token) for token in result.ids]
    assert counts.sum() == 200
    assert counts[8] == sum(token not in result.ids for token in tokens)
    assert result.probability.sum() == pytest.approx(1)
    np.testing.assert_array_equal(result.counts(30)[:8], [tokens[:30].count(k) for k in result.ids])


def test_distance_merges_tokens_without_a_bar():
    """As the note says, all other tokens are one bar; over single tokens the distance is larger."""
    scores = np.random.RandomState(0).normal(0, 2, 500)
    us = uniforms(5, 200)
    shares = np.bincount(draw.draws(scores, us), minlength=500) / 200
    apart = shares - draw.probabilities(scores)
    every = np.abs(apart).sum() / 2
    ids = (merged := many_draws(scores, us, 8)).ids
    rest = np.delete(apart, ids).sum()
    assert merged.distance() == pytest.approx((np.abs(apart[ids]).sum() + abs(rest)) / 2)
    assert many_draws(scores, us, 500).distance() == pytest.approx(every)
    assert merged.distance() < every / 2


def test_many_draws_bands_have_nominal_coverage():
    scores = np.random.RandomState(1).normal(0, 1, 10)
    inside, expected = [], []
    for seed in range(300):
        result = many_draws(scores, uniforms(seed, 100), 5)
        low, high = result.band()
        assert result.within()[1] == 6
        inside.append(result.within()[0])
        if not expected:
            each = binom.cdf(high, 100, result.probability) - binom.cdf(
                low - 1, 100, result.probability
            )
            assert (each >= 0.95).all()
            expected = [each.sum()]
            assert result.expected_within() == pytest.approx(each.sum())
    assert np.mean(inside) == pytest.approx(expected[0], abs=0.1)


def test_many_draws_handle_single_token():
    result = many_draws(np.array([0.0, -np.inf]), uniforms(0, 10), 1)
    assert result.counts().tolist() == [10, 0]
    assert [part.tolist() for part in result.band()] == [[10, 0], [10, 0]]
    assert result.within() == (2, 2)
