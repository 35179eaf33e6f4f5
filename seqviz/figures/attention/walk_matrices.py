"""Matrices side by side, with outlines, hatches, sums and a formula above each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Shaped

from seqviz.plotting import Panel, Sheet, Style, axes, escape, scales

ABOVE = 68  # pixels above the panels: a line of text and the titles
_ROOM = 1.25  # color limit over the largest number; keeps text readable on the strongest color
_BAR = 0.085  # width of the color bar, as a share of the sheet
_LABELS = {"words": 0.165, "numbers": 0.095, "hidden": 0.055}  # the same for row labels
_VALUES = {"signed": "%{z:.4f}", "weights": "%{z:.5~g}", "plain": "%{z}"}
_TAG = re.compile(r"<[^>]+>")


@dataclass(frozen=True)
class Matrix:
    """Matrix of a figure; rows and columns are counted from 1.

    Attributes:
        title: its formula.
        z: its values.
        rows: title of the row axis.
        columns: title of the column axis.
        words: axes labeled with the words: "r", "c", "rc" or "".
        share: width relative to the other matrices.
        kind: "signed" (colors symmetric about zero), "weights" (in [0, 1]) or "plain".
        limit: limit of the colors; 0 for its own largest value.
        digits: decimals in the cells; None for numbers in the hover text only.
        row: outlined row.
        column: outlined column.
        block: first and last column (or row, with `upright`) of a part outlined with dashes.
        upright: True where `block` counts rows.
        forbidden: True for hatched cells.
        sums: True to show the sums of rows and columns beside them.
        room: minimum number of rows to reserve space for.
        hidden: True for no row labels; those of the neighbor on the left apply.
        unnamed: True for no column labels; those of the neighbor on the right apply.
        name: plain-text name; by default the title without tags.
        row_names: labels of the rows, where these are no words but have names.
        column_names: labels of the columns, likewise.
    """

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
    name: str = ""
    row_names: Sequence[str] = ()
    column_names: Sequence[str] = ()

    @property
    def picked(self) -> bool:
        """True where a click chooses a query and a key: words on both sides."""
        return self.words == "rc"

    @property
    def called(self) -> str:
        """Name in plain text."""
        return self.name or bare(self.title)


def bare(text: str) -> str:
    """Return a formula without the tags for superscripts and subscripts."""
    return _TAG.sub("", text)


def written(values: Any, digits: int) -> Any:
    """Return numbers as text with a true minus sign; zero has no sign."""
    rounded = np.round(np.asarray(values, float), digits) + 0.0
    text = np.char.replace(np.char.mod(f"%.{digits}f", rounded), "-", "−")
    return np.where(np.isneginf(values), "−∞", text)


def draw(matrices: Sequence[Matrix], words: Sequence[str], label: str, style: Style) -> Sheet:
    """Draw matrices side by side; the last one has a color bar.

    Args:
        matrices: matrices from left to right.
        words: labels of the axes named in `Matrix.words`.
        label: headline, aligned left.
        style: language, theme and scale of the figure.
    """
    headline = {
        "text": label,
        "font": {"size": 14 * style.scale, "color": style.palette.prediction},
        **{"xref": "container", "x": 0, "xanchor": "left"},  # a phone is narrow
        **{"yref": "container", "y": 1, "yanchor": "top"},
        "pad": {"l": 12, "t": 12},
    }
    sheet = Sheet(style, title=headline, showlegend=False)
    sheet.margin(t=ABOVE * style.scale, r=10)
    for matrix, across in zip(matrices, _domains(matrices), strict=True):
        height, width = matrix.z.shape
        across_names = words if "c" in matrix.words else matrix.column_names
        x = _axis(matrix.columns, width, across_names)
        x["range"] = [0.5, width + matrix.sums + 0.5]
        slanted = -90 if len(matrices) > 2 else -45  # names of narrow columns would overlap
        x["tickangle"] = slanted if across_names else 0
        x["showticklabels"] = matrix.kind != "plain" and not matrix.unnamed
        y = _axis(matrix.rows, height, words if "r" in matrix.words else matrix.row_names)
        y["range"] = [max(height, matrix.room) + matrix.sums + 0.5, 0.5]
        y["showticklabels"] = not matrix.hidden
        panel = sheet.panel(x, y, across=across)
        _cells(panel, matrix, barred=matrix is matrices[-1])
        _closed_cells(panel, matrix)
        _outlines(panel, matrix)
        panel.title(matrix.title, size=14, yshift=2)
        if matrix.sums:
            _sums(panel, matrix)
    return sheet


def _domains(matrices: Sequence[Matrix]) -> list[list[float]]:
    """Return the horizontal domain of each matrix, with room for its row labels."""
    gaps = [0.0]
    for matrix in matrices[1:]:
        named = "r" in matrix.words or matrix.row_names
        kind = "hidden" if matrix.hidden else "words" if named else "numbers"
        gaps.append(_LABELS[kind])
    room = (1 - _BAR - sum(gaps)) / sum(matrix.share for matrix in matrices)
    result, left = [], 0.0
    for gap, matrix in zip(gaps, matrices, strict=True):
        left += gap
        result.append([round(left, 6), round(left + room * matrix.share, 6)])
        left += room * matrix.share
    return result


def _axis(title: str, length: int, words: Sequence[str]) -> dict[str, Any]:
    """Return an axis from 1, labeled with the words or with a few numbers."""
    if words:
        return axes.names([escape(word) for word in words], title)
    step = next(s for s in (1, 4, 8, 16, 32, 64, 128) if length / s <= 4)
    positions = [1, *range(step if step > 1 else 2, length + 1, step)]
    labels = [str(position) for position in positions]
    return axes.axis(title, tickvals=positions, ticktext=labels, showgrid=False)


def _cells(panel: Panel, matrix: Matrix, barred: bool) -> None:
    style, z, kind = panel.style, matrix.z, matrix.kind
    limit = (matrix.limit or scales.largest(z)) * _ROOM
    colors = {
        "signed": scales.signed(limit),
        "weights": scales.unit_scale(0, 1),
        "plain": scales.flat(style.palette.band),
    }
    below = np.isneginf(z)
    keys: dict[str, Any] = {}
    if below.any():
        keys["hovertext"] = written(z, 4)
    if matrix.digits is not None:
        keys["text"] = np.where(below, "", written(z, matrix.digits))  # `_closed_cells` marks these
        keys["texttemplate"] = "%{text}"
        # Plotly chooses black or white on cividis; signed colors are transparent to the page.
        keys["textfont"] = {} if kind == "weights" else {"color": style.palette.truth}
        if z.shape[1] <= 4:
            keys["textfont"]["size"] = 13 * style.scale
    value = "%{hovertext}" if below.any() else _VALUES[kind]
    panel.cells(
        z, matrix.called, colors[kind],
        bar=style.text(f"figure.walk_bar_{kind}") if barred else None,
        hover=f"{matrix.rows}: %{{y}}<br>{matrix.columns}: %{{x}}<br><b>{value}</b>",
        hoverongaps=matrix.picked, pick=matrix.picked, **keys,
    )  # fmt: skip


def _closed_cells(panel: Panel, matrix: Matrix) -> None:
    """Hatch the masked cells, and write -inf into cells without a number."""
    palette = panel.style.palette
    if matrix.forbidden is not None and matrix.forbidden.any():
        stripes = "rgba(255,255,255,0.4)" if matrix.kind == "weights" else palette.grid
        panel.hatches(matrix.forbidden, stripes)
    down, across = np.nonzero(np.isneginf(matrix.z))
    if len(across) and matrix.digits is not None:
        size = (12 if matrix.share > 1.5 else 10) * panel.style.scale
        font = {"size": size, "color": palette.truth}
        panel.marks_text(across + 1, down + 1, ["−∞"] * len(across), textfont=font)


def _outlines(panel: Panel, matrix: Matrix) -> None:
    """Outline row, column and block in the highlight color with a light edge."""
    height, width = matrix.z.shape
    every_column, every_row = (1, width), (1, height)
    spans: list[tuple[tuple[int, int], tuple[int, int], str | None]] = []
    if matrix.block is not None:
        part = (every_column, matrix.block) if matrix.upright else (matrix.block, every_row)
        spans.append((*part, "dash"))
    if matrix.column is not None:
        spans.append(((matrix.column, matrix.column), every_row, None))
    if matrix.row is not None:
        spans.append((every_column, (matrix.row, matrix.row), None))
    for (left, right), (top, bottom), dash in spans:
        x, y = (left - 0.5, right + 0.5), (top - 0.5, bottom + 0.5)
        panel.rectangle(x, y, "rgba(255,255,255,0.8)", width=4.5, dash=dash)
        panel.rectangle(x, y, panel.style.palette.highlight, width=2.5, dash=dash)


def _sums(panel: Panel, matrix: Matrix) -> None:
    """Write the sums of rows on the right and those of columns below."""
    height, width = matrix.z.shape
    beside = [(width + 1, r, f"{s:.2f}") for r, s in enumerate(matrix.z.sum(axis=1), 1)]
    below = [(c, height + 1, f"{s:.2f}") for c, s in enumerate(matrix.z.sum(axis=0), 1)]
    for x, y, total in [*beside, *below, (width + 1, height + 1, "Σ")]:
        panel.words(total, x, y, size=12, color=panel.style.palette.baseline)
