"""Shares of answers with their intervals, and when a difference is shown."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_rel

from seqviz.compute.decoding.shots import Shots
from seqviz.compute.proportions import wilson


def test_shares_and_intervals():
    rng = np.random.RandomState(0)
    right = rng.uniform(size=(3, 2, 4, 50)) < np.array([0.5, 0.8])[:, None, None]
    named = np.zeros_like(right)
    named[0, 1, :, :10] = True
    found = Shots(np.array([0, 4]), right, ~right, named, np.full((3, 2, 4), 0.25))
    share = right[0, 1].mean()
    assert found.accuracy("right", 4) == pytest.approx(share)
    assert found.ends("right", 4) == pytest.approx(
        [float(x[0]) for x in wilson(np.array([share]), 50)]
    )
    assert found.draw_ends("right", 4) == (right[0, 1].mean(1).min(), right[0, 1].mean(1).max())
    assert found.form("right", 4) == pytest.approx(0.2)
    assert found.said_positive("right", 4) == pytest.approx(1 - share)
    assert found.mass_of("other", 0) == 0.25
    pair = ("right", 4), ("right", 0)
    wanted = ttest_rel(right[0, 1].mean(0), right[0, 0].mean(0))
    assert found.gain_ends(*pair) == pytest.approx(tuple(wanted.confidence_interval()))
    assert found.shown(*pair)
    same = ("right", 0), ("random", 0)
    assert found.shown(*same) == (ttest_rel(right[0, 0].mean(0), right[1, 0].mean(0)).pvalue < 0.05)
    assert found.gain(*same) == pytest.approx(right[0, 0].mean() - right[1, 0].mean())
