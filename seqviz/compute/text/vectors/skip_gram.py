"""Skip-gram and CBOW with negative sampling (Mikolov et al., 2013), without autograd."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

BATCH, RATE = 2048, 0.02
_DECAY, _SQUARES = 0.9, 0.999  # beta_1 and beta_2 of Adam
_PAUSE = 0.2  # seconds between two reports


@dataclass(frozen=True)
class VectorsReport:
    """Progress of a training of word vectors.

    Attributes:
        losses: loss of each epoch, of a running one the mean so far.
        fraction: share of the updates that are done, in [0, 1].
        vectors: the vectors in training, not a copy: all reports of a run show the latest ones, and
            forty copies would be five megabytes.
    """

    losses: Float[np.ndarray, "epoch"]
    fraction: float
    vectors: Float[np.ndarray, "word dimension"]


@dataclass(frozen=True)
class TrainedVectors:
    """Word vectors, and the loss of every epoch in nats per pair, its negatives included."""

    vectors: Float[np.ndarray, "word dimension"]
    losses: Float[np.ndarray, "epoch"]


def train(
    pairs: Int[np.ndarray, "pair given_1"], words: int, dimensions: int, epochs: int,
    negatives: int, seed: int, note: Callable[[VectorsReport], None] = lambda report: None,
) -> TrainedVectors:  # fmt: skip
    """Train word vectors with negative sampling: skip-gram for one given word, else CBOW.

    For each pair (word w, neighbor c) and `negatives` words n drawn by count^0.75 the loss is -ln
    s(w.c) - sum ln s(-w.n), s the logistic function; in CBOW w is the mean of the given words.
    Differences from word2vec: batches with Adam instead of single steps, full windows, no
    subsampling of words.

    Args:
        pairs: given words, -1 where there are fewer, and the word that they predict.
        words: size of the vocabulary.
        dimensions: length of a vector.
        epochs: number of epochs.
        negatives: negative samples of each pair.
        seed: random seed.
        note: called after each epoch, and every 0.2 s in between; may raise to stop the training.
    """
    import torch

    random = torch.Generator().manual_seed(seed)
    tables = [(torch.rand(words, dimensions, generator=random) - 0.5) / dimensions,
              torch.zeros(words, dimensions)]  # fmt: skip
    moments = [(torch.zeros_like(table), torch.zeros_like(table)) for table in tables]
    rendered = torch.from_numpy(np.bincount(pairs[:, -1], minlength=words) ** 0.75)
    given = torch.from_numpy(pairs)
    visible = tables[0].numpy()
    visible.flags.writeable = False
    losses: list[float] = []
    step = 0

    def report(by_epoch: Sequence[float], epochs_done: float) -> float:
        note(VectorsReport(np.array(by_epoch), epochs_done / epochs, visible))
        return time.monotonic()

    last_report = time.monotonic()
    for epoch in range(epochs):
        total, count = 0.0, 0
        for batch in given[torch.randperm(len(given), generator=random)].split(BATCH):
            others = torch.multinomial(rendered, negatives * len(batch), True, generator=random)
            loss, gradients = _gradients(
                tables[0], tables[1], batch, others.view(len(batch), negatives)
            )
            total += loss
            count += len(batch)
            step += 1
            for table, gradient, (mean, square) in zip(tables, gradients, moments, strict=True):
                mean.lerp_(gradient, 1 - _DECAY)
                square.lerp_(gradient**2, 1 - _SQUARES)
                size = RATE * (1 - epoch / epochs) / (1 - _DECAY**step)
                table -= size * mean / ((square / (1 - _SQUARES**step)).sqrt() + 1e-8)
            if count < len(given) and time.monotonic() - last_report > _PAUSE:
                last_report = report([*losses, total / count], epoch + count / len(given))
        losses.append(total / max(len(given), 1))
        last_report = report(losses, epoch + 1.0)
    return TrainedVectors(tables[0].double().numpy(), np.array(losses))


def _gradients(words: Any, contexts: Any, batch: Any, others: Any) -> tuple[float, tuple[Any, Any]]:
    """Return the summed loss of a batch, and the gradients of its mean."""
    import torch
    from torch.nn.functional import logsigmoid

    given, there = batch[:, :-1].clamp(min=0), (batch[:, :-1] >= 0).to(words.dtype)
    weight = (there / there.sum(1, keepdim=True))[:, :, None]  # of a mean
    w = (weight * words[given]).sum(1)  # [pair, dimension]
    observed = torch.cat([batch[:, -1:], others], 1)  # [pair, 1 + negative]
    c = contexts[observed]  # [pair, 1 + negative, dimension]
    scores = (c @ w[:, :, None])[..., 0]
    signs = torch.full_like(scores, -1.0)
    signs[:, 0] = 1.0
    loss = -logsigmoid(signs * scores).sum()
    slope = -signs * torch.sigmoid(-signs * scores) / len(batch)  # dloss / dscore
    of_words, of_contexts = torch.zeros_like(words), torch.zeros_like(contexts)
    of_mean = (slope[:, :, None] * c).sum(1)
    of_words.index_add_(0, given.flatten(), (weight * of_mean[:, None]).flatten(0, 1))
    of_contexts.index_add_(0, observed.flatten(), (slope[:, :, None] * w[:, None]).flatten(0, 1))
    return float(loss), (of_words, of_contexts)
