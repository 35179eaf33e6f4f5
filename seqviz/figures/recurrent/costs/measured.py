"""Time of steps in a row beside one product, and the terms of a sequence's loss."""

from __future__ import annotations

import numpy as np

from seqviz.compute.recurrent.costs.terms import AnswerTerms
from seqviz.compute.recurrent.costs.timing import WAYS, StepTimes
from seqviz.plotting import NAMED, STYLE, Figure, Sheet, Style, axes, escape
from seqviz.plotting.progress_figure import share_done

_LOOKS = {"steps": ("rnn", "solid", "circle"), "product": ("prediction", "dash", "diamond")}


def time_by_length(step_times: StepTimes, batch: int, length: int, style: Style = STYLE) -> Figure:
    """Milliseconds by the number of steps, each measurement a point, the medians joined.

    batch: sequences that are read at once. The vertical line is the chosen length.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    sheet.margin(t=44)
    lengths, b = step_times.lengths, step_times.batches.index(batch)
    visible = 1000 * step_times.seconds[:, b]
    panel = sheet.panel(
        axes.axis(text("figure.bill_length"), type="log", tickvals=lengths[::2].tolist(),
                  range=[-0.05, np.log10(float(lengths[-1])) + 0.05]),
        axes.decades(np.log10(1000 * step_times.seconds).ravel(), text("figure.bill_milliseconds")),
    )  # fmt: skip
    panel.vertical(length, palette.highlight)
    for at, direction in enumerate(WAYS):
        role, dash, symbol = _LOOKS[direction]
        color, name = getattr(palette, role), text(f"figure.bill_{direction}")
        panel.points(
            np.tile(lengths, len(visible[at])),
            visible[at].ravel(),
            name,
            color,
            size=4,
            symbol=symbol,
            opacity=0.35,
            legend=False,
            group=direction,
            hover=False,
        )
        panel.line(lengths, np.median(visible[at], axis=0), name, color, dash=dash, symbol=symbol,
                   group=direction, hover=f"%{{x}}: %{{y:.3~g}} ms{NAMED}")  # fmt: skip
    steps, product = step_times.milliseconds(batch, length)
    return sheet.described(
        "alt.bill_time", length=length, steps=steps, product=product,
        ratio=steps / product, batch=batch,
    )  # fmt: skip


def timed_so_far(done: object, style: Style = STYLE) -> Figure:
    """How many of the rounds have been timed."""
    return share_done(
        done, style, read="figure.bill_rounds", of="figure.bill_all", alt="alt.bill_so_far"
    )


def terms_of_loss(answer_terms: AnswerTerms, output: str, end: str, style: Style = STYLE) -> Figure:
    """Bits of each token of the answer: bars for the terms that are summed, outlines for others.

    The quiet line is the other choice of the output that the probability is read from.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    sheet.margin(t=44)
    bits, other = getattr(answer_terms, output), getattr(answer_terms, _other(output))
    summed = answer_terms.summed(end)
    pieces = ["␣" if piece == " " else piece for piece in answer_terms.pieces]
    panel = sheet.panel(
        axes.tokens(style, pieces, text("figure.bill_token")),
        axes.axis(text("figure.bill_bits"), range=[0, 1.08 * max(1.0, bits.max(), other.max())]),
    )
    at, rendered = np.arange(1, len(bits) + 1), text(f"figure.bill_{output}")
    for name, part, color in (("summed", slice(summed), palette.gru),
                              ("left", slice(summed, None), "rgba(0,0,0,0)")):  # fmt: skip
        if len(at[part]):
            panel.bars(at[part], bits[part], f"{rendered}: {text(f'figure.bill_{name}')}", color,
                       width=0.8, edge={"color": palette.gru, "width": 1.5},
                       customdata=[escape(piece) for piece in pieces[part]],
                       hover="%{customdata}: %{y:.2f}")  # fmt: skip
    panel.line(at, other, text(f"figure.bill_{_other(output)}"), palette.baseline, dash="dot",
               width=1.8, symbol="diamond" if len(at) <= 40 else None, size=5,
               hover="%{y:.2f}")  # fmt: skip
    return sheet.described(
        "alt.bill_terms",
        read=answer_terms.read,
        tokens=len(bits),
        summed=summed,
        bits=answer_terms.bits(output, end),
        other=answer_terms.bits(_other(output), end),
    )


def _other(output: str) -> str:
    return "same" if output == "before" else "before"
