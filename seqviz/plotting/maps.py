"""`Map`: diagram of a network whose parts a reader can choose, with a stream as wide as its norm.

The figure is one like any other, so it is printed, exported and described like one. In a page,
`assets/static/figures/map.js` puts a button over each part, and shows the view of a part at once:
both are in `Sheet.meta["map"]`, so nothing is requested for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from seqviz.plotting.panel import Panel
from seqviz.plotting.sheet import Sheet

_RADIUS = 12  # of a sum, in pixels
_STREAM, _SHARE = 0.45, 0.3  # opacities
_NONE = "rgba(0,0,0,0)"
Point = tuple[float, float]


def head_size(width: float) -> float:
    """Return the head of an arrow as a multiple of its width; a wide shaft needs little more."""
    return max(0.45, (3.2 + 0.75 * width) / (2.2 * width))


class Map:
    """Diagram on a panel with hidden axes of one unit per row.

    Args:
        panel: the panel.
        control: name of the control that holds the number of the chosen part.
        chosen: number of the chosen part, from 1.
    """

    def __init__(self, panel: Panel, control: str, chosen: int):
        self.panel, self.chosen, self.palette = panel, chosen, panel.style.palette
        self._parts: dict[int, dict[str, Any]] = {}
        width = 3 * panel.style.scale
        self._chosen_line = {"color": self.palette.highlight, "width": width}
        panel.sheet.meta["map"] = {
            "control": control, "chosen": chosen, "line": self._chosen_line, "parts": self._parts,
        }  # fmt: skip
        # A panel without a trace is not drawn, and not stacked on a narrow screen.
        panel.trace("scatter", x=[], y=[], hover=False, legend=False)

    def stream(self, x: float, ends: Sequence[Point]) -> None:
        """Draw a vertical stream.

        Args:
            x: its middle.
            ends: height and half of the width, from the bottom.
        """
        right = [f"{x + half},{y}" for y, half in ends]
        left = [f"{x - half},{y}" for y, half in reversed(ends)]
        self._path(f"M {' L '.join([*right, *left])} Z", width=1)

    def flow(self, points: Sequence[Point], half: float) -> None:
        """Draw a branch that leaves or joins the stream: horizontal and vertical pieces.

        Args:
            points: start, corners and end.
            half: half of the width; a branch is never thinner than a line.
        """
        line = "M " + " L ".join(f"{x},{y}" for x, y in points)
        self.panel.shape("path", path=line, layer="below", fillcolor=_NONE,
                         line={"color": self.palette.baseline, "width": 1.5})  # fmt: skip
        for (x0, y0), (x1, y1) in pairwise(points):
            dx, dy = (half, 0) if x0 == x1 else (0, half)
            corners = ((x0 - dx, y0 - dy), (x1 - dx, y1 - dy), (x1 + dx, y1 + dy),
                       (x0 + dx, y0 + dy))  # fmt: skip
            path = "M " + " L ".join(f"{x},{y}" for x, y in corners) + " Z"
            self._path(path)

    def box(
        self, number: int, x: Point, y: float, words: str, label: str, share: float,
        height: float, size: float = 12.5,
    ) -> None:  # fmt: skip
        """Draw a part as a box.

        Args:
            number: its number, from 1.
            x: left and right end.
            y: its middle.
            words: text in the box.
            label: name of its button: tensor, shape, share of the stream.
            share: share of the box that is filled.
            height: height of the box.
            size: font size in pixels.
        """
        low, high = y - height / 2, y + height / 2
        line = self.declare(number, (*x, low, high), label, self.palette.baseline, 1.2)
        self.panel.rectangle(x, (low, high), self.palette.baseline, line=line,
                             fillcolor=self.palette.band, layer="below")  # fmt: skip
        filled = x[0] + min(max(share, 0.0), 1.0) * (x[1] - x[0])
        if filled > x[0]:
            self.panel.rectangle((x[0], filled), (low, high), _NONE, width=0, layer="below",
                                 fillcolor=self.palette.prediction, opacity=_SHARE)  # fmt: skip
        self.panel.words(words, sum(x) / 2, y, size=size)

    def sum(self, number: int, x: float, y: float, label: str) -> None:
        """Draw a part as a plus in a circle on the stream.

        Args:
            number: its number, from 1.
            x: its middle.
            y: its middle.
            label: name of its button.
        """
        radius = _RADIUS * self.panel.style.scale
        line = self.declare(
            number, (x - 0.4, x + 0.4, y - 0.4, y + 0.4), label, self.palette.truth, 1.6
        )  # fmt: skip
        self.panel.shape(
            "circle", x0=-radius, x1=radius, y0=-radius, y1=radius, layer="below",
            fillcolor=self.palette.band, line=line,
            xsizemode="pixel", ysizemode="pixel", xanchor=x, yanchor=y,
        )  # fmt: skip
        self.panel.words("<b>+</b>", x, y, size=17)

    def note(self, x: float, y: float, text: str, **more: Any) -> None:
        """Write a subdued remark.

        Args:
            x: position.
            y: position.
            text: the remark.
            **more: further arguments of `Panel.words`.
        """
        self.panel.words(text, x, y, color=self.palette.baseline, **{"size": 13, **more})

    def _path(self, path: str, width: float = 0) -> None:
        color = self.palette.prediction
        self.panel.shape("path", path=path, layer="below", fillcolor=color, opacity=_STREAM,
                         line={"color": color, "width": width})  # fmt: skip

    def view(self, number: int, sheet: Sheet) -> None:
        """Add what stands beside the map while a part is chosen; drawn after the map.

        Args:
            number: number of the part, from 1.
            sheet: a sheet with the panel of the map and, after it, one with a single trace.
        """
        page = {key: axis for key, axis in sheet.page.items() if key in ("xaxis2", "yaxis2")}
        self._parts[number]["view"] = {
            "trace": sheet.traces[-1], "axes": page, "annotations": sheet.annotations,
            "shapes": sheet.shapes,
        }  # fmt: skip
        own = self.panel.sheet
        counts = {"annotations": len(own.annotations), "shapes": len(own.shapes)}
        own.meta["map"]["counts"] = counts

    def declare(
        self, number: int, box: tuple[float, float, float, float], label: str, color: str,
        width: float = 1.6,
    ) -> dict[str, Any]:  # fmt: skip
        """Declare the button of a part, whose outline is the next shape, and return its line.

        Args:
            number: its number, from 1.
            box: left, right, lower and upper end of the button.
            label: its name.
            color: CSS color of the outline while another part is chosen.
            width: width of that outline in pixels.
        """
        line = {"color": color, "width": width * self.panel.style.scale}
        self._parts[number] = {
            "box": [round(edge, 3) for edge in box], "label": label, "line": line,
            "shape": len(self.panel.sheet.shapes),
        }  # fmt: skip
        return self._chosen_line if number == self.chosen else line
