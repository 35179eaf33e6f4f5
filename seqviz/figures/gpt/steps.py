"""Generated text token by token: alternatives at each step, and bits."""

from __future__ import annotations

import numpy as np

from seqviz.compute.gpt.continuation import Continuation, parted
from seqviz.figures.gpt.beginning import beginning
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, escape, scales, short

RANKS = 5  # number of likeliest tokens with a cell at each step
_LETTERS = 8  # maximum number of characters of a token in a cell


def text_steps(
    continuation: Continuation, other: Continuation | None, step: int, rank: int,
    style: Style = STYLE,
) -> Figure:  # fmt: skip
    """Plot the written token and the likeliest ones of each step (left), and its bits (right).

    Left: the color of a cell is the token's probability; the written token is outlined. Right:
    surprisal (bars) and entropy (line) in bits.

    Args:
        continuation: the text.
        other: text before a token was replaced, if one was.
        step: outlined row, from 1.
        rank: rank of the replacing token, 0 for none.
        style: language, theme and scale of the figure.
    """
    label, palette = style.labels("figure.steps_"), style.palette
    bits, entropy, count = continuation.bits, continuation.entropy, len(continuation.ids)
    sheet = Sheet(style)
    sheet.margin(t=64 * style.scale)  # the legend is above the title of the table
    sheet.legend(y=1.07)
    names = [label("written"), *map(str, range(1, RANKS + 1))]
    rows = axes.ranked([str(k) for k in range(1, count + 1)], label("step"))
    table, beside = sheet.row(
        (axes.axis(label("rank"), range=[-0.5, RANKS + 0.5], showgrid=False,
                   tickvals=list(range(RANKS + 1)), ticktext=names), rows),
        (axes.axis(label("bits"), range=[0, 1.08 * _top(continuation)], nticks=4), rows),
        gaps=(0.62, 0.8),
    )  # fmt: skip
    table.title(label("after_text", text=beginning(continuation.prompt)))
    words = zip(continuation.pieces, continuation.names, strict=True)
    values = np.column_stack([2**-bits, continuation.chances[:, :RANKS]]).astype(np.float32)
    table.cells(
        values, label("chance"), scales.tint(), x=np.arange(RANKS + 1), pick=True, xgap=1, ygap=1,
        text=[[escape(short(word, _LETTERS)) for word in (own, *row[:RANKS])]
              for own, row in words],
        texttemplate="%{text}", textfont={"size": 12 * style.scale, "color": palette.truth},
        hover=label("hover", step="%{y}", token="%{text}", chance="%{z:.3f}"),
    )  # fmt: skip
    for row, position in enumerate(continuation.rank.tolist(), 1):
        if position <= RANKS:
            table.outline(palette.highlight, column=position, row=row, width=2)
    table.outline(palette.rnn, row=min(step, count), width=2)
    beside.ranked_bars(bits, style.text("figure.written_bits"), palette.prediction, width=0.6,
                       hover="%{y}: %{x:.2f}")  # fmt: skip
    beside.line(entropy, np.arange(1, count + 1), style.text("figure.written_entropy"),
                palette.highlight, width=2, hover="%{y}: %{x:.2f}")  # fmt: skip
    return sheet.described(
        "alt.steps", names={"x": names}, gap=0.16, **continuation.summary(),
        parted=parted(continuation.ids, other.ids) + 1 if other else 0,
    )  # fmt: skip


def written_bits(continuation: Continuation, style: Style = STYLE) -> Figure:
    """Plot surprisal (bars) and entropy (line) at each token, of the model without filters."""
    label, palette = style.labels("figure.written_"), style.palette
    sheet = Sheet(style)
    panel = sheet.panel(
        axes.tokens(style, continuation.pieces, label("token"), tickangle=-90),
        axes.axis(style.text("figure.method_bits"), range=[0, 1.08 * _top(continuation)]),
    )
    panel.token_bars(
        continuation.bits, label("bits"), palette.prediction, customdata=continuation.rank,
        hover=label("hover", token="%{x}", bits="%{y:.2f}", rank="%{customdata}"),
    )  # fmt: skip
    panel.line(np.arange(1, len(continuation.ids) + 1), continuation.entropy, label("entropy"),
               palette.highlight, width=2, hover="%{y:.2f}")  # fmt: skip
    return sheet.described(
        "alt.written", names={"x": list(continuation.pieces)}, **continuation.summary(),
        first=continuation.mean_of(0, 8), last=float(continuation.bits[-8:].mean()),
    )  # fmt: skip


def _top(continuation: Continuation) -> float:
    return max(1.0, float(continuation.bits.max()), float(continuation.entropy.max()))
