"""Byte-pair merges: pair counts, a sample before and after, and bytes per token."""

from __future__ import annotations

import numpy as np

from seqviz.compute.text.tokenization.bpe import written
from seqviz.compute.text.tokenization.cut import Strips
from seqviz.compute.text.tokenization.merges import Compression, LearnedMerges, PairCounts
from seqviz.core.i18n import number
from seqviz.figures.text.tokenization.strips import draw_strips, lines
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, escape

_LINES = 2  # maximum number of lines of the sample
_LOOK = {  # role of the color and dash of each text
    "trained": ("prediction", "solid"), "held": ("gru", "dash"), "editorials": ("rnn", "dashdot"),
    "own": ("truth", "dot"),
}  # fmt: skip


def pair_counts(
    pair_counts: PairCounts, learned: LearnedMerges, sample: Strips, style: Style = STYLE
) -> Figure:
    """Plot the most frequent pairs (top), and a sample in bytes and after the merges (bottom).

    The pair to be merged next is colored.

    Args:
        pair_counts: counts after some merges.
        learned: all merges, for the names of the symbols.
        sample: a text in bytes and in tokens.
        style: language, theme and scale of the figure.
    """
    label, palette = style.labels("figure.merges_"), style.palette
    sheet = Sheet(style, barmode="overlay")
    sheet.margin(t=26)
    counts = pair_counts.counts
    labels = [pair_name(learned, pair) for pair in pair_counts.pairs.tolist()]
    names, count, maximum = [escape(item) for item in labels], len(labels), counts.max(initial=1)
    panel = sheet.panel(
        axes.axis(label("count"), range=[0, 1.18 * float(maximum)], nticks=5, side="top",
                  showticklabels=count > 0),
        axes.ranked(names, label("pair"), range=[max(count, 1) + 0.6, 0.4]), up=(0.34, 1),
    )  # fmt: skip
    positions = np.arange(1, count + 1)
    first = int(counts.max(initial=0) > 1)  # a pair that occurs once is never merged
    for chosen, key, color in (
        (positions[:first], "next", palette.prediction),
        (positions[first:], "others", palette.baseline),
    ):
        if len(chosen):
            length = counts[chosen - 1]
            panel.bars(chosen, length, label(key), color, sideways=True, width=0.74, legend=False,
                       ends=[f"{item:,}" for item in length.tolist()],
                       hover="%{y}: %{x:,}")  # fmt: skip
    if not count:
        panel.unseen([0], [1], label("next"))
        panel.words(label("none"), float(maximum) / 2, 1, color=palette.baseline)
    draw_strips(
        sheet, sample, "", lines(sample.columns.tolist())[:_LINES], (0, 0.27),
        {"bytes": label("before"), "own": label("after", merges=pair_counts.merges)},
    )  # fmt: skip
    pairs = zip(labels[:5], counts.tolist(), strict=False)
    return sheet.described(
        "alt.pair_counts", names={"y": names}, merges=pair_counts.merges,
        pairs=", ".join(f"{name} {item:,}" for name, item in pairs) or "–",
        tokens=sample.of("own").tokens, bytes=sample.of("bytes").tokens,
    )  # fmt: skip


def pair_name(learned: LearnedMerges, pair: list[int] | tuple[int, int]) -> str:
    """Return two symbols as text, "e + s"."""
    left, right = (written(learned.spelled[symbol]) for symbol in pair)
    return f"{left} + {right}"


def bytes_per_token(
    compression: Compression, own_text: Compression, merges: int, style: Style = STYLE
) -> Figure:
    """Plot bytes per token of each text by number of merges.

    Args:
        compression: bytes per token of the corpus texts.
        own_text: bytes per token of the student's text.
        merges: marked number of merges.
        style: language, theme and scale of the figure.
    """
    label, palette = style.labels("figure.merges_"), style.palette
    sheet = Sheet(style)
    every = [(name, values) for item in (compression, own_text)
             for name, values in zip(item.texts, item.per_token, strict=True)]  # fmt: skip
    finite = np.concatenate([values[np.isfinite(values)] for _, values in every])
    panel = sheet.panel(
        axes.axis(label("merges"), range=[0, max(1, int(compression.merges[-1]))]),
        axes.axis(label("bytes"), range=[0.9, 1.06 * float(finite.max(initial=1.5))]),
    )
    for name, values in every:
        role, dash = _LOOK[name]
        panel.line(compression.merges, values, label(name), getattr(palette, role), dash=dash,
                   hover="%{x}: %{y:.3f}")  # fmt: skip
    panel.vertical(merges, palette.highlight, width=2, dash="dot")
    at = int(np.searchsorted(compression.merges, merges))
    values = ", ".join(f"{label(name)} {number(float(values[at]))}"
                       for name, values in every if np.isfinite(values[at]))  # fmt: skip
    return sheet.described("alt.bytes_per_token", merges=int(compression.merges[at]), values=values)
