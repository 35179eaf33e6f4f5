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


def word_map(found: Placed, style: Style = STYLE) -> Figure:
    """Each word at its place, with its name; the words that an axis runs between are diamonds.

    Along an axis between two words the first is at 0 and the second at 1.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    titles = _titles(found, style)
    x, y = found.places.T
    panel = sheet.panel(
        *(
            axes.axis(title, range=axes.around(values, margin=room), nticks=7)
            for title, values, room in zip(titles, (x, y), (0.16, 0.1), strict=True)
        )
    )
    if found.ends:
        for at in (0, 1):
            panel.vertical(at, palette.grid, width=1.5)
            panel.horizontal(at, palette.grid, width=1.5)
    ends = {word for pair in found.ends for word in pair}
    names = [escape(short(word, _LONGEST)) for word in found.words]
    low = -0.12 * max(1.0, float(np.ptp(y)))  # a name above such a point would cross the line at 0
    sides = [f"{'bottom' if found.ends and low < one < 0 else 'top'} center" for one in y]
    hover = text("figure.map_hover", word="%{text}", x="%{x:.2f}", y="%{y:.2f}")
    for name, color, symbol, kept in (
        ("map_word", palette.prediction, "circle", [w not in ends for w in found.words]),
        ("map_end", palette.rnn, "diamond", [w in ends for w in found.words]),
    ):
        if not any(kept):
            continue
        panel.points(
            x[kept], y[kept], text(f"figure.{name}"), color, symbol=symbol, size=10,
            mode="markers+text", text=[n for n, yes in zip(names, kept, strict=True) if yes],
            textposition=[side for side, yes in zip(sides, kept, strict=True) if yes],
            textfont={"size": 14 * style.scale, "color": palette.truth},
            cliponaxis=False, hover=hover,
        )  # fmt: skip
    said = (
        f"{name} ({number(a)}, {number(b)})"
        for name, (a, b) in zip(names, found.places, strict=True)
    )
    return sheet.described(
        "alt.word_map",
        x=titles[0], y=titles[1],
        words=", ".join(said),
    )  # fmt: skip


def _titles(found: Placed, style: Style) -> list[str]:
    if found.ends:
        return [
            style.text("figure.map_axis", low=escape(short(low, _LONGEST)),
                       high=escape(short(high, _LONGEST)))
            for low, high in found.ends
        ]  # fmt: skip
    return [
        style.text(f"figure.map_{found.projection}", k=k + 1, share=f"{100 * found.shares[k]:.0f}")
        for k in range(2)
    ]


def nearest_words(found: Ranked, style: Style = STYLE) -> Figure:
    """Bars of the cosines of the nearest words; the dashed line is the mean of random pairs."""
    sheet = Sheet(style)
    panel = _bars(sheet, found, None, style.text("figure.near_cosine"))
    panel.reference(
        [found.between] * 2, [0.4, len(found.words) + 0.6], style.text("figure.near_random"),
        dash="dash",
    )  # fmt: skip
    return sheet.described(
        "alt.nearest_words", names={"y": _named(found)}, word=escape(found.asked[0]),
        first=escape(found.first), cosine=number(found.top), between=number(found.between),
    )  # fmt: skip


def analogy_words(answer: Ranked, neighbor: Ranked, style: Style = STYLE) -> Figure:
    """Left the nearest words to a - b + c, the three among them in orange; right those to c."""
    text = style.text
    sheet = Sheet(style, barmode="overlay")
    a, b, c = (escape(short(word, 9)) for word in answer.asked)
    sheet.margin(t=34)
    titles = f"{a} − {b} + {c}", text("figure.analogy_neighbor", word=c)
    for found, across, title in zip((answer, neighbor), (_LEFT, _RIGHT), titles, strict=True):
        panel = _bars(sheet, found, across, text("figure.near_cosine"))
        panel.title(title, size=14)
    return sheet.described(
        "alt.analogy_words", names={"y": _named(answer), "y2": _named(neighbor)},
        question=f"{a} - {b} + {c}", first=escape(answer.first), new=escape(answer.first_new),
        neighbor=escape(neighbor.first), word=c, cosine=number(answer.top), gap=0.2,
    )  # fmt: skip


def _named(found: Ranked) -> list[str]:
    return [escape(short(word, _LONGEST)) for word in found.words]


def _bars(sheet: Sheet, found: Ranked, across: tuple[float, float] | None, title: str) -> Panel:
    palette, text = sheet.style.palette, sheet.style.text
    names = _named(found)
    low = min(0.0, float(found.cosines.min()))
    panel = sheet.panel(
        axes.axis(title, range=[1.1 * low, 1.16], tickvals=[0, 0.25, 0.5, 0.75, 1]),
        axes.names(names, text("figure.near_word"), range=[len(names) + 0.6, 0.4]),
        across=across,
    )
    asked = [word in found.asked for word in found.words]
    panel.bars(
        np.arange(1, len(names) + 1), found.cosines, text("figure.near_cosine"),
        [palette.rnn if one else palette.prediction for one in asked], sideways=True, width=0.72,
        legend=False, hover="%{y}: %{x:.3f}", ends=[f"{value:.2f}" for value in found.cosines],
    )  # fmt: skip
    return panel


def analogies_by_class(found: ByClass, style: Style = STYLE) -> Figure:
    """A row for each class: the share of right answers in three ways, with 95% intervals."""
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    names = [text(f"figure.class_{name.replace('-', '_')}") for name in found.classes]
    panel = sheet.panel(
        axes.percent(text("figure.analogy_right")),
        axes.names(names, text("figure.analogy_class"), range=[len(names) + 0.6, 0.4]),
    )
    colors = palette.prediction, palette.rnn, palette.baseline
    for place, (way, color, symbol) in enumerate(
        zip(WAYS, colors, ("circle", "diamond", "square-open"), strict=True)
    ):
        shares = found.of(way)
        panel.points(
            100 * shares.share, np.arange(1, len(names) + 1) + _ASIDE * (place - 1),
            text(f"figure.way_{way}"), color, symbol=symbol, size=8, hover="%{x:.0f}%",
            error_x=whisker(100 * shares.share, 100 * shares.low, 100 * shares.high, color,
                            thickness=1.4, width=3),
        )  # fmt: skip
    best = found.of("excluded").share
    said: dict[str, Any] = {way: number(100 * found.overall(way).share) for way in WAYS}
    return sheet.described(
        "alt.analogies_by_class", names={"y": names}, questions=found.questions,
        best=names[int(best.argmax())], worst=names[int(best.argmin())], **said,
    )  # fmt: skip
