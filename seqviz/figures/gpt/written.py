"""A text that a decoder has written: the bits of each token, and what it expected to pay."""

from __future__ import annotations

import numpy as np

from seqviz.compute.gpt.continuation import Continuation
from seqviz.core.i18n import number
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes


def written_bits(found: Continuation, style: Style = STYLE) -> Figure:
    """Bars: the surprise of each token under the model as it is; line: its entropy there."""
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    steps = np.arange(1, len(found.ids) + 1)
    top = 1.08 * max(1.0, float(found.bits.max()), float(found.entropy.max()))
    panel = sheet.panel(
        axes.tokens(style, found.pieces, text("figure.written_token"), tickangle=-90),
        axes.axis(text("figure.method_bits"), range=[0, top]),
    )
    panel.bars(
        steps, found.bits, text("figure.written_bits"), palette.prediction, customdata=found.rank,
        hover=text("figure.written_hover", token="%{x}", bits="%{y:.2f}", rank="%{customdata}"),
    )  # fmt: skip
    panel.line(steps, found.entropy, text("figure.written_entropy"), palette.highlight, width=2,
               hover="%{y:.2f}")  # fmt: skip
    return sheet.described(
        "alt.written",
        names={"x": list(found.pieces)},
        tokens=len(found.ids),
        first=number(float(found.bits[:8].mean())),
        last=number(float(found.bits[-8:].mean())),
        entropy=number(float(found.entropy.mean())),
    )
