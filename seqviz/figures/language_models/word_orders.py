"""Bits of a sentence by word, and of all orders of its words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.compute.language_models.word_orders import WordOrders
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, escape, short

_HOVER = "%{x}: %{y:.2f}, p = %{customdata}"
_ORDER = "%{customdata}: %{y:.2f}"
_NAMED = 6  # orders whose words are written below them
_LONGEST = 8  # characters of such a word


def order_bits(result: WordOrders, order: Sequence[int], style: Style = STYLE) -> Figure:
    """Plot the bits of each factor of a sentence (top) and the sums of all orders (bottom).

    Dots are the bits of words by frequency alone; a pointer shows the probability, too. An
    order with probability 0 has no mark below.

    Args:
        result: all orders.
        order: the order drawn above, as positions of the words; it is marked below.
        style: style of the figure.
    """
    label, palette = style.labels("figure.orders_"), style.palette
    sheet = Sheet(style)
    rank = result.rank(order)
    pieces = (*result.text(rank), label("end"))
    bits, alone = result.bits[rank], result.alone[[*result.orders[rank], -1]]
    finite, usual = np.isfinite(bits), np.isfinite(alone)
    highest = max(1.0, *bits[finite].tolist(), *alone[usual].tolist())
    at = np.arange(1, len(pieces) + 1)
    above = sheet.panel(
        axes.tokens(style, pieces, label("factor")),
        axes.axis(label("bits"), range=[0, 1.1 * highest]), up=(0.62, 1.0),
    )  # fmt: skip
    if finite.any():
        above.bars(at[finite], bits[finite], label("after"), palette.prediction, width=0.6,
                   customdata=_chances(bits[finite]), hover=_HOVER)  # fmt: skip
    if usual.any():
        above.points(at[usual], alone[usual], label("alone"), palette.truth,
                     symbol="diamond", customdata=_chances(alone[usual]), hover=_HOVER)  # fmt: skip
    for position in at[~finite]:
        above.words(label("infinite"), int(position), highest / 2)
    totals, single = result.totals, result.totals_alone[0]
    possible = np.flatnonzero(np.isfinite(totals))
    sums = [*totals[possible].tolist(), *([single] if np.isfinite(single) else [])]
    texts = [escape(" ".join(result.text(k))) for k in range(len(totals))]
    ends: dict[str, Any] = {"range": [0.3, len(totals) + 0.7]}
    if len(totals) <= _NAMED:
        columns = [[escape(short(word, _LONGEST)) for word in result.text(k)]
                   for k in range(len(totals))]  # fmt: skip
        ranks = axes.names(["<br>".join(words) for words in columns], label("rank"), **ends)
    else:
        ranks = axes.axis(label("rank"), **ends)
    below = sheet.panel(
        ranks,
        axes.axis(label("sum"), range=axes.around(np.array(sums or [0.0, 1.0]), margin=0.15)),
        up=(0.0, 0.38),
    )  # fmt: skip
    if possible.size:
        below.points(possible + 1, totals[possible], label("orders"), palette.prediction, size=7,
                     customdata=[texts[k] for k in possible], hover=_ORDER)  # fmt: skip
    if rank in possible:
        below.points([rank + 1], totals[[rank]], label("this"), palette.highlight, size=13,
                     customdata=[texts[rank]], hover=_ORDER)  # fmt: skip
    if np.isfinite(single):
        below.reference([0.3, len(totals) + 0.7], [single] * 2, label("all_alone"))
    return sheet.described(
        f"alt.orders_{result.compared(order).variant}", names={"x": list(pieces), "x2": texts},
        gap=0.2, text=texts[rank], **result.compared(order),
    )  # fmt: skip


def _chances(bits: Float[np.ndarray, "word"]) -> list[str]:
    """Return the probabilities beside the bits."""
    return [f"{p:.3g}" for p in 2.0**-bits]
