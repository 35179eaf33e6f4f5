"""Contextual vectors of one word in two sentences: cosines by layer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.core.units import Cosine
from seqviz.stats.estimate import Estimate, mean_ci
from seqviz.stats.facts import Facts
from seqviz.stats.proportions import Proportion, of_share, shares


@dataclass(frozen=True)
class Layers:
    """Cosine of a word's vectors in two sentences: embedding table, input, and each layer.

    The first is that of the table's row, before position and segment are added: exactly 1.

    Attributes:
        pieces: pieces of the word; the mean of their vectors is taken.
    """

    word: str
    pieces: tuple[str, ...]
    cosines: Float[np.ndarray, "level"]

    @property
    def table(self) -> Cosine:
        """Cosine in the embedding table."""
        return float(self.cosines[0])

    @property
    def read_in(self) -> Cosine:
        """Cosine of the input: position and segment added, normalized."""
        return float(self.cosines[1])

    @property
    def last(self) -> Cosine:
        """Cosine after the last layer."""
        return float(self.cosines[-1])


@dataclass(frozen=True)
class SensePairs:
    """Cosines of a word in pairs of sentences with two senses and with one, and of two words.

    Attributes:
        other: hundredths of the cosine for two senses; two consecutive pairs per word.
        same: hundredths of the cosine for one sense, likewise.
        random: 2.5%, 50% and 97.5% quantiles of pairs of two different words.
        bag: for both kinds, the cosine of the mean table rows of all other tokens: the similarity
            of the sentences as bags of words.
    """

    words: tuple[str, ...]
    other: Int[np.ndarray, "pair level"]
    same: Int[np.ndarray, "pair level"]
    random: Float[np.ndarray, "3 level"]
    random_pairs: int
    bag: Int[np.ndarray, "2 pair"]

    @property
    def pairs(self) -> int:
        """Number of pairs of either kind."""
        return len(self.other)

    def mean(self, kind: str) -> Estimate:
        """Return the mean cosine of "other" or "same" at each level.

        The interval is over words, because a word's pairs are not independent.
        """
        rows = {"other": self.other, "same": self.same}[kind]
        return mean_ci(self._by_word(rows) / 100, source="words")

    def separated(self) -> Proportion:
        """Return the proportion of words with nearer pairs of one sense than of two (Wilson).

        A word counts once: the mean of its pairs of one sense against the mean of its pairs of two;
        a tie counts one half.
        """
        return shares(self._nearer(self.same, self.other).T)

    def told_at(self, level: int) -> Proportion:
        """Return the proportion of separated words at one level."""
        return self.separated()[level]

    def told_by_bag(self) -> Proportion:
        """Return the proportion of words separated by their sentences as bags of words."""
        other, same = self.bag
        return of_share(float(self._nearer(same, other).mean()), len(self.words))

    def summary(self, level: int) -> Facts:
        """State the similarity of two uses of a word at a level, and the separated words."""
        return Facts(
            pairs=self.pairs, words=len(self.words), told=self.told_at(level),
            bag=self.told_by_bag(), same=self.mean("same")[level], other=self.mean("other")[level],
        )  # fmt: skip

    def _nearer(self, left: np.ndarray, right: np.ndarray) -> Float[np.ndarray, "word *level"]:
        """Return 1 where a word's mean of the first is above that of the other, 0.5 for ties."""
        first, second = self._by_word(left), self._by_word(right)
        return np.asarray((first > second) + 0.5 * (first == second))

    def _by_word(self, rows: np.ndarray) -> Float[np.ndarray, "word *level"]:
        return rows.reshape(len(self.words), -1, *rows.shape[1:]).mean(1)
