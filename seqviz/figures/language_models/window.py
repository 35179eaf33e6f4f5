"""Agreement of a verb with a distant subject, and the weight blocks of a network's window."""

from __future__ import annotations

import numpy as np

from seqviz.compute.language_models.agreement import AgreementByDistance
from seqviz.compute.language_models.window import BlockSimilarity
from seqviz.plotting import STYLE, Figure, Sheet, Style, axes


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


def cosines_of_positions(similarity: BlockSimilarity, style: Style = STYLE) -> Figure:
    """Plot how the cosines of equal words at two positions, and of different words, are spread."""
    label, palette = style.labels("figure.blocks_"), style.palette
    sheet = Sheet(style)
    limit = 0.1 + max(np.abs(similarity.same).max(), np.abs(similarity.other).max())
    panel = sheet.panel(
        axes.axis(label("cosine"), range=[-limit, limit]),
        axes.axis(label("share"), rangemode="tozero"),
    )
    edges = np.linspace(-limit, limit, 41)
    middles = (edges[1:] + edges[:-1]) / 2
    series = ((similarity.other, "other", palette.baseline),
              (similarity.same, "same", palette.prediction))  # fmt: skip
    for values, name, color in series:
        shares = np.histogram(values, edges)[0] / len(values)
        panel.line(middles, 100 * shares, label(name), color, hover="%{x:.2f}: %{y:.1f}%")
        panel.vertical(float(values.mean()), color, dash="dot")
    return sheet.described(
        "alt.blocks", words=len(similarity.same), same=float(similarity.same.mean()),
        other=float(similarity.other.mean()), rank=float(np.median(similarity.rank)),
    )  # fmt: skip
