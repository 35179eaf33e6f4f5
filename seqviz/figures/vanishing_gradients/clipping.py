"""One training with and without gradient clipping."""

from __future__ import annotations

import numpy as np

from seqviz.compute.vanishing_gradients import Descent
from seqviz.figures.vanishing_gradients.style import log10
from seqviz.plotting import STYLE, Figure, Panel, Sheet, Style, axes

_FEW = 12  # updates whose points are marked


def with_and_without_clipping(
    free: Descent, clipped: Descent, threshold: float, style: Style = STYLE
) -> Figure:
    """Plot the loss (left) and the gradient norm (right) by update, with and without clipping.

    The dotted line on the right is the threshold.

    Args:
        free: training without clipping.
        clipped: the same training with clipping.
        threshold: theta, the largest gradient norm that clipping lets through.
        style: language, theme and scale of the figure.
    """
    text, palette, runs = style.text, style.palette, (free, clipped)
    total = max(len(run.loss) for run in runs)
    update = axes.axis(text("figure.update"), range=[0, total * 1.02])
    losses = log10(np.concatenate([run.loss for run in runs]))
    norms = log10(np.concatenate([*(run.norm for run in runs), [threshold]]))
    sheet = Sheet(style)
    left, right = sheet.row(
        (update, axes.decades(losses, text("figure.mse"))),
        (update, axes.decades(norms, text("figure.weight_gradient_norm"))),
        gaps=(0.45, 0.58),
    )
    left.replays()
    right.replays()
    for name, run, color, dash in (
        ("free", free, palette.rnn, "dash"),
        ("clipped", clipped, palette.prediction, "solid"),
    ):
        _run(left, run.loss, text(f"figure.descent_{name}"), color, dash)
        _run(right, run.norm, text(f"figure.descent_{name}"), color, dash)
        if run.left_float32 is not None and len(run.loss):
            left.points(
                [len(run.loss)], left.powers(log10(run.loss[-1:])), "", color, symbol="x", size=12,
                legend=False, hover=False, mode="markers+text", textposition="middle right",
                text=[text("figure.left_at", update=run.left_float32)], textfont={"color": color},
            )  # fmt: skip
    named = text("figure.threshold", value=threshold)
    right.reference([1, total], [threshold, threshold], named, width=2, hover=None)
    return sheet.described(
        "alt.clipping", threshold=threshold, clipped=clipped.last_loss, updates=len(clipped.loss),
        free=free.last_loss, free_updates=len(free.loss),
    )  # fmt: skip


def _run(panel: Panel, values: np.ndarray, name: str, color: str, dash: str) -> None:
    """Draw a value after each update, counted from 1, with markers for a short run."""
    symbol = "circle" if len(values) < _FEW else None
    panel.line(np.arange(1, len(values) + 1), panel.powers(log10(values)), name, color, width=2.4,
               dash=dash, symbol=symbol, size=6)  # fmt: skip
