"""Many first tokens sampled from one distribution, with their probabilities."""

from __future__ import annotations

import numpy as np

from seqviz.compute.gpt.draw import ManyDraws
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, escape, short, whisker

_LONGEST = 12  # maximum number of characters of a token


def many_first_words(
    many: ManyDraws, pieces: tuple[str, ...], count: int, style: Style = STYLE
) -> Figure:
    """Plot the shares of the likeliest tokens, and of all others together, in `count` draws.

    A bar is a share of the draws, the diamond the probability, the whisker the range of the share
    in 95% of all such series, for each bar alone (binomial).

    Args:
        many: the draws.
        pieces: tokens of the bars.
        count: number of draws.
        style: language, theme and scale of the figure.
    """
    label, palette = style.labels("figure."), style.palette
    names = [*(escape(short(piece, _LONGEST)) for piece in pieces), label("scores_others")]
    share, probability = 100 * many.counts(count) / count, 100 * many.probability
    low, high = (100 * ends / count for ends in many.band(count))
    is_inside = (low <= share) & (share <= high)
    sheet = Sheet(style)
    panel = sheet.panel(
        axes.axis(label("draws_share", count=count), nticks=7,
                  range=[0, 1.05 * max(share.max(), high.max())]),
        axes.ranked(names, label("scores_token")),
    )  # fmt: skip
    colors = np.where(is_inside, palette.prediction, palette.rnn).tolist()
    panel.ranked_bars(share, label("draws_drawn"), colors, width=0.8, hover="%{y}: %{x:.1f}%")
    panel.points(
        probability, np.arange(1, len(names) + 1), label("draws_chance"), palette.highlight,
        symbol="diamond", size=9, edge={"color": palette.truth, "width": 1},
        hover="%{y}: %{x:.3g}%",
        error_x=whisker(probability, low, high, palette.truth, symmetric=False, thickness=1.5,
                        width=4),
    )  # fmt: skip
    return sheet.described(
        "alt.first_words", names={"y": names}, first=names[0], **many.compared(count)
    )
