"""The data in the figure equals the data put in: series, correlations, roots, lag plot."""

from __future__ import annotations

import numpy as np
import pytest

from seqviz.compute import ar_fitting as ar
from seqviz.core.i18n import Text
from seqviz.figures.ar_fitting.series import lag_plot, roots_in_circle, series_and_correlations
from tests.figures.sample_series import PATH, WALK, nile
from tests.figures.trace_helpers import trace

TEXT = Text("en")
FOUND = ar.correlogram(PATH.values, 15, tuple(PATH.coefficients.tolist()))


def on_axis(chart, key: str, axis: str) -> list:
    return [t for t in chart.data if t.name == TEXT(key) and t.yaxis == axis]


@pytest.mark.parametrize(
    ("level", "scale"),
    [(0.0, 1.0), (1.4e9, 10.0), (0.0, 1e60), (0.0, 1e-60)],
    ids=["as it is", "level", "huge", "tiny"],
)
def test_series_figure_keeps_values_at_any_scale(level, scale):
    """A population of 1.4 billion that moves by ten: float32 has steps of 128 there."""
    values = level + scale * PATH.values
    chart = series_and_correlations(values, ar.correlogram(values, 10))
    line = trace(chart, TEXT("figure.series"))
    assert line.x.tolist() == list(range(200))
    np.testing.assert_array_equal(line.y, values)


def test_series_figure_correlations_start_at_lag_one():
    chart = series_and_correlations(PATH.values, FOUND)
    for axis, sample, theory in (
        ("y2", FOUND.acf, FOUND.theory_acf),
        ("y3", FOUND.pacf, FOUND.theory_pacf),
    ):
        (bars,), (marks,) = (on_axis(chart, f"figure.{key}", axis) for key in ("sample", "theory"))
        assert bars.type == "bar"
        assert bars.x.tolist() == marks.x.tolist() == list(range(1, 16))
        np.testing.assert_array_equal(bars.y, sample[1:])
        np.testing.assert_array_equal(marks.y, theory[1:])
        band = on_axis(chart, "figure.band", axis)
        assert sorted((*t.y,) for t in band) == [(-FOUND.band,) * 2, (FOUND.band,) * 2]
        assert all(t.x[0] < 1 and t.x[1] > 15 for t in band)
        low, high = chart.layout[f"yaxis{axis[1:]}"].range
        assert low <= -1 < 1 <= high
    low, high, first = PATH.values.min(), PATH.values.max(), FOUND.r1
    outside = sum(abs(value) > FOUND.band for value in FOUND.acf[1:])
    payload = {"n": 200, "low": low, "high": high, "first": first, "outside": outside, "lags": 15}
    assert chart.alt == TEXT("alt.series", **payload)


def test_series_figure_omits_theory_markers_without_theory():
    plain = ar.correlogram(WALK.values, 20, (1.0,))
    chart = series_and_correlations(WALK.values, plain)
    assert TEXT("figure.theory") not in [t.name for t in chart.data]
    visible = [t.name for t in chart.data if t.showlegend is not False]
    assert sorted(visible) == sorted([TEXT("figure.sample"), TEXT("figure.band")])


def test_series_figure_labels_dates_and_unit():
    plain = ar.correlogram(nile().values, 20)
    chart = series_and_correlations(nile().values, plain, nile().labels, "10⁸ m³")
    assert list(chart.data[0].x) == list(nile().labels)
    assert chart.layout.xaxis.title.text == TEXT("figure.dates")
    assert chart.layout.yaxis.title.text.endswith("(10⁸ m³)")
    undated = series_and_correlations(nile().values, plain)
    assert undated.layout.xaxis.title.text == TEXT("figure.steps")
    assert "(" not in undated.layout.yaxis.title.text.replace("<sub>t</sub>", "")


@pytest.mark.parametrize("phi", [(1.5, -0.7, 0.9), (1.0,), (0.0,)], ids=["", "unit root", "noise"])
def test_roots_figure_groups_roots_by_unit_circle(phi):
    """A unit root counts as outside."""
    z = ar.roots(phi)
    chart = roots_in_circle(z)
    circle, *marks = chart.data
    np.testing.assert_allclose(np.hypot(circle.x, circle.y), 1, rtol=1e-12)
    rendered = {t.name: np.asarray(t.x) + 1j * np.asarray(t.y) for t in marks}
    within = np.abs(z) < 1
    for key, expected in (("root_inside", z[within]), ("root_outside", z[~within])):
        np.testing.assert_array_equal(rendered.pop(TEXT(f"figure.{key}"), []), expected)
    assert not rendered
    largest = float(np.abs(z).max())
    assert chart.alt == TEXT("alt.roots", count=len(z), outside=sum(~within), largest=largest)
    assert len({t.marker.symbol for t in marks}) == len(marks)  # never by color alone
    assert chart.layout.yaxis.scaleanchor == "x"  # a circle, not an ellipse
    assert chart.layout.xaxis.range[1] >= np.abs(z).max()


def test_lag_plot_draws_pairs_and_lines():
    values = PATH.values
    fitted = ar.fit(values, 1, "ols")
    chart = lag_plot(values, fitted, 0.6)
    pairs = trace(chart, TEXT("figure.pairs"))
    np.testing.assert_array_equal(pairs.x, values[:-1])
    np.testing.assert_array_equal(pairs.y, values[1:])
    for slope, key in ((fitted.first, "figure.fitted_line"), (0.6, "figure.true_line")):
        line = trace(chart, TEXT(key, slope=slope))
        np.testing.assert_allclose(line.y, slope * line.x, rtol=1e-12)
        assert line.x.tolist() == [values[:-1].min(), values[:-1].max()]
    assert len(lag_plot(values, fitted).data) == 2
