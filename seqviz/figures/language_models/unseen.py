"""Followers of a context under smoothing, impossible sentences, and continuation counts."""

from __future__ import annotations

import numpy as np

from seqviz.compute.language_models.unseen import Continuations, Followers, HeldOutTexts
from seqviz.compute.language_models.word_orders import END
from seqviz.compute.text.windows.vocabulary import UNKNOWN
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, escape, short

_LONGEST = 16  # characters of a word on an axis


def follower_bars(
    result: Followers, held_out: HeldOutTexts, n: int, chosen: int = 1, style: Style = STYLE
) -> Figure:
    """Plot what follows a context (left) and the share of impossible sentences by n (right).

    A bar is the probability: what the symbol's own count leaves, and what shorter contexts add. The
    outline behind it is the relative frequency.

    Args:
        result: followers of the context.
        held_out: held-out sentences; those without smoothing are drawn.
        n: length of the n-grams, marked at the right.
        chosen: row of the follower that is marked, from 1.
        style: style of the figure.
    """
    label, palette = style.labels("figure.followers_"), style.palette
    sheet = Sheet(style, barmode="overlay")
    named = {UNKNOWN: label("unknown"), END: label("end")}
    names = [named.get(symbol) or _visible(symbol) for symbol in result.symbols]
    largest = 100 * max(result.raw.max(), result.probability.max(), 0.01)
    orders = [str(k) for k in range(1, len(np.atleast_1d(held_out.shares.mean)) + 1)]
    left, right = sheet.row(
        (axes.axis(label("chance"), range=[0, 1.08 * largest]),
         axes.ranked(names, label("symbol"))),
        (axes.names(orders, label("n")), axes.percent(label("impossible"))),
        gaps=(0.5, 0.66),
    )  # fmt: skip
    left.ranked_bars(100 * result.raw, label("raw"), palette.band, width=0.8, pick=True,
                     hover="%{y}: %{x:.3g}%")  # fmt: skip
    left.ranked_bars(100 * result.probability, label("shorter"), palette.highlight, width=0.5,
                     hover="%{y}: %{x:.3g}%", pick=True)  # fmt: skip
    left.ranked_bars(100 * result.retained, label("retained"), palette.prediction, width=0.5,
                     hover="%{y}: %{x:.3g}%", pick=True)  # fmt: skip
    at = chosen - 1
    tip = 100 * max(result.raw[at], result.probability[at])
    left.points([tip], [chosen], label("chosen"), palette.truth, size=12, symbol="circle-open",
                hover=False)  # fmt: skip
    right.estimates(100 * held_out.shares, label("sentences"), palette.truth,
                    hover="%{y:.1f}%")  # fmt: skip
    right.vertical(n, palette.truth)
    return sheet.described(
        f"alt.followers_{result.summary().variant}", names={"y": names, "x2": orders},
        context=" ".join(map(_visible, result.context)), **result.summary(),
        **held_out.at_order(n),
    )  # fmt: skip


def continuations(result: Continuations, style: Style = STYLE) -> Figure:
    """Plot words by their share of all occurrences and by their share of all continuations."""
    label, palette = style.labels("figure.continuations_"), style.palette
    sheet = Sheet(style)
    names = [_visible(word) for word in result.words]
    panel = sheet.panel(
        axes.axis(label("share"), type="log", dtick=1, exponentformat="power"),
        axes.ranked(names, label("word")),
    )
    series = ((result.frequency, "frequency", palette.truth),
              (result.continuation, "continuation", palette.prediction))  # fmt: skip
    for values, name, color in series:
        panel.points(100 * values, np.arange(1, len(names) + 1), label(name), color,
                     hover="%{y}: %{x:.3g}%")  # fmt: skip
    return sheet.described(
        "alt.continuations", names={"y": names}, word=names[0], count=int(result.count[0]),
        contexts=int(result.contexts[0]), before=_visible(result.before[0]),
    )  # fmt: skip


def _visible(symbol: str) -> str:
    """Return a symbol on one line, escaped; spaces and ends of a sentence have a sign."""
    return escape(short(symbol.replace(" ", "␣").replace("\n", "⏎"), _LONGEST))
