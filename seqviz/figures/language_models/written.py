"""How much of a text is copied, by the n of the model that wrote it."""

from __future__ import annotations

from seqviz.compute.language_models.written import CopyingByOrder
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes


def copied_spans(copying: CopyingByOrder, n: int, style: Style = STYLE) -> Figure:
    """Plot the longest copied span (left) and the share of existing words (right) by n.

    Whiskers are 95% intervals over texts; the last category is held-out texts of people.

    Args:
        copying: spans and words of the texts.
        n: n that is marked.
        style: style of the figure.
    """
    label, palette = style.labels("figure.copying_"), style.palette
    sheet = Sheet(style)
    count = len(copying.longest) - 1
    cases = axes.names([*(str(n) for n in range(1, count + 1)), label("people")], label("n"))
    left, right = sheet.row(
        (cases, axes.axis(label("longest"), rangemode="tozero")),
        (cases, axes.percent(label("words"))), gaps=(0.43, 0.57),
    )  # fmt: skip
    for panel, values in ((left, copying.spans), (right, 100 * copying.word_shares)):
        panel.estimates(values[:count], label("models"), palette.prediction, hover="%{y:.1f}")
        panel.estimates(values, label("held_out"), palette.truth, start=count, hover="%{y:.1f}")
        panel.vertical(n, palette.truth)
    return sheet.described(
        "alt.copying", names={"x": cases["ticktext"], "x2": cases["ticktext"]}, **copying.summary()
    )
