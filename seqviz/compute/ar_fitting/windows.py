"""The Markov assumption priced: MLPs on windows of P values beside an RNN that needs no P."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.ar_fitting.network_settings import NetworkSettings
from seqviz.compute.ar_fitting.networks import EpochReport, NetworkFit, fit_network
from seqviz.compute.ar_fitting.process import read_only
from seqviz.compute.training.loop import TrainingRecord
from seqviz.core.units import Count
from seqviz.stats.estimate import standard_error

WINDOWS = range(1, 11)
_SLOWER = 100  # an epoch of the RNN goes step by step; it takes as long as so many of an MLP

Scores = tuple[tuple[float, int], ...]
"""Test error and number of parameters of the MLP at P = 1, 2, ..., and last of the RNN."""


@dataclass(frozen=True)
class WindowReport(TrainingRecord):
    """Where the trainings stand; `scores` are those of the networks that are done."""

    scores: Scores


@dataclass(frozen=True)
class WindowErrors:
    """MLPs on windows of 1 ... 10 values and an RNN, trained alike on one series.

    squared[P - 1], rnn: squared one-step errors on the test targets, which begin at target
    `validation_end`, in the unit of the series squared. parameters[P - 1], rnn_parameters: counted
    in the networks.
    """

    squared: Float[np.ndarray, "window target"]
    rnn: Float[np.ndarray, "target"]
    parameters: Int[np.ndarray, "window"]
    rnn_parameters: int
    validation_end: int

    @property
    def mse(self) -> Float[np.ndarray, "window"]:
        """Mean squared error on the test targets, of each window."""
        return self.squared.mean(axis=1)

    @property
    def rnn_mse(self) -> float:
        """Of the RNN."""
        return float(self.rnn.mean())

    @property
    def best(self) -> int:
        """The window with the least error."""
        return int(self.mse.argmin()) + 1

    @property
    def enough(self) -> int:
        """The smallest window whose error is at most one standard error above the least.

        Of the mean difference to the best window over the test targets, taken as independent
        (Hastie, Tibshirani & Friedman 2009, section 7.10, for folds): it covers the test targets,
        not the seeds.
        """
        more = self.squared - self.squared[self.best - 1]
        return int((more.mean(axis=1) <= standard_error(more, axis=1)).argmax()) + 1

    @property
    def scores(self) -> Scores:
        """As in the reports, of all networks."""
        errors, counts = [*self.mse, self.rnn_mse], [*self.parameters, self.rnn_parameters]
        return tuple(zip(map(float, errors), map(int, counts), strict=True))

    def error(self, window: int) -> float:
        """Of the MLP with this window."""
        return float(self.mse[window - 1])

    def count(self, window: int) -> Count:
        """Its parameters."""
        return float(self.parameters[window - 1])


def fit_windows(
    values: Float[np.ndarray, "steps"],
    settings: NetworkSettings,
    report: Callable[[WindowReport], None] | None = None,
    device: str = "cpu",
) -> WindowErrors:
    """Train the MLP at every window, then the RNN, each as `fit_network` does.

    values: the series. settings: of all networks; their cell and lags are replaced, and they leave
    a test segment. `report` is called after every epoch from the second network on and may raise to
    stop. Raises what `fit_network` raises.
    """
    methods = [replace(settings, cell="mlp", lags=window) for window in WINDOWS]
    methods.append(replace(settings, cell="rnn", lags=1))
    total = (len(WINDOWS) + _SLOWER) * settings.epochs
    done: list[NetworkFit] = []

    def report_epoch(epoch: EpochReport) -> None:
        if report is not None and done:
            slower = _SLOWER if len(done) == len(WINDOWS) else 1
            update = len(done) * settings.epochs + slower * epoch.update
            scores = tuple((item.test_mse, item.parameters) for item in done)
            report(WindowReport(update, total, scores))

    for method in methods:
        fitted = fit_network(values, method, report_epoch, device)
        done.append(fitted)
    end = done[0].validation_end
    squared = np.stack([(item.targets - item.predictions)[end:] ** 2 for item in done])
    counts = np.array([item.parameters for item in done])
    return WindowErrors(
        read_only(squared[:-1]),
        read_only(squared[-1]),
        read_only(counts[:-1]),
        int(counts[-1]),
        end,
    )
