"""A text that a decoder has written: the bits of each token, and what it expected to pay."""

from __future__ import annotations

import numpy as np

from seqviz.compute.gpt.continuation import Continuation
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes


def written_bits(continuation: Continuation, style: Style = STYLE) -> Figure:
    """Bars: the surprise of each token under the model as it is; line: its entropy there."""
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    steps = np.arange(1, len(continuation.ids) + 1)
    top = 1.08 * max(1.0, float(continuation.bits.max()), float(continuation.entropy.max()))
    panel = sheet.panel(
        axes.tokens(style, continuation.pieces, text("figure.written_token"), tickangle=-90),
        axes.axis(text("figure.method_bits"), range=[0, top]),
    )
    panel.bars(
        steps,
        continuation.bits,
        text("figure.written_bits"),
        palette.prediction,
        customdata=continuation.rank,
        hover=text("figure.written_hover", token="%{x}", bits="%{y:.2f}", rank="%{customdata}"),
    )
    panel.line(
        steps,
        continuation.entropy,
        text("figure.written_entropy"),
        palette.highlight,
        width=2,
        hover="%{y:.2f}",
    )
    return sheet.described(
        "alt.written",
        names={"x": list(continuation.pieces)},
        tokens=len(continuation.ids),
        first=float(continuation.bits[:8].mean()),
        last=float(continuation.bits[-8:].mean()),
        entropy=float(continuation.entropy.mean()),
    )
