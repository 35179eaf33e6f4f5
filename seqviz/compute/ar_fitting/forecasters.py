"""One-step forecasters in torch: an MLP on windows, and a recurrent network with a state."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from seqviz.compute.ar_fitting.network_settings import NetworkSettings
from seqviz.compute.training import initial_weights

_RECURRENT: dict[str, Callable[..., nn.Module]] = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}
_MOMENTS = 64


def forecaster(
    series: Float[Tensor, "steps"], settings: NetworkSettings, train_end: int, validation_end: int
) -> Window | Recurrent:
    """Return the untrained forecaster that the settings describe, on the series' device.

    Args:
        series: the series, float32.
        settings: cell, sizes and seed of the network.
        train_end: number of training targets.
        validation_end: number of training and validation targets.
    """
    window = settings.cell == "mlp"
    with torch.device("meta"):
        network = _perceptron(settings) if window else _CellAndHead(settings)
    initial_weights.draw(network, settings.seed)
    missing = settings.lags - 1 if window else 0
    return (Window if window else Recurrent)(
        network=network.to(series.device),
        series=series,
        missing=missing,
        train=slice(0, train_end - missing),
        validation=slice(train_end - missing, validation_end - missing),
    )


@dataclass
class _Forecaster:
    """A network and its series.

    Attributes:
        missing: number of targets before the first full window.
        train: slice of the training targets, counted from the first full window.
        validation: slice of the validation targets, likewise.
    """

    network: nn.Module
    series: Float[Tensor, "steps"]
    missing: int
    train: slice
    validation: slice


class Window(_Forecaster):
    """MLP forecaster: one row per full window, all training windows in one batch."""

    @property
    def windows(self) -> Float[Tensor, "window lag"]:
        """Windows as a view of the series."""
        return self.series[:-1].unfold(0, self.missing + 1, 1)

    def losses(self) -> Float[Tensor, "2"]:
        """Return the training loss with its graph and the detached validation loss, nan if none."""
        with torch.no_grad():
            held_out = self._loss(self.validation)  # the mean of no targets is nan
        return torch.stack([self._loss(self.train), held_out])

    def predictions_and_map(
        self, grid: Float[Tensor, "grid"]
    ) -> tuple[Float[Tensor, "time"], Float[Tensor, "moment grid"]]:
        """Return all one-step predictions, and those of some windows with last value in `grid`."""
        predicted = self.network(self.windows).squeeze(-1)
        missing = torch.full((self.missing,), math.nan, device=grid.device)
        windows = self.windows[_moments(len(self.windows))]
        request = windows[:, None, :].repeat(1, len(grid), 1)
        request[:, :, -1] = grid
        return torch.cat([missing, predicted]), self.network(request).squeeze(-1)

    def ahead(self, origins: np.ndarray, steps: int) -> Float[Tensor, "origin step"]:
        """Return forecasts of targets[origin] and later ones, each fed back into the window.

        Args:
            origins: indices of the first targets.
            steps: number of forecasts from each origin.
        """
        window = self.windows[origins - self.missing]
        built: list[Tensor] = []
        for _ in range(steps):
            built.append(self.network(window))
            window = torch.cat([window[:, 1:], built[-1]], dim=1)
        return torch.cat(built, dim=1)

    def _loss(self, rows: slice) -> Float[Tensor, ""]:
        predicted = self.network(self.windows[rows]).squeeze(-1)
        return nn.functional.mse_loss(predicted, self.series[self.missing + 1 :][rows])


def _perceptron(settings: NetworkSettings) -> nn.Sequential:
    widths = [settings.lags, *[settings.hidden] * settings.layers]
    hidden = [part for i, o in pairwise(widths) for part in (nn.Linear(i, o), nn.Tanh())]
    return nn.Sequential(*hidden, nn.Linear(settings.hidden, 1))


_State = Tensor | tuple[Tensor, Tensor]  # the LSTM carries hidden and cell state


class _CellAndHead(nn.Module):
    """Recurrent cell that reads one value a step, with a linear head on its hidden state."""

    def __init__(self, settings: NetworkSettings):
        super().__init__()
        kind = _RECURRENT[settings.cell]
        self.cell = kind(1, settings.hidden, num_layers=settings.layers, batch_first=True)
        self.head = nn.Linear(settings.hidden, 1)

    def forward(
        self, inputs: Float[Tensor, "batch time 1"], state: _State | None = None
    ) -> tuple[Float[Tensor, "batch time 1"], _State]:
        """Return the prediction after each input, and the state after the last one."""
        hidden, state = self.cell(inputs, state)
        return self.head(hidden), state


class Recurrent(_Forecaster):
    """Recurrent forecaster: the series is one sequence, read once from its start."""

    @property
    def inputs(self) -> Float[Tensor, "1 time 1"]:
        """Input sequence: every value but the last."""
        return self.series[:-1].view(1, -1, 1)

    def losses(self) -> Float[Tensor, "2"]:
        """Return the training loss with its graph and the detached validation loss, nan if none.

        The validation continues from the state after the training segment.
        """
        targets = self.series[1:].view(1, -1, 1)
        predicted, state = self.network(self.inputs[:, self.train])
        loss = nn.functional.mse_loss(predicted, targets[:, self.train])
        if self.validation.start == self.validation.stop:
            return torch.stack([loss, torch.full_like(loss, math.nan)])
        with torch.no_grad():
            predicted, _ = self.network(self.inputs[:, self.validation], state)
            held_out = nn.functional.mse_loss(predicted, targets[:, self.validation])
        return torch.stack([loss, held_out])

    def predictions_and_map(
        self, grid: Float[Tensor, "grid"]
    ) -> tuple[Float[Tensor, "time"], Float[Tensor, "moment grid"]]:
        """Return all one-step predictions, and those from some states with next input in `grid`."""
        count = self.inputs.shape[1]
        # from 1: the zero state before the first input does not depend on the series
        cuts = [1 + int(moment) for moment in _moments(count - 1)]
        pieces: list[Tensor] = []
        states: list[_State] = []
        state: _State | None = None
        for start, stop in pairwise([0, *cuts, count]):
            predicted, state = self.network(self.inputs[:, start:stop], state)
            pieces.append(predicted.flatten())
            states.append(state)
        batch = _batched(states[:-1], len(grid))
        answers, _ = self.network(grid.repeat(len(cuts)).view(-1, 1, 1), batch)
        return torch.cat(pieces), answers.view(len(cuts), len(grid))

    def ahead(self, origins: np.ndarray, steps: int) -> Float[Tensor, "origin step"]:
        """Return forecasts as `Window.ahead`, with the network reading its own forecasts.

        Args:
            origins: indices of the first targets; the inputs before each are observed values.
            steps: number of forecasts from each origin.
        """
        states: list[_State] = []
        newest: list[Tensor] = []
        state: _State | None = None
        for start, stop in pairwise([0, *(int(origin) + 1 for origin in origins)]):
            predicted, state = self.network(self.inputs[:, start:stop], state)
            newest.append(predicted[:, -1:])
            states.append(state)
        if not states:
            return torch.empty((0, steps))
        batch, created = _batched(states, 1), [torch.cat(newest)]
        for _ in range(steps - 1):
            predicted, batch = self.network(created[-1], batch)
            created.append(predicted)
        return torch.cat(created, dim=1).squeeze(-1)


def _batched(states: list[_State], copies: int) -> _State:
    """Join states of batch size 1 into one batch, each repeated for `copies` neighboring rows."""
    if isinstance(states[0], tuple):
        hidden, cell = (torch.cat(parts, dim=1) for parts in zip(*states, strict=True))
        return hidden.repeat_interleave(copies, dim=1), cell.repeat_interleave(copies, dim=1)
    return torch.cat([s for s in states if isinstance(s, Tensor)], 1).repeat_interleave(copies, 1)


def _moments(count: int) -> np.ndarray:
    """Return the centers of up to 64 equal stretches of `count` steps."""
    return np.unique(((np.arange(_MOMENTS) + 0.5) * count / _MOMENTS).astype(int))
