"""One cell at many seeds in torch: updated together, tested one after another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.func import functional_call, grad_and_value, vmap

from seqviz.compute.vanishing_gradients.recall.runners import CellTrainer, loss_of, optimizer_of
from seqviz.compute.vanishing_gradients.recall.settings import RecallSettings
from seqviz.compute.vanishing_gradients.recall.tasks import RecallExamples


class Stacked:
    """Networks that differ only in their seed."""

    def __init__(self, cell: str, settings: Sequence[RecallSettings]):
        self.runners = [CellTrainer(cell, setting) for setting in settings]
        self.together = cell != "lstm"
        if not self.together:
            return
        first = self.runners[0]
        self.names = [name for name, _ in first.body.named_parameters()]
        self.weights = [
            torch.stack([item.detach() for item in those])
            for those in zip(*(runner.parameters for runner in self.runners), strict=True)
        ]
        self.optimizer = optimizer_of(self.weights, first.settings)
        self.gradients = vmap(grad_and_value(self._loss))

    def update(self, examples: Sequence[RecallExamples]) -> None:
        """Perform one step of the optimizer, each network on its own batch.

        Raises:
            UserError: "race_diverged" for an infinite or undefined loss.
        """
        if not self.together:
            for runner, batch in zip(self.runners, examples, strict=True):
                runner.update(batch)
            return
        inputs, targets = (
            torch.from_numpy(np.stack([getattr(example, name) for example in examples]))
            for name in ("inputs", "targets")
        )
        slopes, losses = self.gradients(self.weights, inputs, targets)
        if (clip := self.runners[0].settings.clip) is not None:  # like clip_grad_norm_, each
            squares = torch.stack([slope.flatten(1).square().sum(1) for slope in slopes])
            shrunk = (clip / (squares.sum(0).sqrt() + 1e-6)).clamp(max=1.0)
            slopes = [torch.einsum("s,s...->s...", shrunk, slope) for slope in slopes]
        for weight, slope in zip(self.weights, slopes, strict=True):
            weight.grad = slope
        self.optimizer.step()
        for runner, loss in zip(self.runners, losses.tolist(), strict=True):
            runner.check_finite(loss)
            runner.updates += 1

    def test(self, examples: Sequence[RecallExamples]) -> Float[np.ndarray, "seed"]:
        """Return the accuracy of each network on its own sequences.

        Raises:
            UserError: "race_diverged" for an infinite or undefined loss.
        """
        if self.together:
            with torch.no_grad():
                for weight, positions in zip(
                    self.weights, zip(*(runner.parameters for runner in self.runners), strict=True),
                    strict=True,
                ):  # fmt: skip
                    for position, value in zip(positions, weight, strict=True):
                        position.copy_(value)
        pairs = zip(self.runners, examples, strict=True)
        return np.array([runner.test(pair).accuracy for runner, pair in pairs])

    def _loss(self, weights: Sequence[Tensor], inputs: Tensor, targets: Tensor) -> Any:
        """Return the loss of one network, with weights in the order of `CellTrainer.parameters`."""
        runner, (*body, matrix, bias) = self.runners[0], weights
        named = dict(zip(self.names, body, strict=True))
        hidden, _ = functional_call(runner.body, named, (inputs,))
        answers = torch.nn.functional.linear(hidden[-1], matrix, bias)
        return loss_of(runner.settings.task, answers, targets)
