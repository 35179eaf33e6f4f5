"""Losses of stacks of blocks in training, without and with warm-up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.transformer.depth import ARRANGEMENTS
from seqviz.compute.transformer.learning import (
    CHANCE,
    SCHEDULES,
    StackReport,
    StackResult,
    StackSettings,
)
from seqviz.core.i18n import number
from seqviz.figures.transformer.depth import LOOKS
from seqviz.plotting import NAMED, STYLE, Figure, Sheet, Style, axes

_LEAST, _MOST = 1e-4, 1e6  # range of the losses shown


def losses(result: StackResult, style: Style = STYLE) -> Figure:
    """Plot the loss by update without (left) and with warm-up (right).

    Lines are medians, bands all runs.
    """
    return _drawn(result.updates, result.loss, result.settings, style)


def losses_so_far(
    trail: Sequence[StackReport], settings: StackSettings, style: Style = STYLE
) -> Figure:
    """Plot `losses` of a running training, on the axis of the whole training.

    Args:
        trail: reports so far; the first one marks the start.
        settings: settings of the training.
        style: language, theme and scale of the figure.
    """
    trail = [report for report in trail if report.update]  # the first report marks the start
    shape = (len(trail), len(SCHEDULES), len(ARRANGEMENTS), settings.runs)
    loss = np.reshape([report.loss for report in trail], shape)
    return _drawn(np.array([report.update for report in trail], int), loss, settings, style)


def _drawn(
    updates: Int[np.ndarray, "report"],
    loss: Float[np.ndarray, "report schedule arrangement run"],
    settings: StackSettings,
    style: Style,
) -> Figure:
    label, palette = style.labels("figure.tr_"), style.palette
    # A run with a nan loss has diverged; its line ends at the upper edge.
    visible = np.where(np.isnan(loss), np.inf, np.maximum(loss, _LEAST))
    existing = np.append(visible[(visible < _MOST)], CHANCE)
    y = axes.decades(np.log10(existing), label("loss"), ticks=5)
    x = axes.axis(style.text("figure.update"), range=[0, settings.updates])
    sheet = Sheet(style)
    sheet.legend(y=1.12)
    sheet.margin(t=72 * style.scale)
    titles = [label(schedule, updates=settings.warm_up) for schedule in SCHEDULES]
    ends = []
    for at, panel in enumerate(sheet.row((x, y), (x, y), gaps=(0.44, 0.56), titles=titles)):
        panel.replays()
        panel.reference([0, settings.updates], [CHANCE] * 2, label("guessing"), group="chance")
        for index, arrangement in enumerate(ARRANGEMENTS):
            role, dash = LOOKS[arrangement]
            color, name = getattr(palette, role), label(arrangement)
            name = name.replace("，<br>", "，").replace("<br>", " ")
            low, middle, high = (
                np.where((result := f(visible[:, at, index], axis=1)) < _MOST, result, np.nan)
                for f in (np.min, np.median, np.max)
            )
            panel.band(updates, low, high, color)
            panel.line(updates, middle, name, color, dash=dash, group=arrangement,
                       hover=f"%{{x:,d}}: %{{y:.3~g}}{NAMED}")  # fmt: skip
            if len(updates):
                end = number(float(np.median(visible[-1, at, index])))
                ends.append(f"{titles[at]}, {name}: {end}")
    return sheet.described(
        "alt.tr_losses", blocks=settings.blocks, runs=settings.runs, chance=CHANCE,
        update=int(updates[-1]) if len(updates) else 0, values="; ".join(ends), gap=0.24,
    )  # fmt: skip
