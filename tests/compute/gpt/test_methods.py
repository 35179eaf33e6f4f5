"""Means of surprise with their intervals, by method."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_1samp, ttest_rel

from seqviz.compute.gpt.methods import METHODS, ByMethod


def test_by_method_matches_scipy_intervals():
    rng = np.random.RandomState(0)
    bits = rng.exponential(3, (len(METHODS), 30, 12))
    bits[1] *= 0.3
    bits[1, 4, 5:] = np.nan  # a text that ended
    entropy = rng.uniform(1, 4, (len(METHODS), 12))
    by_method = ByMethod(bits, entropy, ("a",), (("b",),) * len(METHODS))
    assert (by_method.texts, by_method.steps) == (30, 12)
    each = np.array([row[np.isfinite(row)].mean() for row in bits[1]])
    assert by_method.of_texts("greedy") == pytest.approx(each)
    assert by_method.mean("greedy").mean == pytest.approx(each.mean())
    assert by_method.mean("greedy").ci == pytest.approx(
        tuple(ttest_1samp(each, 0).confidence_interval())
    )
    human = bits[0].mean(1)
    more = by_method.more("greedy")
    assert more.mean == pytest.approx((each - human).mean())
    assert more.ci == pytest.approx(tuple(ttest_rel(each, human).confidence_interval()))
    assert more.verdict == "less"
    assert by_method.below("greedy") == (each < human).mean()
    step = by_method.by_step("greedy")[7]
    column = bits[1, :, 7][np.isfinite(bits[1, :, 7])]
    assert len(column) == 29
    item = ttest_1samp(column, 0).confidence_interval()
    assert (step.mean, *step.ci) == pytest.approx((column.mean(), item.low, item.high))
    assert step.n == 29
    facts = by_method.compared("greedy")
    assert (facts.variant, facts["gap"].mean) == ("less", pytest.approx((human - each).mean()))
    split = by_method.split()
    assert split["perplexity"] == pytest.approx(2 ** human.mean())
    assert split["excess"] == pytest.approx(human.mean() - entropy[0].mean())
    assert by_method.spread("human") == pytest.approx(bits[0].std(1).mean())
    assert by_method.entropy_of("hot") == pytest.approx(entropy[METHODS.index("hot")].mean())


def test_excess_over_own_entropy_is_no_divergence():
    """Likely tokens of a model that is unsure cost less than it expects; a KL is never negative."""
    bits, entropy = np.ones((len(METHODS), 2, 3)), np.full((len(METHODS), 3), 2.0)
    by_method = ByMethod(bits, entropy, ("a", "b"), (("c", "d"),) * len(METHODS))
    assert by_method.split()["excess"] == -1


def test_by_method_has_nan_interval_for_one_text():
    bits = np.ones((len(METHODS), 1, 3))
    by_method = ByMethod(bits, bits[:, 0], ("a",), (("b",),) * len(METHODS))
    assert by_method.mean("human").mean == 1
    assert np.isnan(by_method.mean("human").ci).all()
