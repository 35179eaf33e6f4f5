"""A word left out by reader, times for N tokens, and bits of two continuations."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from seqviz.compute.language_models.sides import PASS_KINDS, GapRanks, Judged, SideTimes
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, escape


def gap_ranks(ranks: GapRanks, readers: Sequence[str], reader: str, style: Style = STYLE) -> Figure:
    """Plot how often the word left out has a rank or a better one (left), and the time (right).

    The band is the 95% interval of the chosen reader over the gaps (Wilson).

    Args:
        ranks: ranks of the words left out.
        readers: readers that are drawn.
        reader: the chosen one.
        style: style of the figure.
    """
    label, palette = style.labels("figure.sides_"), style.palette
    sheet = Sheet(style)
    names = [label(name) for name in readers]
    colors = [palette.series[ranks.readers.index(name)] for name in readers]
    times = np.array([1e3 * ranks.seconds_of(name).mean for name in readers])
    left, right = sheet.row(
        (axes.axis(label("rank"), type="log", tickvals=[1, 3, 10, 30, 100],
                   range=[-0.05, np.log10(len(ranks.candidates)) + 0.05]),
         axes.percent(label("within"))),
        (axes.decades(np.log10(times), label("ms")),
         axes.ranked(_in_two_lines(names), label("reader"))),
        gaps=(0.47, 0.71),
    )  # fmt: skip
    at = np.arange(1, len(ranks.candidates) + 1)
    for row, (name, color) in enumerate(zip(readers, colors, strict=True)):
        share = ranks.within(name)
        chosen = name == reader
        if chosen:
            left.band(at, 100 * share.low, 100 * share.high, color)
        left.line(at, 100 * share.mean, names[row], color, width=3 if chosen else 1.8,
                  dash="dash" if name == "shuffled" else "solid",
                  hover="%{x}: %{y:.1f}%")  # fmt: skip
        right.points(times[[row]], [row + 1], names[row], color, legend=False,
                     size=13 if chosen else 9, hover="%{x:.3g} ms")  # fmt: skip
    return sheet.described(
        "alt.gap_ranks", names={"y2": names}, reader=label(reader), gaps=ranks.rank.shape[1],
        candidates=len(ranks.candidates), share=ranks.first(reader).mean,
        ms=ranks.compared(reader, reader)["ms"],
    )  # fmt: skip


def times_by_length(times: SideTimes, tokens: int, style: Style = STYLE) -> Figure:
    """Plot milliseconds by the number of tokens (left), and passes for one number (right).

    Lines go through the medians, dots are single measurements.

    Args:
        times: measured times.
        tokens: number of tokens that is marked.
        style: style of the figure.
    """
    label, palette = style.labels("figure.sides_"), style.palette
    sheet = Sheet(style)
    lengths, ms = times.tokens, 1e3 * times.seconds
    passes = [times.passes(kind, tokens) for kind in PASS_KINDS]
    ends = np.log10(lengths[[0, -1]]) + np.array([-0.1, 0.1])
    left, right = sheet.row(
        (axes.axis(label("tokens"), type="log", tickvals=lengths.tolist(), range=ends.tolist()),
         axes.decades(np.log10(ms), label("ms_all"))),
        (axes.axis(label("passes"), range=[0, 1.25 * max(passes)], nticks=4),
         axes.ranked(_in_two_lines([label(kind) for kind in PASS_KINDS]), label("reader"))),
        gaps=(0.5, 0.7),
    )  # fmt: skip
    for kind, rows, color, dash in zip(
        PASS_KINDS, ms, palette.series, ("solid", "dot", "dash"), strict=False
    ):
        left.points(np.tile(lengths, len(rows)), rows.ravel(), label(kind), color, size=4,
                    opacity=0.4, legend=False, hover=False)  # fmt: skip
        left.line(lengths, np.median(rows, 0), label(kind), color, symbol="circle", size=6,
                  dash=dash, hover="%{x}: %{y:.3g} ms")  # fmt: skip
    left.vertical(tokens, palette.highlight)
    right.ranked_bars(passes, label("passes"), list(palette.series[: len(passes)]), legend=False,
                      ends=[f"{value:,.0f}" for value in passes], hover=False)  # fmt: skip
    return sheet.described(
        "alt.side_times", names={"y2": [label(kind) for kind in PASS_KINDS]}, **times.at(tokens)
    )


def _in_two_lines(names: Sequence[str]) -> list[str]:
    """Break each name behind that of the model."""
    return [re.sub(", | |，", "<br>", name, count=1) for name in names]


def continuation_choice(
    judged: Judged, task: str, texts: Sequence[str], bits: Sequence[float], style: Style = STYLE
) -> Figure:
    """Plot the bits of two continuations (left), and how often bits are right by task (right).

    Whiskers are 95% intervals over the texts (Wilson), the dotted line is chance.

    Args:
        judged: bits of all bundled texts.
        task: task that is marked.
        texts: two continuations.
        bits: their bits.
        style: style of the figure.
    """
    label, palette = style.labels("figure.sides_"), style.palette
    sheet = Sheet(style)
    names = [escape(text) for text in texts]
    tasks = axes.names([label(name) for name in judged.tasks], label("task"))
    left, right = sheet.row(
        (axes.tokens(style, list(texts), label("continuation")),
         axes.axis(label("bits"), range=[0, 1.15 * max(bits)])),
        (tasks, axes.percent(label("correct"))), gaps=(0.36, 0.5),
    )  # fmt: skip
    first = int(np.argmin(bits))
    left.token_bars(list(bits), label("bits"),
                    [palette.prediction if k == first else palette.baseline for k in range(2)],
                    width=0.6, legend=False, ends=[f"{value:.1f}" for value in bits],
                    hover=False)  # fmt: skip
    right.chance_line()
    right.estimates(100 * judged.right, label("decided"), palette.prediction, mode="markers",
                    hover="%{y:.0f}%")  # fmt: skip
    if task in judged.tasks:
        right.vertical(judged.tasks.index(task) + 1, palette.highlight)
    return sheet.described(
        "alt.continuation_choice", names={"x2": tasks["ticktext"]}, first=names[0],
        second=names[1], first_bits=bits[0], second_bits=bits[1],
        best=label(judged.tasks[int(np.argmax(judged.right.mean))]),
        worst=label(judged.tasks[int(np.argmin(judged.right.mean))]),
        high=float(judged.right.mean.max()), low=float(judged.right.mean.min()),
    )  # fmt: skip
