"""What telling positions changes: two orders of the same words, seen by one attention head."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from seqviz.compute.positions.orders import OrderComparison
from seqviz.core.i18n import number
from seqviz.figures.positions.style import hatched, look
from seqviz.plotting import NAMED, STYLE, Figure, Sheet, Style, axes, escape, short

ROUNDING = 1e-10  # a smaller distance is that of sums taken in another order
_NUMBERED, _NAMED = 26, 64  # bars that find room for their numbers, for their words
_LONGEST = 12  # characters of a word under a bar
_CUT = 16  # letters of a word beside a map
_WIDE = "\u2e80"  # the first of the letters that take twice the room
_HEIGHT = 0.8  # of the axis of moves, at least; a share of the mean size of the outputs
_WRITTEN = 9  # words of a map whose weights find room in the cells


def moved_words(order_comparison: OrderComparison, style: Style = STYLE) -> Figure:
    """How far each word's output is from its output in the other order; a group a scheme.

    A word that is in one order only is left out; a distance that is only rounding is written as 0.
    """
    text = style.text
    words = [order_comparison.words[position] for position in order_comparison.paired]
    moved = np.where(
        order_comparison.moved[:, order_comparison.paired] > ROUNDING,
        order_comparison.moved[:, order_comparison.paired],
        0,
    )
    count, groups = len(words), len(order_comparison.schemes)
    slots = groups * (count + 1) - 1  # one is left free between two groups
    names = ([*words, ""] * groups)[:slots]
    named = [position for position, name in enumerate(names, 1) if name and slots <= _NAMED]
    # In doubles of a height, so that bars are seen to shrink with the encoding.
    doubles = math.ceil(math.log2(max(1.14 * float(moved.max(initial=0)) / _HEIGHT, 1)))
    sheet = Sheet(
        style,
        bargap=0.2,
        # On a phone the numbers would run into one another; 0 stays, it is narrow.
        uniformtext={"minsize": 10 * style.scale, "mode": "hide"},
    )
    panel = sheet.panel(
        axes.axis(
            text("figure.pos_word"),
            range=[0.3, max(slots, 1) + 0.7],
            showgrid=False,
            tickvals=named,
            ticktext=[escape(short(names[position - 1], _LONGEST)) for position in named],
        ),
        axes.axis(text("figure.pos_output_moved"), range=[0, _HEIGHT * 2**doubles]),
    )
    labels = []
    for group, (scheme, gaps) in enumerate(zip(order_comparison.schemes, moved, strict=True)):
        line_style, first = look(scheme, style), group * (count + 1)
        panel.bars(
            first + np.arange(1, count + 1),
            order_comparison.moved[group, order_comparison.paired],
            line_style.name,
            line_style.color,
            width=0.8,
            legend=False,
            ends=_numbers(gaps, slots <= _NUMBERED),
            textangle=0,
            constraintext="outside",
            marker=hatched(line_style.color, line_style.pattern, style),
            customdata=[escape(word) for word in words],
            hover="%{customdata}: %{y:.3g}" + NAMED,
        )
        panel.words(
            f"<b>{line_style.name.replace(' ', '<br>')}</b>",  # they are near on a phone
            first + (count + 1) / 2, 1, color=line_style.color, yref="domain", yanchor="bottom",
            yshift=4,
        )  # fmt: skip
        largest = float(gaps.max(initial=0))
        labels.append(f"{line_style.name}: {number(largest) if largest else '0'}")
    # Last the bars of no encoding, without height: a page is there with its first visible mark.
    sheet.traces.append(sheet.traces.pop(0))
    return sheet.described(
        "alt.pos_moved", words=" ".join(words), values="; ".join(labels), names={"x": names}
    )


def _numbers(gaps: Float[np.ndarray, "word"], written: bool) -> list[str]:
    """At the ends of the bars; of many only those that say that there is no bar."""
    return ["0" if not gap else number(gap, 2) if written else "" for gap in gaps.tolist()]


def both_orders(order_comparison: OrderComparison, scheme: str, style: Style = STYLE) -> Figure:
    """The attention weights (x key, y query) of both orders under one scheme.

    Raises ValueError for a scheme that was not compared.
    """
    text, row = style.text, order_comparison.schemes.index(scheme)
    first, second = order_comparison.first[row], order_comparison.second[row]
    side = (0.93 - _between(order_comparison.others, style)) / 2
    sheet = Sheet(style)
    for words, weights, across, order, bar in (
        (order_comparison.words, first, (0, side), "first_order", None),
        (
            order_comparison.others,
            second,
            (0.93 - side, 0.93),
            "second_order",
            text("figure.weight"),
        ),
    ):
        title = text(f"figure.pos_{order}")
        panel = sheet.panel(
            axes.tokens(style, words, text("figure.keys"), limit=20),
            axes.tokens(style, words, text("figure.queries"), upright=True),
            across=across,
            title=title,
        )
        written = "%{z:.2f}" if len(words) <= _WRITTEN else None
        name = f"{text('figure.weight')}, {title}"
        panel.weights(weights, name=name, bar=bar, texttemplate=written)
    return sheet.described(
        "alt.pos_outputs",
        first=" ".join(order_comparison.words),
        second=" ".join(order_comparison.others),
        weight=float(first[0, -1]),
        query=order_comparison.words[0],
        key=order_comparison.words[-1],
        other=float(second[0, -1]),
        other_query=order_comparison.others[0],
        other_key=order_comparison.others[-1],
        names={
            "x": order_comparison.words,
            "y": order_comparison.words,
            "x2": order_comparison.others,
            "y2": order_comparison.others,
        },
        gap=0.24,
    )


def _between(words: Sequence[str], style: Style) -> float:
    """Room between two maps for these words and the name of their axis, as a share of the width.

    Long words take room on the left of both: what is left for the maps is less than the sheet.
    """
    longest = max(sum(1 + (letter >= _WIDE) for letter in word) for word in words)
    return style.scale * (0.05 + 0.018 * min(longest, _CUT))
