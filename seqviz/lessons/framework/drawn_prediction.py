"""Predictions that students draw on the axes of a bench before its result is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from jaxtyping import Float

from seqviz.plotting.figure import Figure
from seqviz.plotting.style import Style

MARKS, FINE = 64, 1000  # maximum number of marks; steps that an axis is divided into
POINTS = 25  # maximum number of marks of a curve


class HasBenches(Protocol):
    """The part of a lesson that a prediction needs."""

    @property
    def benches(self) -> Mapping[str, Any]:
        """Benches by name."""


@dataclass(frozen=True)
class DrawnPrediction:
    """Declaration of a prediction to draw, and of the figure that it is about.

    Attributes:
        name: name within the lesson.
        kind: "curve" and "bar" are heights at positions of the x axis, "cell" is a cell of a
            heatmap.
        bench: name of the bench whose figure is used.
        values: settings of that bench.
        answer: indices of the traces that are shown after drawing; the sketch is compared with the
            first.
        visible: indices of the traces that are shown from the start.
        panel: names of the x and y axes, for a figure with several panels.
    """

    name: str
    kind: Literal["curve", "bar", "cell"]
    bench: str
    values: Mapping[str, Any] = field(hash=False)
    answer: Sequence[int] = (0,)
    visible: Sequence[int] = ()
    panel: tuple[str, str] = ("x", "y")

    def posed(self, lesson: HasBenches, style: Style) -> PreparedPrediction:
        """Run the bench and return the figures before and after, with the values to compare.

        Args:
            lesson: the lesson that has the bench.
            style: language, theme and scale of the figures.

        Raises:
            ValueError: if the y axis has no fixed range. Errors of the bench are passed on.
        """
        figure = lesson.benches[self.bench].run(self.values, style=style, code=False).figure
        answer = figure.traces[self.answer[0]]
        before, after = (
            alone(figure, self.panel, traces, np.asarray(answer["x"], float))
            for traces in (self.visible, (*self.visible, *self.answer))
        )
        return PreparedPrediction(before, after, *compared(answer, after, self.kind))


@dataclass(frozen=True)
class PreparedPrediction:
    """A figure before and after drawing, and the computed values to compare with.

    Attributes:
        before: the figure without the answer.
        after: the figure with the answer.
        x: positions of the marks, shape (mark,); of a heatmap, its columns.
        rows: rows of a heatmap; empty for other kinds.
        y: computed values in units of the axis (decades on a logarithmic one), shape (mark,) or
            (row, column); NaN where there is no value.
        ends: lower and upper end of the y axis, in the same units.
    """

    before: Figure
    after: Figure
    x: Float[np.ndarray, "mark"]
    rows: Float[np.ndarray, "row"]
    y: Float[np.ndarray, "..."]
    ends: tuple[float, float]

    @property
    def max_values(self) -> list[int]:
        """The largest integer that each mark can take; the smallest is 0."""
        if self.rows.size:
            return [self.x.size - 1, self.rows.size - 1]
        return [FINE] * self.x.size


def alone(
    figure: Figure, panel: tuple[str, str], traces: Sequence[int], x: Float[np.ndarray, "place"]
) -> Figure:
    """Return one panel of a figure as a figure of its own, with some traces and no annotations.

    Args:
        figure: the figure with the panel.
        panel: names of the x and y axes of the panel.
        traces: indices of the traces to keep.
        x: positions that must be visible where the x axis has no range; at least two.
    """
    retained = ("x", "y")
    page = {
        key: value for key, value in figure.page.items()
        if key not in ("shapes", "annotations", "images", "meta")
        and not key.startswith(("xaxis", "yaxis"))
    }  # fmt: skip
    for name, own in zip(panel, retained, strict=True):
        axis = dict(figure.axis(name))
        page[f"{own}axis"] = {k: v for k, v in axis.items() if k not in ("domain", "anchor")}
    half = (x[1] - x[0]) / 2
    page["xaxis"] = {"range": [float(x[0] - half), float(x[-1] + half)], **page["xaxis"]}
    rendered = [
        {k: v for k, v in figure.traces[at].items() if k not in ("xaxis", "yaxis", "meta")}
        for at in traces
    ]
    return Figure(rendered, {**page, "showlegend": True})


def compared(
    trace: Mapping[str, Any], figure: Figure, kind: str
) -> tuple[
    Float[np.ndarray, "mark"],
    Float[np.ndarray, "row"],
    Float[np.ndarray, "..."],
    tuple[float, float],
]:
    """Return the values that a sketch is compared with, as in `PreparedPrediction`.

    Args:
        trace: the trace of the answer.
        figure: the figure with its axes.
        kind: kind of the prediction; a curve is thinned to at most `POINTS` evenly spread
            positions.

    Returns:
        Positions x, rows (empty unless a heatmap), values, and the ends of the y axis.

    Raises:
        ValueError: if the y axis has no range, or for more than `MARKS` values.
    """
    axis = figure.axis("y")
    if "range" not in axis:
        raise ValueError("A drawn prediction needs a y axis with fixed ends (`range`).")
    low, high = (float(end) for end in axis["range"])
    x = np.asarray(trace["x"], float)
    if kind == "cell":
        return x, np.asarray(trace["y"], float), np.asarray(trace["z"], float), (low, high)
    y = np.array([np.nan if value is None else value for value in trace["y"]], float)
    if kind == "curve":
        at = np.unique(np.linspace(0, x.size - 1, min(POINTS, x.size)).round().astype(int))
        x, y = x[at], y[at]
    if x.size > MARKS:
        raise ValueError(f"A sketch has at most {MARKS} numbers.")
    if axis.get("type") == "log":
        y = np.log10(np.where(y > 0, y, np.nan))
    return x, np.empty(0), y, (low, high)
