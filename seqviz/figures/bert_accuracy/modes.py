"""One sentence repeated in evaluation and training mode: dropout and gradients."""

from __future__ import annotations

import numpy as np

from seqviz.compute.bert_accuracy.results import ModeComparison
from seqviz.core.i18n import percent
from seqviz.figures.bert_accuracy.bars_and_labels import bare
from seqviz.plotting import NAMED, STYLE, Figure, Panel, Sheet, Style, axes

_LOOKS = {"eval": ("prediction", "circle"), "train": ("rnn", "diamond")}
_LIFT = 0.3  # vertical spread of the repeats as a share of a row; separates equal ones


def train_and_eval(mode_comparison: ModeComparison, style: Style = STYLE) -> Figure:
    """Plot the probability of "positive" of one sentence by mode, one mark for each repeat.

    Below each row: whether a gradient can be computed, as is and under no_grad(). The marks are
    spread upward in the order of the repeats.
    """
    label, palette, modes = style.labels("figure.acc_"), style.palette, mode_comparison.modes
    rows, count = mode_comparison.probability.shape
    names = [f"<b>{mode}()</b>" for mode in reversed(modes)]
    sheet = Sheet(style)
    sheet.margin(t=30)
    panel = sheet.panel(axes.percent(label("positive")), axes.names(names, label("mode")))
    half = label("undecided")
    # Beside the marks only, because the notes below them extend this far on a phone.
    ends = [end for index in range(1, rows + 1) for end in (index - 0.06, index + 0.5, np.nan)]
    panel.reference([50] * len(ends), ends, half, legend=False)
    panel.words(half, 50, 1, yref="domain", yanchor="bottom", color=palette.baseline)
    fan = np.linspace(-_LIFT / 2, _LIFT / 2, count) if count > 1 else np.zeros(count)
    values = []
    for row, mode in enumerate(modes):
        position, shares = rows - row, mode_comparison.probability[row]
        role, symbol = _LOOKS[mode]
        name, spread = label(f"mode_{mode}"), _spread(shares)
        panel.points(
            100 * shares, position + 0.16 + fan, name, getattr(palette, role), symbol=symbol,
            opacity=0.8, hover="%{x:.2f}%" + NAMED, legend=False,
        )  # fmt: skip
        values.append(f"{name}: {spread}")
        _notes(panel, mode_comparison, row, position, spread)
    plain, under = (
        ", ".join(f"{mode}()" for mode, yes in zip(modes, column, strict=True) if yes)
        for column in mode_comparison.gradient.T
    )
    none = label("none")
    return sheet.described("alt.acc_modes", repeats=count, values="; ".join(values),
                           plain=plain or none, under=under or none)  # fmt: skip


def _spread(shares: np.ndarray) -> str:
    """Return the range of the shares as text, or the only one."""
    low, high = float(np.nanmin(shares)), float(np.nanmax(shares))
    return percent(high) if bare(low) == bare(high) else f"{bare(low)} – {percent(high)}"


def _notes(
    panel: Panel, mode_comparison: ModeComparison, row: int, index: float, spread: str
) -> None:
    """Write the spread of the repeats and the availability of gradients below a row."""
    label, count = panel.style.labels("figure.acc_"), mode_comparison.probability.shape[1]
    yes, under = (label("yes" if able else "no") for able in mode_comparison.gradient[row])
    lines = (
        label("repeats", count=count, spread=f"<b>{spread}</b>"),
        label("gradient", able=f"<b>{yes}</b>"),
        label("gradient_under", able=f"<b>{under}</b>"),
    )
    left = {"xref": "domain", "xanchor": "left", "align": "left"}
    panel.words("<br>".join(lines), 0.01, index - 0.31, **left)
