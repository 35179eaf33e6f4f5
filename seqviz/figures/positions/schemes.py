"""Positions inside the score: arrows that turn, the term of each scheme, a shift of all places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from seqviz.compute.positions.relative import LEARNED_ROWS, SchemeTerms, ShiftChange
from seqviz.compute.positions.rotary import ScoresByOffset, Turned
from seqviz.core.i18n import number
from seqviz.figures.positions.style import cells, hatched, look, stride
from seqviz.plotting import NAMED, STYLE, Figure, Panel, Sheet, Style, axes, scales

_POINTS = 4096  # pairs of positions that are drawn one by one
_STEP = 2.6  # from the middle of a dial to the next one's; a dial has the radius 1
_SIDE, _COLUMNS, _BETWEEN = 256, 3, 0.06  # of the maps of all schemes
_LOWEST = -17.0  # decade at which the axis of changes begins: below what float64 tells from 0


def rotary_scores(offset: ScoresByOffset, at: Turned, style: Style = STYLE) -> Figure:
    """Left the arrows of a query and a key in three pairs; right their score by offset.

    Thin: the arrows before they are turned. The points, one for every pair of positions, lie on one
    line, the closed form; dashed: of a key that equals the query. Of more than 4,096 pairs that
    many are drawn, evenly chosen over the offsets.
    """
    text, offsets, scores = style.text, offset.by_offset.offset, offset.scores
    of_pair = np.subtract.outer(offset.positions, offset.positions).ravel()
    order = np.argsort(of_pair, kind="stable")
    chosen = order[np.linspace(0, len(order) - 1, min(len(order), _POINTS)).astype(int)]
    sheet = Sheet(style)
    sheet.legend(y=1.0)
    sheet.margin(t=72 * style.scale)
    _dials(sheet, at)
    panel = sheet.panel(
        axes.axis(text("figure.pos_query_minus_key"), range=axes.around(offsets, margin=0.02)),
        axes.axis(text("figure.pos_score"), range=axes.around(scores, offset.alike, margin=0.08)),
        across=(0.46, 1),
    )
    hover = "i − j = %{x}: %{y:.6g}"
    panel.points(
        of_pair[chosen], scores.ravel()[chosen],
        text("figure.pos_all_pairs", count=len(chosen)), look("rotary", style).color,
        size=7, opacity=0.35, hover=hover,
    )  # fmt: skip
    panel.line(
        offsets, offset.closed_form, text("figure.pos_closed_form"), style.palette.truth,
        width=2, dash="dot", hover=hover + NAMED,
    )  # fmt: skip
    panel.line(
        offsets, offset.alike, text("figure.pos_alike_key"), style.palette.prediction, width=2,
        dash="dash", hover=hover + NAMED,
    )  # fmt: skip
    here = at.query_position - at.key_position
    panel.points(
        [here], [at.score], text("figure.pos_score_here", offset=here), style.palette.highlight,
        size=15, symbol="diamond", edge={"width": 1.5, "color": style.palette.truth}, hover=hover,
        legend=False,
    )  # fmt: skip
    return sheet.described(
        "alt.pos_rotary",
        query=at.query_position,
        key=at.key_position,
        angle=float(at.between[0]),
        score=at.score,
        pairs=scores.size,
        first=int(offsets[0]),
        last=int(offsets[-1]),
        zero=float(scores[0, 0]),
        spread=offset.by_offset.spread,
        off=float(np.abs(offset.by_offset.mean - offset.closed_form).max()),
    )


def _dials(sheet: Sheet, at: Turned) -> None:
    """Three pairs from top to bottom, fast to slow: the arrows turned, and thin as they were."""
    style, text = sheet.style, sheet.style.text
    pairs = len(at.wavelengths)
    visible = sorted({0, pairs // 2, pairs - 1})
    dials = sheet.panel(
        axes.axis(text("figure.pos_arrow_real"), range=[-1.2, 3.6], visible=False),
        axes.axis(
            text("figure.pos_arrow_imaginary"), range=[-_STEP * (len(visible) - 1) - 1.25, 1.25],
            visible=False, scaleanchor="x", constrain="domain", constraintoward="top",
        ),
        across=(0, 0.36),
    )  # fmt: skip
    turn = np.exp(2j * np.pi * np.arange(61) / 60)
    whose = (
        (text("figure.pos_query_at", position=at.query_position), style.palette.prediction),
        (text("figure.pos_key_at", position=at.key_position), style.palette.rnn),
    )
    for row, pair in enumerate(visible):
        down = -1j * _STEP * row
        longest = float(np.abs(at.flat[:, pair]).max()) or 1.0
        _stroke(dials, down + turn, style.palette.grid, 1.6)
        for index, (name, color) in enumerate(whose):
            for arrows, width in ((at.flat, 1.2), (at.arrows, 3.6)):
                tip = complex(arrows[index, pair]) / longest
                line = np.array([0, tip]) + down
                if width < 2:
                    _stroke(dials, line, color, width, dash="dot")
                else:
                    _stroke(dials, line, color, width, name, row == 0)
        words = text(
            "figure.pos_dial", pair=pair, wavelength=float(at.wavelengths[pair]),
            angle=float(at.between[pair]),
        )  # fmt: skip
        dials.words(words, 1.25, -_STEP * row, xanchor="left", align="left", size=13)


def _stroke(
    panel: Panel, points: np.ndarray, color: str, width: float, name: str = "",
    legend: bool = False, **more: Any,
) -> None:  # fmt: skip
    """A line through complex numbers; with a name, an arrow whose tip is marked."""
    tip: dict[str, Any] = (
        {"mode": "lines+markers", "group": name,
         "marker": {"color": color, "size": [0, 9], "symbol": "circle"}}
        if name else {}
    )  # fmt: skip
    panel.line(
        points.real, points.imag, name, color, width=width, hover=False, legend=legend,
        **{**tip, **more},
    )  # fmt: skip


def term_maps(scheme_terms: SchemeTerms, style: Style = STYLE) -> Figure:
    """What each scheme adds to the score of one word at two places, a map each; blue below 0.

    Each map has its own scale, which its title says: from -limit to limit.
    """
    text, count = style.text, scheme_terms.terms.shape[1]
    step = stride(count, _SIDE)
    sheet = Sheet(style)
    rows: dict[int, Panel] = {}
    labels = []
    for index, (scheme, term) in enumerate(
        zip(scheme_terms.schemes, scheme_terms.terms, strict=True)
    ):
        row, column = divmod(index, _COLUMNS)
        limit, name = scales.largest(term), look(scheme, style).name
        x = axes.counted(count, text("figure.pos_key_j"), step=step)
        left, wide = column * (1 + _BETWEEN) / _COLUMNS, (1 - 2 * _BETWEEN) / _COLUMNS
        y = rows.get(row) or axes.counted(
            count, text("figure.pos_query_i"), upright=True, step=step
        )
        panel = sheet.panel(
            x, y, across=(left, left + wide), up=((0.63, 1), (0, 0.37))[row],
        )  # fmt: skip
        panel.title(f"{name}<br>±{number(limit, 2)}", align="left")
        rows.setdefault(row, panel)
        cells(
            panel, term[::step, ::step], name, scales.signed(limit), step, bar=None,
            hover="i = %{y}, j = %{x}: <b>%{z:.3g}</b>" + NAMED,
        )  # fmt: skip
        labels.append(f"{name}: {number(float(scheme_terms.spread[index]), 2)}")
    return sheet.described("alt.pos_terms", positions=count, values="; ".join(labels))


def shift_bars(changes: Sequence[ShiftChange], style: Style = STYLE) -> Figure:
    """The largest change of a score when all positions are shifted, one bar a scheme, log axis.

    A scheme without a number has no row for the shifted positions in its learned table.
    """
    text = style.text
    styles = [look(change.scheme, style) for change in changes]
    names = [item.name for item in styles]
    values = np.array([change.largest for change in changes])
    rendered = np.where(values > 0, values, np.nan)  # a log axis has no 0
    logs = np.log10(rendered)
    top = float(np.nanmax(logs, initial=-8.0)) if (values > 0).any() else 0.0
    shift = f"{changes[0].shift:,}"
    sheet = Sheet(style)
    sheet.headline(text("figure.pos_shifted", shift=shift))
    panel = sheet.panel(
        # room for the number at the end of the longest bar
        axes.axis(text("figure.pos_change_log"), type="log", range=[_LOWEST, top + 4], dtick=4),
        axes.axis(text("figure.pos_scheme"), type="category", autorange="reversed", showgrid=False),
    )
    colors, patterns = [item.color for item in styles], [item.pattern for item in styles]
    panel.bars(
        names, rendered, text("figure.pos_largest_change"), colors, sideways=True, legend=False,
        marker=hatched(colors, patterns, style),
        customdata=[
            [number(c.typical), number(c.size), f"{100 * c.attention:.1f}"] for c in changes
        ],
        hover=text(
            "figure.pos_hover_shift", typical="%{customdata[0]}", size="%{customdata[1]}",
            attention="%{customdata[2]}",
        ),
    )  # fmt: skip
    labels = [_said(float(value), style) for value in values]
    ends = np.where(np.isnan(logs), _LOWEST, logs).tolist()
    for name, end, words in zip(names, ends, labels, strict=True):
        panel.words(f"<b>{words}</b>", end, name, size=14, xanchor="left", xshift=6)
    listed = "; ".join(f"{name}: {words}" for name, words in zip(names, labels, strict=True))
    return sheet.described("alt.pos_shift", shift=shift, values=listed)


def _said(value: float, style: Style) -> str:
    if np.isnan(value):
        return style.text("figure.pos_no_row_beyond", rows=LEARNED_ROWS)
    return number(value) if value else style.text("figure.pos_exactly_zero")
