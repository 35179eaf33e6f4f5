"""Means, differences, shares and ratios have the intervals of scipy.stats, and hold the truth."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

import seqviz
from seqviz.stats.estimate import (
    Estimate,
    crossed_difference,
    mean_ci,
    paired_difference,
    ratio_ci,
    share_ci,
    stack,
    standard_error,
)

NUMBERS = st.floats(-1e6, 1e6)
ROOT = Path(seqviz.__file__).parent
# What is no interval of a sample's mean, share or ratio, and stays where it is.
ELSEWHERE = {
    "compute/ar_fitting/correlation.py": "band of white noise, of one series",
    "compute/ar_fitting/estimation.py": "standard errors of an estimator",
    "compute/ar_fitting/forecasting.py": "interval of a forecast",
    "compute/ar_fitting/replication.py": "standard errors of an estimator, and of its bias",
    "compute/replicates.py": "quantiles of a theoretical distribution",
}
MAKERS = {"NORMAL_95", "student_t_95", "stdtrit", "ndtri", "sem"}


def sample(*shape: int) -> np.ndarray:
    return np.random.RandomState(len(shape)).normal(3, 2, shape)


@pytest.mark.parametrize("n", [2, 3, 12, 400])
def test_mean_ci_uses_student_t(n):
    values = sample(n)
    estimate = mean_ci(values, source="texts")
    low, high = stats.t.interval(0.95, n - 1, values.mean(), stats.sem(values))
    assert (estimate.mean, *estimate.ci) == pytest.approx((values.mean(), low, high))
    assert (estimate.n, estimate.source) == (n, "texts")
    assert standard_error(values) == pytest.approx(stats.sem(values))
    assert all(type(end) is float for end in (estimate.mean, *estimate.ci))


def test_mean_ci_omits_nan_per_column():
    values = sample(9, 4)
    values[3:, 1] = values[1:, 2] = values[:, 3] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimate = mean_ci(values)
        along = mean_ci(values.T, axis=1)
    assert estimate.n.tolist() == along.n.tolist() == [9, 3, 1, 0]
    for column in range(2):
        alone = mean_ci(values[: estimate.n[column], column])
        item = estimate[column]
        assert (item.mean, *item.ci, item.n) == pytest.approx((alone.mean, *alone.ci, alone.n))
    assert estimate.mean[2] == values[0, 2]
    assert np.isnan([estimate.low[2:], estimate.high[2:]]).all()
    assert np.isnan(estimate.mean[3])
    np.testing.assert_allclose(along.mean, estimate.mean)


def test_paired_difference_matches_paired_t_test():
    a, b = sample(30, 1)[:, 0], sample(30)
    result, expected = paired_difference(a, b), stats.ttest_rel(a, b).confidence_interval()
    assert (result.mean, *result.ci) == pytest.approx((np.mean(a - b), *expected))
    right = a > 3, b > 3  # answers, not numbers
    assert paired_difference(*right).mean == pytest.approx(right[0].mean() - right[1].mean())


@pytest.mark.parametrize(("correct", "n"), [(0, 10), (3, 10), (10, 10), (615, 1000)])
def test_share_ci_matches_wilson(correct, n):
    estimate = share_ci(correct / n, n)
    expected = stats.binomtest(correct, n).proportion_ci(method="wilson")
    assert estimate.ci == pytest.approx((expected.low, expected.high), abs=1e-9)
    row = share_ci(np.array([correct / n, np.nan, 0.5]), np.array([n, n, 0]))
    assert row[0].ci == pytest.approx(estimate.ci)
    assert row.n.tolist() == [n, 0, 0]
    assert np.isnan(row.mean[1:]).all()
    assert np.isnan([end[1:] for end in row.ci]).all()


def test_crossed_difference_adds_both_variances():
    a, b = sample(4, 50), np.random.RandomState(5).normal(2, 1, (4, 50))
    each = a - b
    half = stats.t.ppf(0.975, 3) * np.hypot(stats.sem(each.mean(0)), stats.sem(each.mean(1)))
    result = crossed_difference(a, b)
    assert (result.mean, *result.ci) == pytest.approx(
        (each.mean(), each.mean() - half, each.mean() + half)
    )
    assert crossed_difference(a.T, b.T).ci == pytest.approx(result.ci)
    assert result.n == 4
    alone = stats.ttest_rel(a[0], b[0]).confidence_interval()
    assert crossed_difference(a[:1], b[:1]).ci == pytest.approx(tuple(alone))
    assert crossed_difference(a[:, :1], b[:, :1]).n == 4
    assert np.isnan(crossed_difference(a[:1, :1], b[:1, :1]).ci).all()


@pytest.mark.parametrize(("rows", "columns"), [(8, 60), (5, 5)])
def test_crossed_difference_covers_truth_with_row_and_column_effects(rows, columns):
    rng, held = np.random.RandomState(1), 0
    for _ in range(1000):
        effects = rng.normal(0, 1, (rows, 1)) + rng.normal(0, 1, columns)
        noise = rng.normal(0, 1, (rows, columns))
        low, high = crossed_difference(0.2 + effects + noise, np.zeros_like(noise)).ci
        held += low < 0.2 < high
    assert held >= 0.94 * 1000


def test_ratio_ci_matches_bootstrap():
    random = np.random.RandomState(0)
    wholes = random.randint(1, 40, 200)
    parts = random.binomial(wholes, 0.3)
    estimate = ratio_ci(parts, wholes)
    assert estimate.mean == pytest.approx(parts.sum() / wholes.sum())
    draws = random.randint(0, 200, (4000, 200))
    spread = (parts[draws].sum(1) / wholes[draws].sum(1)).std()
    assert estimate.high - estimate.mean == pytest.approx(1.96 * spread, rel=0.06)
    assert estimate.mean - estimate.low == pytest.approx(estimate.high - estimate.mean)
    padded = ratio_ci(np.append(parts, 0), np.append(wholes, 0))  # nothing to be right about
    assert (padded.n, padded.ci) == (200, pytest.approx(estimate.ci))


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(1, 2, "more"), (-2, -1, "less"), (-1, 1, "null"), (0, 1, "null"), (np.nan, np.nan, "null")],
)
def test_estimate_verdict_follows_sign_of_interval(low, high, verdict):
    estimate = Estimate((low + high) / 2, low, high, 9)
    assert estimate.verdict == verdict
    assert estimate.is_significant == (verdict != "null")
    assert estimate.margin == pytest.approx((high - low) / 2, nan_ok=True)
    turned = abs(estimate)
    assert turned.verdict == {"less": "more"}.get(verdict, verdict)
    assert turned.high - turned.mean == pytest.approx(estimate.mean - estimate.low, nan_ok=True)


def test_estimate_stacks_scales_and_clips():
    items = [mean_ci(sample(n), source="seeds") for n in (2, 5, 9)]
    result = stack(items)
    assert (result.n.tolist(), result.source) == ([2, 5, 9], "seeds")
    assert [result[k] for k in range(3)] == items
    percent = (100 * result).clip(0, 300)
    np.testing.assert_allclose(percent.mean, 100 * result.mean)
    np.testing.assert_allclose(percent.low, np.maximum(100 * result.low, 0))
    np.testing.assert_allclose(percent.high, np.minimum(100 * result.high, 300))


@given(arrays(float, st.integers(2, 20), elements=NUMBERS), st.floats(-1e3, 1e3))
def test_mean_ci_contains_mean_and_is_shift_equivariant(values, shift):
    estimate, moved = mean_ci(values), mean_ci(values + shift)
    assert estimate.low <= estimate.mean <= estimate.high
    tolerance = 1e-6 * max(1.0, abs(shift), np.abs(values).max())
    assert moved.mean == pytest.approx(estimate.mean + shift, abs=tolerance)
    assert moved.high - moved.low == pytest.approx(estimate.high - estimate.low, abs=tolerance)
    assert mean_ci(-values).ci == pytest.approx((-estimate.high, -estimate.low), abs=tolerance)


@given(st.integers(1, 10**6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_share_ci_contains_share_and_stays_within_0_and_1(counts):
    correct, n = counts
    estimate, other = share_ci(correct / n, n), share_ci(1 - correct / n, n)
    assert 0 <= estimate.low <= estimate.mean + 1e-12
    assert estimate.mean - 1e-12 <= estimate.high <= 1
    assert other.ci == pytest.approx((1 - estimate.high, 1 - estimate.low), abs=1e-9)


def test_intervals_are_computed_only_in_stats():
    """No other module knows a quantile, or a standard deviation of a sample divided by n - 1."""
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if name.startswith("stats/") or name in ELSEWHERE:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            used = getattr(node, "attr", getattr(node, "id", getattr(node, "name", None)))
            # Theory of one draw (`ppf` of a binomial) is no sample: Student's t is called `t`.
            student = used == "ppf" and isinstance(node, ast.Attribute)
            student = student and getattr(node.value, "id", "") in ("t", "norm")
            quantile = isinstance(node, ast.Constant) and isinstance(node.value, float)
            quantile = quantile and round(node.value, 2) == 1.96
            divided = isinstance(node, ast.keyword) and node.arg == "ddof"
            where = f"{name}:{getattr(node, 'lineno', 0)}"
            assert not any((used in MAKERS, student, quantile, divided)), where


def test_interval_exceptions_are_still_needed():
    for name in ELSEWHERE:
        assert any(maker in (ROOT / name).read_text("utf-8") for maker in MAKERS), name
