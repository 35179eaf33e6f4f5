"""`Diagram`: boxes with numbers, gates filled to their value, and arrows scaled by value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from seqviz.core.i18n import number
from seqviz.plotting import Sheet, Style, axis
from seqviz.plotting.maps import Map, head_size
from seqviz.plotting.scales import sign_color

WIDTH, HEIGHT = 0.9, 0.58  # size of a box; one unit is a column or a row of the diagram
_RADIUS = 13  # radius of an operation's circle in pixels
_THINNEST, _WIDEST = 1.5, 8.0  # arrow widths in pixels
_BUTTON = 0.2  # half the size of an operation's button, in columns
_TEXT = 12
_EMPTY = "rgba(0,0,0,0)"
Place = tuple[float, float]


def short(value: float) -> str:
    """Return a number with three digits; "≈" where rounding hides a deviation from -1, 0 or 1."""
    size = abs(value)
    digits = 3 if size < 0.9995 else 2 if size < 9.995 else 1 if size < 99.95 else 0
    written, full = f"{value:,.{digits}f}", round(value)
    if size <= 1 and abs(value - full) < 0.0005:
        written = f"{full}" if value == full else f"≈ {full}"
    return written.replace("-", "−")


def diagram_axes(style: Style) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the hidden axes of a diagram, which name the columns of its data table."""
    hidden = {"visible": False, "fixedrange": True, "automargin": False}
    return (
        axis(style.text("figure.quantity"), type="linear", range=[-0.47, 5.47], **hidden),
        axis(style.text("figure.value_now"), range=[-1.1, 3.45], **hidden),
    )


class Diagram:
    """Diagram of a cell on a sheet with hidden axes; text is drawn above all arrows.

    Args:
        style: style of the figure.
        scale: value of the widest arrow.
        across: left and right end, as shares of the sheet's width.
    """

    def __init__(self, style: Style, scale: float = 1.0, across: Place = (0, 1)):
        self.style, self.scale = style, scale
        self.sheet = Sheet(style, margin={"l": 4, "r": 4, "t": 4, "b": 4})
        self.panel = self.sheet.panel(*diagram_axes(style), across=across)
        self._arrows = 0
        self._map: Map | None = None
        self._parts: dict[str, int] = {}
        self._values: Mapping[str, float] = {}

    def to_map(self, control: str, chosen: int, values: Mapping[str, float]) -> Map:
        """Make the quantities parts that a reader can choose; called before they are drawn.

        Args:
            control: name of the control that holds the number of the chosen part.
            chosen: number of the chosen part, from 1.
            values: the quantities by name, in the order of their numbers.
        """
        self._map, self._values = Map(self.panel, control, chosen), values
        self._parts = {name: number for number, name in enumerate(values, 1)}
        return self._map

    def _outline(self, part: str, name: str, center: Place, half: Place) -> dict[str, Any]:
        """Return the line of an outline, which is the next shape, and declare it if it is a part.

        Args:
            part: name of the quantity; "" for none.
            name: its name in words.
            center: its middle.
            half: half of the width and of the height of its button.
        """
        color = self.style.palette.truth
        if self._map is None or part not in self._parts:
            return {"color": color, "width": 1.6}
        (x, y), (dx, dy) = center, half
        box = (x - dx, x + dx, y - dy, y + dy)
        spoken = name.replace("<sub>", "_").replace("</sub>", "")
        label = f"{spoken}: {number(self._values[part])}"
        return self._map.declare(self._parts[part], box, label, color)

    def width(self, value: float) -> float:
        """Return the width in pixels of the arrow of a value."""
        share = min(1.0, abs(value) / self.scale)
        return (_THINNEST + (_WIDEST - _THINNEST) * share) * self.style.scale

    def flow(self, value: float) -> tuple[float, str]:
        """Return width and color of the arrow of a value."""
        return self.width(value), sign_color(value)

    def state(
        self, x: float, y: float, symbol: str, value: float, name: str, part: str = ""
    ) -> None:
        """Draw a rounded box, blue below zero and orange above, deeper for larger values.

        Args:
            x: center, in columns.
            y: center, in rows.
            symbol: symbol of the quantity.
            value: its value.
            name: its name in the hover text.
            part: its name as a part of a map.
        """
        tint = sign_color(value, 0.55 * min(1.0, abs(value) / self.scale))
        self._path(_rounded(x, y), fillcolor=tint, line={"width": 0})
        edge = self._outline(part, name, (x, y), (WIDTH / 2, HEIGHT / 2))
        self._path(_rounded(x, y), fillcolor=_EMPTY, line=edge)
        self._numbers(x, y, symbol, value, name)

    def gate(
        self, x: float, y: float, symbol: str, value: float, name: str, part: str = ""
    ) -> None:
        """Draw a box filled up to the gate's value; arguments as in `state`."""
        palette = self.style.palette
        sides, bottom, top = (x - WIDTH / 2, x + WIDTH / 2), y - HEIGHT / 2, y + HEIGHT / 2
        level = bottom + HEIGHT * min(max(value, 0.0), 1.0)
        for upper, fill, opacity in ((top, palette.grid, 0.45), (level, palette.baseline, 0.4)):
            self.panel.rectangle(sides, (bottom, upper), fill, width=0, fillcolor=fill,
                                 opacity=opacity, layer="below")  # fmt: skip
        edge = self._outline(part, name, (x, y), (WIDTH / 2, HEIGHT / 2))
        self.panel.rectangle(sides, (bottom, top), palette.truth, line=edge, layer="below")
        self._numbers(x, y, symbol, value, name)

    def operation(
        self, x: float, y: float, sign: str, name: str, *terms: float, part: str = ""
    ) -> None:
        """Draw a circle with an operator.

        Args:
            x: center, in columns.
            y: center, in rows.
            sign: "×" or "+".
            name: name of the result in the hover text.
            *terms: values whose sum the hover text shows.
            part: name of the result as a part of a map.
        """
        radius, palette = _RADIUS * self.style.scale, self.style.palette
        edge = self._outline(part, name, (x, y), (_BUTTON, _BUTTON))
        self.panel.shape(
            "circle", x0=-radius, x1=radius, y0=-radius, y1=radius, layer="below",
            fillcolor=palette.band, line=edge,
            xsizemode="pixel", ysizemode="pixel", xanchor=x, yanchor=y,
        )  # fmt: skip
        summary = f"{name} = {' + '.join(map(number, terms))}" if terms else name
        self.label(x, y, f"<b>{sign}</b>", size=18, hovertext=summary)

    def arrow(
        self, start: Place, end: Place, width: float, color: str,
        from_circle: bool = False, to_circle: bool = False,
    ) -> None:  # fmt: skip
        """Draw an arrow between two points that stops at the rim of a circle.

        The rim is set in pixels, so it fits any screen.

        Args:
            start: start of the arrow.
            end: its end.
            width: its width in pixels.
            color: CSS color.
            from_circle: True if it starts at a circle.
            to_circle: True if it ends at one.
        """
        rim = (_RADIUS + 1) * self.style.scale
        created = {
            "x": end[0], "y": end[1], "ax": start[0], "ay": start[1],
            "xref": "x", "yref": "y", "axref": "x", "ayref": "y",
            "text": "", "showarrow": True, "arrowhead": 2, "arrowwidth": width, "arrowcolor": color,
            "arrowsize": head_size(width),
            "startstandoff": rim if from_circle else 0, "standoff": rim if to_circle else 0,
        }  # fmt: skip
        self.sheet.annotations.insert(self._arrows, created)
        self._arrows += 1

    def elbow(
        self, points: Sequence[Place], width: float, color: str, to_circle: bool = True
    ) -> None:
        """Draw a line with corners that ends in an arrow.

        Args:
            points: start, corners and end.
            width: width in pixels.
            color: CSS color.
            to_circle: True if it ends at a circle.
        """
        (x0, y0), (x1, y1) = points[-2:]
        # The line includes the last corner, which miters it.
        self.line([*points[:-1], (x0 + 0.12 * (x1 - x0), y0 + 0.12 * (y1 - y0))], width, color)
        self.arrow(points[-2], points[-1], width, color, to_circle=to_circle)

    def line(self, points: Sequence[Place], width: float, color: str) -> None:
        """Draw a line with corners and without a head."""
        path = "M " + " L ".join(f"{x},{y}" for x, y in points)
        self._path(path, fillcolor=_EMPTY, line={"color": color, "width": width})

    def label(
        self, x: float, y: float, words: str, size: float = _TEXT, quiet: bool = False, **more: Any
    ) -> None:
        """Write text at a point, `quiet` in the baseline color."""
        color = self.style.palette.baseline if quiet else None
        self.panel.words(words, x, y, size=size, color=color, **more)

    def _path(self, path: str, **keys: Any) -> None:
        self.panel.shape("path", path=path, layer="below", **keys)

    def _numbers(self, x: float, y: float, symbol: str, value: float, name: str) -> None:
        summary = f"{name}: {number(value)}"
        self.label(x, y, symbol, size=13, yanchor="bottom", yshift=-2, hovertext=summary)
        self.label(
            x, y, f"<b>{short(value)}</b>", size=14.5, yanchor="top", yshift=5, hovertext=summary
        )


def _rounded(x: float, y: float) -> str:
    """Return the SVG path of a box with rounded corners."""
    a, b, r = WIDTH / 2, HEIGHT / 2, 0.14
    return (
        f"M {x - a + r},{y - b} L {x + a - r},{y - b} Q {x + a},{y - b} {x + a},{y - b + r} "
        f"L {x + a},{y + b - r} Q {x + a},{y + b} {x + a - r},{y + b} L {x - a + r},{y + b} "
        f"Q {x - a},{y + b} {x - a},{y + b - r} L {x - a},{y - b + r} "
        f"Q {x - a},{y - b} {x - a + r},{y - b} Z"
    )
