"""The same word in two sentences: cosines of its vectors from layer to layer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.stats.proportions import Proportion, Shares, of_share, shares


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

    def mean(self, kind: str) -> Float[np.ndarray, "level"]:
        """Mean cosine of "other" or "same" at each level."""
        return np.asarray(self._of(kind).mean(0) / 100)

    def ends(self, kind: str) -> tuple[Float[np.ndarray, "level"], Float[np.ndarray, "level"]]:
        """95% interval of the mean (Student's t) over words, whose pairs are not independent."""
        from scipy.stats import t

        rows = self._of(kind)
        each = rows.reshape(len(self.words), -1, rows.shape[1]).mean(1) / 100
        reach = t.ppf(0.975, len(each) - 1) * each.std(0, ddof=1) / np.sqrt(len(each))
        return each.mean(0) - reach, each.mean(0) + reach

    def separated(self) -> Shares:
        """Of how many words the pairs of one sense are nearer than those of two (Wilson).

        A word counts once: the mean of its pairs of one sense against the mean of its pairs of two;
        a draw counts one half.
        """
        return shares(self._nearer(self.same, self.other).T)

    def told_at(self, level: int) -> Proportion:
        """The share at one level, with its interval."""
        return of_share(float(self.separated().share[level]), len(self.words))

    def told_by_bag(self) -> Proportion:
        """The same for the bags of the other words, which nobody has read."""
        other, same = self.bag
        return of_share(float(self._nearer(same, other).mean()), len(self.words))

    def _nearer(self, left: np.ndarray, right: np.ndarray) -> Float[np.ndarray, "word *level"]:
        """1 where a word's mean of the first is above that of the other, 0.5 of equal ones."""
        first, second = (
            rows.reshape(len(self.words), -1, *rows.shape[1:]).mean(1) for rows in (left, right)
        )
        return np.asarray((first > second) + 0.5 * (first == second))

    def _of(self, kind: str) -> Int[np.ndarray, "pair level"]:
        return {"other": self.other, "same": self.same}[kind]
