"""Shannon's guessing game: bounds of the bits per character from the numbers of guesses.

References:
    Shannon, 1951, Prediction and entropy of printed English, sections 3 and 4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.core.units import Share
from seqviz.stats.facts import Facts


@dataclass(frozen=True)
class GuessRanks:
    """Guesses that a reader or a model needed for each character of a text.

    Attributes:
        ranks: number of guesses up to the right one, from 1.
    """

    ranks: Int[np.ndarray, "character"]

    @property
    def shares(self) -> Float[np.ndarray, "rank"]:
        """Share of the characters that were guessed at the first, second, ... guess."""
        return np.asarray(np.bincount(self.ranks)[1:] / len(self.ranks))

    @property
    def first(self) -> Share:
        """Share of the characters that the first guess was right for."""
        return float(self.shares[0])

    @property
    def lower(self) -> float:
        """Lower bound in bits per character: the ranks as steps of equally likely characters.

        The shares of an ideal reader fall with the rank. Those of a short text may not: they are
        sorted first, so that the bound is never above the upper one.
        """
        shares = np.sort(self.shares)[::-1]
        falls = shares - np.append(shares[1:], 0)
        rank = np.arange(1, len(shares) + 1)
        return float((rank * falls * np.log2(rank)).sum())

    @property
    def upper(self) -> float:
        """Upper bound in bits per character: the entropy of the ranks."""
        shares = self.shares[self.shares > 0]
        return float(abs((shares * np.log2(shares)).sum()))

    def summary(self) -> Facts:
        """State both bounds and the share of first guesses that were right."""
        return Facts(lower=self.lower, upper=self.upper, first=self.first,
                     count=len(self.ranks))  # fmt: skip
