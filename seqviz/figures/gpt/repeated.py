"""A sentence written again and again: how probable each copy is, and where it costs bits."""

from __future__ import annotations

import numpy as np

from seqviz.compute.gpt.surprise import Repeated
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, scales

_TOP, _BELOW = (0.6, 1.0), (0.0, 0.36)


def repetition(repeated: Repeated, style: Style = STYLE) -> Figure:
    """Above the mean probability of a token by copy; below the bits of every token of every copy.

    With a penalty the line without one stays, dotted, and the bits are those with it.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    copies = np.arange(1, repeated.copies + 1)
    punished = repeated.penalty != 1
    above = sheet.panel(
        axes.axis(text("figure.copy"), range=[0.4, repeated.copies + 0.6], tickvals=copies.tolist(),
                  showgrid=False),
        axes.percent(text("figure.copy_chance")),
        up=_TOP,
    )  # fmt: skip
    plain = 100 * 2 ** -repeated.mean_bits()
    if punished:
        above.reference(copies, plain, text("figure.copy_plain"))
    above.line(
        copies, 100 * 2 ** -repeated.mean_bits(True) if punished else plain,
        text("figure.copy_penalty", penalty=repeated.penalty) if punished
        else text("figure.copy_plain"),
        palette.prediction, symbol="circle", legend=punished, hover="%{x}: %{y:.3g}%",
    )  # fmt: skip
    below = sheet.panel(
        axes.tokens(style, repeated.pieces, text("figure.copy_token")),
        axes.axis(
            text("figure.copy"), range=[repeated.copies + 0.5, 0.5], showgrid=False, nticks=7
        ),
        up=_BELOW,
    )
    bits = (repeated.penalized if punished else repeated.bits).astype(np.float32)
    below.cells(
        bits, text("figure.copy_bits"), scales.unit_scale(0, max(1.0, float(np.nanmax(bits)))),
        hover=text("figure.copy_hover", copy="%{y}", token="%{x}", bits="%{z:.2f}"),
        hoverongaps=False, xgap=1, ygap=1,
    )  # fmt: skip
    return sheet.described(
        "alt.repetition",
        names={"x2": list(repeated.pieces)},
        gap=0.2,
        copies=repeated.copies,
        first=repeated.probability(1, punished),
        last=repeated.probability(repeated.copies, punished),
    )
