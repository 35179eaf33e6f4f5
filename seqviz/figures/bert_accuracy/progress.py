"""Progress of a classifier in training: loss and accuracy by update."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.compute.bert_accuracy.results import TuneRecord, TuneSettings
from seqviz.figures.bert_accuracy import bars_and_labels
from seqviz.figures.bert_accuracy.curves import HOVER_LOSS, QUIET, VALIDATED, Panels, panels
from seqviz.plotting import STYLE, Figure, Sheet, Style, whisker
from seqviz.stats.estimate import share_ci
from seqviz.stats.proportions import Proportion

_VALUES = ("loss", "accuracy", "validation")


def training_progress(
    trail: Sequence[TuneRecord],
    settings: TuneSettings,
    baseline: Proportion | None = None,
    n: int = VALIDATED,
    style: Style = STYLE,
) -> Figure:
    """Plot loss (left) and accuracy (right) by update; earlier runs are pale.

    The x axis is that of a whole run from the start.

    Args:
        trail: reports so far.
        settings: settings of the training.
        baseline: accuracy of the answer that is most frequent in training.
        n: number of validation sentences, for the intervals after each epoch.
        style: language, theme and scale of the figure.
    """
    label, palette, sheet = style.labels("figure.acc_"), style.palette, Sheet(style)
    batches = -(-settings.sentences // settings.batch)
    updates = max([record.steps for record in trail], default=0) or settings.epochs * batches
    loss, accuracy, valid = (_of(trail, name) for name in _VALUES)
    rendered = panels(sheet, label("update"), updates, [loss], [[40, 100]], baseline, False)
    runs = sorted({record.run for record in trail})
    for run in runs:
        part = [record for record in trail if record.run == run]
        _run(rendered, part, settings.runs > 1, 1 if run == runs[-1] else QUIET, n)
    for panel in () if trail else (rendered.loss, rendered.accuracy):
        panel.unseen([0], [0], "")  # without a trace a panel would have no axes
    if trail:
        names = [label("training"), label("validation")]
        ends = [100 * float(accuracy[-1]), 100 * _last(valid)]
        colors = [palette.truth, palette.prediction]
        rendered.accuracy.ends(names, colors, ends, updates, rendered.percents)
        maximum = max(settings.runs, runs[-1] + 1)
        rendered.loss.title(label("run_of", run=runs[-1] + 1, runs=maximum))
    if baseline is not None:
        bars_and_labels.majority(rendered.accuracy, baseline, [0, updates])
    if not trail:
        return sheet.described(
            "alt.acc_progress_start", gap=0.17, steps=updates, runs=settings.runs
        )
    return sheet.described(
        "alt.acc_progress", gap=0.17, run=runs[-1] + 1, runs=settings.runs, step=trail[-1].step,
        steps=updates, loss=_last(loss), accuracy=_last(accuracy), validation=_last(valid),
    )  # fmt: skip


def _of(trail: Sequence[TuneRecord], name: str) -> Float[np.ndarray, "record"]:
    return np.array([getattr(record, name) for record in trail], float)


def _run(panels: Panels, trail: Sequence[TuneRecord], many: bool, opacity: float, n: int) -> None:
    """Draw the loss and the accuracies of one run; those after an epoch have intervals."""
    text, palette = panels.loss.style.text, panels.loss.style.palette
    names = [text("figure.acc_training"), text("figure.acc_validation")]
    if many:
        names = [text("figure.acc_run", name=name, run=trail[0].run + 1) for name in names]
    step = np.array([record.step for record in trail])
    loss, accuracy, valid = (_of(trail, name) for name in _VALUES)
    keys: dict[str, Any] = {"opacity": opacity, "legend": False}
    thin = {"width": 1.6, "symbol": None if len(step) > 1 else "circle", **keys}
    panels.loss.line(step, loss, names[0], palette.truth, hover=HOVER_LOSS, **thin)
    panels.accuracy.line(
        step, 100 * accuracy, names[0], palette.truth, hover=bars_and_labels.HOVER, **thin
    )
    finite = np.isfinite(valid)
    if finite.any():
        share, color = 100 * share_ci(valid[finite], n), palette.prediction
        keys |= {"error_y": whisker(share.mean, *share.ci, color)}
        keys |= {"symbol": "circle", "hover": bars_and_labels.HOVER}
        panels.accuracy.line(step[finite], share.mean, names[1], color, **keys)


def _last(values: Float[np.ndarray, "record"]) -> float:
    finite = values[np.isfinite(values)]
    return float(finite[-1]) if finite.size else float("nan")
