"""The Jacobian of a GRU with constant gates: where its eigenvalues go, how its powers grow."""

from __future__ import annotations

import numpy as np

from seqviz.compute.vanishing_gradients import SimplifiedGRU
from seqviz.figures.vanishing_gradients.style import decades_line
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes


def gated_jacobian(
    simplified_gru: SimplifiedGRU, update: float, reset: float, style: Style = STYLE
) -> Figure:
    """Left: eigenvalues of W (hollow) and of the gated Jacobian (filled) with the unit circle.

    Right: the largest singular value of their k-th powers, and the identity's, by k. update, reset:
    the gates, in [0, 1].
    """
    text, palette = style.text, style.palette
    plain, gated = simplified_gru.eigenvalues_rnn, simplified_gru.eigenvalues
    both = np.concatenate([gated, plain])
    edge = 1.08 * max(1.1, float(np.abs([both.real, both.imag]).max()))
    square = {"range": [-edge, edge], "constrain": "domain"}
    growth = np.concatenate([simplified_gru.log10_norm, simplified_gru.log10_norm_rnn])

    sheet = Sheet(style)
    left = sheet.panel(
        axes.axis(text("figure.real"), **square),
        axes.axis(text("figure.imaginary"), scaleanchor="x", **square),
        across=(0, 0.4),
    )
    turn = np.linspace(0, 2 * np.pi, 181)
    circle = text("figure.unit_circle")
    left.reference(np.cos(turn), np.sin(turn), circle, width=1.6, legend=False)
    for name, values, color, symbol in (
        ("rnn_linear", plain, palette.rnn, "circle-open"),
        ("gru_constant", gated, palette.gru, "circle"),
    ):
        left.points(values.real, values.imag, text(f"figure.{name}"), color,
                    size=8, symbol=symbol, legend=False)  # fmt: skip

    right = sheet.panel(
        axes.axis(text("figure.steps_back")),
        axes.decades(growth, text("figure.power_norm")),
        across=(0.53, 1),
    )
    k = np.arange(len(simplified_gru.log10_norm))
    for name, norms, color, dash, width in (
        ("rnn_linear", simplified_gru.log10_norm_rnn, palette.rnn, "dash", 2.2),
        ("gru_constant", simplified_gru.log10_norm, palette.gru, "solid", 3),
        ("identity", np.zeros(len(k)), palette.baseline, "dot", 1.8),
    ):
        decades_line(
            right, k, norms, text(f"figure.{name}"), color, dash=dash, width=width, over="k"
        )
    return sheet.described(
        "alt.gated",
        update=update,
        reset=reset,
        last=int(k[-1]),
        gru=float(simplified_gru.log10_norm[-1]),
        rnn=float(simplified_gru.log10_norm_rnn[-1]),
    )
