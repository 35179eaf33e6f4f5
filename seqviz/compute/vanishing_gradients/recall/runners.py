"""One network of a comparison in torch: update, test and gradients through time.

PyTorch trains the network. The gradients that are plotted come from the kernel in
`seqviz.compute.recurrent.cells`, in float64 and followed beyond its range.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

import numpy as np
import torch
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from seqviz.compute import recurrent
from seqviz.compute.training import initial_weights
from seqviz.compute.training.step import TrainingStep
from seqviz.compute.vanishing_gradients import log_norms
from seqviz.compute.vanishing_gradients.recall.settings import RecallSettings
from seqviz.compute.vanishing_gradients.recall.tasks import (
    RecallExamples,
    Score,
    score,
    sizes,
    slope,
)
from seqviz.core.errors import UserError

_MODULES: dict[str, Callable[..., nn.RNNBase]] = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}
_KERNEL: dict[str, recurrent.Cell] = {
    "rnn": recurrent.RNN(),
    "lstm": recurrent.LSTM(),
    "gru": recurrent.GRU(),
}


class CellTrainer:
    """Recurrent cell with a linear head on its last hidden state, and an optimizer.

    Attributes:
        seconds: time spent in updates so far.
        updates: number of updates so far.
    """

    def __init__(self, cell: str, settings: RecallSettings, device: str = "cpu"):
        self.cell, self.settings, self.device = cell, settings, device
        inputs, outputs = sizes(settings.task)
        with torch.device("meta"):
            self.body = _MODULES[cell](inputs, settings.hidden)
            self.head = nn.Linear(settings.hidden, outputs)
        both = nn.ModuleList([self.body, self.head])
        initial_weights.draw(both, settings.seed)
        if cell != "rnn":
            # the second block of rows: forget in i f g o, update in r z n
            input_bias = self.body.get_parameter("bias_ih_l0")
            with torch.no_grad():
                input_bias[settings.hidden : 2 * settings.hidden] += settings.forget_bias
        both.to(device)
        self.parameters = list(both.parameters())
        clipped = self.parameters if settings.clip else ()
        optimizer = optimizer_of(self.parameters, settings)
        self.step = TrainingStep(optimizer, self._loss, clipped, settings.clip or math.inf)
        self.seconds = 0.0
        self.updates = 0

    def update(self, examples: RecallExamples) -> None:
        """Perform one step of the optimizer on one batch.

        Raises:
            UserError: "race_diverged" for an infinite or undefined loss.
        """
        started = time.perf_counter()
        self.check_finite(self.step(examples.inputs, examples.targets).item())
        self.updates += 1
        self.seconds += time.perf_counter() - started

    def test(self, examples: RecallExamples) -> Score:
        """Return accuracy and loss on sequences on which the cell is not trained.

        Raises:
            UserError: "race_diverged" for an infinite or undefined loss.
        """
        with torch.no_grad():
            inputs = torch.from_numpy(examples.inputs).to(self.device)
            answers = self._answers(inputs).float().cpu().numpy()
        result = score(self.settings.task, answers, examples.targets)
        self.check_finite(result.loss)
        return result

    def log10_gradients(self, examples: RecallExamples) -> Float[np.ndarray, "time"]:
        """Return log10 |dJ/dh_t|, t = 1 ... T, of the mean loss; the norm is over all examples."""
        weights = recurrent.RecurrentWeights(*(_float64(p) for p in self.body.parameters()))
        matrix, bias = _float64(self.head.weight), _float64(self.head.bias)
        cell = _KERNEL[self.cell]
        trace = recurrent.run(cell, weights, examples.inputs.astype(float))
        answers = trace.hidden[-1] @ matrix.T + bias
        errors = np.zeros_like(trace.hidden[1:])
        errors[-1] = slope(self.settings.task, answers, examples.targets) @ matrix
        return log_norms(cell, weights, trace, errors).hidden

    def _loss(self, inputs: Tensor, targets: Tensor) -> Float[Tensor, ""]:
        return loss_of(self.settings.task, self._answers(inputs), targets)

    def _answers(self, inputs: Tensor) -> Float[Tensor, "batch output"]:
        return self.head(self.body(inputs)[0][-1])

    def check_finite(self, loss: float) -> None:
        """Raise UserError "race_diverged" for an infinite or undefined loss."""
        if math.isfinite(loss):
            return
        rate = f"{self.settings.learning_rate:g}"
        raise UserError(
            "race_diverged",
            f"The loss of the {self.cell.upper()} became infinite or undefined after "
            f"{self.updates} updates: the learning rate {rate} is too large.",
            cell=self.cell.upper(),
            done=self.updates,
            rate=rate,
        )


def optimizer_of(parameters: Sequence[Tensor], settings: RecallSettings) -> torch.optim.Optimizer:
    """Return the optimizer that the settings name, Adam or plain gradient descent.

    Args:
        parameters: the weights.
        settings: optimizer and learning rate.
    """
    kind = torch.optim.Adam if settings.optimizer == "adam" else torch.optim.SGD
    return kind([*parameters], lr=settings.learning_rate)


def loss_of(
    task: str, answers: Float[Tensor, "batch output"], targets: Shaped[Tensor, "batch"]
) -> Float[Tensor, ""]:
    """Return the mean cross-entropy in nats ("first"), or the mean squared error of a sum.

    Args:
        task: one of `TASKS`.
        answers: outputs of the network.
        targets: the symbols or sums.
    """
    if task == "first":
        return nn.functional.cross_entropy(answers, targets)
    return nn.functional.mse_loss(answers[:, 0], targets)


def _float64(tensor: Tensor) -> np.ndarray:
    return tensor.detach().cpu().numpy().astype(float)
