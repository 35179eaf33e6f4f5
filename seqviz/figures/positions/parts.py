"""What the figures about positions share: a scheme's looks, axes that count from 0, matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Shaped

from seqviz.figures.grammar.annotations import panel_title
from seqviz.figures.grammar.decades import diverging
from seqviz.figures.grammar.style import WEIGHTS, Style, axis_layout

_TICKS = 8
_ROOM = 1.25  # colors end here times the largest number where numbers are read in the cells
WRITTEN = 8  # rows and columns of a matrix whose numbers find room in the cells
_ROLES = {  # of each scheme: role of its color, dash, marker
    "none": ("baseline", "dot", "x"),
    "sinusoidal": ("prediction", "solid", "circle"),
    "learned": ("gru", "dash", "diamond"),
    "rotary": ("rnn", "longdash", "square"),
    "alibi": ("mlp", "dashdot", "triangle-up"),
    "t5": ("lstm", "longdashdot", "star"),
}


@dataclass(frozen=True)
class Look:
    """How one way to tell positions is drawn, and its name; the same in every figure."""

    name: str
    color: str
    dash: str
    symbol: str


def look(scheme: str, style: Style) -> Look:
    """Raises KeyError for a scheme that is not one of relative.SCHEMES."""
    role, dash, symbol = _ROLES[scheme]
    name = style.text(f"figure.pos_scheme_{scheme}")
    return Look(name, getattr(style.palette, role), dash, symbol)


def stride(count: int, most: int) -> int:
    """Show every how manyth of `count`, so that no more than `most` are shown."""
    return max(1, -(-count // most))


def counted(
    style: Style, count: int, title: str, upright: bool = False, step: int = 1, **more: Any
) -> dict[str, Any]:
    """An axis of cells 0 ... count - 1, `step` wide, from top to bottom where `upright`."""
    ticks = next(s for s in _steps() if count / s <= _TICKS)
    ends = [-step / 2, float(-(-count // step) * step) - step / 2]
    return axis_layout(
        style,
        range=ends[::-1] if upright else ends,
        tickvals=list(range(0, count, ticks)),
        ticktext=[f"{place:,}" for place in range(0, count, ticks)],
        showgrid=False,
        title={"text": title},
        **more,
    )


def _steps() -> list[int]:
    """Round distances between ticks, in rising order."""
    return [digit * 10**power for power in range(7) for digit in (1, 2, 5)]


def twins(
    style: Style, count: int, across: str, up: str, titles: Sequence[str], step: int = 1
) -> dict[str, Any]:
    """Axes and titles of two square matrices side by side; rows are named once, on the left.

    across, up: names of the axes.
    """
    spec: dict[str, Any] = {"annotations": []}
    for end, domain, title in zip(("", "2"), ([0, 0.43], [0.5, 0.93]), titles, strict=True):
        spec[f"xaxis{end}"] = counted(
            style, count, across, step=step, domain=domain, anchor=f"y{end}"
        )
        spec[f"yaxis{end}"] = counted(
            style, count, up, upright=True, step=step, anchor=f"x{end}", showticklabels=not end
        )
        spec["annotations"].append(panel_title(style, end, title))
    spec["yaxis2"]["title"] = {"text": ""}
    return spec


def cells(
    z: Shaped[np.ndarray, "row column"],
    name: str,
    style: Style,
    limit: float | None = None,
    end: str = "",
    step: int = 1,
    **more: Any,
) -> dict[str, Any]:
    """The matrix on the axes x`end` and y`end`, from 0; every `step`-th row and column of a larger.

    limit: of the colors, which are signed then; without it they run from the least to the largest.
    """
    values = np.asarray(z, np.float32)
    rows, columns = values.shape
    heat: dict[str, Any] = {
        "type": "heatmap",
        "x": step * np.arange(columns),
        "y": step * np.arange(rows),
        "z": values,
        "name": name,
        "hoverongaps": False,
        "xgap": 1 if columns <= 40 else 0,
        "ygap": 1 if rows <= 40 else 0,
        "colorscale": WEIGHTS,
    }
    if end:
        heat |= {"xaxis": f"x{end}", "yaxis": f"y{end}"}
    if limit is not None:
        heat |= {"colorscale": diverging(style), "zmin": -limit, "zmax": limit}
    return heat | more


def numbers_in(heat: dict[str, Any], style: Style, digits: int = 2) -> dict[str, Any]:
    """The same with its numbers written in the cells, which are paler then, where there is room."""
    z = heat["z"]
    if max(z.shape) > WRITTEN:
        return heat
    text = np.char.replace(np.char.mod(f"%.{digits}f", np.round(z, digits) + 0.0), "-", "−")
    return heat | {
        "zmin": _ROOM * heat["zmin"],
        "zmax": _ROOM * heat["zmax"],
        "text": np.where(np.isfinite(z), text, ""),
        "texttemplate": "%{text}",
        "textfont": {"size": 12 * style.scale, "color": style.palette.truth},
    }


def largest(*arrays: Shaped[np.ndarray, "..."]) -> float:
    """The largest finite size in all of these; 1 where there is none but 0."""
    return max(float(np.abs(a[np.isfinite(a)]).max(initial=0)) for a in arrays) or 1.0
