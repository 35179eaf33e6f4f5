"""Jacobians between pairs of time steps: map of their norms, singular values of one."""

from __future__ import annotations

import numpy as np

from seqviz.compute.vanishing_gradients import MatrixSpectrum, PairNorms, PairSpectrum
from seqviz.core.i18n import format_log10
from seqviz.figures.vanishing_gradients.style import bounds, cell_color, log10
from seqviz.plotting import STYLE, Figure, Panel, Sheet, Style, axes, scales
from seqviz.plotting.decades import POWER

_DEEPEST = 12  # decades that the colors of the heatmap tell apart
_PLAIN = ("linear", "rnn", "relu")  # the powers of W say nothing about a gated cell


def pair_map(
    pairs: PairNorms, chosen: PairSpectrum, earlier: int, later: int, cell: str,
    spectrum: MatrixSpectrum, style: Style = STYLE,
) -> Figure:  # fmt: skip
    """Plot the norms of dh_tau/dh_t for all pairs (left) and one pair's singular values (right).

    Args:
        pairs: norms of all pairs.
        chosen: singular values of the pair on the right.
        earlier: step t of that pair, marked on the left.
        later: its step tau.
        cell: name of the cell; a plain network's singular values are compared with the bounds.
        spectrum: spectrum of the recurrent matrix, whose powers are these bounds.
        style: language, theme and scale of the figure.
    """
    text, sheet, half = style.text, Sheet(style), pairs.stride / 2
    sheet.legend(x=1, xanchor="right")
    limits = [
        (text(f"figure.pair_{name}"), (later - earlier) * float(log10(value)), dash)
        for name, value, dash in bounds(spectrum)
        if cell in _PLAIN
    ]
    levels = [level for _, level, _ in limits]
    index = np.arange(1, len(chosen.log10) + 1)
    first, last = int(pairs.steps[0]), int(pairs.steps[-1])
    square = {"range": [first - half, last + half], "showgrid": False}
    left, right = sheet.row(
        (axes.axis(text("figure.earlier"), **square), axes.axis(text("figure.later"), **square)),
        (axes.axis(text("figure.singular_index"), range=[0.4, len(index) + 0.6]),
         axes.decades(chosen.log10, text("figure.singular_value"), reference=levels)),
        gaps=(0.53, 0.77),
    )  # fmt: skip
    _map(left, pairs, earlier, later)
    named = text("figure.singular_values", earlier=earlier, later=later)
    right.points(
        index, right.powers(chosen.log10), named, cell_color(cell, style.palette), size=8,
        customdata=[format_log10(value) for value in chosen.log10], hover="%{x}: %{customdata}",
    )  # fmt: skip
    for name, level, dash in limits:
        right.reference([0.5, len(index) + 0.5], right.powers(np.full(2, level)), name, dash=dash)
    return sheet.described(
        "alt.pairs", first=first, last=last, corner=float(pairs.log10[-1, 0]), earlier=earlier,
        later=later, largest=float(chosen.log10[0]),
    )  # fmt: skip


def _map(panel: Panel, pairs: PairNorms, earlier: int, later: int) -> None:
    """Draw the norms of all pairs with a square around the chosen one."""
    text, color, steps = panel.style.text, panel.style.palette.truth, pairs.steps
    limit = int(np.clip(np.ceil(scales.largest(pairs.log10)), 1, _DEEPEST))
    panel.cells(
        pairs.log10, text("figure.pair_norm"),
        scales.signed(limit, ticks=scales.decades(-limit, limit)), x=steps, y=steps, pick=True,
        hoverongaps=False, hover=f"t = %{{x}}, τ = %{{y}}: {POWER}",
    )  # fmt: skip
    panel.points([earlier], [later], "", color, size=13, symbol="square-open",
                 edge={"width": 3, "color": color}, hover=False, legend=False)  # fmt: skip
