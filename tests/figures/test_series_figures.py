"""The data in the figure equals the data put in: series, correlations, roots, lag plot."""

from __future__ import annotations

import numpy as np
import pytest
from drawn import PATH, WALK, nile

from seqviz.compute import autoregression as ar
from seqviz.figures.autoregression.series import lag_plot, roots_in_circle, series_and_correlations
from seqviz.text import Text, number

TEXT = Text("en")


def trace(chart, name: str, axis: str = "y"):
    """The trace of this name on this axis; exactly one."""
    (found,) = (t for t in chart.data if t.name == name and (t.yaxis or "y") == axis)
    return found


@pytest.fixture(scope="module")
def found() -> ar.Correlogram:
    return ar.correlogram(PATH.values, 15, tuple(PATH.coefficients.tolist()))


def test_series_is_the_series(found):
    line = trace(series_and_correlations(PATH.values, found), TEXT("figure.series"))
    assert line.x.tolist() == list(range(200))
    # exactly what was put in
    np.testing.assert_array_equal(line.y, PATH.values)


@pytest.mark.parametrize(
    ("level", "scale"), [(1.4e9, 10.0), (0.0, 1e60), (0.0, 1e-60)], ids=["level", "huge", "tiny"]
)
def test_a_series_of_any_size_keeps_its_shape(level, scale):
    """A population of 1.4 billion that moves by ten: float32 has steps of 128 there."""
    values = level + scale * PATH.values
    chart = series_and_correlations(values, ar.correlogram(values, 10))
    shown = np.asarray(trace(chart, TEXT("figure.series")).y, float)
    # A chart of 400 px: a thousandth of the range is less than half a pixel.
    assert np.abs(shown - values).max() <= 1e-3 * np.ptp(values)


def test_correlations_start_at_lag_one(found):
    chart = series_and_correlations(PATH.values, found)
    for axis, sample, theory in (
        ("y2", found.acf, found.theory_acf),
        ("y3", found.pacf, found.theory_pacf),
    ):
        bars = trace(chart, TEXT("figure.sample"), axis)
        assert bars.type == "bar"
        assert bars.x.tolist() == list(range(1, 16))
        np.testing.assert_array_equal(bars.y, sample[1:])
        marks = trace(chart, TEXT("figure.theory"), axis)
        np.testing.assert_array_equal(marks.y, theory[1:])
        assert marks.x.tolist() == bars.x.tolist()


def test_the_band_of_noise_is_on_both_sides_in_both_panels(found):
    chart = series_and_correlations(PATH.values, found)
    for axis in ("y2", "y3"):
        lines = [t for t in chart.data if t.name == TEXT("figure.band") and t.yaxis == axis]
        assert sorted(t.y[0] for t in lines) == [-found.band, found.band]
        assert all(t.y[0] == t.y[1] for t in lines)
        assert all(t.x[0] < 1 and t.x[1] > 15 for t in lines)
    assert found.band == pytest.approx(1.96 / np.sqrt(200), rel=1e-3)


def test_without_theory_there_are_no_diamonds():
    plain = ar.correlogram(WALK.values, 20, (1.0,))
    chart = series_and_correlations(WALK.values, plain)
    assert TEXT("figure.theory") not in [t.name for t in chart.data]
    assert chart.data[0].showlegend is False
    shown = [t.name for t in chart.data if t.showlegend is not False]
    assert sorted(shown) == sorted([TEXT("figure.sample"), TEXT("figure.band")])


def test_dates_and_unit():
    plain = ar.correlogram(nile().values, 20)
    chart = series_and_correlations(nile().values, plain, nile().labels, "10⁸ m³")
    assert list(chart.data[0].x) == list(nile().labels)
    assert chart.layout.xaxis.title.text == TEXT("figure.dates")
    assert chart.layout.yaxis.title.text.endswith("(10⁸ m³)")
    undated = series_and_correlations(nile().values, plain)
    assert undated.layout.xaxis.title.text == TEXT("figure.steps")
    assert "(" not in undated.layout.yaxis.title.text.replace("<sub>t</sub>", "")


def test_correlation_axes_hold_minus_one_to_one(found):
    chart = series_and_correlations(PATH.values, found)
    for axis in (chart.layout.yaxis2, chart.layout.yaxis3):
        assert axis.range[0] <= -1
        assert axis.range[1] >= 1


def test_roots_are_sorted_by_the_circle():
    z = ar.roots((1.5, -0.7, 0.9))
    chart = roots_in_circle(z)
    inside = trace(chart, TEXT("figure.root_inside"))
    outside = trace(chart, TEXT("figure.root_outside"))
    np.testing.assert_array_equal(inside.x + 1j * inside.y, z[np.abs(z) < 1])
    np.testing.assert_array_equal(outside.x + 1j * outside.y, z[np.abs(z) >= 1])
    assert len(inside.x) + len(outside.x) == 3
    assert inside.marker.symbol != outside.marker.symbol  # never by color alone
    circle = trace(chart, TEXT("figure.unit_circle"))
    np.testing.assert_allclose(np.hypot(circle.x, circle.y), 1, rtol=1e-12)
    assert chart.layout.yaxis.scaleanchor == "x"  # a circle, not an ellipse
    assert chart.layout.xaxis.range[1] >= np.abs(z).max()


def test_a_unit_root_counts_as_outside():
    chart = roots_in_circle(ar.roots((1.0,)))
    assert [t.name for t in chart.data][1:] == [TEXT("figure.root_outside")]


def test_the_root_of_white_noise():
    chart = roots_in_circle(ar.roots((0.0,)))
    assert trace(chart, TEXT("figure.root_inside")).x.tolist() == [0.0]


def test_lag_plot_pairs_and_lines():
    values = PATH.values
    fitted = ar.fit(values, 1, "ols")
    phi = float(values[1:] @ values[:-1] / (values[:-1] @ values[:-1]))
    chart = lag_plot(values, fitted, 0.6)
    pairs = trace(chart, TEXT("figure.pairs"))
    np.testing.assert_array_equal(pairs.x, values[:-1])
    np.testing.assert_array_equal(pairs.y, values[1:])
    for slope, key in ((phi, "figure.fitted_line"), (0.6, "figure.true_line")):
        line = trace(chart, TEXT(key, slope=number(slope)))
        np.testing.assert_allclose(line.y, slope * line.x, rtol=1e-12)
        assert line.x.tolist() == [values[:-1].min(), values[:-1].max()]
    assert len(lag_plot(values, fitted).data) == 2
