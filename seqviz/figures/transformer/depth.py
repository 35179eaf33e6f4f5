"""Signal and gradient by depth, for four arrangements of a block."""

from __future__ import annotations

import numpy as np

from seqviz.compute.transformer.depth import Depth
from seqviz.core.i18n import format_log10
from seqviz.plotting import NAMED, STYLE, Figure, Sheet, Style, axes

LOOKS = {"post": ("lstm", "solid"), "pre": ("gru", "dash"), "none": ("rnn", "dot"),
          "plain": ("mlp", "dashdot")}  # fmt: skip


def norms_by_depth(depth: Depth, quantity: str, style: Style = STYLE) -> Figure:
    """Signal or gradient after each block: the median of the runs in a band from least to most."""
    text, palette = style.text, style.palette
    values = getattr(depth, quantity)
    sheet = Sheet(style)
    sheet.margin(r=130 * style.scale)
    blocks = np.arange(depth.blocks + 1)
    y = axes.decades(values, text(f"figure.tr_{quantity}"))
    method = [0, depth.blocks] if quantity == "signal" else [depth.blocks, 0]
    x = axes.axis(text("figure.tr_depth"), range=method, dtick=max(1, depth.blocks // 8))
    panel = sheet.panel(x, y)
    names: list[str] = []
    colors: list[str] = []
    ends: list[float] = []
    for at, arrangement in enumerate(depth.arrangements):
        role, dash = LOOKS[arrangement]
        color, name = getattr(palette, role), text(f"figure.tr_{arrangement}")
        low, middle, high = (10.0 ** f(values[at], axis=0) for f in (np.min, np.median, np.max))
        panel.band(blocks, low, high, color)
        panel.line(blocks, middle, name, color, dash=dash, legend=False,
                   hover=f"%{{x}}: %{{y:.3~g}}{NAMED}")  # fmt: skip
        names.append(name)
        colors.append(color)
        ends.append(float(np.log10(middle[-1 if quantity == "signal" else 0])))
    # All gradients are 1 at the output: their lines are apart at the input, which is on the right.
    panel.ends(names, colors, ends, depth.blocks if quantity == "signal" else 0, y["range"])
    summary = "; ".join(
        f"{name}: {format_log10(end)}" for name, end in zip(names, ends, strict=True)
    )
    summary = summary.replace("<br>", " ")
    return sheet.described(f"alt.tr_depth_{quantity}", blocks=depth.blocks, values=summary)
