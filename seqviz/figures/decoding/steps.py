"""A text token by token: what could have stood at each step, what was taken, and the surprise."""

from __future__ import annotations

import numpy as np

from seqviz.compute.decoding.continuation import Continuation, parted
from seqviz.figures.grammar import STYLE, Figure, Sheet, Style, axes, plain, scales
from seqviz.figures.grammar.tokens import short
from seqviz.text import number

RANKS = 8  # likeliest tokens of a step that have a cell
_TOP, _BELOW = (0.36, 1.0), (0.0, 0.2)
_LETTERS = 8  # of a token in a cell


def text_steps(
    found: Continuation,
    other: Continuation | None,
    step: int,
    rank: int,
    style: Style = STYLE,
) -> Figure:
    """Above, a column for each step: the token written, and below it the likeliest by rank.

    The color of a cell is the token's probability. other: the text before a token was replaced,
    for its entropy. step: of the column with a frame, from 1; rank: of the token that was put
    there, 0 for none. Below, the surprise of each token and the entropy at each step, in bits.
    """
    text, palette = style.text, style.palette
    count = len(found.ids)
    sheet = Sheet(style)
    names = [text("figure.steps_written"), *map(str, range(1, RANKS + 1))]
    columns = [str(k) for k in range(1, count + 1)]
    pieces = [[*found.pieces], *([row[r] for row in found.names] for r in range(RANKS))]
    chances = np.vstack([2**-found.bits, found.chances[:, :RANKS].T]).astype(np.float32)
    table = sheet.panel(
        axes.names(columns, text("figure.steps_step")),
        axes.names(names, text("figure.steps_rank"), range=[RANKS + 1.6, 0.4]),
        up=_TOP,
    )
    table.cells(
        chances, text("figure.steps_chance"), scales.tint(), pick=True, xgap=1, ygap=1,
        text=[[plain(short(piece, _LETTERS)) for piece in row] for row in pieces],
        texttemplate="%{text}", textfont={"size": 12 * style.scale, "color": palette.truth},
        hover=text("figure.steps_hover", step="%{x}", token="%{text}", chance="%{z:.3f}"),
    )  # fmt: skip
    for k, place in enumerate(found.rank.tolist(), 1):
        if place <= RANKS:
            table.outline(palette.highlight, column=k, row=place + 1, width=2)
    table.outline(palette.rnn, column=min(step, count), width=2)
    top = max(1.0, float(found.bits.max()), float(found.entropy.max()))
    below = sheet.panel(
        axes.names(columns, text("figure.steps_step")),
        axes.axis(text("figure.steps_bits"), range=[0, 1.08 * top], nticks=4),
        up=_BELOW,
    )
    at = np.arange(1, count + 1)
    below.bars(at, found.bits, text("figure.written_bits"), palette.prediction, width=0.6,
               hover="%{x}: %{y:.2f}")  # fmt: skip
    below.line(at, found.entropy, text("figure.written_entropy"), palette.highlight, width=2,
               hover="%{x}: %{y:.2f}")  # fmt: skip
    return sheet.described(
        "alt.steps",
        names={"x": list(found.pieces), "y": names},
        gap=0.16,
        tokens=count,
        bits=number(found.mean_bits),
        entropy=number(float(found.entropy.mean())),
        parted=parted(found.ids, other.ids) + 1 if other else 0,
    )
