"""Filling in: how often the token is guessed where it is masked, replaced, or left alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seqviz.compute.bert_accuracy.results import TREATMENTS, FillIn, Guesses
from seqviz.core.i18n import number, percent
from seqviz.figures.bert_accuracy import bars_and_labels
from seqviz.figures.bert_accuracy.bars import Row, bar_panel
from seqviz.plotting import NAMED, STYLE, Figure, Panel, Sheet, Style, axes, escape, short

_ROLES = {  # of each treatment: role of its color, dash, marker
    "mask": ("prediction", "solid", "circle"),
    "random": ("rnn", "dash", "square"),
    "kept": ("gru", "longdashdot", "diamond"),
}
_LONGEST = 14  # characters of a candidate beside its bar
_BETWEEN = 0.13  # of the width, between two panels of candidates


def fill_in_accuracy(fill_in: FillIn, style: Style = STYLE) -> Figure:
    """Share of the places whose token is the first guess (left), among the first five (right).

    A bar a treatment, with interval and n. Dotted: the most frequent tokens are guessed everywhere.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    names: dict[str, list[str]] = {}
    labels = []
    for across, best in (((0, 0.45), 1), ((0.55, 1), 5)):
        rows = [
            Row(_name(item, style), fill_in.top(best, index), getattr(palette, _ROLES[item][0]))
            for index, item in enumerate(TREATMENTS)
        ]
        frequent = fill_in.by_frequency(best)
        guess = Row(text("figure.acc_frequent_short"), frequent, palette.baseline)
        title = text(f"figure.acc_top_{best}")
        names |= bar_panel(sheet, across, title, rows, text("figure.acc_reads"), guess)
        words = [
            f"{row.name}: {bars_and_labels.format_proportion(row.proportion, style.text)}"
            for row in rows
        ]
        labels.append("; ".join([*words, f"{guess.name}: {percent(frequent.share)}"]))
    alt = text("alt.acc_fill", n=len(fill_in.rank), first=labels[0], five=labels[1])
    return sheet.finish(alt, names, gap=0.18)


def fill_in_accuracy_by_share(
    fill_ins: tuple[FillIn, ...], share: float, style: Style = STYLE
) -> Figure:
    """Share of first guesses that are right against the share of the tokens selected.

    fill_ins: one for each share, in any order. share: of the tokens, 0 to 1; marked by the upright
    line.
    """
    text, palette = style.text, style.palette
    fill_ins = tuple(sorted(fill_ins, key=lambda item: item.settings.share))
    x = np.array([item.settings.share for item in fill_ins])
    last = 100 * float(x[-1]) if len(x) else 1.0
    right = [[item.top(1, index) for item in fill_ins] for index in range(len(TREATMENTS))]
    middle, low, high = (
        np.array([[getattr(item, end) for item in row] for row in right], float)
        for end in ("share", "low", "high")
    )
    guess = np.array([item.by_frequency(1).share for item in fill_ins], float)
    ends = bars_and_labels.fitted(100 * middle, 100 * low, 100 * high, 100 * guess)
    sheet = Sheet(style)
    sheet.margin(r=104 * style.scale, t=20)
    panel = sheet.panel(
        axes.axis(text("figure.acc_selected"), range=[0, 1.01 * last]),
        axes.percent(text("figure.acc_first_right"), *ends),
    )
    names = [_name(item, style) for item in TREATMENTS]
    styles = [(getattr(palette, role), dash, mark) for role, dash, mark in _ROLES.values()]
    for row, (name, line_style) in enumerate(zip(names, styles, strict=True)):
        words = [bars_and_labels.format_proportion(item, style.text) for item in right[row]]
        keys = {"customdata": words, "hover": "%{x:.0f}%: %{customdata}" + NAMED, "legend": False}
        bars_and_labels.curve(panel, 100 * x, 100 * middle[row], name, line_style, **keys)
    panel.reference(100 * x, 100 * guess, text("figure.acc_frequent_plain"), legend=False)
    for row, (color, *_) in enumerate(styles):
        panel.band(100 * x, 100 * low[row], 100 * high[row], color)
    panel.vertical(100 * share, palette.highlight)
    if fill_ins:
        panel.ends(
            [*names, text("figure.acc_frequent_short")],
            [*(color for color, *_ in styles), palette.baseline],
            [*(100 * middle[:, -1]).tolist(), 100 * float(guess[-1])],
            last,
            ends,
        )
    read = [
        f"{name}: {percent(_read(x, line, share))}"
        for name, line in zip(names, middle, strict=True)
    ]
    bars_and_labels.reading(panel, f"<b>{percent(share, 0)}: {read[0]}</b>", 100 * share, last)
    return sheet.described(
        "alt.acc_fill_curves",
        shares=len(fill_ins),
        share=share,
        values="; ".join(read),
        baseline=_read(x, guess, share),
    )


def best_guesses(guesses: Guesses, style: Style = STYLE) -> Figure:
    """The best guesses at one place, a panel a condition, with the truth marked.

    Where the truth is not among them it stands below, with its rank.
    """
    text = style.text
    count = max(len(guesses.conditions), 1)
    width = (1 - _BETWEEN * (count - 1)) / count
    sheet = Sheet(style)
    names: dict[str, list[str]] = {}
    labels = []
    for row, condition in enumerate(guesses.conditions):
        words = list(guesses.candidates[row])
        probability = 100 * np.asarray(guesses.probability[row], float)
        rank, of_truth = f"{int(guesses.rank[row]):,}", 100 * float(guesses.truth_probability[row])
        if guesses.truth not in words:
            words, probability = (
                [*words, "", guesses.truth],
                np.append(probability, [np.nan, of_truth]),
            )
        start = row * (width + _BETWEEN)
        name = text(f"figure.acc_condition_{condition}")
        panel = sheet.panel(
            _chances(probability, style),
            _candidates(words, guesses.truth, style),
            across=(start, min(start + width, 1)),
            title=text("figure.acc_rank", condition=name, rank=rank),
        )
        _bars(panel, words, probability, guesses.truth, name)
        names[panel.y] = words
        best, first = (words[0], number(float(probability[0]))) if len(probability) else ("–", "–")
        more = {"best": best, "chance": first, "rank": rank, "truth": number(of_truth)}
        labels.append(text("alt.acc_guesses_one", condition=name, **more))
    alt = text("alt.acc_guesses", truth=guesses.truth, values="; ".join(labels))
    return sheet.finish(alt, names, gap=0.1)


def _name(condition: str, style: Style) -> str:
    return style.text(f"figure.acc_condition_{condition}")


def _read(x: np.ndarray, y: np.ndarray, share: float) -> float:
    """The line's height at `share`, straight between two points; nan of none."""
    return float(np.interp(share, x, y)) if len(x) else float("nan")


def _chances(percents: np.ndarray, style: Style) -> dict[str, object]:
    """The axis of the probabilities, with room for number and word behind the longest bar."""
    last = 1.55 * (float(np.nanmax(percents, initial=0.0)) or 1.0)
    ticks = {"tickvals": [0, 50, 100]} if last > 100 else {"nticks": 4}
    return axes.axis(style.text("figure.acc_probability"), range=[0, last], **ticks)


def _candidates(words: Sequence[str], truth: str, style: Style) -> dict[str, object]:
    """The axis of the candidates from the best down, the truth in bold."""
    positions = {
        position: escape(short(word, _LONGEST)) for position, word in enumerate(words, 1) if word
    }
    return axes.axis(
        style.text("figure.acc_guess"),
        range=[len(words) + 0.6, 0.4],
        tickvals=list(positions),
        ticktext=[
            f"<b>{word}</b>" if words[position - 1] == truth else word
            for position, word in positions.items()
        ],
        showgrid=False,
    )


def _bars(panel: Panel, words: Sequence[str], percents: np.ndarray, truth: str, name: str) -> None:
    """Lying bars with their numbers; the truth in another color, hatched, and named."""
    palette = panel.style.palette
    true = [word == truth for word in words]
    pattern = {"shape": ["/" if hit else "" for hit in true], "fillmode": "overlay",
               "fgcolor": palette.grid, "size": 7}  # fmt: skip
    colors = [palette.highlight if hit else palette.prediction for hit in true]
    panel.bars(
        list(range(1, len(words) + 1)),
        percents,
        name,
        colors,
        sideways=True,
        width=0.7,
        marker={"color": colors, "pattern": pattern},
        customdata=[escape(word) for word in words],
        hover="%{customdata}: %{x:.3g}%" + NAMED,
        legend=False,
    )
    for position, (value, hit) in enumerate(zip(percents.tolist(), true, strict=True), 1):
        if np.isfinite(value):
            labels = "< 0.1" if value < 0.05 else f"{value:.1f}"
            labels = f"<b>{labels} {panel.style.text('figure.acc_truth')}</b>" if hit else labels
            panel.words(labels, value, position, xanchor="left", xshift=4)
