"""Small Transformers on tasks: accuracy while they learn, and in the end with its uncertainty."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.positions.tiny.results import OrderReport, OrderResult, TaskScores
from seqviz.compute.positions.tiny.settings import OrderSettings
from seqviz.core.i18n import number
from seqviz.figures.positions.style import SchemeStyle, look
from seqviz.plotting import NAMED, STYLE, Figure, Panel, Sheet, Style, axes, whisker

_SPAN = (-3.0, 106.0)  # percent on the axis of the curves
_MARKED = 12  # reports up to which each has a marker
_RUN = 0.12  # rows between two runs of one encoding
_RIGHT = 138  # percent at which the axis of the accuracies ends, with room for the means


def learning_curves(result: OrderResult, style: Style = STYLE) -> Figure:
    """Accuracy (%) while the networks learned: mean of the runs, in a band from worst to best."""
    return _curves(result.updates, result.curve, result.settings, style)


def learning_progress(
    trail: Sequence[OrderReport], settings: OrderSettings, style: Style = STYLE
) -> Figure:
    """`learning_curves` of the reports so far, on the axis of the whole training."""
    trail = [report for report in trail if report.update]  # the first says that it begins
    runs = [report.accuracy for report in trail]
    curve = np.reshape(runs, (len(trail), len(settings.encodings), settings.runs))
    return _curves(np.array([report.update for report in trail], int), curve, settings, style)


def _curves(
    updates: Int[np.ndarray, "report"],
    curve: Float[np.ndarray, "report encoding run"],
    settings: OrderSettings,
    style: Style,
) -> Figure:
    text, runs = style.text, curve.shape[2]
    last = int(updates[-1]) if len(updates) else 0
    styles = [look(encoding, style) for encoding in settings.encodings]
    sheet = Sheet(style)
    sheet.margin(r=92 * style.scale, t=20)
    panel = sheet.panel(
        axes.axis(text("figure.update"), range=[0, settings.updates]),
        axes.axis(text("figure.accuracy"), range=list(_SPAN)),
    )
    percent = 100 * curve.swapaxes(0, 1)
    if runs > 1 and len(updates) > 1:
        for rendered, values in zip(styles, percent, strict=True):
            panel.band(updates, values.min(axis=1), values.max(axis=1), rendered.color)
    means = percent.mean(axis=2)
    for rendered, mean in zip(styles, means, strict=True):
        panel.line(
            updates,
            mean,
            rendered.name,
            rendered.color,
            width=2.8,
            dash=rendered.dash,
            legend=False,
            symbol=rendered.symbol if len(updates) <= _MARKED else None,
            hover=f"%{{x:,d}}: %{{y:.1f}}%{NAMED}",
        )
    ends = means[:, -1].tolist() if last else [0.0] * len(styles)
    if last:
        names, colors = [figure.name for figure in styles], [figure.color for figure in styles]
        panel.ends(names, colors, ends, last, _SPAN)
    summary = "; ".join(
        f"{figure.name}: {end:.1f}%" for figure, end in zip(styles, ends, strict=True)
    )
    return sheet.described("alt.pos_curves", update=last, runs=runs, values=summary)


def accuracies(result: OrderResult, style: Style = STYLE) -> Figure:
    """How many answers are right, by encoding: runs with their intervals, and their mean.

    Left sequences as long as those of the training, right twice as long. Dotted: the best that can
    be had without reading, and without order.
    """
    text, test, longer = style.text, result.test, result.longer
    styles = [look(encoding, style) for encoding in result.settings.encodings]
    names = [rendered.name for rendered in styles]
    rows = (
        np.arange(len(names)) + 1 + _RUN * (test.accuracy.share.shape[1] - 1) / 2
    )  # their middles
    x = axes.axis(text("figure.pos_accuracy"), range=[-3, _RIGHT], tickvals=[0, 25, 50, 75, 100])
    y = axes.names(
        names, text("figure.pos_scheme"), range=[rows[-1] + 0.6, rows[0] - 0.6], tickvals=rows
    )
    hidden = {**y, "title": {"text": ""}, "showticklabels": False}
    sheet = Sheet(style)
    sheet.legend(y=1.07)
    sheet.margin(t=72 * style.scale)
    for scores, across, side in ((test, (0, 0.45), y), (longer, (0.55, 1), hidden)):
        title = text("figure.pos_letters", count=scores.length)
        panel = sheet.panel(x, side, across=across, title=title)
        _limits(panel, scores, len(names), legend=scores is test)
        for row, figure in enumerate(styles):
            _runs(panel, scores, row, figure)
            _mean(panel, scores, row, float(rows[row]), figure)
    return sheet.described(
        "alt.pos_accuracies",
        length=test.length,
        usual=_listed(test, names, style),
        longer=longer.length,
        long=_listed(longer, names, style),
        chance=100 * test.baseline,
        blind=100 * test.order_blind,
        gap=0.22,
    )


def _limits(panel: Panel, scores: TaskScores, rows: int, legend: bool) -> None:
    """Lines from top to bottom at what needs no reading, and at what needs no order."""
    palette = panel.style.palette
    for name, share, color, dash in (
        ("chance", scores.baseline, palette.baseline, "dot"),
        ("order_blind", scores.order_blind, palette.truth, "dashdot"),
    ):
        panel.line(
            [100 * share] * 2, [0, rows + 2], panel.style.text(f"figure.pos_{name}"), color,
            width=2, dash=dash, hover=False, legend=legend, group=name,
        )  # fmt: skip


def _runs(panel: Panel, scores: TaskScores, row: int, line_style: SchemeStyle) -> None:
    """The runs of one encoding, each with its interval."""
    result = scores.accuracy
    accuracy, low, high = (100 * part[row] for part in (result.share, result.low, result.high))
    panel.points(
        accuracy,
        row + 1 + _RUN * np.arange(len(accuracy)),
        line_style.name,
        line_style.color,
        size=8,
        symbol=line_style.symbol,
        legend=False,
        hover=f"%{{x:.1f}}%{NAMED}",
        error_x=whisker(accuracy, low, high, line_style.color, thickness=1.6, width=3),
    )


def _mean(panel: Panel, scores: TaskScores, row: int, at: float, line_style: SchemeStyle) -> None:
    """A stroke at their mean, with the number beside the row; or that there is none."""
    text, mean = panel.style.text, 100 * float(scores.mean[row])
    panel.points(
        [mean], [at], text("figure.pos_mean_of", name=line_style.name), None, legend=False,
        hover=f"%{{x:.1f}}%{NAMED}",
        marker={
            "symbol": "line-ns",
            "size": 30,
            "line": {"width": 3, "color": panel.style.palette.truth},
        },
    )  # fmt: skip
    summary = text("figure.pos_no_rows") if np.isnan(mean) else f"<b>{mean:.1f}</b>"
    panel.words(summary, _RIGHT, at, xanchor="right")


def _listed(scores: TaskScores, names: Sequence[str], style: Style) -> str:
    return "; ".join(
        f"{name}: "
        + (style.text("figure.pos_no_rows") if np.isnan(mean) else f"{number(100 * mean)}%")
        for name, mean in zip(names, scores.mean.tolist(), strict=True)
    )
