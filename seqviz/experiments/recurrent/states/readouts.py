"""Readouts of the bundled sentiment network on reviews: its last state and all its states.

A second network of the same size learns to read the reviews backwards, for both ends.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from seqviz.compute.gates.encoding import word, words
from seqviz.compute.gates.networks import GatedNetwork, inputs, trace
from seqviz.compute.recurrent.states import readouts
from seqviz.compute.recurrent.states.readouts import ByReadout, Padded, Plane, StatePath
from seqviz.compute.training.step import TrainingStep
from seqviz.data.reviews import Labeled, sentiment_split
from seqviz.experiments.gates import Symbols
from seqviz.jobs import Report, no_progress
from seqviz.models.checkpoints import load
from seqviz.models.texts import TokenizerText

PADS = (0, 1, 2, 3, 5, 10, 20, 40)
_SHARE_READ = 0.25  # of the work
_EPOCHS, _BATCH, _RATE, _DROP = 4, 32, 2e-3, 0.5
_FOR_PLANE = 500  # reviews
_STRENGTH = 0.1  # scikit-learn's C of the logistic regressions
Ids = list[np.ndarray]


def path(network: str, text: Symbols, without: int = 0) -> StatePath:
    """Run `readouts.path` on a bundled network, in the plane of its states on training reviews.

    Args:
        network: name of the network.
        text: the text.
        without: number of the deleted word, from 1; 0 for none.
    """
    return readouts.path(load(network), _plane(network), text, without)


def padded(network: str, text: Symbols) -> Padded:
    """Run `readouts.padded` on a bundled network.

    Args:
        network: name of the network.
        text: the text.
    """
    return readouts.padded(load(network), text, PADS[-1])


def words_read(network: str, text: TokenizerText) -> int:
    """Return the number of words of a text that a network reads, at least 1.

    Args:
        network: name of the network.
        text: the text.
    """
    return max(1, len(load(network).encode(text)))


@cache
def _plane(network: str) -> Plane:
    """Return the plane of the states after every word of some training reviews."""
    result = load(network)
    training = sentiment_split()[0]
    ids = _ids(result, Labeled(training.texts[:_FOR_PLANE], training.positive[:_FOR_PLANE]))
    states = trace(result, readouts.batch(ids)).hidden[1:]
    real = np.arange(len(states))[:, None] < np.array([len(item) for item in ids])
    return readouts.plane(result, states[real].astype(float))


def compare_readouts(network: str, seed: int = 0, report: Report = no_progress) -> ByReadout:
    """Fit a logistic regression to each readout of 8,072 reviews and test it on 2,000 (a job).

    Args:
        network: name of the network.
        seed: seed of the network that learns to read backwards.
        report: progress callback; receives the share done.
    """
    result = load(network)
    training, held = sentiment_split()
    texts = [_ids(result, item) for item in (training, held)]
    features = [_features(result, text) for text in texts]
    report(_SHARE_READ, _SHARE_READ)
    ends = _read_backwards(result, texts, training.positive, seed, report)
    for entry, back in zip(features, ends, strict=True):
        entry |= readouts.combined(entry["last"], back)
    right = [_answers(features[0][name], features[1][name], training.positive) == held.positive
             for name in features[0]]  # fmt: skip
    counts = [(_verdicts(result, texts[1], pad) == held.positive).sum(-1) for pad in (-1, 0)]
    often = bool(2 * training.positive.sum() >= len(training.positive))
    return ByReadout(
        tuple(features[0]), np.stack(right), np.array([len(text) for text in texts[1]]),
        held.positive.copy(), often, np.array(PADS), np.stack(counts),
    )  # fmt: skip


def _ids(network: GatedNetwork, reviews: Labeled) -> Ids:
    anchor = {symbol: k for k, symbol in enumerate(network.symbols)}
    return [
        np.array([anchor.get(word(item), 0) for item in words(text, ()).pieces])
        for text in reviews.texts
    ]


def _in_batches(ids: Ids, size: int = 256) -> list[np.ndarray]:
    """Return the indices of sequences in batches of similar length."""
    order = np.argsort([len(item) for item in ids], kind="stable")
    return [order[k : k + size] for k in range(0, len(order), size)]


def _features(network: GatedNetwork, ids: Ids) -> dict[str, np.ndarray]:
    """Return the vectors by readout; "words" is the mean of the word vectors, without a state."""
    result: dict[str, np.ndarray] = {}
    for indices in _in_batches(ids):
        lengths = np.array([len(ids[k]) for k in indices])
        side_by_side = readouts.batch([ids[k] for k in indices])
        vectors = inputs(network, side_by_side).sum(0) / lengths[:, None]
        parts = readouts.pooled(trace(network, side_by_side).hidden[1:], lengths)
        for name, values in {"words": vectors, **parts}.items():
            result.setdefault(name, np.empty((len(ids), values.shape[1]), np.float32))
            result[name][indices] = values
    return result


def _verdicts(network: GatedNetwork, ids: Ids, pad: int) -> np.ndarray:
    """Return True for "positive" by the state after each number of `PADS`, [amount, case]."""
    verdicts = np.empty((len(PADS), len(ids)), bool)
    for length in {len(item) for item in ids}:
        positions = [k for k, item in enumerate(ids) if len(item) == length]
        after = np.full((PADS[-1], len(positions)), pad)
        read = np.concatenate([np.stack([ids[k] for k in positions], 1), after])
        last = trace(network, read).hidden[np.array(PADS) + length]
        scores = last @ (network.head[1] - network.head[0])
        verdicts[:, positions] = scores > network.head_bias[0] - network.head_bias[1]
    return verdicts


def _answers(training: np.ndarray, held: np.ndarray, positive: np.ndarray) -> np.ndarray:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    reader = LogisticRegression(C=_STRENGTH, max_iter=1000)
    values: np.ndarray = (
        make_pipeline(StandardScaler(), reader).fit(training, positive).predict(held)
    )
    return values


def _read_backwards(
    network: GatedNetwork, texts: list[Ids], positive: np.ndarray, seed: int, report: Report
) -> list[np.ndarray]:
    """Train a GRU on the reversed sequences of word vectors and return its last states."""
    import torch

    back = [[item[::-1].copy() for item in ids] for ids in texts]
    table = torch.tensor(network.embedding)
    hidden = network.weights.hidden
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        cell, head = torch.nn.GRU(table.shape[1], hidden), torch.nn.Linear(hidden, 2)
        drop = torch.nn.Dropout(_DROP)
        trained = [*cell.parameters(), *head.parameters()]

        def batch(ids: Ids) -> tuple[np.ndarray, np.ndarray]:
            return readouts.batch(ids, 0), np.array([len(item) for item in ids])

        def ends(read: Any, lengths: Any) -> Any:
            return cell(drop(table[read]))[0][lengths - 1, torch.arange(len(lengths))]

        def loss(read: Any, lengths: Any, truth: Any) -> Any:
            return torch.nn.functional.cross_entropy(head(drop(ends(read, lengths))), truth)

        adam = torch.optim.AdamW(trained, _RATE, weight_decay=0.05)
        step = TrainingStep(adam, loss, trained)
        random = np.random.RandomState(seed)
        for epoch in range(_EPOCHS):
            batches = _in_batches(back[0], _BATCH)
            for k, at in enumerate(random.permutation(len(batches))):
                step(*batch([back[0][p] for p in batches[at]]), 1 * positive[batches[at]])
                if k % 20 == 0:
                    done = _SHARE_READ + 0.7 * (epoch + k / len(batches)) / _EPOCHS
                    report(done, done)
        results = []
        drop.eval()
        with torch.no_grad():
            for ids in back:
                states = np.empty((len(ids), hidden), np.float32)
                for indices in _in_batches(ids):
                    read, lengths = map(torch.from_numpy, batch([ids[k] for k in indices]))
                    states[indices] = ends(read, lengths).numpy()
                results.append(states)
    return results
