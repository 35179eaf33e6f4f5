"""The data in the figure equals the data put in: estimates, order, sampling distribution."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from seqviz.compute import ar_fitting as ar
from seqviz.core.i18n import Text
from seqviz.figures.ar_fitting.estimation import (
    estimates_beside_truth,
    order_criteria,
    sampling_distribution,
)
from seqviz.plotting.table import table
from tests.figures.sample_series import PATH
from tests.figures.trace_helpers import trace

TEXT = Text("en")
FITS = [ar.fit(PATH.values, 2, method) for method in ar.METHODS]
MANY = ar.replicate(0.9, n=60, replications=300, seed=5, intercept=True)


def test_estimates_draw_each_method_with_interval():
    chart = estimates_beside_truth(FITS, (0.6, -0.3))
    frame = table(chart)
    name = TEXT("figure.estimate").replace("<sub>i</sub>", "i")
    rendered = [trace(chart, TEXT(f"option.{estimate.method}")) for estimate in FITS]
    for estimate, marks in zip(FITS, rendered, strict=True):
        np.testing.assert_array_equal(marks.x, estimate.coefficients)
        bars = marks.error_x
        np.testing.assert_allclose(marks.x + bars.array, estimate.upper, rtol=1e-13)
        np.testing.assert_allclose(marks.x - bars.arrayminus, estimate.lower, rtol=1e-13)
        # the row of a lag: nearer to it than to its neighbors
        np.testing.assert_array_equal(np.round(marks.y), [1, 2])
        part = frame[frame["series"] == marks.name]
        np.testing.assert_allclose(part[f"{name}, low"], estimate.lower, rtol=1e-13)
        np.testing.assert_allclose(part[f"{name}, high"], estimate.upper, rtol=1e-13)
    value, low, high = FITS[0].first, *FITS[0].first_interval
    payload = {
        "method": rendered[0].name,
        "value": value,
        "low": low,
        "high": high,
        "truth": 0.6,
    }
    assert chart.alt == TEXT("alt.estimates", **payload)
    for view in (
        [(*m.y,) for m in rendered],
        [(m.marker.symbol, m.marker.color) for m in rendered],
    ):
        assert len(set(view)) == 4  # methods do not cover each other


@pytest.mark.parametrize(
    ("order", "crossed"), [(2, [0.6, -0.3]), (4, [0.6, -0.3, 0.0, 0.0]), (1, [0.6, -0.3])]
)
def test_estimates_draw_truth_at_its_lag(order, crossed):
    """Beside a model too large it is zero; what a model too small leaves out is on the figure."""
    chart = estimates_beside_truth([ar.fit(PATH.values, order, "ols")], (0.6, -0.3))
    lines = [t for t in chart.data if t.name == TEXT("figure.truth")]
    assert [(t.x[0], t.x[1]) for t in lines] == [(phi, phi) for phi in crossed]
    low, high = sorted(chart.layout.yaxis.range)
    for lag, line in enumerate(lines, start=1):
        assert max(low, lag - 0.5) < min(line.y) < lag < max(line.y) < min(high, lag + 0.5)
    assert [t.showlegend for t in lines] == [None, *[False] * (len(lines) - 1)]
    assert list(chart.layout.yaxis.tickvals) == list(range(1, len(crossed) + 1))


def test_order_criteria_are_relative_to_minimum():
    selection = ar.select_order(PATH.values, 8)
    chart = order_criteria(selection, 2)
    low, high = chart.layout.yaxis.range
    for name, values, chosen in (
        ("AIC", selection.aic, selection.chosen_aic),
        ("BIC", selection.bic, selection.chosen_bic),
    ):
        line = trace(chart, name)
        assert line.x.tolist() == list(range(9))
        np.testing.assert_array_equal(line.y, values - values.min())
        sizes = np.asarray(line.marker.size)
        assert line.x[np.argmax(sizes)] == chosen == line.x[np.argmin(line.y)]
        assert (sizes == sizes.max()).sum() == 1
        assert low < 0 < np.sort(line.y)[1] < high  # the minimum and the second best are in sight
    (mark,) = chart.layout.shapes
    assert (mark.x0, mark.x1) == (2, 2)
    assert chart.layout.annotations[0].text == TEXT("figure.true_order")
    assert not order_criteria(selection).layout.shapes


def test_sampling_distribution_counts_every_estimate_once():
    bars = sampling_distribution(MANY).data[0]
    assert bars.type == "bar"
    left, right = bars.x - bars.width / 2, bars.x + bars.width / 2
    for count, a, b in zip(bars.y[:-1], left[:-1], right[:-1], strict=True):
        inside = (MANY.estimates >= a - 1e-12) & (MANY.estimates < b - 1e-12)
        assert count == inside.sum()
    assert int(np.sum(bars.y)) == 300


def test_sampling_distribution_draws_truth_mean_and_expected_mean():
    chart = sampling_distribution(MANY)
    # -(1 + 3 phi)/n with an intercept (Marriott & Pope 1954)
    expected = {
        "truth": 0.9,
        "mean_estimate": MANY.estimates.mean(),
        "expected_mean": 0.9 - 3.7 / 60,
    }
    for key, value in expected.items():
        line = trace(chart, TEXT(f"figure.{key}"))
        assert list(line.x) == pytest.approx([value, value], rel=1e-12)
    assert MANY.theory_bias == pytest.approx(-3.7 / 60)
    assert chart.alt == TEXT("alt.sampling", method="OLS", count=300, many=MANY)


def test_sampling_distribution_curve_area_matches_histogram():
    chart = sampling_distribution(ar.replicate(0.3, n=200, replications=500, seed=1))
    curve = trace(chart, TEXT("figure.large_sample"))
    # the curve covers the histogram's range, about three standard deviations on each side
    area = np.trapezoid(curve.y, curve.x)
    assert area == pytest.approx(500 * chart.data[0].width, rel=0.02)
    assert curve.x[np.argmax(curve.y)] == pytest.approx(0.3, abs=curve.x[1] - curve.x[0])


def test_sampling_distribution_omits_theory_lines_at_unit_root():
    """At a unit root theory expects nothing: a line at nan would be a legend without a line."""
    chart = sampling_distribution(ar.replicate(1.0, n=60, replications=100, seed=5))
    names = {t.name for t in chart.data}
    assert not names & {TEXT("figure.large_sample"), TEXT("figure.expected_mean")}
    assert all(np.isfinite(np.asarray(t.x, float)).all() for t in chart.data)


@pytest.mark.parametrize("n", [200, 300, 500, None])
def test_sampling_distribution_handles_nearly_equal_estimates(n):
    """An explosive process is estimated so well that 40 bins are narrower than floats can be."""
    many = ar.replicate(1.2, n=n or 50, replications=200, seed=1)
    if n is None:  # all the same
        many = dataclasses.replace(many, estimates=np.full(200, 1.2))
    assert np.ptp(many.estimates) < 1e-12
    bars = sampling_distribution(many).data[0]
    assert int(np.sum(bars.y)) == 200
    assert bars.width > 0
