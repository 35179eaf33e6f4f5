"""What is missed when each layer is changed: bars for a text, means with intervals for many."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seqviz.compute.transformer.interpretability.removal import Ablation, AblationSweep, of_change
from seqviz.core.i18n import percent
from seqviz.plotting import STYLE, Figure, Panel, Sheet, Style, axes, escape


def removal_bars(changes: Sequence[Ablation], change: str, style: Style = STYLE) -> Figure:
    """Of the changes of a text one, by its name: a bar for each layer, in bits.

    A light bar: the likeliest token stays; a dark one: it is another. Layers that are not computed
    yet are blank.
    """
    text, palette = style.text, style.palette
    ablation = of_change(changes, change)
    sheet, panel = _layers(style, len(ablation.bits), float(np.nanmax(ablation.bits, initial=0.1)))
    for name, same, color in (
        ("removal_same", True, palette.baseline), ("removal_other", False, palette.prediction),
    ):  # fmt: skip
        at = np.array(
            [
                k
                for k, piece in enumerate(ablation.after)
                if np.isfinite(ablation.bits[k]) and (piece == ablation.before) == same
            ],
            int,
        )
        if at.size:
            panel.bars(at, ablation.bits[at], text(f"figure.{name}", piece=escape(ablation.before)),
                color,
                       customdata=[escape(ablation.after[k]) for k in at],
                       hover=text("figure.removal_hover", layer="%{x}", bits="%{y:.3g}",
                                  piece="%{customdata}"))  # fmt: skip
    return sheet.described(
        "alt.removal",
        change=text(f"figure.removal_{change}"),
        layers=len(ablation.bits),
        known=int(np.isfinite(ablation.bits).sum()),
        layer=ablation.largest,
        most=ablation.largest_shift,
        median=ablation.median,
        same=ablation.same[0],
    )


def removal_so_far(
    trail: Sequence[Sequence[Ablation]], change: str, style: Style = STYLE
) -> Figure:
    """The same while layers are still being changed."""
    return removal_bars(trail[-1], change, style)


def removal_of_many(ablation_sweep: AblationSweep, change: str, style: Style = STYLE) -> Figure:
    """One bar a layer: the mean over the texts with its 95% interval."""
    text, palette = style.text, style.palette
    means = ablation_sweep.means(change)
    layers = range(len(means.mean))
    sheet, panel = _layers(style, len(layers), float(means.high.max()))
    retained = [percent(ablation_sweep.kept_share(change, layer), 0) for layer in layers]
    panel.bars(
        np.arange(len(layers)), means.mean, text("figure.removal_mean", texts=ablation_sweep.texts),
        palette.prediction, whiskers=means.ci, customdata=retained,
        hover=text("figure.removal_hover_many", layer="%{x}", bits="%{y:.3g}",
                   kept="%{customdata}"),
    )  # fmt: skip
    largest = ablation_sweep.largest(change)
    maximum = means[largest]
    return sheet.described(
        "alt.removal_many",
        change=text(f"figure.removal_{change}"),
        texts=ablation_sweep.texts,
        layer=largest,
        most=maximum.mean,
        low=maximum.low,
        high=maximum.high,
        median=ablation_sweep.median(change),
    )


def _layers(style: Style, layers: int, top: float) -> tuple[Sheet, Panel]:
    sheet = Sheet(style, barmode="overlay", bargap=0.25)
    every = max(1, -(-layers // 10))
    panel = sheet.panel(
        axes.axis(style.text("figure.removal_layer"), range=[-0.8, layers - 0.2], dtick=every,
                  showgrid=False),
        axes.axis(style.text("figure.removal_bits"), range=[0, 1.08 * top]),
    )  # fmt: skip
    return sheet, panel
