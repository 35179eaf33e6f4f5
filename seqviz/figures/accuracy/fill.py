"""Filling in: how often the token is guessed where it is masked, replaced, or left alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from seqviz.compute.accuracy.findings import TREATMENTS, FillIn, Guesses
from seqviz.compute.proportions import Proportion, of
from seqviz.figures.accuracy import parts
from seqviz.figures.accuracy.bars import Drawn, Guess, Row, add_panel
from seqviz.figures.grammar.annotations import panel_title
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.line_ends import label
from seqviz.figures.grammar.style import Style, axis_layout, finish, layout
from seqviz.figures.grammar.tokens import plain
from seqviz.text import number

_STYLE = Style()
_ROLES = {  # of each treatment: role of its color, dash, marker
    "mask": ("prediction", "solid", "circle"),
    "random": ("rnn", "dash", "square"),
    "kept": ("gru", "longdashdot", "diamond"),
}
_LONGEST = 14  # characters of a candidate beside its bar


def fill_view(found: FillIn, style: Style = _STYLE) -> Figure:
    """Share of the places whose token is the first guess (left), among the first five (right).

    A bar a treatment, with interval and n. Dotted: the most frequent tokens are guessed everywhere.
    """
    text = style.text
    drawn = Drawn()
    said = []
    for end, domain, best in (("", [0, 0.45], 1), ("2", [0.55, 1], 5)):
        rows = [
            Row(name, top(found, best, place), getattr(style.palette, _ROLES[treatment][0]))
            for place, (treatment, name) in enumerate(_named(style))
        ]
        guess = Guess(text("figure.acc_frequent_short"), by_frequency(found, best))
        titles = (text("figure.acc_reads"), text("figure.acc_right"))
        add_panel(drawn, end, domain, text(f"figure.acc_top_{best}"), rows, guess, titles, style)
        said.append(
            "; ".join(f"{row.name}: {parts.said(row.found, style)}" for row in rows)
            + f"; {guess.name}: {parts.percent(guess.found.share)} %"
        )
    spec = layout(style)
    spec |= {**drawn.axes, "annotations": drawn.annotations}
    return finish(
        {"data": drawn.data, "layout": spec},
        text("alt.acc_fill", n=f"{len(found.rank):,}", first=said[0], five=said[1]),
        names=drawn.names,
        gap=0.18,
    )


def fill_curves_view(found: tuple[FillIn, ...], share: float, style: Style = _STYLE) -> Figure:
    """Share of first guesses that are right against the share of the tokens selected.

    found: one for each share, in any order. share: in percent, marked by the upright line.
    """
    text, palette = style.text, style.palette
    found = tuple(sorted(found, key=lambda one: one.settings.share))
    x = np.array([100 * one.settings.share for one in found])
    data: list[dict[str, Any]] = []
    bands: list[dict[str, Any]] = []
    ends_at, values, read = [], [], []
    for place, (treatment, name) in enumerate(_named(style)):
        role, dash, symbol = _ROLES[treatment]
        color = getattr(palette, role)
        seen = [top(one, 1, place) for one in found]
        y, low, high = (
            100 * np.array([getattr(one, what) for one in seen], float)
            for what in ("share", "low", "high")
        )
        more: dict[str, Any] = {
            "customdata": [parts.said(one, style) for one in seen],
            "hovertemplate": "%{x:.0f} %: %{customdata}<extra>%{fullData.name}</extra>",
            "showlegend": False,
        }
        data.append(parts.line(x, y, name, color, dash, symbol, **more))
        bands.append(parts.band(x, low, high, color))
        values += [y, low, high]
        ends_at.append(float(y[-1]) if len(y) else float("nan"))
        read.append(f"{name}: {parts.percent(_read(x, y, share))} %")
    guess = 100 * np.array([by_frequency(one, 1).share for one in found], float)
    data.append(parts.dotted(x, guess, text("figure.acc_frequent_plain"), style))
    ends = parts.fitted(*values, guess)
    last = float(x[-1]) if len(x) else 1.0
    names, colors = (
        [*(name for _, name in _named(style)), text("figure.acc_frequent_short")],
        [*(getattr(palette, _ROLES[one][0]) for one in TREATMENTS), palette.baseline],
    )
    spec = layout(style)
    spec["margin"] = {**spec["margin"], "r": 104 * style.scale, "t": 20}
    spec |= {
        "xaxis": axis_layout(
            style, range=[0, 1.01 * last], title={"text": text("figure.acc_selected")}
        ),
        "yaxis": parts.percent_axis(style, text("figure.acc_first_right"), *ends),
        "shapes": [parts.upright(share, palette.highlight)],
        "annotations": [
            *parts.at_ends(names, colors, [*ends_at, *guess[-1:].tolist()], last, ends, style),
            parts.reading(f"<b>{share:.0f} %: {read[0]}</b>", share, last, style),
        ],
    }
    return finish(
        {"data": data + bands, "layout": spec},
        text(
            "alt.acc_fill_curves",
            shares=len(found),
            share=f"{share:.0f}",
            values="; ".join(read),
            baseline=parts.percent(_read(x, guess, share)),
        ),
    )


def guesses_view(found: Guesses, style: Style = _STYLE) -> Figure:
    """The best guesses at one place, a panel a condition, with the truth marked.

    Where the truth is not among them it stands below, with its rank.
    """
    text = style.text
    count = len(found.conditions)
    width = (1 - 0.13 * (count - 1)) / max(count, 1)
    data: list[dict[str, Any]] = []
    names: dict[str, list[str]] = {}
    spec = layout(style)
    spec["annotations"] = []
    said = []
    for panel, condition in enumerate(found.conditions):
        end = str(panel + 1) if panel else ""
        words = list(found.candidates[panel])
        chance = 100 * np.asarray(found.probability[panel], float)
        rank, of_truth = int(found.rank[panel]), 100 * float(found.chance[panel])
        if found.truth not in words:
            words, chance = [*words, "", found.truth], np.append(chance, [np.nan, of_truth])
        true = [word == found.truth for word in words]
        name = text(f"figure.acc_condition_{condition}")
        data.append(_candidates(words, chance, true, name, end, style))
        most = float(np.nanmax(chance, initial=0.0)) or 1.0
        start = panel * (width + 0.13)
        spec[f"xaxis{end}"] = axis_layout(
            style,
            domain=[start, min(start + width, 1)],
            anchor=f"y{end}",
            range=[0, 1.55 * most],  # room for the number and the word behind the longest bar
            **({"tickvals": [0, 50, 100]} if 1.55 * most > 100 else {"nticks": 4}),
            title={"text": text("figure.acc_probability")},
        )
        spec[f"yaxis{end}"] = axis_layout(
            style,
            anchor=f"x{end}",
            range=[len(words) + 0.6, 0.4],
            tickvals=[place for place, word in enumerate(words, 1) if word],
            ticktext=[
                f"<b>{plain(_short(word))}</b>" if hit else plain(_short(word))
                for word, hit in zip(words, true, strict=True)
                if word
            ],
            showgrid=False,
            title={"text": text("figure.acc_guess")},
        )
        names[f"y{end}"] = words
        spec["annotations"] += [
            panel_title(style, end, text("figure.acc_rank", condition=name, rank=f"{rank:,}")),
            *_numbers(chance, true, end, style),
        ]
        said.append(
            text(
                "alt.acc_guesses_one",
                condition=name,
                best=words[0] if words else "–",
                chance=number(float(chance[0])) if len(chance) else "–",
                rank=f"{rank:,}",
                truth=number(of_truth),
            )
        )
    return finish(
        {"data": data, "layout": spec},
        text("alt.acc_guesses", truth=found.truth, values="; ".join(said)),
        names=names,
        gap=0.1,
    )


def top(found: FillIn, best: int, treatment: int) -> Proportion:
    """How often the token is among the `best` guesses where it was treated so."""
    rank = found.rank[found.treatment == treatment]
    return of(int((rank <= best).sum()), len(rank))


def by_frequency(found: FillIn, best: int) -> Proportion:
    """How often it is among the `best` most frequent tokens of the training texts."""
    return of(int((found.frequency <= best).sum()), len(found.frequency))


def _named(style: Style) -> list[tuple[str, str]]:
    return [(one, style.text(f"figure.acc_condition_{one}")) for one in TREATMENTS]


def _read(x: np.ndarray, percent: np.ndarray, share: float) -> float:
    """The line's height at `share` as a share of 1, straight between two points; nan of none."""
    return float(np.interp(share, x, percent)) / 100 if len(x) else float("nan")


def _candidates(
    words: Sequence[str],
    chance: np.ndarray,
    true: Sequence[bool],
    name: str,
    end: str,
    style: Style,
) -> dict[str, Any]:
    """Lying bars from the best down; the truth in another color and hatched."""
    palette = style.palette
    return {
        "type": "bar",
        "orientation": "h",
        "x": chance,
        "y": list(range(1, len(words) + 1)),
        **parts.on_axes(end),
        "name": name,
        "showlegend": False,
        "width": 0.7,
        "marker": {
            "color": [palette.highlight if hit else palette.prediction for hit in true],
            "pattern": {
                "shape": ["/" if hit else "" for hit in true],
                "fillmode": "overlay",
                "fgcolor": palette.grid,
                "size": 7,
            },
        },
        "customdata": [plain(word) for word in words],
        "hovertemplate": "%{customdata}: %{x:.3g} %<extra>%{fullData.name}</extra>",
    }


def _numbers(
    chance: np.ndarray, true: Sequence[bool], end: str, style: Style
) -> list[dict[str, Any]]:
    """The probability at the end of each bar, and the word that says which is the truth."""
    truth = style.text("figure.acc_truth")
    return [
        label(
            style,
            f"<b>{_chance(value)} {truth}</b>" if hit else _chance(value),
            style.palette.truth,
            xref=f"x{end}",
            yref=f"y{end}",
            x=value,
            y=place,
            xanchor="left",
            xshift=4,
        )
        for place, (value, hit) in enumerate(zip(chance.tolist(), true, strict=True), 1)
        if np.isfinite(value)
    ]


def _chance(percent: float) -> str:
    return "< 0.1" if percent < 0.05 else f"{percent:.1f}"


def _short(word: str) -> str:
    return word if len(word) <= _LONGEST else word[: _LONGEST - 1] + "…"
