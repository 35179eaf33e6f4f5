"""Marks of a panel: estimates, bars in order, panels in a row, names that the legend has once."""

from __future__ import annotations

import numpy as np
import pytest

from seqviz.plotting import Sheet, Style, axes
from seqviz.plotting.panel import DODGE, ROW_DODGE
from seqviz.plotting.style import LIGHT
from seqviz.stats.estimate import mean_ci

VALUES = np.random.default_rng(0).normal(50, 5, (12, 3))  # samples of three categories


def panel():
    return Sheet(Style()).panel(axes.names("abc", "category"), axes.axis("value"))


def interval(trace, along="y"):
    values, error = np.asarray(trace[along]), trace[f"error_{along}"]
    return values - error["arrayminus"], values + error["array"]


def test_estimates_draw_interval_ends():
    mark = panel()
    estimate = mean_ci(VALUES)
    mark.estimates(estimate, "LSTM", LIGHT.lstm)
    (trace,) = mark.sheet.traces
    assert trace["mode"] == "lines+markers"
    np.testing.assert_array_equal(trace["x"], [1, 2, 3])
    np.testing.assert_array_equal(trace["y"], VALUES.mean(0))
    np.testing.assert_allclose(interval(trace), estimate.ci)
    assert trace["error_y"]["color"] == LIGHT.lstm


def test_estimates_dodge_series_around_categories():
    mark = panel()
    for index in range(3):
        mark.estimates(VALUES[index], f"series {index}", LIGHT.series[index], dodge=(index, 3))
    first, middle, last = (trace["x"] for trace in mark.sheet.traces)
    np.testing.assert_allclose(middle, [1, 2, 3])
    np.testing.assert_allclose(last - middle, DODGE)
    np.testing.assert_allclose(first + last, 2 * middle)
    assert not any("error_y" in trace for trace in mark.sheet.traces)  # no interval is known


def test_estimates_skip_categories_and_show_samples():
    mark = panel()
    mark.estimates(mean_ci(VALUES), "GRU", LIGHT.gru, start=1, samples=VALUES.T)
    line, dots = mark.sheet.traces
    np.testing.assert_array_equal(line["x"], [2, 3])
    np.testing.assert_array_equal(line["y"], VALUES.mean(0)[1:])
    assert sorted(zip(dots["x"], dots["y"], strict=True)) == sorted(
        (category, value) for category in (2, 3) for value in VALUES[:, category - 1]
    )
    assert dots["showlegend"] is False


def test_estimates_sideways_draw_intervals_along_x():
    mark = panel()
    estimate = mean_ci(VALUES)
    mark.estimates(estimate, "GRU", LIGHT.gru, sideways=True, samples=VALUES.T)
    line, dots = mark.sheet.traces
    assert line["mode"] == "markers"
    np.testing.assert_array_equal(line["y"], [1, 2, 3])
    np.testing.assert_allclose(interval(line, "x"), estimate.ci)
    np.testing.assert_array_equal(dots["y"], np.repeat([1, 2, 3], 12))
    for index in range(2):
        mark.estimates(estimate, "LSTM", LIGHT.lstm, sideways=True, dodge=(index, 2))
    upper, lower = (trace["y"] for trace in mark.sheet.traces[2:])
    np.testing.assert_allclose(lower - upper, ROW_DODGE)


@pytest.mark.parametrize(("mark", "along"), [("ranked_bars", "x"), ("token_bars", "y")])
def test_bars_follow_axis_order(mark, along):
    target = panel()
    estimate = mean_ci(VALUES)
    getattr(target, mark)(estimate, "mean", LIGHT.prediction)
    getattr(target, mark)([3, 1], "count", LIGHT.prediction)
    bars, plain = target.sheet.traces
    np.testing.assert_array_equal(bars[along], VALUES.mean(0))
    np.testing.assert_array_equal(bars["xy".replace(along, "")], [1, 2, 3])
    np.testing.assert_allclose(interval(bars, along), estimate.ci)
    assert (bars.get("orientation") == "h") == (mark == "ranked_bars")
    assert "error_x" not in plain
    assert "error_y" not in plain


def test_sheet_row_fills_width_between_gaps():
    sheet = Sheet(Style())
    x, y = axes.axis("x"), axes.axis("y")
    left, middle, right = sheet.row((x, y), (x, y), (x, y), gaps=(0.2, 0.3, 0.6, 0.7))
    assert [(p.x, p.y) for p in (left, middle, right)] == [("x", "y"), ("x2", "y2"), ("x3", "y3")]
    domains = [sheet.page[f"xaxis{number}"]["domain"] for number in ("", 2, 3)]
    assert domains == [[0.0, 0.2], [0.3, 0.6], [0.7, 1.0]]
    short = Sheet(Style())
    short.row((x, y), (x, y), gaps=(0.4, 0.6, 0.9))
    assert short.page["xaxis2"]["domain"] == [0.6, 0.9]
    titled = Sheet(Style())
    titled.row((x, y), (x, y), gaps=(0.4, 0.6), titles=("a", "b"))
    assert [words["text"] for words in titled.annotations] == ["a", "b"]


def test_legend_lists_each_name_once():
    sheet = Sheet(Style())
    left, right = sheet.row(*[(axes.axis("x"), axes.axis("y"))] * 2, gaps=(0.4, 0.6))
    left.points([1], [1], "LSTM", LIGHT.lstm, legend=False)  # beside the line that has the name
    for target in (left, right):
        target.line([1, 2], [1, 2], "LSTM", LIGHT.lstm)
        target.line([1, 2], [1, 2], "GRU", LIGHT.gru)
    named = [trace["name"] for trace in sheet.traces if trace.get("showlegend") is not False]
    assert named == ["LSTM", "GRU"]


def test_chance_line_spans_percent_axis():
    mark = panel()
    mark.chance_line()
    mark.chance_line(25, sideways=True)
    horizontal, vertical = mark.sheet.shapes
    assert horizontal["y0"] == horizontal["y1"] == 50
    assert vertical["x0"] == vertical["x1"] == 25
