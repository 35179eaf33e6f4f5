"""Positions inside the score: rotary, biases, and what a shift of all positions changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Int

from seqviz.compute.positions.relative import LEARNED_ROWS, ShiftChange
from seqviz.compute.positions.rotary import ScoresByOffset
from seqviz.figures.grammar.annotations import headline
from seqviz.figures.grammar.decades import log_axis
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.line_ends import around
from seqviz.figures.grammar.style import Style, axis_layout, finish, layout
from seqviz.figures.positions.biases import alibi, t5_buckets
from seqviz.figures.positions.parts import look
from seqviz.text import number

__all__ = ["alibi", "rotary_scores", "shift_bars", "t5_buckets"]

_STYLE = Style()
_POINTS = 4096  # pairs of positions that are drawn one by one
_LOWEST = -17.0  # decade at which the axis of changes begins: below what float64 tells from 0


def rotary_scores(
    found: ScoresByOffset,
    positions: Int[np.ndarray, "position"] | None = None,
    style: Style = _STYLE,
) -> Figure:
    """The score of one query and one key at every pair of positions, by the offset of the pair.

    positions: where they were set; needed only where these are not evenly spaced and rising. The
    points lie on one line, the closed form. Of more than 4,096 pairs that many are drawn, evenly
    chosen over the offsets. Raises ValueError where positions are needed and are not given.
    """
    text, palette = style.text, style.palette
    offsets, scores = found.by_offset.offset, found.scores
    count = len(scores)
    if positions is None:
        if len(offsets) != 2 * count - 1:
            raise ValueError("Positions that are not evenly spaced must be given.")
        place = np.arange(count)
        of_pair = offsets[np.subtract.outer(place, place) + count - 1]
    else:
        of_pair = np.subtract.outer(positions, positions)
    order = np.argsort(of_pair, axis=None, kind="stable")
    chosen = order[np.linspace(0, len(order) - 1, min(len(order), _POINTS)).astype(int)]
    drawn = look("rotary", style)
    data: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "x": of_pair.ravel()[chosen],
            "y": scores.ravel()[chosen],
            "mode": "markers",
            "name": text("figure.pos_all_pairs", count=f"{len(chosen):,}"),
            "marker": {"color": drawn.color, "size": 7, "opacity": 0.35, "symbol": "circle"},
            "hovertemplate": "i − j = %{x}: %{y:.6g}<extra></extra>",
        },
        {
            "type": "scatter",
            "x": offsets,
            "y": found.closed_form,
            "mode": "lines",
            "name": text("figure.pos_closed_form"),
            "line": {"color": palette.truth, "width": 2, "dash": "dot"},
            "hovertemplate": "i − j = %{x}: %{y:.6g}<extra>%{fullData.name}</extra>",
        },
    ]
    spec = layout(style)
    spec |= {
        "xaxis": axis_layout(
            style,
            range=around(offsets.astype(float), margin=0.02),
            title={"text": text("figure.pos_query_minus_key")},
        ),
        "yaxis": axis_layout(
            style,
            range=around(scores, found.closed_form, margin=0.08),
            title={"text": text("figure.pos_score")},
        ),
    }
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.pos_rotary",
            pairs=f"{scores.size:,}",
            first=int(offsets[0]),
            last=int(offsets[-1]),
            zero=number(float(scores[0, 0])),
            spread=number(found.by_offset.spread),
            off=number(float(np.abs(found.by_offset.mean - found.closed_form).max())),
        ),
    )


def shift_bars(
    changes: Sequence[ShiftChange], rows: int = LEARNED_ROWS, style: Style = _STYLE
) -> Figure:
    """The largest change of a score when all positions are shifted, one bar a scheme, log axis.

    rows: of the learned table; a scheme without a number there has none for the shifted positions.
    """
    text = style.text
    looks = [look(change.scheme, style) for change in changes]
    names = [drawn.name for drawn in looks]
    values = np.array([change.largest for change in changes])
    seen = values[np.isfinite(values) & (values > 0)]
    top = float(np.log10(seen.max())) if seen.size else 0.0
    data: list[dict[str, Any]] = [
        {
            "type": "bar",
            "orientation": "h",
            "x": np.where(values > 0, values, np.nan),
            "y": names,
            "name": text("figure.pos_largest_change"),
            "showlegend": False,
            "marker": {
                "color": [drawn.color for drawn in looks],
                "pattern": {
                    "shape": ["", "/", "x", "\\", ".", "-"][: len(looks)],
                    "fillmode": "overlay",
                    "fgcolor": style.palette.grid,
                    "size": 7,
                },
            },
            "customdata": [
                [number(c.typical), number(c.size), f"{100 * c.attention:.1f}"] for c in changes
            ],
            "hovertemplate": text(
                "figure.pos_hover_shift",
                typical="%{customdata[0]}",
                size="%{customdata[1]}",
                attention="%{customdata[2]}",
            )
            + "<extra></extra>",
        }
    ]
    axis = log_axis(style, np.array([_LOWEST, top]), text("figure.pos_change_log"))
    axis["range"] = [_LOWEST, max(top, -8.0) + 4]  # room for the number at the end of the bar
    axis["dtick"] = 4
    shift = changes[0].shift if changes else 0
    said = [_said(float(value), rows, style) for value in values]
    spec = layout(style)
    spec |= {
        "xaxis": axis,
        "yaxis": axis_layout(
            style,
            type="category",
            autorange="reversed",
            showgrid=False,
            title={"text": text("figure.pos_scheme")},
        ),
        "annotations": [
            headline(style, text("figure.pos_shifted", shift=f"{shift:,}")),
            *(
                {
                    "x": float(np.log10(value)) if value > 0 else _LOWEST,
                    "y": name,
                    "xanchor": "left",
                    "xshift": 6,
                    "text": f"<b>{words}</b>",
                    "showarrow": False,
                    "font": {"size": 14 * style.scale, "color": style.palette.truth},
                }
                for name, value, words in zip(names, values, said, strict=True)
            ),
        ],
    }
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.pos_shift",
            shift=f"{shift:,}",
            values="; ".join(f"{n}: {words}" for n, words in zip(names, said, strict=True)),
        ),
    )


def _said(value: float, rows: int, style: Style) -> str:
    if np.isnan(value):
        return style.text("figure.pos_no_row_beyond", rows=rows)
    return number(value) if value else style.text("figure.pos_exactly_zero")
