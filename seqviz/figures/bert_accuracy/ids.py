"""Inputs of the network: tokens, their ids, and the attention mask of the padding."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.bert_accuracy.results import UserTextPadding
from seqviz.plotting import NAMED, STYLE, Figure, Panel, Sheet, Style, axes, escape
from seqviz.plotting.scales import ColorScale

_COLUMNS = 24  # maximum number of columns
_LAST = 10  # of these, tokens from the end of a longer sentence
_NUMBERED = 12  # maximum number of columns that are all numbered on a phone
_LONGEST = 16  # maximum number of characters of a rotated token
_SIZE = 11  # font size; rotated tokens fit side by side on a phone
_FLAT = 8  # maximum number of tokens that are not rotated
_LEFT_OUT = -1  # stands for the hidden positions
_ROWS = ("token", "id", "mask")


def token_ids(padding: UserTextPadding, style: Style = STYLE) -> Figure:
    """Plot the tokens, their ids, and the attention mask below them.

    Of a sentence with more than 24 tokens, the beginning and the end are shown.
    """
    label, palette, positions = style.labels("figure.acc_"), style.palette, _shown(padding)
    pieces = [padding.pieces[p] if p != _LEFT_OUT else "…" for p in positions]
    ids, real = (
        np.array([[row[p] if p != _LEFT_OUT else np.nan for p in positions]], float)
        for row in (padding.ids, padding.real)
    )
    rows = [label(f"row_{row}") for row in _ROWS]
    sheet = Sheet(style)
    sheet.margin(t=14)
    given = axes.names(rows, label("given"), range=[3.5, 0.5])
    panel = sheet.panel(_places(positions, label("place")), given)
    quiet: dict[str, Any] = {"bar": None, "xgap": 2, "ygap": 2, "hover": "%{z:d}" + NAMED}
    scale = ColorScale([[0, palette.grid], [1, palette.band]], 0, 1)
    # The ids are drawn as text; their invisible cells serve the data table and the hover.
    panel.cells(ids, rows[1], ColorScale(scale.colors), y=[2], opacity=0, **quiet)
    panel.cells(real, rows[2], scale, y=[3], **quiet)
    turned = -90 if len(positions) > _FLAT else 0
    for column, position in enumerate(positions, 1):
        _column(panel, padding, column, position, turned)
    values = [f"{padding.pieces[p]} {padding.ids[p]} ({int(padding.real[p])})"
              for p in positions if p != _LEFT_OUT]  # fmt: skip
    return sheet.described("alt.acc_ids", names={"x": pieces}, tokens=len(padding.pieces),
                           real=padding.n_real, values=", ".join(values))  # fmt: skip


def _shown(padding: UserTextPadding) -> list[int]:
    """Return the positions of the visible tokens."""
    count = len(padding.pieces)
    if count <= _COLUMNS:
        return list(range(count))
    return [*range(_COLUMNS - _LAST - 1), _LEFT_OUT, *range(count - _LAST, count)]


def _places(positions: list[int], title: str) -> dict[str, Any]:
    """Return the axis of columns, numbered as in the sentence, or every fifth of many."""
    step = 1 if len(positions) <= _NUMBERED else 5
    ticks = {
        column: str(p + 1)
        for column, p in enumerate(positions, 1)
        if p == 0 or (p != _LEFT_OUT and (p + 1) % step == 0)
    }
    return axes.axis(
        title, range=[0.4, max(len(positions), 1) + 0.6], showgrid=False, tickangle=0,
        tickvals=list(ticks), ticktext=list(ticks.values()),
    )  # fmt: skip


def _column(panel: Panel, padding: UserTextPadding, column: int, index: int, turned: int) -> None:
    """Write one token, its id and mask, muted for padding."""
    palette = panel.style.palette
    words, color = ("…", "…", "…"), palette.truth
    if index != _LEFT_OUT:
        piece, real = padding.pieces[index], bool(padding.real[index])
        short = piece if len(piece) <= _LONGEST else piece[: _LONGEST - 1] + "…"
        words = (escape(short), str(int(padding.ids[index])), str(int(real)))
        color = palette.truth if real else palette.baseline
    for row, (word, angle) in enumerate(zip(words, (turned, turned, 0), strict=True), 1):
        panel.words(word, column, row, color=color, textangle=angle, size=_SIZE)
