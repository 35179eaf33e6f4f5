"""Word vectors: projections to a plane, nearest words, and analogies by class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from seqviz.compute.text.vectors.plane import Placed
from seqviz.compute.text.vectors.table import WAYS, ByClass, Ranked
from seqviz.core.i18n import number
from seqviz.plotting import STYLE, Figure, Panel, Sheet, Style, axes, escape, short, whisker

_LONGEST = 14  # maximum number of characters of a word
_ASIDE = 0.2  # vertical distance of the methods of a class


def word_map(projection: Placed, style: Style = STYLE) -> Figure:
    """Plot each word at its coordinates; the ends of an axis are diamonds.

    Along an axis between two words the first is at 0 and the second at 1.
    """
    label, palette = style.labels("figure.map_"), style.palette
    sheet = Sheet(style)
    titles = _titles(projection, style)
    x, y = projection.coordinates.T
    panel = sheet.panel(
        axes.axis(titles[0], range=axes.around(x, margin=0.16), nticks=7),
        axes.axis(titles[1], range=axes.around(y, margin=0.1), nticks=7),
    )
    for end in (0, 1) if projection.ends else ():
        panel.vertical(end, palette.grid, width=1.5)
        panel.horizontal(end, palette.grid, width=1.5)
    ends = {word for pair in projection.ends for word in pair}
    is_end = np.array([word in ends for word in projection.words])
    names = _named(projection.words)
    # The name over a point between this and 0 would cross the line at 0.
    low = -0.12 * max(1.0, float(np.ptp(y)))
    sides = [f"{'bottom' if projection.ends and low < item < 0 else 'top'} center" for item in y]
    hover = label("hover", word="%{text}", x="%{x:.2f}", y="%{y:.2f}")
    for name, color, symbol, visible in (
        ("word", palette.prediction, "circle", ~is_end), ("end", palette.rnn, "diamond", is_end),
    ):  # fmt: skip
        at = np.flatnonzero(visible)
        if len(at):
            panel.points(
                x[at], y[at], label(name), color, symbol=symbol, size=10, mode="markers+text",
                text=[names[k] for k in at], textposition=[sides[k] for k in at],
                textfont={"size": 14 * style.scale, "color": palette.truth}, cliponaxis=False,
                hover=hover,
            )  # fmt: skip
    words = ", ".join(f"{name} ({number(a)}, {number(b)})"
                      for name, a, b in zip(names, x, y, strict=True))  # fmt: skip
    return sheet.described("alt.word_map", x=titles[0], y=titles[1], words=words)


def _titles(projection: Placed, style: Style) -> list[str]:
    label = style.labels("figure.map_")
    if projection.ends:
        return [label("axis", low=low, high=high) for low, high in map(_named, projection.ends)]
    shares = 100 * projection.shares
    return [label(projection.projection, k=k + 1, share=shares[k]) for k in range(2)]


def nearest_words(result: Ranked, style: Style = STYLE) -> Figure:
    """Plot the cosines of the nearest words as bars; dashed: the mean of random pairs."""
    sheet = Sheet(style)
    panel = sheet.panel(*_axes(result, style))
    _bars(panel, result)
    # The color of text, because the line crosses the bars.
    panel.line([result.between] * 2, [0.4, len(result.words) + 0.6],
               style.text("figure.near_random"), style.palette.truth, dash="dash", width=2,
               hover=False)  # fmt: skip
    return sheet.described(
        "alt.nearest_words", names={"y": _named(result.words)}, word=escape(result.query[0]),
        first=escape(result.first), cosine=result.top, between=result.between,
    )  # fmt: skip


def analogy_words(answer: Ranked, neighbor: Ranked, style: Style = STYLE) -> Figure:
    """Plot the nearest words to a - b + c (left) and those to c (right); a, b, c are orange.

    Args:
        answer: nearest words to a - b + c, whose query is (a, b, c).
        neighbor: nearest words to c.
        style: language, theme and scale of the figure.
    """
    sheet = Sheet(style, barmode="overlay")
    a, b, c = (escape(short(word, 9)) for word in answer.query)
    sheet.margin(t=34)
    titles = f"{a} − {b} + {c}", style.text("figure.analogy_neighbor", word=c)
    panels = sheet.row(_axes(answer, style), _axes(neighbor, style), gaps=(0.42, 0.6))
    for panel, result, title in zip(panels, (answer, neighbor), titles, strict=True):
        _bars(panel, result)
        panel.title(title, size=14)
    return sheet.described(
        "alt.analogy_words", names={"y": _named(answer.words), "y2": _named(neighbor.words)},
        question=f"{a} - {b} + {c}", first=escape(answer.first), new=escape(answer.first_new),
        neighbor=escape(neighbor.first), word=c, cosine=answer.top, gap=0.2,
    )  # fmt: skip


def _named(words: Sequence[str]) -> list[str]:
    return [escape(short(word, _LONGEST)) for word in words]


def _axes(result: Ranked, style: Style) -> tuple[dict[str, Any], dict[str, Any]]:
    low = 1.1 * min(0.0, float(result.cosines.min()))
    ticks = [0, 0.25, 0.5, 0.75, 1]
    return (
        axes.axis(style.text("figure.near_cosine"), range=[low, 1.16], tickvals=ticks),
        axes.ranked(_named(result.words), style.text("figure.near_word")),
    )


def _bars(panel: Panel, result: Ranked) -> None:
    palette = panel.style.palette
    panel.ranked_bars(
        result.cosines, panel.style.text("figure.near_cosine"),
        [palette.rnn if word in result.query else palette.prediction for word in result.words],
        width=0.72, legend=False, hover="%{y}: %{x:.3f}",
        ends=[f"{value:.2f}" for value in result.cosines],
    )  # fmt: skip


def analogies_by_class(by_class: ByClass, style: Style = STYLE) -> Figure:
    """Plot the share of right answers by class for three methods, with 95% intervals."""
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    names = [text(f"figure.class_{name.replace('-', '_')}") for name in by_class.classes]
    panel = sheet.panel(
        axes.percent(text("figure.analogy_right")),
        axes.ranked(names, text("figure.analogy_class")),
    )
    colors = palette.prediction, palette.rnn, palette.baseline
    for index, (method, color, symbol) in enumerate(
        zip(WAYS, colors, ("circle", "diamond", "square-open"), strict=True)
    ):
        share = 100 * by_class.of(method)
        panel.points(
            share.mean, np.arange(1, len(names) + 1) + _ASIDE * (index - 1),
            text(f"figure.way_{method}"), color, symbol=symbol, size=8, hover="%{x:.0f}%",
            error_x=whisker(share.mean, *share.ci, color, thickness=1.4, width=3),
        )  # fmt: skip
    best = by_class.of("excluded").share
    return sheet.described(
        "alt.analogies_by_class", names={"y": names}, best=names[int(best.argmax())],
        worst=names[int(best.argmin())], **by_class.summary(),
    )  # fmt: skip
