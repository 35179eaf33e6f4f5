"""Shared parts of the position figures: looks of the schemes, cells from 0, twin maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Num

from seqviz.core.i18n import Text
from seqviz.plotting import Panel, Sheet, Style, axes
from seqviz.plotting.scales import ColorScale

_GAPS = 40  # maximum number of rows or columns with gaps between cells
_ROLES = {  # role of the color, dash, marker and bar pattern of each scheme
    "none": ("baseline", "dot", "x", ""),
    "sinusoidal": ("prediction", "solid", "circle", "/"),
    "learned": ("gru", "dash", "diamond", "x"),
    "rotary": ("rnn", "longdash", "square", "\\"),
    "alibi": ("mlp", "dashdot", "triangle-up", "."),
    "t5": ("lstm", "longdashdot", "star", "-"),
}


@dataclass(frozen=True)
class SchemeStyle:
    """Name and look of a position scheme, the same in every figure."""

    name: str
    color: str
    dash: str
    symbol: str
    pattern: str


def look(scheme: str, style: Style, trained: bool = True) -> SchemeStyle:
    """Return the name and look of a scheme.

    Args:
        scheme: name of the scheme.
        style: language, theme and scale of the figure.
        trained: False where a learned table is random.

    Raises:
        KeyError: a scheme that is not in `relative.SCHEMES`.
    """
    role, *rest = _ROLES[scheme]
    name = scheme if trained or scheme != "learned" else "untrained"
    return SchemeStyle(style.text(f"figure.pos_scheme_{name}"), getattr(style.palette, role), *rest)


def hatched(color: Any, pattern: Any, style: Style) -> dict[str, Any]:
    """Return the marker of bars that differ without colors, for one bar or a list."""
    lines = {"shape": pattern, "fillmode": "overlay", "fgcolor": style.palette.grid, "size": 7}
    return {"color": color, "pattern": lines}


def stride(count: int, maximum: int) -> int:
    """Return the step that shows at most `maximum` of `count` items."""
    return max(1, -(-count // maximum))


def every(step: int, text: Text) -> str:
    """Return the end of a title that names the step, or "" where all items are shown."""
    return f" · {text('figure.pos_every', step=step)}" if step > 1 else ""


def cells(
    panel: Panel,
    z: Num[np.ndarray, "row column"],
    name: str,
    scale: ColorScale,
    step: int = 1,
    **more: Any,
) -> None:
    """Draw a matrix whose rows and columns count from 0.

    Args:
        panel: panel to draw in.
        z: the matrix.
        name: name of the trace.
        scale: color scale.
        step: distance of two rows or columns in positions.
        **more: further keys of `Panel.cells`.
    """
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
    """Create two panels with equal axes side by side; the left one has the row labels.

    Args:
        sheet: sheet to draw on.
        x: x axis of both panels.
        y: y axis of both panels.
        titles: titles of the panels.
    """
    hidden = {**y, "title": {"text": ""}, "showticklabels": False}
    left, right = sheet.row((x, y), (x, hidden), gaps=(0.43, 0.5, 0.93), titles=titles)
    return left, right


def pair_axes(
    style: Style, count: int, x: str, y: str, step: int = 1
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the axes of a matrix over pairs of positions.

    Args:
        style: style of the figure.
        count: number of positions.
        x: text key of the x title.
        y: text key of the y title.
        step: distance of two rows or columns in positions.
    """
    label = style.labels("figure.pos_")
    return (axes.counted(count, label(x), step=step),
            axes.counted(count, label(y), upright=True, step=step))  # fmt: skip
