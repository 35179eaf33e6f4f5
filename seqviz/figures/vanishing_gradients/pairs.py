"""What passes between two steps: a map of all pairs, and the singular values of one."""

from __future__ import annotations

import numpy as np

from seqviz.compute.vanishing_gradients import MatrixSpectrum, PairNorms, PairSpectrum
from seqviz.core.i18n import format_log10
from seqviz.figures.vanishing_gradients.style import bounds, cell_color, log10
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, scales
from seqviz.plotting.decades import POWER

_DEEPEST = 12  # decades that the colors of the heatmap tell apart
_PLAIN = ("linear", "rnn", "relu")  # the powers of W say nothing about a gated cell


def pair_map(
    pairs: PairNorms,
    chosen: PairSpectrum,
    earlier: int,
    later: int,
    cell: str,
    spectrum: MatrixSpectrum,
    style: Style = STYLE,
) -> Figure:
    """Left: log10 of the norm of dh_tau/dh_t for all pairs. Right: one pair's singular values.

    chosen, earlier, later: the pair on the right and its steps, marked on the left. spectrum: of
    the recurrent matrix, whose powers bound a plain network's singular values.
    """
    text = style.text
    sheet = Sheet(style)
    sheet.legend(x=1, xanchor="right")
    _map(sheet, pairs, earlier, later)
    limits = [
        (text(f"figure.pair_{name}"), (later - earlier) * float(log10(value)), dash)
        for name, value, dash in bounds(spectrum)
        if cell in _PLAIN
    ]
    index = np.arange(1, len(chosen.log10) + 1)
    panel = sheet.panel(
        axes.axis(text("figure.singular_index"), range=[0.4, len(index) + 0.6]),
        axes.decades(
            chosen.log10, text("figure.singular_value"), reference=[level for _, level, _ in limits]
        ),
        across=(0.77, 1),
    )
    named = text("figure.singular_values", earlier=earlier, later=later)
    panel.points(
        index, panel.powers(chosen.log10), named, cell_color(cell, style.palette), size=8,
        customdata=[format_log10(value) for value in chosen.log10], hover="%{x}: %{customdata}",
    )  # fmt: skip
    for name, level, dash in limits:
        panel.reference([0.5, len(index) + 0.5], panel.powers(np.full(2, level)), name, dash=dash)
    return sheet.described(
        "alt.pairs",
        first=int(pairs.steps[0]),
        last=int(pairs.steps[-1]),
        corner=float(pairs.log10[-1, 0]),
        earlier=earlier,
        later=later,
        largest=float(chosen.log10[0]),
    )


def _map(sheet: Sheet, pairs: PairNorms, earlier: int, later: int) -> None:
    """The norms of all pairs, and a square around the chosen one."""
    text, color, steps = sheet.style.text, sheet.style.palette.truth, pairs.steps
    half = pairs.stride / 2
    square = {"range": [float(steps[0] - half), float(steps[-1] + half)], "showgrid": False}
    limit = int(np.clip(np.ceil(scales.largest(pairs.log10)), 1, _DEEPEST))
    panel = sheet.panel(
        axes.axis(text("figure.earlier"), **square),
        axes.axis(text("figure.later"), **square),
        across=(0, 0.53),
    )
    panel.cells(
        pairs.log10, text("figure.pair_norm"),
        scales.signed(limit, ticks=scales.decades(-limit, limit)), x=steps, y=steps, pick=True,
        hoverongaps=False, hover=f"t = %{{x}}, τ = %{{y}}: {POWER}",
    )  # fmt: skip
    panel.points([earlier], [later], "", color, size=13, symbol="square-open",
                 edge={"width": 3, "color": color}, hover=False, legend=False)  # fmt: skip
