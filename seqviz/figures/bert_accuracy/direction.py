"""Which way the attention may look: both ways, only to the left, only to the right."""

from __future__ import annotations

from seqviz.compute.bert_accuracy.results import AttentionDirections
from seqviz.figures.bert_accuracy.bars import Row, bar_panel
from seqviz.figures.bert_accuracy.bars_and_labels import format_proportion
from seqviz.plotting import STYLE, Figure, Sheet, Style
from seqviz.stats.proportions import Proportion, answers_right, counted

_ROLES = {"both": "prediction", "left": "rnn", "right": "gru"}


def accuracy_by_direction(
    attention_directions: AttentionDirections, baseline: Proportion, style: Style = STYLE
) -> Figure:
    """Accuracy by the way the attention looks: sentiment with the usual head, sentiment with a head
    fitted anew, first guess of a masked token.

    baseline: of sentiment, the more frequent answer always.
    """
    text, palette = style.text, style.palette
    guess = Row(text("figure.acc_majority_short"), baseline, palette.baseline)
    panels = (
        (
            "same",
            (0, 0.29),
            answers_right(attention_directions.probability, attention_directions.positive),
            guess,
        ),
        (
            "refitted",
            (0.37, 0.66),
            answers_right(attention_directions.refitted, attention_directions.positive),
            guess,
        ),
        ("fill", (0.76, 1), (attention_directions.rank == 1).astype(float), None),
    )
    sheet = Sheet(style)
    names: dict[str, list[str]] = {}
    words = {}
    for panel, across, right, base in panels:
        rows = [
            Row(
                text(f"figure.acc_condition_{direction}"),
                counted(item),
                getattr(palette, _ROLES[direction]),
            )
            for direction, item in zip(attention_directions.directions, right, strict=True)
        ]
        title = text(f"figure.acc_direction_{panel}")
        names |= bar_panel(sheet, across, title, rows, text("figure.acc_looks"), base)
        words[panel] = "; ".join(
            f"{row.name}: {format_proportion(row.proportion, style.text)}" for row in rows
        )
    alt = text("alt.acc_direction", **words, baseline=baseline.share)
    return sheet.finish(alt, names, gap=0.1)
