"""Small Transformers on tasks: the lines are means, the points are runs, and none is missing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from seqviz.compute.positions.tiny.results import OrderReport
from seqviz.compute.positions.tiny.settings import ENCODINGS
from seqviz.core.i18n import number
from seqviz.figures.positions.tasks import accuracies, learning_curves, learning_progress
from seqviz.plotting.table import table
from testing.figure_examples.positions import order_result
from tests.figures.trace_helpers import said, sound, trace

DONE = order_result()
NAMES = ["no encoding", "sinusoidal", "learned", "rotary", "ALiBi"]


def lines(figure) -> list:
    return [trace for trace in figure.data if trace.name]


def bands(figure) -> list:
    return [trace for trace in figure.data if not trace.name]


# --- on the way -----------------------------------------------------------------------------------


def test_learning_curves_draw_mean_and_min_max_band():
    figure = learning_curves(DONE)
    assert [line.name for line in lines(figure)] == NAMES
    runs = 100 * DONE.curve.swapaxes(0, 1)
    for line, band, own in zip(lines(figure), bands(figure), runs, strict=True):
        np.testing.assert_array_equal(line.x, DONE.updates)
        np.testing.assert_allclose(line.y, own.mean(axis=1))
        low, high = np.split(np.asarray(band.y), 2)
        np.testing.assert_allclose(low, own.min(axis=1))
        np.testing.assert_allclose(high[::-1], own.max(axis=1))
    assert f"no encoding: {runs[0, -1].mean():.1f}%;" in figure.alt
    assert not bands(learning_curves(order_result(runs=1)))
    assert len(table(figure)) == 10 * len(ENCODINGS)  # the means alone


def test_learning_curves_place_end_labels_without_overlap():
    figure = learning_curves(replace(DONE, curve=np.full_like(DONE.curve, 0.99)))
    marks = figure.layout.annotations
    assert {mark.x for mark in marks} == {500}
    assert np.diff(sorted(mark.y for mark in marks)).min() >= 6 - 1e-9
    for mark, line in zip(marks, lines(figure), strict=True):
        assert (mark.text, mark.font.color) == (line.name, line.line.color)


@pytest.mark.parametrize("reports", [0, 1, 4, 10])
def test_learning_progress_keeps_axis_fixed(reports):
    trail = [
        OrderReport(int(update), 500, accuracy)
        for update, accuracy in zip(DONE.updates[:reports], DONE.curve[:reports], strict=True)
    ]
    figure = learning_progress(trail, DONE.settings)
    assert list(figure.layout.xaxis.range) == [0, 500]
    assert len(bands(figure)) == (len(ENCODINGS) if reports > 1 else 0)
    ends = {mark.x for mark in figure.layout.annotations}
    assert ends == ({DONE.updates[reports - 1]} if reports else set())
    sound(figure)


# --- in the end -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("axis", "scores"), [("x", DONE.test), ("x2", DONE.longer)])
def test_accuracies_draw_runs_with_intervals(axis, scores):
    figure = accuracies(DONE)
    for row, name in enumerate(NAMES):
        points, mean = trace(figure, name, axis), trace(figure, f"{name}, mean", axis)
        result = scores.accuracy
        np.testing.assert_allclose(points.x, 100 * result.share[row])
        np.testing.assert_allclose(points.x + points.error_x.array, 100 * result.high[row])
        np.testing.assert_allclose(points.x - points.error_x.arrayminus, 100 * result.low[row])
        np.testing.assert_allclose(mean.x, 100 * scores.mean[[row]])
        assert mean.y[0] == pytest.approx(np.mean(points.y))
        bottom, top = figure.layout.yaxis.range
        assert all(top < y < bottom for y in points.y)
    low, high = sorted(figure.layout["yaxis" + axis[1:]].range)
    for name, share in (
        ("best without reading", scores.baseline), ("best without order", scores.order_blind),
    ):  # fmt: skip
        limit = trace(figure, name, axis)
        assert set(limit.x) == {100 * share}
        assert min(limit.y) <= low < high <= max(limit.y)


def test_accuracies_label_encodings_without_rows():
    figure = accuracies(DONE)
    words = said(figure)
    assert words.count("no rows there") == 1
    assert f"<b>{100 * DONE.test.mean[0]:.1f}</b>" in words
    assert {"sequences of 8 letters", "sequences of 16 letters"} <= set(words)
    assert "learned: no rows there; rotary:" in figure.alt
    assert f"Sequences of 8 letters: no encoding: {number(100 * DONE.test.mean[0])}%;" in figure.alt


@pytest.mark.parametrize("count", [1, 5])
@pytest.mark.parametrize("encodings", [("none",), ("learned", "rotary"), ENCODINGS])
def test_accuracies_render_any_number_of_encodings_and_runs(encodings, count):
    result = order_result(encodings, count)
    figure = accuracies(result)
    sound(figure)
    assert len(figure.data) == 2 * (2 + 2 * len(encodings))
    assert sum(trace.showlegend is not False for trace in figure.data) == 2  # the limits, once
    assert len(learning_curves(result).layout.annotations) == len(encodings)
