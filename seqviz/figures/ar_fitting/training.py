"""Training of a network on a series: its loss, its learned map, its predictions."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from seqviz.compute.ar_fitting.ahead import AheadErrors
from seqviz.compute.ar_fitting.network_settings import NetworkSettings
from seqviz.compute.ar_fitting.networks import EpochReport, LearnedMap, MapHistory, NetworkFit
from seqviz.compute.ar_fitting.windows import WINDOWS, Scores, WindowErrors, WindowReport
from seqviz.core.i18n import number
from seqviz.core.units import unbroken
from seqviz.plotting import STYLE, Figure, Sheet, Style, axis

# Reference mean squared errors: sigma^2, the expected error of the true process, and those of
# least squares on the training data and, if there are any, on the validation data.
Levels = tuple[float, float, float | None]


def loss_of_fit(done: NetworkFit, levels: Levels, style: Style = STYLE) -> Figure:
    """Plot the losses of a trained network, with the reference levels (`Levels`)."""
    epochs = np.arange(1.0, len(done.train_loss) + 1)
    losses = np.stack([epochs, done.train_loss, done.validation_loss])
    return _losses(losses, done.settings, levels, style)


def loss_so_far(
    trail: Sequence[EpochReport], settings: NetworkSettings, levels: Levels, style: Style = STYLE
) -> Figure:
    """Plot the losses of a running training with reference levels.

    Args:
        trail: reports so far, at least one.
        settings: settings of the training.
        levels: as in `loss_of_fit`.
        style: language, theme and scale of the figure.
    """
    label = np.array([(r.update, r.train_loss, r.validation_loss) for r in trail])
    return _losses(label.T, settings, levels, style)


def _losses(
    reports: Float[np.ndarray, "3 report"], settings: NetworkSettings, levels: Levels, style: Style
) -> Figure:
    """Plot the mean squared error by epoch; the axis does not move while the curve grows.

    `reports` has the epochs, the training and the validation losses, which may be nan.
    """
    text, palette, color = style.text, style.palette, getattr(style.palette, settings.cell)
    (epochs, train, validation), cell = reports, settings.cell.upper()
    finite = np.concatenate([train, validation[np.isfinite(validation)]])
    styles = (
        ("figure.noise_floor", palette.baseline, "dot"),
        ("figure.ols_mse", palette.prediction, "dashdot"),
        ("figure.ols_held_out", palette.truth, "longdashdot"),
    )
    lines = [
        (value, *style) for value, style in zip(levels, styles, strict=True) if value is not None
    ]
    low, high = min(float(finite.min()), *(line[0] for line in lines)), finite.max()
    sheet = Sheet(style)
    panel = sheet.panel(
        axis(text("figure.epoch"), range=[0, settings.epochs * 1.02]),
        axis(text("figure.mse"), range=[low - 0.08 * (high - low), high + 0.05 * (high - low)]),
    )
    panel.replays()
    panel.line(epochs, train, text("figure.train_loss", cell=cell), color, width=2.5)
    if np.isfinite(validation).any():
        name = text("figure.validation_loss", cell=cell)
        panel.line(epochs, validation, name, color, width=2, dash="dash")
        minimum = int(np.nanargmin(validation))
        name = text("figure.least_loss", epoch=int(epochs[minimum]))
        panel.points([epochs[minimum]], [validation[minimum]], name, palette.highlight, size=11,
                     symbol="diamond")  # fmt: skip
    for value, key, level_color, dash in lines:
        name = f"{text(key)} ({number(value)})"
        panel.line([1, settings.epochs], [value, value], name, level_color, width=2, dash=dash)
    return sheet.described("alt.loss", cell=cell, epoch=int(epochs[-1]), first=train[0],
                           last=train[-1], floor=levels[0])  # fmt: skip


def one_step_map(
    network_fit: NetworkFit, values: Float[np.ndarray, "time"], truth: float | None = None,
    rule: Float[np.ndarray, "grid"] | None = None, line: Float[np.ndarray, "grid"] | None = None,
    style: Style = STYLE,
) -> Figure:  # fmt: skip
    """Plot a network's prediction as a function of the last value.

    The band spans the 10% to 90% quantiles over the moments of the series: it shows the influence
    of anything but the last value. When the training is played again, band and curve are those of
    each epoch.

    Args:
        network_fit: the trained network.
        values: the series, for the pairs behind the curve.
        truth: true slope of an AR(1).
        rule: true nonlinear rule at the map's inputs.
        line: best line at the map's inputs.
        style: language, theme and scale of the figure.
    """
    return _map(
        network_fit.map, network_fit.history, network_fit.settings.cell, values, truth, rule, line,
        style,
    )  # fmt: skip


def map_so_far(
    trail: Sequence[EpochReport], cell: str, values: Float[np.ndarray, "time"],
    truth: float | None = None, rule: Float[np.ndarray, "grid"] | None = None,
    line: Float[np.ndarray, "grid"] | None = None, style: Style = STYLE,
) -> Figure:  # fmt: skip
    """Plot `one_step_map` of a running training, as the network was at the latest snapshot.

    Args:
        trail: reports so far, at least one.
        cell: cell of the network in lowercase letters.
        values: as in `one_step_map`.
        truth: likewise.
        rule: likewise.
        line: likewise.
        style: language, theme and scale of the figure.
    """
    past = MapHistory.of({report.map_epoch: report.map for report in trail})
    return _map(trail[-1].map, past, cell, values, truth, rule, line, style)


def _map(
    now: LearnedMap, past: MapHistory, cell: str, values: Float[np.ndarray, "time"],
    truth: float | None, rule: Float[np.ndarray, "grid"] | None,
    line: Float[np.ndarray, "grid"] | None, style: Style,
) -> Figure:  # fmt: skip
    text, palette, inputs = style.text, style.palette, now.inputs
    epoch = text("figure.epoch")
    sheet = Sheet(style)
    panel = sheet.panel(axis(text("figure.before")), axis(text("figure.predicted")))
    if now.band_width > 0:
        panel.band(inputs, now.low, now.high, palette.band, name=text("figure.map_band"),
                   opacity=1, legend=True)  # fmt: skip
        around = np.concatenate([past.inputs, past.inputs[::-1]])
        panel.learns(past.epochs, np.hstack([past.low, past.high[:, ::-1]]), around, epoch)
    panel.points(
        np.asarray(values[:-1], float), np.asarray(values[1:], float), text("figure.pairs"),
        palette.truth, size=4, opacity=0.22,
    )  # fmt: skip
    if truth is not None:
        name = text("figure.true_line", slope=truth)
        panel.line(inputs, truth * inputs, name, palette.highlight, width=2.5, dash="dash")
    if line is not None:
        panel.line(inputs, line, text("figure.ols_line"), palette.prediction, dash="dashdot")
    if rule is not None:
        panel.line(inputs, rule, text("figure.true_rule"), palette.highlight, dash="dash")
    learned = text("figure.learned_map", cell=cell.upper())
    panel.line(inputs, now.mean, learned, getattr(palette, cell), width=3)
    panel.learns(past.epochs, past.mean, past.inputs, epoch)
    key = "alt.map_alone" if truth is None else "alt.map"
    return sheet.described(key, cell=cell.upper(), slope=now.slope, truth=truth)


def one_step_predictions(network_fit: NetworkFit, style: Style = STYLE) -> Figure:
    """Plot the last 120 steps of the series with their one-step predictions."""
    text, palette, cell = style.text, style.palette, network_fit.settings.cell
    time = np.arange(1, len(network_fit.targets) + 1)[-120:]
    targets, predictions = network_fit.targets[-120:], network_fit.predictions[-120:]
    sheet = Sheet(style)
    panel = sheet.panel(axis(text("figure.steps")), axis(text("figure.value")))
    panel.line(time, targets, text("figure.series"), palette.truth, width=1.6)
    name = text("figure.one_step", cell=cell.upper())
    panel.line(time, predictions, name, getattr(palette, cell), width=2.2, dash="dash")
    error = network_fit.last_mse(120)
    return sheet.described("alt.predictions", cell=cell.upper(), last=len(time), mse=error)


def errors_fed_back(errors: AheadErrors, cell: str, style: Style = STYLE) -> Figure:
    """Plot the mean squared error by horizon as each forecaster reads its own forecasts.

    The dotted line is the error of the mean as a forecast.

    Args:
        errors: errors by horizon.
        cell: cell of the network in lowercase letters.
        style: language, theme and scale of the figure.
    """
    text, palette = style.text, style.palette
    steps = np.arange(1, len(errors.network) + 1)
    sheet = Sheet(style)
    panel = sheet.panel(
        axis(text("figure.horizon"), showgrid=False),
        axis(text("figure.forecast_mse"), rangemode="tozero"),
    )
    panel.reference(steps, errors.level, text("figure.mean_forecast"), width=2)
    for values, name, color, dash, symbol in (
        (errors.rule, text("figure.true_rule"), palette.highlight, "dash", "diamond"),
        (errors.line, text("figure.ols_line"), palette.prediction, "dashdot", "square"),
        (errors.network, cell.upper(), getattr(palette, cell), "solid", "circle"),
    ):
        panel.line(steps, values, name, color, width=2.4, dash=dash, symbol=symbol, size=6)
    return sheet.described("alt.fed_back", cell=cell.upper(), **errors.ends())


def error_by_window(done: WindowErrors, window: int, noise: float, style: Style = STYLE) -> Figure:
    """Plot the test error (left) and parameters (right) of the MLP by window, with the RNN's.

    The dotted line is `noise`; dashed lines are the RNN.

    Args:
        done: errors and parameters.
        window: marked window.
        noise: mean squared error of the true rule on the same data.
        style: language, theme and scale of the figure.
    """
    return _windows(done.scores, window, noise, style)


def windows_so_far(
    trail: Sequence[WindowReport], window: int, noise: float, style: Style = STYLE
) -> Figure:
    """Plot `error_by_window` with the networks trained so far.

    Args:
        trail: reports so far.
        window: marked window.
        noise: mean squared error of the true rule on the same data.
        style: language, theme and scale of the figure.
    """
    return _windows(trail[-1].scores, window, noise, style)


def _windows(scores: Scores, window: int, noise: float, style: Style) -> Figure:
    text, palette, ends = style.text, style.palette, [WINDOWS[0], WINDOWS[-1]]
    mlp, rnn = scores[: len(WINDOWS)], scores[len(WINDOWS) :]
    sheet = Sheet(style)
    x = axis(text("figure.mlp_window"), dtick=1, range=[0.5, ends[1] + 0.5], showgrid=False)
    titles = text("figure.test_mse"), text("figure.parameters")
    panels = sheet.row(*((x, axis(title, rangemode="tozero")) for title in titles),
                       gaps=(0.44, 0.56))  # fmt: skip
    panels[0].reference(ends, [noise, noise], text("figure.unforeseeable"), width=2)
    for index, panel in enumerate(panels):
        panel.line(list(WINDOWS)[: len(mlp)], [score[index] for score in mlp], "MLP", palette.mlp,
                   symbol="circle", group="mlp")  # fmt: skip
        for score in rnn:
            panel.line(ends, [score[index]] * 2, text("figure.any_length"), palette.rnn,
                       dash="dash", group="rnn")  # fmt: skip
        if window <= len(mlp):
            panel.points([window], [mlp[window - 1][index]], unbroken(f"P = {window}"),
                         palette.highlight, size=13, symbol="diamond", group="chosen")  # fmt: skip
    (first, few), (last, many) = mlp[0], mlp[-1]
    return sheet.described(
        "alt.windows", windows=len(mlp), first=first, last=last, few=few, many=many, noise=noise,
        rnn=rnn[0][0] if rnn else math.nan,
    )  # fmt: skip
