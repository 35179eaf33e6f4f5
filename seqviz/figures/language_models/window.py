"""Next words, agreement with a distant subject, and weight blocks of a window of words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seqviz.compute.gates.encoding import END, UNKNOWN
from seqviz.compute.language_models.agreement import AgreementByDistance
from seqviz.compute.language_models.blocks import MODELS, TrainedBlocks, WindowRecord
from seqviz.compute.language_models.window import WINDOW, BlockSimilarity, NextWords
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes, escape


def agreement_curves(agreement: AgreementByDistance, distance: int, style: Style = STYLE) -> Figure:
    """Plot P(were) - P(was) after a plural (left), and by how much the plural raises it (right).

    Bands are 95% intervals over the sentences.

    Args:
        agreement: the probabilities.
        distance: number of inserted words that is marked.
        style: style of the figure.
    """
    label, palette = style.labels("figure.verb_"), style.palette
    sheet = Sheet(style)
    ticks = {"tickvals": agreement.distance.tolist(), "showgrid": False}
    panels = sheet.row(
        (axes.axis(label("distance"), **ticks), axes.axis(label("preference"))),
        (axes.axis(label("distance"), **ticks), axes.axis(label("effect"))),
        gaps=(0.43, 0.57),
    )  # fmt: skip
    for panel, of in zip(panels, (agreement.preference, agreement.effect), strict=True):
        for model, color in zip(agreement.models, palette.series, strict=False):
            values = 100 * of(model)
            panel.band(agreement.distance, *values.ci, color)
            panel.line(agreement.distance, values.mean, label(model), color, symbol="circle",
                       hover="%{x}: %{y:.3g}")  # fmt: skip
        panel.vertical(distance, palette.highlight)
    blind = [label(model) for model in agreement.models if agreement.blind(model)]
    effects = [agreement.effect(model) for model in agreement.models]
    best = int(np.argmax([effect.mean[0] for effect in effects]))
    return sheet.described(
        "alt.verb_agreement", sentences=int(effects[0][0].n), model=label(agreement.models[best]),
        near=100 * float(effects[best].mean[0]), far=100 * float(effects[best].mean[-1]),
        distance=int(agreement.distance[-1]), blind=", ".join(blind), n_blind=len(blind),
    )  # fmt: skip


def cosines_of_positions(
    similarity: BlockSimilarity, trained: TrainedBlocks, style: Style = STYLE
) -> Figure:
    """Plot cosines of words at two positions (left), and held-out bits with one block (right).

    Dots are random seeds; whiskers are 95% intervals over the sentences.

    Args:
        similarity: cosines of equal words, and of different ones.
        trained: networks with a block for each position, and with one.
        style: style of the figure.
    """
    label, palette = style.labels("figure.blocks_"), style.palette
    sheet = Sheet(style)
    limit = 0.1 + max(np.abs(similarity.same).max(), np.abs(similarity.other).max())
    bits, seeds = trained.all, trained.by_seed
    names = [label(name) for name in MODELS]
    panel, right = sheet.row(
        (axes.axis(label("cosine"), range=[-limit, limit]),
         axes.axis(label("share"), rangemode="tozero")),
        (axes.axis(label("bits"), range=axes.around(*bits.ci, seeds)),
         axes.ranked(names, label("model"))), gaps=(0.42, 0.68),
    )  # fmt: skip
    edges = np.linspace(-limit, limit, 41)
    middles = (edges[1:] + edges[:-1]) / 2
    series = ((similarity.other, "other", palette.baseline),
              (similarity.same, "same", palette.prediction))  # fmt: skip
    for values, name, color in series:
        shares = np.histogram(values, edges)[0] / len(values)
        panel.line(middles, 100 * shares, label(name), color, hover="%{x:.2f}: %{y:.1f}%")
        panel.vertical(float(values.mean()), color, dash="dot")
    right.estimates(bits, label("mean"), palette.truth, sideways=True, hover="%{y}: %{x:.3f}")
    right.points(seeds.ravel(), np.repeat((3, 4), seeds.shape[1]), label("seeds"),
                 palette.prediction, size=5, opacity=0.6, hover="%{x:.3f}")  # fmt: skip
    return sheet.described(
        "alt.blocks", names={"y2": names}, words=len(similarity.same),
        same=float(similarity.same.mean()), other=float(similarity.other.mean()),
        rank=float(np.median(similarity.rank)), **trained.compared(),
    )  # fmt: skip


def next_word_bars(read: NextWords, style: Style = STYLE) -> Figure:
    """Plot the probabilities of the likeliest next words; the word of the text has its own color.

    Where it is not among them, it has the last row, with its rank.

    Args:
        read: a text and what is expected.
        style: style of the figure.
    """
    label, palette = style.labels("figure.next_"), style.palette
    sheet = Sheet(style, showlegend=False)
    signs = {END: label("end"), UNKNOWN: label("unknown")}
    following, *names = (escape(signs.get(word, word)) for word in (read.following, *read.likely))
    values, is_likely = read.p.tolist(), read.rank <= len(names)
    if not is_likely:
        names, values = [*names, f"{following} ({read.rank:,})"], [*values, read.p_following]
    marked = (read.rank if is_likely else len(names)) - 1
    colors = [palette.highlight if k == marked else palette.prediction for k in range(len(names))]
    panel = sheet.panel(axes.axis(label("chance"), rangemode="tozero"),
                        axes.ranked(names, label("word")))  # fmt: skip
    panel.ranked_bars(100 * np.array(values), label("chance"), colors, hover="%{y}: %{x:.2f}%")
    before = escape(" ".join(read.pieces[max(0, read.position - WINDOW) : read.position]))
    facts = read.summary() | {"first": names[0], "following": following, "before": before}
    return sheet.described("alt.next_words", names={"y": names}, **facts)


def losses_so_far(done: Sequence[WindowRecord], style: Style = STYLE) -> Figure:
    """Plot the loss of each network from the reports of a running training."""
    label, palette = style.labels("figure.blocks_"), style.palette
    sheet = Sheet(style)
    panel = sheet.panel(axes.axis(style.text("figure.update"), range=[0, done[-1].total]),
                        axes.axis(label("training_bits")))  # fmt: skip
    trainings = dict.fromkeys((record.seed, record.tied) for record in done)
    for seed, tied in trainings:
        records = [item for item in done if (item.seed, item.tied) == (seed, tied) and item.update]
        panel.line([item.update for item in records], [item.loss for item in records],
                   label("single" if tied else "separate"),
                   palette.highlight if tied else palette.prediction,
                   hover="%{x:,}: %{y:.2f}")  # fmt: skip
    return sheet.described("alt.blocks_so_far", networks=len(trainings), update=done[-1].update,
                           total=done[-1].total)  # fmt: skip
