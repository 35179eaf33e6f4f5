"""Sentiment while words are masked: what is left of the answer as more and more of them go."""

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

_ROLES = {  # of each order: role of its color, dash, marker
    "random": ("truth", "solid", "circle"),
    "attention": ("lstm", "dash", "diamond"),
    "gradient": ("rnn", "dashdot", "square"),
    "content": ("gru", "longdash", "triangle-up"),
    "function": ("mlp", "longdashdot", "star"),
    "adapted": ("prediction", "solid", "cross"),
    "deleted": ("prediction", "dot", "x"),
}
_KEY = 46  # pixels of a line in the legend: its dashes must be told apart
_NAMED = 6  # masked words that the description names


def accuracy_under_masking(
    curve: WordMaskingCurve,
    order: str,
    share: float,
    baseline: Proportion,
    controls: WordMaskingCurve | None = None,
    style: Style = STYLE,
) -> Figure:
    """Accuracy against the share of the words that are masked, a line for each order.

    order: the one that has its 95% band. share: of the words, 0 to 1; between two computed shares
    the line is read as it is drawn. baseline: the more frequent answer, always. controls: of
    masking in random order, of fewer sentences. Raises ValueError for an order that was not tried.
    """
    text = style.text
    row = _row(curve.orders, order)
    observed = shares(answers_right(curve.probability, curve.positive))
    x = 100 * curve.shares
    accuracy, low, high = 100 * observed.share, 100 * observed.low[row], 100 * observed.high[row]
    here, minimum, maximum = (
        percent(np.interp(share, curve.shares, line))
        for line in (observed.share[row], observed.low[row], observed.high[row])
    )
    lines = list(zip(curve.orders, observed.share, strict=True))
    existing = [accuracy, low, high, [100 * baseline.share]]
    beside = None
    if controls is not None:
        beside = shares(answers_right(controls.probability, controls.positive))
        existing.append(100 * beside.share)
        lines += zip(controls.orders, beside.share, strict=True)
    ends = bars_and_labels.fitted(*existing, below=0.08)
    sheet = Sheet(style)
    sheet.legend(itemwidth=_KEY)
    masked = axes.axis(text("figure.acc_masked_share"), range=[-1, 101])
    panel = sheet.panel(masked, axes.percent(text("figure.acc_accuracy"), *ends))
    hover = "%{x:.0f}%: %{customdata}" + NAMED
    _lines(
        panel,
        x,
        accuracy,
        curve.orders,
        row,
        bars_and_labels.format_proportions(observed, style.text),
        hover,
    )
    if controls is not None and beside is not None:
        summary = bars_and_labels.format_proportions(beside, style.text)
        at = 100 * controls.shares
        _lines(panel, at, 100 * beside.share, controls.orders, None, summary, hover)
    bars_and_labels.majority(panel, baseline, [0, 100])
    panel.band(x, low, high, _look(order, style)[0])
    _mark(panel, 100 * share, float(np.interp(share, curve.shares, accuracy[row])), order)
    bars_and_labels.reading(panel, f"<b>{percent(share, 0)}: {here}</b>", 100 * share, 100)
    others = "; ".join(
        f"{_name(other, style)}: {percent(np.interp(share, curve.shares, line))}"
        for other, line in lines
        if other != order
    )
    return sheet.described(
        "alt.acc_knife",
        n=len(curve.positive),
        share=share,
        order=_name(order, style),
        here=here,
        low=minimum,
        high=maximum,
        others=others or text("figure.acc_none"),
        baseline=baseline.share,
    )


def sentence_under_masking(
    masking: UserTextMasking, order: str, masked: int, style: Style = STYLE
) -> Figure:
    """P(positive) of one sentence against the number of masked words, a line for each order.

    order: the emphasized one. masked: how many are masked now, marked on its line. Raises
    ValueError for an order that was not tried.
    """
    text = style.text
    row, count = _row(masking.orders, order), len(masking.words)
    masked, last = min(max(masked, 0), count), max(count, 1)
    gone = [
        [masking.words[int(position)] for position in np.argsort(turns, kind="stable")]
        for turns in masking.turns
    ]
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
    hover = "%{x}: %{y:.1f}% (%{customdata})" + NAMED
    _lines(
        panel, np.arange(count + 1), 100 * masking.probability, masking.orders, row, steps, hover
    )
    bars_and_labels.undecided(panel, [0, last])
    here = float(masking.probability[row, masked])
    _mark(panel, masked, 100 * here, order)
    words = text("figure.acc_at_masked", masked=masked, percent=percent(here))
    bars_and_labels.reading(panel, words, masked, last)
    first = ", ".join(gone[row][: min(masked, _NAMED)]) or text("figure.acc_none")
    return sheet.described(
        "alt.acc_own_knife",
        words=count,
        start=masking.probability[row, 0],
        order=_name(order, style),
        masked=masked,
        here=here,
        first=first + (" …" if masked > _NAMED else ""),
        end=masking.probability[row, -1],
    )


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
    panel: Panel,
    x: np.ndarray,
    percents: Float[np.ndarray, "order point"],
    orders: Sequence[str],
    chosen: int | None,
    words: Any,
    hover: str,
) -> None:
    """A line an order; random words first, what all others are compared with."""
    style = panel.style
    for row in sorted(range(len(orders)), key=lambda row: orders[row] != "random"):
        name, line_style = _name(orders[row], style), _look(orders[row], style)
        keys = {"customdata": words[row], "hover": hover, "width": 3.4 if row == chosen else 2}
        bars_and_labels.curve(panel, x, percents[row], name, line_style, **keys)


def _mark(panel: Panel, x: float, y: float, order: str) -> None:
    """The point that is read off, ringed in the color of its line, on its upright line."""
    style = panel.style
    edge = {"color": _look(order, style)[0], "width": 2}
    name = style.text("figure.acc_chosen", name=_name(order, style))
    color = style.palette.highlight
    panel.points([x], [y], name, color, size=12, edge=edge, hover=False, legend=False)
    panel.vertical(x, color)
