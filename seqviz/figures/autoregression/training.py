"""A network learning a series: its loss, the map it learned, its predictions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from seqviz.compute.autoregression.network_settings import NetworkSettings
from seqviz.compute.autoregression.networks import EpochReport, NetworkFit
from seqviz.figures.grammar import STYLE, Figure, Sheet, Style
from seqviz.figures.grammar.axes import axis
from seqviz.text import number


def loss_of_fit(
    done: NetworkFit, noise_floor: float, ols_mse: float, style: Style = STYLE
) -> Figure:
    """The losses of a network that has been trained, with the two lines that matter.

    noise_floor: sigma^2, what the truth itself would score on average. ols_mse: what least squares
    scores on the training data.
    """
    epochs = np.arange(1.0, len(done.train_loss) + 1)
    losses = np.stack([epochs, done.train_loss, done.validation_loss])
    return _losses(losses, done.settings, noise_floor, ols_mse, style)


def loss_so_far(
    trail: Sequence[EpochReport],
    settings: NetworkSettings,
    noise_floor: float,
    ols_mse: float,
    style: Style = STYLE,
) -> Figure:
    """The losses as far as training has come; floors as in `loss_of_fit`."""
    told = np.array([(r.update, r.train_loss, r.validation_loss) for r in trail])
    return _losses(told.T, settings, noise_floor, ols_mse, style)


def _losses(
    told: Float[np.ndarray, "3 report"],
    settings: NetworkSettings,
    noise_floor: float,
    ols_mse: float,
    style: Style,
) -> Figure:
    """Mean squared error by epoch; the axis does not move while the curve grows.

    told: the epochs, the training and the validation losses, which may be nan.
    """
    text, palette, color = style.text, style.palette, getattr(style.palette, settings.cell)
    (epochs, train, validation), cell = told, settings.cell.upper()
    seen = np.concatenate([train, validation[np.isfinite(validation)]])
    low, high = min(float(seen.min()), noise_floor, ols_mse), seen.max()
    sheet = Sheet(style)
    panel = sheet.panel(
        axis(text("figure.epoch"), range=[0, settings.epochs * 1.02]),
        axis(text("figure.mse"), range=[low - 0.08 * (high - low), high + 0.05 * (high - low)]),
    )
    panel.line(epochs, train, text("figure.train_loss", cell=cell), color, width=2.5)
    if np.isfinite(validation).any():
        name = text("figure.validation_loss", cell=cell)
        panel.line(epochs, validation, name, color, width=2, dash="dash")
    for value, key, level_color, dash in (
        (noise_floor, "figure.noise_floor", palette.baseline, "dot"),
        (ols_mse, "figure.ols_mse", palette.prediction, "dashdot"),
    ):
        name = f"{text(key)} ({number(value)})"
        panel.line([1, settings.epochs], [value, value], name, level_color, width=2, dash=dash)
    first, last, floor = (number(float(v)) for v in (train[0], train[-1], noise_floor))
    return sheet.described(
        "alt.loss", cell=cell, epoch=int(epochs[-1]), first=first, last=last, floor=floor
    )


def one_step_map(
    found: NetworkFit,
    values: Float[np.ndarray, "time"],
    truth: float | None = None,
    style: Style = STYLE,
) -> Figure:
    """What the network learned: its prediction as a function of the last value.

    The band is that of 10 % to 90 % of the moments of the series: it shows how much the network
    listens to anything but the last value. values: the series, for the pairs behind the curve.
    truth: the true slope of an AR(1).
    """
    text, palette, cell = style.text, style.palette, found.settings.cell
    inputs, mean = found.map_inputs, found.map_mean
    sheet = Sheet(style)
    panel = sheet.panel(axis(text("figure.before")), axis(text("figure.predicted")))
    panel.band(inputs, found.map_low, found.map_high, palette.band, name=text("figure.map_band"),
               opacity=1, legend=True)  # fmt: skip
    panel.points(
        np.asarray(values[:-1], float), np.asarray(values[1:], float), text("figure.pairs"),
        palette.truth, size=4, opacity=0.22,
    )  # fmt: skip
    if truth is not None:
        name = text("figure.true_line", slope=number(truth))
        panel.line(inputs, truth * inputs, name, palette.highlight, width=2.5, dash="dash")
    learned = text("figure.learned_map", cell=cell.upper())
    panel.line(inputs, mean, learned, getattr(palette, cell), width=3)
    a, b = len(inputs) // 2 - 5, len(inputs) // 2 + 5
    slope = number(float((mean[b] - mean[a]) / (inputs[b] - inputs[a])))
    known = number(truth) if truth is not None else "–"
    return sheet.described("alt.map", cell=cell.upper(), slope=slope, truth=known)


def one_step_predictions(found: NetworkFit, style: Style = STYLE) -> Figure:
    """The last 120 steps of the series with the one-step predictions made for them."""
    text, palette, cell = style.text, style.palette, found.settings.cell
    time = np.arange(1, len(found.targets) + 1)[-120:]
    targets, predictions = found.targets[-120:], found.predictions[-120:]
    sheet = Sheet(style)
    panel = sheet.panel(axis(text("figure.steps")), axis(text("figure.value")))
    panel.line(time, targets, text("figure.series"), palette.truth, width=1.6)
    name = text("figure.one_step", cell=cell.upper())
    panel.line(time, predictions, name, getattr(palette, cell), width=2.2, dash="dash")
    error = number(float(np.nanmean((targets - predictions) ** 2)))
    return sheet.described("alt.predictions", cell=cell.upper(), last=len(time), mse=error)
