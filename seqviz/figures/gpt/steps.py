"""A text token by token: what could have stood at each step, what was taken, and the surprise."""

from __future__ import annotations

import numpy as np

from seqviz.compute.gpt.continuation import Continuation, parted
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, escape, scales, short

RANKS = 5  # likeliest tokens of a step that have a cell
_LEFT, _RIGHT = (0.0, 0.62), (0.8, 1.0)
_LETTERS = 8  # of a token in a cell


def text_steps(
    continuation: Continuation,
    other: Continuation | None,
    step: int,
    rank: int,
    style: Style = STYLE,
) -> Figure:
    """Left a row for each step: the token written, and beside it the likeliest by rank.

    The color of a cell is the token's probability; a frame has what was taken. other: the text
    before a token was replaced. step: of the row with a frame, from 1; rank: of the token that was
    put there, 0 for none. Right, the surprise of each token and the entropy at each step, in bits.
    """
    text, palette = style.text, style.palette
    count = len(continuation.ids)
    sheet = Sheet(style)
    names = [text("figure.steps_written"), *map(str, range(1, RANKS + 1))]
    rows = axes.names([str(k) for k in range(1, count + 1)], text("figure.steps_step"),
                      range=[count + 0.6, 0.4])  # fmt: skip
    pieces = [
        [item, *row[:RANKS]]
        for item, row in zip(continuation.pieces, continuation.names, strict=True)
    ]
    probabilities = np.column_stack(
        [2**-continuation.bits, continuation.chances[:, :RANKS]]
    ).astype(np.float32)
    table = sheet.panel(
        axes.axis(text("figure.steps_rank"), range=[-0.5, RANKS + 0.5], showgrid=False,
                  tickvals=list(range(RANKS + 1)), ticktext=names),
        rows, across=_LEFT,
    )  # fmt: skip
    table.cells(
        probabilities,
        text("figure.steps_chance"),
        scales.tint(),
        x=np.arange(RANKS + 1),
        pick=True,
        xgap=1,
        ygap=1,
        text=[[escape(short(item, _LETTERS)) for item in row] for row in pieces],
        texttemplate="%{text}",
        textfont={"size": 12 * style.scale, "color": palette.truth},
        hover=text("figure.steps_hover", step="%{y}", token="%{text}", chance="%{z:.3f}"),
    )
    for row, position in enumerate(continuation.rank.tolist(), 1):
        if position <= RANKS:
            table.outline(palette.highlight, column=position, row=row, width=2)
    table.outline(palette.rnn, row=min(step, count), width=2)
    at = np.arange(1, count + 1)
    top = max(1.0, float(continuation.bits.max()), float(continuation.entropy.max()))
    beside = sheet.panel(
        axes.axis(text("figure.steps_bits"), range=[0, 1.08 * top], nticks=4), rows, across=_RIGHT
    )
    beside.bars(
        at,
        continuation.bits,
        text("figure.written_bits"),
        palette.prediction,
        sideways=True,
        width=0.6,
        hover="%{y}: %{x:.2f}",
    )
    beside.line(
        continuation.entropy,
        at,
        text("figure.written_entropy"),
        palette.highlight,
        width=2,
        hover="%{y}: %{x:.2f}",
    )
    return sheet.described(
        "alt.steps",
        names={"x": names},
        gap=0.16,
        tokens=count,
        bits=continuation.mean_bits,
        entropy=float(continuation.entropy.mean()),
        parted=parted(continuation.ids, other.ids) + 1 if other else 0,
    )
