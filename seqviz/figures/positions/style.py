"""What the figures about positions share: how a scheme looks, cells from 0, two squares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Num

from seqviz.core.i18n import Text
from seqviz.plotting import Panel, Sheet, Style, axes
from seqviz.plotting.scales import ColorScale

_GAPS = 40  # rows and columns up to which cells stand apart
_ROLES = {  # of each scheme: role of its color, dash, marker, pattern of its bars
    "none": ("baseline", "dot", "x", ""),
    "sinusoidal": ("prediction", "solid", "circle", "/"),
    "learned": ("gru", "dash", "diamond", "x"),
    "rotary": ("rnn", "longdash", "square", "\\"),
    "alibi": ("mlp", "dashdot", "triangle-up", "."),
    "t5": ("lstm", "longdashdot", "star", "-"),
}


@dataclass(frozen=True)
class SchemeStyle:
    """How one way to tell positions is drawn, and its name; the same in every figure."""

    name: str
    color: str
    dash: str
    symbol: str
    pattern: str


def look(scheme: str, style: Style) -> SchemeStyle:
    """Raises KeyError for a scheme that is not one of relative.SCHEMES."""
    role, *rest = _ROLES[scheme]
    return SchemeStyle(
        style.text(f"figure.pos_scheme_{scheme}"), getattr(style.palette, role), *rest
    )


def hatched(color: Any, pattern: Any, style: Style) -> dict[str, Any]:
    """The marker of bars that differ without their colors, of one or of a list."""
    lines = {"shape": pattern, "fillmode": "overlay", "fgcolor": style.palette.grid, "size": 7}
    return {"color": color, "pattern": lines}


def stride(count: int, maximum: int) -> int:
    """Show every how manyth of `count`, so that no more than `maximum` are shown."""
    return max(1, -(-count // maximum))


def every(step: int, text: Text) -> str:
    """Words that say so, for the end of a title; none where all are shown."""
    return f" · {text('figure.pos_every', step=step)}" if step > 1 else ""


def cells(
    panel: Panel,
    z: Num[np.ndarray, "row column"],
    name: str,
    scale: ColorScale,
    step: int = 1,
    **more: Any,
) -> None:
    """A matrix from 0 on both axes, each row and column `step` after the one before it."""
    rows, columns = z.shape
    anchor = {
        "x": step * np.arange(columns),
        "y": step * np.arange(rows),
        "xgap": int(columns <= _GAPS),
        "ygap": int(rows <= _GAPS),
        "hoverongaps": False,
    }
    panel.cells(z.astype(np.float32), name, scale, **{**anchor, **more})


def twins(
    sheet: Sheet, x: Mapping[str, Any], y: Mapping[str, Any], titles: Sequence[str]
) -> tuple[Panel, Panel]:
    """Two matrices with the same axes side by side; rows are named once, on the left."""
    hidden = {**y, "title": {"text": ""}, "showticklabels": False}
    left, right = sheet.row((x, y), (x, hidden), gaps=(0.43, 0.5, 0.93), titles=titles)
    return left, right


def pair_axes(
    style: Style, count: int, x: str, y: str, step: int = 1
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Axes of a matrix over pairs of positions; x, y: keys of their names."""
    label = style.labels("figure.pos_")
    return (axes.counted(count, label(x), step=step),
            axes.counted(count, label(y), upright=True, step=step))  # fmt: skip
