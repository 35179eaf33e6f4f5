"""Two systems on the same sentences: running accuracy, paired answers, confusion."""

from __future__ import annotations

from unicodedata import east_asian_width

import numpy as np

from seqviz.core.i18n import number, percent
from seqviz.core.units import unbroken
from seqviz.figures.bert_accuracy import bars_and_labels
from seqviz.plotting import NAMED, STYLE, Figure, Panel, Sheet, Style, axes, escape, short
from seqviz.plotting.scales import ColorScale, flat, sign_color
from seqviz.stats.proportions import Confusion, Paired, Proportion, of

_LOOKS = (("prediction", "solid", "circle"), ("rnn", "dash", "diamond"))  # first, second system
_SETTLED = 40  # number of sentences below which intervals may exceed the axis
_LONGEST = 22  # maximum number of characters of a name at the end of a line
_CLEAR = "rgba(0,0,0,0)"
_COLORS = [[0, sign_color(-1, 0)], [1, sign_color(-1, 0.7)]]
_KINDS = ("right_negative", "wrong_positive", "wrong_negative", "right_positive")


def running_accuracy(
    first: Proportion, second: Proportion, names: tuple[str, str], n: int, style: Style = STYLE
) -> Figure:
    """Plot the accuracy of two systems on the first 1, 2, ... sentences, with 95% bands.

    Args:
        first: accuracy of the first system by number of sentences.
        second: accuracy of the second system.
        names: names of the systems.
        n: marked number of sentences, at which both values are written.
        style: language, theme and scale of the figure.

    Raises:
        ValueError: n is not in 1 ... number of sentences.
    """
    label, palette, count = style.labels("figure.acc_"), style.palette, len(first.n)
    if not 1 <= n <= count:
        raise ValueError(f"There are 1 to {count:,} sentences, not {n:,}.")
    both, visible = (100 * first, 100 * second), [escape(name) for name in names]
    styles = [(getattr(palette, role), dash, symbol) for role, dash, symbol in _LOOKS]
    start = min(_SETTLED, count) - 1
    ends = bars_and_labels.fitted(*(end[start:] for each in both for end in each.ci), above=0.02)
    sheet, size = Sheet(style), [0, max(count, 2)]
    longest = max(_width(short(name, _LONGEST)) for name in names)
    sheet.margin(r=(46 + 7.5 * longest) * style.scale, t=52 * style.scale)
    panel = sheet.panel(
        axes.axis(label("first_sentences"), range=size, tickformat=",d", nticks=4, tickangle=0),
        axes.percent(label("accuracy"), *ends),
    )
    for each, (color, *_) in zip(both, styles, strict=True):
        panel.band(each.n, *each.ci, color)
    for each, name, line_style in zip(both, visible, styles, strict=True):
        bars_and_labels.curve(panel, each.n, each.mean, name, line_style, legend=False)
    for each, name, (color, _, symbol) in zip(both, visible, styles, strict=True):
        panel.points([n], [each.mean[n - 1]], label("at_n", name=name, n=n), color, size=11,
                     symbol=symbol, edge={"width": 2, "color": palette.truth},
                     hover=False, legend=False)  # fmt: skip
    panel.vertical(n, palette.highlight)
    at_ends = [escape(short(name, _LONGEST)) for name in names]
    heights = [float(each.mean[-1]) for each in both]
    panel.ends(at_ends, [color for color, *_ in styles], heights, count, ends)
    values = [
        bars_and_labels.format_proportion(each[n - 1], style.text) for each in (first, second)
    ]
    lines = [f"{name}: {words}" for name, words in zip(visible, values, strict=True)]
    sheet.headline("<br>".join(lines), size=13, yshift=4)
    return sheet.described("alt.acc_running", n=n, all=count, first=names[0], second=names[1],
                           values="; ".join(values))  # fmt: skip


def _width(name: str) -> int:
    """Return the width in letters; a Chinese character is as wide as two."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in name)


def paired_answers(paired: Paired, names: tuple[str, str], style: Style = STYLE) -> Figure:
    """Plot on how many sentences both systems are right, only one of the two, or neither.

    McNemar's test uses the two tiles with a frame only, where the systems differ.
    """
    label, palette = style.labels("figure.acc_"), style.palette
    first, second = (escape(name) for name in names)
    answers = [label("answer_right"), label("answer_wrong")]
    across, up = (
        axes.names(answers, label("answers_of", name=name), range=span, tickangle=angle)
        for name, span, angle in ((second, [0.5, 2.5], 0), (first, [2.5, 0.5], -90))
    )
    sheet = Sheet(style)
    sheet.margin(t=34 * style.scale)
    panel = sheet.panel(across, up)
    counts = np.array([[paired.both, paired.only_first], [paired.only_second, paired.neither]])
    panel.cells(counts, label("sentences"), flat(_CLEAR), bar=None, hover="%{z:,d}" + NAMED)
    tiles = (("both", None), ("first", palette.prediction), ("second", palette.rnn),
             ("neither", None))  # fmt: skip
    for at, ((kind, frame), count) in enumerate(zip(tiles, counts.ravel().tolist(), strict=True)):
        words = label(f"pair_{kind}", first=first, second=second)
        share = percent(count / paired.n if paired.n else float("nan"))
        _tile(panel, 1 + at % 2, 1 + at // 2, count, f"{words}<br>{share}", frame)
    p = unbroken("< 0.001" if paired.p < 0.001 else f"= {number(paired.p)}")
    sheet.headline(label("differ", count=paired.only_first + paired.only_second, n=paired.n, p=p))
    return sheet.described("alt.acc_paired", names={"x": answers, "y": answers}, first=names[0],
                           second=names[1], pair=paired, p=p)  # fmt: skip


def _tile(panel: Panel, x: int, y: int, count: int, words: str, frame: str | None) -> None:
    """Draw a count with text below it, muted without a frame."""
    palette, scale = panel.style.palette, panel.style.scale
    size = (30 if frame else 20) * scale
    panel.rectangle(
        (x - 0.47, x + 0.47), (y - 0.47, y + 0.47), frame or palette.grid,
        width=4 if frame else 0, fillcolor=palette.band if frame else palette.grid,
        opacity=1 if frame else 0.5, layer="below",
    )  # fmt: skip
    large = f"<span style='font-size:{size:g}px'><b>{count:,}</b></span>"
    panel.words(f"{large}<br>{words}", x, y)


def confusion_matrices(
    first: Confusion, second: Confusion, names: tuple[str, str], style: Style = STYLE
) -> Figure:
    """Plot both systems' confusion matrices with counts and percent of rows.

    Args:
        first: confusion of the first system.
        second: confusion of the second system.
        names: names of the systems.
        style: language, theme and scale of the figure.
    """
    label = style.labels("figure.acc_")
    classes = [label("negative"), label("class_positive")]
    scale = ColorScale(_COLORS, 0, max(1, int(first.counts.max()), int(second.counts.max())))
    sheet = Sheet(style)
    sheet.margin(t=34 * style.scale)
    predicted = axes.names(classes, label("predicted"), range=[0.5, 2.5])
    actual = axes.names(classes, label("actual"), range=[2.5, 0.5], tickangle=-90)
    blank = {
        **actual,
        "title": {"text": ""},
        "showticklabels": False,
    }  # the labels of the left panel apply
    panels = sheet.row((predicted, actual), (predicted, blank), gaps=(0.46, 0.54))
    values = []
    for panel, result, name, (role, *_) in zip(panels, (first, second), names, _LOOKS, strict=True):
        right = of(int(np.trace(result.counts)), int(result.counts.sum()))
        words = bars_and_labels.format_proportion(right, style.text)
        color = getattr(style.palette, role)
        panel.title(f"{escape(short(name, _LONGEST))}: {words}", color=color)
        _matrix(panel, result, f"{label('sentences')}, {escape(name)}", scale)
        kinds = dict(zip(_KINDS, result.counts.ravel().tolist(), strict=True))
        values.append(label("confused", name=name, **kinds))
    axis_names = dict.fromkeys(("x", "y", "x2", "y2"), classes)
    return sheet.described("alt.acc_confusion", values="; ".join(values), names=axis_names, gap=0.2)


def _matrix(panel: Panel, confusion: Confusion, name: str, scale: ColorScale) -> None:
    """Draw the confusion matrix with counts and percent of rows."""
    style = panel.style
    rows = [[of(int(cell), int(row.sum())) for cell in row] for row in confusion.counts]
    words = [[f"<b>{item.correct:,}</b><br>{percent(item.share)}" for item in row] for row in rows]
    of_class = style.text("figure.acc_of_the_class", said="%{customdata}")
    summaries = [
        [bars_and_labels.format_proportion(each, style.text) for each in row] for row in rows
    ]
    panel.cells(
        confusion.counts, name, scale, bar=None, xgap=3, ygap=3, text=words,
        texttemplate="%{text}", textfont={"size": 16 * style.scale, "color": style.palette.truth},
        customdata=summaries, hover=f"<b>%{{z:,d}}</b><br>{of_class}",
    )  # fmt: skip
