"""The data in the figure equals the data put in: estimates, order, sampling distribution."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from drawn import PATH

from seqviz.compute import autoregression as ar
from seqviz.figures.autoregression.estimation import (
    estimates_beside_truth,
    order_criteria,
    sampling_distribution,
)
from seqviz.figures.grammar.table import table
from seqviz.text import Text

TEXT = Text("en")


@pytest.fixture(scope="module")
def fits() -> list[ar.Estimate]:
    return [ar.fit(PATH.values, 2, method) for method in ar.METHODS]


def test_each_method_with_its_interval(fits):
    chart = estimates_beside_truth(fits, (0.6, -0.3))
    for estimate in fits:
        (marks,) = (t for t in chart.data if t.name == TEXT(f"option.{estimate.method}"))
        np.testing.assert_array_equal(marks.x, estimate.coefficients)
        bars = marks.error_x
        np.testing.assert_allclose(marks.x + bars.array, estimate.upper, rtol=1e-13)
        np.testing.assert_allclose(marks.x - bars.arrayminus, estimate.lower, rtol=1e-13)
        # the row of a lag: nearer to it than to its neighbors
        np.testing.assert_array_equal(np.round(marks.y), [1, 2])


def test_methods_do_not_cover_each_other(fits):
    chart = estimates_beside_truth(fits, None)
    rows = [tuple(t.y) for t in chart.data]
    assert len(set(rows)) == 4
    assert len({t.marker.symbol for t in chart.data}) == 4
    assert len({t.marker.color for t in chart.data}) == 4


def test_the_truth_crosses_its_own_lag(fits):
    chart = estimates_beside_truth(fits, (0.6, -0.3))
    lines = [t for t in chart.data if t.name == TEXT("figure.truth")]
    assert [(t.x[0], t.x[1]) for t in lines] == [(0.6, 0.6), (-0.3, -0.3)]
    for lag, line in enumerate(lines, start=1):
        assert min(line.y) < lag < max(line.y)
        assert min(line.y) > lag - 0.5
        assert max(line.y) < lag + 0.5
    assert [t.showlegend for t in lines] == [True, False]


def test_a_model_too_large_has_zero_as_its_truth():
    chart = estimates_beside_truth([ar.fit(PATH.values, 4, "ols")], (0.6, -0.3))
    lines = [t for t in chart.data if t.name == TEXT("figure.truth")]
    assert [t.x[0] for t in lines] == [0.6, -0.3, 0.0, 0.0]
    assert list(chart.layout.yaxis.tickvals) == [1, 2, 3, 4]


def test_a_model_too_small_shows_what_it_leaves_out():
    """The true second coefficient has no estimate, but its line must be on the figure."""
    chart = estimates_beside_truth([ar.fit(PATH.values, 1, "ols")], (0.6, -0.3))
    low, high = sorted(chart.layout.yaxis.range)
    lines = [t for t in chart.data if t.name == TEXT("figure.truth")]
    for line in lines:
        assert low <= min(line.y) <= max(line.y) <= high


def test_table_of_estimates_has_the_intervals(fits):
    frame = table(estimates_beside_truth(fits, (0.6, -0.3)))
    name = TEXT("figure.estimate").replace("<sub>i</sub>", "i")
    part = frame[frame["series"] == TEXT("option.exact_ml")]
    exact = fits[ar.METHODS.index("exact_ml")]
    np.testing.assert_allclose(part[name], exact.coefficients, rtol=1e-13)
    np.testing.assert_allclose(part[f"{name}, low"], exact.lower, rtol=1e-13)
    np.testing.assert_allclose(part[f"{name}, high"], exact.upper, rtol=1e-13)


def test_criteria_are_shown_above_their_own_minimum():
    selection = ar.select_order(PATH.values, 8)
    chart = order_criteria(selection, 2)
    for name, values, chosen in (
        ("AIC", selection.aic, selection.chosen_aic),
        ("BIC", selection.bic, selection.chosen_bic),
    ):
        (line,) = (t for t in chart.data if t.name == name)
        assert line.x.tolist() == list(range(9))
        np.testing.assert_array_equal(line.y, values - values.min())
        sizes = np.asarray(line.marker.size)
        assert line.x[np.argmax(sizes)] == chosen == line.x[np.argmin(line.y)]
        assert (sizes == sizes.max()).sum() == 1
    (mark,) = chart.layout.shapes
    assert (mark.x0, mark.x1) == (2, 2)
    assert chart.layout.annotations[0].text == TEXT("figure.true_order")
    assert not order_criteria(selection).layout.shapes


def test_the_minimum_and_the_second_best_are_in_sight():
    selection = ar.select_order(PATH.values, 8)
    chart = order_criteria(selection)
    low, high = chart.layout.yaxis.range
    for line in chart.data:
        assert low < 0
        assert np.sort(line.y)[1] < high


def test_histogram_counts_every_estimate_once():
    many = ar.replicate(0.9, n=60, replications=300, seed=5, intercept=True)
    chart = sampling_distribution(many)
    bars = chart.data[0]
    assert bars.type == "bar"
    assert int(np.sum(bars.y)) == 300
    left = bars.x - bars.width / 2
    right = bars.x + bars.width / 2
    for count, a, b in zip(bars.y[:-1], left[:-1], right[:-1], strict=True):
        inside = (many.estimates >= a - 1e-12) & (many.estimates < b - 1e-12)
        assert count == inside.sum()


def test_the_three_lines_of_the_sampling_distribution():
    many = ar.replicate(0.9, n=60, replications=300, seed=5, intercept=True)
    chart = sampling_distribution(many)
    lines = {t.name: t.x[0] for t in chart.data if t.type == "scatter" and len(t.x) == 2}
    assert lines[TEXT("figure.truth")] == 0.9
    assert lines[TEXT("figure.mean_estimate")] == pytest.approx(many.estimates.mean(), rel=1e-12)
    # -(1 + 3 phi)/n with an intercept (Marriott & Pope 1954)
    assert lines[TEXT("figure.expected_mean")] == pytest.approx(0.9 - 3.7 / 60, rel=1e-12)


def test_the_normal_curve_has_the_histograms_area():
    many = ar.replicate(0.3, n=200, replications=500, seed=1)
    chart = sampling_distribution(many)
    (curve,) = (t for t in chart.data if t.name == TEXT("figure.large_sample"))
    width = chart.data[0].width
    # the curve covers the histogram's range, about three standard deviations on each side
    assert np.trapezoid(curve.y, curve.x) == pytest.approx(500 * width, rel=0.02)
    assert curve.x[np.argmax(curve.y)] == pytest.approx(0.3, abs=curve.x[1] - curve.x[0])


def test_without_a_theory_there_is_no_line_for_it():
    """At a unit root theory expects nothing: a line at nan would be a legend without a line."""
    chart = sampling_distribution(ar.replicate(1.0, n=60, replications=100, seed=5))
    names = [t.name for t in chart.data]
    assert TEXT("figure.large_sample") not in names
    assert TEXT("figure.expected_mean") not in names
    for trace in chart.data:
        assert np.isfinite(np.asarray(trace.x, float)).all(), trace.name


def test_replications_of_one_value_do_not_divide_by_zero():
    many = ar.replicate(0.5, n=50, replications=20, seed=1)
    same = dataclasses.replace(many, estimates=np.full(20, 0.5))
    chart = sampling_distribution(same)
    assert int(np.sum(chart.data[0].y)) == 20


@pytest.mark.parametrize("n", [300, 500])
def test_estimates_that_agree_to_rounding_have_a_histogram(n):
    """An explosive process is estimated so well that 40 bins are narrower than floats can be."""
    many = ar.replicate(1.2, n=n, replications=200, seed=1)
    assert 0 < np.ptp(many.estimates) < 1e-12
    chart = sampling_distribution(many)
    assert int(np.sum(chart.data[0].y)) == 200
    assert chart.data[0].width > 0


def test_estimates_pinned_to_one_value_are_still_drawn():
    """phi = 1.2 over 200 steps: the estimates differ by less than a bin can be wide."""
    many = ar.replicate(1.2, n=200, replications=50)
    assert np.ptp(many.estimates) < 1e-12
    bars = sampling_distribution(many).data[0]
    assert np.sum(bars.y) == 50
