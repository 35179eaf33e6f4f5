"""Accuracy by attention direction: both, left only, right only."""

from __future__ import annotations

from typing import Any

from seqviz.compute.bert_accuracy.results import AttentionDirections
from seqviz.figures.bert_accuracy.bars import Row, bar_panel, format_rows
from seqviz.plotting import STYLE, Figure, Sheet, Style
from seqviz.stats.proportions import Proportion

_ROLES = {"both": "prediction", "left": "rnn", "right": "gru"}


def accuracy_by_direction(
    attention_directions: AttentionDirections, baseline: Proportion, style: Style = STYLE
) -> Figure:
    """Plot the accuracy by attention direction in three panels.

    From left to right: sentiment with the usual head, sentiment with a refitted head, first guess
    of a masked token.

    Args:
        attention_directions: accuracies by direction.
        baseline: accuracy of always answering the more frequent sentiment; in the first two panels.
        style: language, theme and scale of the figure.
    """
    label, palette = style.labels("figure.acc_"), style.palette
    guess = Row(label("majority_short"), baseline, palette.baseline)
    result, sheet = attention_directions, Sheet(style)
    names: dict[str, list[str]] = {}
    words: dict[str, Any] = {}
    for panel, across, accuracy, base in (
        ("same", (0, 0.29), result.accuracy, guess),
        ("refitted", (0.37, 0.66), result.refitted_accuracy, guess),
        ("fill", (0.76, 1), result.guessed, None),
    ):
        rows = [
            Row(label(f"condition_{item}"), accuracy(item), getattr(palette, _ROLES[item]))
            for item in result.directions
        ]
        title = label(f"direction_{panel}")
        names |= bar_panel(sheet, across, title, rows, label("looks"), base)
        words[panel] = format_rows(rows, style.text)
    return sheet.described(
        "alt.acc_direction", names=names, gap=0.1, baseline=baseline.share, **words
    )
