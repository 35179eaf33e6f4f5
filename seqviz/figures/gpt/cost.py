"""Milliseconds of a token by the number of tokens before it, with a cache and without."""

from __future__ import annotations

import numpy as np

from seqviz.compute.gpt.cost import PASS_KINDS, CacheTimes, readings
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes

_LEFT, _RIGHT = (0.0, 0.5), (0.68, 1.0)


def token_times(cache_times: CacheTimes, prompt: int, written: int, style: Style = STYLE) -> Figure:
    """Left the measured milliseconds; right how many times tokens are read for a whole text.

    Lines go through the medians, dots are the single measurements. Right the bars of `written`
    tokens behind a prompt of `prompt`.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    visible = 1e3 * cache_times.seconds
    left = sheet.panel(
        axes.axis(
            text("figure.cost_before"),
            type="log",
            tickvals=cache_times.tokens.tolist(),
            range=[np.log10(cache_times.tokens[0]) - 0.1, np.log10(cache_times.tokens[-1]) + 0.1],
        ),
        axes.decades(np.log10(visible), text("figure.cost_ms")),
        across=_LEFT,
    )
    colors = (palette.baseline, palette.prediction, palette.rnn)
    for kind, color, dash in zip(PASS_KINDS, colors, ("dot", "solid", "solid"), strict=True):
        row = visible[PASS_KINDS.index(kind)]
        left.points(np.tile(cache_times.tokens, len(row)), row.ravel(), text(f"figure.cost_{kind}"),
                    color, size=4, opacity=0.4, legend=False, hover=False)  # fmt: skip
        left.line(
            cache_times.tokens,
            np.median(row, 0),
            text(f"figure.cost_{kind}"),
            color,
            dash=dash,
            symbol="circle",
            size=6,
            hover="%{x}: %{y:.3g} ms",
        )
    read = [readings(prompt, written), readings(prompt, written, cached=False)]
    right = sheet.panel(
        axes.names(
            [text("figure.cost_with"), text("figure.cost_without")], text("figure.cost_way")
        ),
        axes.axis(text("figure.cost_readings"), range=[0, 1.15 * max(read)], nticks=5),
        across=_RIGHT,
    )
    right.bars(
        [1, 2], read, text("figure.cost_readings"), [palette.prediction, palette.rnn],
        legend=False, ends=[f"{value:,.0f}" for value in read], hover=False,
    )  # fmt: skip
    longest = int(cache_times.tokens[-1])
    return sheet.described(
        "alt.token_times",
        longest=longest,
        decode=1e3 * cache_times.at("decode", longest),
        anew=1e3 * cache_times.at("anew", longest),
        prompt=prompt,
        written=written,
        cached=read[0],
        uncached=read[1],
    )
