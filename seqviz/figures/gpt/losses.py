"""The bits of every token of a text, and which of them a language model is scored on."""

from __future__ import annotations

import numpy as np

from seqviz.compute.gpt.losses import Scored
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes


def token_losses(scored: Scored, style: Style = STYLE) -> Figure:
    """A bar for each token: dark where it carries loss, pale where it is read only.

    The dotted line is the mean of the dark ones, over these.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style, barmode="overlay")
    at = np.arange(1, len(scored.pieces) + 1)
    panel = sheet.panel(
        axes.tokens(style, scored.pieces, text("figure.loss_token"), tickangle=-90),
        axes.axis(text("figure.method_bits"), range=[0, 1.08 * max(1.0, np.nanmax(scored.bits))]),
    )
    for carries, name, color in (
        (True, "figure.loss_carries", palette.prediction),
        (False, "figure.loss_read", palette.band),
    ):
        here = (scored.carries == carries) & np.isfinite(scored.bits)
        if here.any():
            panel.bars(at[here], scored.bits[here], text(name), color, width=0.8,
                       hover="%{x}: %{y:.2f}")  # fmt: skip
    panel.line([scored.first + 0.5, len(at) + 0.5], [scored.loss] * 2, text("figure.loss_mean"),
               palette.highlight, width=2, dash="dot", hover=False)  # fmt: skip
    return sheet.described(
        "alt.losses",
        names={"x": list(scored.pieces)},
        tokens=len(scored.pieces),
        scored=scored.scored,
        loss=scored.loss,
    )
