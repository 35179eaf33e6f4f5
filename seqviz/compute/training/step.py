"""One update of a training: batch, loss, gradient, clipping and the optimizer's step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class TrainingStep:
    """Update of an optimizer's weights by the gradient of a loss.

    It reads nothing back from the device. If `losses` does not either, the updates for batches of
    one shape can be captured as a CUDA graph.

    Attributes:
        optimizer: a torch optimizer.
        losses: returns the loss of a batch, or those of several networks that share no weights.
        clipped: weights whose gradient is scaled down where its norm exceeds `clip`.
    """

    optimizer: Any
    losses: Callable[..., Any]
    clipped: Sequence[Any] = ()
    clip: float = 1.0

    def __call__(self, *batch: np.ndarray, rate: float | None = None) -> Any:
        """Update the weights and return the losses from before the update, detached.

        Args:
            *batch: arrays of the batch, the arguments of `losses`.
            rate: learning rate to set; None keeps the present one.
        """
        import torch

        device = self.optimizer.param_groups[0]["params"][0].device
        with torch.enable_grad():
            losses = self.losses(*(torch.from_numpy(array).to(device) for array in batch))
            self.optimizer.zero_grad()
            losses.sum().backward()
        if self.clipped:
            torch.nn.utils.clip_grad_norm_(self.clipped, self.clip)
        for group in self.optimizer.param_groups if rate is not None else ():
            group["lr"] = rate
        self.optimizer.step()
        return losses.detach()
