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


def fill_in_accuracy(found: FillIn, style: Style = STYLE) -> Figure:
    """Share of the places whose token is the first guess (left), among the first five (right).

    A bar a treatment, with interval and n. Dotted: the most frequent tokens are guessed everywhere.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    names: dict[str, list[str]] = {}
    said = []
    for across, best in (((0, 0.45), 1), ((0.55, 1), 5)):
        rows = [
            Row(_name(one, style), found.top(best, place), getattr(palette, _ROLES[one][0]))
            for place, one in enumerate(TREATMENTS)
        ]
        frequent = found.by_frequency(best)
        guess = Row(text("figure.acc_frequent_short"), frequent, palette.baseline)
        title = text(f"figure.acc_top_{best}")
        names |= bar_panel(sheet, across, title, rows, text("figure.acc_reads"), guess)
        words = [
            f"{row.name}: {bars_and_labels.format_proportion(row.found, style.text)}"
            for row in rows
        ]
        said.append("; ".join([*words, f"{guess.name}: {percent(frequent.share)}"]))
    alt = text("alt.acc_fill", n=f"{len(found.rank):,}", first=said[0], five=said[1])
    return sheet.finish(alt, names, gap=0.18)


def fill_in_accuracy_by_share(
    found: tuple[FillIn, ...], share: float, style: Style = STYLE
) -> Figure:
    """Share of first guesses that are right against the share of the tokens selected.

    found: one for each share, in any order. share: of the tokens, 0 to 1; marked by the upright
    line.
    """
    text, palette = style.text, style.palette
    found = tuple(sorted(found, key=lambda one: one.settings.share))
    x = np.array([one.settings.share for one in found])
    last = 100 * float(x[-1]) if len(x) else 1.0
    right = [[one.top(1, place) for one in found] for place in range(len(TREATMENTS))]
    middle, low, high = (
        np.array([[getattr(one, end) for one in row] for row in right], float)
        for end in ("share", "low", "high")
    )
    guess = np.array([one.by_frequency(1).share for one in found], float)
    ends = bars_and_labels.fitted(100 * middle, 100 * low, 100 * high, 100 * guess)
    sheet = Sheet(style)
    sheet.margin(r=104 * style.scale, t=20)
    panel = sheet.panel(
        axes.axis(text("figure.acc_selected"), range=[0, 1.01 * last]),
        axes.percent(text("figure.acc_first_right"), *ends),
    )
    names = [_name(one, style) for one in TREATMENTS]
    looks = [(getattr(palette, role), dash, mark) for role, dash, mark in _ROLES.values()]
    for row, (name, look) in enumerate(zip(names, looks, strict=True)):
        words = [bars_and_labels.format_proportion(one, style.text) for one in right[row]]
        keys = {"customdata": words, "hover": "%{x:.0f}%: %{customdata}" + NAMED, "legend": False}
        bars_and_labels.curve(panel, 100 * x, 100 * middle[row], name, look, **keys)
    panel.reference(100 * x, 100 * guess, text("figure.acc_frequent_plain"), legend=False)
    for row, (color, *_) in enumerate(looks):
        panel.band(100 * x, 100 * low[row], 100 * high[row], color)
    panel.vertical(100 * share, palette.highlight)
    if found:
        panel.ends(
            [*names, text("figure.acc_frequent_short")],
            [*(color for color, *_ in looks), palette.baseline],
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
        shares=len(found),
        share=percent(share, 0),
        values="; ".join(read),
        baseline=percent(_read(x, guess, share)),
    )


def best_guesses(found: Guesses, style: Style = STYLE) -> Figure:
    """The best guesses at one place, a panel a condition, with the truth marked.

    Where the truth is not among them it stands below, with its rank.
    """
    text = style.text
    count = max(len(found.conditions), 1)
    width = (1 - _BETWEEN * (count - 1)) / count
    sheet = Sheet(style)
    names: dict[str, list[str]] = {}
    said = []
    for row, condition in enumerate(found.conditions):
        words = list(found.candidates[row])
        chance = 100 * np.asarray(found.probability[row], float)
        rank, of_truth = f"{int(found.rank[row]):,}", 100 * float(found.chance[row])
        if found.truth not in words:
            words, chance = [*words, "", found.truth], np.append(chance, [np.nan, of_truth])
        start = row * (width + _BETWEEN)
        name = text(f"figure.acc_condition_{condition}")
        panel = sheet.panel(
            _chances(chance, style),
            _candidates(words, found.truth, style),
            across=(start, min(start + width, 1)),
            title=text("figure.acc_rank", condition=name, rank=rank),
        )
        _bars(panel, words, chance, found.truth, name)
        names[panel.y] = words
        best, first = (words[0], number(float(chance[0]))) if len(chance) else ("–", "–")
        more = {"best": best, "chance": first, "rank": rank, "truth": number(of_truth)}
        said.append(text("alt.acc_guesses_one", condition=name, **more))
    alt = text("alt.acc_guesses", truth=found.truth, values="; ".join(said))
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
    places = {place: escape(short(word, _LONGEST)) for place, word in enumerate(words, 1) if word}
    return axes.axis(
        style.text("figure.acc_guess"),
        range=[len(words) + 0.6, 0.4],
        tickvals=list(places),
        ticktext=[
            f"<b>{word}</b>" if words[place - 1] == truth else word
            for place, word in places.items()
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
    for place, (value, hit) in enumerate(zip(percents.tolist(), true, strict=True), 1):
        if np.isfinite(value):
            said = "< 0.1" if value < 0.05 else f"{value:.1f}"
            said = f"<b>{said} {panel.style.text('figure.acc_truth')}</b>" if hit else said
            panel.words(said, value, place, xanchor="left", xshift=4)
