"""Recall tasks: accuracy and gradients of cells in training, and the longest delay of each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, Int

from seqviz.compute.training.loop import distinct
from seqviz.compute.training.progress import moments
from seqviz.compute.vanishing_gradients.recall.results import (
    CellComparison,
    ComparisonReport,
    LongestDelay,
    LongestDelayReport,
)
from seqviz.compute.vanishing_gradients.recall.settings import RecallSettings
from seqviz.compute.vanishing_gradients.recall.tasks import LEARNED, baseline
from seqviz.core.i18n import format_log10
from seqviz.figures.vanishing_gradients.style import decades_line
from seqviz.plotting import STYLE, Figure, Panel, Sheet, Style, axes

_DASHES = {"rnn": "dot", "lstm": "solid", "gru": "dash"}


def race_course(done: CellComparison, style: Style = STYLE) -> Figure:
    """Plot the test accuracy by update (left), and |dJ/dh_t| by step at the end (right).

    When it is played again, the gradients are those of each report.
    """
    return _course(done.settings, done.updates, done.accuracy, done.log10_gradients, style)


def race_progress(
    trail: Sequence[ComparisonReport], settings: RecallSettings, style: Style = STYLE
) -> Figure:
    """Plot `race_course` of a running comparison from its reports.

    The axis of the updates is that of the whole run, so it does not move while the curves grow.
    What has been reported can be played again meanwhile.

    Args:
        trail: reports so far, at least one.
        settings: settings of the run.
        style: language, theme and scale of the figure.
    """
    reports = distinct(trail)
    updates = np.array([report.update for report in reports])
    accuracy = np.array([report.accuracy for report in reports])
    gradients = np.array([report.log10_gradients for report in reports])
    return _course(settings, updates, accuracy, gradients, style)


def _course(
    settings: RecallSettings, updates: Int[np.ndarray, "report"],
    accuracy: Float[np.ndarray, "report cell"],
    log10_gradients: Float[np.ndarray, "report cell time"], style: Style,
) -> Figure:  # fmt: skip
    text, sheet = style.text, Sheet(style)
    names = [text(f"option.{cell}") for cell in settings.cells]
    time = np.arange(1, log10_gradients.shape[2] + 1)
    left, right = sheet.row(
        (axes.axis(text("figure.update"), range=[0, settings.updates * 1.01]),
         axes.axis(text("figure.accuracy"), range=[-3, 104])),
        (axes.axis(text("figure.steps"), range=[0.5, len(time) + 0.5]),
         axes.decades(log10_gradients, text("figure.gradient_norm"))),
        gaps=(0.5, 0.62),
    )  # fmt: skip
    left.replays()
    _levels(left, settings)
    parts = zip(names, settings.cells, accuracy.T, log10_gradients.swapaxes(0, 1), strict=True)
    for name, cell, shares, norms in parts:
        color, dash = getattr(style.palette, cell), _DASHES[cell]
        left.line(updates, 100 * shares, name, color, width=2.8, dash=dash)
        named = text("figure.gradient_of", cell=name)
        decades_line(right, time, norms[-1], named, color, dash=dash, width=2.8, legend=False)
        right.learns(updates, norms, total=len(moments(settings.updates)))
    now, first = accuracy[-1].tolist(), log10_gradients[-1, :, 0].tolist()
    return sheet.described(
        "alt.race", update=int(updates[-1]),
        standings=_each(names, [f"{100 * share:.1f}%" for share in now]),
        gradients=_each(names, [format_log10(norm) for norm in first]),
    )  # fmt: skip


def _levels(panel: Panel, settings: RecallSettings) -> None:
    """Draw the accuracy that counts as learned and, for the task with four symbols, chance."""
    levels = [("learned", LEARNED, "dash")]
    if settings.task == "first":
        levels.append(("chance", baseline(settings.task).accuracy, "dot"))
    for name, level, dash in levels:
        named = panel.style.text(f"figure.{name}", percent=f"{100 * level:.0f}")
        panel.reference([0, settings.updates], [100 * level] * 2, named, dash=dash, width=1.6)


def accuracy_by_delay(done: LongestDelay, style: Style = STYLE) -> Figure:
    """Plot the accuracy of each cell by delay; a cross marks a delay that was not learned."""
    return _ladder(done.settings.cells, done.delays, done.accuracy, done.learned, style)


def accuracy_by_delay_progress(
    trail: Sequence[LongestDelayReport], settings: RecallSettings, style: Style = STYLE
) -> Figure:
    """Plot `accuracy_by_delay` of a running search.

    Args:
        trail: reports so far, at least one.
        settings: settings of the search.
        style: language, theme and scale of the figure.
    """
    latest = {report.delay: report.accuracy for report in trail}
    delays, accuracy = np.array(list(latest)), np.array(list(latest.values()))
    return _ladder(settings.cells, delays, accuracy, accuracy >= LEARNED, style)


def _ladder(
    cells: Sequence[str], delays: Int[np.ndarray, "rung"],
    accuracy: Float[np.ndarray, "rung cell"], learned: Bool[np.ndarray, "rung cell"], style: Style,
) -> Figure:  # fmt: skip
    text, names = style.text, [style.text(f"option.{cell}") for cell in cells]
    sheet = Sheet(style)
    panel = sheet.panel(
        axes.axis(text("figure.delay"), type="log", tickvals=delays.tolist(),
                  range=[-0.05, float(np.log10(delays[-1])) + 0.05]),
        axes.axis(text("figure.accuracy"), range=[-3, 106]),
    )  # fmt: skip
    for name, cell, shares, passed in zip(names, cells, accuracy.T, learned.T, strict=True):
        color, tried = getattr(style.palette, cell), np.isfinite(shares)
        signs = ["circle" if ok else "x" for ok in passed[tried]]
        panel.line(
            delays[tried], 100 * shares[tried], name, color, width=2.4, dash=_DASHES[cell],
            mode="lines+markers", marker={"size": 13, "color": color, "symbol": signs},
        )  # fmt: skip
    longest = (delays[:, None] * learned).max(axis=0).tolist()
    words = [str(delay or "–") for delay in longest]
    return sheet.described("alt.ladder", longest=_each(names, words))


def _each(names: Sequence[str], values: Sequence[str]) -> str:
    return "; ".join(f"{name}: {value}" for name, value in zip(names, values, strict=True))
