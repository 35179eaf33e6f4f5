"""Cost of the Markov assumption: MLPs on windows of P values, and an RNN that needs no P."""

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
_SLOWER = 100  # MLP epochs that take as long as one RNN epoch, which runs step by step

Scores = tuple[tuple[float, int], ...]
"""Test error and number of parameters of the MLP at P = 1, 2, ..., and last of the RNN."""


@dataclass(frozen=True)
class WindowReport(TrainingRecord):
    """Progress of the trainings; `scores` has the networks whose training is finished."""

    scores: Scores


@dataclass(frozen=True)
class WindowErrors:
    """Test errors of MLPs on windows of 1 ... 10 values and an RNN, trained alike on a series.

    Attributes:
        squared: squared one-step errors on the test targets, in the squared unit of the series; row
            P - 1 for window P.
        rnn: the same of the RNN.
        parameters: number of parameters of each MLP.
        rnn_parameters: number of parameters of the RNN.
        validation_end: index of the first test target.
    """

    squared: Float[np.ndarray, "window target"]
    rnn: Float[np.ndarray, "target"]
    parameters: Int[np.ndarray, "window"]
    rnn_parameters: int
    validation_end: int

    @property
    def mse(self) -> Float[np.ndarray, "window"]:
        """Mean squared error of each window on the test targets."""
        return self.squared.mean(axis=1)

    @property
    def rnn_mse(self) -> float:
        """Mean squared error of the RNN on the test targets."""
        return float(self.rnn.mean())

    @property
    def best(self) -> int:
        """Window with the smallest error."""
        return int(self.mse.argmin()) + 1

    @property
    def enough(self) -> int:
        """Smallest window whose error is at most one standard error above the smallest error.

        The standard error is that of the mean difference between the squared errors of the window
        and of the best window; the test targets count as independent. Variation between training
        seeds is not included. Hastie, Tibshirani & Friedman (2009, section 7.10) give this rule for
        the folds of a cross-validation.
        """
        more = self.squared - self.squared[self.best - 1]
        return int((more.mean(axis=1) <= standard_error(more, axis=1)).argmax()) + 1

    @property
    def scores(self) -> Scores:
        """Scores of all networks, as in the reports."""
        errors, counts = [*self.mse, self.rnn_mse], [*self.parameters, self.rnn_parameters]
        return tuple(zip(map(float, errors), map(int, counts), strict=True))

    def error(self, window: int) -> float:
        """Return the mean squared error of the MLP with this window."""
        return float(self.mse[window - 1])

    def count(self, window: int) -> Count:
        """Return the number of parameters of the MLP with this window."""
        return float(self.parameters[window - 1])


def fit_windows(
    values: Float[np.ndarray, "steps"],
    settings: NetworkSettings,
    report: Callable[[WindowReport], None] | None = None,
    device: str = "cpu",
) -> WindowErrors:
    """Train the MLP at every window, then the RNN, each as `fit_network` does.

    Args:
        values: the series.
        settings: settings of all networks, with a test segment; cell and lags are replaced.
        report: called after every epoch from the second network on; may raise to stop.
        device: torch device.

    Raises:
        ValueError: as `fit_network`.
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
