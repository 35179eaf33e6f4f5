"""Tiny networks on sequences longer than those they were trained on, beside honest baselines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.gates.networks import GatedNetwork, right, sequence_accuracy
from seqviz.compute.gates.tasks import draw, majority, majority_whole, right_answers
from seqviz.core.units import Share
from seqviz.stats.facts import Facts

_TRIED = 200  # sequences of each length
_FARTHEST = 40  # a string of that many a and as many b is not tried


@dataclass(frozen=True)
class ByLength:
    """Shares of right answers, and of sequences without a wrong one, by length in symbols.

    answers, exact_match: of each network, in the order of `cells`. majority, majority_whole: of the
    answer that is right most often, whatever was read. trained: the length of the training.
    counts: the largest n up to which every a^n b^n is answered without a mistake; None for other
    tasks.
    """

    task: str
    cells: tuple[str, ...]
    trained: int
    length: Int[np.ndarray, "length"]
    answers: Float[np.ndarray, "cell length"]
    exact_match: Float[np.ndarray, "cell length"]
    majority: Float[np.ndarray, "length"]
    majority_whole: Float[np.ndarray, "length"]
    counts: tuple[int, ...] | None

    def whole_at(self, cell: str, length: int) -> Share:
        """Of one network at a length that was tried."""
        return float(self.exact_match[self.cells.index(cell), self._place(length)])

    def answers_at(self, cell: str, length: int) -> Share:
        """The share of single answers, likewise."""
        return float(self.answers[self.cells.index(cell), self._place(length)])

    def majority_at(self, length: int) -> Share:
        """What the most frequent answer gets at that length."""
        return float(self.majority[self._place(length)])

    def compared(self, cell: str, length: int) -> Facts:
        """State the answers of a network at a length beside the most frequent answer."""
        answers, majority = self.answers_at(cell, length), self.majority_at(length)
        return Facts(
            "above" if answers > majority else "below", length=length, answers=answers,
            majority=majority, whole=self.whole_at(cell, length),
        )  # fmt: skip

    def _place(self, length: int) -> int:
        return int(np.flatnonzero(self.length == length)[0])


def by_length(networks: Sequence[GatedNetwork], trained: int, seed: int = 0) -> ByLength:
    """Networks of one task on 200 fresh sequences of each length, up to three times `trained`."""
    task = networks[0].kind
    lengths = np.unique(np.round(trained * np.arange(2, 13) / 4).astype(int))
    shape = len(networks), len(lengths)
    answers, all_right = np.zeros(shape), np.zeros(shape)
    often, often_whole = np.zeros(len(lengths)), np.zeros(len(lengths))
    for index, length in enumerate(lengths):
        batch = draw(task, int(length), _TRIED, np.random.RandomState([seed, 4, length]))
        often[index], often_whole[index] = majority(batch), majority_whole(batch)
        for row, network in enumerate(networks):
            answers[row, index] = right(network, batch)[batch.scored].mean()
            all_right[row, index] = sequence_accuracy(network, batch)
    return ByLength(
        task,
        tuple(network.cell for network in networks),
        trained,
        lengths,
        answers,
        all_right,
        often,
        often_whole,
        tuple(counts_to(network) for network in networks) if task == "count" else None,
    )


def counts_to(network: GatedNetwork) -> int:
    """The largest n up to which a network of the task "count" answers every a^n b^n rightly."""
    for n in range(1, _FARTHEST + 1):
        batch = right_answers("count", np.repeat([0, 1, 2], [n, n, 1]))
        if sequence_accuracy(network, batch) < 1:
            return n - 1
    return _FARTHEST
