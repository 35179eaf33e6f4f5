"""Norm of the gradient by time step, and its horizon."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seqviz.compute.vanishing_gradients import FLOAT32, GradientReach, MatrixSpectrum
from seqviz.core.i18n import number
from seqviz.figures.vanishing_gradients.style import (
    bounds,
    cell_color,
    decades_line,
    diamond,
    log10,
)
from seqviz.plotting import STYLE, Figure, Panel, Sheet, Style, axes


def gradient_reach(
    cells: Sequence[str], reaches: Sequence[GradientReach], spectrum: MatrixSpectrum,
    style: Style = STYLE,
) -> Figure:  # fmt: skip
    """Plot the gradient norm |dJ/dh_t| by step t for several cells, with two reference powers.

    The two lines are powers of the largest singular value (bound) and of the spectral radius
    (asymptotic rate); they start at the first cell's gradient at the last step. A diamond marks how
    far back a hundredth of the last step's error still arrives. The number beside each name is the
    factor by which one step back multiplies that error, on the state where the horizon is measured.

    Args:
        cells: names of the cells, in the order of `reaches`.
        reaches: gradient norms and horizon of each cell.
        spectrum: spectrum of the recurrent matrix, shared by all cells.
        style: language, theme and scale of the figure.
    """
    text, first = style.text, reaches[0]
    last = max(len(reach.norms.hidden) for reach in reaches)
    observed = [part for reach in reaches for _, part, _ in _parts(reach)]
    height = axes.decades(np.concatenate(observed), text("figure.gradient_norm"))
    sheet = Sheet(style)
    time = axes.axis(text("figure.steps"), range=[0.5, last + 0.5])
    panel = sheet.panel(axes.tokens(style, first.labels) if first.labels else time, height)
    for cell, result in zip(cells, reaches, strict=True):
        _road(panel, cell, result, legend=result is first)
    step = np.arange(1, last + 1)
    for name, value, dash in bounds(spectrum):
        line = first.norms.hidden[-1] + (last - step) * log10(value)
        named = text(f"figure.power_{name}", value=value)
        panel.reference(step, panel.powers(line), named, dash=dash)
    _ends_of_float32(panel, height["range"])
    horizons = [f"{text(f'option.{cell}')}: {result.horizon} (× {number(result.factor)})"
                for cell, result in zip(cells, reaches, strict=True)]  # fmt: skip
    norms = first.norms.hidden.tolist()
    return sheet.described("alt.reach", cell=text(f"option.{cells[0]}"), last=last, end=norms[-1],
                           first=norms[0], horizons="; ".join(horizons))  # fmt: skip


def _parts(gradient_reach: GradientReach) -> list[tuple[str, np.ndarray, str]]:
    """Return symbol, log10 norm and dash of the paths over h and, in an LSTM, over c."""
    norms = gradient_reach.norms
    parts = (("h", norms.hidden, "solid"), ("c", norms.cell_state, "dash"))
    return [(symbol, part, dash) for symbol, part, dash in parts if part is not None]


def _road(panel: Panel, cell: str, gradient_reach: GradientReach, legend: bool) -> None:
    """Draw the lines of one cell and the diamond at its horizon, which the legend has if asked."""
    text, color = panel.style.text, cell_color(cell, panel.style.palette)
    name, parts = text(f"option.{cell}"), _parts(gradient_reach)
    for symbol, norms, dash in parts:
        named = f"{name}, {symbol}<sub>t</sub>" if len(parts) > 1 else name
        if norms is parts[-1][1] and np.isfinite(gradient_reach.factor):
            named = text("figure.per_step", cell=named, factor=gradient_reach.factor)
        decades_line(panel, np.arange(1, len(norms) + 1), norms, named, color, dash=dash)
    on_path = gradient_reach.norms.on_gradient_path
    position = len(on_path) - gradient_reach.horizon
    height = panel.powers(on_path[position - 1 : position])[0]
    label = text("figure.reaches", cell=name)
    diamond(panel, position, height, label, color, size=12, legend=legend)


def _ends_of_float32(panel: Panel, span: Sequence[float]) -> None:
    """Label the largest and the smallest float32 number where the axis reaches them."""
    palette = panel.style.palette
    names = ("float32_largest", "float32_smallest")
    for name, end in zip(names, FLOAT32, strict=True):
        panel.horizontal(panel.powers(np.array(end)).item(), palette.grid)
        if span[0] < end < span[1]:
            side = "bottom" if end < 0 else "top"
            panel.words(
                panel.style.text(f"figure.{name}"), 0.005, end, xref="domain", xanchor="left",
                yanchor=side, color=palette.baseline, size=12,
            )  # fmt: skip
