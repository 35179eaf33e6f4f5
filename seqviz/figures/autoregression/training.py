"""A network learning a series: its loss, the map it learned, its predictions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from seqviz.compute.autoregression.network_settings import NetworkSettings
from seqviz.compute.autoregression.networks import EpochReport, NetworkFit
from seqviz.figures.grammar.axes import axis
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.sheet import Sheet
from seqviz.figures.grammar.style import Style
from seqviz.text import number

_STYLE = Style()


def loss_of_fit(
    done: NetworkFit, noise_floor: float, ols_mse: float, style: Style = _STYLE
) -> Figure:
    """The losses of a network that has been trained; see `loss_curve`."""
    losses = done.train_loss, done.validation_loss
    return loss_curve(*losses, done.settings.cell, None, None, noise_floor, ols_mse, style)


def loss_so_far(
    trail: Sequence[EpochReport],
    settings: NetworkSettings,
    noise_floor: float,
    ols_mse: float,
    style: Style = _STYLE,
) -> Figure:
    """The losses as far as training has come; see `loss_curve`."""
    told = np.array([(r.epoch, r.train_loss, r.validation_loss) for r in trail])
    epochs, train, validation = told.T
    floors = (noise_floor, ols_mse)
    return loss_curve(train, validation, settings.cell, epochs, settings.epochs, *floors, style)


def loss_curve(
    train: Float[np.ndarray, "report"],
    validation: Float[np.ndarray, "report"],
    cell: str,
    epochs: Float[np.ndarray, "report"] | None = None,
    total: int | None = None,
    noise_floor: float | None = None,
    ols_mse: float | None = None,
    style: Style = _STYLE,
) -> Figure:
    """Mean squared error by epoch as far as training has come, with the two lines that matter.

    train, validation: shape (report,); validation may be nan. epochs: when each was measured, else
    1, 2, 3 ... cell: which network, for its color and name. total: epochs of the whole
    run (the axis does not move while the curve grows). noise_floor: sigma^2, what the truth itself
    would score on average. ols_mse: what least squares scores on the training data.
    """
    text, palette, color = style.text, style.palette, getattr(style.palette, cell)
    epochs = np.arange(1.0, len(train) + 1) if epochs is None else epochs
    total = total or len(train)
    levels = [
        (value, f"{text(name)} ({number(value)})", level_color, dash)
        for value, name, level_color, dash in (
            (noise_floor, "figure.noise_floor", palette.baseline, "dot"),
            (ols_mse, "figure.ols_mse", palette.prediction, "dashdot"),
        )
        if value is not None
    ]
    seen = np.concatenate([train, validation[np.isfinite(validation)]])
    low, high = min([float(seen.min()), *(level[0] for level in levels)]), seen.max()
    sheet = Sheet(style)
    panel = sheet.panel(
        axis(text("figure.epoch"), range=[0, total * 1.02]),
        axis(text("figure.mse"), range=[low - 0.08 * (high - low), high + 0.05 * (high - low)]),
    )
    panel.line(epochs, train, text("figure.train_loss", cell=cell.upper()), color, width=2.5)
    if np.isfinite(validation).any():
        name = text("figure.validation_loss", cell=cell.upper())
        panel.line(epochs, validation, name, color, width=2, dash="dash")
    for value, name, level_color, dash in levels:
        panel.line([1, total], [value, value], name, level_color, width=2, dash=dash)
    floor = number(noise_floor) if noise_floor is not None else "–"
    first, last = number(float(train[0])), number(float(train[-1]))
    return sheet.finish(
        text("alt.loss", cell=cell.upper(), epoch=int(epochs[-1]), first=first, last=last,
             floor=floor)
    )  # fmt: skip


def one_step_map(
    found: NetworkFit,
    values: Float[np.ndarray, "time"],
    truth: float | None = None,
    style: Style = _STYLE,
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
    return sheet.finish(text("alt.map", cell=cell.upper(), slope=slope, truth=known))


def one_step_predictions(found: NetworkFit, last: int = 120, style: Style = _STYLE) -> Figure:
    """The end of the series with the one-step predictions made for it; last: how many steps."""
    text, palette, cell = style.text, style.palette, found.settings.cell
    time = np.arange(1, len(found.targets) + 1)[-last:]
    targets, predictions = found.targets[-last:], found.predictions[-last:]
    sheet = Sheet(style)
    panel = sheet.panel(axis(text("figure.steps")), axis(text("figure.value")))
    panel.line(time, targets, text("figure.series"), palette.truth, width=1.6)
    name = text("figure.one_step", cell=cell.upper())
    panel.line(time, predictions, name, getattr(palette, cell), width=2.2, dash="dash")
    error = number(float(np.nanmean((targets - predictions) ** 2)))
    return sheet.finish(text("alt.predictions", cell=cell.upper(), last=len(time), mse=error))
