"""Small Transformers on tasks: the lines are means, the points are runs, and none is missing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from seen import said, sound

from seqviz.compute.positions.tiny.results import OrderReport
from seqviz.compute.positions.tiny.settings import ENCODINGS
from seqviz.figures.grammar.style import LIGHT
from seqviz.figures.grammar.table import table
from seqviz.figures.positions.examples import order_result
from seqviz.figures.positions.tasks import accuracies, learning_curves, learning_progress

DONE = order_result()
NAMES = ["no encoding", "sinusoidal", "learned", "rotary", "ALiBi"]


def lines(figure) -> list:
    return [trace for trace in figure.data if trace.name]


def bands(figure) -> list:
    return [trace for trace in figure.data if not trace.name]


# --- on the way -----------------------------------------------------------------------------------


def test_lines_are_means_of_the_runs():
    figure = learning_curves(DONE)
    assert [line.name for line in lines(figure)] == NAMES
    for place, line in enumerate(lines(figure)):
        np.testing.assert_array_equal(line.x, DONE.updates)
        np.testing.assert_allclose(line.y, 100 * DONE.curve[:, place].mean(axis=1))
    assert len({line.line.dash for line in lines(figure)}) == len(ENCODINGS)
    assert lines(figure)[1].line.color == LIGHT.prediction


def test_bands_run_from_the_worst_to_the_best_run():
    for place, band in enumerate(bands(learning_curves(DONE))):
        low, high = np.split(np.asarray(band.y), 2)
        np.testing.assert_allclose(low, 100 * DONE.curve[:, place].min(axis=1))
        np.testing.assert_allclose(high[::-1], 100 * DONE.curve[:, place].max(axis=1))
        assert band.opacity < 0.2
    assert place == len(ENCODINGS) - 1


def test_labels_stand_at_the_ends_without_overlap():
    same = np.full_like(DONE.curve, 0.99)
    figure = learning_curves(replace(DONE, curve=same))
    marks = figure.layout.annotations
    assert {mark.x for mark in marks} == {500}
    assert sorted(mark.text for mark in marks) == sorted(NAMES)
    assert np.diff(sorted(mark.y for mark in marks)).min() >= 6 - 1e-9
    for mark, line in zip(marks, lines(figure), strict=True):
        assert (mark.text, mark.font.color) == (line.name, line.line.color)


def trail(reports: int) -> list[OrderReport]:
    return [
        OrderReport(int(update), 500, accuracy)
        for update, accuracy in zip(DONE.updates[:reports], DONE.curve, strict=False)
    ]


def test_the_axis_does_not_move_while_curves_grow():
    for reports in (1, 4, 10):
        figure = learning_progress(trail(reports), DONE.settings)
        assert list(figure.layout.xaxis.range) == [0, 500]
        assert len(bands(figure)) == (len(ENCODINGS) if reports > 1 else 0)
        assert figure.layout.annotations[0].x == DONE.updates[reports - 1]


def test_nothing_reported_yet():
    figure = learning_progress([], DONE.settings)
    sound(figure)
    assert not figure.layout.annotations


def test_one_run_has_no_band():
    assert not bands(learning_curves(order_result(runs=1)))


def test_table_of_the_curves_has_the_means_alone():
    assert len(table(learning_curves(DONE))) == 10 * len(ENCODINGS)


# --- in the end -----------------------------------------------------------------------------------


def runs(figure, axis: str, name: str):
    (found,) = [t for t in figure.data if (t.xaxis or "x") == axis and t.name == name]
    return found


@pytest.mark.parametrize("axis", ["x", "x2"])
def test_points_are_the_runs_with_their_intervals(axis):
    figure = accuracies(DONE)
    scores = DONE.test if axis == "x" else DONE.longer
    for row, name in enumerate(NAMES):
        points = runs(figure, axis, name)
        np.testing.assert_allclose(points.x, 100 * scores.accuracy[row])
        np.testing.assert_allclose(points.x + points.error_x.array, 100 * scores.high[row])
        np.testing.assert_allclose(points.x - points.error_x.arrayminus, 100 * scores.low[row])
        mean = runs(figure, axis, f"{name}, mean")
        np.testing.assert_allclose(mean.x, 100 * scores.mean[[row]])
        assert mean.y[0] == pytest.approx(np.mean(points.y))


def test_limits_are_dotted_in_both_panels():
    figure = accuracies(DONE)
    for axis, scores in (("x", DONE.test), ("x2", DONE.longer)):
        chance, blind = (
            runs(figure, axis, n) for n in ("best without reading", "best without order")
        )
        assert set(chance.x) == {100 * scores.chance}
        assert set(blind.x) == {100 * scores.order_blind}
        assert chance.line.dash == "dot"
        assert blind.line.dash == "dashdot"
        low, high = sorted(figure.layout["yaxis" + axis[1:]].range)
        assert min(chance.y) <= low
        assert high <= max(chance.y)
    assert [t.showlegend for t in figure.data].count(True) == 2


def test_what_cannot_be_read_is_said():
    words = said(accuracies(DONE))
    assert words.count("no rows there") == 1
    assert f"<b>{100 * DONE.test.mean[0]:.1f}</b>" in words
    alt = accuracies(DONE).alt
    assert "learned: no rows there" in alt
    assert "nan" not in alt


def test_rows_lie_within_the_axis_and_titles_say_the_length():
    figure = accuracies(DONE)
    bottom, top = figure.layout.yaxis.range
    for trace in figure.data:
        if trace.mode == "markers":
            assert all(top < y < bottom for y in trace.y)
    assert {"sequences of 8 letters", "sequences of 16 letters"} <= set(said(figure))
    low, high = figure.layout.xaxis.range
    assert low < 0
    assert high > 100


@pytest.mark.parametrize("count", [1, 5])
@pytest.mark.parametrize("encodings", [("none",), ("learned", "rotary"), ENCODINGS])
def test_every_number_of_encodings_and_runs(encodings, count):
    found = order_result(encodings, count)
    figure = accuracies(found)
    sound(figure)
    frame = table(figure)
    named = frame[frame["Encoding"].notna()] if "Encoding" in frame else frame
    assert len(named) > 0
    assert len(figure.data) == 2 * (2 + 2 * len(encodings))
    assert len(learning_curves(found).layout.annotations) == len(encodings)
