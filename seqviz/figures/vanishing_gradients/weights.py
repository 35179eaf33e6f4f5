"""The gradient of a weight matrix, taken apart by the step that contributes."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.vanishing_gradients import WeightSteps
from seqviz.figures.vanishing_gradients.style import diamond
from seqviz.plotting import NAMED, STYLE, Figure, Sheet, Style, axes, scales

_SUBSCRIPTS = {"hidden_hidden": "hh", "input_hidden": "hx", "readout": "yh"}
_WRITTEN = 6  # rows whose labels find room


def weights_by_step(weight_steps: WeightSteps, matrix: str, t: int, style: Style = STYLE) -> Figure:
    """Above: what each step adds to dJ/dW, along the gradient, and the sum from the end back.

    Below: the addition of step t alone, the sum over all steps, and the gradient by autograd, on
    one scale. matrix: its name in `bptt.MATRICES`. t: counted from 1.
    """
    text, palette = style.text, style.palette
    w = f"W<sub>{_SUBSCRIPTS[matrix]}</sub>"
    steps, shares, length = (
        len(weight_steps.each),
        weight_steps.shares,
        weight_steps.autograd_length,
    )
    time = np.arange(1, steps + 1)
    back = np.cumsum(shares[::-1])[::-1]
    sheet = Sheet(style)
    upper = sheet.panel(
        axes.axis(text("figure.steps"), range=[0.4, steps + 0.6]),
        axes.axis(text("figure.weight_share", matrix=w), zeroline=True,
                  zerolinecolor=palette.baseline),
        up=(0.56, 1),
    )  # fmt: skip
    upper.bars(time, shares, text("figure.weight_step"), palette.prediction,
               hover=f"t = %{{x}}: %{{y:.3g}}{NAMED}")  # fmt: skip
    upper.line(time, back, text("figure.weight_sum"), palette.prediction, width=2, symbol="circle",
               size=5, hover=f"t ≥ %{{x}}: %{{y:.3g}}{NAMED}")  # fmt: skip
    named = text("figure.weight_autograd", matrix=w, value=length)
    upper.line([0.4, steps + 0.6], [length, length], named, palette.truth, width=2, dash="dot",
               hover=False)  # fmt: skip
    diamond(upper, t, float(shares[t - 1]), "", palette.highlight)
    _maps(sheet, weight_steps, w, t)
    return sheet.described(
        "alt.weights",
        matrix=_SUBSCRIPTS[matrix],
        last=steps,
        t=t,
        share=float(shares[t - 1]) / length if length > 0 else 0.0,
        total=weight_steps.length,
        autograd=length,
        enough=weight_steps.enough,
    )


def _maps(sheet: Sheet, weight_steps: WeightSteps, w: str, t: int) -> None:
    """Three maps of one size on one scale: step t, all steps, autograd."""
    text = sheet.style.text
    scale = scales.signed(
        scales.largest(weight_steps.each[t - 1], weight_steps.total, weight_steps.autograd)
    )
    bar = scales.color_bar(sheet.style, f"∂J/∂{w}", x=0.905, y=0, yanchor="bottom", len=0.36)
    rows, columns = weight_steps.autograd.shape
    names = (
        ("one", weight_steps.each[t - 1]),
        ("all", weight_steps.total),
        ("autograd", weight_steps.autograd),
    )
    for index, (name, values) in enumerate(names):
        left = 0.01 + 0.325 * index
        panel = sheet.panel(
            axes.axis(text("figure.column"), range=[0.5, columns + 0.5], showgrid=False,
                      dtick=1, tickformat="d"),
            axes.axis(text("figure.row"), range=[rows + 0.5, 0.5],
                      showgrid=False, dtick=1 if rows <= _WRITTEN else 2),
            across=(left, left + 0.23), up=(0, 0.34),
            title=text(f"figure.weight_map_{name}", t=t, matrix=w),
        )  # fmt: skip
        more: dict[str, Any] = {"colorbar": bar} if index == 2 else {"bar": None}
        panel.cells(
            values, text(f"figure.weight_map_{name}", t=t, matrix=w), scale,
            hover="%{y}, %{x}: %{z:.3g}", **more,
        )  # fmt: skip
