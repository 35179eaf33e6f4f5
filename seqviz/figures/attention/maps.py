"""Attention weights: all heads of all layers as one picture, and one matrix at a time, exact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from seqviz.figures.attention.heads import counted
from seqviz.figures.grammar.annotations import headline
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.matrices import tokens_axis, weight_cells
from seqviz.figures.grammar.style import Style, finish, layout
from seqviz.figures.grammar.tokens import plain
from seqviz.figures.grammar.weights_color import bar, picture, scale
from seqviz.text import number

_STYLE = Style()
_GAP = 2  # pixels between two tiles
_TILE = 56  # pixels of a tile at least


def mosaic(
    tiles: Float[np.ndarray, "layer head row column"],
    names: Sequence[Sequence[str]],
    entropy: Float[np.ndarray, "layer head"],
    distance: Float[np.ndarray, "layer head"],
    layer: int,
    head: int,
    cells: float = 1.0,
    style: Style = _STYLE,
) -> Figure:
    """Every head a small map, as one image; a click gives the head.

    Where there are more layers than heads, layers run from left to right. tiles: weights. names,
    entropy (bits), distance (tokens): of each head, on hover. layer, head: the chosen ones, from 0.
    cells: cells of a side that were put together into one.
    """
    text, palette = style.text, style.palette
    layers, heads = tiles.shape[:2]
    across = layers > heads  # layers along x
    shown = tiles.swapaxes(0, 1) if across else tiles
    source, (high, wide) = picture(shown, _GAP, _TILE)
    rows, columns = shown.shape[:2]

    def turned(values: np.ndarray) -> np.ndarray:
        return values.T if across else values

    said = np.array(
        [
            [
                text(
                    "figure.hover_head",
                    layer=place,
                    head=other,
                    name=names[place][other],
                    entropy=number(float(entropy[place, other])),
                    distance=number(float(distance[place, other])),
                )
                for other in range(heads)
            ]
            for place in range(layers)
        ]
    )
    grid: dict[str, Any] = {
        "type": "heatmap",
        "x": np.arange(columns),
        "y": np.arange(rows),
        "z": turned(entropy).astype(np.float32),
        "text": turned(said),
        "name": text("figure.entropy_bits"),
        "meta": "pick",
        "opacity": 0,  # the picture is seen; this is what hovers and clicks meet
        "showscale": False,
        "hovertemplate": "%{text}<extra></extra>",
    }
    key: dict[str, Any] = {  # only for its color bar
        "type": "scatter",
        "x": [None],
        "y": [None],
        "hoverinfo": "skip",
        "showlegend": False,
        "marker": {
            "color": [0],
            "cmin": 0,
            "cmax": 1,
            "colorscale": scale(),
            "showscale": True,
            "colorbar": bar(style, text("figure.weight")),
        },
    }
    x, y = (layer, head) if across else (head, layer)
    titles = [text("figure.head"), text("figure.layer")]
    sideways, upright = titles[::-1] if across else titles
    # Half of the gap to the left of each tile, so that the outline of the chosen one is even.
    left, top = -0.5 + _GAP / wide / 2, -0.5 + _GAP / high / 2
    spec = layout(style)
    spec |= {
        "images": [
            {
                "source": source,
                "xref": "x",
                "yref": "y",
                "x": left,
                "y": top,
                "sizex": columns,
                "sizey": rows,
                "xanchor": "left",
                "yanchor": "top",
                "sizing": "stretch",
                "layer": "below",
            }
        ],
        "xaxis": counted(style, columns, [-0.5, columns - 0.5], sideways),
        "yaxis": counted(style, rows, [rows - 0.5, -0.5], upright),
        "shapes": [
            {
                "type": "rect",
                "x0": x - 0.5,
                "x1": x + 0.5,
                "y0": y - 0.5,
                "y1": y + 0.5,
                "line": {"color": palette.highlight, "width": 3},
            }
        ],
        "annotations": [
            headline(
                style,
                f"{text('figure.head_label', layer=layer, head=head)}: {names[layer][head]}, "
                + text("figure.bits", bits=number(float(entropy[layer, head])))
                + (f" · {text('figure.reduced', cells=number(cells, 2))}" if cells > 1 else ""),
            )
        ],
    }
    return finish(
        {"data": [grid, key], "layout": spec},
        text(
            "alt.mosaic",
            layers=layers,
            heads=heads,
            layer=layer,
            head=head,
            name=names[layer][head],
            entropy=number(float(entropy[layer, head])),
            sharpest=_place(entropy.argmin(), heads),
            broadest=_place(entropy.argmax(), heads),
        ),
    )


def attention_map(
    weights: Float[np.ndarray, "query key"],
    pieces: Sequence[str],
    title: str,
    query: int,
    key: int,
    allowed: Bool[np.ndarray, "query key"] | None = None,
    style: Style = _STYLE,
) -> Figure:
    """One matrix of weights with its tokens; a click gives key (x) and query (y), from 1.

    title: what the matrix is, as plain text. query, key: the chosen cell, from 1; its row and the
    cell are outlined. allowed: where it is False the cell is blank, as nothing was asked there.
    """
    text = style.text
    cell = float(weights[query - 1, key - 1])
    spec = layout(style)
    spec |= {
        "xaxis": tokens_axis(style, pieces, "figure.keys"),
        "yaxis": tokens_axis(style, pieces, "figure.queries", upright=True),
        "shapes": _marks(style, len(pieces), query, key),
        "annotations": [
            headline(
                style,
                f"{plain(title)} · "
                + text(
                    "figure.chosen_weight",
                    query=plain(pieces[query - 1]),
                    key=plain(pieces[key - 1]),
                    weight=f"<b>{number(cell)}</b>",
                ),
            )
        ],
    }
    heat = weight_cells(weights, style, allowed)
    heat |= {"meta": "pick", "colorbar": bar(style, text("figure.weight"))}
    largest = int(np.nanargmax(weights[query - 1]))
    return finish(
        {"data": [heat], "layout": spec},
        text(
            "alt.attention_map",
            title=title,
            tokens=len(pieces),
            query=pieces[query - 1],
            key=pieces[key - 1],
            weight=number(cell),
            most=pieces[largest],
            share=number(float(weights[query - 1, largest])),
        ),
        names={"x": pieces, "y": pieces},
    )


def _marks(style: Style, tokens: int, query: int, key: int) -> list[dict[str, Any]]:
    """The query's row in a thin line, the cell in a strong one."""
    return [
        {
            "type": "rect",
            "x0": x0,
            "x1": x1,
            "y0": query - 0.5,
            "y1": query + 0.5,
            "line": {"color": style.palette.highlight, "width": width},
        }
        for x0, x1, width in ((0.5, tokens + 0.5, 1.5), (key - 0.5, key + 0.5, 3.5))
    ]


def _place(flat: Any, heads: int) -> str:
    return f"{int(flat) // heads}.{int(flat) % heads}"
