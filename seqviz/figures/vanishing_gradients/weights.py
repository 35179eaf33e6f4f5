"""Gradient of a weight matrix, decomposed by time step."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.vanishing_gradients import WeightSteps
from seqviz.figures.vanishing_gradients.style import diamond
from seqviz.plotting import NAMED, STYLE, Figure, Sheet, Style, axes, scales

_SUBSCRIPTS = {"hidden_hidden": "h", "input_hidden": "x", "readout": "y"}
_WRITTEN = 6  # maximum number of rows that are all labeled


def weights_by_step(weight_steps: WeightSteps, matrix: str, t: int, style: Style = STYLE) -> Figure:
    """Plot each step's share of dJ/dW along the gradient (top) and three matrices (bottom).

    The line is the sum of the shares from the end back, the dotted line the norm by autograd.
    Bottom: the contribution of step t, the sum over all steps, and the gradient by autograd, on one
    scale.

    Args:
        weight_steps: contributions of all steps.
        matrix: name of the matrix in `bptt.MATRICES`.
        t: time step, from 1.
        style: language, theme and scale of the figure.
    """
    label, palette = style.labels("figure."), style.palette
    w = f"W<sub>{_SUBSCRIPTS[matrix]}</sub>"
    shares, length = weight_steps.shares, weight_steps.autograd_length
    edge, time = [0.4, len(shares) + 0.6], np.arange(1, len(shares) + 1)
    sheet = Sheet(style)
    height = axes.axis(label("weight_share", matrix=w), zeroline=True,
                       zerolinecolor=palette.baseline)  # fmt: skip
    upper = sheet.panel(axes.axis(label("steps"), range=edge), height, up=(0.56, 1))
    upper.bars(time, shares, label("weight_step"), palette.prediction,
               hover=f"t = %{{x}}: %{{y:.3g}}{NAMED}")  # fmt: skip
    back = np.cumsum(shares[::-1])[::-1]
    upper.line(time, back, label("weight_sum"), palette.prediction, width=2, symbol="circle",
               size=5, hover=f"t ≥ %{{x}}: %{{y:.3g}}{NAMED}")  # fmt: skip
    named = label("weight_autograd", matrix=w, value=length)
    upper.line(edge, [length, length], named, palette.truth, width=2, dash="dot", hover=False)
    diamond(upper, t, float(shares[t - 1]), "", palette.highlight)
    _maps(sheet, weight_steps, w, t)
    return sheet.described("alt.weights", matrix=_SUBSCRIPTS[matrix], last=len(shares), t=t,
                           share=weight_steps.share_of(t), result=weight_steps)  # fmt: skip


def _maps(sheet: Sheet, weight_steps: WeightSteps, w: str, t: int) -> None:
    """Draw three matrices on one color scale: step t, all steps, autograd."""
    text = sheet.style.text
    maps = {"one": weight_steps.each[t - 1], "all": weight_steps.total,
            "autograd": weight_steps.autograd}  # fmt: skip
    scale = scales.signed(scales.largest(*maps.values()))
    bar = scales.color_bar(sheet.style, f"∂J/∂{w}", x=0.905, y=0, yanchor="bottom", len=0.36)
    rows, columns = weight_steps.autograd.shape
    across = axes.axis(text("figure.column"), range=[0.5, columns + 0.5], showgrid=False,
                       dtick=1, tickformat="d")  # fmt: skip
    up = axes.axis(text("figure.row"), range=[rows + 0.5, 0.5], showgrid=False,
                   dtick=1 if rows <= _WRITTEN else 2)  # fmt: skip
    for index, (name, values) in enumerate(maps.items()):
        left, named = 0.01 + 0.325 * index, text(f"figure.weight_map_{name}", t=t, matrix=w)
        panel = sheet.panel(across, up, across=(left, left + 0.23), up=(0, 0.34), title=named)
        more: dict[str, Any] = {"colorbar": bar} if index == 2 else {"bar": None}
        panel.cells(values, named, scale, hover="%{y}, %{x}: %{z:.3g}", **more)
