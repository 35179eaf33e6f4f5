"""Networks on sequences longer than in training."""

from __future__ import annotations

from seqviz.compute.gates.lengths import ByLength
from seqviz.figures.gates.style import CELLS
from seqviz.plotting import NAMED, STYLE, Figure, Sheet, Style, axis
from seqviz.plotting.axes import percent


def accuracy_by_length(by_length: ByLength, style: Style = STYLE) -> Figure:
    """Plot the percent of right answers (left) and of sequences without a wrong one (right).

    Dotted lines are the best constant answer; the vertical line is the training length.
    """
    text, palette, length = style.text, style.palette, by_length.length
    sheet = Sheet(style)
    x = axis(text("figure.symbols"), range=[0, length[-1] * 1.03])
    titles = text("figure.right_answers"), text("figure.whole_right")
    panels = sheet.row(*((x, percent(title)) for title in titles), gaps=(0.46, 0.56))
    often = by_length.majority, by_length.majority_whole
    shares = by_length.answers, by_length.exact_match
    ends = []
    for panel, title, baseline, by_cell in zip(panels, titles, often, shares, strict=True):
        panel.reference(length, 100 * baseline, text("figure.majority"), group="majority")
        for cell, values in zip(by_length.cells, by_cell, strict=True):
            name, (dash, symbol) = text(f"option.{cell}"), CELLS[cell]
            panel.line(length, 100 * values, name, getattr(palette, cell), dash=dash, symbol=symbol,
                       group=cell, hover="%{x:d}: %{y:.1f}%" + NAMED)  # fmt: skip
            ends.append(f"{title}, {name}: {100 * values[-1]:.1f}")
        panel.vertical(by_length.trained, palette.highlight, dash="dash")
        panel.words(text("figure.trained_length"), by_length.trained, 0, yref="domain",
                    xanchor="left", yanchor="bottom", xshift=5,
                    color=palette.baseline)  # fmt: skip
    return sheet.described(
        "alt.by_length", longest=int(length[-1]), trained=by_length.trained,
        ends="; ".join(ends), majority=by_length.majority[-1],
    )  # fmt: skip
