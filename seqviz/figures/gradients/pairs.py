"""What passes between two steps: a map of all pairs, and the singular values of one."""

from __future__ import annotations

import numpy as np

from seqviz.compute.bptt import PairNorms, PairSpectrum, Spectrum
from seqviz.figures.gradients.parts import bounds, cell_color, log10
from seqviz.figures.grammar import axes, scales
from seqviz.figures.grammar.decades import POWER, powers
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.sheet import Sheet
from seqviz.figures.grammar.style import Style
from seqviz.text import from_log10

_STYLE = Style()
_DEEPEST = 12  # decades that the colors of the heatmap tell apart
_PLAIN = ("linear", "rnn", "relu")  # the powers of W say nothing about a gated cell


def pair_map(
    pairs: PairNorms,
    chosen: PairSpectrum,
    earlier: int,
    later: int,
    cell: str,
    spectrum: Spectrum,
    style: Style = _STYLE,
) -> Figure:
    """Left: log10 of the norm of dh_tau/dh_t for all pairs. Right: one pair's singular values.

    chosen, earlier, later: the pair on the right and its steps, marked on the left. spectrum: of
    the recurrent matrix, whose powers bound a plain network's singular values.
    """
    text, palette = style.text, style.palette
    steps, edge = pairs.steps, [float(pairs.steps[0]), float(pairs.steps[-1])]
    edge = [edge[0] - pairs.stride / 2, edge[1] + pairs.stride / 2]
    limit = int(np.clip(np.ceil(scales.largest(pairs.log10)), 1, _DEEPEST))
    levels = [
        (name, (later - earlier) * log10(value), dash)
        for name, value, dash in bounds(spectrum)
        if cell in _PLAIN
    ]
    shown = np.append(chosen.log10, [level for _, level, _ in levels])
    index = np.arange(1, len(chosen.log10) + 1)

    sheet = Sheet(style)
    sheet.legend(x=1, xanchor="right")
    left = sheet.panel(
        axes.axis(text("figure.earlier"), range=edge, showgrid=False),
        axes.axis(text("figure.later"), range=edge, showgrid=False),
        across=(0, 0.53),
    )
    left.cells(
        pairs.log10, text("figure.pair_norm"),
        scales.signed(limit, ticks=scales.decades(-limit, limit)), x=steps, y=steps, pick=True,
        hoverongaps=False, hover=f"t = %{{x}}, τ = %{{y}}: {POWER}",
    )  # fmt: skip
    left.points(
        [earlier], [later], "", palette.truth, size=13, symbol="square-open",
        edge={"width": 3, "color": palette.truth}, hover=False, legend=False,
    )  # fmt: skip
    right = sheet.panel(
        axes.axis(text("figure.singular_index"), range=[0.4, len(index) + 0.6]),
        axes.decades(shown, text("figure.singular_value")),
        across=(0.77, 1),
    )
    right.points(
        index, powers(chosen.log10),
        text("figure.singular_values", earlier=earlier, later=later), cell_color(cell, palette),
        size=8, customdata=[from_log10(value) for value in chosen.log10],
        hover="%{x}: %{customdata}",
    )  # fmt: skip
    for name, level, dash in levels:
        ends = [0.5, len(index) + 0.5]
        right.reference(ends, powers(np.full(2, level)), text(f"figure.pair_{name}"), dash=dash)
    return sheet.finish(
        text(
            "alt.pairs",
            first=int(steps[0]),
            last=int(steps[-1]),
            corner=from_log10(float(pairs.log10[-1, 0])),
            earlier=earlier,
            later=later,
            largest=from_log10(float(chosen.log10[0])),
        )
    )
