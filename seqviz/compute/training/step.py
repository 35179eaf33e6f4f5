"""One update of a training: batch, loss, gradient, clipping and the optimizer's step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class TrainingStep:
    """One update of an optimizer's weights by the gradient of a loss.

    It reads nothing back from the device. Where `losses` does not either, the updates for batches
    of one shape can be captured as a CUDA graph.

    Attributes:
        optimizer: Of torch.
        losses: Gives a batch's loss, or those of several networks that share no weight.
        clipped: Weights whose gradient is shortened to the norm `clip` where it is longer.
    """

    optimizer: Any
    losses: Callable[..., Any]
    clipped: Sequence[Any] = ()
    clip: float = 1.0

    def __call__(self, *batch: np.ndarray, rate: float | None = None) -> Any:
        """Update the weights, at a learning rate of its own; return the losses before, detached."""
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
