"""Training of a network that reads a window of words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Int

from seqviz.compute.language_models.blocks import WindowRecord
from seqviz.compute.language_models.window import HIDDEN, SIZE, WindowNetwork
from seqviz.compute.training.loop import run
from seqviz.compute.training.progress import Pulse
from seqviz.compute.training.settings import SEED, Range, Settings
from seqviz.compute.training.step import TrainingStep

BATCH = 512
_RATE = 5e-3


@dataclass(frozen=True)
class WindowSettings(Settings):
    """Settings of a training.

    Attributes:
        words: size of the vocabulary.
        tied: True for one block at all positions.
        updates: number of updates, each with `BATCH` windows.
        seed: random seed.
    """

    words: int = 2_000
    tied: bool = False
    updates: int = 2_500
    seed: int = 0
    limits: ClassVar = {"words": Range(10, 10_000), "updates": Range(1, 20_000), "seed": SEED}


def loss_of_softmax(rows: int, symbols: int) -> Callable[..., Any]:
    """Return a differentiable function: the mean cross entropy of softmax(output hidden + bias).

    PyTorch's takes new memory for the scores and for their gradient at each update. Here both stand
    in one array that is kept, so a gradient is valid until the next call.

    Args:
        rows: cases of each batch.
        symbols: number of symbols.
    """
    import torch

    scores, every = torch.empty(rows, symbols), torch.arange(rows)

    class SoftmaxLoss(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, hidden: Any, output: Any, bias: Any, truth: Any) -> Any:
            torch.addmm(bias, hidden, output.T, out=scores)
            own, highest = scores[every, truth], scores.amax(1)
            total = scores.sub_(highest[:, None]).exp_().sum(1)
            scores.div_(rows * total[:, None])
            scores[every, truth] -= 1 / rows
            ctx.save_for_backward(hidden, output)
            return (total.log() + highest - own).mean()

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> tuple[Any, ...]:
            hidden, output = ctx.saved_tensors
            parts = scores @ output, scores.T @ hidden, scores.sum(0)
            return *(part.mul_(gradient) for part in parts), None

    return SoftmaxLoss.apply


def train(
    windows: Int[np.ndarray, "window position"], targets: Int[np.ndarray, "window"],
    words: tuple[str, ...], settings: WindowSettings,
    report: Callable[[WindowRecord], None] | None = None,
) -> tuple[WindowNetwork, tuple[WindowRecord, ...]]:  # fmt: skip
    """Train a network by Adam with a learning rate that falls to 0 linearly.

    Args:
        windows: ids of the words before each word.
        targets: the words.
        words: vocabulary.
        settings: the settings.
        report: receives each record; may raise to stop the training.
    """
    import torch
    from torch.nn.functional import embedding as rows_of

    n_positions = windows.shape[1]
    generator = torch.Generator().manual_seed(settings.seed)

    def normal(*shape: int, deviation: float) -> Any:
        return (torch.randn(*shape, generator=generator) * deviation).requires_grad_()

    embedding = normal(len(words), SIZE, deviation=1.0)
    blocks = normal(1 if settings.tied else n_positions, SIZE, HIDDEN, deviation=0.1)
    gains = torch.ones(n_positions, requires_grad=settings.tied)
    bias, output_bias = (torch.zeros(n, requires_grad=True) for n in (HIDDEN, len(words)))
    output = normal(len(words), HIDDEN, deviation=0.1)
    weights = [embedding, blocks, bias, output, output_bias, *([gains] if settings.tied else [])]

    softmax_loss = loss_of_softmax(BATCH, len(words))

    def losses(batch: Any, truth: Any) -> Any:
        placed = rows_of(batch, embedding) * gains[:, None]  # [window, position, d]
        if settings.tied:
            hidden = placed.sum(1) @ blocks[0]
        else:
            hidden = placed.flatten(1) @ blocks.flatten(0, 1)
        return softmax_loss(torch.tanh(hidden + bias), output, output_bias, truth)

    step = TrainingStep(torch.optim.Adam(weights, lr=_RATE, fused=True), losses)
    random = np.random.default_rng(settings.seed)
    # A sum, for the allocator cannot reuse the memory before a loss that is kept: gigabytes.
    nats = torch.zeros(())

    def update(number: int) -> None:
        rows = random.integers(0, len(targets), BATCH)
        rate = _RATE * (1 - number / settings.updates)
        nats.add_(step(windows[rows], targets[rows], rate=rate))

    def measure(done: int, since: int) -> WindowRecord:
        loss = float(nats) / since / np.log(2) if since else float("nan")
        nats.zero_()
        return WindowRecord(done, settings.updates, loss, settings.tied, settings.seed)

    records = run(update, measure, settings.updates, Pulse(report), untrained=False)
    arrays = (part.detach().numpy() for part in (embedding, blocks, gains, bias, output,
                                                 output_bias))  # fmt: skip
    return WindowNetwork(words, *arrays), records
