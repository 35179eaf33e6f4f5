"""Attention weights: all heads of all layers as one picture, and one matrix at a time, exact."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.attention.results import AttentionMap, Mosaic
from seqviz.figures.attention.head_grid import HeadGrid
from seqviz.figures.attention.heads import head_names
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, escape, scales
from seqviz.plotting.weights_color import picture

_GAP = 2  # pixels between two tiles
_TILE = 56  # pixels of a tile at least
_SHOWN = {"weight": "weight", "value": "carried"}


def head_mosaic(mosaic: Mosaic, layer: int, head: int, style: Style = STYLE) -> Figure:
    """Plot every head as a small map, all in one image; a click gives the head.

    Where there are more layers than heads, layers run from left to right. layer, head: the chosen
    ones, from 0, the last where there are fewer. On hover: what a head does, its entropy in bits,
    and how many tokens away it looks. Where `mosaic` shows weights times norms of values, one scale
    holds for all heads.
    """
    text, entropy = style.text, mosaic.habits.entropy
    layers, heads = entropy.shape
    layer, head = min(layer, layers - 1), min(head, heads - 1)
    name, bits = head_names(mosaic.habits, text)[layer][head], entropy[layer, head]
    sheet = Sheet(style)
    grid = HeadGrid(sheet, layers, heads)
    grid.cells(
        entropy.astype(np.float32), text("figure.entropy_bits"), scales.unit_scale(), bar=None,
        text=grid.turned(_said(mosaic, style)), hover="%{text}",
        opacity=0,  # the picture is seen; this is what hovers and clicks meet
    )  # fmt: skip
    sheet.page["images"] = [_picture(grid.turned(mosaic.tiles), mosaic.max_weight)]
    grid.panel.key(scales.weights(mosaic.max_weight), text(f"figure.{_SHOWN[mosaic.by]}"))
    grid.outline(layer, head)
    label = text("figure.head_label", layer=layer, head=head)
    chosen = text("figure.tile", label=label, name=name, bits=text("figure.bits", bits=bits))
    reduced = text("figure.reduced", cells=mosaic.cells)
    sheet.headline(f"{chosen} · {reduced}" if mosaic.cells > 1 else chosen)
    return sheet.described(
        "alt.mosaic" if mosaic.by == "weight" else "alt.mosaic_carried",
        layers=layers, heads=heads, layer=layer, head=head, name=name, entropy=bits,
        sharpest="{}.{}".format(*divmod(int(entropy.argmin()), heads)),
        broadest="{}.{}".format(*divmod(int(entropy.argmax()), heads)),
    )  # fmt: skip


def _said(mosaic: Mosaic, style: Style) -> np.ndarray:
    """What stands over each head, [layer, head]."""
    habits, text = mosaic.habits, style.text

    def over(layer: int, head: int, name: str) -> str:
        bits, distance = habits.entropy[layer, head], habits.distance[layer, head]
        return text("figure.hover_head", layer=layer, head=head, name=name, entropy=bits,
                    distance=distance)  # fmt: skip

    names = enumerate(head_names(habits, text))
    return np.array([[over(a, b, name) for b, name in enumerate(row)] for a, row in names])


def _picture(tiles: np.ndarray, maximum: float) -> dict[str, Any]:
    """The tiles [row, column, query, key] as an image behind the cells of the grid."""
    source, (high, wide) = picture(tiles, _GAP, _TILE, maximum)
    rows, columns = tiles.shape[:2]
    return {
        "source": source, "xref": "x", "yref": "y", "layer": "below",
        # Half of the gap to the left of each tile, so that the outline of the chosen one is even.
        "x": -0.5 + _GAP / wide / 2, "y": -0.5 + _GAP / high / 2, "sizex": columns, "sizey": rows,
        "xanchor": "left", "yanchor": "top", "sizing": "stretch",
    }  # fmt: skip


def attention_map(
    attention_map: AttentionMap, query: int, key: int, style: Style = STYLE
) -> Figure:
    """Plot the weights of a head, or a mean over heads, with their tokens.

    query, key: the chosen cell, from 1, the last token where there are fewer; its row and the cell
    are outlined, and a click gives another (x key, y query). Blank where the mask forbids to look.
    """
    if attention_map.head >= 0:
        title = style.text("figure.head_label", layer=attention_map.layer, head=attention_map.head)
    elif attention_map.layer >= 0:
        title = style.text("figure.mean_of_layer", layer=attention_map.layer)
    else:
        title = style.text("figure.mean_of_all")
    return _map(attention_map, title, query, key, style)


def rollout_map(attention_map: AttentionMap, query: int, key: int, style: Style = STYLE) -> Figure:
    """Plot attention rollout up to the layer of a map; query and key as in `attention_map`."""
    title = style.text("figure.rollout_to", layer=attention_map.layer)
    return _map(attention_map, title, query, key, style)


def _map(attention_map: AttentionMap, title: str, query: int, key: int, style: Style) -> Figure:
    text, pieces, color = style.text, attention_map.text.pieces, style.palette.highlight
    query, key = min(query, len(pieces)), min(key, len(pieces))
    of_query, to_key = pieces[query - 1], pieces[key - 1]
    row = attention_map.weights[query - 1]
    weight, largest_at = row[key - 1], int(np.nanargmax(row))
    sheet = Sheet(style)
    panel = sheet.panel(
        axes.tokens(style, pieces, text("figure.keys")),
        axes.tokens(style, pieces, text("figure.queries"), upright=True),
    )
    visible = text(f"figure.{_SHOWN[attention_map.by]}")
    panel.weights(
        attention_map.weights, attention_map.allowed, visible, attention_map.max_weight, pick=True
    )
    panel.rectangle((0.5, len(pieces) + 0.5), (query - 0.5, query + 0.5), color, width=1.5)
    panel.outline(color, column=key, row=query, width=3.5)
    values = {"query": escape(of_query), "key": escape(to_key), "weight": weight}
    carried = "" if attention_map.by == "weight" else "_carried"
    # Two lines: a phone has no room for both in one.
    sheet.headline(f"{escape(title)}<br>{text(f'figure.chosen_weight{carried}', **values)}")
    sheet.margin(t=58 * style.scale)
    return sheet.described(
        f"alt.attention_map{carried}", names={"x": pieces, "y": pieces}, title=title,
        tokens=len(pieces), query=of_query, key=to_key, weight=weight,
        most=pieces[largest_at], share=row[largest_at],
    )  # fmt: skip
