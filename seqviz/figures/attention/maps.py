"""Attention weights: all heads of all layers in one image, and single matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.attention.results import AttentionMap, Mosaic
from seqviz.figures.attention.head_grid import HeadGrid
from seqviz.figures.attention.heads import head_names
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, escape, scales
from seqviz.plotting.weights_color import picture

_GAP = 2  # pixels between two tiles
_TILE = 56  # minimum size of a tile in pixels
_SHOWN = {"weight": "weight", "value": "carried"}


def head_mosaic(mosaic: Mosaic, layer: int, head: int, style: Style = STYLE) -> Figure:
    """Plot the attention map of every head as a tile of one image; a click chooses the head.

    Layers run from left to right where there are more layers than heads. The hover text has the
    habit of a head, its entropy in bits and its mean distance in tokens. Where `mosaic` has weights
    times norms of values, all heads share one scale.

    Args:
        mosaic: attention maps and habits of all heads.
        layer: layer of the outlined head, from 0; the last where there are fewer.
        head: the head, likewise.
        style: language, theme and scale of the figure.
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
        opacity=0,  # the image is visible; the cells receive hovers and clicks
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
    """Return the hover text of each head, [layer, head]."""
    habits, text = mosaic.habits, style.text

    def over(layer: int, head: int, name: str) -> str:
        bits, distance = habits.entropy[layer, head], habits.distance[layer, head]
        return text("figure.hover_head", layer=layer, head=head, name=name, entropy=bits,
                    distance=distance)  # fmt: skip

    names = enumerate(head_names(habits, text))
    return np.array([[over(a, b, name) for b, name in enumerate(row)] for a, row in names])


def _picture(tiles: np.ndarray, maximum: float) -> dict[str, Any]:
    """Return the tiles [row, column, query, key] as a layout image behind the cells of the grid."""
    source, (high, wide) = picture(tiles, _GAP, _TILE, maximum)
    rows, columns = tiles.shape[:2]
    return {
        "source": source, "xref": "x", "yref": "y", "layer": "below",
        # Half of the gap lies on the left of each tile, which centers the outline on it.
        "x": -0.5 + _GAP / wide / 2, "y": -0.5 + _GAP / high / 2, "sizex": columns, "sizey": rows,
        "xanchor": "left", "yanchor": "top", "sizing": "stretch",
    }  # fmt: skip


def attention_map(
    attention_map: AttentionMap, query: int, key: int, style: Style = STYLE
) -> Figure:
    """Plot the attention weights of a head, or a mean over heads, with their tokens.

    The row of the query and the chosen cell are outlined; a click chooses another cell (x key, y
    query). Masked cells are blank.

    Args:
        attention_map: weights, tokens and mask.
        query: query, from 1; the last token where there are fewer.
        key: key, likewise.
        style: language, theme and scale of the figure.
    """
    if attention_map.head >= 0:
        title = style.text("figure.head_label", layer=attention_map.layer, head=attention_map.head)
    elif attention_map.layer >= 0:
        title = style.text("figure.mean_of_layer", layer=attention_map.layer)
    else:
        title = style.text("figure.mean_of_all")
    return _map(attention_map, title, query, key, style)


def rollout_map(attention_map: AttentionMap, query: int, key: int, style: Style = STYLE) -> Figure:
    """Plot attention rollout up to the layer of a map.

    Args:
        attention_map: rollout, tokens and mask.
        query: query, as in `attention_map`.
        key: key, likewise.
        style: language, theme and scale of the figure.
    """
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
    # Two lines, because one is too long for a phone.
    sheet.headline(f"{escape(title)}<br>{text(f'figure.chosen_weight{carried}', **values)}")
    sheet.margin(t=58 * style.scale)
    return sheet.described(
        f"alt.attention_map{carried}", names={"x": pieces, "y": pieces}, title=title,
        tokens=len(pieces), query=of_query, key=to_key, weight=weight,
        most=pieces[largest_at], share=row[largest_at],
    )  # fmt: skip
