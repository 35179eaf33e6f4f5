"""Length generalization of tiny networks, compared with majority baselines."""

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
_FARTHEST = 40  # largest n of the strings a^n b^n that are tried


@dataclass(frozen=True)
class ByLength:
    """Accuracy by length of the sequence in symbols, per answer and per sequence.

    Attributes:
        trained: length of the training sequences.
        answers: shares of right answers.
        exact_match: shares of sequences without a wrong answer.
        majority: shares of answers that the most frequent answer gets right, whatever was read.
        majority_whole: largest share of sequences that one constant answer gets right throughout.
        counts: per network the largest n up to which every a^n b^n is answered without a mistake;
            None for other tasks than "count".
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
        """Return the share of sequences without a wrong answer.

        Args:
            cell: cell of the network.
            length: one of the lengths tried.
        """
        return float(self.exact_match[self.cells.index(cell), self._place(length)])

    def answers_at(self, cell: str, length: int) -> Share:
        """Return the share of right answers.

        Args:
            cell: cell of the network.
            length: one of the lengths tried.
        """
        return float(self.answers[self.cells.index(cell), self._place(length)])

    def majority_at(self, length: int) -> Share:
        """Return the share of right answers of the most frequent answer at a length."""
        return float(self.majority[self._place(length)])

    def compared(self, cell: str, length: int) -> Facts:
        """State the accuracy of a network at a length beside the majority baseline.

        Args:
            cell: cell of the network.
            length: one of the lengths tried.
        """
        answers, majority = self.answers_at(cell, length), self.majority_at(length)
        return Facts(
            "above" if answers > majority else "below", length=length, answers=answers,
            majority=majority, whole=self.whole_at(cell, length),
        )  # fmt: skip

    def _place(self, length: int) -> int:
        return int(np.flatnonzero(self.length == length)[0])


def by_length(networks: Sequence[GatedNetwork], trained: int, seed: int = 0) -> ByLength:
    """Test networks on 200 new sequences of each length, up to three times that of the training.

    Args:
        networks: networks of one task.
        trained: length of the training sequences.
        seed: seed of the sequences.
    """
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
    """Return the largest n up to which a network answers every a^n b^n correctly (task "count").

    At most 40, the largest n that is tried.
    """
    for n in range(1, _FARTHEST + 1):
        batch = right_answers("count", np.repeat([0, 1, 2], [n, n, 1]))
        if sequence_accuracy(network, batch) < 1:
            return n - 1
    return _FARTHEST
