"""Training of stacks of blocks with different norms and residual connections."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from seqviz.compute.positions import sinusoidal
from seqviz.compute.training import loop
from seqviz.compute.training.progress import Pulse
from seqviz.compute.training.step import TrainingStep
from seqviz.compute.transformer.depth import ARRANGEMENTS, HEADS, WIDTH
from seqviz.compute.transformer.learning import (
    LENGTH,
    LETTERS,
    SCHEDULES,
    StackReport,
    StackResult,
    StackSettings,
)

if TYPE_CHECKING:
    from torch import Tensor

BATCH = 16  # sequences per update and run
_BEYOND = 1e30  # a loss from here on counts as diverged


def train_stacks(
    settings: StackSettings,
    report: Callable[[StackReport], None] | None = None,
    device: str = "cpu",
) -> StackResult:
    """Train every arrangement of `stack.block` to reverse eight letters, with two schedules.

    Letters are vectors of width 64 plus sinusoidal positions; then the blocks, a final norm where
    the arrangement is "pre", and a linear head that predicts the letter at the mirrored position. 4
    heads, 256 hidden units. Loss: mean cross-entropy. Adam; its rate is constant, or rises linearly
    over the first `warm_up` updates. All start from the same matrices (Glorot) and read the same
    sequences, drawn anew for each update. Deterministic for a seed on one machine; torch's global
    random state is not changed.

    Args:
        settings: settings of the training.
        report: called about fifty times, and again with the latest report after 0.4 s without a new
            one; may raise to stop the training.
        device: torch device.
    """
    import torch  # Imported on first use, because it takes two seconds.

    randoms = [np.random.default_rng([settings.seed, run]) for run in range(settings.runs)]
    start = _drawn(settings, randoms)
    networks = [
        [_Network(arrangement, start, device) for arrangement in ARRANGEMENTS] for _ in SCHEDULES
    ]
    observed = torch.zeros(len(SCHEDULES), len(ARRANGEMENTS), settings.runs, device=device)
    pulse: Pulse[StackReport] = Pulse(report)

    def update(number: int) -> None:
        letters = np.stack([random.integers(LETTERS, size=(BATCH, LENGTH)) for random in randoms])
        for k, schedule in enumerate(SCHEDULES):
            warm = min(1.0, (number + 1) / settings.warm_up) if schedule == "warm_up" else 1.0
            for a, network in enumerate(networks[k]):
                observed[k, a] += network.step(letters, rate=settings.rate * warm)
                pulse.beat()

    def measure(done: int, new: int) -> StackReport:
        loss = (observed / new).double().cpu().numpy()
        observed.zero_()
        fits = np.isfinite(loss) & (loss < _BEYOND)
        return StackReport(done, settings.updates, np.where(fits, loss, np.nan))

    result = loop.run(update, measure, settings.updates, pulse, untrained=False)
    updates = np.array([record.update for record in result])
    return StackResult(settings, updates, np.stack([record.loss for record in result]))


def _drawn(settings: StackSettings, randoms: list[np.random.Generator]) -> list[Tensor]:
    """Draw letter table, head and matrices of all blocks, each run from its own generator."""
    import torch

    from seqviz.compute.transformer.stack import glorot, layer

    each = []
    for random in randoms:
        table = torch.from_numpy(random.standard_normal((1, LETTERS, WIDTH)))
        stack = [m for _ in range(settings.blocks) for m in layer(random, 1, WIDTH, 4 * WIDTH)]
        each.append([table, glorot(random, 1, WIDTH, LETTERS), *stack])
    return [torch.cat(same).float() for same in zip(*each, strict=True)]


class _Network:
    """All runs of one arrangement with one schedule, and their training step."""

    def __init__(self, arrangement: str, start: list[Tensor], device: str):
        import torch

        self.arrangement = arrangement
        self.weights = [item.clone().to(device).requires_grad_() for item in start]
        self.step = TrainingStep(torch.optim.Adam(self.weights, fused=True), self.losses)
        table = sinusoidal.encoding(LENGTH, WIDTH).table
        self.places = torch.from_numpy(table).float().to(device)

    def scores(self, letters: Tensor) -> Tensor:
        """Return the scores of every letter at every position, [run, batch, place, letter]."""
        import torch

        from seqviz.compute.transformer.stack import block, linear, norm

        table, head, *stack = self.weights
        rows = LETTERS * torch.arange(len(table), device=letters.device)[:, None, None]
        x = table.flatten(0, 1)[letters + rows] + self.places
        for at in range(0, len(stack), 4):
            x = block(x, tuple(stack[at : at + 4]), self.arrangement, HEADS)
        return linear(norm(x) if self.arrangement == "pre" else x, head)

    def losses(self, letters: Tensor) -> Tensor:
        """Return the loss of each run; runs share no weight."""
        from torch.nn.functional import cross_entropy

        targets = letters.flip(-1).flatten()
        loss = cross_entropy(self.scores(letters).flatten(0, 2), targets, reduction="none")
        return loss.view(len(letters), -1).mean(1)
