"""Intervals, McNemar's test and sample sizes against statsmodels, exact sums and enumeration."""

from __future__ import annotations

import warnings
from math import comb, inf

import numpy as np
import pytest
from scipy.stats import binom

from seqviz.stats import proportions


def cases(both: int, only_first: int, only_second: int, neither: int) -> tuple:
    """Where each of two systems is right, in a mixed order."""
    counts = (both, only_first, only_second, neither)
    first = np.repeat([True, True, False, False], counts)
    second = np.repeat([True, False, True, False], counts)
    order = np.random.RandomState(0).permutation(len(first))
    return first[order], second[order]


# --- intervals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("right", "trials"), [(0, 10), (3, 10), (10, 10), (615, 1000), (1000, 1000)]
)
def test_wilson_matches_statsmodels(right, trials):
    from statsmodels.stats.proportion import proportion_confint

    expected = proportion_confint(right, trials, alpha=0.05, method="wilson")
    result = proportions.of(right, trials)
    # float64; their quantile and ours differ in the last digit
    np.testing.assert_allclose((result.low, result.high), expected, atol=1e-12)
    assert (result.correct, result.n, result.share) == (right, trials, right / trials)
    assert (
        proportions.of_share(right / trials, trials)
        == result
        == proportions.proportion(np.arange(trials) < right)
    )


def test_shares_ignore_missing_answers():
    probability = np.array([[0.9, 0.5, 0.49, np.nan], [np.nan] * 4])
    right = proportions.answers_right(probability, np.array([True, True, False, True]))
    np.testing.assert_array_equal(right[0], [1, 0, 1, np.nan])  # even odds are "negative"
    result, expected = proportions.shares(right), proportions.of(2, 3)
    assert result.n.tolist() == [3, 0]
    first = result.share[0], result.low[0], result.high[0]
    assert first == pytest.approx((expected.share, expected.low, expected.high))
    assert np.isnan([result.share[1], result.low[1], result.high[1]]).all()
    assert proportions.counted(right[0]) == expected
    assert proportions.counted(right[1]).n == 0


def test_proportion_is_nan_without_cases_and_rejects_invalid_counts():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        none = [
            proportions.proportion(np.zeros(0, bool)),
            proportions.of_share(float("nan"), 10),
            proportions.of_share(0.5, 0),
        ]
        assert len(proportions.running(np.zeros(0, bool)).n) == 0
    for nothing in none:
        assert nothing.correct == 0
        assert np.isnan([nothing.share, nothing.low, nothing.high]).all()
    assert [nothing.n for nothing in none] == [0, 0, 0]
    for correct, n in [(3, 2), (-1, 2)]:
        with pytest.raises(ValueError, match="cannot be correct"):
            proportions.of(correct, n)


def test_running_matches_proportion_of_each_prefix():
    right = np.random.RandomState(1).rand(40) < 0.7
    result = proportions.running(right)
    assert result.n.tolist() == list(range(1, 41))
    for n in range(1, 41):
        expected = proportions.proportion(right[:n])
        assert (result[n - 1].correct, result[n - 1].n) == (expected.correct, n)
        # The same arithmetic, one by one: equal to the last digit but one.
        ends = result.low[n - 1], result.high[n - 1]
        np.testing.assert_allclose(ends, (expected.low, expected.high), rtol=1e-14)


def test_majority_uses_training_labels():
    test = np.array([True] * 3 + [False] * 7)
    assert proportions.majority(np.array([True, True, False]), test).correct == 3
    assert proportions.majority(np.array([False, True, False]), test).correct == 7
    assert proportions.majority(np.array([False, True]), test).correct == 3


# --- two systems --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "counts", [(1500, 61, 38, 401), (5, 3, 3, 0), (0, 9, 0, 1), (0, 1, 2, 0), (2, 0, 0, 2)]
)
def test_mcnemar_matches_binomial_sum_and_statsmodels(counts):
    from statsmodels.stats.contingency_tables import mcnemar as theirs

    both, only_first, only_second, neither = counts
    paired = proportions.mcnemar(*cases(*counts))
    assert (paired.both, paired.only_first, paired.only_second, paired.neither) == counts
    assert paired.n == sum(counts)
    differing, fewer = only_first + only_second, min(only_first, only_second)
    # Twice the smaller tail of a fair coin; the middle is counted only once.
    tail = sum(comb(differing, k) for k in range(fewer + 1))
    exact = min(1.0, 2 * tail / 2**differing)
    assert paired.p == pytest.approx(exact, rel=1e-12)
    assert proportions.mcnemar(*reversed(cases(*counts))).p == paired.p
    table = [[both, only_first], [only_second, neither]]
    if differing:
        assert paired.p == pytest.approx(theirs(table, exact=True).pvalue, rel=1e-12)


def exact_power(first: float, second: float, share: float, n: int) -> float:
    """P(exact p < 0.05), summed over every number of disagreements and every way they fall."""
    uneven = (share + first - second) / (2 * share)
    total = 0.0
    differing = np.arange(n + 1)
    weights = binom.pmf(differing, n, share)
    for m in differing[weights > 1e-8]:
        fewer = np.arange(m + 1)
        p = 2 * binom.cdf(np.minimum(fewer, m - fewer), m, 0.5)
        total += weights[m] * binom.pmf(fewer, m, uneven)[p < 0.05].sum()
    return float(total)


@pytest.mark.parametrize(
    ("first", "second", "discordant", "most"),
    [
        (0.87, 0.85, 0.1, 0.83),
        (0.79, 0.73, 0.2, 0.83),
        (0.8, 0.7, None, 0.83),
        (0.87, 0.67, None, 0.85),  # 82 cases
        (0.93, 0.88, 0.055, 0.91),  # one-sided
    ],
)
def test_needed_n_reaches_promised_power(first, second, discordant, most):
    n = proportions.needed_n(first, second, discordant)
    share = first * (1 - second) + second * (1 - first) if discordant is None else discordant
    assert 0.8 <= exact_power(first, second, share, int(n)) < most
    assert n == proportions.needed_n(second, first, discordant)


def test_needed_n_handles_edge_cases():
    assert proportions.needed_n(0.8, 0.8) == inf
    # As few disagreements as there can be: each of them falls to the same side.
    assert proportions.needed_n(0.8, 0.7, 0.1) < proportions.needed_n(0.8, 0.7, 0.3)
    for wrong in (0.05, 0.6):
        with pytest.raises(ValueError, match="of the cases"):
            proportions.needed_n(0.8, 0.7, wrong)


# --- confusion ----------------------------------------------------------------------------------


def test_confusion_matches_sklearn():
    from sklearn.metrics import confusion_matrix

    random = np.random.RandomState(2)
    positive, predicted = random.rand(300) < 0.4, random.rand(300) < 0.5
    confusion = proportions.confusion(positive, predicted)
    np.testing.assert_array_equal(confusion.counts, confusion_matrix(positive, predicted))


@pytest.mark.parametrize("actual", [[0] * 5 + [1] * 3, [0] * 4])
def test_confusion_handles_no_positive_predictions(actual):
    confusion = proportions.confusion(np.array(actual, bool), np.zeros(len(actual), bool))
    assert confusion.counts.tolist() == [[actual.count(0), 0], [actual.count(1), 0]]


# --- two systems in words -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "verdict", "shares"),
    [
        ((5, 0, 0, 5), "no_difference", (0.5, 0.5, 0.0)),
        ((5, 2, 1, 5), "chance", (7 / 13, 6 / 13, 3 / 13)),
        ((5, 20, 2, 5), "real", (25 / 32, 7 / 32, 22 / 32)),
    ],
)
def test_mcnemar_returns_verdict_and_needed_n(counts, verdict, shares):
    paired = proportions.mcnemar(*cases(*counts))
    assert (paired.verdict, paired.needed) == (verdict, proportions.needed_n(*shares))


def test_compared_omits_cases_with_nan():
    first, second = np.array([1.0, 0.0, np.nan, 1.0]), np.array([0.0, 0.0, 1.0, np.nan])
    assert proportions.compared(first, second) == proportions.mcnemar(
        np.array([True, False]), np.array([False, False])
    )


def test_counted_returns_correct_cases_per_row():
    rows = proportions.counted(np.array([1.0, 1, 0])), proportions.counted(np.array([np.nan]))
    assert [row.correct for row in rows] == [2, 0]
    shares = proportions.Proportion(np.array([0.25, np.nan]), np.zeros(2), np.ones(2), 8)
    assert shares.correct.tolist() == [2, 0]
