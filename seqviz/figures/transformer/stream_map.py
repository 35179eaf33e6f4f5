"""Map of a Transformer with its stream, and the tensor of the chosen part."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from seqviz.compute.transformer.components import SHOWN_COLUMNS, Part, TransformerParts
from seqviz.core.i18n import format_value
from seqviz.core.units import unbroken
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, axis, escape, scales
from seqviz.plotting.maps import Map, Point

_HALF, _HALF_PAIR = 1.05, 0.42  # largest half width of the stream, in units of the map
_MIDDLE, _BRANCH = 1.5, (3.3, 9.9)  # one stack: the stream, and the boxes beside it
_ENCODER, _DECODER = (0.1, 4.6), (5.4, 9.9)  # two stacks: their boxes
_INSET = 1.15  # from the left end of a stack to the boxes beside its stream
_MAP, _TENSOR = (0, 0.47), (0.61, 1)  # panels, as shares of the width
_LIMIT = 95  # percentile of the magnitudes at which the colors end


def stream_map(
    transformer: TransformerParts, layer: int, part: int, token: int = 1, style: Style = STYLE
) -> Figure:
    """Plot the map of a Transformer (left) and the tensor of one part (right).

    Args:
        transformer: all parts.
        layer: the layer, from 0.
        part: number of the part, from 1.
        token: the token whose norms and shares are drawn, counted from the end, from 1.
        style: language, theme and scale of the figure.
    """
    label = style.labels("figure.tr_parts_")
    n_rows = 11 if transformer.form == "decoder" else 8
    hidden = {"visible": False, "fixedrange": True, "automargin": False}
    # Names keep the data table of both panels apart.
    left = (axis(label("map"), range=[0, 10], **hidden),
            axis(label("map"), range=[0.5, n_rows + 0.5], **hidden))  # fmt: skip
    sheet = Sheet(style)
    sheet.margin(t=54 * style.scale)
    diagram = Map(sheet.panel(*left, across=_MAP), "component", part)
    draw = _draw_decoder if transformer.form == "decoder" else _draw_pair
    draw(diagram, transformer, layer, token, style)
    piece = escape(transformer.read_by(1)[transformer.position(1, token)])
    diagram.panel.title(label(f"title_{transformer.form}", layer=layer, token=piece), align="left")
    for number in range(1, len(transformer.parts) + 1):
        other = Sheet(style)
        other.panel(*left, across=_MAP)  # so that the axes have the names of those on the sheet
        _draw_tensor(other, transformer, number, layer, token, style)
        diagram.view(number, other)
    _draw_tensor(sheet, transformer, part, layer, token, style)
    return sheet.described(
        f"alt.tr_parts_{transformer.form}", gap=0.2, part=_name(style, transformer, part),
        shape=_shape(transformer.parts[part - 1]), layer=layer, n=len(transformer.parts),
        token=piece, norm=transformer.norm(1, layer, token),
        share=_share(style, transformer, part, layer, token),
    )  # fmt: skip


def _name(style: Style, transformer: TransformerParts, part: int) -> str:
    chosen = transformer.parts[part - 1]
    key = f"{transformer.form}_{chosen.name}"
    if transformer.form == "pair" and chosen.name in ("embed", "attention"):
        key += f"_{chosen.stack}"
    return style.text(f"figure.tr_part_{key}", heads=transformer.heads)


def _shape(part: Part) -> str:
    return unbroken(" × ".join(f"{size:,}" for size in part.shape))


def _share(style: Style, transformer: TransformerParts, part: int, layer: int, token: int) -> str:
    """Return what a part has to do with the stream: its share, or that it adds nothing."""
    facts = transformer.summary(part, layer, token)
    variant = re.sub("_(against|beyond)$", "", facts.variant)  # the number says it here
    return style.text(f"figure.tr_parts_{variant}", **facts)


def _spoken(style: Style, transformer: TransformerParts, part: int, layer: int, token: int) -> str:
    """Return the name of the button of a part: name, shape, share of the stream."""
    return style.text(
        "figure.tr_parts_spoken", name=_name(style, transformer, part),
        shape=_shape(transformer.parts[part - 1]),
        share=_share(style, transformer, part, layer, token),
    )  # fmt: skip


def _columns(transformer: TransformerParts, part: Part, style: Style) -> dict[str, object]:
    """Return the horizontal axis of the tensor."""
    label = style.labels("figure.tr_parts_")
    if part.name == "unembed":
        return axes.tokens(style, transformer.words, label("next"))
    count = part.values.shape[-1]
    if part.name == "heads":
        width = count // transformer.heads
        middles = np.arange(transformer.heads) * width + (width - 1) / 2
        return {**axes.counted(count, label("key")), "tickvals": middles.tolist(),
                "ticktext": [str(head) for head in range(transformer.heads)]}  # fmt: skip
    return axes.counted(count, label("column", shown=SHOWN_COLUMNS, width=part.shape[-1]))


def _draw_tensor(
    sheet: Sheet, transformer: TransformerParts, part: int, layer: int, token: int, style: Style
) -> None:
    """Draw the panel with the tensor of a part."""
    label, name = style.labels("figure.tr_parts_"), _name(style, transformer, part)
    chosen = transformer.parts[part - 1]
    is_read = transformer.form == "decoder"  # by a tokenizer, which marks spaces
    title = label("token_marked" if is_read else "token")
    rows = axes.tokens(style, transformer.read_by(part), title, upright=True)
    panel = sheet.panel(_columns(transformer, chosen, style), rows, across=_TENSOR)
    share = _share(style, transformer, part, layer, token)
    panel.title(label("chosen", name=name, shape=_shape(chosen), share=share), align="left")
    z = chosen.values[chosen.at(layer)]
    # By row, because the values of one token, often the first, can be a hundred times the others.
    limit = float(np.median(np.percentile(np.abs(z), _LIMIT, axis=1))) or 1.0
    scale = scales.weights() if chosen.name == "heads" else scales.signed(limit, beyond=True)
    first = 1 if chosen.name == "unembed" else 0
    panel.cells(z, name, scale, x=np.arange(z.shape[1]) + first,
                bar=label("value"), ygap=1,
                hover="%{y}, %{x}: <b>%{z:.4~g}</b>")  # fmt: skip
    panel.outline(style.palette.highlight, row=transformer.position(part, token) + 1)
    if chosen.name == "heads":
        width = z.shape[1] // transformer.heads
        for head in range(1, transformer.heads):
            panel.vertical(head * width - 0.5, style.palette.truth, width=1, layer="above")


def _box(
    diagram: Map, transformer: TransformerParts, number: int, layer: int, token: int, style: Style,
    x: Point, y: float, is_stacked: bool = False,
) -> None:  # fmt: skip
    """Draw the box of a part, filled to its share of the stream.

    Args:
        diagram: the map.
        transformer: all parts.
        number: number of the part, from 1.
        layer: the layer, from 0.
        token: the token, counted from the end, from 1.
        style: language, theme and scale of the figure.
        x: left and right end.
        y: its middle.
        is_stacked: True where the shape is below the name.
    """
    part, name = transformer.parts[number - 1], _name(style, transformer, number)
    share = transformer.share(number, layer, token) if part.adds else 0
    spoken = _spoken(style, transformer, number, layer, token)
    height, size = (0.7, 12.5) if transformer.form == "decoder" else (0.92, 11)
    words = f"<b>{name}</b><br>{_shape(part)}" if is_stacked else style.text(
        "figure.tr_parts_box", name=name, shape=_shape(part))  # fmt: skip
    diagram.box(number, x, y, words, spoken, share, height, size)


def _draw_decoder(
    diagram: Map, transformer: TransformerParts, layer: int, token: int, style: Style
) -> None:
    """Draw one stack: all layers as a stream, and one of them in parts."""
    label = style.labels("figure.tr_parts_")
    stream, middle = transformer.stream(token), transformer.norm(5, layer, token)
    unit = _HALF / max(stream.max(), transformer.find("sum_1").norm[
        :, transformer.position(1, token)].max())  # fmt: skip
    halves = stream * unit
    below = list(zip(np.linspace(1.4, 2.5, layer + 1) if layer else [1.4], halves[: layer + 1],
                     strict=True))  # fmt: skip
    above = list(zip(np.linspace(8.4, 9.6, transformer.layers - layer),
                     halves[layer + 1 :], strict=True))  # fmt: skip
    ends = [(1.3, halves[0]), *below, (5, halves[layer]), (5, middle * unit), (8, middle * unit),
            (8, halves[layer + 1]), *above, (9.7, halves[-1])]  # fmt: skip
    diagram.stream(_MIDDLE, [(float(y), float(half)) for y, half in ends])
    center = sum(_BRANCH) / 2
    for start, added in ((3, 4), (6, 8)):
        diagram.flow([(_MIDDLE, start), (_BRANCH[0], start)], 0)
        diagram.flow([(center, start), (center, start + 2)], 0)
        half = min(transformer.norm(added, layer, token) * unit, 0.3)
        diagram.flow([(_BRANCH[0], start + 2), (_MIDDLE, start + 2)], half)
    rows = {1: 1, 2: 3, 3: 4, 4: 5, 6: 6, 7: 7, 8: 8, 10: 10, 11: 11}
    for number, row in rows.items():
        x = _BRANCH if 3 <= row <= 8 else (0.1, _BRANCH[1])
        _box(diagram, transformer, number, layer, token, style, x, row)
    for number, row in ((5, 5), (9, 8)):
        diagram.sum(number, _MIDDLE, row, _spoken(style, transformer, number, layer, token))
    left = {"xanchor": "left"}
    last = transformer.layers - 1
    if layer:
        diagram.note(_BRANCH[0], 2, label("before", first=0, last=layer - 1), **left)
    if layer < last:
        diagram.note(_BRANCH[0], 9, label("after", first=layer + 1, last=last), **left)
    norms = (stream[layer], stream[layer + 1])
    beside: dict[str, Any] = {"xanchor": "right", "size": 12}  # of the stream, not on it
    diagram.panel.words(format_value(float(norms[0])), _BRANCH[0] - 0.1, 2, **beside)
    diagram.panel.words(format_value(float(norms[1])), _BRANCH[0] - 0.1, 9, **beside)


def _draw_pair(
    diagram: Map, transformer: TransformerParts, layer: int, token: int, style: Style
) -> None:
    """Draw encoder and decoder: one layer of each in parts."""
    label = style.labels("figure.tr_parts_")
    norms = [transformer.norm(n, layer, token) for n in range(1, len(transformer.parts) + 1)]
    unit = _HALF_PAIR / np.nanmax(norms)
    number = 0
    for stack, ends in (("encoder", _ENCODER), ("decoder", _DECODER)):
        names = [part.name for part in transformer.parts if part.stack == stack]
        middle = ends[0] + _INSET / 2
        first = number + 1
        before = norms[first - 1] if layer == 0 else transformer.norm(
            first + (4 if stack == "encoder" else 6), layer - 1, token)  # fmt: skip
        points, current = [(1.0, before * unit)], before
        for row, name in enumerate(names, 1):
            if name.startswith("norm"):
                points += [(row, current * unit), (row, norms[number + row - 1] * unit)]
                current = norms[number + row - 1]
        top = len(names) + (0.9 if stack == "encoder" else 0)
        diagram.stream(middle, [*points, (top, current * unit)])
        for row, name in enumerate(names, 1):
            on_stream = name in ("embed", "unembed") or name.startswith("norm")
            x = ends if on_stream else (ends[0] + _INSET, ends[1])
            if not on_stream:
                diagram.flow([(middle, row - 0.28), (x[0], row - 0.28)], 0)
                half = min(norms[number + row - 1] * unit, 0.16)
                diagram.flow([(x[0], row + 0.15), (middle, row + 0.15)], half)
            _box(diagram, transformer, number + row, layer, token, style, x, row, True)
        number += len(names)
    _draw_memory(diagram, label("memory"))
    diagram.note(_ENCODER[1], 7.0, label("times", layers=transformer.layers), xanchor="right")


def _draw_memory(diagram: Map, label: str) -> None:
    """Draw the path from the encoder's output to the decoder's cross-attention."""
    middle, gap = _ENCODER[0] + _INSET / 2, (_ENCODER[1] + _DECODER[0]) / 2
    target = _DECODER[0] + _INSET
    diagram.flow([(middle, 5.9), (gap, 5.9), (gap, 4.2), (target, 4.2)], 0.05)
    diagram.note(2.4, 6.25, label)
