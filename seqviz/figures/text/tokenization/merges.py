"""Merge by merge: the most frequent pairs, a sample before and after, and bytes for one token."""

from __future__ import annotations

import numpy as np

from seqviz.compute.text.tokenization.bpe import written
from seqviz.compute.text.tokenization.cut import Strips
from seqviz.compute.text.tokenization.merges import Compression, LearnedMerges, PairCounts
from seqviz.core.i18n import number
from seqviz.figures.text.tokenization.strips import draw_strips, lines
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, escape

_LINES = 2  # of the sample


def pair_counts(
    pair_counts: PairCounts, learned: LearnedMerges, sample: Strips, style: Style = STYLE
) -> Figure:
    """Above, the pairs that are most frequent now, the next to be merged in another color.

    Below, a text in bytes and after these merges.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style, barmode="overlay")
    sheet.margin(t=26)
    labels = [pair_name(learned, pair) for pair in pair_counts.pairs.tolist()]
    names = [escape(item) for item in labels]
    maximum = float(pair_counts.counts.max(initial=1))
    panel = sheet.panel(
        axes.axis(text("figure.merges_count"), range=[0, 1.18 * maximum], nticks=5, side="top"),
        axes.axis(text("figure.merges_pair"), range=[max(len(names), 1) + 0.6, 0.4],
                  tickvals=list(range(1, len(names) + 1)), ticktext=names, showgrid=False,
                  tickangle=0),
        up=(0.34, 1),
    )  # fmt: skip
    positions = np.arange(1, len(names) + 1)
    first = int(pair_counts.counts.max(initial=0) > 1)  # what stands there once is never merged
    for chosen, key, color in (
        (positions[:first], "figure.merges_next", palette.prediction),
        (positions[first:], "figure.merges_others", palette.baseline),
    ):
        if len(chosen):
            counts = pair_counts.counts[chosen - 1]
            panel.bars(chosen, counts, text(key), color, sideways=True, width=0.74, legend=False,
                       ends=[f"{count:,}" for count in counts.tolist()],
                       hover="%{y}: %{x:,}")  # fmt: skip
    if not len(names):
        panel.unseen([0], [1], text("figure.merges_next"))
        panel.words(text("figure.merges_none"), maximum / 2, 1, color=palette.baseline)
    draw_strips(
        sheet, sample, "", lines(sample.columns.tolist())[:_LINES], (0, 0.27),
        {"bytes": text("figure.merges_before"),
         "own": text("figure.merges_after", merges=pair_counts.merges)},
    )  # fmt: skip
    label = zip(labels[:5], pair_counts.counts.tolist(), strict=False)
    return sheet.described(
        "alt.pair_counts", names={"y": names}, merges=pair_counts.merges,
        pairs=", ".join(f"{name} {count:,}" for name, count in label) or "–",
        tokens=sample.of("own").tokens, bytes=sample.of("bytes").tokens,
    )  # fmt: skip


def pair_name(learned: LearnedMerges, pair: list[int] | tuple[int, int]) -> str:
    """Two symbols as a reader sees them, "e + s"."""
    left, right = (written(learned.spelled[symbol]) for symbol in pair)
    return f"{left} + {right}"


def bytes_per_token(
    compression: Compression, own_text: Compression, merges: int, style: Style = STYLE
) -> Figure:
    """Lines: bytes for one token of each text after more and more merges. own_text: the student's
    text.

    merges: where a line stands.
    """
    text, palette = style.text, style.palette
    sheet = Sheet(style)
    colors = {"trained": palette.prediction, "held": palette.gru,
              "editorials": palette.rnn, "own": palette.truth}  # fmt: skip
    dashes = {"trained": "solid", "held": "dash", "editorials": "dashdot", "own": "dot"}
    every = [(name, values) for item in (compression, own_text)
             for name, values in zip(item.texts, item.per_token, strict=True)]  # fmt: skip
    finite = np.concatenate([values[np.isfinite(values)] for _, values in every])
    span = [0.9, 1.06 * float(finite.max(initial=1.5))]
    panel = sheet.panel(
        axes.axis(text("figure.merges_merges"), range=[0, max(1, int(compression.merges[-1]))]),
        axes.axis(text("figure.merges_bytes"), range=span),
    )
    for name, values in every:
        panel.line(compression.merges, values, text(f"figure.merges_{name}"), colors[name],
                   dash=dashes[name], hover="%{x}: %{y:.3f}")  # fmt: skip
    panel.vertical(merges, palette.highlight, width=2, dash="dot")
    at = int(np.searchsorted(compression.merges, merges))
    label = ", ".join(
        f"{text(f'figure.merges_{name}')} {number(float(values[at]))}"
        for name, values in every if np.isfinite(values[at])
    )  # fmt: skip
    return sheet.described("alt.bytes_per_token", merges=int(compression.merges[at]), values=label)
