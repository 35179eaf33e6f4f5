"""A word in two sentences: the cosine of its vectors from the table to the last layer."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.text.vectors.senses import Layers, SensePairs
from seqviz.plotting import STYLE, Figure, Panel, Sheet, Style, axes, escape, short, whisker

_LEFT, _RIGHT = (0.0, 0.42), (0.6, 1.0)


def word_by_layer(layers: Layers, pairs: SensePairs, style: Style = STYLE) -> Figure:
    """The line of one word in two sentences, above the band of pairs of two random words.

    Band: 95% of these pairs, the dotted line is their median.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    panel = _panel(sheet, len(layers.cosines), None)
    at = np.arange(1, len(layers.cosines) + 1)
    _random(panel, at, pairs)
    name = escape(short(layers.word, 14))
    panel.line(at, layers.cosines, text("figure.layers_word", word=name), palette.prediction,
               symbol="circle", size=9, hover="%{y:.3f}")  # fmt: skip
    return sheet.described(
        "alt.word_by_layer", word=name, first=layers.table, second=layers.read_in,
        last=layers.last, low=pairs.random[0, -1], high=pairs.random[2, -1],
    )  # fmt: skip


def senses_by_layer(pairs: SensePairs, style: Style = STYLE) -> Figure:
    """Left mean cosines of one sense, of two, and of two random words; right how often told apart.

    Whiskers: 95% intervals over words. Dashed on the right: the bags of the other words; dotted:
    what a coin gets.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    levels = pairs.other.shape[1]
    at = np.arange(1, levels + 1)
    left = _panel(sheet, levels, _LEFT)
    _random(left, at, pairs)
    for kind, color, symbol in (("same", palette.gru, "diamond"), ("other", palette.rnn, "circle")):
        cosine = pairs.mean(kind)
        left.line(at, cosine.mean, text(f"figure.layers_{kind}"), color, symbol=symbol,
                  hover="%{y:.3f}", error_y=whisker(cosine.mean, *cosine.ci, color))  # fmt: skip
    right = sheet.panel(
        _levels(style, levels), axes.percent(text("figure.layers_told")), across=_RIGHT
    )
    label, bag = 100 * pairs.separated(), pairs.told_by_bag()
    right.horizontal(50, palette.baseline, width=1.5, dash="dot")
    right.reference(at[[0, -1]], [100 * bag.share] * 2, text("figure.layers_bag"), dash="dash")
    right.line(at, label.share, text("figure.layers_told_line"), palette.prediction,
               symbol="circle", hover="%{y:.0f}%",
               error_y=whisker(label.share, *label.ci, palette.prediction),
               legend=False)  # fmt: skip
    return sheet.described(
        "alt.senses_by_layer", pairs=pairs.pairs, same=pairs.mean("same")[-1].mean,
        other=pairs.mean("other")[-1].mean, told=pairs.told_at(-1).share,
        bag=bag.share, words=len(pairs.words),
    )  # fmt: skip


def _levels(style: Style, count: int) -> dict[str, Any]:
    text = style.text
    ticks = [
        text("figure.layers_table"),
        text("figure.layers_input"),
        *map(str, range(1, count - 1)),
    ]
    return axes.names(ticks, text("figure.layers_level"))


def _panel(sheet: Sheet, count: int, across: tuple[float, float] | None) -> Panel:
    return sheet.panel(
        _levels(sheet.style, count),
        axes.axis(sheet.style.text("figure.layers_cosine"), range=[-0.2, 1.06],
                  tickvals=[0, 0.25, 0.5, 0.75, 1]),
        across=across,
    )  # fmt: skip


def _random(panel: Panel, at: np.ndarray, pairs: SensePairs) -> None:
    low, middle, high = pairs.random
    panel.band(at, low, high, panel.style.palette.baseline)
    panel.reference(at, middle, panel.style.text("figure.layers_random", count=pairs.random_pairs))
