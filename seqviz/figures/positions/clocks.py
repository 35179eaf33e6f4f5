"""A position as the hands of clocks, the clocks' wavelengths, and lengths beside those of words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.compute.positions.clocks import Clocks, EmbeddingScale
from seqviz.figures.grammar.decades import log_axis
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.line_ends import label
from seqviz.figures.grammar.style import Style, axis_layout, finish, layout
from seqviz.figures.positions.parts import counted
from seqviz.text import number

_STYLE = Style()
_MOST = 32  # clocks that can be told apart
_WIDE, _HIGH = 2.5, 3.1  # room of a clock of radius 1 with its wavelength below
_SHAPE = 1.7  # width over height: between a desk's and a phone's
_BINS = 80


def clocks_figure(before: Clocks, after: Clocks, offset: int, style: Style = _STYLE) -> Figure:
    """A clock for each pair: its hand at a position (thin) and at `offset` further on (strong).

    The fastest clock first, from left to right and from top to bottom; its wavelength stands below,
    unless both are at position 0. Of more than 32 clocks 32 are shown, evenly chosen.
    """
    text, palette = style.text, style.palette
    pairs = len(before.angle)
    shown = np.unique(np.round(np.linspace(0, pairs - 1, min(pairs, _MOST))).astype(int))
    columns = _columns(len(shown))
    x = _WIDE * (np.arange(len(shown)) % columns)
    y = -_HIGH * (np.arange(len(shown)) // columns).astype(float)
    turn = np.linspace(0, 2 * np.pi, 41)
    data: list[dict[str, Any]] = [
        _parted(x, y, np.cos(turn), np.sin(turn)) | {"line": {"color": palette.grid, "width": 2}}
    ]
    hands = ((before, palette.baseline, 2.0), (after, palette.prediction, 3.5))
    for at, color, width in hands:
        tips = (at.cosine[shown, None] * [0, 1], at.sine[shown, None] * [0, 1])
        data.append(_parted(x, y, *tips) | {"line": {"color": color, "width": width}})
    # The angles behind the hands, for the legend and for the table: outside what is in view.
    for at, color, width in hands:
        data.append(
            {
                "type": "scatter",
                "x": np.arange(pairs),
                "y": at.angle,
                "yaxis": "y2",
                "mode": "lines",
                "name": text("figure.pos_hand", position=f"{at.position:,}"),
                "line": {"color": color, "width": width},
                "hoverinfo": "skip",
            }
        )
    spec = layout(style)
    spec |= {
        "xaxis": axis_layout(
            style,
            range=[-_WIDE / 2, (columns - 0.5) * _WIDE],
            title={"text": text("figure.pos_pair")},
            visible=False,
            constrain="domain",
        ),
        "yaxis": axis_layout(
            style,
            range=[float(y[-1]) - _HIGH + (1.15 if pairs == len(shown) else 0.5), 1.15],
            title={"text": text("figure.pos_sine")},
            visible=False,
            scaleanchor="x",
            constrain="domain",
            constraintoward="top",
        ),
        "yaxis2": axis_layout(
            style,
            overlaying="y",
            range=[100, 101],
            title={"text": text("figure.pos_angle")},
            visible=False,
        ),
        "annotations": _wavelengths_below(before, after, shown, x, y, style),
    }
    if pairs > len(shown):
        spec["annotations"].append(
            label(
                style,
                text("figure.pos_some_clocks", shown=len(shown), pairs=pairs),
                palette.baseline,
                xref="paper",
                yref="paper",
                x=1,
                y=0,
                xanchor="right",
                yanchor="bottom",
            )
        )
    turned = (after.turns - before.turns) if offset else np.zeros(pairs)
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.pos_clocks",
            pairs=pairs,
            position=before.position,
            later=after.position,
            offset=offset,
            fast=number(float(turned[0])) if pairs else "–",
            slow=number(float(turned[-1])) if pairs else "–",
        ),
    )


def _columns(count: int) -> int:
    """How many clocks stand in a row, so that they are as large as they can be."""

    def size(columns: int) -> float:
        return min(_SHAPE / (columns * _WIDE), 1 / (math.ceil(count / columns) * _HIGH))

    return max(range(1, max(count, 1) + 1), key=size)


def _parted(x: np.ndarray, y: np.ndarray, across: np.ndarray, up: np.ndarray) -> dict[str, Any]:
    """One line for each clock around its center, all of them one trace without a name."""
    empty = np.full((len(x), 1), np.nan)
    return {
        "type": "scatter",
        "x": np.hstack([x[:, None] + across, empty]).ravel(),
        "y": np.hstack([y[:, None] + up, empty]).ravel(),
        "mode": "lines",
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _wavelengths_below(
    before: Clocks, after: Clocks, shown: np.ndarray, x: np.ndarray, y: np.ndarray, style: Style
) -> list[dict[str, Any]]:
    """Positions per turn under each clock; both angles on hover."""
    at = max(before, after, key=lambda clocks: abs(clocks.position))
    if not at.position:
        return []
    return [
        label(
            style,
            _short(at.position / float(at.turns[pair])),
            style.palette.truth,
            x=across,
            y=up - 1.05,
            yanchor="top",
            hovertext=style.text(
                "figure.pos_hover_clock",
                pair=int(pair),
                before=number(float(before.angle[pair])),
                after=number(float(after.angle[pair])),
            ),
            font={"size": 12 * style.scale, "color": style.palette.truth},
        )
        for pair, across, up in zip(shown, x.tolist(), y.tolist(), strict=True)
    ]


def _short(value: float) -> str:
    """A number with room for seven characters."""
    if value < 99_950:
        return number(value, 2 if value > 99 else 3)
    power = math.floor(math.log10(value))
    return f"{value / 10**power:.1f}·10<sup>{power}</sup>"


def wavelengths(lengths: Float[np.ndarray, "pair"], base: float, style: Style = _STYLE) -> Figure:
    """Positions per turn of each pair on a log axis; dotted lines at 2 pi and 2 pi base."""
    text, palette = style.text, style.palette
    pairs = len(lengths)
    ends = (2 * np.pi, 2 * np.pi * base)
    line: dict[str, Any] = {
        "type": "scatter",
        "x": np.arange(pairs),
        "y": lengths,
        "mode": "lines+markers",
        "name": text("figure.pos_wavelength"),
        "showlegend": False,
        "line": {"color": palette.truth, "width": 2.4},
        "marker": {"size": 7 if pairs <= 64 else 3},
        "hovertemplate": text("figure.pos_hover_pair", pair="%{x}") + ": %{y:,.4g}<extra></extra>",
    }
    spec = layout(style)
    spec |= {
        "xaxis": counted(style, pairs, text("figure.pos_pair")),
        "yaxis": log_axis(
            style, np.log10(np.array([*ends, *lengths])), text("figure.pos_wavelength_axis")
        ),
        "shapes": [
            {
                "type": "line",
                "xref": "x domain",
                "x0": 0,
                "x1": 1,
                "y0": end,
                "y1": end,
                "line": {"color": palette.baseline, "width": 2, "dash": "dot"},
                "layer": "below",
            }
            for end in ends
        ],
        "annotations": [
            label(
                style,
                words,
                palette.baseline,
                xref="x domain",
                x=side,
                xanchor="left" if side == 0 else "right",
                y=math.log10(end),
                yanchor="bottom" if side == 0 else "top",
            )
            for side, end, words in (
                (1, ends[0], f"2π = {number(ends[0])}"),
                (0, ends[1], f"2π × {base:,.7g} = {number(ends[1])}"),
            )
        ],
    }
    return finish(
        {"data": [line], "layout": spec},
        text(
            "alt.pos_wavelengths",
            pairs=pairs,
            first=number(float(lengths[0])),
            last=number(float(lengths[-1])),
            end=number(ends[1]),
        ),
    )


def norms(found: EmbeddingScale, style: Style = _STYLE) -> Figure:
    """How long word vectors are, before and after the factor, and what is added to them.

    Shares of the vectors in bins of equal ratio, on one log axis; a norm of 0 is in no bin.
    """
    text, palette = style.text, style.palette
    rows = (
        ("words", found.embedding, {"color": palette.truth, "dash": "dash", "width": 2.4}),
        ("scaled", found.scaled, {"color": palette.truth, "dash": "solid", "width": 2.4}),
        ("added", found.encoding, {"color": palette.prediction, "dash": "solid", "width": 3}),
    )
    seen = np.concatenate([values[values > 0] for _, values, _ in rows])
    low, high = (seen.min(), seen.max()) if seen.size else (1.0, 1.0)
    edges = np.geomspace(low / 1.5, high * 1.5, _BINS + 1)
    data: list[dict[str, Any]] = []
    for name, values, look in rows:
        counts, _ = np.histogram(values, edges)
        data.append(
            {
                "type": "scatter",
                "x": edges,
                "y": np.append(100 * counts / max(len(values), 1), 0.0),
                "mode": "lines",
                "name": text(
                    f"figure.pos_norms_{name}",
                    median=number(float(np.median(values))) if len(values) else "–",
                    factor=number(found.factor),
                ),
                "line": {"shape": "hv", **look},
                "hovertemplate": "%{x:.3g}: %{y:.1f} %<extra>%{fullData.name}</extra>",
            }
        )
    data[2] |= {"fill": "tozeroy", "fillcolor": palette.band}
    data[2]["zorder"] = -1  # its tint is behind the lines of the words
    spec = layout(style)
    spec |= {
        "xaxis": log_axis(style, np.log10(edges), text("figure.pos_norm_log")),
        "yaxis": axis_layout(
            style, rangemode="tozero", title={"text": text("figure.pos_share_of_vectors")}
        ),
    }
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.pos_norms",
            factor=number(found.factor),
            **{
                name: number(float(np.median(values))) if len(values) else "–"
                for name, values, _ in rows
            },
        ),
    )
