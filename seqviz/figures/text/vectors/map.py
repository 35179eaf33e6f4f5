"""Words in a plane, the nearest words to a place, and analogies by class."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.text.vectors.plane import Placed
from seqviz.compute.text.vectors.table import WAYS, ByClass, Ranked
from seqviz.core.i18n import number
from seqviz.plotting import STYLE, Figure, Panel, Sheet, Style, axes, escape, short, whisker

_LONGEST = 14  # characters of a word
_LEFT, _RIGHT = (0.0, 0.42), (0.6, 1.0)
_ASIDE = 0.24  # by which the ways of a class stand one below the other


def word_map(projection: Placed, style: Style = STYLE) -> Figure:
    """Each word at its place, with its name; the words that an axis runs between are diamonds.

    Along an axis between two words the first is at 0 and the second at 1.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    titles = _titles(projection, style)
    x, y = projection.coordinates.T
    panel = sheet.panel(
        *(
            axes.axis(title, range=axes.around(values, margin=room), nticks=7)
            for title, values, room in zip(titles, (x, y), (0.16, 0.1), strict=True)
        )
    )
    if projection.ends:
        for at in (0, 1):
            panel.vertical(at, palette.grid, width=1.5)
            panel.horizontal(at, palette.grid, width=1.5)
    ends = {word for pair in projection.ends for word in pair}
    names = [escape(short(word, _LONGEST)) for word in projection.words]
    low = -0.12 * max(1.0, float(np.ptp(y)))  # a name above such a point would cross the line at 0
    sides = [f"{'bottom' if projection.ends and low < item < 0 else 'top'} center" for item in y]
    hover = text("figure.map_hover", word="%{text}", x="%{x:.2f}", y="%{y:.2f}")
    for name, color, symbol, retained in (
        ("map_word", palette.prediction, "circle", [w not in ends for w in projection.words]),
        ("map_end", palette.rnn, "diamond", [w in ends for w in projection.words]),
    ):
        if not any(retained):
            continue
        panel.points(
            x[retained], y[retained], text(f"figure.{name}"), color, symbol=symbol, size=10,
            mode="markers+text", text=[n for n, yes in zip(names, retained, strict=True) if yes],
            textposition=[side for side, yes in zip(sides, retained, strict=True) if yes],
            textfont={"size": 14 * style.scale, "color": palette.truth},
            cliponaxis=False, hover=hover,
        )  # fmt: skip
    summary = (
        f"{name} ({number(a)}, {number(b)})"
        for name, (a, b) in zip(names, projection.coordinates, strict=True)
    )
    return sheet.described(
        "alt.word_map",
        x=titles[0], y=titles[1],
        words=", ".join(summary),
    )  # fmt: skip


def _titles(projection: Placed, style: Style) -> list[str]:
    if projection.ends:
        return [
            style.text("figure.map_axis", low=escape(short(low, _LONGEST)),
                       high=escape(short(high, _LONGEST)))
            for low, high in projection.ends
        ]  # fmt: skip
    return [
        style.text(
            f"figure.map_{projection.projection}",
            k=k + 1,
            share=100 * projection.shares[k],
        )
        for k in range(2)
    ]


def nearest_words(result: Ranked, style: Style = STYLE) -> Figure:
    """Bars of the cosines of the nearest words; the dashed line is the mean of random pairs."""
    sheet = Sheet(style)
    panel = _bars(sheet, result, None, style.text("figure.near_cosine"))
    panel.reference(
        [result.between] * 2, [0.4, len(result.words) + 0.6], style.text("figure.near_random"),
        dash="dash",
    )  # fmt: skip
    return sheet.described(
        "alt.nearest_words", names={"y": _named(result)}, word=escape(result.query[0]),
        first=escape(result.first), cosine=result.top, between=result.between,
    )  # fmt: skip


def analogy_words(answer: Ranked, neighbor: Ranked, style: Style = STYLE) -> Figure:
    """Left the nearest words to a - b + c, the three among them in orange; right those to c."""
    text = style.text
    sheet = Sheet(style, barmode="overlay")
    a, b, c = (escape(short(word, 9)) for word in answer.query)
    sheet.margin(t=34)
    titles = f"{a} − {b} + {c}", text("figure.analogy_neighbor", word=c)
    for result, across, title in zip((answer, neighbor), (_LEFT, _RIGHT), titles, strict=True):
        panel = _bars(sheet, result, across, text("figure.near_cosine"))
        panel.title(title, size=14)
    return sheet.described(
        "alt.analogy_words", names={"y": _named(answer), "y2": _named(neighbor)},
        question=f"{a} - {b} + {c}", first=escape(answer.first), new=escape(answer.first_new),
        neighbor=escape(neighbor.first), word=c, cosine=answer.top, gap=0.2,
    )  # fmt: skip


def _named(result: Ranked) -> list[str]:
    return [escape(short(word, _LONGEST)) for word in result.words]


def _bars(sheet: Sheet, result: Ranked, across: tuple[float, float] | None, title: str) -> Panel:
    palette, text = sheet.style.palette, sheet.style.text
    names = _named(result)
    low = min(0.0, float(result.cosines.min()))
    panel = sheet.panel(
        axes.axis(title, range=[1.1 * low, 1.16], tickvals=[0, 0.25, 0.5, 0.75, 1]),
        axes.names(names, text("figure.near_word"), range=[len(names) + 0.6, 0.4]),
        across=across,
    )
    requests = [word in result.query for word in result.words]
    panel.bars(
        np.arange(1, len(names) + 1),
        result.cosines,
        text("figure.near_cosine"),
        [palette.rnn if item else palette.prediction for item in requests],
        sideways=True,
        width=0.72,
        legend=False,
        hover="%{y}: %{x:.3f}",
        ends=[f"{value:.2f}" for value in result.cosines],
    )
    return panel


def analogies_by_class(by_class: ByClass, style: Style = STYLE) -> Figure:
    """A row for each class: the share of right answers in three ways, with 95% intervals."""
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    names = [text(f"figure.class_{name.replace('-', '_')}") for name in by_class.classes]
    panel = sheet.panel(
        axes.percent(text("figure.analogy_right")),
        axes.names(names, text("figure.analogy_class"), range=[len(names) + 0.6, 0.4]),
    )
    colors = palette.prediction, palette.rnn, palette.baseline
    for index, (method, color, symbol) in enumerate(
        zip(WAYS, colors, ("circle", "diamond", "square-open"), strict=True)
    ):
        shares = by_class.of(method)
        panel.points(
            100 * shares.share, np.arange(1, len(names) + 1) + _ASIDE * (index - 1),
            text(f"figure.way_{method}"), color, symbol=symbol, size=8, hover="%{x:.0f}%",
            error_x=whisker(100 * shares.share, 100 * shares.low, 100 * shares.high, color,
                            thickness=1.4, width=3),
        )  # fmt: skip
    best = by_class.of("excluded").share
    values: dict[str, Any] = {path: number(100 * by_class.overall(path).share) for path in WAYS}
    return sheet.described(
        "alt.analogies_by_class", names={"y": names}, questions=by_class.questions,
        best=names[int(best.argmax())], worst=names[int(best.argmin())], **values,
    )  # fmt: skip
