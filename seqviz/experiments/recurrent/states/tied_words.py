"""Perplexity of small word models with one table for input and output, and with two."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from jaxtyping import Int

from seqviz.compute.recurrent.states.tying import TrainedTied
from seqviz.compute.text.windows.vocabulary import cleaned, tokens
from seqviz.compute.training.step import TrainingStep
from seqviz.data.reviews import characters_split
from seqviz.experiments.text.windows.counted import of_bundled
from seqviz.jobs import Report, no_progress

MIN_COUNT = 20  # of a word with an id of its own
WIDTHS, SEEDS, PASSES = (32, 64, 128), 3, 3
_BATCH = 64
_RATE = 5e-3


@cache
def sentences() -> tuple[list[Int[np.ndarray, "word"]], list[Int[np.ndarray, "word"]], int]:
    """Return the sentences for training, the held-out ones, and the size of the vocabulary.

    A sentence is the ids of its words with the end mark before and after them, which has the last
    id; 0 is any rare word.
    """
    vocabulary = of_bundled("word").vocabulary(MIN_COUNT)
    end = len(vocabulary)

    def read(texts: Sequence[str]) -> list[np.ndarray]:
        words = (tokens(cleaned(text), "word") for text in texts)
        return [np.array([end, *vocabulary.ids(item), end]) for item in words if item]

    train, held = characters_split()
    return read(train), read(held), end + 1


def _batches(some: Sequence[np.ndarray], random: np.random.Generator) -> list[np.ndarray]:
    """Return all sentences once as [time, sentence], batches of one length in random order."""
    lengths = np.array([len(item) for item in some])
    results = []
    for length in np.unique(lengths):
        order = random.permutation(np.flatnonzero(lengths == length))
        results += [
            np.stack([some[index] for index in order[k : k + _BATCH]], 1)
            for k in range(0, len(order), _BATCH)
        ]
    return [results[k] for k in random.permutation(len(results))]


def _train(width: int, tied: bool, seed: int, device: str, each: Any) -> np.ndarray:
    """Train one network; return the bits of each held-out sentence."""
    import torch

    train, held, symbols = sentences()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        table = torch.nn.Embedding(symbols, width)
        torch.nn.init.normal_(table.weight, std=width**-0.5)
        cells = torch.nn.GRU(width, width)
        head = torch.nn.Linear(width, symbols)
    if tied:
        head.weight = table.weight
    network = torch.nn.ModuleList([table, cells, head]).to(device)
    weights = list(network.parameters())

    def nats(ids: Any) -> Any:
        scores = head(cells(table(ids[:-1]))[0])
        return torch.nn.functional.cross_entropy(
            scores.flatten(0, 1), ids[1:].flatten(), reduction="none"
        ).unflatten(0, ids[1:].shape)

    step = TrainingStep(torch.optim.Adam(weights, lr=_RATE), lambda ids: nats(ids).mean(), weights)
    random = np.random.default_rng([seed, width])
    batches = [batch for _ in range(PASSES) for batch in _batches(train, random)]
    for update, batch in enumerate(batches):
        step(batch, rate=_RATE * 0.5 * (1 + np.cos(np.pi * update / len(batches))))
        each((update + 1) / len(batches))
    with torch.no_grad():
        bits = [nats(torch.from_numpy(item[:, None]).to(device)).sum() for item in held]
        return (torch.stack(bits) / np.log(2)).double().cpu().numpy()


def compare_tied(
    seeds: int = SEEDS, report: Report = no_progress, device: str = "cpu"
) -> TrainedTied:
    """Train GRU word models of each of `WIDTHS` with one table and with two (a job).

    Args:
        seeds: number of seeds.
        report: progress callback; receives (finished, number of trainings).
        device: torch device.
    """
    _, held, symbols = sentences()
    bits = np.zeros((2, len(WIDTHS), seeds, len(held)))
    count = bits[..., 0].size
    for done, (seed, width, tied) in enumerate(np.ndindex(seeds, len(WIDTHS), 2)):
        bits[tied, width, seed] = _train(
            WIDTHS[width], bool(tied), seed + 1, device,
            lambda share, done=done: report((done, count), (done + share) / count),
        )  # fmt: skip
    words = np.array([len(item) - 1 for item in held])
    return TrainedTied(symbols, np.array(WIDTHS), bits, words)
