"""Masked-token prediction where the token is masked, replaced or kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from seqviz.compute.bert_accuracy.results import TREATMENTS, FillIn, Guesses
from seqviz.core.i18n import percent
from seqviz.figures.bert_accuracy import bars_and_labels
from seqviz.figures.bert_accuracy.bars import Row, bar_panel, format_rows
from seqviz.plotting import NAMED, STYLE, Figure, Panel, Sheet, Style, axes, escape, short
from seqviz.stats.proportions import of_share

_ROLES = {  # role of the color, dash and marker of each treatment
    "mask": ("prediction", "solid", "circle"),
    "random": ("rnn", "dash", "square"),
    "kept": ("gru", "longdashdot", "diamond"),
}
_LONGEST = 14  # maximum number of characters of a candidate
_BETWEEN = 0.13  # gap between two panels of candidates, as a share of the width


def fill_in_accuracy(fill_in: FillIn, style: Style = STYLE) -> Figure:
    """Plot how often the token is the first guess (left), or among the first five (right).

    One bar, with interval and n, is one treatment. Dotted: guessing the most frequent tokens.
    """
    label, palette, sheet = style.labels("figure.acc_"), style.palette, Sheet(style)
    names: dict[str, list[str]] = {}
    words: dict[str, Any] = {}
    for across, best in (((0, 0.45), 1), ((0.55, 1), 5)):
        rows = [
            Row(_name(item, style), fill_in.top(best, index), getattr(palette, _ROLES[item][0]))
            for index, item in enumerate(TREATMENTS)
        ]
        guess = Row(label("frequent_short"), fill_in.by_frequency(best), palette.baseline)
        names |= bar_panel(sheet, across, label(f"top_{best}"), rows, label("reads"), guess)
        words[f"top_{best}"] = format_rows(rows, style.text)
        words[f"frequent_{best}"] = guess.proportion.share
    return sheet.described("alt.acc_fill", names=names, gap=0.18, n=len(fill_in.rank), **words,
                           frequent=label("frequent_short"))  # fmt: skip


def fill_in_accuracy_by_share(
    fill_ins: tuple[FillIn, ...], share: float, style: Style = STYLE
) -> Figure:
    """Plot the accuracy of the first guess by the share of tokens selected.

    Args:
        fill_ins: one result for each share, in any order.
        share: share of the tokens in [0, 1], marked by the vertical line.
        style: language, theme and scale of the figure.
    """
    label, palette = style.labels("figure.acc_"), style.palette
    fill_ins = tuple(sorted(fill_ins, key=lambda item: item.settings.share))
    x = 100 * np.array([item.settings.share for item in fill_ins])
    last = float(x[-1]) if len(x) else 1.0
    ranks = [[item.top(1, index) for item in fill_ins] for index in range(len(TREATMENTS))]
    right = [100 * of_share(np.array([each.share for each in row], float),
                            np.array([each.n for each in row], int)) for row in ranks]  # fmt: skip
    guess = 100 * np.array([item.by_frequency(1).share for item in fill_ins], float)
    ends = bars_and_labels.fitted(*(part for row in right for part in (row.mean, *row.ci)), guess)
    sheet = Sheet(style)
    sheet.margin(r=104 * style.scale, t=20)
    panel = sheet.panel(
        axes.axis(label("selected"), range=[0, 1.01 * last]),
        axes.percent(label("first_right"), *ends),
    )
    names = [_name(item, style) for item in TREATMENTS]
    styles = [(getattr(palette, role), dash, mark) for role, dash, mark in _ROLES.values()]
    hover = "%{x:.0f}%: %{customdata}" + NAMED
    for row, rank, name, look in zip(right, ranks, names, styles, strict=True):
        words = [bars_and_labels.format_proportion(item, style.text) for item in rank]
        keys = {"customdata": words, "hover": hover, "legend": False}
        bars_and_labels.curve(panel, x, row.mean, name, look, **keys)
    panel.reference(x, guess, label("frequent_plain"), legend=False)
    for row, (color, *_) in zip(right, styles, strict=True):
        panel.band(x, *row.ci, color)
    panel.vertical(100 * share, palette.highlight)
    if fill_ins:
        colors = [*(color for color, *_ in styles), palette.baseline]
        heights = [*(float(row.mean[-1]) for row in right), float(guess[-1])]
        panel.ends([*names, label("frequent_short")], colors, heights, last, ends)
    read = [f"{name}: {percent(_read(x, row.mean, share))}"
            for name, row in zip(names, right, strict=True)]  # fmt: skip
    bars_and_labels.reading(panel, f"<b>{percent(share, 0)}: {read[0]}</b>", 100 * share, last)
    return sheet.described("alt.acc_fill_curves", shares=len(fill_ins), share=share,
                           values="; ".join(read), baseline=_read(x, guess, share))  # fmt: skip


def best_guesses(guesses: Guesses, style: Style = STYLE) -> Figure:
    """Plot the best guesses at one position in a panel for each condition, the truth marked.

    A truth that is not among them stands below, with its rank. The panels share their scale.
    """
    text, sheet, count = style.text, Sheet(style), max(len(guesses.conditions), 1)
    width = (1 - _BETWEEN * (count - 1)) / count
    names: dict[str, list[str]] = {}
    values = []
    probabilities = (guesses.probability, guesses.truth_probability)
    highest = 100 * max(float(np.nanmax(each, initial=0.0)) for each in probabilities)
    for row, condition in enumerate(guesses.conditions):
        words = list(guesses.candidates[row])
        probability = 100 * np.asarray(guesses.probability[row], float)
        rank, of_truth = int(guesses.rank[row]), 100 * float(guesses.truth_probability[row])
        if guesses.truth not in words:
            words += ["", guesses.truth]
            probability = np.append(probability, [np.nan, of_truth])
        kind = "hidden" if condition in TREATMENTS else "condition"
        start, name = row * (width + _BETWEEN), text(f"figure.acc_{kind}_{condition}")
        panel = sheet.panel(
            _chances(highest, style), _candidates(words, guesses.truth, style),
            across=(start, min(start + width, 1)),
            title=text("figure.acc_rank", condition=name, rank=rank),
        )  # fmt: skip
        _bars(panel, words, probability, guesses.truth, name)
        names[panel.y] = words
        values.append(text("alt.acc_guesses_one", condition=name, best=words[0], rank=rank,
                           first=float(probability[0]), of_truth=of_truth))  # fmt: skip
    return sheet.described("alt.acc_guesses", names=names, gap=0.1, truth=guesses.truth,
                           values="; ".join(values))  # fmt: skip


def _name(condition: str, style: Style) -> str:
    return style.text(f"figure.acc_condition_{condition}")


def _read(x: np.ndarray, y: np.ndarray, share: float) -> float:
    """Return the interpolated value of a line in percent at `share`, as a share; nan if empty."""
    return float(np.interp(100 * share, x, y)) / 100 if len(x) else float("nan")


def _chances(highest: float, style: Style) -> dict[str, object]:
    """Return the axis of probabilities, with room for text at a bar of the highest."""
    last = 1.55 * (highest or 1.0)
    ticks = {"tickvals": [0, 50, 100]} if last > 100 else {"nticks": 4}
    return axes.axis(style.text("figure.acc_probability"), range=[0, last], **ticks)


def _candidates(words: Sequence[str], truth: str, style: Style) -> dict[str, object]:
    """Return the axis of candidates, best on top, the truth in bold."""
    positions = {
        position: escape(short(word, _LONGEST)) for position, word in enumerate(words, 1) if word
    }
    labels = [f"<b>{word}</b>" if words[position - 1] == truth else word
              for position, word in positions.items()]  # fmt: skip
    return axes.axis(style.text("figure.acc_guess"), range=[len(words) + 0.6, 0.4],
                     tickvals=list(positions), ticktext=labels, showgrid=False)  # fmt: skip


def _bars(panel: Panel, words: Sequence[str], percents: np.ndarray, truth: str, name: str) -> None:
    """Draw horizontal bars with their numbers; the truth is highlighted, hatched and named."""
    palette = panel.style.palette
    true = [word == truth for word in words]
    pattern = {"shape": ["/" if hit else "" for hit in true], "fillmode": "overlay",
               "fgcolor": palette.grid, "size": 7}  # fmt: skip
    colors = [palette.highlight if hit else palette.prediction for hit in true]
    panel.ranked_bars(
        percents, name, colors, width=0.7, marker={"color": colors, "pattern": pattern},
        customdata=[escape(word) for word in words], hover="%{customdata}: %{x:.3g}%" + NAMED,
        legend=False,
    )  # fmt: skip
    for position, (value, hit) in enumerate(zip(percents.tolist(), true, strict=True), 1):
        if np.isfinite(value):
            labels = "< 0.1" if value < 0.05 else f"{value:.1f}"
            labels = f"<b>{labels} {panel.style.text('figure.acc_truth')}</b>" if hit else labels
            panel.words(labels, value, position, xanchor="left", xshift=4)
