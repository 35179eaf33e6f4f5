"""Cosine of a word's vectors in two sentences, from the table to the last layer."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.text.vectors.senses import Layers, SensePairs
from seqviz.plotting import STYLE, Figure, Panel, Sheet, Style, axes, escape, short


def word_by_layer(layers: Layers, pairs: SensePairs, style: Style = STYLE) -> Figure:
    """Plot the cosine of one word in two sentences by layer, over that of random pairs.

    Band: 95% of the pairs of two random words; dotted: their median.

    Args:
        layers: cosines by layer.
        pairs: many words, with the random pairs.
        style: language, theme and scale of the figure.
    """
    sheet, name = Sheet(style), escape(short(layers.word, 14))
    panel = sheet.panel(_levels(style, len(layers.cosines)), _cosine(style))
    _draw_random(panel, pairs)
    panel.estimates(layers.cosines, style.text("figure.layers_word", word=name),
                    style.palette.prediction, size=9, hover="%{y:.3f}")  # fmt: skip
    return sheet.described(
        "alt.word_by_layer", word=name, first=layers.table, second=layers.read_in,
        last=layers.last, low=pairs.random[0, -1], high=pairs.random[2, -1],
    )  # fmt: skip


def senses_by_layer(pairs: SensePairs, style: Style = STYLE) -> Figure:
    """Plot mean cosines of one sense, two senses and random words (left), and accuracy (right).

    Whiskers: 95% intervals over words. Right: words told apart; dashed: by the bags of the other
    words; dotted: chance.
    """
    label, palette = style.labels("figure.layers_"), style.palette
    sheet = Sheet(style)
    levels = pairs.other.shape[1]
    x = _levels(style, levels)
    left, right = sheet.row((x, _cosine(style)), (x, axes.percent(label("told"))), gaps=(0.42, 0.6))
    _draw_random(left, pairs)
    for kind, color, symbol in (("same", palette.gru, "diamond"), ("other", palette.rnn, "circle")):
        left.estimates(pairs.mean(kind), label(kind), color, symbol=symbol, hover="%{y:.3f}")
    bag = pairs.told_by_bag()
    right.chance_line()
    right.reference([1, levels], [100 * bag.share] * 2, label("bag"), dash="dash")
    right.estimates(100 * pairs.separated(), label("told_line"), palette.prediction,
                    hover="%{y:.0f}%", legend=False)  # fmt: skip
    return sheet.described(
        "alt.senses_by_layer", pairs=pairs.pairs, same=pairs.mean("same")[-1].mean,
        other=pairs.mean("other")[-1].mean, told=pairs.told_at(-1).share, bag=bag.share,
        words=len(pairs.words),
    )  # fmt: skip


def _levels(style: Style, count: int) -> dict[str, Any]:
    label = style.labels("figure.layers_")
    return axes.names([label("table"), label("input"), *map(str, range(1, count - 1))],
                      label("level"))  # fmt: skip


def _cosine(style: Style) -> dict[str, Any]:
    ticks = [0, 0.25, 0.5, 0.75, 1]
    return axes.axis(style.text("figure.layers_cosine"), range=[-0.2, 1.06], tickvals=ticks)


def _draw_random(panel: Panel, pairs: SensePairs) -> None:
    low, middle, high = pairs.random
    at = np.arange(1, len(middle) + 1)
    panel.band(at, low, high, panel.style.palette.baseline)
    panel.reference(at, middle, panel.style.text("figure.layers_random", count=pairs.random_pairs))
