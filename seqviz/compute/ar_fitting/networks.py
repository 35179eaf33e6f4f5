"""Neural one-step forecasters trained live on one series: the autoregression of the book, by RNN.

A multilayer perceptron sees a window of the last `lags` values. A recurrent cell reads one value a
step and keeps what it wants of the past in its hidden state (a *latent* autoregressive model).
Teacher forcing throughout: every input is an observed value, never an earlier prediction.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.ar_fitting.network_settings import NetworkSettings
from seqviz.compute.training.loop import TrainingRecord
from seqviz.compute.training.step import TrainingStep
from seqviz.core.errors import UserError

_GRID = 101
AHEAD = 20
"""Steps that a trained network forecasts by feeding its own forecasts back."""


@dataclass(frozen=True)
class EpochReport(TrainingRecord):
    """Where a training stands after an epoch, which is one update, and the losses of its forward.

    The losses are mean squared errors in the units of the series squared, measured before the
    epoch's update, as a training loop prints them; `validation_loss` is nan without validation.
    """

    train_loss: float
    validation_loss: float


@dataclass(frozen=True)
class LearnedMap:
    """The prediction as a function of the last value, `inputs`.

    The earlier history (window or hidden state) is that of up to 64 moments spread over the series:
    mean, and 10th and 90th percentile (low, high), over the moments. The width of the band shows
    how much the network listens to anything but the last value.
    """

    inputs: Float[np.ndarray, "grid"]
    mean: Float[np.ndarray, "grid"]
    low: Float[np.ndarray, "grid"]
    high: Float[np.ndarray, "grid"]

    @property
    def slope(self) -> float:
        """Over the middle tenth of the range of the series."""
        a, b = len(self.inputs) // 2 - 5, len(self.inputs) // 2 + 5
        return float((self.mean[b] - self.mean[a]) / (self.inputs[b] - self.inputs[a]))

    @property
    def band_width(self) -> float:
        """Mean width of the band, in the unit of the series."""
        return float((self.high - self.low).mean())


@dataclass(frozen=True)
class NetworkFit:
    """One trained forecaster: its loss curves, one-step predictions and learned map.

    `train_loss[e]` and `validation_loss[e]` (nan without validation) are measured before the update
    of epoch e; `train_mse` and `test_mse` (nan for an empty segment) after the last update.
    `predictions[t]` is the forecast of `targets[t]`, which is `values[t + 1]`; it is nan where the
    MLP has no full window. Targets before `train_end` are for training, from there to
    `validation_end` for validation, the rest for the test. The weights are those of the last epoch.

    `ahead[k, h - 1]` is the forecast h = 1 ... 20 steps after `targets[origins[k] - 1]`, every
    forecast fed back as the next input; the origins are up to 64 moments of the test segment (of
    the whole series where there is none), each with 20 values after it. Empty for a short series.
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
    origins: Int[np.ndarray, "origin"]
    ahead: Float[np.ndarray, "origin step"]

    def last_mse(self, count: int) -> float:
        """Mean squared error of the last one-step predictions."""
        return float(np.nanmean((self.targets - self.predictions)[-count:] ** 2))

    @property
    def least_epoch(self) -> int:
        """The epoch, counted from 1, with the least validation loss."""
        return int(np.nanargmin(self.validation_loss)) + 1

    @property
    def least_validation(self) -> float:
        """That loss."""
        return float(np.nanmin(self.validation_loss))

    def observed(self) -> Float[np.ndarray, "origin step"]:
        """The values that they forecast."""
        return self.targets[self.origins[:, None] + np.arange(self.ahead.shape[1])]


def fit_network(
    values: Float[np.ndarray, "steps"],
    settings: NetworkSettings,
    report: Callable[[EpochReport], None] | None = None,
    device: str = "cpu",
) -> NetworkFit:
    """Train a one-step forecaster on one series, the whole training segment as one batch.

    `values` is the series in its own units, finite. `report` is called after every epoch and may
    raise to stop the training. `device` is a torch device name. Computed in float32 from zero
    initial states. With the default settings this is the run of the Chinese textbook behind the
    lesson: `nn.RNN(1, 32)` and `nn.Linear(32, 1)`, MSE, Adam with learning rate 0.001, 100 epochs,
    input `x[:-1]`, target `x[1:]`; for equal seeds the same initial weights as
    `torch.manual_seed(seed)` gives the plain loop. A recurrent network carries its state from the
    training segment into validation and test. It is safe to call from several threads: torch's
    global random state is neither read nor written.

    Raises ValueError when the series is too short for the split or the window, or not finite, and
    when the loss becomes infinite or undefined.
    """
    import torch  # two seconds, paid by the first training and not by the first visitor

    from seqviz.compute.ar_fitting.forecasters import forecaster

    train_end, validation_end = _split(values, settings)
    series = torch.tensor(values, dtype=torch.float32, device=device)
    model = forecaster(series, settings, train_end, validation_end)
    parameters = list(model.network.parameters())
    chosen = torch.optim.Adam if settings.optimizer == "adam" else torch.optim.SGD
    step = TrainingStep(chosen(parameters, lr=settings.learning_rate), model.losses)
    train_loss, validation_loss = np.full((2, settings.epochs), np.nan)
    for epoch in range(settings.epochs):
        train_loss[epoch], validation_loss[epoch] = step().tolist()
        _check_finite(train_loss[epoch], epoch, settings)
        if report is not None:
            losses = float(train_loss[epoch]), float(validation_loss[epoch])
            report(EpochReport(epoch + 1, settings.epochs, *losses))
    grid = np.linspace(values.min(), values.max(), _GRID)
    targets = np.asarray(values[1:], dtype=float)
    first = settings.lags - 1 if settings.cell == "mlp" else 0  # the first full window
    origins = _origins(validation_end % targets.size, targets.size, first)
    with torch.no_grad():
        request = torch.tensor(grid, dtype=torch.float32, device=device)
        created = (*model.predictions_and_map(request), model.ahead(origins, AHEAD))
    predictions, answers, ahead = (part.float().cpu().numpy().astype(float) for part in created)
    squared = (targets - predictions) ** 2
    train_mse = _mean(squared[first:train_end])
    _check_finite(train_mse, settings.epochs, settings)
    low, high = np.percentile(answers, [10, 90], axis=0)
    test_mse, count = _mean(squared[validation_end:]), sum(p.numel() for p in parameters)
    return NetworkFit(
        settings, train_loss, validation_loss, predictions, targets, train_end, validation_end,
        train_mse, test_mse, count, LearnedMap(grid, answers.mean(axis=0), low, high),
        origins, ahead,
    )  # fmt: skip


def _split(values: np.ndarray, settings: NetworkSettings) -> tuple[int, int]:
    """Where the training and the validation targets end, counted in targets."""
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
    """Up to 64 targets, spread from `start` on, with a full window before and 20 from them on."""
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
