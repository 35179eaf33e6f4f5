"""One-step forecasters: against plain PyTorch loops, closed counts and the numbers printed."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from seqviz.compute.ar_fitting import simulate
from seqviz.compute.ar_fitting.network_settings import CELLS, NetworkSettings
from seqviz.compute.ar_fitting.networks import MapHistory, fit_network
from tests.tiers import first_only

RECURRENT = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}
# Two float32 evaluations that sum in another order differ by a few of 2**-23 = 1.2e-7 a step; a
# hundred steps of a contracting state and a few updates leave well under 1e-5 on values near 1.
FLOAT32 = 1e-5


pytestmark = pytest.mark.usefixtures("one_thread")


def ar1(seed: int, n: int = 1000) -> np.ndarray:
    return simulate((0.8,), n=n, seed=seed).values


class Plain(nn.Module):
    """The same networks, written the usual way and seeded by `torch.manual_seed`."""

    def __init__(self, settings: NetworkSettings):
        super().__init__()
        torch.manual_seed(settings.seed)
        self.is_mlp = settings.cell == "mlp"
        if self.is_mlp:
            parts: list[nn.Module] = []
            width = settings.lags
            for _ in range(settings.layers):
                parts += [nn.Linear(width, settings.hidden), nn.Tanh()]
                width = settings.hidden
            self.body = nn.Sequential(*parts)
        else:
            kind = RECURRENT[settings.cell]
            self.body = kind(1, settings.hidden, settings.layers, batch_first=True)
        self.head = nn.Linear(settings.hidden, 1)

    def forward(self, x):
        return self.head(self.body(x) if self.is_mlp else self.body(x)[0])


def inputs_and_targets(values: np.ndarray, settings: NetworkSettings):
    series = torch.tensor(values, dtype=torch.float32)
    if settings.cell == "mlp":
        p = settings.lags
        windows = torch.stack([series[t - p : t] for t in range(p, len(series))])
        return windows, series[p:, None]
    return series[None, :-1, None], series[None, 1:, None]


def plain_losses(values: np.ndarray, settings: NetworkSettings) -> tuple[list[float], int]:
    """The loss before each update and the number of parameters."""
    network = Plain(settings)
    x, y = inputs_and_targets(values, settings)
    kind = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}[settings.optimizer]
    optimizer = kind(network.parameters(), lr=settings.learning_rate)
    losses = []
    for _ in range(settings.epochs):
        loss = nn.functional.mse_loss(network(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, sum(p.numel() for p in network.parameters())


every_architecture = pytest.mark.parametrize(
    "settings",
    [
        NetworkSettings(cell=cell, lags=lags, hidden=hidden, layers=layers)
        for cell in CELLS
        for lags, hidden, layers in [(1, 32, 1), (3, 5, 2), (4, 1, 3)]
    ],
    ids=str,
)


# --- printed numbers ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seed", "epochs", "losses", "final"),
    # of seed 0 a longer run: it underfits after 100 epochs and overfits after 1000
    first_only([
        (1, 100, {0: 2.661}, 1.142),
        (0, 1000, {0: 2.931, 100: 1.168}, 0.701),
        (2, 100, {0: 2.733}, 1.204),
    ]),
)  # fmt: skip
def test_fit_network_reproduces_textbook_losses(seed, epochs, losses, final):
    fit = fit_network(ar1(seed), NetworkSettings(seed=seed, epochs=epochs))
    # 5e-3: three printed digits, and other CPUs round a hundred updates a little differently
    for updates, loss in losses.items():
        assert fit.train_loss[updates] == pytest.approx(loss, abs=5e-3)
    assert fit.train_mse == pytest.approx(final, abs=5e-3)
    assert fit.parameters == 1153


# --- a second implementation --------------------------------------------------------------------


@every_architecture
@pytest.mark.parametrize(("optimizer", "train"), [("adam", 1.0), ("sgd", 0.5)])
def test_fit_network_loss_matches_plain_torch_loop(settings, optimizer, train):
    """Of a loop on the training segment alone: nothing leaks back from later values."""
    settings = replace(settings, epochs=4, optimizer=optimizer, learning_rate=0.02, seed=5)
    values = ar1(3, 81)
    until = 1 + int(80 * train)
    losses, parameters = plain_losses(values[:until], replace(settings, epochs=5))
    fit = fit_network(values, replace(settings, train=train, validation=(1 - train) / 2))
    assert (fit.train_end, fit.parameters) == (until - 1, parameters)
    np.testing.assert_allclose(fit.train_loss, losses[:4], atol=FLOAT32)
    assert fit.train_mse == pytest.approx(losses[4], abs=FLOAT32)  # measured after the last update


@every_architecture
def test_fit_network_scores_segments_in_one_pass(settings):
    # so small a learning rate leaves the initial weights as they are in float32
    settings = replace(settings, epochs=1, learning_rate=1e-12, train=0.5, validation=0.3, seed=2)
    values = ar1(4, 101)
    fit = fit_network(values, settings)
    x, _ = inputs_and_targets(values, settings)
    with torch.no_grad():
        expected = Plain(settings)(x).flatten().numpy()
    missing = settings.lags - 1 if settings.cell == "mlp" else 0
    assert np.isnan(fit.predictions[:missing]).all()
    np.testing.assert_allclose(fit.predictions[missing:], expected, atol=FLOAT32)
    np.testing.assert_array_equal(fit.targets, values[1:])
    assert (fit.train_end, fit.validation_end) == (50, 80)
    squared = (values[1 + missing :] - expected) ** 2
    parts = np.split(squared, [50 - missing, 80 - missing])
    got = [fit.train_mse, fit.validation_loss[0], fit.test_mse]
    np.testing.assert_allclose(got, [part.mean() for part in parts], rtol=FLOAT32)


@every_architecture
def test_fit_network_map_replaces_last_input(settings):
    settings = replace(settings, epochs=1, learning_rate=1e-12, seed=3)
    # 40 values are short enough for every input to be one of the moments, 150 are not
    values = ar1(5, 150 if settings.layers == 1 else 40)
    fit = fit_network(values, settings)
    assert (fit.map.inputs[0], fit.map.inputs[-1]) == (values.min(), values.max())
    network = Plain(settings)
    x, _ = inputs_and_targets(values, settings)
    grid = torch.tensor(fit.map.inputs, dtype=torch.float32)
    window = settings.cell == "mlp"
    count = len(x) if window else x.shape[1] - 1  # before its first input a state says nothing
    answers = []
    with torch.no_grad():
        for moment in sorted({int((k + 0.5) * count / 64) for k in range(64)}):
            observed = x[moment, :, None] if window else x[0, : moment + 2]
            request = observed.repeat(len(grid), 1, 1)
            request[:, -1, 0] = grid
            answers.append(
                network(request[..., 0] if window else request).reshape(len(grid), -1)[:, -1]
            )
    low, high = np.percentile(answers, [10, 90], axis=0)
    np.testing.assert_allclose(fit.map.mean, np.mean(answers, axis=0), atol=FLOAT32)
    np.testing.assert_allclose(fit.map.low, low, atol=FLOAT32)
    np.testing.assert_allclose(fit.map.high, high, atol=FLOAT32)


# --- segments, reports, devices -----------------------------------------------------------------


@pytest.mark.parametrize(("train", "validation"), [(1.0, 0.0), (0.7, 0.3), (0.6, 0.4), (0.9, 0.1)])
def test_fit_network_allows_empty_test_segment(train, validation):
    """Training and validation fractions that add up to one leave no test segment."""
    settings = NetworkSettings(cell="mlp", epochs=1, train=train, validation=validation)
    fit = fit_network(ar1(0, 50), settings)
    assert (fit.train_end, fit.validation_end) == (round(49 * train), 49)
    assert math.isnan(fit.test_mse)
    assert math.isnan(fit.validation_loss[0]) == (validation == 0)


def test_fit_network_reports_loss_curves():
    observed = []
    settings = NetworkSettings(cell="gru", hidden=3, epochs=4, train=0.5, validation=0.5)
    fit = fit_network(ar1(0, 40), settings, report=observed.append)
    assert [record.update for record in observed] == [1, 2, 3, 4]
    assert [record.fraction for record in observed] == [0.25, 0.5, 0.75, 1.0]
    assert [record.train_loss for record in observed] == fit.train_loss.tolist()
    assert [record.validation_loss for record in observed] == fit.validation_loss.tolist()


@pytest.mark.parametrize("cell", first_only(CELLS))
def test_history_has_the_maps_of_shorter_trainings(cell):
    settings = NetworkSettings(cell=cell, hidden=4, epochs=25, learning_rate=0.01)
    reports = []
    history = fit_network(ar1(0, 60), settings, reports.append).history
    assert history.epochs.tolist() == [0, 10, 20, 25]
    assert [report.map_epoch for report in reports] == [0] * 10 + [10] * 10 + [20] * 5
    so_far = MapHistory.of({report.map_epoch: report.map for report in reports})
    np.testing.assert_array_equal(so_far.epochs, history.epochs[:-1])
    np.testing.assert_array_equal(so_far.mean, history.mean[:-1])
    np.testing.assert_array_equal(so_far.high, history.high[:-1])
    for row, epochs in enumerate(history.epochs[1:].tolist(), start=1):
        short = fit_network(ar1(0, 60), replace(settings, epochs=epochs)).map
        np.testing.assert_allclose(history.inputs, short.inputs[::2])
        for name in ("mean", "low", "high"):
            past, now = getattr(history, name)[row], getattr(short, name)[::2]
            np.testing.assert_allclose(past, now, atol=FLOAT32)
    assert abs(history.mean[0] - history.mean[-1]).max() > 0.1  # it has learned something


def test_history_of_a_long_training_has_at_most_41_snapshots():
    fit = fit_network(ar1(0, 30), NetworkSettings(cell="mlp", hidden=2, epochs=1001))
    assert len(fit.history.epochs) <= 41
    parts = (fit.history.mean, fit.history.low, fit.history.high)
    assert sum(part.astype(np.float32).nbytes for part in parts) <= 60_000


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_fit_network_on_gpu_matches_cpu():
    settings = NetworkSettings(epochs=3)
    cpu, gpu = (fit_network(ar1(0, 80), settings, device=d) for d in ("cpu", "cuda"))
    np.testing.assert_allclose(gpu.predictions, cpu.predictions, atol=1e-2)  # cuDNN may use TF32


# --- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "settings", "message"),
    [
        (np.zeros(0), NetworkSettings(), "training segment has 0 targets but needs 2"),
        (np.zeros(2), NetworkSettings(), "training segment has 1 targets but needs 2"),
        (ar1(0, 20), NetworkSettings(cell="mlp", lags=19), "fewer lags"),
        (ar1(0, 20), NetworkSettings(train=0.5, validation=0.01), "too small to hold one value"),
        (np.array([0.0, np.nan, 1.0, 2.0]), NetworkSettings(), "missing or infinite"),
        (1e30 * ar1(0, 20), NetworkSettings(), "divide the series"),
    ],
)
def test_fit_network_rejects_bad_series(values, settings, message):
    with pytest.raises(ValueError, match=message):
        fit_network(values, settings)


# 1e38 overflows float32 in the first update, 1e30 in one of the next
@pytest.mark.parametrize(("epochs", "rate"), [(1, 1e38), (500, 1e30)])
def test_fit_network_divergence_error_names_learning_rate(epochs, rate):
    settings = NetworkSettings(cell="mlp", optimizer="sgd", learning_rate=rate, epochs=epochs)
    observed = []
    with pytest.raises(ValueError, match=rf"learning rate 1e\+{math.log10(rate):.0f} is too large"):
        fit_network(ar1(0, 50), settings, report=observed.append)
    assert len(observed) < 5


def test_fit_network_fits_constant_series():
    fit = fit_network(np.full(30, 0.5), NetworkSettings(cell="mlp", epochs=200, learning_rate=0.01))
    # one point in, one number out: 200 steps of Adam reach it to a percent
    assert fit.train_mse < 1e-4
