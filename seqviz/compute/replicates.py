"""Replicates of one number over random seeds, and their theoretical distributions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from seqviz.core.units import Fraction
from seqviz.stats.estimate import Estimate, mean_ci, paired_difference
from seqviz.stats.facts import Facts
from seqviz.stats.intervals import NORMAL_95

_STEPS = 2000  # equally likely values that represent a distribution
_CENTRAL = (0.025, 0.975)


@dataclass(frozen=True)
class Theory:
    """Theoretical distribution of one replicate.

    Attributes:
        mean: exact mean.
        values: equally likely values in increasing order, which represent the shape.
        low: 2.5% quantile; 95% of all replicates lie between `low` and `high`.
        high: 97.5% quantile.
    """

    mean: float
    values: Float[np.ndarray, "value"]
    low: float
    high: float

    def times(self, factor: float) -> Theory:
        """Return the distribution of the same number in another unit."""
        ends = factor * self.low, factor * self.high
        return Theory(factor * self.mean, factor * self.values, *ends)


@dataclass(frozen=True)
class Replicates:
    """One number at each random seed, in the order of the seeds.

    Attributes:
        of_class: True where a student has this seed; the others are further ones.
    """

    seeds: Int[np.ndarray, "seed"]
    values: Float[np.ndarray, "seed"]
    of_class: Bool[np.ndarray, "seed"]

    @property
    def estimate(self) -> Estimate:
        """Mean over the seeds with its interval."""
        return mean_ci(self.values, source="seeds")

    def more_than(self, other: Replicates) -> Estimate:
        """Return the mean paired difference to a number of the same seeds, self minus other."""
        return paired_difference(self.values, other.values, source="seeds")

    def within(self, theory: Theory) -> Fraction:
        """Return the number of replicates in the theoretical 95% range, and the number of all."""
        inside = (theory.low <= self.values) & (self.values <= theory.high)
        return int(inside.sum()), self.values.size

    def summary(self) -> Facts:
        """State the number of seeds, of the class and further ones, and their mean."""
        count, own = self.values.size, int(self.of_class.sum())
        variant = "one" if count == 1 else "all" if own == count else "some"
        return Facts(variant, count=count, own=own, further=count - own, mean=self.estimate)

    def heights(self, edges: Float[np.ndarray, "edge"]) -> Int[np.ndarray, "seed"]:
        """Return the rank of each seed's value in the stack of its bin, from 1, in seed order."""
        bins = binned(self.values, edges)
        return np.array([(bins[: at + 1] == bin).sum() for at, bin in enumerate(bins)], int)


def binned(
    values: Float[np.ndarray, "value"], edges: Float[np.ndarray, "edge"]
) -> Int[np.ndarray, "value"]:
    """Return the bin of each value, from 0; values beyond the edges go to the end bins.

    Args:
        values: the values.
        edges: bin edges in increasing order.
    """
    return np.clip(np.searchsorted(edges, values, side="right") - 1, 0, edges.size - 2)


def expected(
    theory: Theory, edges: Float[np.ndarray, "edge"], count: int
) -> Float[np.ndarray, "bin"]:
    """Return the number of replicates that theory expects in each bin.

    Args:
        theory: the theoretical distribution.
        edges: bin edges in increasing order.
        count: number of all replicates.
    """
    return np.histogram(theory.values, edges)[0] * (count / theory.values.size)


def normal(mean: float, deviation: float) -> Theory | None:
    """Return a normal distribution, or None where a parameter is unknown (nan).

    Args:
        mean: its mean.
        deviation: its standard deviation.
    """
    from scipy.special import ndtri

    if not (np.isfinite(mean) and np.isfinite(deviation)):
        return None
    values = mean + deviation * ndtri((np.arange(_STEPS) + 0.5) / _STEPS)
    half = NORMAL_95 * deviation
    return Theory(mean, values, mean - half, mean + half)


def share_of(probability: float, draws: int) -> Theory:
    """Return the distribution of the share of successes in independent draws (binomial).

    Args:
        probability: probability of a success, clipped to [0, 1].
        draws: number of draws.
    """
    from scipy.stats import binom

    probability = min(max(probability, 0.0), 1.0)
    values = binom.ppf((np.arange(_STEPS) + 0.5) / _STEPS, draws, probability) / draws
    low, high = binom.ppf(_CENTRAL, draws, probability) / draws
    return Theory(probability, values, float(low), float(high))


def drawn_from(
    values: Float[np.ndarray, "outcome"], probabilities: Float[np.ndarray, "outcome"]
) -> Theory:
    """Return a discrete distribution.

    Args:
        values: the outcomes.
        probabilities: probability of each outcome; they sum to 1.
    """
    order = np.argsort(values, kind="stable")
    cumulated = np.cumsum(probabilities[order])

    def quantile(share: Float[np.ndarray, "share"]) -> Float[np.ndarray, "share"]:
        indices = np.searchsorted(cumulated, share * cumulated[-1])
        return np.asarray(values[order][np.minimum(indices, order.size - 1)])

    low, high = quantile(np.array(_CENTRAL))
    shape = quantile((np.arange(_STEPS) + 0.5) / _STEPS)
    return Theory(float(values @ probabilities), shape, float(low), float(high))
