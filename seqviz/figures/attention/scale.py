"""Effect of scaling on the softmax by length of queries and keys."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from jaxtyping import Int

from seqviz.compute.attention.saturation import SoftmaxSaturation
from seqviz.core.i18n import number
from seqviz.figures.attention.walk_matrices import bare
from seqviz.plotting import NAMED, STYLE, Figure, Sheet, Style, axes

QUANTITIES = ("entropy", "largest", "gradient", "variance")
_TICKS = [4**k for k in range(6)]
_BASE = 64  # d_k of the base Transformer (Vaswani et al. 2017)
_HOVER = "d<sub>k</sub> = %{x:d}: %{y:.3g}"
LOOK = {  # text key, role in the palette, dash and width of each scaling
    "none": ("none", "truth", "solid", 3.0),
    "d_k": ("by_d_k", "prediction", "solid", 3.0),
    "d": ("by_d", "baseline", "dash", 2.2),
}


def saturation_lines(
    softmax_saturation: SoftmaxSaturation, quantity: str, style: Style = STYLE
) -> Figure:
    """Plot a quantity of the softmax over d_k (log axis), one line for each scaling.

    A vertical line marks d_k = 64, of the base Transformer.

    Args:
        softmax_saturation: simulated quantities.
        quantity: "entropy" of the weights (bits) with its maximum, "largest" weight, "gradient"
            (mean norm of the softmax's Jacobian), or "variance" of the softmax's input with theory,
            on a log axis.
        style: language, theme and scale of the figure.

    Raises:
        ValueError: another quantity.
    """
    if quantity not in QUANTITIES:
        raise ValueError(f"The quantity is one of {', '.join(QUANTITIES)}, not {quantity!r}.")
    label, d_k = style.labels("figure.attention_scale_"), softmax_saturation.d_k
    values, title = getattr(softmax_saturation, quantity), label(quantity)
    sheet = Sheet(style)
    panel = sheet.panel(
        _dimensions(d_k, label("d_k")), _upright(softmax_saturation, quantity, title)
    )
    panel.vertical(_BASE, style.palette.highlight)
    errors: Any = [None] * len(values)
    hover = _HOVER
    if quantity == "entropy":
        errors = softmax_saturation.entropy_error
        hover += label("hover_error", error="%{customdata:.2g}")
    lines = [LOOK[scaling] for scaling in softmax_saturation.scalings]
    names = [label(key, heads=softmax_saturation.heads) for key, *_ in lines]
    for (_, role, dash, width), name, line, error in zip(lines, names, values, errors, strict=True):
        panel.line(d_k, line, name, getattr(style.palette, role), width=width, dash=dash,
                   customdata=error, hover=hover + NAMED)  # fmt: skip
    if quantity == "entropy":  # the maximum: equal weights on all keys
        bits = math.log2(softmax_saturation.keys)
        maximum = label("most", keys=softmax_saturation.keys, bits=bits)
        panel.reference(d_k[[0, -1]], np.array([bits, bits]), maximum, width=1.6,
                        hover="%{y:.3g}" + NAMED)  # fmt: skip
    for theory in softmax_saturation.theory if quantity == "variance" else ():
        panel.line(d_k, theory, label("theory"), style.palette.highlight, width=1.8, dash="dot",
                   hover=_HOVER + NAMED, group="theory")  # fmt: skip
    ends = [f"{bare(name)} {number(line[-1])}" for name, line in zip(names, values, strict=True)]
    return sheet.described(
        "alt.attention_scale", quantity=bare(title), first=int(d_k[0]), last=int(d_k[-1]),
        keys=softmax_saturation.keys, values="; ".join(ends),
    )  # fmt: skip


def _dimensions(d_k: Int[np.ndarray, "size"], title: str) -> dict[str, Any]:
    reach = [math.log10(d_k[0]), math.log10(d_k[-1])]
    words = [f"{tick:,}" for tick in _TICKS]
    return axes.axis(title, type="log", range=reach, tickvals=_TICKS, ticktext=words)


def _upright(softmax_saturation: SoftmaxSaturation, quantity: str, title: str) -> dict[str, Any]:
    """Return the y axis: linear from zero; logarithmic for the variance, which spans 3 decades."""
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
