"""One number, once for each of many random seeds, and what theory says of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from seqviz.core.units import Fraction
from seqviz.stats.estimate import Estimate, mean_ci, paired_difference
from seqviz.stats.facts import Facts
from seqviz.stats.intervals import NORMAL_95

_STEPS = 2000  # equally likely values that stand for a distribution
_CENTRAL = (0.025, 0.975)


@dataclass(frozen=True)
class Theory:
    """The distribution of one replicate as theory has it.

    mean: its mean, exact. values: equally likely values of it in rising order, which stand for its
    shape; low, high: its 2.5% and 97.5% quantile, between which 95% of all replicates lie.
    """

    mean: float
    values: Float[np.ndarray, "value"]
    low: float
    high: float

    def times(self, factor: float) -> Theory:
        """Of the same number in another unit."""
        ends = factor * self.low, factor * self.high
        return Theory(factor * self.mean, factor * self.values, *ends)


@dataclass(frozen=True)
class Replicates:
    """The number at each seed, in the order of the seeds.

    of_class: whether a student has this seed; the others are further ones.
    """

    seeds: Int[np.ndarray, "seed"]
    values: Float[np.ndarray, "seed"]
    of_class: Bool[np.ndarray, "seed"]

    @property
    def estimate(self) -> Estimate:
        """The mean over the seeds, with its interval."""
        return mean_ci(self.values, source="seeds")

    def more_than(self, other: Replicates) -> Estimate:
        """How much more than another number of the same seeds, seed by seed."""
        return paired_difference(self.values, other.values, source="seeds")

    def within(self, theory: Theory) -> Fraction:
        """How many lie where theory has 95% of all replicates, of how many."""
        inside = (theory.low <= self.values) & (self.values <= theory.high)
        return int(inside.sum()), self.values.size

    def summary(self) -> Facts:
        """State how many seeds there are, of the class and further ones, and their mean."""
        count, own = self.values.size, int(self.of_class.sum())
        variant = "one" if count == 1 else "all" if own == count else "some"
        return Facts(variant, count=count, own=own, further=count - own, mean=self.estimate)

    def heights(self, edges: Float[np.ndarray, "edge"]) -> Int[np.ndarray, "seed"]:
        """The place of each in the pile of its bin, from 1, in the order of the seeds."""
        bins = binned(self.values, edges)
        return np.array([(bins[: at + 1] == bin).sum() for at, bin in enumerate(bins)], int)


def binned(
    values: Float[np.ndarray, "value"], edges: Float[np.ndarray, "edge"]
) -> Int[np.ndarray, "value"]:
    """The bin of each value, from 0; what is beyond the ends is in the first or in the last."""
    return np.clip(np.searchsorted(edges, values, side="right") - 1, 0, edges.size - 2)


def expected(
    theory: Theory, edges: Float[np.ndarray, "edge"], count: int
) -> Float[np.ndarray, "bin"]:
    """How many of `count` replicates theory expects in each bin."""
    return np.histogram(theory.values, edges)[0] * (count / theory.values.size)


def normal(mean: float, deviation: float) -> Theory | None:
    """Normal; None where a parameter is not known (nan)."""
    from scipy.special import ndtri

    if not (np.isfinite(mean) and np.isfinite(deviation)):
        return None
    values = mean + deviation * ndtri((np.arange(_STEPS) + 0.5) / _STEPS)
    half = NORMAL_95 * deviation
    return Theory(mean, values, mean - half, mean + half)


def share_of(probability: float, draws: int) -> Theory:
    """The share of successes in independent draws: binomial."""
    from scipy.stats import binom

    probability = min(max(probability, 0.0), 1.0)
    values = binom.ppf((np.arange(_STEPS) + 0.5) / _STEPS, draws, probability) / draws
    low, high = binom.ppf(_CENTRAL, draws, probability) / draws
    return Theory(probability, values, float(low), float(high))


def drawn_from(
    values: Float[np.ndarray, "outcome"], probabilities: Float[np.ndarray, "outcome"]
) -> Theory:
    """A value that is drawn with these probabilities, which sum to 1."""
    order = np.argsort(values, kind="stable")
    cumulated = np.cumsum(probabilities[order])

    def quantile(share: Float[np.ndarray, "share"]) -> Float[np.ndarray, "share"]:
        indices = np.searchsorted(cumulated, share * cumulated[-1])
        return np.asarray(values[order][np.minimum(indices, order.size - 1)])

    low, high = quantile(np.array(_CENTRAL))
    shape = quantile((np.arange(_STEPS) + 0.5) / _STEPS)
    return Theory(float(values @ probabilities), shape, float(low), float(high))
