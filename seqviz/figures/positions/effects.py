"""Effect of position schemes: two orders of the same words in one attention head."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from seqviz.compute.positions.orders import OrderComparison
from seqviz.core.i18n import number
from seqviz.figures.positions.style import hatched, look
from seqviz.plotting import NAMED, STYLE, Figure, Sheet, Style, axes, escape, short

ROUNDING = 1e-10  # smaller distances come from another order of summation
_NUMBERED, _NAMED = 26, 64  # maximum number of bars with numbers, with words
_LONGEST = 12  # maximum number of characters of a word under a bar
_SENTENCE = 32  # maximum number of characters of a sentence above the bars
_CUT = 16  # maximum number of letters of a word beside a map
_WIDE = "\u2e80"  # first character of double width
_HEIGHT = 0.8  # minimum height of the axis, as a share of the mean norm of the outputs
_WRITTEN = 9  # maximum number of words with weights in the cells


def moved_words(order_comparison: OrderComparison, style: Style = STYLE) -> Figure:
    """Plot the distance of each word's output between two orders, one group for each scheme.

    Words in one order only are left out; a distance that is rounding error is written as 0.
    """
    label, result = style.labels("figure.pos_"), order_comparison
    words = [result.words[position] for position in result.paired]
    distances = result.moved[:, result.paired]
    moved = np.where(distances > ROUNDING, distances, 0)
    count, groups = len(words), len(result.schemes)
    slots = groups * (count + 1) - 1  # one slot between two groups is empty
    names = ([*words, ""] * groups)[:slots]
    named = [position for position, name in enumerate(names, 1) if name and slots <= _NAMED]
    # The axis grows by doubling, so that bars shrink visibly between settings.
    doubles = math.ceil(math.log2(max(1.14 * float(moved.max(initial=0)) / _HEIGHT, 1)))
    # On a phone numbers that overlap are hidden; 0 is narrow and stays.
    sheet = Sheet(style, bargap=0.2, uniformtext={"minsize": 10 * style.scale, "mode": "hide"})
    panel = sheet.panel(
        axes.axis(label("word"), range=[0.3, max(slots, 1) + 0.7], showgrid=False, tickvals=named,
                  ticktext=[escape(short(names[k - 1], _LONGEST)) for k in named]),
        axes.axis(label("output_moved"), range=[0, _HEIGHT * 2**doubles]),
    )  # fmt: skip
    values = []
    for group, (item, heights, gaps) in enumerate(
        zip(
            (look(name, style, trained=False) for name in result.schemes),
            distances,
            moved,
            strict=True,
        )
    ):
        first = group * (count + 1)
        panel.bars(
            first + np.arange(1, count + 1), heights, item.name, item.color, width=0.8,
            legend=False, ends=_numbers(gaps, slots <= _NUMBERED), textangle=0,
            constraintext="outside", marker=hatched(item.color, item.pattern, style),
            customdata=[escape(word) for word in words], hover="%{customdata}: %{y:.3g}" + NAMED,
        )  # fmt: skip
        panel.words(
            f"<b>{item.name.replace(' ', '<br>').replace('（', '<br>（')}</b>",  # fits on a phone
            first + (count + 1) / 2, 1, color=item.color, yref="domain", yanchor="bottom", yshift=4,
        )  # fmt: skip
        values.append(label("value_of", name=item.name, value=gaps.max(initial=0)))
    first_words, other_words = (
        escape(short(" ".join(order), _SENTENCE)) for order in (result.words, result.others)
    )
    mask = label("masked" if result.causal else "unmasked")
    sheet.headline(
        label("orders", first=first_words, second=other_words, mask=mask),
        size=13,
        yshift=46 * style.scale,
    )
    sheet.margin(t=92 * style.scale)
    # The bars without encoding have no height and come last: the first mark must be visible.
    sheet.traces.append(sheet.traces.pop(0))
    return sheet.described("alt.pos_moved", names={"x": names}, words=" ".join(words),
                           values="; ".join(values))  # fmt: skip


def _numbers(gaps: Float[np.ndarray, "word"], written: bool) -> list[str]:
    """Return the labels of the bars; of many, only zeros are labeled."""
    return ["0" if not gap else number(gap, 2) if written else "" for gap in gaps.tolist()]


def both_orders(order_comparison: OrderComparison, scheme: str, style: Style = STYLE) -> Figure:
    """Plot the attention weights (x key, y query) of both orders under one scheme.

    Args:
        order_comparison: weights of both orders.
        scheme: name of the scheme.
        style: language, theme and scale of the figure.

    Raises:
        ValueError: a scheme that was not compared.
    """
    text, sheet, result = style.text, Sheet(style), order_comparison
    row = result.schemes.index(scheme)
    first, second = result.first[row], result.second[row]
    side = (0.93 - _between(result.others, style)) / 2
    titles = [text("figure.pos_first_order"), text("figure.pos_second_order")]
    sides = [
        (axes.tokens(style, words, text("figure.keys"), limit=20),
         axes.tokens(style, words, text("figure.queries"), upright=True))
        for words in (result.words, result.others)
    ]  # fmt: skip
    panels = sheet.row(*sides, gaps=(side, 0.93 - side, 0.93), titles=titles)
    for panel, weights, title, bar in zip(
        panels, (first, second), titles, (None, text("figure.weight")), strict=True
    ):
        panel.weights(weights, name=f"{text('figure.weight')}, {title}", bar=bar,
                      texttemplate="%{z:.2f}" if len(weights) <= _WRITTEN else None)  # fmt: skip
    words, others = result.words, result.others
    return sheet.described(
        "alt.pos_outputs", first=" ".join(words), second=" ".join(others), query=words[0],
        key=words[-1], weight=float(first[0, -1]), other=float(second[0, -1]),
        other_query=others[0], other_key=others[-1], gap=0.24,
        names={"x": words, "y": words, "x2": others, "y2": others},
    )  # fmt: skip


def _between(words: Sequence[str], style: Style) -> float:
    """Return the room between two maps for row labels, as a share of the width.

    Long words also take room on the left of both maps, so the maps get less than the sheet.
    """
    longest = max(sum(1 + (letter >= _WIDE) for letter in word) for word in words)
    return style.scale * (0.05 + 0.018 * min(longest, _CUT))
