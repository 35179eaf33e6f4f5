"""What scaling does to the softmax as queries and keys become longer."""

from __future__ import annotations

import math
import re

import numpy as np

from seqviz.compute.attention.saturation import Saturation
from seqviz.figures.grammar import axes
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.sheet import NAMED, Sheet
from seqviz.figures.grammar.style import Style
from seqviz.text import number

_STYLE = Style()
QUANTITIES = ("entropy", "largest", "gradient", "variance")
_TAG = re.compile(r"<[^>]+>")
_TICKS = [4**k for k in range(6)]
_BASE = 64  # d_k of the base Transformer (Vaswani et al. 2017)
_HOVER = "d<sub>k</sub> = %{x:d}: %{y:.3g}"
# For each scaling: key of its words, role of its color, dash, width.
_LOOKS = {
    "none": ("none", "truth", "solid", 3.0),
    "d_k": ("by_d_k", "prediction", "solid", 3.0),
    "d": ("by_d", "baseline", "dash", 2.2),
}


def saturation_lines(found: Saturation, quantity: str, style: Style = _STYLE) -> Figure:
    """One line a scaling over d_k (log axis).

    quantity: "entropy" of the weights (bits) with the most that it can be, "largest" weight,
    "gradient", the mean norm of the softmax's Jacobian, or "variance" of what enters the softmax,
    on a log axis, with the theory's. A line stands at d_k = 64.
    Raises ValueError for another quantity.
    """
    if quantity not in QUANTITIES:
        raise ValueError(f"The quantity is one of {', '.join(QUANTITIES)}, not {quantity!r}.")
    text, palette = style.text, style.palette
    values, title = getattr(found, quantity), text(f"figure.attention_scale_{quantity}")
    first, last, bits = int(found.d_k[0]), int(found.d_k[-1]), math.log2(found.keys)
    if quantity == "variance":  # runs over three decades
        upright = axes.decades(np.log10([*found.variance, *found.theory]).ravel(), title)
    else:
        most = {"entropy": bits, "largest": 1.0, "gradient": float(found.gradient.max())}
        upright = axes.axis(title, range=[0, 1.06 * most[quantity]])
    sheet = Sheet(style)
    panel = sheet.panel(
        axes.axis(
            text("figure.attention_scale_d_k"),
            type="log",
            range=[math.log10(first), math.log10(last)],
            tickvals=_TICKS,
            ticktext=[f"{tick:,}" for tick in _TICKS],
        ),
        upright,
    )
    panel.vertical(_BASE, palette.highlight)
    error = text("figure.attention_scale_hover_error", error="%{customdata:.2g}")
    said = []
    for row, scaling in enumerate(found.scalings):
        words, role, dash, width = _LOOKS[scaling]
        name = text(f"figure.attention_scale_{words}")
        known = quantity == "entropy"  # its standard error
        panel.line(
            found.d_k,
            values[row],
            name,
            getattr(palette, role),
            width=width,
            dash=dash,
            customdata=found.entropy_error[row] if known else None,
            hover=f"{_HOVER}{error if known else ''}{NAMED}",
        )
        said.append(f"{_TAG.sub('', name)} {number(float(values[row, -1]))}")
    if quantity == "entropy":
        equal = number(bits).rstrip("0").rstrip(".")  # weights on all keys
        most_said = text("figure.attention_scale_most", keys=found.keys, bits=equal)
        ends = found.d_k[[0, -1]], np.array([bits, bits])
        panel.reference(*ends, most_said, width=1.6, hover="%{y:.3g}" + NAMED)
    for row, theory in enumerate(found.theory if quantity == "variance" else ()):
        panel.line(
            found.d_k,
            theory,
            text("figure.attention_scale_theory"),
            palette.highlight,
            width=1.8,
            dash="dot",
            hover=_HOVER + NAMED,
            group="theory",
            legend=row == 0,
        )
    return sheet.finish(
        text(
            "alt.attention_scale",
            quantity=_TAG.sub("", title),
            first=first,
            last=f"{last:,}",
            keys=found.keys,
            values="; ".join(said),
        )
    )
