"""Sentiment under word masking: the answer by share of masked words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.compute.bert_accuracy.results import UserTextMasking, WordMaskingCurve
from seqviz.core.i18n import percent
from seqviz.figures.bert_accuracy import bars_and_labels
from seqviz.plotting import NAMED, STYLE, Figure, Panel, Sheet, Style, axes, escape
from seqviz.stats.proportions import Proportion, answers_right, shares

_ROLES = {  # role of the color, dash and marker of each order
    "random": ("truth", "solid", "circle"),
    "attention": ("lstm", "dash", "diamond"),
    "gradient": ("rnn", "dashdot", "square"),
    "content": ("gru", "longdash", "triangle-up"),
    "function": ("mlp", "longdashdot", "star"),
    "adapted": ("prediction", "solid", "cross"),
    "deleted": ("prediction", "dot", "x"),
}
_KEY = 46  # width of a legend line in pixels; makes dashes distinguishable
_NAMED = 6  # maximum number of masked words in the description


def accuracy_under_masking(
    curve: WordMaskingCurve, order: str, share: float, baseline: Proportion,
    controls: WordMaskingCurve | None = None, every: bool = True, style: Style = STYLE,
) -> Figure:  # fmt: skip
    """Plot the accuracy by the share of masked words, one line for each order.

    Without `every` there are two: the order, and with which it is compared. That is the random
    order, and for this the same sentences read by a head trained on masked ones ("adapted").

    Args:
        curve: results by order and share.
        order: order drawn with its 95% band.
        share: marked share of the words in [0, 1]; interpolated linearly.
        baseline: accuracy of the more frequent answer.
        controls: further results with fewer sentences and masking in random order.
        every: True for all orders and controls, False for two lines.
        style: language, theme and scale of the figure.

    Raises:
        ValueError: an order that was not computed.
    """
    if not every:
        curve = curve.only((order, "random"))
        controls = controls.only(("adapted",)) if controls and order == "random" else None
    text, row, sheet = style.text, _row(curve.orders, order), Sheet(style)
    curves = [(each, shares(answers_right(each.probability, each.positive)))
              for each in (curve, controls) if each is not None]  # fmt: skip
    chosen = curves[0][1][row]
    here, low, high = (float(np.interp(share, curve.shares, line))
                       for line in (chosen.mean, *chosen.ci))  # fmt: skip
    percents = [100 * observed.mean for _, observed in curves]
    band, guess = (100 * chosen).ci, 100 * baseline.share
    ends = bars_and_labels.fitted(*percents, *band, [guess], below=0.08)
    sheet.legend(itemwidth=_KEY)
    masked = axes.axis(text("figure.acc_masked_share"), range=[-1, 101])
    panel = sheet.panel(masked, axes.percent(text("figure.acc_accuracy"), *ends))
    for each, observed in curves:
        words = bars_and_labels.format_proportions(observed, text)
        names = [_name(item, style) for item in each.orders]
        if len(each.positive) < len(curve.positive):
            names = [text("figure.acc_at_n", name=name, n=len(each.positive)) for name in names]
        _lines(panel, 100 * each.shares, 100 * observed.mean, each.orders, names,
               row if each is curve else None, words,
               "%{x:.0f}%: %{customdata}" + NAMED)  # fmt: skip
    bars_and_labels.majority(panel, baseline, [0, 100])
    panel.band(100 * curve.shares, *band, _look(order, style)[0], name=text("figure.acc_band"),
               legend=True)  # fmt: skip
    _mark(panel, 100 * share, 100 * here, order)
    reading = f"<b>{percent(share, 0)}: {percent(here)}</b>"
    bars_and_labels.reading(panel, reading, 100 * share, 100)
    others = "; ".join(
        f"{_name(other, style)}: {percent(np.interp(share, curve.shares, line))}"
        for each, observed in curves
        for other, line in zip(each.orders, observed.mean, strict=True)
        if other != order
    )
    return sheet.described(
        "alt.acc_knife", n=len(curve.positive), share=share, order=_name(order, style), here=here,
        low=low, high=high, others=others or text("figure.acc_none"), baseline=baseline.share,
    )  # fmt: skip


def sentence_under_masking(
    masking: UserTextMasking, order: str, masked: int, style: Style = STYLE
) -> Figure:
    """Plot P(positive) of one sentence by the number of masked words, one line for each order.

    Args:
        masking: results by order.
        order: emphasized order.
        masked: marked number of masked words.
        style: language, theme and scale of the figure.

    Raises:
        ValueError: an order that was not computed.
    """
    text = style.text
    row, count = _row(masking.orders, order), len(masking.words)
    masked, last = min(max(masked, 0), count), max(count, 1)
    gone = [[masking.words[int(position)] for position in np.argsort(turns, kind="stable")]
            for turns in masking.turns]  # fmt: skip
    steps = [
        [text("figure.acc_nothing_masked"),
         *(text("figure.acc_last_masked", word=escape(word)) for word in words)]
        for words in gone
    ]  # fmt: skip
    ticks = {"dtick": 1} if count <= 12 else {"nticks": 10}
    ends = [-0.02 * last, 1.02 * last]
    sheet = Sheet(style)
    sheet.legend(itemwidth=_KEY)
    panel = sheet.panel(
        axes.axis(text("figure.acc_words_masked"), range=ends, tickformat="d", **ticks),
        axes.percent(text("figure.acc_positive"), range=[-2, 116]),
    )
    names = [_name(item, style) for item in masking.orders]
    _lines(panel, np.arange(count + 1), 100 * masking.probability, masking.orders, names, row,
           steps, "%{x}: %{y:.1f}% (%{customdata})" + NAMED)  # fmt: skip
    bars_and_labels.undecided(panel, [0, last])
    here = masking.positive(order, masked)
    _mark(panel, masked, 100 * here, order)
    words = text("figure.acc_at_masked", masked=masked, share=here)
    bars_and_labels.reading(panel, words, masked, last)
    first = ", ".join(gone[row][: min(masked, _NAMED)]) or text("figure.acc_none")
    return sheet.described(
        "alt.acc_own_knife", words=count, start=masking.probability[row, 0], masked=masked,
        order=_name(order, style), here=here, first=first + (" …" if masked > _NAMED else ""),
        end=masking.probability[row, -1],
    )  # fmt: skip


def _row(orders: Sequence[str], order: str) -> int:
    if order not in orders:
        raise ValueError(f"The order {order!r} was not tried, only {', '.join(orders)}.")
    return list(orders).index(order)


def _name(order: str, style: Style) -> str:
    return style.text(f"figure.acc_order_{order}")


def _look(order: str, style: Style) -> tuple[str, str, str]:
    role, dash, symbol = _ROLES[order]
    return getattr(style.palette, role), dash, symbol


def _lines(
    panel: Panel, x: np.ndarray, percents: Float[np.ndarray, "order point"], orders: Sequence[str],
    names: Sequence[str], chosen: int | None, words: Any, hover: str,
) -> None:  # fmt: skip
    """Draw a line for each order; random, the reference, comes first."""
    style = panel.style
    for row in sorted(range(len(orders)), key=lambda row: orders[row] != "random"):
        name, line_style = names[row], _look(orders[row], style)
        keys = {"customdata": words[row], "hover": hover, "width": 3.4 if row == chosen else 2}
        bars_and_labels.curve(panel, x, percents[row], name, line_style, **keys)


def _mark(panel: Panel, x: float, y: float, order: str) -> None:
    """Mark the point that is read off, and draw a vertical line through it."""
    style = panel.style
    edge = {"color": _look(order, style)[0], "width": 2}
    name = style.text("figure.acc_chosen", name=_name(order, style))
    color = style.palette.highlight
    panel.points([x], [y], name, color, size=12, edge=edge, hover=False, legend=False)
    panel.vertical(x, color)
