"""What scaling does to the softmax as queries and keys become longer."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from seqviz.compute.attention.saturation import SoftmaxSaturation
from seqviz.core.i18n import number
from seqviz.figures.attention.walk_matrices import bare
from seqviz.plotting import NAMED, STYLE, Figure, Sheet, Style, axes

QUANTITIES = ("entropy", "largest", "gradient", "variance")
_TICKS = [4**k for k in range(6)]
_BASE = 64  # d_k of the base Transformer (Vaswani et al. 2017)
_HOVER = "d<sub>k</sub> = %{x:d}: %{y:.3g}"
# For each scaling: key of its words, role of its color, dash, width.
_LOOKS = {
    "none": ("none", "truth", "solid", 3.0),
    "d_k": ("by_d_k", "prediction", "solid", 3.0),
    "d": ("by_d", "baseline", "dash", 2.2),
}


def saturation_lines(
    softmax_saturation: SoftmaxSaturation, quantity: str, style: Style = STYLE
) -> Figure:
    """One line a scaling over d_k (log axis).

    quantity: "entropy" of the weights (bits) with the most that it can be, "largest" weight,
    "gradient", the mean norm of the softmax's Jacobian, or "variance" of what enters the softmax,
    on a log axis, with the theory's. A line stands at d_k = 64.
    Raises ValueError for another quantity.
    """
    if quantity not in QUANTITIES:
        raise ValueError(f"The quantity is one of {', '.join(QUANTITIES)}, not {quantity!r}.")
    text, palette = style.text, style.palette
    values, title = (
        getattr(softmax_saturation, quantity),
        text(f"figure.attention_scale_{quantity}"),
    )
    sheet = Sheet(style)
    panel = sheet.panel(
        _dimensions(softmax_saturation, style), _upright(softmax_saturation, quantity, title)
    )
    panel.vertical(_BASE, palette.highlight)
    errors = softmax_saturation.entropy_error if quantity == "entropy" else [None] * len(values)
    names = [
        text(f"figure.attention_scale_{_LOOKS[scaling][0]}", heads=softmax_saturation.heads)
        for scaling in softmax_saturation.scalings
    ]
    for scaling, name, line, error in zip(
        softmax_saturation.scalings, names, values, errors, strict=True
    ):
        _, role, dash, width = _LOOKS[scaling]
        unsure = text("figure.attention_scale_hover_error", error="%{customdata:.2g}")
        hover = _HOVER + (unsure if error is not None else "") + NAMED
        color = getattr(palette, role)
        panel.line(
            softmax_saturation.d_k,
            line,
            name,
            color,
            width=width,
            dash=dash,
            customdata=error,
            hover=hover,
        )
    if quantity == "entropy":  # at most: the same weight on all keys
        bits = math.log2(softmax_saturation.keys)
        equal = {"keys": softmax_saturation.keys, "bits": number(bits).rstrip("0").rstrip(".")}
        maximum = text("figure.attention_scale_most", **equal)
        ends = softmax_saturation.d_k[[0, -1]], np.array([bits, bits])
        panel.reference(*ends, maximum, width=1.6, hover="%{y:.3g}" + NAMED)
    if quantity == "variance":
        name = text("figure.attention_scale_theory")
        for row, theory in enumerate(softmax_saturation.theory):
            panel.line(
                softmax_saturation.d_k,
                theory,
                name,
                palette.highlight,
                width=1.8,
                dash="dot",
                hover=_HOVER + NAMED,
                group="theory",
                legend=row == 0,
            )
    ends_said = zip(map(bare, names), values[:, -1], strict=True)
    return sheet.described(
        "alt.attention_scale",
        quantity=bare(title),
        first=int(softmax_saturation.d_k[0]),
        last=int(softmax_saturation.d_k[-1]),
        keys=softmax_saturation.keys,
        values="; ".join(f"{name} {number(value)}" for name, value in ends_said),
    )


def _dimensions(softmax_saturation: SoftmaxSaturation, style: Style) -> dict[str, Any]:
    return axes.axis(
        style.text("figure.attention_scale_d_k"),
        type="log",
        range=[math.log10(softmax_saturation.d_k[0]), math.log10(softmax_saturation.d_k[-1])],
        tickvals=_TICKS,
        ticktext=[f"{tick:,}" for tick in _TICKS],
    )


def _upright(softmax_saturation: SoftmaxSaturation, quantity: str, title: str) -> dict[str, Any]:
    """From zero, or decades for the variance, which runs over three."""
    if quantity == "variance":
        return axes.decades(
            np.log10([*softmax_saturation.variance, *softmax_saturation.theory]).ravel(), title
        )
    maximum = {
        "entropy": math.log2(softmax_saturation.keys),
        "largest": 1.0,
        "gradient": softmax_saturation.gradient.max(),
    }
    return axes.axis(title, range=[0, 1.06 * float(maximum[quantity])])
