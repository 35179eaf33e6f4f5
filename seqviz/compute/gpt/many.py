"""Many first words from one distribution: how often each came, and how often it should."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.gpt.draw import draws, foremost, probabilities
from seqviz.core.units import Fraction, Share


@dataclass(frozen=True)
class ManyDraws:
    """Draws with replacement: counts are multinomial.

    ids: the likeliest tokens, from the first down; each has a bar, and all others have the last one
    together. bars: of each draw its bar, in the order of the draws. probability: of each bar.
    """

    ids: Int[np.ndarray, "token"]
    bars: Int[np.ndarray, "draw"]
    probability: Float[np.ndarray, "bar"]

    @property
    def count(self) -> int:
        """How many draws."""
        return len(self.bars)

    def counts(self, first: int | None = None) -> Int[np.ndarray, "bar"]:
        """How often each bar came among the first draws, or among all."""
        return np.bincount(self.bars[:first], minlength=len(self.probability))

    def band(self, first: int | None = None) -> tuple[Int[np.ndarray, "bar"], ...]:
        """Fewest and most draws of each bar by itself in 95% of all such series (binomial)."""
        from scipy.stats import binom

        n = len(self.bars[:first])
        ends = binom.ppf([[0.025], [0.975]], n, np.clip(self.probability, 0, 1))
        return ends[0].astype(int), ends[1].astype(int)

    def within(self, first: int | None = None) -> Fraction:
        """Of all bars, those whose count lies in their band."""
        low, high = self.band(first)
        counts = self.counts(first)
        return int(((low <= counts) & (counts <= high)).sum()), len(counts)

    def distance(self, first: int | None = None) -> Share:
        """Between the shares of the draws and the probabilities: total variation, 0 to 1."""
        counts = self.counts(first)
        return float(np.abs(counts / counts.sum() - self.probability).sum() / 2)

    def expected_within(self, first: int | None = None) -> float:
        """How many bars lie in their bands on average; counts are whole, so 95% or more."""
        from scipy.stats import binom

        n = len(self.bars[:first])
        low, high = self.band(first)
        probability = np.clip(self.probability, 0, 1)
        return float((binom.cdf(high, n, probability) - binom.cdf(low - 1, n, probability)).sum())


def many_draws(
    scores: Float[np.ndarray, "vocabulary"], uniforms: Sequence[float], bars: int = 20
) -> ManyDraws:
    """A token for each number (`draw.draw`), counted by the likeliest tokens and the rest."""
    ids, likely = foremost(scores, bars), probabilities(scores)
    position = np.full(len(scores), len(ids))
    position[ids] = np.arange(len(ids))
    rest = max(1.0 - float(likely[ids].sum()), 0.0)
    return ManyDraws(ids, position[draws(scores, uniforms)], np.append(likely[ids], rest))
