"""Learning curves of a classifier: loss and accuracy by epoch."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from seqviz.compute.bert_accuracy.reported import Curve
from seqviz.compute.bert_accuracy.results import Tuned
from seqviz.figures.bert_accuracy import bars_and_labels
from seqviz.figures.bert_accuracy.bars_and_labels import HOVER
from seqviz.plotting import NAMED, STYLE, Figure, Panel, Sheet, Style, axes
from seqviz.stats.proportions import Proportion, of_share

VALIDATED = 800  # number of validation sentences
QUIET = 0.35  # opacity of a single run beside the mean, or of an earlier run
HOVER_LOSS = "%{x}: %{y:.3f}" + NAMED
_RIGHT = 92  # room for the names at the ends of lines, in pixels


class Panels(NamedTuple):
    """Panels of the loss (left) and the accuracy (right), with the ranges of their y axes."""

    loss: Panel
    accuracy: Panel
    losses: tuple[float, float]
    percents: tuple[float, float]


def learning_curves(
    result: Tuned,
    reported: Curve | None = None,
    baseline: Proportion | None = None,
    n: int = VALIDATED,
    style: Style = STYLE,
) -> Figure:
    """Plot loss (left) and accuracy (right) by epoch: mean of the runs, and single runs (pale).

    Epoch 0 is before training. The band is the 95% interval of the mean accuracy on the validation
    sentences; the epoch with the best one is marked.

    Args:
        result: the runs.
        reported: curve that a text prints of its own training.
        baseline: accuracy of the answer that is most frequent in training.
        n: number of validation sentences.
        style: language, theme and scale of the figure.
    """
    text, palette, (runs, points) = style.text, style.palette, result.loss.shape
    loss, train, valid = (_mean(v) for v in (result.loss, result.accuracy, result.validation))
    epochs, last, validated = np.arange(points), max(points - 1, 1), 100 * of_share(valid, n)
    losses = [result.loss]
    percents = [100 * result.accuracy, 100 * result.validation, *validated.ci]
    if reported is not None:
        last = max(last, len(reported.loss))
        losses.append(reported.loss)
        percents += [100 * reported.train, 100 * reported.validation]
    sheet, named = Sheet(style), reported is not None
    rendered = panels(sheet, text("figure.acc_epoch"), last, losses, percents, baseline, named)
    training, validation = curve_styles(style)
    names = [text("figure.acc_training"), text("figure.acc_validation")]
    colors, heights = [training[0], validation[0]], [100 * train[-1], 100 * valid[-1]]
    draw = partial(bars_and_labels.curve, legend=False)
    draw(rendered.loss, epochs, loss, names[0], training, hover=HOVER_LOSS)
    rendered.accuracy.band(epochs, *validated.ci, palette.prediction)
    for run in range(runs if runs > 1 else 0):
        _run(rendered, result, run)
    draw(rendered.accuracy, epochs, 100 * train, names[0], training)
    draw(rendered.accuracy, epochs, 100 * valid, names[1], validation, width=3.4)
    if reported is not None:
        _reported(rendered, reported)
        names.append(text("figure.acc_in_text"))
        colors.append(palette.mlp)
        heights.append(100 * float(reported.train[-1]))
        both = [float(loss[-1]), float(reported.loss[-1])]
        rendered.loss.ends(names[::2], colors[::2], both, last, rendered.losses)
    rendered.accuracy.ends(names, colors, heights, last, rendered.percents)
    best, value = "–", np.nan
    if np.isfinite(valid).any():
        at = int(np.nanargmax(valid))
        best, value = str(at), valid[at]
        _best(rendered, at, of_share(float(value), n))
    alt = text(
        "alt.acc_curves", epochs=points - 1, runs=runs, first=float(loss[0]), last=float(loss[-1]),
        train=train[-1], validation=valid[-1], best=best, value=value, n=n,
    )  # fmt: skip
    if baseline is not None:
        bars_and_labels.majority(rendered.accuracy, baseline, [0, last])
        alt += " " + text("alt.acc_baseline", percent=baseline.share)
    return sheet.finish(alt, gap=0.17)


def panels(
    sheet: Sheet, across: str, last: float, losses: Sequence[Any], percents: Sequence[Any],
    baseline: Proportion | None, named: bool,
) -> Panels:  # fmt: skip
    """Create the panels of the loss (left) and the accuracy (right).

    Args:
        sheet: sheet to draw on.
        across: title of the x axes.
        last: right end of the x axes, which start at 0.
        losses: losses that the axis must contain.
        percents: accuracies in percent, likewise.
        baseline: baseline accuracy, likewise.
        named: True to leave room for names at the ends of the loss curves.
    """
    style = sheet.style
    flat = np.concatenate([np.ravel(np.asarray(values, float)) for values in losses])
    top = 1.06 * float(np.nanmax(flat)) if np.isfinite(flat).any() else 0.8
    guess = [] if baseline is None or not baseline.n else [[100 * baseline.share - 3]]
    ends = bars_and_labels.fitted(*percents, *guess, above=0.04)
    sheet.margin(r=_RIGHT * style.scale, t=30 * style.scale)
    ticks = {"dtick": 1} if last <= 12 else {"nticks": 6}
    x = axes.axis(across, range=[-0.02 * last, 1.02 * last], tickformat=",d", **ticks)
    loss = axes.axis(style.text("figure.acc_loss"), range=[0, top])
    right = axes.percent(style.text("figure.acc_accuracy"), *ends)
    left_end = 0.36 if named else 0.42
    panels = sheet.row((x, loss), (x, right), gaps=(left_end, 0.56))
    for panel in panels:
        panel.replays()
    return Panels(panels[0], panels[1], (0, top), ends)


def curve_styles(style: Style) -> tuple[tuple[str, str, str], tuple[str, str, str]]:
    """Return color, dash and marker of training and of validation sentences."""
    palette = style.palette
    return (palette.truth, "dash", "circle-open"), (palette.prediction, "solid", "circle")


def _mean(values: Float[np.ndarray, "run epoch"]) -> Float[np.ndarray, "epoch"]:
    """Return the mean over finite runs, nan where there are none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.nanmean(values, axis=0)


def _run(panels: Panels, result: Tuned, run: int) -> None:
    """Draw one run as thin, pale lines in both panels."""
    style = panels.loss.style
    training, validation = curve_styles(style)
    for panel, values, line_style, kind, hover in (
        (panels.loss, result.loss[run], training, "training", HOVER_LOSS),
        (panels.accuracy, 100 * result.accuracy[run], training, "training", HOVER),
        (panels.accuracy, 100 * result.validation[run], validation, "validation", HOVER),
    ):
        name = style.text("figure.acc_run", name=style.text(f"figure.acc_{kind}"), run=run + 1)
        color, dash, _ = line_style
        panel.line(np.arange(len(values)), values, name, color, dash=dash, width=1.2,
                   opacity=QUIET, hover=hover, legend=False)  # fmt: skip


def _best(panels: Panels, epoch: int, proportion: Proportion) -> None:
    """Mark the best epoch with a ring, a line in both panels, and its accuracy as text."""
    style, panel = panels.accuracy.style, panels.accuracy
    color, name = style.palette.highlight, style.text("figure.acc_best_validation")
    panel.points([epoch], [100 * proportion.share], name, color, size=15, symbol="circle-open",
                 edge={"width": 3, "color": color}, hover=False, legend=False)  # fmt: skip
    panels.loss.vertical(epoch, color)
    panel.vertical(epoch, color)
    summary = bars_and_labels.format_proportion(proportion, style.text)
    panel.title(style.text("figure.acc_best_epoch", epoch=epoch, said=summary))


def _reported(panels: Panels, curve: Curve) -> None:
    """Draw the printed curve dotted, with crosses; its epochs count from 1."""
    style = panels.loss.style
    epochs = np.arange(1, len(curve.loss) + 1)
    for panel, values, kind, hover in (
        (panels.loss, curve.loss, "training", HOVER_LOSS),
        (panels.accuracy, 100 * curve.train, "training", HOVER),
        (panels.accuracy, 100 * curve.validation, "validation", HOVER),
    ):
        if np.isfinite(values).any():
            name = style.text("figure.acc_reported_line", name=style.text(f"figure.acc_{kind}"))
            bars_and_labels.curve(panel, epochs, values, name, (style.palette.mlp, "dot", "x"),
                                  hover=hover, legend=False)  # fmt: skip
