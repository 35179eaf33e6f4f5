"""Two systems on the same sentences: one after another, where they differ, and how they err."""

from __future__ import annotations

from typing import Any
from unicodedata import east_asian_width

import numpy as np

from seqviz.core.i18n import number, percent
from seqviz.core.units import unbroken
from seqviz.figures.bert_accuracy import bars_and_labels
from seqviz.plotting import NAMED, STYLE, Figure, Panel, Sheet, Style, axes, escape, short
from seqviz.plotting.scales import ColorScale, flat, sign_color
from seqviz.stats.proportions import Confusion, Paired, Proportion, of

_LOOKS = (("prediction", "solid", "circle"), ("rnn", "dash", "diamond"))  # first, second system
_SETTLED = 40  # sentences before which the intervals are too wide to be shown whole
_LONGEST = 22  # characters of a name at the end of a line
_CLEAR = "rgba(0,0,0,0)"
_COLORS = [[0, sign_color(-1, 0)], [1, sign_color(-1, 0.7)]]
_KINDS = ("right_negative", "wrong_positive", "wrong_negative", "right_positive")


def running_accuracy(
    first: Proportion, second: Proportion, names: tuple[str, str], n: int, style: Style = STYLE
) -> Figure:
    """Accuracy of two systems on the first 1, 2, ... sentences, with 95% bands.

    n: sentences at which the two are read off. Raises ValueError for an n beyond the sentences.
    """
    text, palette = style.text, style.palette
    count = len(first.n)
    if not 1 <= n <= count:
        raise ValueError(f"There are 1 to {count:,} sentences, not {n:,}.")
    both = (first, second)
    visible = [escape(name) for name in names]
    styles = [(getattr(palette, role), dash, symbol) for role, dash, symbol in _LOOKS]
    start = min(_SETTLED, count) - 1
    late = [100 * part[start:] for result in both for part in (result.low, result.high)]
    ends = bars_and_labels.fitted(*late, above=0.02)
    longest = max(_width(short(name, _LONGEST)) for name in names)
    sheet = Sheet(style)
    sheet.margin(r=(46 + 7.5 * longest) * style.scale, t=52 * style.scale)
    sentences = text("figure.acc_first_sentences")
    panel = sheet.panel(
        axes.axis(sentences, range=[0, max(count, 2)], tickformat=",d", nticks=4, tickangle=0),
        axes.percent(text("figure.acc_accuracy"), *ends),
    )
    for outcome, (color, *_) in zip(both, styles, strict=True):
        panel.band(outcome.n, 100 * outcome.low, 100 * outcome.high, color)
    for outcome, name, line_style in zip(both, visible, styles, strict=True):
        bars_and_labels.curve(panel, outcome.n, 100 * outcome.share, name, line_style, legend=False)
    for outcome, name, (color, _, symbol) in zip(both, visible, styles, strict=True):
        at = text("figure.acc_at_n", name=name, n=n)
        keys: dict[str, Any] = {
            "edge": {"width": 2, "color": palette.truth},
            "hover": False,
            "legend": False,
        }
        height = 100 * float(outcome.share[n - 1])
        panel.points([n], [height], at, color, size=11, symbol=symbol, **keys)
    panel.vertical(n, palette.highlight)
    last = [100 * float(result.share[-1]) for result in both]
    at_ends = [escape(short(name, _LONGEST)) for name in names]
    panel.ends(at_ends, [color for color, *_ in styles], last, count, ends)
    labels = [bars_and_labels.format_proportion(result[n - 1], style.text) for result in both]
    lines = [f"{name}: {words}" for name, words in zip(visible, labels, strict=True)]
    sheet.headline("<br>".join(lines), size=13, yshift=4)
    words = {"first": names[0], "second": names[1], "values": "; ".join(labels)}
    return sheet.finish(text("alt.acc_running", n=n, all=count, **words))


def _width(name: str) -> int:
    """In letters; a Chinese character is as wide as two."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in name)


def paired_answers(paired: Paired, names: tuple[str, str], style: Style = STYLE) -> Figure:
    """On how many sentences both are right, only the one, only the other, neither.

    McNemar's test looks at the two tiles with a frame only: there the systems differ.
    """
    text, palette = style.text, style.palette
    first, second = (escape(name) for name in names)
    answers = [text("figure.acc_answer_right"), text("figure.acc_answer_wrong")]
    across, up = (
        axes.names(answers, text("figure.acc_answers_of", name=name), range=span, tickangle=angle)
        for name, span, angle in ((second, [0.5, 2.5], 0), (first, [2.5, 0.5], -90))
    )
    sheet = Sheet(style)
    sheet.margin(t=34 * style.scale)
    panel = sheet.panel(across, up)
    counts = np.array([[paired.both, paired.only_first], [paired.only_second, paired.neither]])
    hover = "%{z:,d}" + NAMED
    panel.cells(counts, text("figure.acc_sentences"), flat(_CLEAR), bar=None, hover=hover)
    for kind, role, x, y, count in (
        ("both", None, 1, 1, paired.both),
        ("first", "prediction", 2, 1, paired.only_first),
        ("second", "rnn", 1, 2, paired.only_second),
        ("neither", None, 2, 2, paired.neither),
    ):
        words = text(f"figure.acc_pair_{kind}", first=first, second=second)
        share = percent(count / paired.n if paired.n else float("nan"))
        frame = getattr(palette, role) if role else None
        _tile(panel, x, y, count, f"{words}<br>{share}", frame)
    p = unbroken("< 0.001" if paired.p < 0.001 else f"= {number(paired.p)}")
    n, differing = f"{paired.n:,}", f"{paired.only_first + paired.only_second:,}"
    sheet.headline(text("figure.acc_differ", count=differing, n=n, p=p))
    kinds = ("both", "only_first", "only_second", "neither")
    values = {kind: f"{getattr(paired, kind):,}" for kind in kinds}
    alt = text("alt.acc_paired", first=names[0], second=names[1], n=n, p=p, **values)
    return sheet.finish(alt, {"x": answers, "y": answers})


def _tile(panel: Panel, x: int, y: int, count: int, words: str, frame: str | None) -> None:
    """A count with words below it; one without a frame is quiet."""
    palette, scale = panel.style.palette, panel.style.scale
    size = (30 if frame else 20) * scale
    panel.rectangle(
        (x - 0.47, x + 0.47),
        (y - 0.47, y + 0.47),
        frame or palette.grid,
        width=4 if frame else 0,
        fillcolor=palette.band if frame else palette.grid,
        opacity=1 if frame else 0.5,
        layer="below",
    )
    large = f"<span style='font-size:{size:g}px'><b>{count:,}</b></span>"
    panel.words(f"{large}<br>{words}", x, y)


def confusion_matrices(
    first: Confusion, second: Confusion, names: tuple[str, str], style: Style = STYLE
) -> Figure:
    """What each system says of the negative and of the positive sentences: counts, row percent."""
    text = style.text
    classes = [text("figure.acc_negative"), text("figure.acc_class_positive")]
    scale = ColorScale(_COLORS, 0, max(1, int(first.counts.max()), int(second.counts.max())))
    sheet = Sheet(style)
    sheet.margin(t=34 * style.scale)
    values = []
    for result, name, across, (role, *_) in zip(
        (first, second), names, ((0, 0.46), (0.54, 1)), _LOOKS, strict=True
    ):
        predicted = axes.names(classes, text("figure.acc_predicted"), range=[0.5, 2.5])
        actual = axes.names(classes, text("figure.acc_actual"), range=[2.5, 0.5], tickangle=-90)
        if across[0]:  # the neighbor's labels hold for both
            actual |= {"title": {"text": ""}, "showticklabels": False}
        right = of(int(np.trace(result.counts)), int(result.counts.sum()))
        panel = sheet.panel(predicted, actual, across=across)
        summary = (
            f"{escape(short(name, _LONGEST))}: {bars_and_labels.format_proportion(right, text)}"
        )
        panel.title(summary, color=getattr(style.palette, role))
        _matrix(panel, result, f"{text('figure.acc_sentences')}, {escape(name)}", scale)
        counts = zip(_KINDS, result.counts.ravel().tolist(), strict=True)
        kinds = {kind: f"{count:,}" for kind, count in counts}
        values.append(text("figure.acc_confused", name=name, **kinds))
    axis_names = dict.fromkeys(("x", "y", "x2", "y2"), classes)
    return sheet.described("alt.acc_confusion", values="; ".join(values), names=axis_names, gap=0.2)


def _matrix(panel: Panel, confusion: Confusion, name: str, scale: ColorScale) -> None:
    """A count and the percent of its row in each cell."""
    style = panel.style
    rows = [[of(int(cell), int(row.sum())) for cell in row] for row in confusion.counts]
    words = [[f"<b>{item.correct:,}</b><br>{percent(item.share)}" for item in row] for row in rows]
    of_class = style.text("figure.acc_of_the_class", said="%{customdata}")
    panel.cells(
        confusion.counts,
        name,
        scale,
        bar=None,
        xgap=3,
        ygap=3,
        text=words,
        texttemplate="%{text}",
        textfont={"size": 16 * style.scale, "color": style.palette.truth},
        customdata=[
            [bars_and_labels.format_proportion(item, style.text) for item in row] for row in rows
        ],
        hover=f"<b>%{{z:,d}}</b><br>{of_class}",
    )
