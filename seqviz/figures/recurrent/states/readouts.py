"""The path of a state through a sentence, verdicts of several readouts, and pads behind a text."""

from __future__ import annotations

import numpy as np

from seqviz.compute.recurrent.states.readouts import ByReadout, Padded, StatePath
from seqviz.core.i18n import percent
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, escape, short, whisker

_LEFT, _RIGHT = (0.0, 0.54), (0.66, 1.0)
_HALF, _OTHER = (0.0, 0.43), (0.57, 1.0)
_NAMED = 3  # words that stand beside the path: those that move it most


def state_path(
    state_path: StatePath, rest: StatePath | None, without: int, style: Style = STYLE
) -> Figure:
    """Left the states of a text, an arrow a word; right the verdict that each would give.

    rest: the same without the word `without` (from 1). The vertical line is the border of the two
    answers. Named are the words that move the state furthest.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    paths = [state_path, *([rest] if rest else [])]
    up = axes.around(*(path.y for path in paths), margin=0.12)
    left = sheet.panel(
        axes.axis(text("figure.states_across"),
                  range=axes.around(np.zeros(1), *(path.x for path in paths), margin=0.12)),
        axes.axis(text("figure.states_up"), range=up), across=_LEFT,
    )  # fmt: skip
    right = sheet.panel(
        axes.tokens(style, state_path.pieces, limit=20),
        axes.percent(text("figure.states_positive")), across=_RIGHT,
    )  # fmt: skip
    left.vertical(0, palette.baseline, width=1.5, dash="dot")
    right.horizontal(50, palette.baseline, width=1.5, dash="dot")
    for item, color, dash, name in zip(
        paths, (palette.gru, palette.rnn), ("solid", "dash"), ("whole", "rest"), strict=False
    ):
        summary = text(f"figure.states_{name}")
        steps = np.arange(1, len(item.pieces) + 1)
        if name == "rest":
            steps = steps + (steps >= without)  # under the words that are left
        left.line(
            item.x, item.y, summary, color, dash=dash, width=1.8, legend=False,
            text=["", *(escape(short(w)) for w in item.pieces)], hover="%{text}",
            mode="lines+markers",
            marker={"symbol": "arrow", "angleref": "previous", "size": 10, "color": color},
        )  # fmt: skip
        left.points(item.x[-1:], item.y[-1:], summary, color, size=11, legend=False, hover=False,
                    edge={"color": palette.truth, "width": 1.5})  # fmt: skip
        right.line(steps, 100 * item.probability[1:], summary, color, dash=dash, hover="%{y:.1f}%")
    far = np.hypot(np.diff(state_path.x), np.diff(state_path.y))
    for k in np.argsort(-far)[:_NAMED]:
        left.words(
            escape(short(state_path.pieces[k])), state_path.x[k + 1], state_path.y[k + 1], yshift=11
        )
    if 1 <= without <= len(state_path.pieces):
        right.vertical(without, palette.highlight, width=1.5)
    sheet.margin(t=44)
    sheet.legend(x=1, xanchor="right")
    return sheet.described(
        "alt.states_path", words=len(state_path.pieces), verdict=state_path.verdict,
        rest=percent(rest.verdict) if rest else "–",
        word=escape(state_path.pieces[without - 1]) if rest else "–",
    )  # fmt: skip


def accuracy_by_readout(
    by_readout: ByReadout, visible: tuple[str, ...], minimum: int, style: Style = STYLE
) -> Figure:
    """Right verdicts of each readout on held-out reviews of at least so many words.

    Whiskers: 95% intervals over reviews. Dotted: the answer that is more frequent in training.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style, showlegend=False)
    every = [by_readout.accuracy(name, minimum) for name in visible]
    names = [text(f"figure.states_{name}") for name in visible]
    often = 100 * by_readout.majority(minimum)
    low, high = [100 * item.low for item in every], [100 * item.high for item in every]
    span = [min(often, *low) - 4, max(high) + 4]
    panel = sheet.panel(
        axes.percent(text("figure.states_right", least=minimum), *span),
        axes.names(names, text("figure.states_from"), range=[len(names) + 0.6, 0.4]),
    )
    panel.vertical(often, palette.baseline, width=1.5, dash="dot")
    panel.words(text("figure.states_often"), often, len(names) + 0.45, xanchor="left", xshift=4,
                color=palette.baseline)  # fmt: skip
    shares = [100 * item.share for item in every]
    chosen = {"last": palette.highlight, "words": palette.baseline}
    panel.points(
        shares, np.arange(1, len(names) + 1), text("figure.states_verdicts"),
        [chosen.get(name, palette.gru) for name in visible], size=12, hover="%{x:.1f}%",
        edge={"color": palette.truth, "width": 1},
        error_x=whisker(shares, low, high, palette.truth),
    )  # fmt: skip
    return sheet.described(
        "alt.states_readouts", names={"y": names}, reviews=every[0].n, least=minimum,
        every=", ".join(f"{n} {percent(item.share)}" for n, item in zip(names, every, strict=True)),
        often=often / 100,
    )  # fmt: skip


def pads_behind(
    padded: Padded, many: ByReadout, kind: str, pads: int, style: Style = STYLE
) -> Figure:
    """Left the verdict on a text by the number of pads behind it, right how many are right.

    kind: what a pad is, "zeros" or "unknown" (drawn strong). The dashed line is read from a packed
    batch: the state of the last word. Whiskers: 95% intervals over reviews.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    maximum = len(padded.zeros) - 1
    left, right = (
        sheet.panel(
            axes.axis(text("figure.states_pads"), range=[-1.5, maximum + 1.5]),
            axes.percent(text(f"figure.states_{name}")), across=across,
        )
        for name, across in (("positive", _HALF), ("verdicts", _OTHER))
    )  # fmt: skip
    for panel, packed in ((left, padded.packed), (right, many.with_pads(kind, 0).share)):
        panel.vertical(pads, palette.highlight, width=1.5)
        panel.reference([0, maximum], [100 * packed] * 2, text("figure.states_packed"), dash="dash",
                        legend=panel is left)  # fmt: skip
    for item, color, symbol in (("zeros", palette.prediction, "circle"),
                               ("unknown", palette.rnn, "diamond")):  # fmt: skip
        width = 2.8 if item == kind else 1.2
        summary = text(f"figure.states_pad_{item}")
        left.line(
            np.arange(maximum + 1),
            100 * getattr(padded, item),
            summary,
            color,
            width=width,
            hover="%{y:.1f}%",
        )
        every = [many.with_pads(item, int(k)) for k in many.pads]
        shares = [100 * k.share for k in every]
        ends = ([100 * k.low for k in every], [100 * k.high for k in every])
        right.line(many.pads, shares, summary, color, width=width, symbol=symbol, legend=False,
                   hover="%{y:.1f}%", error_y=whisker(shares, *ends, color))  # fmt: skip
    often = 100 * float((many.positive == many.often).mean())
    right.reference([0, maximum], [often] * 2, text("figure.states_often"))
    sheet.margin(t=52)
    sheet.legend(y=1.06)
    return sheet.described(
        "alt.states_pads", pads=pads, packed=padded.packed,
        after=padded.after(kind, pads), right=many.with_pads(kind, pads).share,
        before=many.with_pads(kind, 0).share, reviews=len(many.positive),
        span=maximum,
    )  # fmt: skip
