"""Cost of a token with and without a cache, and sizes of models."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seqviz.compute.gpt.cost import PASS_KINDS, CacheTimes, readings
from seqviz.compute.transformer.cost import Architecture
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes

_ROOM = 1.45  # for the number at the longest bar


def token_times(cache_times: CacheTimes, prompt: int, written: int, style: Style = STYLE) -> Figure:
    """Plot milliseconds per token (left), and the number of tokens read for a text (right).

    Left: lines go through the medians, dots are single measurements.

    Args:
        cache_times: measured times.
        prompt: length of the prompt of the bars on the right, in tokens.
        written: number of generated tokens of these bars.
        style: language, theme and scale of the figure.
    """
    label, palette = style.labels("figure.cost_"), style.palette
    sheet = Sheet(style)
    tokens, times = cache_times.tokens, 1e3 * cache_times.seconds
    read = [readings(prompt, written), readings(prompt, written, cached=False)]
    ends = np.log10(tokens[[0, -1]]) + np.array([-0.1, 0.1])
    left, right = sheet.row(
        (axes.axis(label("before"), type="log", tickvals=tokens.tolist(), range=ends.tolist()),
         axes.decades(np.log10(times), label("ms"))),
        (axes.names([label("with"), label("without")], label("way")),
         axes.axis(label("readings"), range=[0, 1.15 * max(read)], nticks=5)),
        gaps=(0.5, 0.68),
    )  # fmt: skip
    colors = (palette.baseline, palette.prediction, palette.rnn)
    for kind, rows, color in zip(PASS_KINDS, times, colors, strict=True):
        left.points(np.tile(tokens, len(rows)), rows.ravel(), label(kind), color, size=4,
                    opacity=0.4, legend=False, hover=False)  # fmt: skip
        left.line(tokens, np.median(rows, 0), label(kind), color, symbol="circle", size=6,
                  dash="dot" if kind == "prefill" else "solid",
                  hover="%{x}: %{y:.3g} ms")  # fmt: skip
    right.token_bars(read, label("readings"), [palette.prediction, palette.rnn], legend=False,
                     ends=[f"{value:,.0f}" for value in read], hover=False)  # fmt: skip
    return sheet.described(
        "alt.token_times", prompt=prompt, written=written, cached=read[0], uncached=read[1],
        **cache_times.at_longest(),
    )  # fmt: skip


def model_sizes(models: Sequence[Architecture], style: Style = STYLE) -> Figure:
    """Plot the number of parameters of each model as a bar."""
    label, palette = style.labels("figure.size_"), style.palette
    totals = np.array([model.total for model in models])
    names, billions = [label(model.name) for model in models], totals / 1e9
    sheet = Sheet(style)
    panel = sheet.panel(
        axes.axis(label("parameters"), range=[0, _ROOM * billions.max()], nticks=6),
        axes.ranked(names, label("model")),
    )  # fmt: skip
    panel.ranked_bars(billions, label("parameters"), palette.prediction, width=0.6, legend=False,
                      ends=[f"{value:.3g}" for value in billions], hover=False)  # fmt: skip
    sizes = "; ".join(f"{name}: {total:,.0f}" for name, total in zip(names, totals, strict=True))
    return sheet.described("alt.sizes", names={"y": names}, sizes=sizes)
