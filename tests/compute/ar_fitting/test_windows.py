"""MLPs on windows of every length beside an RNN: what is trained, told and read off."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from seqviz.compute import ar_fitting as ar
from seqviz.compute.ar_fitting.network_settings import NetworkSettings
from seqviz.compute.ar_fitting.networks import fit_network
from seqviz.compute.ar_fitting.windows import WINDOWS, WindowErrors, fit_windows

pytestmark = pytest.mark.usefixtures("one_thread")
VALUES = ar.simulate((0.0, 0.7), n=100, seed=3).values
SETTINGS = NetworkSettings(hidden=3, epochs=5, learning_rate=0.01, train=0.6, validation=0.2)


def test_fit_windows_matches_separate_trainings():
    payloads = []
    window_errors = fit_windows(VALUES, SETTINGS, payloads.append)
    for window in (1, 4, 10):
        alone = fit_network(VALUES, replace(SETTINGS, cell="mlp", lags=window))
        assert window_errors.error(window) == pytest.approx(alone.test_mse)
        assert window_errors.count(window) == alone.parameters == 3 * (window + 2) + 1
    rnn = fit_network(VALUES, replace(SETTINGS, cell="rnn"))
    assert (window_errors.rnn_mse, window_errors.rnn_parameters) == (
        pytest.approx(rnn.test_mse),
        rnn.parameters,
    )
    assert (
        window_errors.rnn.size
        == window_errors.squared.shape[1]
        == 99 - window_errors.validation_end
    )
    shares = [item.fraction for item in payloads]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert [len(item.scores) for item in payloads[:: SETTINGS.epochs]] == [*WINDOWS]
    assert payloads[-1].scores == window_errors.scores[:-1]


def test_fit_windows_stops_if_report_raises():
    def stop(_: object) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        fit_windows(VALUES, SETTINGS, stop)


def test_window_errors_enough_uses_one_standard_error():
    noise = np.array([1.0, -1.0, 1.0, -1.0])  # standard error 1 / sqrt(3) = 0.577
    levels = np.array([9.0, 6.6, 6.5, 6.0, 6.0, 7.0, 7.0, 7.0, 7.0, 7.0])
    squared = levels[:, None] + np.where(np.arange(10) == 3, 0, 1)[:, None] * noise
    window_errors = WindowErrors(squared, noise, np.arange(10), 1, 0)
    assert (window_errors.best, window_errors.enough) == (4, 3)
