"""Positions inside the score: rotary scores, and what a shift of all positions changes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seqviz.compute.positions.relative import LEARNED_ROWS, ShiftChange
from seqviz.compute.positions.rotary import ScoresByOffset
from seqviz.figures.grammar import NAMED, STYLE, Figure, Sheet, Style, axes
from seqviz.figures.positions.parts import hatched, look
from seqviz.text import number

_POINTS = 4096  # pairs of positions that are drawn one by one
_LOWEST = -17.0  # decade at which the axis of changes begins: below what float64 tells from 0


def rotary_scores(found: ScoresByOffset, style: Style = STYLE) -> Figure:
    """The score of one query and one key at every pair of positions, by the offset of the pair.

    The points lie on one line, the closed form. Of more than 4,096 pairs that many are drawn,
    evenly chosen over the offsets.
    """
    text, offsets, scores = style.text, found.by_offset.offset, found.scores
    of_pair = np.subtract.outer(found.positions, found.positions).ravel()
    order = np.argsort(of_pair, kind="stable")
    chosen = order[np.linspace(0, len(order) - 1, min(len(order), _POINTS)).astype(int)]
    sheet = Sheet(style)
    panel = sheet.panel(
        axes.axis(text("figure.pos_query_minus_key"), range=axes.around(offsets, margin=0.02)),
        axes.axis(
            text("figure.pos_score"), range=axes.around(scores, found.closed_form, margin=0.08)
        ),
    )
    hover = "i − j = %{x}: %{y:.6g}"
    panel.points(
        of_pair[chosen], scores.ravel()[chosen],
        text("figure.pos_all_pairs", count=f"{len(chosen):,}"), look("rotary", style).color,
        size=7, opacity=0.35, hover=hover,
    )  # fmt: skip
    panel.line(
        offsets, found.closed_form, text("figure.pos_closed_form"), style.palette.truth,
        width=2, dash="dot", hover=hover + NAMED,
    )  # fmt: skip
    return sheet.described(
        "alt.pos_rotary",
        pairs=f"{scores.size:,}",
        first=int(offsets[0]),
        last=int(offsets[-1]),
        zero=number(float(scores[0, 0])),
        spread=number(found.by_offset.spread),
        off=number(float(np.abs(found.by_offset.mean - found.closed_form).max())),
    )


def shift_bars(changes: Sequence[ShiftChange], style: Style = STYLE) -> Figure:
    """The largest change of a score when all positions are shifted, one bar a scheme, log axis.

    A scheme without a number has no row for the shifted positions in its learned table.
    """
    text = style.text
    looks = [look(change.scheme, style) for change in changes]
    names = [one.name for one in looks]
    values = np.array([change.largest for change in changes])
    drawn = np.where(values > 0, values, np.nan)  # a log axis has no 0
    logs = np.log10(drawn)
    top = float(np.nanmax(logs, initial=-8.0)) if (values > 0).any() else 0.0
    shift = f"{changes[0].shift:,}"
    sheet = Sheet(style)
    sheet.headline(text("figure.pos_shifted", shift=shift))
    panel = sheet.panel(
        # room for the number at the end of the longest bar
        axes.axis(text("figure.pos_change_log"), type="log", range=[_LOWEST, top + 4], dtick=4),
        axes.axis(text("figure.pos_scheme"), type="category", autorange="reversed", showgrid=False),
    )
    colors, patterns = [one.color for one in looks], [one.pattern for one in looks]
    panel.bars(
        names, drawn, text("figure.pos_largest_change"), colors, sideways=True, legend=False,
        marker=hatched(colors, patterns, style),
        customdata=[
            [number(c.typical), number(c.size), f"{100 * c.attention:.1f}"] for c in changes
        ],
        hover=text(
            "figure.pos_hover_shift", typical="%{customdata[0]}", size="%{customdata[1]}",
            attention="%{customdata[2]}",
        ),
    )  # fmt: skip
    said = [_said(float(value), style) for value in values]
    ends = np.where(np.isnan(logs), _LOWEST, logs).tolist()
    for name, end, words in zip(names, ends, said, strict=True):
        panel.words(f"<b>{words}</b>", end, name, size=14, xanchor="left", xshift=6)
    listed = "; ".join(f"{name}: {words}" for name, words in zip(names, said, strict=True))
    return sheet.described("alt.pos_shift", shift=shift, values=listed)


def _said(value: float, style: Style) -> str:
    if np.isnan(value):
        return style.text("figure.pos_no_row_beyond", rows=LEARNED_ROWS)
    return number(value) if value else style.text("figure.pos_exactly_zero")
