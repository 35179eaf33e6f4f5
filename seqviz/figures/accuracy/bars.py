"""A panel of upright bars in percent, each with its interval, n and number, and the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from seqviz.compute.proportions import Proportion
from seqviz.figures.accuracy.parts import bar, dotted, named_axis, percent, percent_axis
from seqviz.figures.accuracy.parts import value_above as value
from seqviz.figures.grammar.annotations import panel_title
from seqviz.figures.grammar.line_ends import label
from seqviz.figures.grammar.style import Style


@dataclass(frozen=True)
class Row:
    """One bar: its name, what was found, its color."""

    name: str
    found: Proportion
    color: str


@dataclass(frozen=True)
class Guess:
    """What can be had without reading: `name` says how, `found` how often it is right."""

    name: str
    found: Proportion


@dataclass
class Drawn:
    """Traces, axes and words of the panels so far, and the names of the places by axis."""

    data: list[dict[str, Any]] = field(default_factory=list)
    axes: dict[str, dict[str, Any]] = field(default_factory=dict)
    annotations: list[dict[str, Any]] = field(default_factory=list)
    names: dict[str, list[str]] = field(default_factory=dict)


def add_panel(
    drawn: Drawn,
    end: str,
    domain: Sequence[float],
    title: str,
    rows: Sequence[Row],
    guess: Guess | None,
    titles: tuple[str, str],
    style: Style,
) -> None:
    """Add the panel with the axes x`end` and y`end`; titles: of these axes.

    The baseline is a dotted line through all bars, and has a place of its own at the right for its
    number: on a bar the words could not be read.
    """
    color = style.palette.baseline
    for place, row in enumerate(rows, 1):
        drawn.data.append(bar(place, row.found, row.name, row.color, style, end))
        drawn.annotations.append(value(place, row.found, style, end))
    names = [row.name for row in rows]
    counts = [row.found.n for row in rows]
    if guess:
        place = len(rows) + 1
        if guess.found.n:
            height = 100 * guess.found.share
            line = dotted([0.4, place, place + 0.6], [height] * 3, guess.name, style, end)
            drawn.data.append(line)
            drawn.annotations.append(
                label(
                    style,
                    f"<b>{percent(guess.found.share)}</b>",
                    color,
                    xref=f"x{end}",
                    yref=f"y{end}",
                    x=place,
                    y=height,
                    yanchor="bottom",
                    yshift=2,
                )
            )
        names.append(guess.name)
        counts.append(guess.found.n)
    ticks, across = [_broken(name) for name in names], titles[0]
    if len(set(counts)) > 1:
        ticks = [f"{name}<br>n = {n:,}" for name, n in zip(ticks, counts, strict=True)]
    elif counts:
        across = style.text("figure.acc_with_n", title=across, n=f"{counts[0]:,}")
    drawn.names[f"x{end}"] = names
    drawn.axes[f"xaxis{end}"] = named_axis(
        style, ticks, across, domain=list(domain), anchor=f"y{end}"
    )
    drawn.axes[f"yaxis{end}"] = percent_axis(style, titles[1], range=[0, 114], anchor=f"x{end}")
    drawn.annotations.append(panel_title(style, end, title))


def _broken(name: str) -> str:
    """A name in two lines where it has two words: four of them stand side by side on a phone."""
    return name.replace(" ", "<br>", 1)
