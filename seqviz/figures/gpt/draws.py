"""Many first words drawn from one distribution, beside the probabilities they are drawn with."""

from __future__ import annotations

import numpy as np

from seqviz.compute.gpt.draw import ManyDraws
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, escape, short, whisker

_LONGEST = 12  # characters of a token


def many_first_words(
    many: ManyDraws, pieces: tuple[str, ...], count: int, style: Style = STYLE
) -> Figure:
    """Plot how often each of the likeliest tokens, and all others together, came in `count` draws.

    pieces: the tokens of the bars. A bar is a share of the draws, the diamond the probability, the
    whisker where the share lies in 95% of all such series, each bar by itself (binomial).
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
