"""What a diagram of a cell is made of: boxes with numbers, gates as vessels, arrows as wide as
what flows through them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from seqviz.figures.grammar.decades import ABOVE, BELOW
from seqviz.figures.grammar.style import Style

WIDTH, HEIGHT = 0.9, 0.58  # of a box; one unit is a column or a row of the diagram
_RADIUS = 13  # pixels, of the circle of an operation
_THINNEST, _WIDEST = 1.5, 8.0  # pixels
_TEXT = 12


def short(value: float) -> str:
    """Three digits that fit a box; "≈" where rounding hides that a value is not exactly so."""
    digits = (
        3 if abs(value) < 0.9995 else 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
    )
    written = f"{value:,.{digits}f}"
    whole = round(value)
    if abs(value) <= 1 and abs(value - whole) < 0.0005:
        written = f"{whole}" if value == whole else f"≈ {whole}"
    return written.replace("-", "−")


@dataclass
class Diagram:
    """Shapes and labels of one drawing; `scale` is the value whose arrow is the widest."""

    style: Style
    scale: float = 1.0
    shapes: list[dict[str, Any]] = field(default_factory=list)
    arrows: list[dict[str, Any]] = field(default_factory=list)
    labels: list[dict[str, Any]] = field(default_factory=list)

    def width(self, value: float) -> float:
        """Pixels of an arrow through which this value flows."""
        share = min(1.0, abs(value) / self.scale)
        return (_THINNEST + (_WIDEST - _THINNEST) * share) * self.style.scale

    def state(self, x: float, y: float, symbol: str, value: float, said: str) -> None:
        """A rounded box, tinted blue below zero and orange above, deeper for larger values."""
        depth = 0.55 * min(1.0, abs(value) / self.scale)
        self.shapes += [
            {**_rounded(x, y), "fillcolor": sign_color(value, depth), "line": {"width": 0}},
            {
                **_rounded(x, y),
                "fillcolor": "rgba(0,0,0,0)",
                "line": {"color": self.style.palette.truth, "width": 1.6},
            },
        ]
        self._numbers(x, y, symbol, value, said)

    def gate(self, x: float, y: float, symbol: str, value: float, said: str, held: bool) -> None:
        """A vessel filled up to the gate's value; dashed and locked where the value is forced."""
        palette = self.style.palette
        left, right = x - WIDTH / 2, x + WIDTH / 2
        bottom, top = y - HEIGHT / 2, y + HEIGHT / 2
        level = bottom + HEIGHT * min(max(value, 0.0), 1.0)
        self.shapes += [
            _rectangle(left, bottom, right, top, fillcolor=palette.grid, opacity=0.45),
            _rectangle(left, bottom, right, level, fillcolor=palette.baseline, opacity=0.4),
            {
                **_rectangle(left, bottom, right, top),
                "line": {
                    "color": palette.highlight if held else palette.truth,
                    "width": 3 if held else 1.6,
                    "dash": "dash" if held else "solid",
                },
            },
        ]
        if held:
            self._lock(right, top)
        self._numbers(x, y, symbol, value, said)

    def operation(self, x: float, y: float, sign: str, said: str) -> None:
        """A circle with × or + in it."""
        radius, palette = _RADIUS * self.style.scale, self.style.palette
        self.shapes.append(
            {
                "type": "circle",
                "xsizemode": "pixel",
                "ysizemode": "pixel",
                "xanchor": x,
                "yanchor": y,
                "x0": -radius,
                "x1": radius,
                "y0": -radius,
                "y1": radius,
                "fillcolor": palette.band,
                "line": {"color": palette.truth, "width": 1.6},
                "layer": "below",
            }
        )
        self.label(x, y, f"<b>{sign}</b>", size=18, hovertext=said)

    def arrow(
        self, start: tuple[float, float], end: tuple[float, float], width: float, color: str,
        from_circle: bool = False, to_circle: bool = False,
    ) -> None:  # fmt: skip
        """From edge to edge; at a circle it stops at the rim, wherever that is on this screen."""
        rim = (_RADIUS + 1) * self.style.scale
        self.arrows.append(
            {
                "x": end[0],
                "y": end[1],
                "ax": start[0],
                "ay": start[1],
                "xref": "x",
                "yref": "y",
                "axref": "x",
                "ayref": "y",
                "text": "",
                "showarrow": True,
                "arrowhead": 2,
                # The head is this many times the shaft: a wide arrow needs little more than itself.
                "arrowsize": max(0.45, (3.2 + 0.75 * width) / (2.2 * width)),
                "arrowwidth": width,
                "arrowcolor": color,
                "startstandoff": rim if from_circle else 0,
                "standoff": rim if to_circle else 0,
            }
        )

    def elbow(
        self, points: list[tuple[float, float]], width: float, color: str, to_circle: bool = True
    ) -> None:
        """A pipe with corners that ends in an arrow."""
        (x0, y0), (x1, y1) = points[-2:]
        # The pipe turns the last corner itself, so that the corner is mitered.
        self.line([*points[:-1], (x0 + 0.12 * (x1 - x0), y0 + 0.12 * (y1 - y0))], width, color)
        self.arrow(points[-2], points[-1], width, color, to_circle=to_circle)

    def line(self, points: list[tuple[float, float]], width: float, color: str) -> None:
        """A pipe with corners and no head."""
        path = " L ".join(f"{x},{y}" for x, y in points)
        self.shapes.append(
            {
                "type": "path",
                "path": f"M {path}",
                "line": {"color": color, "width": width},
                "fillcolor": "rgba(0,0,0,0)",
                "layer": "below",
            }
        )

    def label(
        self, x: float, y: float, words: str, size: float = _TEXT, quiet: bool = False, **more: Any
    ) -> None:
        """Words at a place; `quiet` ones in the color of what is not the point."""
        palette = self.style.palette
        self.labels.append(
            {
                "x": x,
                "y": y,
                "text": words,
                "showarrow": False,
                "font": {
                    "size": size * self.style.scale,
                    "color": palette.baseline if quiet else palette.truth,
                },
                **more,
            }
        )

    def _numbers(self, x: float, y: float, symbol: str, value: float, said: str) -> None:
        self.label(x, y, symbol, size=13, yanchor="bottom", yshift=-2, hovertext=said)
        self.label(
            x, y, f"<b>{short(value)}</b>", size=14.5, yanchor="top", yshift=5, hovertext=said
        )

    def _lock(self, x: float, y: float) -> None:
        """A padlock on the corner of a box, of the same size on every screen."""
        palette, k = self.style.palette, self.style.scale
        place = {"xsizemode": "pixel", "ysizemode": "pixel", "xanchor": x, "yanchor": y}
        a, b, c, d = 4.5 * k, 3 * k, 9 * k, 15 * k
        self.shapes += [
            {
                "type": "path",
                "path": f"M {-a},{b} L {-a},{c} C {-a},{d} {a},{d} {a},{c} L {a},{b}",
                "line": {"color": palette.highlight, "width": 2.6 * k},
                "fillcolor": "rgba(0,0,0,0)",
                **place,
            },
            {
                "type": "rect",
                "x0": -7 * k,
                "x1": 7 * k,
                "y0": -6 * k,
                "y1": 5 * k,
                "fillcolor": palette.highlight,
                "line": {"color": palette.truth, "width": 1},
                **place,
            },
        ]


def sign_color(value: float, depth: float = 1.0) -> str:
    """Blue below zero, orange above, as in the maps of the same quantity."""
    red, green, blue = ABOVE if value > 0 else BELOW
    return f"rgba({red},{green},{blue},{depth:.2f})"


def _rectangle(x0: float, y0: float, x1: float, y1: float, **more: Any) -> dict[str, Any]:
    box = {"type": "rect", "x0": x0, "x1": x1, "y0": y0, "y1": y1, "layer": "below"}
    return {**box, "line": {"width": 0}, "fillcolor": "rgba(0,0,0,0)", **more}


def _rounded(x: float, y: float) -> dict[str, Any]:
    a, b, r = WIDTH / 2, HEIGHT / 2, 0.14
    path = (
        f"M {x - a + r},{y - b} L {x + a - r},{y - b} Q {x + a},{y - b} {x + a},{y - b + r} "
        f"L {x + a},{y + b - r} Q {x + a},{y + b} {x + a - r},{y + b} L {x - a + r},{y + b} "
        f"Q {x - a},{y + b} {x - a},{y + b - r} L {x - a},{y - b + r} "
        f"Q {x - a},{y - b} {x - a + r},{y - b} Z"
    )
    return {"type": "path", "path": path, "layer": "below"}
