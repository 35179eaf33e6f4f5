"""Positions added to the score: ALiBi's slopes, T5's buckets."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float, Int

from seqviz.figures.grammar.annotations import headline, panel_title
from seqviz.figures.grammar.decades import ABOVE, BELOW
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.style import Style, axis_layout, finish, layout
from seqviz.figures.grammar.weights_color import color_bar
from seqviz.figures.positions.parts import WRITTEN, cells, counted, largest, look, stride
from seqviz.text import number

_STYLE = Style()
_SIDE = 512  # positions of a matrix that is shown whole


def alibi(
    slopes: Float[np.ndarray, "head"],
    bias: Float[np.ndarray, "query key"],
    head: int = 0,
    style: Style = _STYLE,
) -> Figure:
    """Left the slope of each head, in powers of two; right what one head adds to its scores.

    head: whose bias it is, from 0. Where the bias is -inf, the key is hidden and the cell empty.
    """
    text, palette = style.text, style.palette
    heads, side = len(slopes), len(bias)
    step = stride(side, _SIDE)
    drawn = look("alibi", style)
    lowest = int(np.floor(np.log2(slopes).min()))
    ticks = np.arange(lowest, 1)[:: max(1, -lowest // 8)]
    seen = np.where(np.isfinite(bias), bias, np.nan)[::step, ::step]
    limit = largest(bias)
    data: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "x": np.arange(heads),
            "y": slopes,
            "mode": "lines+markers",
            "name": text("figure.pos_slope"),
            "showlegend": False,
            "line": {"color": drawn.color, "width": 1.6, "dash": drawn.dash},
            "marker": {
                "symbol": drawn.symbol,
                "size": [14 if h == head else 8 for h in range(heads)],
                "color": [palette.highlight if h == head else drawn.color for h in range(heads)],
                "line": {"width": 1, "color": palette.truth},
            },
            "hovertemplate": text("figure.pos_hover_head", head="%{x}")
            + ": %{y:.4g}<extra></extra>",
        },
        cells(
            seen,
            text("figure.pos_bias"),
            style,
            limit=limit,
            end="2",
            step=step,
            zmax=0,
            zmin=-limit,
            colorscale=[[0, f"rgb{BELOW}"], [1, "rgba(43,108,196,0)"]],
            colorbar=color_bar(style, text("figure.pos_bias"), x=0.94),
            hovertemplate="i = %{y}, j = %{x}: <b>%{z:.4g}</b><extra></extra>",
        ),
    ]
    spec = layout(style)
    spec |= {
        "xaxis": counted(style, heads, text("figure.head"), domain=[0, 0.38]),
        "yaxis": axis_layout(
            style,
            type="log",
            range=[(lowest - 0.4) * np.log10(2), 0.4 * np.log10(2)],
            tickvals=2.0**ticks,
            ticktext=[f"2<sup>{k}</sup>".replace("-", "−") if k else "1" for k in ticks],
            title={"text": text("figure.pos_slope")},
        ),
        "xaxis2": counted(
            style, side, text("figure.pos_key"), step=step, domain=[0.5, 0.93], anchor="y2"
        ),
        "yaxis2": counted(
            style, side, text("figure.pos_query"), upright=True, step=step, anchor="x2"
        ),
        "annotations": [
            panel_title(style, "", text("figure.pos_slopes")),
            panel_title(
                style, "2", text("figure.pos_bias_of", head=head, slope=_half(slopes[head]))
            ),
        ],
    }
    return finish(
        {"data": data, "layout": spec},
        text(
            "alt.pos_alibi",
            heads=heads,
            first=number(float(slopes[0])),
            last=number(float(slopes.min())),
            head=head,
            positions=side,
            least=number(-limit if np.nanmin(seen) < 0 else 0.0),
        ),
        gap=0.16,
    )


def _half(slope: float) -> str:
    """1/2, 1/4, ... as fractions; others as decimals."""
    power = -float(np.log2(slope))
    return f"1/{2 ** int(power):,}" if power == int(power) > 0 else number(float(slope))


def t5_buckets(buckets: Int[np.ndarray, "query key"], style: Style = _STYLE) -> Figure:
    """The bucket of every pair of positions, one color each: blue before the query, orange after.

    Neighboring buckets alternate in strength, so that each can be told from the next.
    """
    text = style.text
    side, last = len(buckets), int(buckets.max())
    after = np.unique(buckets[np.triu_indices(side, 1)])
    before = np.unique(buckets[np.tril_indices(side)])
    shades = {**_shades(after, ABOVE), **_shades(before, BELOW)}  # bucket 0 may be in both
    scale: list[list[Any]] = []
    for bucket in range(last + 1):
        color = shades.get(bucket, "rgba(0,0,0,0)")
        scale += [[bucket / (last + 1), color], [(bucket + 1) / (last + 1), color]]
    step = stride(side, _SIDE)
    shown = buckets[::step, ::step]
    heat = cells(
        shown,
        text("figure.pos_bucket"),
        style,
        step=step,
        zmin=-0.5,
        zmax=last + 0.5,
        colorscale=scale,
        colorbar=color_bar(style, text("figure.pos_bucket"), nticks=9),
        hovertemplate="i = %{y}, j = %{x}: <b>%{z}</b><extra></extra>",
    )
    if side <= 2 * WRITTEN:
        heat |= {
            "texttemplate": "%{z}",
            "textfont": {"size": 12 * style.scale, "color": style.palette.truth},
        }
    spec = layout(style)
    spec |= {
        "xaxis": counted(style, side, text("figure.pos_key"), step=step),
        "yaxis": counted(style, side, text("figure.pos_query"), upright=True, step=step),
        "annotations": [
            headline(style, text("figure.pos_buckets_used", count=len(np.unique(buckets))))
        ],
    }
    return finish(
        {"data": [heat], "layout": spec},
        text(
            "alt.pos_t5",
            positions=side,
            count=len(np.unique(buckets)),
            before=int(buckets[-1, 0]),
            after=int(buckets[0, -1]),
        ),
    )


def _shades(buckets: Int[np.ndarray, "bucket"], color: tuple[int, int, int]) -> dict[int, str]:
    """Stronger with each bucket, every second one somewhat weaker."""
    found = {}
    for rank, bucket in enumerate(buckets.tolist()):
        strength = 0.25 + 0.6 * rank / max(len(buckets) - 1, 1) - (0.16 if rank % 2 else 0)
        found[bucket] = f"rgba({color[0]},{color[1]},{color[2]},{strength:.2f})"
    return found
