"""A prediction that is drawn on the axes of a bench before its result is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from jaxtyping import Float

from seqviz.plotting.figure import Figure
from seqviz.plotting.style import Style

MARKS, FINE = 64, 1000  # numbers of a sketch at most, and into how many parts an axis is divided
POINTS = 25  # of a curve


class HasBenches(Protocol):
    """A lesson, as far as a prediction needs it."""

    @property
    def benches(self) -> Mapping[str, Any]:
        """Benches by name."""


@dataclass(frozen=True)
class DrawnPrediction:
    """What a student draws, and the figure that it is about.

    kind: "curve" and "bar" are heights at places of the x axis, "cell" is a cell of a heatmap.
    bench, values: whose figure, at which settings. answer: its traces, by their places, that are
    shown when they have been drawn; the first is what the sketch is compared with. visible: those
    that are there from the beginning. panel: the axes of the figure, where it has several.
    """

    name: str
    kind: Literal["curve", "bar", "cell"]
    bench: str
    values: Mapping[str, Any] = field(hash=False)
    answer: Sequence[int] = (0,)
    visible: Sequence[int] = ()
    panel: tuple[str, str] = ("x", "y")

    def posed(self, lesson: HasBenches, style: Style) -> PreparedPrediction:
        """Run the bench; raises what that raises, ValueError for axes without fixed ends."""
        figure = lesson.benches[self.bench].run(self.values, style=style, code=False).figure
        answer = figure.traces[self.answer[0]]
        before, after = (
            alone(figure, self.panel, traces, np.asarray(answer["x"], float))
            for traces in (self.visible, (*self.visible, *self.answer))
        )
        return PreparedPrediction(before, after, *compared(answer, after, self.kind))


@dataclass(frozen=True)
class PreparedPrediction:
    """A figure before and after; what is compared stands at the places x.

    x: where the marks are, shape (mark,), of a heatmap its columns. rows: of a heatmap, else empty.
    y: the computed values in units of the axis, decades on a log one, shape (mark,) or (row,
    column), NaN where there is none. ends: of the y axis, in the same units.
    """

    before: Figure
    after: Figure
    x: Float[np.ndarray, "mark"]
    rows: Float[np.ndarray, "row"]
    y: Float[np.ndarray, "..."]
    ends: tuple[float, float]

    @property
    def max_values(self) -> list[int]:
        """The largest number that each mark can be; the smallest is 0."""
        if self.rows.size:
            return [self.x.size - 1, self.rows.size - 1]
        return [FINE] * self.x.size


def alone(
    figure: Figure, panel: tuple[str, str], traces: Sequence[int], x: Float[np.ndarray, "place"]
) -> Figure:
    """One panel of a figure on a sheet of its own, with these of its traces and no words.

    x: what has to be in sight, at least two places, where its axis has no ends.
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
    """Places, rows, values and ends of the axis of what a sketch is compared with; see `Posed`.

    Of a curve there are at most `POINTS` places, evenly spread over its own.
    """
    axis = figure.axis("y")
    if "range" not in axis:
        raise ValueError("What is drawn needs an axis with fixed ends.")
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
