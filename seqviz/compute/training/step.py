"""One update of a training: batch, loss, gradient, clipping and the optimizer's step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

capture_hook: Callable[[Any, Any], Callable[..., Any] | None] | None = None
"""Hook of `seqviz.models.placement`, which may replay updates as captured kernels; or None.

Takes an optimizer and the device of its weights. Returns None for eager updates, else a function of
the update, its batch and `rate`.
"""


@dataclass(frozen=True)
class TrainingStep:
    """Update of an optimizer's weights by the gradient of a loss.

    It reads nothing back from the device. If `losses` does not either, and creates no tensor from
    Python numbers, the updates for batches of one shape can be captured as a CUDA graph.

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

        tensors = map(torch.from_numpy, batch)
        if self._captured is not None:
            return self._captured(self._update, *tensors, rate=rate)
        for group in self.optimizer.param_groups if rate is not None else ():
            group["lr"] = rate
        return self._update(*(tensor.to(self._location) for tensor in tensors))

    @cached_property
    def _location(self) -> Any:
        return self.optimizer.param_groups[0]["params"][0].device

    @cached_property
    def _captured(self) -> Callable[..., Any] | None:
        return capture_hook and capture_hook(self.optimizer, self._location)

    def _update(self, *batch: Any) -> Any:
        import torch

        with torch.enable_grad():
            losses = self.losses(*batch)
            self.optimizer.zero_grad()
            losses.sum().backward()
        if self.clipped:
            torch.nn.utils.clip_grad_norm_(self.clipped, self.clip)
        self.optimizer.step()
        return losses.detach()
