"""Jacobian of a GRU with constant gates: its eigenvalues and the growth of its powers."""

from __future__ import annotations

import numpy as np

from seqviz.compute.vanishing_gradients import SimplifiedGRU
from seqviz.figures.vanishing_gradients.style import decades_line
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes


def gated_jacobian(
    simplified_gru: SimplifiedGRU, update: float, reset: float, style: Style = STYLE
) -> Figure:
    """Plot eigenvalues (left) and the norm of the powers (right) of a gated Jacobian.

    Left: eigenvalues of W (hollow) and of the gated Jacobian (filled) with the unit circle. Right:
    the largest singular value of their k-th powers and of the identity's, by k.

    Args:
        simplified_gru: eigenvalues and norms.
        update: update gate in [0, 1].
        reset: reset gate in [0, 1].
        style: language, theme and scale of the figure.
    """
    label, palette, result = style.labels("figure."), style.palette, simplified_gru
    plain, gated = result.eigenvalues_rnn, result.eigenvalues
    both = np.concatenate([gated, plain])
    edge = 1.08 * max(1.1, float(np.abs([both.real, both.imag]).max()))
    square = {"range": [-edge, edge], "constrain": "domain"}
    growth = np.concatenate([result.log10_norm, result.log10_norm_rnn])
    sheet, turn = Sheet(style), np.linspace(0, 2 * np.pi, 181)
    left, right = sheet.row(
        (axes.axis(label("real"), **square),
         axes.axis(label("imaginary"), scaleanchor="x", **square)),
        (axes.axis(label("steps_back")), axes.decades(growth, label("power_norm"))),
        gaps=(0.4, 0.53),
    )  # fmt: skip
    circle = label("unit_circle")
    left.reference(np.cos(turn), np.sin(turn), circle, width=1.6, legend=False)
    for name, values, color, symbol in (
        ("rnn_linear", plain, palette.rnn, "circle-open"),
        ("gru_constant", gated, palette.gru, "circle"),
    ):
        left.points(values.real, values.imag, label(name), color, size=8, symbol=symbol,
                    legend=False)  # fmt: skip
    k = np.arange(len(result.log10_norm))
    for name, norms, color, dash, width in (
        ("rnn_linear", result.log10_norm_rnn, palette.rnn, "dash", 2.2),
        ("gru_constant", result.log10_norm, palette.gru, "solid", 3),
        ("identity", np.zeros(len(k)), palette.baseline, "dot", 1.8),
    ):
        decades_line(right, k, norms, label(name), color, dash=dash, width=width, over="k")
    return sheet.described("alt.gated", update=update, reset=reset, last=len(k) - 1,
                           gru=result.last_norm, rnn=result.last_norm_rnn)  # fmt: skip
