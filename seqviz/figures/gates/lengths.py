"""Networks on longer sequences than they were trained on."""

from __future__ import annotations

from seqviz.compute.gates.lengths import ByLength
from seqviz.figures.gates.style import CELLS
from seqviz.plotting import NAMED, STYLE, Figure, Sheet, Style, axis
from seqviz.plotting.axes import percent


def accuracy_by_length(by_length: ByLength, style: Style = STYLE) -> Figure:
    """Shares of right answers (left) and of sequences without a wrong one (right), in percent.

    Beside each the most frequent answer, given at every step; the vertical line is the length of
    the training.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    ends = []
    for across, often, shares, title in (
        ((0, 0.46), by_length.majority, by_length.answers, "figure.right_answers"),
        ((0.56, 1), by_length.majority_whole, by_length.exact_match, "figure.whole_right"),
    ):
        first = across[0] == 0
        panel = sheet.panel(
            axis(text("figure.symbols"), range=[0, by_length.length[-1] * 1.03]),
            percent(text(title)),
            across=across,
        )
        panel.reference(by_length.length, 100 * often, text("figure.majority"), legend=first,
                        group="majority")  # fmt: skip
        for cell, values in zip(by_length.cells, shares, strict=True):
            dash, symbol = CELLS[cell]
            panel.line(
                by_length.length, 100 * values, text(f"option.{cell}"), getattr(palette, cell),
                dash=dash, symbol=symbol, legend=first, group=cell,
                hover="%{x:d}: %{y:.1f}%" + NAMED,
            )  # fmt: skip
            ends.append(f"{text(title)}, {text(f'option.{cell}')}: {100 * values[-1]:.1f}")
        panel.vertical(by_length.trained, palette.highlight, dash="dash")
        panel.words(
            text("figure.trained_length"),
            by_length.trained,
            0,
            yref="domain",
            xanchor="left",
            yanchor="bottom",
            xshift=5,
            color=palette.baseline,
        )
    return sheet.described(
        "alt.by_length",
        longest=int(by_length.length[-1]),
        trained=by_length.trained,
        ends="; ".join(ends),
        majority=100 * by_length.majority[-1],
    )
