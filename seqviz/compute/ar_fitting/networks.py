"""Neural one-step forecasters trained on one series: the textbook's autoregression by RNN.

A multilayer perceptron reads a window of the last `lags` values. A recurrent cell reads one value a
step and summarizes the past in its hidden state (a *latent* autoregressive model). Teacher forcing
throughout: every input is an observed value, never an earlier prediction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.ar_fitting.network_settings import NetworkSettings
from seqviz.compute.training.loop import TrainingRecord
from seqviz.compute.training.step import TrainingStep
from seqviz.core.errors import UserError

if TYPE_CHECKING:
    from torch import Tensor

_GRID = 101
_SNAPSHOTS = 40  # of the map during a training: 25 kB
_EPOCHS = 10  # at least between two, which then take a few percent of the time
_SPREAD = "mean", "low", "high"
AHEAD = 20
"""Steps that a trained network forecasts by feeding its own forecasts back."""


@dataclass(frozen=True)
class EpochReport(TrainingRecord):
    """Progress of a training after an epoch (one update), with the losses of its forward pass.

    The losses are mean squared errors in the squared unit of the series, measured before the
    epoch's update, as a training loop prints them. `validation_loss` is nan without validation.

    Attributes:
        map_epoch: number of epochs before the latest snapshot of the map.
        map: that snapshot, as in `MapHistory`.
    """

    train_loss: float
    validation_loss: float
    map_epoch: int
    map: LearnedMap


@dataclass(frozen=True)
class LearnedMap:
    """Prediction as a function of the last value, over a grid of inputs.

    The earlier history (window or hidden state) is that of up to 64 moments spread over the series.
    The width of the band from `low` to `high` shows how strongly the prediction depends on anything
    but the last value.

    Attributes:
        inputs: the last values.
        mean: mean prediction over the moments.
        low: 10th percentile over the moments.
        high: 90th percentile over the moments.
    """

    inputs: Float[np.ndarray, "grid"]
    mean: Float[np.ndarray, "grid"]
    low: Float[np.ndarray, "grid"]
    high: Float[np.ndarray, "grid"]

    @property
    def slope(self) -> float:
        """Slope of `mean` over the middle tenth of the range of the series."""
        middle, aside = len(self.inputs) // 2, len(self.inputs) // 20
        a, b = middle - aside, middle + aside
        return float((self.mean[b] - self.mean[a]) / (self.inputs[b] - self.inputs[a]))

    @property
    def band_width(self) -> float:
        """Mean width of the band, in the unit of the series."""
        return float((self.high - self.low).mean())


@dataclass(frozen=True)
class MapHistory:
    """The learned map in the course of a training, on every second input of the map.

    Attributes:
        epochs: number of epochs before each snapshot, from 0 to the last.
        inputs: the last values.
        mean: as in `LearnedMap`.
        low: likewise.
        high: likewise.
    """

    epochs: Int[np.ndarray, "snapshot"]
    inputs: Float[np.ndarray, "grid"]
    mean: Float[np.ndarray, "snapshot grid"]
    low: Float[np.ndarray, "snapshot grid"]
    high: Float[np.ndarray, "snapshot grid"]

    @classmethod
    def of(cls, maps: Mapping[int, LearnedMap]) -> MapHistory:
        """Return the history of maps by the number of epochs before each."""
        inputs = next(iter(maps.values())).inputs
        values = ([getattr(item, name) for item in maps.values()] for name in _SPREAD)
        return cls(np.array(list(maps)), inputs, *(np.stack(rows) for rows in values))


@dataclass(frozen=True)
class NetworkFit:
    """Trained forecaster: its loss curves, one-step predictions and learned map.

    The weights are those of the last epoch.

    Attributes:
        train_loss: training loss before the update of each epoch.
        validation_loss: validation loss, likewise; nan without validation.
        predictions: forecasts of `targets`; nan where the MLP has no full window.
        targets: targets[t] is values[t + 1].
        train_end: number of training targets, which come first.
        validation_end: end of the validation targets, which come next; the rest is for the test.
        train_mse: mean squared error on the training targets after the last update.
        test_mse: the same on the test targets; nan if there are none.
        parameters: number of parameters.
        history: the learned map while the network was trained.
        origins: up to 64 moments of the test segment (of the whole series if there is none), each
            with 20 values after it; empty for a short series.
        ahead: ahead[k, h - 1] is the forecast h = 1 ... 20 steps after `targets[origins[k] - 1]`,
            every forecast fed back as the next input.
    """

    settings: NetworkSettings
    train_loss: Float[np.ndarray, "epoch"]
    validation_loss: Float[np.ndarray, "epoch"]
    predictions: Float[np.ndarray, "time"]
    targets: Float[np.ndarray, "time"]
    train_end: int
    validation_end: int
    train_mse: float
    test_mse: float
    parameters: int
    map: LearnedMap
    history: MapHistory
    origins: Int[np.ndarray, "origin"]
    ahead: Float[np.ndarray, "origin step"]

    def last_mse(self, count: int) -> float:
        """Return the mean squared error of the last `count` one-step predictions."""
        return float(np.nanmean((self.targets - self.predictions)[-count:] ** 2))

    @property
    def least_epoch(self) -> int:
        """Epoch with the smallest validation loss, counted from 1."""
        return int(np.nanargmin(self.validation_loss)) + 1

    @property
    def least_validation(self) -> float:
        """Smallest validation loss."""
        return float(np.nanmin(self.validation_loss))

    def observed(self) -> Float[np.ndarray, "origin step"]:
        """Return the values that `ahead` forecasts."""
        return self.targets[self.origins[:, None] + np.arange(self.ahead.shape[1])]


def fit_network(
    values: Float[np.ndarray, "steps"],
    settings: NetworkSettings,
    report: Callable[[EpochReport], None] | None = None,
    device: str = "cpu",
) -> NetworkFit:
    """Train a one-step forecaster on one series, the whole training segment as one batch.

    Computed in float32 from zero initial states. With the default settings this is the run of the
    Chinese textbook behind the lesson: `nn.RNN(1, 32)` and `nn.Linear(32, 1)`, MSE, Adam with
    learning rate 0.001, 100 epochs, input `x[:-1]`, target `x[1:]`; for equal seeds, the initial
    weights are those that `torch.manual_seed(seed)` gives the plain loop. A recurrent network
    carries its state from the training segment into validation and test. It is safe to call from
    several threads: torch's global random state is neither read nor written.

    Args:
        values: the series in its own units, finite.
        settings: architecture, optimizer and split.
        report: called after every epoch; may raise to stop the training.
        device: torch device.

    Raises:
        ValueError: if the series is too short for the split or the window, or not finite, or if the
            loss becomes infinite or undefined.
    """
    import torch  # the import takes two seconds; the first training pays for it, not the first page

    from seqviz.compute.ar_fitting.forecasters import forecaster

    train_end, validation_end = _split(values, settings)
    series = torch.tensor(values, dtype=torch.float32, device=device)
    model = forecaster(series, settings, train_end, validation_end)
    parameters = list(model.network.parameters())
    chosen = torch.optim.Adam if settings.optimizer == "adam" else torch.optim.SGD
    step = TrainingStep(chosen(parameters, lr=settings.learning_rate), model.losses)
    train_loss, validation_loss = np.full((2, settings.epochs), np.nan)
    grid = np.linspace(values.min(), values.max(), _GRID)
    request = torch.tensor(grid, dtype=torch.float32, device=device)
    snapshots: dict[int, LearnedMap] = {}
    every = max(_EPOCHS, -(-settings.epochs // _SNAPSHOTS))
    for epoch in range(settings.epochs):
        if epoch % every == 0:
            with torch.no_grad():
                answers = _array(model.predictions_and_map(request[::2])[1])
            snapshots[epoch] = latest = LearnedMap(grid[::2], *_spread(answers))
        train_loss[epoch], validation_loss[epoch] = step().tolist()
        _check_finite(train_loss[epoch], epoch, settings)
        if report is not None:
            losses = float(train_loss[epoch]), float(validation_loss[epoch])
            taken = epoch - epoch % every
            report(EpochReport(epoch + 1, settings.epochs, *losses, taken, latest))
    targets = np.asarray(values[1:], dtype=float)
    first = settings.lags - 1 if settings.cell == "mlp" else 0  # the first full window
    origins = _origins(validation_end % targets.size, targets.size, first)
    with torch.no_grad():
        created = (*model.predictions_and_map(request), model.ahead(origins, AHEAD))
    predictions, answers, ahead = map(_array, created)
    squared = (targets - predictions) ** 2
    train_mse = _mean(squared[first:train_end])
    _check_finite(train_mse, settings.epochs, settings)
    snapshots[settings.epochs] = LearnedMap(grid[::2], *_spread(answers[:, ::2]))
    history = MapHistory.of(snapshots)
    test_mse, count = _mean(squared[validation_end:]), sum(p.numel() for p in parameters)
    return NetworkFit(
        settings, train_loss, validation_loss, predictions, targets, train_end, validation_end,
        train_mse, test_mse, count, LearnedMap(grid, *_spread(answers)), history, origins, ahead,
    )  # fmt: skip


def _array(tensor: Tensor) -> Float[np.ndarray, "*shape"]:
    return tensor.float().cpu().numpy().astype(float)


def _spread(answers: Float[np.ndarray, "moment grid"]) -> Float[np.ndarray, "3 grid"]:
    """Return the mean over the moments, and the 10th and the 90th percentile."""
    return np.stack([answers.mean(axis=0), *np.percentile(answers, [10, 90], axis=0)])


def _split(values: np.ndarray, settings: NetworkSettings) -> tuple[int, int]:
    """Return the ends of the training and the validation targets, counted in targets."""
    if not np.isfinite(values).all():
        raise ValueError("The series has missing or infinite values.")
    count = len(values) - 1
    train_end = round(settings.train * count)
    validation_end = min(count, round((settings.train + settings.validation) * count))
    needed = settings.lags + 1 if settings.cell == "mlp" else 2
    if train_end < needed:
        raise ValueError(
            f"The training segment has {max(train_end, 0)} targets but needs {needed}: "
            f"take a longer series, a larger training fraction or fewer lags."
        )
    if settings.validation > 0 and validation_end == train_end:
        raise ValueError("The validation fraction is too small to hold one value of this series.")
    return train_end, validation_end


def _origins(start: int, count: int, first: int) -> Int[np.ndarray, "origin"]:
    """Return up to 64 targets from `start` on, each with a full window before and 20 from it on."""
    low, high = max(start, first + 1), count - AHEAD
    return np.unique(np.linspace(low, high, 64).astype(int)) if low < high else np.empty(0, int)


def _check_finite(loss: float, updates: int, settings: NetworkSettings) -> None:
    """Stop a run that diverged; `updates` is the number of updates before `loss` was measured."""
    if math.isfinite(loss):
        return
    if updates == 0:
        raise UserError("large_values", "The values are too large for float32: divide the series.")
    raise UserError(
        "diverged",
        f"The loss became infinite or undefined after {updates} of {settings.epochs} epochs: "
        f"the learning rate {settings.learning_rate:g} is too large.",
        done=updates,
        epochs=settings.epochs,
        rate=f"{settings.learning_rate:g}",
    )


def _mean(squared: np.ndarray) -> float:
    return float(squared.mean()) if squared.size else math.nan
