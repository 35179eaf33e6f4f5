"""The same word in two sentences: cosines of its vectors from layer to layer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.stats.estimate import Estimate, mean_ci
from seqviz.stats.facts import Facts
from seqviz.stats.proportions import Proportion, of_share, shares


@dataclass(frozen=True)
class Layers:
    """Cosine of a word's vectors in two sentences: in the table, behind the input, each layer.

    The first is that of the table's row, before position and segment are added: exactly 1. pieces:
    of the word; of several the mean of their vectors is taken.
    """

    word: str
    pieces: tuple[str, ...]
    cosines: Float[np.ndarray, "level"]

    @property
    def table(self) -> float:
        """In the table."""
        return float(self.cosines[0])

    @property
    def read_in(self) -> float:
        """Behind the input: position and segment added, normalized."""
        return float(self.cosines[1])

    @property
    def last(self) -> float:
        """Behind the last layer."""
        return float(self.cosines[-1])


@dataclass(frozen=True)
class SensePairs:
    """Pairs of sentences with the same word in two senses, in one sense, and pairs of two words.

    hundredths: of the cosine, [pair, level]: `other` senses and the `same` sense; two pairs of
    either kind per word stand one behind the other. random: 2.5%, 50% and 97.5% of the pairs of
    two different words. bag: of both kinds, the cosine of the mean rows of the table of all other
    tokens, without reading: how alike the sentences are as bags of words.
    """

    words: tuple[str, ...]
    other: Int[np.ndarray, "pair level"]
    same: Int[np.ndarray, "pair level"]
    random: Float[np.ndarray, "3 level"]
    random_pairs: int
    bag: Int[np.ndarray, "2 pair"]

    @property
    def pairs(self) -> int:
        """How many pairs there are of either kind."""
        return len(self.other)

    def mean(self, kind: str) -> Estimate:
        """Mean cosine of "other" or "same" at each level.

        The interval is over words, whose pairs are not independent.
        """
        rows = {"other": self.other, "same": self.same}[kind]
        return mean_ci(self._by_word(rows) / 100, source="words")

    def separated(self) -> Proportion:
        """Of how many words the pairs of one sense are nearer than those of two (Wilson).

        A word counts once: the mean of its pairs of one sense against the mean of its pairs of two;
        a draw counts one half.
        """
        return shares(self._nearer(self.same, self.other).T)

    def told_at(self, level: int) -> Proportion:
        """The share at one level, with its interval."""
        return self.separated()[level]

    def told_by_bag(self) -> Proportion:
        """The same for the bags of the other words, which nobody has read."""
        other, same = self.bag
        return of_share(float(self._nearer(same, other).mean()), len(self.words))

    def summary(self, level: int) -> Facts:
        """State how alike two uses of a word are at a level, and how many words are told apart."""
        return Facts(
            pairs=self.pairs, words=len(self.words), told=self.told_at(level),
            bag=self.told_by_bag(), same=self.mean("same")[level], other=self.mean("other")[level],
        )  # fmt: skip

    def _nearer(self, left: np.ndarray, right: np.ndarray) -> Float[np.ndarray, "word *level"]:
        """1 where a word's mean of the first is above that of the other, 0.5 of equal ones."""
        first, second = self._by_word(left), self._by_word(right)
        return np.asarray((first > second) + 0.5 * (first == second))

    def _by_word(self, rows: np.ndarray) -> Float[np.ndarray, "word *level"]:
        return rows.reshape(len(self.words), -1, *rows.shape[1:]).mean(1)
