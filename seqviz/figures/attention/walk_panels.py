"""A matrix in a figure, and the marks on it: outlines, hatches, sums, a formula above."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Shaped

from seqviz.figures.grammar.style import Style

_TAG = re.compile(r"<[^>]+>")


@dataclass(frozen=True)
class Panel:
    """One matrix; rows and columns are counted from 1.

    name: what it holds, in the table of numbers. title: its formula. rows, columns: names of the
    axes. words: for which axes the words are the labels, "r", "c", both or none. share: of the
    width. kind: "signed" (colors symmetric about zero), "weights" (in [0, 1]) or "plain". limit:
    of the colors; 0: its own largest. digits: decimals in the cells; None: on hover only. row,
    column: outlined. block: first and last column (or row, with `upright`) of a part outlined with
    dashes. forbidden: hatched cells. sums: of rows and columns beside them. room: rows to leave
    place for. hidden: no labels for rows, those of the neighbor on the left hold. unnamed: none
    for columns, those of the neighbor on the right hold.
    """

    name: str
    title: str
    z: Shaped[np.ndarray, "row column"]
    rows: str
    columns: str
    words: str = ""
    share: float = 1.0
    kind: str = "signed"
    limit: float = 0.0
    digits: int | None = None
    row: int | None = None
    column: int | None = None
    block: tuple[int, int] | None = None
    upright: bool = False
    forbidden: Bool[np.ndarray, "row column"] | None = None
    sums: bool = False
    room: int = 0
    hidden: bool = False
    unnamed: bool = False

    @property
    def picked(self) -> bool:
        """Whether a click names a query and a key: words on both sides."""
        return self.words == "rc"


def bare(text: str) -> str:
    """A formula without the tags that raise and lower its letters."""
    return _TAG.sub("", text)


def written(values: Any, digits: int) -> Any:
    """A number, or an array of them, with a true minus sign; no zero has a sign."""
    rounded = np.round(np.asarray(values, float), digits) + 0.0
    text = np.char.replace(np.char.mod(f"%.{digits}f", rounded), "-", "−")
    return np.where(np.isneginf(values), "−∞", text)


def largest(*arrays: Float[np.ndarray, "..."]) -> float:
    """The largest finite size in all of these, for colors that several panels share."""
    return max(float(np.abs(a[np.isfinite(a)]).max(initial=0)) for a in arrays) or 1.0


def closed_cells(panel: Panel, x: str, y: str, style: Style) -> list[dict[str, Any]]:
    """Hatches over the cells that a mask forbids, and -inf in those that have no number."""
    common = {"type": "scatter", "xaxis": x, "yaxis": y, "hoverinfo": "skip", "showlegend": False}
    traces: list[dict[str, Any]] = []
    if panel.forbidden is not None and panel.forbidden.any():
        cells = np.argwhere(panel.forbidden).tolist()
        stripes = "rgba(255,255,255,0.4)" if panel.kind == "weights" else style.palette.grid
        traces.append(
            {
                **common,
                "x": [v for _, c in cells for v in (c + 0.5, c + 1.5, c + 1.5, c + 0.5, None)],
                "y": [v for r, _ in cells for v in (r + 0.5, r + 0.5, r + 1.5, r + 1.5, None)],
                "mode": "lines",
                "line": {"width": 0},
                "fill": "toself",
                "fillcolor": "rgba(0,0,0,0)",
                "fillpattern": {
                    "shape": "/",
                    "size": 7,
                    "solidity": 0.15,
                    "fgcolor": stripes,
                    "bgcolor": "rgba(0,0,0,0)",
                },
            }
        )
    down, across = np.nonzero(np.isneginf(panel.z))
    if len(across) and panel.digits is not None:
        size = 12 if panel.share > 1 else 10
        traces.append(
            {
                **common,
                "x": across + 1,
                "y": down + 1,
                "mode": "text",
                "text": ["−∞"] * len(across),
                "textfont": {"size": size * style.scale, "color": style.palette.truth},
            }
        )
    return traces


def outlines(panel: Panel, x: str, y: str, style: Style) -> list[dict[str, Any]]:
    """Row, column and part in the color of the one thing to look at, with a light edge around."""
    height, width = panel.z.shape
    spans: list[tuple[float, float, float, float, str]] = []
    if panel.block is not None:
        first, last = panel.block
        across, down = (
            ((1, width), (first, last)) if panel.upright else ((first, last), (1, height))
        )
        spans.append((*across, *down, "dash"))
    if panel.column is not None:
        spans.append((panel.column, panel.column, 1, height, "solid"))
    if panel.row is not None:
        spans.append((1, width, panel.row, panel.row, "solid"))
    return [
        {
            "type": "rect",
            "xref": x,
            "yref": y,
            "x0": left - 0.5,
            "x1": right + 0.5,
            "y0": top - 0.5,
            "y1": bottom + 0.5,
            "fillcolor": "rgba(0,0,0,0)",
            "line": {"color": color, "width": thick, "dash": dash},
        }
        for left, right, top, bottom, dash in spans
        for color, thick in (("rgba(255,255,255,0.8)", 4.5), (style.palette.highlight, 2.5))
    ]


def sums(panel: Panel, x: str, y: str, style: Style) -> list[dict[str, Any]]:
    """Sums of the rows at the right and of the columns below, in the quiet color."""
    height, width = panel.z.shape
    beside = [(width + 1, r, f"{s:.2f}") for r, s in enumerate(panel.z.sum(axis=1), 1)]
    below = [(c, height + 1, f"{s:.2f}") for c, s in enumerate(panel.z.sum(axis=0), 1)]
    return [
        {
            "xref": x,
            "yref": y,
            "x": across,
            "y": down,
            "text": total,
            "showarrow": False,
            "font": {"size": 12 * style.scale, "color": style.palette.baseline},
        }
        for across, down, total in [*beside, *below, (width + 1, height + 1, "Σ")]
    ]


def title(text: str, x: str, y: str, style: Style) -> dict[str, Any]:
    """A formula above a panel; it moves with the panel where panels are stacked."""
    return {
        "xref": f"{x} domain",
        "yref": f"{y} domain",
        "x": 0,
        "y": 1,
        "xanchor": "left",
        "yanchor": "bottom",
        "yshift": 2,
        "text": text,
        "showarrow": False,
        "font": {"size": 14 * style.scale, "color": style.palette.truth},
    }
