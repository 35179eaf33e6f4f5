"""Signal and gradient by depth for four arrangements of a block."""

from __future__ import annotations

import numpy as np

from seqviz.compute.transformer.depth import Depth
from seqviz.core.i18n import format_log10
from seqviz.plotting import NAMED, STYLE, Figure, Sheet, Style, axes

LOOKS = {"post": ("lstm", "solid"), "pre": ("gru", "dash"), "none": ("rnn", "dot"),
          "plain": ("mlp", "dashdot")}  # fmt: skip


def norms_by_depth(depth: Depth, quantity: str, style: Style = STYLE) -> Figure:
    """Plot signal or gradient after each block: medians of the runs, with bands of all runs.

    Args:
        depth: log10 norms by arrangement, run and depth.
        quantity: "signal" or "gradient".
        style: language, theme and scale of the figure.
    """
    label, palette = style.labels("figure.tr_"), style.palette
    values = getattr(depth, quantity)
    # Gradients are all 1 at the output and differ at the input, which is therefore on the right.
    span, end = ([0, depth.blocks], -1) if quantity == "signal" else ([depth.blocks, 0], 0)
    sheet = Sheet(style)
    sheet.margin(r=130 * style.scale)
    y = axes.decades(values, label(quantity))
    panel = sheet.panel(axes.axis(label("depth"), range=span, dtick=max(1, depth.blocks // 8)), y)
    names = [label(arrangement) for arrangement in depth.arrangements]
    colors = [getattr(palette, LOOKS[arrangement][0]) for arrangement in depth.arrangements]
    ends = np.log10(10.0 ** np.median(values[..., end], axis=1)).tolist()
    for name, color, arrangement, runs in zip(
        names, colors, depth.arrangements, values, strict=True
    ):
        low, middle, high = (10.0 ** f(runs, axis=0) for f in (np.min, np.median, np.max))
        panel.band(np.arange(depth.blocks + 1), low, high, color)
        panel.line(np.arange(depth.blocks + 1), middle, name, color, dash=LOOKS[arrangement][1],
                   legend=False, hover=f"%{{x}}: %{{y:.3~g}}{NAMED}")  # fmt: skip
    panel.ends(names, colors, ends, span[1], y["range"])
    summary = "; ".join(f"{name}: {format_log10(at)}" for name, at in zip(names, ends, strict=True))
    return sheet.described(
        f"alt.tr_depth_{quantity}", blocks=depth.blocks, values=summary.replace("<br>", " ")
    )
