"""Heads compared by one number each: as a grid of all, and the foremost of them as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.style import WEIGHTS, Style, axis_layout, finish, layout
from seqviz.text import number

_STYLE = Style()
_GRID = [0.0, 0.5]
_BARS = [0.68, 1.0]


def ranked_heads(
    values: Float[np.ndarray, "layer head"],
    names: Sequence[Sequence[str]],
    measure: str,
    layer: int,
    head: int,
    share: bool,
    named_from: float | None = None,
    most: int = 10,
    style: Style = _STYLE,
) -> Figure:
    """Left all heads as a grid (a click gives one), right the largest values, in order and named.

    values: one number a head, nan where it is not known yet. names: what each head does, for the
    bars. measure: the name of the number. layer, head: the chosen ones, from 0. share: values are
    shares, so that the scale ends at 1. named_from: where a head is named after this measure.
    """
    text, palette = style.text, style.palette
    layers, heads = values.shape
    across = layers > heads
    known = values[np.isfinite(values)]
    top = 1.0 if share else float(known.max(initial=0)) or 1.0
    order = np.argsort(-np.nan_to_num(values, nan=-np.inf), axis=None, kind="stable")
    places = [divmod(int(flat), heads) for flat in order[: min(most, known.size)]]
    grid: dict[str, Any] = {
        "type": "heatmap",
        "x": np.arange(layers if across else heads),
        "y": np.arange(heads if across else layers),
        "z": (values.T if across else values).astype(np.float32),
        "zmin": min(0.0, float(known.min(initial=0))),
        "zmax": top,
        "colorscale": WEIGHTS,
        "name": measure,
        "meta": "pick",
        "xgap": 1,
        "ygap": 1,
        "hoverongaps": False,
        "colorbar": {
            "tickfont": {"size": 12 * style.scale},
            "thickness": 12,
            "outlinewidth": 0,
            "x": _GRID[1] + 0.01,
        },
        "hovertemplate": text(
            "figure.hover_measure",
            layer="%{x}" if across else "%{y}",
            head="%{y}" if across else "%{x}",
            measure=measure,
            value="%{z:.3g}",
        )
        + "<extra></extra>",
    }
    rows = [f"{a}.{b}" for a, b in places]
    chosen = [(a, b) == (layer, head) for a, b in places]
    bars: dict[str, Any] = {
        "type": "bar",
        "orientation": "h",
        "x": [float(values[place]) for place in places],
        "y": np.arange(1, len(places) + 1),
        "xaxis": "x2",
        "yaxis": "y2",
        "name": measure,
        "showlegend": False,
        "marker": {"color": [palette.highlight if c else palette.prediction for c in chosen]},
        "text": [f" {number(float(values[a, b]))}  {names[a][b]}" for a, b in places],
        "textposition": "outside",
        "cliponaxis": False,
        "textfont": {"size": 12 * style.scale},
        "hoverinfo": "skip",
    }
    titles = [text("figure.head"), text("figure.layer")]
    sideways, upright = titles[::-1] if across else titles
    x, y = (layer, head) if across else (head, layer)
    columns, lines = grid["z"].shape[::-1]
    shapes: list[dict[str, Any]] = [
        {
            "type": "rect",
            "x0": x - 0.5,
            "x1": x + 0.5,
            "y0": y - 0.5,
            "y1": y + 0.5,
            "line": {"color": palette.highlight, "width": 3},
        }
    ]
    if named_from is not None:
        shapes.append(
            {
                "type": "line",
                "xref": "x2",
                "yref": "y2 domain",
                "x0": named_from,
                "x1": named_from,
                "y0": 0,
                "y1": 1,
                "line": {"color": palette.baseline, "width": 1, "dash": "dot"},
                "layer": "below",
            }
        )
    spec = layout(style)
    spec |= {
        "xaxis": counted(style, columns, [-0.5, columns - 0.5], sideways, domain=_GRID),
        "yaxis": counted(style, lines, [lines - 0.5, -0.5], upright),
        "xaxis2": axis_layout(
            style,
            domain=_BARS,
            anchor="y2",
            range=[0, 1.9 * max([*bars["x"], 1e-12])],
            title={"text": measure},
            showgrid=False,
            nticks=4,
        ),
        "yaxis2": axis_layout(
            style,
            anchor="x2",
            range=[max(len(places), 1) + 0.5, 0.5],
            tickvals=list(range(1, len(places) + 1)),
            ticktext=rows,
            showgrid=False,
            title={"text": text("figure.layer_head")},
        ),
        "shapes": shapes,
        "annotations": [
            {
                "xref": "paper",
                "yref": "paper",
                "x": 0,
                "y": 1,
                "xanchor": "left",
                "yanchor": "bottom",
                "yshift": 6,
                "text": measure,
                "showarrow": False,
                "font": {"size": 14 * style.scale, "color": palette.truth},
            }
        ],
    }
    first = places[0] if places else (0, 0)
    return finish(
        {"data": [grid, bars], "layout": spec},
        text(
            "alt.ranked_heads",
            measure=measure,
            layer=first[0],
            head=first[1],
            value=number(float(values[first])),
            name=names[first[0]][first[1]] or "–",
            median=number(float(np.median(known))) if known.size else "–",
        ),
        names={"y2": rows},
    )


def counted(style: Style, count: int, span: list[float], title: str, **more: Any) -> dict[str, Any]:
    """An axis of layers or heads, from 0."""
    step = 1 if count <= 12 else 2 if count <= 24 else 5
    return axis_layout(
        style,
        range=span,
        tickvals=list(range(0, count, step)),
        showgrid=False,
        title={"text": title},
        **more,
    )
