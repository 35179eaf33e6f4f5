"""Shares of answers with their intervals, and when a difference is shown."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_rel

from seqviz.compute.gpt.shots import FewShotAccuracy
from seqviz.stats.estimate import share_ci


def test_few_shot_accuracy_matches_explicit_shares_and_intervals():
    rng = np.random.RandomState(0)
    right = rng.uniform(size=(3, 2, 4, 50)) < np.array([0.5, 0.8])[:, None, None]
    named = np.zeros_like(right)
    named[0, 1, :, :10] = True
    accuracy = FewShotAccuracy(np.array([0, 4]), right, ~right, named, np.full((3, 2, 4), 0.25))
    share = right[0, 1].mean()
    assert accuracy.accuracy("right", 4).mean == pytest.approx(share)
    assert accuracy.accuracy("right", 4).ci == share_ci(share, 50).ci
    assert accuracy.form("right", 4) == pytest.approx(0.2)
    pair = ("right", 4), ("right", 0)
    each = right[0, 1].astype(float) - right[0, 0]
    gain = accuracy.gain(*pair)
    assert gain.mean == pytest.approx(each.mean())
    reach = 3.182446 * np.sqrt(each.mean(0).var(ddof=1) / 50 + each.mean(1).var(ddof=1) / 4)
    # t(0.975) with 3 degrees of freedom
    assert gain.ci == pytest.approx((each.mean() - reach, each.mean() + reach), rel=1e-6)
    assert gain.is_significant == (gain.low > 0)
    facts = accuracy.compared("right")
    assert facts.variant == ("significant" if gain.is_significant else "null")
    assert facts["gain"].ci == gain.ci
    assert facts["behind"].mean - facts["without"].mean == pytest.approx(gain.mean)
    assert (facts["form_behind"], facts["form_without"]) == pytest.approx((0.2, 0.0))
    effect = accuracy.label_effect("random")
    each = right[0, 1].astype(float) - right[1, 1]
    assert effect["gain"].mean == pytest.approx(each.mean())
    assert effect["right"].mean == pytest.approx(share)


def test_few_shot_accuracy_gain_of_one_draw_matches_paired_t_test():
    right = np.random.RandomState(0).uniform(size=(3, 2, 1, 50)) < 0.7
    accuracy = FewShotAccuracy(np.array([0, 4]), right, right, right, np.zeros((3, 2, 1)))
    expected = ttest_rel(right[0, 1, 0].astype(float), right[0, 0, 0].astype(float))
    pair = ("right", 4), ("right", 0)
    assert accuracy.gain(*pair).ci == pytest.approx(tuple(expected.confidence_interval()))


def test_few_shot_accuracy_gain_ci_covers_truth():
    """Answers to new questions behind new draws, 400 times; the true gain is 0.2."""
    rng = np.random.RandomState(1)
    covered = 0
    for _ in range(400):
        level = 0.6 + rng.normal(0, 0.1, (8, 1)) + rng.normal(0, 0.1, 60)
        probability = np.stack([level, level - 0.2 + rng.normal(0, 0.1, (8, 1))])
        right = rng.uniform(size=(2, 8, 60)) < np.clip(probability, 0, 1)
        full = np.stack([right[:1], right[1:], right[1:]])
        accuracy = FewShotAccuracy(np.array([8]), full, full, full, np.zeros((3, 1, 8)))
        low, high = accuracy.gain(("right", 8), ("random", 8)).ci
        covered += low < 0.2 < high
    assert covered >= 0.93 * 400
