"""Benches on networks that learn a series: the course text's run, custom ones, other rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from seqviz.compute import ar_fitting as ar
from seqviz.compute.ar_fitting.ahead import errors_ahead
from seqviz.compute.ar_fitting.estimation import OneStep
from seqviz.compute.ar_fitting.network_settings import CELLS, NetworkSettings
from seqviz.compute.ar_fitting.networks import AHEAD, EpochReport, NetworkFit, fit_network
from seqviz.compute.ar_fitting.nonlinear import RULE_KINDS, Kind
from seqviz.compute.ar_fitting.windows import WINDOWS, fit_windows
from seqviz.core.errors import MessageError
from seqviz.figures.ar_fitting import training
from seqviz.lessons.ar_fitting.series import ProcessParams, Series, studied
from seqviz.lessons.framework.controls import choice, on, seed, select_slider, slider, toggle, view
from seqviz.lessons.framework.lesson import read_params
from seqviz.lessons.framework.show import Show
from seqviz.plotting import STYLE, Figure, Style

PRESETS = {
    "text": NetworkSettings(epochs=100),
    "text_1000": NetworkSettings(epochs=1000),
    "held_out": NetworkSettings(epochs=1000, train=0.6, validation=0.2),
}
SEASONAL = (0.0, 0.0, 0.0, 0.7)  # windows below 4 contain no useful value
WINDOWED = NetworkSettings(
    "mlp", hidden=8, epochs=200, learning_rate=0.01, train=0.6, validation=0.2
)
OWN = on(preset="own")


@dataclass(frozen=True)
class NetworksParams:
    """Controls of the bench on networks: the course text's run, or a custom network."""

    view: str = view(("loss", "map", "predictions", "ahead", "window"), "loss")
    window: int = slider(1, WINDOWS[-1], 3, when=on(view="window"), unit="values")
    preset: str = choice(
        (*PRESETS, "own"), "text", menu=True, when=on(view=("loss", "map", "predictions", "ahead"))
    )
    cell: str = choice(CELLS, "rnn", when=OWN)
    epochs: int = select_slider((50, 100, 200, 500, 1000), 200, when=OWN)
    rate: float = select_slider((0.0003, 0.001, 0.003, 0.01, 0.03, 0.1), 0.01, when=OWN)
    hidden: int = select_slider((2, 4, 8, 16, 32, 64), 16, when=OWN)
    split: bool = toggle(True, when=OWN)
    layers: int = slider(1, 3, 1, more=True, when=OWN)
    lags: int = slider(1, 10, 1, more=True, when=on(preset="own", cell="mlp"), unit="values")
    optimizer: str = choice(("adam", "sgd"), "adam", more=True, when=OWN)
    seed: int = seed(0, more=True)


@dataclass(frozen=True)
class NonlinearParams:
    """Controls of the bench on a nonlinear rule."""

    view: str = view(("map", "ahead", "loss"), "map")
    rule: str = choice(RULE_KINDS, "logistic")
    r: float = slider(2.8, 3.7, 3.7, 0.05, when=on(rule="logistic"))
    below: float = slider(-0.9, 0.9, -0.8, 0.1, when=on(rule="threshold"))
    above: float = slider(-0.9, 0.9, 0.8, 0.1, when=on(rule="threshold"))
    cell: str = choice(CELLS, "mlp", more=True)
    seed: int = seed(0, more=True)


@dataclass(frozen=True)
class Study:
    """Series, network settings, and reference errors of a training.

    Attributes:
        values: the series.
        settings: settings of the network.
        best: errors of least squares and of the true rule.
        floor: expected error of the true rule.
        line: coefficients and intercept of the least-squares fit.
        rule: the true rule.
        slope: true slope of a linear rule of order 1.
    """

    values: Series
    settings: NetworkSettings
    best: OneStep
    floor: float
    line: tuple[Any, float]
    rule: Any
    slope: float | None = None

    @property
    def is_split(self) -> bool:
        """True where some of the series is held out."""
        return self.settings.train < 1

    @property
    def validation(self) -> tuple[int, int]:
        """First validation target, and the one after the last."""
        targets, start = len(self.values) - 1, self.settings.train
        return round(start * targets), round((start + 0.2) * targets)

    @property
    def levels(self) -> training.Levels:
        """Reference errors of the loss figure."""
        held_out = self.best.line_mse(*self.validation) if self.is_split else None
        return self.floor, self.best.training_mse, held_out


def draw_loss(done: NetworkFit, study: Study, show: Show) -> None:
    """Show the losses, and whether the validation loss has turned up."""
    show.figure(training.loss_of_fit, done, study.levels)
    if study.is_split:
        turned = done.least_epoch < done.settings.epochs
        show.note("u_curve" if turned else "u_none", done=done, last=done.validation_loss[-1],
                  train=done.train_loss[-1], line=study.levels[2],
                  truth=study.best.truth_mse(*study.validation))  # fmt: skip


def draw_map(done: NetworkFit, study: Study, show: Show) -> None:
    """Show the prediction as a function of the last value."""
    (coefficients, intercept), inputs = study.line, done.map.inputs
    if not isinstance(study.rule, ar.Rule):
        show.figure(training.one_step_map, done, study.values, study.slope)
        show.note("map" if done.map.band_width > 0 else "map_of_one", map=done.map,
                  line=coefficients[0])  # fmt: skip
        return
    true = show.derive(study.rule.next, inputs, name="true")
    best_line = show.derive(ar.straight, inputs, intercept, coefficients[0], name="line")
    show.figure(training.one_step_map, done, study.values, study.slope, true, best_line)
    gaps = (float(abs(curve - true).max()) for curve in (done.map.mean, best_line))
    show.note("bent_map", **dict(zip(("map", "line"), gaps, strict=True)))


def map_so_far(trail: Sequence[EpochReport], study: Study, style: Style = STYLE) -> Figure:
    """Return the figure of `draw_map` for a running training.

    Args:
        trail: reports so far, at least one.
        study: what is trained.
        style: language, theme and scale of the figure.
    """
    inputs, (coefficients, intercept) = trail[-1].map.inputs, study.line
    true = line = None
    if isinstance(study.rule, ar.Rule):
        true, line = study.rule.next(inputs), ar.straight(inputs, intercept, coefficients[0])
    cell = study.settings.cell
    return training.map_so_far(trail, cell, study.values, study.slope, true, line, style)


def draw_predictions(done: NetworkFit, study: Study, show: Show) -> None:
    """Show the last one-step predictions, and the error of repeating each value."""
    show.figure(training.one_step_predictions, done)
    # An MLP predicts nothing before its first full window.
    count = min(120, int(np.isfinite(done.predictions).sum()))
    naive = float(((study.values[1:] - study.values[:-1])[-count:] ** 2).mean())
    show.note("predictions", count=count, mse=done.last_mse(count), naive=naive)


def draw_ahead(done: NetworkFit, study: Study, show: Show) -> None:
    """Show the errors of forecasters that are fed their own forecasts."""
    if not done.origins.size:
        raise MessageError("too_short_ahead", horizon=AHEAD, steps=len(study.values))
    back = show.run(errors_ahead, done, *study.line, study.rule, name="back")
    cell, ends = done.settings.cell.upper(), back.ends()
    show.figure(training.errors_fed_back, back, done.settings.cell)
    useful = show.words(f"note.useful_{ends.variant}", cell=cell, **ends)
    show.note("ahead", **{**ends, "cell": cell, "useful": useful})


VIEWS = {"loss": draw_loss, "map": draw_map, "predictions": draw_predictions, "ahead": draw_ahead}


def learn(show: Show, view: str, study: Study) -> tuple[NetworkFit, float, float]:
    """Train a network on a series and draw it.

    Returns:
        The training, and the errors of network and line on the data that judge the network.
    """
    losses = training.loss_so_far, study.settings, study.levels
    done = show.job(
        fit_network, name="done", values=study.values, settings=study.settings,
        so_far=(map_so_far, study) if view == "map" else losses,
    )  # fmt: skip
    VIEWS[view](done, study, show)
    kind, start = ("split", done.validation_end) if study.is_split else ("train", 0)
    where = show.words(f"metric.network_mse.{kind}")
    score = "test_mse" if study.is_split else "train_mse"
    show.readouts(done, network_mse=score, caption={"network_mse": where})
    reached = show.readout("ols_mse", study.best.line_mse, start, caption=where)
    variance = show.words("metric.floor.variance", value=study.floor)
    show.readout("floor", study.best.truth_mse, start, caption=variance)
    # The line has an intercept for a nonlinear rule.
    weights = len(study.line[0]) + isinstance(study.rule, ar.Rule)
    count = show.words("metric.parameters.delta", count=weights)
    show.readouts(done, "parameters", caption={"parameters": count})
    return done, getattr(done, score), reached


def verdict(error: float, line: float) -> str:
    """Return "over" for a network better than a line, else "under", or "even" within 1 percent."""
    return "under" if error / line > 1.01 else "over" if error / line < 0.99 else "even"


def draw_windows(p: NetworksParams, show: Show) -> None:
    """Show MLPs with windows of every length, and an RNN, on a seasonal series."""
    path = show.run(ar.simulate, SEASONAL, n=2000, seed=p.seed, name="path")
    settings, order = replace(WINDOWED, seed=p.seed), len(SEASONAL)
    best = show.run(ar.one_step, path.values, order, settings.train, path.innovations, name="best")
    test = round((settings.train + settings.validation) * (len(path.values) - 1))
    noise = best.truth_mse(test)
    done = show.job(
        fit_windows, name="done", values=path.values, settings=settings,
        so_far=(training.windows_so_far, p.window, noise),
    )  # fmt: skip
    show.figure(training.error_by_window, done, p.window, noise)
    error = show.readout("network_mse", done.error, p.window, caption=f"MLP, P = {p.window}")
    show.readouts(done, "rnn_mse")
    variance = show.words("metric.floor.variance", value=path.sigma**2)
    show.readout("floor", best.truth_mse, test, caption=variance)
    beside = show.words("metric.parameters.rnn", count=done.rnn_parameters)
    show.readout("parameters", done.count, p.window, caption=beside)
    show.note(
        "window", done=done, window=p.window, count=done.parameters[p.window - 1], error=error,
        least=done.error(done.best), windows=WINDOWS[-1], many=done.parameters[-1],
        last=done.error(WINDOWS[-1]), truth=noise,
    )  # fmt: skip


def world_of(p: NetworksParams) -> tuple[ProcessParams, NetworkSettings]:
    """Return the process and the settings of the network."""
    if p.preset != "own":  # the course text's run has a fixed series
        return ProcessParams(n=1000, seed=p.seed), replace(PRESETS[p.preset], seed=p.seed)
    train, validation = (0.6, 0.2) if p.split else (1.0, 0.0)
    settings = NetworkSettings(p.cell, p.lags, p.hidden, p.layers, p.epochs, p.rate, p.optimizer,
                               train, validation, seed=p.seed)  # fmt: skip
    return read_params("process", ProcessParams), settings


def networks(p: NetworksParams, show: Show) -> None:
    if p.view == "window":
        return draw_windows(p, show)
    world, settings = world_of(p)
    path, values = studied(world, show)
    if not ar.is_stationary(path.coefficients):
        raise MessageError("train_stationary")
    # The true rule misses the noise; for a shuffled series it misses everything.
    noise = values if world.shuffle else path.innovations
    best = show.run(ar.one_step, values, world.order, settings.train, noise, name="best")
    floor = best.truth_mse() if world.shuffle else world.sigma**2
    slope = world.phi if world.order == 1 and not world.shuffle else None
    observed = values[: 1 + round(settings.train * (len(values) - 1))]
    line = show.run(ar.fit, observed, world.order, "ols", name="line").coefficients
    rule = (0.0,) if world.shuffle else tuple(path.coefficients)
    study = Study(values, settings, best, floor, (line, 0.0), rule, slope)
    done, error, reached = learn(show, p.view, study)
    kind, start = ("split", done.validation_end) if study.is_split else ("train", 0)
    show.note(f"{kind}_{verdict(error, reached)}", error=error, floor=reached,
              truth=best.truth_mse(start))  # fmt: skip
    return None


def nonlinear(p: NonlinearParams, show: Show) -> None:
    rule = ar.Rule(cast(Kind, p.rule), p.below, p.above, p.r)
    path = show.run(ar.simulate_rule, rule, n=1000, seed=p.seed, name="path")
    settings = NetworkSettings(
        p.cell, hidden=16, epochs=500, learning_rate=0.01, train=0.6, validation=0.2, seed=p.seed
    )
    best, (intercept, slope) = show.run(ar.against_rule, path, settings.train, name="best")
    line = (slope,), intercept
    study = Study(path.values, settings, best, rule.noise_variance, line, rule)
    done, error, reached = learn(show, p.view, study)
    show.note(f"bent_{verdict(error, reached)}", error=error, line=reached, times=reached / error,
              truth=best.truth_mse(done.validation_end))  # fmt: skip
