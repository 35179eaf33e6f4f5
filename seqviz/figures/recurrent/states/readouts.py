"""Path of a state through a sentence, accuracy by readout, and padding after a text."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.recurrent.states.readouts import ByReadout, Padded, StatePath
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, escape, short, whisker
from seqviz.stats.estimate import stack

_NAMED = 3  # number of labeled words, those that move the state most


def state_path(
    state_path: StatePath, rest: StatePath | None, without: int, style: Style = STYLE
) -> Figure:
    """Plot the states of a text, one arrow a word (left), and P(positive) by word (right).

    The vertical line on the left is the decision boundary. The words that move the state most are
    labeled.

    Args:
        state_path: states of the text.
        rest: states without one word, if one is removed.
        without: removed word, from 1.
        style: language, theme and scale of the figure.
    """
    label, palette, sheet = style.labels("figure.states_"), style.palette, Sheet(style)
    paths = [state_path, *([rest] if rest else [])]
    across = axes.around(np.zeros(1), *(path.x for path in paths), margin=0.12)
    up = axes.around(*(path.y for path in paths), margin=0.12)
    pieces = [escape(short(piece)) for piece in state_path.pieces]
    left, right = sheet.row(
        (axes.axis(label("across"), range=across), axes.axis(label("up"), range=up)),
        (axes.tokens(style, state_path.pieces, limit=20), axes.percent(label("positive"))),
        gaps=(0.54, 0.66),
    )
    left.chance_line(0, sideways=True)
    right.chance_line()
    for item, color, dash, name in zip(
        paths, (palette.gru, palette.rnn), ("solid", "dash"), ("whole", "rest"), strict=False
    ):
        steps = np.arange(1, len(item.pieces) + 1)
        if name == "rest":
            steps = steps + (steps >= without)  # aligned with the remaining words
        arrows = {"symbol": "arrow", "angleref": "previous", "size": 10, "color": color}
        left.line(item.x, item.y, label(name), color, dash=dash, width=1.8, legend=False,
                  text=["", *(escape(short(w)) for w in item.pieces)], hover="%{text}",
                  mode="lines+markers", marker=arrows)  # fmt: skip
        left.points(item.x[-1:], item.y[-1:], label(name), color, size=11, legend=False,
                    hover=False, edge={"color": palette.truth, "width": 1.5})  # fmt: skip
        right.line(steps, 100 * item.probability[1:], label(name), color, dash=dash,
                   hover="%{y:.1f}%")  # fmt: skip
    far = np.hypot(np.diff(state_path.x), np.diff(state_path.y))
    for k in np.argsort(-far)[:_NAMED]:
        left.words(pieces[k], state_path.x[k + 1], state_path.y[k + 1], yshift=11)
    if 1 <= without <= len(pieces):
        right.vertical(without, palette.highlight, width=1.5)
    sheet.margin(t=44)
    sheet.legend(x=1, xanchor="right")
    word = escape(state_path.pieces[without - 1]) if rest else "–"
    return sheet.described("alt.states_path", words=len(pieces), verdict=state_path.verdict,
                           rest=rest.verdict if rest else np.nan, word=word)  # fmt: skip


def accuracy_by_readout(
    by_readout: ByReadout, visible: tuple[str, ...], minimum: int, style: Style = STYLE
) -> Figure:
    """Plot the accuracy of each readout on held-out reviews of a minimum length.

    Whiskers: 95% intervals over reviews. Dotted: the answer that is more frequent in training.

    Args:
        by_readout: verdicts by readout.
        visible: readouts shown.
        minimum: minimum number of words of a review.
        style: language, theme and scale of the figure.
    """
    label, palette = style.labels("figure.states_"), style.palette
    sheet = Sheet(style, showlegend=False)
    shares = 100 * stack(by_readout.accuracy(name, minimum) for name in visible)
    names = [label(name) for name in visible]
    often = 100 * by_readout.majority(minimum)
    span = [min(often, *shares.low) - 4, max(shares.high) + 4]
    panel = sheet.panel(axes.percent(label("right", least=minimum), *span),
                        axes.ranked(names, label("from")))  # fmt: skip
    panel.chance_line(often, sideways=True)
    panel.words(label("often"), often, len(names) + 0.45, xanchor="left", xshift=4,
                color=palette.baseline)  # fmt: skip
    chosen = {"last": palette.highlight, "words": palette.baseline}
    panel.points(
        shares.mean, np.arange(1, len(names) + 1), label("verdicts"),
        [chosen.get(name, palette.gru) for name in visible], size=12, hover="%{x:.1f}%",
        edge={"color": palette.truth, "width": 1},
        error_x=whisker(shares.mean, *shares.ci, palette.truth),
    )  # fmt: skip
    every = ", ".join(label("share", name=name, share=share / 100)
                      for name, share in zip(names, shares.mean, strict=True))  # fmt: skip
    return sheet.described("alt.states_readouts", names={"y": names}, every=every,
                           reviews=by_readout.reviews(minimum), least=minimum,
                           often=often / 100)  # fmt: skip


def pads_behind(
    padded: Padded, many: ByReadout, kind: str, pads: int, style: Style = STYLE
) -> Figure:
    """Plot P(positive) of a text by number of pads behind it (left), and the accuracy (right).

    Dashed: a packed batch, which reads the state of the last word. Whiskers: 95% intervals over
    reviews.

    Args:
        padded: result for the text.
        many: results for many reviews.
        kind: emphasized kind of pad, "zeros" or "unknown".
        pads: marked number of pads.
        style: language, theme and scale of the figure.
    """
    label, sheet = style.labels("figure.states_"), Sheet(style)
    ends = [0, len(padded.zeros) - 1]
    x = axes.axis(label("pads"), range=[-1.5, ends[1] + 1.5])
    left, right = sheet.row((x, axes.percent(label("positive"))),
                            (x, axes.percent(label("verdicts"))), gaps=(0.43, 0.57))  # fmt: skip
    for panel, packed in ((left, padded.packed), (right, many.with_pads(kind, 0).share)):
        panel.vertical(pads, style.palette.highlight, width=1.5)
        panel.reference(ends, [100 * packed] * 2, label("packed"), dash="dash")
    for k, (item, symbol) in enumerate((("zeros", "circle"), ("unknown", "diamond"))):
        series: dict[str, Any] = {"name": label(f"pad_{item}"), "color": style.palette.series[k],
                                  "width": 2.8 if item == kind else 1.2,
                                  "hover": "%{y:.1f}%"}  # fmt: skip
        left.line(np.arange(ends[1] + 1), 100 * getattr(padded, item), **series)
        shares = 100 * stack(many.with_pads(item, int(n)) for n in many.pads)
        right.line(many.pads, shares.mean, symbol=symbol, **series,
                   error_y=whisker(shares.mean, *shares.ci, series["color"]))  # fmt: skip
    right.reference(ends, [100 * many.majority()] * 2, label("often"))
    sheet.margin(t=52)
    sheet.legend(y=1.06)
    return sheet.described("alt.states_pads", span=ends[1], after=padded.after(kind, pads),
                           packed=padded.packed, **many.padding(kind, pads))  # fmt: skip
