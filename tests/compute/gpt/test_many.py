"""Counts of many draws lie in their binomial bands as often as such bands say."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from seqviz.compute.gpt import draw
from seqviz.compute.gpt.many import many_draws
from seqviz.compute.gpt.uniform import uniforms


def test_many_draws_are_draws_one_by_one():
    scores = np.random.RandomState(0).normal(0, 2, 60)
    us = uniforms(5, 200)
    found = many_draws(scores, us, 8)
    tokens = [draw.draw(scores, u) for u in us]
    np.testing.assert_array_equal(draw.draws(scores, us), tokens)
    assert found.ids.tolist() == draw.order(scores)[:8].tolist()
    counts = found.counts()
    assert counts[:8].tolist() == [tokens.count(token) for token in found.ids]
    assert counts.sum() == found.count == 200
    assert counts[8] == sum(token not in found.ids for token in tokens)
    assert found.chance.sum() == pytest.approx(1)
    np.testing.assert_array_equal(found.counts(30)[:8], [tokens[:30].count(k) for k in found.ids])


def test_bands_hold_what_they_say():
    scores = np.random.RandomState(1).normal(0, 1, 10)
    inside, expected = [], []
    for seed in range(300):
        found = many_draws(scores, uniforms(seed, 100), 5)
        low, high = found.band()
        assert found.within()[1] == 6
        inside.append(found.within()[0])
        if not expected:
            each = binom.cdf(high, 100, found.chance) - binom.cdf(low - 1, 100, found.chance)
            assert (each >= 0.95).all()
            expected = [each.sum()]
            assert found.expected_within() == pytest.approx(each.sum())
    assert np.mean(inside) == pytest.approx(expected[0], abs=0.1)


def test_a_series_of_one_token():
    found = many_draws(np.array([0.0, -np.inf]), uniforms(0, 10), 1)
    assert found.counts().tolist() == [10, 0]
    assert [part.tolist() for part in found.band()] == [[10, 0], [10, 0]]
    assert found.within() == (2, 2)
