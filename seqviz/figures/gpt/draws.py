"""Many first words drawn from one distribution, beside the probabilities they are drawn with."""

from __future__ import annotations

import numpy as np

from seqviz.compute.gpt.many import ManyDraws
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, escape, short

_LONGEST = 12  # characters of a token


def many_first_words(
    many: ManyDraws, pieces: tuple[str, ...], count: int, style: Style = STYLE
) -> Figure:
    """How often each of the likeliest tokens, and all others together, came in `count` draws.

    pieces: the tokens of the bars. A bar is a share of the draws, the diamond the probability, the
    whisker where the share lies in 95% of all such series, each bar by itself (binomial).
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    names = [*(escape(short(piece, _LONGEST)) for piece in pieces), text("figure.scores_others")]
    at = np.arange(1, len(names) + 1)
    share = 100 * many.counts(count) / count
    low, high = (100 * ends / count for ends in many.band(count))
    inside = (low <= share) & (share <= high)
    panel = sheet.panel(
        axes.axis(text("figure.draws_share", count=count),
                  range=[0, 1.05 * max(share.max(), high.max())], nticks=7),
        axes.names(names, text("figure.scores_token"), range=[len(names) + 0.6, 0.4]),
    )  # fmt: skip
    panel.bars(
        at, share, text("figure.draws_drawn"),
        [palette.prediction if within else palette.rnn for within in inside], sideways=True,
        width=0.8, hover="%{y}: %{x:.1f}%",
    )  # fmt: skip
    probability = 100 * many.probability
    panel.points(
        probability,
        at,
        text("figure.draws_chance"),
        palette.highlight,
        symbol="diamond",
        size=9,
        edge={"color": palette.truth, "width": 1},
        hover="%{y}: %{x:.3g}%",
        error_x={
            "type": "data",
            "symmetric": False,
            "array": high - probability,
            "arrayminus": probability - low,
            "color": palette.truth,
            "thickness": 1.5,
            "width": 4,
        },
    )
    within, bars = many.within(count)
    return sheet.described(
        "alt.first_words", names={"y": names}, count=count, first=names[0],
        share=share[0], chance=probability[0], within=within, bars=bars,
    )  # fmt: skip
