"""Small Transformers on order tasks: accuracy in training, and in the end with intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.positions.tiny.results import OrderReport, OrderResult, TaskScores
from seqviz.compute.positions.tiny.settings import OrderSettings
from seqviz.core.i18n import number
from seqviz.figures.positions.style import SchemeStyle, look
from seqviz.plotting import NAMED, STYLE, Figure, Panel, Sheet, Style, axes, whisker

_SPAN = (-3.0, 106.0)  # range of the axis of the curves in percent
_MARKED = 12  # maximum number of reports with markers
_RUN = 0.12  # distance of two runs of one encoding, in rows
_RIGHT = 138  # end of the accuracy axis in percent, with room for the means


def learning_curves(result: OrderResult, style: Style = STYLE) -> Figure:
    """Plot the accuracy (%) by update: mean of the runs, and a band from worst to best."""
    return _curves(result.updates, result.curve, result.settings, style)


def learning_progress(
    trail: Sequence[OrderReport], settings: OrderSettings, style: Style = STYLE
) -> Figure:
    """Plot `learning_curves` of a running training, on the axis of the whole training.

    Args:
        trail: reports so far; the first one marks the start.
        settings: settings of the training.
        style: language, theme and scale of the figure.
    """
    trail = [report for report in trail if report.update]  # the first report marks the start
    runs = [report.accuracy for report in trail]
    curve = np.reshape(runs, (len(trail), len(settings.encodings), settings.runs))
    return _curves(np.array([report.update for report in trail], int), curve, settings, style)


def _curves(
    updates: Int[np.ndarray, "report"],
    curve: Float[np.ndarray, "report encoding run"],
    settings: OrderSettings,
    style: Style,
) -> Figure:
    sheet, runs = Sheet(style), curve.shape[2]
    last = int(updates[-1]) if len(updates) else 0
    styles = [look(encoding, style) for encoding in settings.encodings]
    sheet.margin(r=92 * style.scale, t=20)
    panel = sheet.panel(
        axes.axis(style.text("figure.update"), range=[0, settings.updates]),
        axes.axis(style.text("figure.accuracy"), range=list(_SPAN)),
    )
    panel.replays()
    percent = 100 * curve.swapaxes(0, 1)
    if runs > 1 and len(updates) > 1:
        for item, values in zip(styles, percent, strict=True):
            panel.band(updates, values.min(axis=1), values.max(axis=1), item.color)
    means = percent.mean(axis=2)
    for item, mean in zip(styles, means, strict=True):
        panel.line(updates, mean, item.name, item.color, width=2.8, dash=item.dash, legend=False,
                   symbol=item.symbol if len(updates) <= _MARKED else None,
                   hover=f"%{{x:,d}}: %{{y:.1f}}%{NAMED}")  # fmt: skip
    ends = means[:, -1].tolist() if last else [0.0] * len(styles)
    if last:
        names, colors = [item.name for item in styles], [item.color for item in styles]
        panel.ends(names, colors, ends, last, _SPAN)
    summary = "; ".join(style.text("figure.pos_percent_of", name=item.name, value=end)
                        for item, end in zip(styles, ends, strict=True))  # fmt: skip
    return sheet.described("alt.pos_curves", update=last, runs=runs, values=summary)


def accuracies(result: OrderResult, style: Style = STYLE) -> Figure:
    """Plot the accuracy by encoding: runs with their intervals, and their mean.

    Left: sequences as long as in training; right: twice as long. Dotted: the best accuracy without
    reading; dash-dotted: without order.
    """
    label, sheet = style.labels("figure.pos_"), Sheet(style)
    test, longer = result.test, result.longer
    styles = [look(encoding, style) for encoding in result.settings.encodings]
    names = [item.name for item in styles]
    middles = np.arange(len(names)) + 1 + _RUN * (test.accuracy.share.shape[1] - 1) / 2
    x = axes.axis(label("accuracy"), range=[-3, _RIGHT], tickvals=[0, 25, 50, 75, 100])
    y = axes.names(names, label("scheme"), range=[middles[-1] + 0.6, middles[0] - 0.6],
                   tickvals=middles)  # fmt: skip
    hidden = {**y, "title": {"text": ""}, "showticklabels": False}
    sheet.legend(y=1.07)
    sheet.margin(t=72 * style.scale)
    titles = [label("letters", count=scores.length) for scores in (test, longer)]
    panels = sheet.row((x, y), (x, hidden), gaps=(0.45, 0.55), titles=titles)
    for panel, scores in zip(panels, (test, longer), strict=True):
        _limits(panel, scores, len(names))
        for row, item in enumerate(styles):
            _runs(panel, scores, row, item)
            _mean(panel, scores, row, float(middles[row]), item)
    return sheet.described(
        "alt.pos_accuracies", usual=_listed(test, names, style), long=_listed(longer, names, style),
        length=test.length, longer=longer.length, chance=100 * test.baseline,
        blind=100 * test.order_blind, gap=0.22,
    )  # fmt: skip


def _limits(panel: Panel, scores: TaskScores, rows: int) -> None:
    """Draw vertical lines at the accuracy without reading, and at that without order."""
    label, palette = panel.style.labels("figure.pos_"), panel.style.palette
    for name, share, color, dash in (
        ("chance", scores.baseline, palette.baseline, "dot"),
        ("order_blind", scores.order_blind, palette.truth, "dashdot"),
    ):
        panel.line([100 * share] * 2, [0, rows + 2], label(name), color, width=2, dash=dash,
                   hover=False, group=name)  # fmt: skip


def _runs(panel: Panel, scores: TaskScores, row: int, item: SchemeStyle) -> None:
    """Draw the runs of one encoding with their intervals."""
    runs = 100 * scores.accuracy[row]
    panel.points(
        runs.mean, row + 1 + _RUN * np.arange(len(runs.mean)), item.name, item.color, size=8,
        symbol=item.symbol, legend=False, hover=f"%{{x:.1f}}%{NAMED}",
        error_x=whisker(runs.mean, *runs.ci, item.color, thickness=1.6, width=3),
    )  # fmt: skip


def _mean(panel: Panel, scores: TaskScores, row: int, at: float, item: SchemeStyle) -> None:
    """Draw a bar at the mean and write its number, or that there is none."""
    label, mean = panel.style.labels("figure.pos_"), 100 * float(scores.mean[row])
    stroke = {"width": 3, "color": panel.style.palette.truth}
    panel.points([mean], [at], label("mean_of", name=item.name), None, legend=False,
                 hover=f"%{{x:.1f}}%{NAMED}",
                 marker={"symbol": "line-ns", "size": 30, "line": stroke})  # fmt: skip
    summary = label("no_rows") if np.isnan(mean) else f"<b>{mean:.1f}</b>"
    panel.words(summary, _RIGHT, at, xanchor="right")


def _listed(scores: TaskScores, names: Sequence[str], style: Style) -> str:
    return "; ".join(
        f"{name}: "
        + (style.text("figure.pos_no_rows") if np.isnan(mean) else f"{number(100 * mean)}%")
        for name, mean in zip(names, scores.mean.tolist(), strict=True)
    )
