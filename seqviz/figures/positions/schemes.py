"""Position schemes inside the score: rotations, the term of each scheme, and shifts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from seqviz.compute.positions.relative import LEARNED_ROWS, SchemeTerms, ShiftChange
from seqviz.compute.positions.rotary import ScoresByOffset, Turned
from seqviz.core.i18n import number
from seqviz.figures.positions.effects import ROUNDING
from seqviz.figures.positions.style import cells, hatched, look, pair_axes, stride
from seqviz.plotting import NAMED, STYLE, Figure, Panel, Sheet, Style, axes, scales

_POINTS = 4096  # maximum number of pairs drawn as points
_STEP = 2.6  # distance of two dials, which have radius 1
_SIDE, _COLUMNS, _BETWEEN = 256, 3, 0.06  # of the maps of all schemes: maximum size, columns, gap


def rotary_scores(offset: ScoresByOffset, at: Turned, style: Style = STYLE) -> Figure:
    """Plot a query and a key in three pairs (left) and their score by offset (right).

    Left: the vectors as arrows, thin before the rotation. Right: the points, one for each pair of
    positions, lie on the line of the formula; the dashed line is a key equal to the query. Of more
    than 4,096 pairs that many, evenly chosen over the offsets, are drawn.

    Args:
        offset: scores of all pairs of positions by offset.
        at: rotated query and key at one pair of positions.
        style: language, theme and scale of the figure.
    """
    label, palette, sheet = style.labels("figure.pos_"), style.palette, Sheet(style)
    offsets, scores = offset.by_offset.offset, offset.scores
    of_pair = np.subtract.outer(offset.positions, offset.positions).ravel()
    order = np.argsort(of_pair, kind="stable")
    chosen = order[np.linspace(0, len(order) - 1, min(len(order), _POINTS)).astype(int)]
    sheet.legend(y=1.09)
    sheet.margin(t=72 * style.scale)
    _dials(sheet, at)
    panel = sheet.panel(
        axes.axis(label("query_minus_key"), range=axes.around(offsets, margin=0.02)),
        axes.axis(label("score"), range=axes.around(scores, offset.alike, margin=0.08)),
        across=(0.46, 1),
    )
    hover = "i − j = %{x}: %{y:.6g}"
    panel.points(of_pair[chosen], scores.ravel()[chosen], label("all_pairs", count=len(chosen)),
                 look("rotary", style).color, size=7, opacity=0.35, hover=hover)  # fmt: skip
    for y, name, color, dash in (
        (offset.closed_form, "closed_form", palette.truth, "dot"),
        (offset.alike, "alike_key", palette.prediction, "dash"),
    ):
        panel.line(offsets, y, label(name), color, width=2, dash=dash, hover=hover + NAMED)
    panel.points([at.offset], [at.score], label("score_here", offset=at.offset), palette.highlight,
                 size=15, symbol="diamond", edge={"width": 1.5, "color": palette.truth},
                 hover=hover, legend=False)  # fmt: skip
    return sheet.described(
        "alt.pos_rotary", at=at, angle=float(at.between[0]), pairs=scores.size,
        first=int(offsets[0]), last=int(offsets[-1]), zero=float(scores[0, 0]), result=offset,
    )  # fmt: skip


def _dials(sheet: Sheet, at: Turned) -> None:
    """Draw three pairs from fast (top) to slow: rotated arrows, and thin ones before it."""
    label, palette = sheet.style.labels("figure.pos_"), sheet.style.palette
    pairs = len(at.wavelengths)
    visible = sorted({0, pairs // 2, pairs - 1})
    dials = sheet.panel(
        axes.axis(label("arrow_real"), range=[-1.2, 3.6], visible=False),
        axes.axis(label("arrow_imaginary"), range=[-_STEP * (len(visible) - 1) - 1.25, 1.25],
                  visible=False, scaleanchor="x", constrain="domain", constraintoward="top"),
        across=(0, 0.36), title=label("pairs", d_k=2 * pairs, base=f"{at.base:,.7g}"),
    )  # fmt: skip
    turn = np.exp(2j * np.pi * np.arange(61) / 60)
    series = ((label("query_at", position=at.query_position), palette.prediction),
              (label("key_at", position=at.key_position), palette.rnn))  # fmt: skip
    for row, pair in enumerate(visible):
        down = -1j * _STEP * row
        longest = float(np.abs(at.flat[:, pair]).max()) or 1.0
        _stroke(dials, down + turn, palette.grid, 1.6)
        for index, (name, color) in enumerate(series):
            flat, tip = (np.array([0, arrows[index, pair] / longest]) + down
                         for arrows in (at.flat, at.arrows))  # fmt: skip
            _stroke(dials, flat, color, 1.2, dash="dot")
            _stroke(dials, tip, color, 3.6, name, row == 0)
        words = label("dial", pair=pair, wavelength=float(at.wavelengths[pair]),
                      angle=float(at.between[pair]))  # fmt: skip
        dials.words(words, 1.25, -_STEP * row, xanchor="left", align="left", size=13)


def _stroke(
    panel: Panel, points: np.ndarray, color: str, width: float, name: str = "",
    legend: bool = False, **more: Any,
) -> None:  # fmt: skip
    """Draw a line through complex numbers; a named one is an arrow with a marked tip."""
    # The group is not the name, which follows the sliders: the figure is repainted in part then.
    tip: dict[str, Any] = (
        {"mode": "lines+markers", "group": color,
         "marker": {"color": color, "size": [0, 9], "symbol": "circle"}}
        if name else {}
    )  # fmt: skip
    panel.line(
        points.real, points.imag, name, color, width=width, hover=False, legend=legend,
        **{**tip, **more},
    )  # fmt: skip


def term_maps(scheme_terms: SchemeTerms, style: Style = STYLE) -> Figure:
    """Plot the term that each scheme adds to the scores of one word; blue below 0.

    Each map has its own color scale from -limit to limit; its title has the limit.
    """
    label, sheet, count = style.labels("figure.pos_"), Sheet(style), scheme_terms.terms.shape[1]
    step, wide = stride(count, _SIDE), (1 - 2 * _BETWEEN) / _COLUMNS
    x, y = pair_axes(style, count, "key_j", "query_i", step)
    rows: dict[int, Panel] = {}
    values = []
    for index, (scheme, term) in enumerate(
        zip(scheme_terms.schemes, scheme_terms.terms, strict=True)
    ):
        row, column = divmod(index, _COLUMNS)
        limit, name = scales.largest(term), look(scheme, style).name
        left = column * (1 + _BETWEEN) / _COLUMNS
        panel = sheet.panel(x, rows.get(row, y), across=(left, left + wide),
                            up=((0.63, 1), (0, 0.37))[row])  # fmt: skip
        panel.title(f"{name}<br>±{number(limit, 2)}", align="left")
        rows.setdefault(row, panel)
        cells(panel, term[::step, ::step], name, scales.signed(limit), step, bar=None,
              hover="i = %{y}, j = %{x}: <b>%{z:.3g}</b>" + NAMED)  # fmt: skip
        values.append(label("spread_of", name=name, value=scheme_terms.spread[index]))
    return sheet.described("alt.pos_terms", positions=count, values="; ".join(values))


def shift_bars(changes: Sequence[ShiftChange], style: Style = STYLE) -> Figure:
    """Plot the largest change of a score after a shift of all positions, one bar a scheme.

    A scheme without a number has no row for the shifted positions in its learned table.
    """
    label, sheet = style.labels("figure.pos_"), Sheet(style)
    styles = [look(change.scheme, style, trained=False) for change in changes]
    names = [item.name for item in styles]
    values = np.array([change.largest for change in changes])
    top = float(np.nanmax(values))
    shift = f"{changes[0].shift:,}"
    sheet.headline(label("shifted", shift=shift))
    panel = sheet.panel(
        # room for the number at the end of the longest bar
        axes.axis(label("change"), range=[0, 1.25 * top or 1]),
        axes.axis(label("scheme"), type="category", autorange="reversed", showgrid=False),
    )
    colors, patterns = [item.color for item in styles], [item.pattern for item in styles]
    panel.bars(
        names, values, label("largest_change"), colors, sideways=True, legend=False,
        marker=hatched(colors, patterns, style),
        customdata=[[number(c.typical), number(c.size), f"{100 * c.attention:.1f}"]
                    for c in changes],
        hover=label("hover_shift", typical="%{customdata[0]}", size="%{customdata[1]}",
                    attention="%{customdata[2]}"),
    )  # fmt: skip
    labels = [_said(float(value), style) for value in values]
    ends = np.nan_to_num(values).tolist()
    for name, end, words in zip(names, ends, labels, strict=True):
        panel.words(f"<b>{words}</b>", end, name, size=14, xanchor="left", xshift=6)
    listed = "; ".join(f"{name}: {words}" for name, words in zip(names, labels, strict=True))
    return sheet.described("alt.pos_shift", shift=shift, values=listed)


def _said(value: float, style: Style) -> str:
    if np.isnan(value):
        return style.text("figure.pos_no_row_beyond", rows=LEARNED_ROWS)
    if 0 < value < ROUNDING:
        return style.text("figure.pos_rounding", value=number(value))
    return number(value) if value else style.text("figure.pos_exactly_zero")
