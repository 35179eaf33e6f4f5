"""Panel of vertical bars in percent with intervals, sample sizes and the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from seqviz.core.i18n import Text
from seqviz.core.units import unbroken
from seqviz.figures.bert_accuracy.bars_and_labels import bar, bare, format_proportion
from seqviz.plotting import Sheet, axes
from seqviz.stats.proportions import Proportion


@dataclass(frozen=True)
class Row:
    """Name, proportion and color of one bar."""

    name: str
    proportion: Proportion
    color: str


def format_rows(rows: Sequence[Row], text: Text) -> str:
    """Return all rows as text for a description."""
    return "; ".join(f"{row.name}: {format_proportion(row.proportion, text)}" for row in rows)


def bar_panel(
    sheet: Sheet, across: tuple[float, float], title: str, rows: Sequence[Row], reads: str,
    guess: Row | None,
) -> dict[str, list[str]]:  # fmt: skip
    """Draw a panel with one bar for each row and return the names of the bars by axis.

    Args:
        sheet: sheet to draw on.
        across: left and right end, as shares of the sheet's width.
        title: title of the panel.
        rows: the bars.
        reads: title of the axis of names.
        guess: baseline without reading, the last bar, and a dotted line through all of them.
    """
    text = sheet.style.text
    all_rows = [*rows, *([guess] if guess else [])]
    ticks = [_broken(row.name) for row in all_rows]
    counts = [row.proportion.n for row in all_rows]
    if len(set(counts)) > 1:
        numbers = [unbroken(f"n = {n:,}") for n in counts]
        ticks = [f"{name}<br>{n}" for name, n in zip(ticks, numbers, strict=True)]
    elif counts:
        reads = text("figure.acc_with_n", title=reads, n=counts[0])
    share = axes.percent(text("figure.acc_right"), range=[0, 114])
    panel = sheet.panel(axes.names(ticks, reads), share, across=across, title=title)
    for position, row in enumerate(all_rows, 1):
        bar(panel, position, row.proportion, row.name, row.color)
        words, height = text("figure.acc_none"), 0.0
        if row.proportion.n:
            words, height = f"<b>{bare(row.proportion.share)}</b>", 100 * row.proportion.high
        panel.words(words, position, height, yanchor="bottom", yshift=2)
    if guess and guess.proportion.n:
        height = 100 * guess.proportion.share
        panel.horizontal(height, guess.color, dash="dot", width=1.8, layer="above")
    return {panel.x: [row.name for row in all_rows]}


def _broken(name: str) -> str:
    """Return a name with its first space as a line break; four names fit on a phone."""
    return name.replace(" ", "<br>", 1)
