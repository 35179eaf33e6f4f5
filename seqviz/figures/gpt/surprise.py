"""Surprisal of the tokens of a given text: loss masking, and the effect of repetition."""

from __future__ import annotations

import numpy as np

from seqviz.compute.gpt.surprise import Repeated, Scored
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, scales


def token_losses(scored: Scored, style: Style = STYLE) -> Figure:
    """Plot each token's surprisal; dark bars count in the loss, pale ones are context only.

    The dotted line is the mean of the dark bars. Where all tokens but the first carry loss, each is
    named with the token before it, the last one read: inputs and targets are shifted by one.
    """
    label, palette = style.labels("figure.loss_"), style.palette
    sheet = Sheet(style, barmode="overlay")
    at, bits = np.arange(1, len(scored.pieces) + 1), scored.bits
    names, title = list(scored.pieces), label("token")
    if scored.first == 1:
        pairs = zip(scored.pieces, scored.pieces[1:], strict=False)
        names, title = [*names[:1], *(" → ".join(pair) for pair in pairs)], label("shift")
    panel = sheet.panel(
        axes.tokens(style, names, title, tickangle=-90),
        axes.axis(style.text("figure.method_bits"), range=[0, 1.08 * max(1.0, np.nanmax(bits))]),
    )
    styles = ((True, "carries", palette.prediction), (False, "read", palette.band))
    for carries, name, color in styles:
        here = (scored.carries == carries) & np.isfinite(bits)
        if here.any():
            panel.bars(at[here], bits[here], label(name), color, width=0.8,
                       hover="%{x}: %{y:.2f}")  # fmt: skip
    panel.line([scored.first + 0.5, len(at) + 0.5], [scored.loss] * 2, label("mean"),
               palette.highlight, width=2, dash="dot", hover=False)  # fmt: skip
    return sheet.described("alt.losses", names={"x": names}, result=scored)


def repetition(repeated: Repeated, style: Style = STYLE) -> Figure:
    """Plot the mean probability of a token by copy (top), and the bits of every token (bottom).

    With a penalty, the dotted line is without it, and the bits are those with it.
    """
    text, label = style.text, style.labels("figure.copy_")
    sheet = Sheet(style)
    count, punished, copy = repeated.copies, repeated.penalty != 1, text("figure.copy")
    copies = np.arange(1, count + 1)
    above = sheet.panel(
        axes.axis(copy, range=[0.4, count + 0.6], tickvals=copies.tolist(), showgrid=False),
        axes.percent(label("chance")), up=(0.6, 1.0),
    )  # fmt: skip
    name, values = label("plain"), 100 * 2 ** -repeated.mean_bits()
    if punished:
        above.reference(copies, values, name)
        name = label("penalty", penalty=repeated.penalty)
        values = 100 * 2 ** -repeated.mean_bits(True)
    above.line(copies, values, name, style.palette.prediction, symbol="circle", legend=punished,
               hover="%{x}: %{y:.3g}%")  # fmt: skip
    below = sheet.panel(
        axes.tokens(style, repeated.pieces, label("token")),
        axes.axis(copy, range=[count + 0.5, 0.5], showgrid=False, nticks=7), up=(0.0, 0.36),
    )  # fmt: skip
    bits = (repeated.penalized if punished else repeated.bits).astype(np.float32)
    below.cells(
        bits, label("bits"), scales.unit_scale(0, max(1.0, float(np.nanmax(bits)))),
        hover=label("hover", copy="%{y}", token="%{x}", bits="%{z:.2f}"),
        hoverongaps=False, xgap=1, ygap=1,
    )  # fmt: skip
    return sheet.described(
        "alt.repetition", names={"x2": list(repeated.pieces)}, gap=0.2, **repeated.compared()
    )
