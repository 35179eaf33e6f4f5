"""The path of a state through a sentence, verdicts of several readouts, and pads behind a text."""

from __future__ import annotations

import numpy as np

from seqviz.compute.recurrent.states.readouts import ByReadout, Padded, StatePath
from seqviz.core.i18n import number, percent
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, escape, short, whisker

_LEFT, _RIGHT = (0.0, 0.54), (0.66, 1.0)
_HALF, _OTHER = (0.0, 0.43), (0.57, 1.0)
_NAMED = 3  # words that stand beside the path: those that move it most


def state_path(
    whole: StatePath, rest: StatePath | None, without: int, style: Style = STYLE
) -> Figure:
    """Left the states of a text, an arrow a word; right the verdict that each would give.

    rest: the same without the word `without` (from 1). The vertical line is the border of the two
    answers. Named are the words that move the state furthest.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    paths = [whole, *([rest] if rest else [])]
    up = axes.around(*(one.y for one in paths), margin=0.12)
    left = sheet.panel(
        axes.axis(text("figure.states_across"),
                  range=axes.around(np.zeros(1), *(one.x for one in paths), margin=0.12)),
        axes.axis(text("figure.states_up"), range=up), across=_LEFT,
    )  # fmt: skip
    right = sheet.panel(
        axes.tokens(style, whole.pieces, most=20),
        axes.percent(text("figure.states_positive")), across=_RIGHT,
    )  # fmt: skip
    left.vertical(0, palette.baseline, width=1.5, dash="dot")
    right.horizontal(50, palette.baseline, width=1.5, dash="dot")
    for one, color, dash, name in zip(
        paths, (palette.gru, palette.rnn), ("solid", "dash"), ("whole", "rest"), strict=False
    ):
        said = text(f"figure.states_{name}")
        steps = np.arange(1, len(one.pieces) + 1)
        if name == "rest":
            steps = steps + (steps >= without)  # under the words that are left
        left.line(
            one.x, one.y, said, color, dash=dash, width=1.8, legend=False,
            text=["", *(escape(short(w)) for w in one.pieces)], hover="%{text}",
            mode="lines+markers",
            marker={"symbol": "arrow", "angleref": "previous", "size": 10, "color": color},
        )  # fmt: skip
        left.points(one.x[-1:], one.y[-1:], said, color, size=11, legend=False, hover=False,
                    edge={"color": palette.truth, "width": 1.5})  # fmt: skip
        right.line(steps, 100 * one.probability[1:], said, color, dash=dash, hover="%{y:.1f}%")
    far = np.hypot(np.diff(whole.x), np.diff(whole.y))
    for k in np.argsort(-far)[:_NAMED]:
        left.words(escape(short(whole.pieces[k])), whole.x[k + 1], whole.y[k + 1], yshift=11)
    if 1 <= without <= len(whole.pieces):
        right.vertical(without, palette.highlight, width=1.5)
    sheet.margin(t=44)
    sheet.legend(x=1, xanchor="right")
    return sheet.described(
        "alt.states_path", words=len(whole.pieces), verdict=percent(whole.verdict),
        rest=percent(rest.verdict) if rest else "–",
        word=escape(whole.pieces[without - 1]) if rest else "–",
    )  # fmt: skip


def accuracy_by_readout(
    found: ByReadout, shown: tuple[str, ...], least: int, style: Style = STYLE
) -> Figure:
    """Right verdicts of each readout on held-out reviews of at least so many words.

    Whiskers: 95% intervals over reviews. Dotted: the answer that is more frequent in training.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style, showlegend=False)
    every = [found.accuracy(name, least) for name in shown]
    names = [text(f"figure.states_{name}") for name in shown]
    often = 100 * found.majority(least)
    low, high = [100 * one.low for one in every], [100 * one.high for one in every]
    span = [min(often, *low) - 4, max(high) + 4]
    panel = sheet.panel(
        axes.percent(text("figure.states_right", least=least), *span),
        axes.names(names, text("figure.states_from"), range=[len(names) + 0.6, 0.4]),
    )
    panel.vertical(often, palette.baseline, width=1.5, dash="dot")
    panel.words(text("figure.states_often"), often, len(names) + 0.45, xanchor="left", xshift=4,
                color=palette.baseline)  # fmt: skip
    shares = [100 * one.share for one in every]
    chosen = {"last": palette.highlight, "words": palette.baseline}
    panel.points(
        shares, np.arange(1, len(names) + 1), text("figure.states_verdicts"),
        [chosen.get(name, palette.gru) for name in shown], size=12, hover="%{x:.1f}%",
        edge={"color": palette.truth, "width": 1},
        error_x=whisker(shares, low, high, palette.truth),
    )  # fmt: skip
    return sheet.described(
        "alt.states_readouts", names={"y": names}, reviews=f"{every[0].n:,}", least=least,
        every=", ".join(f"{n} {percent(one.share)}" for n, one in zip(names, every, strict=True)),
        often=percent(often / 100),
    )  # fmt: skip


def pads_behind(own: Padded, many: ByReadout, kind: str, pads: int, style: Style = STYLE) -> Figure:
    """Left the verdict on a text by the number of pads behind it, right how many are right.

    kind: what a pad is, "zeros" or "unknown" (drawn strong). The dashed line is read from a packed
    batch: the state of the last word. Whiskers: 95% intervals over reviews.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    most = len(own.zeros) - 1
    left, right = (
        sheet.panel(
            axes.axis(text("figure.states_pads"), range=[-1.5, most + 1.5]),
            axes.percent(text(f"figure.states_{name}")), across=across,
        )
        for name, across in (("positive", _HALF), ("verdicts", _OTHER))
    )  # fmt: skip
    for panel, packed in ((left, own.packed), (right, many.with_pads(kind, 0).share)):
        panel.vertical(pads, palette.highlight, width=1.5)
        panel.reference([0, most], [100 * packed] * 2, text("figure.states_packed"), dash="dash",
                        legend=panel is left)  # fmt: skip
    for one, color, symbol in (("zeros", palette.prediction, "circle"),
                               ("unknown", palette.rnn, "diamond")):  # fmt: skip
        width = 2.8 if one == kind else 1.2
        said = text(f"figure.states_pad_{one}")
        left.line(np.arange(most + 1), 100 * getattr(own, one), said, color, width=width,
                  hover="%{y:.1f}%")  # fmt: skip
        every = [many.with_pads(one, int(k)) for k in many.pads]
        shares = [100 * k.share for k in every]
        ends = ([100 * k.low for k in every], [100 * k.high for k in every])
        right.line(many.pads, shares, said, color, width=width, symbol=symbol, legend=False,
                   hover="%{y:.1f}%", error_y=whisker(shares, *ends, color))  # fmt: skip
    often = 100 * float((many.positive == many.often).mean())
    right.reference([0, most], [often] * 2, text("figure.states_often"))
    sheet.margin(t=52)
    sheet.legend(y=1.06)
    return sheet.described(
        "alt.states_pads", pads=pads, packed=percent(own.packed),
        after=percent(own.after(kind, pads)), right=percent(many.with_pads(kind, pads).share),
        before=percent(many.with_pads(kind, 0).share), reviews=f"{len(many.positive):,}",
        span=number(most),
    )  # fmt: skip
