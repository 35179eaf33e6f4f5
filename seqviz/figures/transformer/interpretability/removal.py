"""Layer ablation: bars for one text, means with intervals for many."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seqviz.compute.transformer.interpretability.removal import Ablation, AblationSweep, of_change
from seqviz.core.i18n import percent
from seqviz.plotting import STYLE, Figure, Panel, Sheet, Style, axes, escape


def removal_bars(changes: Sequence[Ablation], change: str, style: Style = STYLE) -> Figure:
    """Plot the effect of one change by layer, in bits, for one text.

    Light bars keep the likeliest token, dark ones change it. Layers not computed yet are blank.

    Args:
        changes: ablations of the text.
        change: name of the change.
        style: language, theme and scale of the figure.
    """
    label, palette = style.labels("figure.removal_"), style.palette
    ablation = of_change(changes, change)
    bits, after = ablation.bits, np.array(ablation.after, str)
    sheet, panel = _layers(style, len(bits), float(np.nanmax(bits, initial=0.1)))
    hover = label("hover", layer="%{x}", bits="%{y:.3g}", piece="%{customdata}")
    for name, same, color in (
        ("same", True, palette.baseline), ("other", False, palette.prediction),
    ):  # fmt: skip
        at = np.flatnonzero(np.isfinite(bits) & ((after == ablation.before) == same))
        if at.size:
            panel.bars(at, bits[at], label(name, piece=escape(ablation.before)), color,
                       customdata=[escape(after[k]) for k in at], hover=hover)  # fmt: skip
    return sheet.described(
        "alt.removal", change=label(change), known=int(np.isfinite(bits).sum()),
        **ablation.summary(),
    )  # fmt: skip


def removal_so_far(
    trail: Sequence[Sequence[Ablation]], change: str, style: Style = STYLE
) -> Figure:
    """Plot `removal_bars` of a running ablation, from its latest report."""
    return removal_bars(trail[-1], change, style)


def removal_of_many(ablation_sweep: AblationSweep, change: str, style: Style = STYLE) -> Figure:
    """Plot the mean effect over texts by layer, with 95% intervals.

    Args:
        ablation_sweep: effects on many texts.
        change: name of the change.
        style: language, theme and scale of the figure.
    """
    label = style.labels("figure.removal_")
    means = ablation_sweep.means(change)
    layers = np.arange(len(means.mean))
    sheet, panel = _layers(style, len(layers), float(means.high.max()))
    retained = [percent(ablation_sweep.kept_share(change, layer), 0) for layer in layers.tolist()]
    panel.bars(
        layers, means.mean, label("mean", texts=ablation_sweep.texts), style.palette.prediction,
        whiskers=means.ci, customdata=retained,
        hover=label("hover_many", layer="%{x}", bits="%{y:.3g}", kept="%{customdata}"),
    )  # fmt: skip
    summary = ablation_sweep.summary(change)
    return sheet.described("alt.removal_many", change=label(change), **summary)


def _layers(style: Style, layers: int, top: float) -> tuple[Sheet, Panel]:
    sheet = Sheet(style, barmode="overlay", bargap=0.25)
    every = max(1, -(-layers // 10))
    panel = sheet.panel(
        axes.axis(style.text("figure.removal_layer"), range=[-0.8, layers - 0.2], dtick=every,
                  showgrid=False),
        axes.axis(style.text("figure.removal_bits"), range=[0, 1.08 * top]),
    )  # fmt: skip
    return sheet, panel
