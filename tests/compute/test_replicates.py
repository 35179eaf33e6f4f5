"""What theory says of one replicate, against many of them; and what is said of a class."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from seqviz.compute import ar_fitting as ar
from seqviz.compute import replicates
from seqviz.compute.gpt.draw import draws, uniforms
from seqviz.compute.replicates import Replicates, Theory
from seqviz.stats.intervals import median_rank
from tests.tiers import first_only

MANY = 1500  # seeds


def of(values, students: int = 0) -> Replicates:
    seeds = np.arange(1, len(values) + 1)
    return Replicates(seeds, np.array(values, float), seeds <= students)


def agrees(values, theory: Theory, also: float = 0.0) -> None:
    """Mean within four of its standard errors, and as many inside as 95% are."""
    result = of(values)
    assert abs(result.estimate.mean - theory.mean) < 4 * stats.sem(values) + also
    inside, count = result.within(theory)
    assert inside / count > 0.95 - 4 * np.sqrt(0.95 * 0.05 / count)


@pytest.mark.parametrize(
    ("method", "intercept"),
    first_only(
        [("ols", False), ("yule_walker", True), ("ols", True), ("yule_walker", False)], retained=2
    ),
)
def test_estimate_each_matches_theoretical_bias_and_spread(method, intercept):
    """The bias is that of the estimator with a fitted mean, -(1 + 3 phi) / n, or without one."""
    n, phi = 200, 0.6
    values = ar.estimate_each(range(1, MANY + 1), phi, intercept, method, n=n, burn_in=50)
    bias, deviation = ar.in_theory(phi, n, intercept, method)
    assert bias == pytest.approx(
        -(intercept + (2 + intercept + (method == "yule_walker")) * phi) / n
    )
    agrees(values, replicates.normal(phi + bias, deviation), also=3 / n**1.5)
    assert values.std() == pytest.approx(deviation, rel=0.06)
    assert abs(values.mean() - phi) > abs(
        values.mean() - phi - bias
    )  # without the bias it is worse


def test_estimate_each_matches_single_fit_of_same_seed():
    path = ar.simulate((0.8,), n=100, seed=7, noise="laplace")
    for shuffle in (False, True):
        values = ar.shuffled(path.values, 7) if shuffle else path.values
        item = ar.fit(values, 1, "exact_ml", True).first
        result = ar.estimate_each([3, 7], 0.8, True, "exact_ml", shuffle, n=100, noise="laplace")
        assert result[1] == item
        alone = ar.estimate_each([7], 0.8, True, "exact_ml", shuffle, n=100, noise="laplace")
        assert alone[0] == item  # whatever is computed with it


def test_in_theory_lacks_unit_root_and_shuffle_without_intercept():
    assert replicates.normal(*ar.in_theory(1.0, 100)) is None
    assert replicates.normal(*ar.in_theory(0.8, 100, shuffle=True)) is None
    assert replicates.normal(*ar.in_theory(0.8, 100, True, shuffle=True)) is not None


def test_share_of_matches_binomial():
    scores = np.log(np.array([0.35, 0.3, 0.2, 0.15]))
    shares = [(draws(scores, uniforms(seed, 50)) == 0).mean() for seed in range(1, MANY + 1)]
    theory = replicates.share_of(0.35, 50)
    agrees(shares, theory)
    assert np.std(shares) == pytest.approx(np.sqrt(0.35 * 0.65 / 50), rel=0.05)
    assert np.std(theory.values) == pytest.approx(np.sqrt(0.35 * 0.65 / 50), rel=0.01)
    assert (50 * theory.low, 50 * theory.high) == tuple(stats.binom.ppf([0.025, 0.975], 50, 0.35))
    percent = theory.times(100.0)
    assert (percent.mean, percent.low) == pytest.approx((35, 100 * theory.low))


def test_drawn_from_has_entropy_as_mean():
    probabilities = np.array([0.5, 0.25, 0.125, 0.125])
    bits = -np.log2(probabilities)
    theory = replicates.drawn_from(bits, probabilities)
    assert theory.mean == pytest.approx(1.75)  # the entropy
    assert (theory.low, theory.high) == (1.0, 3.0)
    assert np.mean(theory.values) == pytest.approx(1.75, abs=0.002)
    samples = [
        bits[draws(np.log(probabilities), uniforms(seed, 1))[0]] for seed in range(1, MANY + 1)
    ]
    agrees(samples, theory)


def test_expected_counts_sum_to_sample_size():
    theory = replicates.normal(2.0, 0.5)
    edges = np.linspace(-1, 5, 13)
    assert replicates.expected(theory, edges, 30).sum() == pytest.approx(30)
    probability = np.diff(stats.norm.cdf(edges, 2.0, 0.5))
    assert replicates.expected(theory, edges, 30) == pytest.approx(30 * probability, abs=0.02)
    assert (theory.low, theory.high) == pytest.approx(stats.norm.interval(0.95, 2.0, 0.5))


def test_estimate_ci_has_nominal_coverage():
    random = np.random.RandomState(0)
    held = 0
    for _ in range(2000):
        low, high = of(random.normal(3.0, 2.0, 12)).estimate.ci
        held += low <= 3.0 <= high
    assert abs(held / 2000 - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 2000)
    assert of([1, 2, 4]).estimate.ci == pytest.approx(
        stats.t.interval(0.95, 2, np.mean([1, 2, 4]), stats.sem([1, 2, 4]))
    )
    assert np.isnan(of([1.0]).estimate.ci).all()


def test_heights_stack_every_mark_within_bins():
    edges = np.array([0.0, 1.0, 2.0, 3.0])
    result = of([0.5, 2.9, 0.1, 1.0, 0.9, -5.0, 99.0])
    assert replicates.binned(result.values, edges).tolist() == [0, 2, 0, 1, 0, 0, 2]
    assert result.heights(edges).tolist() == [1, 1, 2, 1, 3, 4, 2]


def test_median_rank_matches_binomial_and_scipy():
    for n in range(301):
        k = median_rank(n)
        half = stats.binom(n, 0.5)
        if k is None:
            assert n < 6
            assert 2 * half.cdf(0) > 0.05
            continue
        assert 2 * half.cdf(k - 1) <= 0.05 < 2 * half.cdf(k)
        low, high = stats.quantile_test(np.arange(n)).confidence_interval(0.95)
        assert (low, high) == (k - 1, n - k)  # of the values 0 ... n - 1


@pytest.mark.parametrize("draw", ["lognormal", "standard_cauchy", "integers"])
def test_median_rank_interval_covers_for_any_distribution(draw):
    random, n, k = np.random.default_rng(1), 25, median_rank(25)
    values = (
        random.integers(0, 5, (4000, n))
        if draw == "integers"
        else getattr(random, draw)(size=(4000, n))
    )
    ordered = np.sort(values, axis=1)
    middle = {"lognormal": 1.0, "standard_cauchy": 0.0, "integers": 2}[draw]
    held = ((ordered[:, k - 1] <= middle) & (middle <= ordered[:, -k])).mean()
    assert held > 0.95 - 4 * np.sqrt(0.95 * 0.05 / 4000)
    if draw != "integers":
        assert held == pytest.approx(1 - 2 * stats.binom(n, 0.5).cdf(k - 1), abs=0.013)


def test_more_than_pairs_values_by_seed():
    item, other = of([3.0, 5.0, 4.0]), of([1.0, 2.0, 2.0])
    gap = item.more_than(other)
    assert (gap.mean, gap.n, gap.source) == (pytest.approx(7 / 3), 3, "seeds")
    expected = stats.ttest_rel(item.values, other.values).confidence_interval(0.95)
    assert gap.ci == pytest.approx(tuple(expected))
