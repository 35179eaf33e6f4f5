"""The bits of every token of a text, and which of them a language model is scored on."""

from __future__ import annotations

import numpy as np

from seqviz.compute.gpt.losses import Scored
from seqviz.core.i18n import number
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes


def token_losses(found: Scored, style: Style = STYLE) -> Figure:
    """A bar for each token: dark where it carries loss, pale where it is read only.

    The dotted line is the mean of the dark ones, over these.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style, barmode="overlay")
    at = np.arange(1, len(found.pieces) + 1)
    panel = sheet.panel(
        axes.tokens(style, found.pieces, text("figure.loss_token"), tickangle=-90),
        axes.axis(text("figure.method_bits"), range=[0, 1.08 * max(1.0, np.nanmax(found.bits))]),
    )
    for carries, name, color in (
        (True, "figure.loss_carries", palette.prediction),
        (False, "figure.loss_read", palette.band),
    ):
        here = (found.carries == carries) & np.isfinite(found.bits)
        if here.any():
            panel.bars(at[here], found.bits[here], text(name), color, width=0.8,
                       hover="%{x}: %{y:.2f}")  # fmt: skip
    panel.line([found.first + 0.5, len(at) + 0.5], [found.loss] * 2, text("figure.loss_mean"),
               palette.highlight, width=2, dash="dot", hover=False)  # fmt: skip
    return sheet.described(
        "alt.losses",
        names={"x": list(found.pieces)},
        tokens=len(found.pieces),
        scored=f"{found.scored:.0f}",
        loss=number(found.loss),
    )
