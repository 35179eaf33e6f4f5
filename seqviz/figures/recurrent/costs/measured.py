"""Time of sequential steps and of one product, and the loss terms of a sequence."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.recurrent.costs.terms import AnswerTerms
from seqviz.compute.recurrent.costs.timing import WAYS, StepTimes
from seqviz.plotting import NAMED, STYLE, Figure, Sheet, Style, axes, escape
from seqviz.plotting.progress_figure import share_done

_LOOKS = {"steps": ("rnn", "solid", "circle"), "product": ("prediction", "dash", "diamond")}


def time_by_length(step_times: StepTimes, batch: int, length: int, style: Style = STYLE) -> Figure:
    """Plot milliseconds by number of steps: measurements as points, lines through medians.

    The vertical line is the chosen length.

    Args:
        step_times: measured times.
        batch: number of sequences read at once.
        length: chosen length.
        style: language, theme and scale of the figure.
    """
    label, sheet = style.labels("figure.bill_"), Sheet(style)
    sheet.margin(t=44)
    lengths, ms = step_times.lengths, 1000 * step_times.seconds
    panel = sheet.panel(
        axes.axis(label("length"), type="log", tickvals=lengths[::2].tolist(),
                  range=[-0.05, np.log10(float(lengths[-1])) + 0.05]),
        axes.decades(np.log10(ms).ravel(), label("milliseconds")),
    )  # fmt: skip
    panel.vertical(length, style.palette.highlight)
    for kind, each in zip(WAYS, ms[:, step_times.batches.index(batch)], strict=True):
        role, dash, symbol = _LOOKS[kind]
        series: dict[str, Any] = {"name": label(kind), "color": getattr(style.palette, role),
                                  "symbol": symbol, "group": kind}  # fmt: skip
        panel.points(np.tile(lengths, len(each)), each.ravel(), size=4, opacity=0.35, legend=False,
                     hover=False, **series)  # fmt: skip
        panel.line(lengths, np.median(each, axis=0), dash=dash,
                   hover=f"%{{x}}: %{{y:.3~g}} ms{NAMED}", **series)  # fmt: skip
    return sheet.described("alt.bill_time", **step_times.compared(batch, length))


def timed_so_far(done: object, style: Style = STYLE) -> Figure:
    """Plot the share of rounds timed so far."""
    words = {"read": "figure.bill_rounds", "of": "figure.bill_all", "alt": "alt.bill_so_far"}
    return share_done(done, style, **words)


def terms_of_loss(answer_terms: AnswerTerms, output: str, end: str, style: Style = STYLE) -> Figure:
    """Plot the bits of each token of the answer; hollow bars are left out of the sum.

    The dotted line is the other choice of `output`.

    Args:
        answer_terms: bits of all tokens.
        output: output that the probability is read from, "before" or "same".
        end: end of the sum, as in `AnswerTerms.totals`.
        style: language, theme and scale of the figure.
    """
    label, palette, sheet = style.labels("figure.bill_"), style.palette, Sheet(style)
    sheet.margin(t=44)
    facts = answer_terms.totals(output, end)
    other = "same" if output == "before" else "before"
    bits, line = getattr(answer_terms, output), getattr(answer_terms, other)
    pieces = ["␣" if piece == " " else piece for piece in answer_terms.pieces]
    panel = sheet.panel(
        axes.tokens(style, pieces, label("token")),
        axes.axis(label("bits"), range=[0, 1.08 * max(1.0, bits.max(), line.max())]),
    )
    at, summed = np.arange(1, len(bits) + 1), facts["terms"]
    for name, part, color in (("summed", slice(summed), palette.gru),
                              ("left", slice(summed, None), "rgba(0,0,0,0)")):  # fmt: skip
        if len(at[part]):
            panel.bars(at[part], bits[part], f"{label(output)}: {label(name)}", color, width=0.8,
                       edge={"color": palette.gru, "width": 1.5}, hover="%{customdata}: %{y:.2f}",
                       customdata=[escape(piece) for piece in pieces[part]])  # fmt: skip
    panel.line(at, line, label(other), palette.baseline, dash="dot", width=1.8, size=5,
               symbol="diamond" if len(at) <= 40 else None, hover="%{y:.2f}")  # fmt: skip
    return sheet.described("alt.bill_terms", **facts, other=answer_terms.bits(other, end))
