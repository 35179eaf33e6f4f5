"""Shares found in a sample: intervals, two systems on the same cases, confusion, sample sizes."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf, nan, sqrt
from typing import Annotated, Any

import numpy as np
from jaxtyping import Bool, Float, Int

from seqviz.core.units import Count, Probability, Unit
from seqviz.stats.estimate import Estimate, share_ci
from seqviz.stats.intervals import NORMAL_95

_HARDLY = 0.05  # a smaller p is hardly chance


@dataclass(frozen=True)
class Proportion(Estimate):
    """Share of right answers among n cases, or one of each row, with Wilson's interval.

    Of no cases it is nan.
    """

    @property
    def share(self) -> Annotated[Any, Unit("share", 1)]:
        """The share itself."""
        return self.mean

    @property
    def correct(self) -> Any:
        """How many of the cases are right; 0 of none."""
        counts = np.rint(np.nan_to_num(np.multiply(self.mean, self.n))).astype(int)
        return counts if counts.ndim else int(counts)


@dataclass(frozen=True)
class Paired:
    """Two systems on the same `n` cases: how many each is right on, and McNemar's p."""

    both: int
    only_first: int
    only_second: int
    neither: int
    n: int
    p: Probability

    @property
    def verdict(self) -> str:
        """ "no_difference" (they never differ), "real" (hardly chance: p < 0.05) or "chance"."""
        if self.only_first + self.only_second == 0:
            return "no_difference"
        return "real" if self.p < _HARDLY else "chance"

    @property
    def needed(self) -> Count:
        """How many cases tell two systems apart that differ as these do; see `needed_n`."""
        first, second = self.both + self.only_first, self.both + self.only_second
        discordant = self.only_first + self.only_second
        return needed_n(first / self.n, second / self.n, discordant / self.n)


@dataclass(frozen=True)
class Confusion:
    """How many cases of each kind: [actual, predicted], 0 is negative and 1 positive."""

    counts: Int[np.ndarray, "actual predicted"]


def of(correct: int, n: int) -> Proportion:
    """`correct` of `n` as a share with its interval; raises ValueError if that is impossible."""
    if not 0 <= correct <= n:
        raise ValueError(f"Of {n} cases {correct} cannot be correct.")
    return of_share(correct / n if n else nan, n)


def proportion(right: Bool[np.ndarray, "case"]) -> Proportion:
    """The share of True, with its interval."""
    return of(int(right.sum()), len(right))


def of_share(share: Any, n: Any) -> Proportion:
    """Shares of n cases with their interval; a mean over runs has the interval that one run has."""
    return Proportion(**vars(share_ci(share, n)))


def answers_right(
    probability: Float[np.ndarray, "*rows case"], positive: Bool[np.ndarray, "case"]
) -> Float[np.ndarray, "*rows case"]:
    """1 where the answer is right, 0 where it is wrong, nan where there is none (nan).

    The answer is "positive" where that is likelier than not.
    """
    return np.where(np.isfinite(probability), (probability > 0.5) == positive, np.nan)


def counted(right: Float[np.ndarray, "case"]) -> Proportion:
    """How many are right (1, not 0), as a proportion; cases of nan left out."""
    return of(int(np.nansum(right)), int(np.isfinite(right).sum()))


def shares(right: Float[np.ndarray, "*rows case"]) -> Proportion:
    """Share of each row that is right (1, not 0), with its 95% interval; cases of nan left out."""
    n = np.isfinite(right).sum(axis=-1)
    return of_share(np.nansum(right, axis=-1) / np.maximum(n, 1), n)


def running(right: Bool[np.ndarray, "case"]) -> Proportion:
    """The share of True among the first 1, 2, ... cases, with the interval at each.

    The interval is right for one n chosen beforehand, not for the n at which it looks best.
    """
    n = np.arange(1, len(right) + 1)
    return of_share(np.cumsum(right) / n, n)


def majority(
    train_positive: Bool[np.ndarray, "train"], test_positive: Bool[np.ndarray, "test"]
) -> Proportion:
    """How often it is right to say always what was most frequent in training (a tie: positive)."""
    answer = 2 * int(train_positive.sum()) >= len(train_positive)
    return proportion(test_positive == answer)


def mcnemar(
    first_right: Bool[np.ndarray, "case"], second_right: Bool[np.ndarray, "case"]
) -> Paired:
    """Are two systems equally good, given where each is right on the same cases?

    Only the cases count on which one is right and the other is not: if both are equally good, each
    of these falls to either side like a coin. p is the probability that the coin is at least as
    uneven, on either side: McNemar (1947) with the exact binomial distribution; 1 if there is no
    such case.
    """
    from scipy.stats import binomtest

    both, neither = (first_right & second_right).sum(), (~first_right & ~second_right).sum()
    only_first = int((first_right & ~second_right).sum())
    only_second = int((second_right & ~first_right).sum())
    differing = only_first + only_second
    p = float(binomtest(only_first, differing, 0.5).pvalue) if differing else 1.0
    return Paired(int(both), only_first, only_second, int(neither), len(first_right), p)


def compared(
    first_right: Float[np.ndarray, "case"], second_right: Float[np.ndarray, "case"]
) -> Paired:
    """As `mcnemar`, of what `answers_right` gives: cases on which one says nothing are left out."""
    both = np.isfinite(first_right) & np.isfinite(second_right)
    return mcnemar(first_right[both] == 1, second_right[both] == 1)


def needed_n(
    first: float, second: float, discordant: float | None = None, power: float = 0.8
) -> Count:
    """How many cases McNemar's test at the 5% level needs to tell two accuracies apart.

    first, second: the true accuracies. discordant: the share of cases on which just one of the two
    is right; by default that of systems whose errors have nothing to do with each other. Two
    systems that mostly err on the same cases have fewer, and need fewer cases.
    power: the probability that the test finds p < 0.05.
    With d = first - second and s = discordant, the normal approximation of Connett, Smith and
    McHugh (1987) is n = (z(0.975) sqrt(s) + z(power) sqrt(s - d^2))^2 / d^2. As the exact test
    counts in whole steps, 2 / |d| is added: what a continuity correction of one case comes to.
    From n = 100 on, the exact power is 0.80 to 0.83 if 0.8 is asked for, and up to 0.90 where
    nearly all disagreements fall to one side.
    Returns a whole number, or inf if the two are equal.
    Raises ValueError when no two systems with these accuracies differ on that share of the cases.
    """
    from scipy.special import ndtri

    difference = abs(first - second)
    share = first * (1 - second) + second * (1 - first) if discordant is None else discordant
    maximum = min(first + second, 2 - first - second)
    if not difference - 1e-9 <= share <= maximum + 1e-9:
        raise ValueError(
            f"Systems with accuracies {first:.3g} and {second:.3g} differ on {difference:.3g} to "
            f"{maximum:.3g} of the cases, not on {share:.3g}."
        )
    if difference == 0:
        return inf
    result = NORMAL_95 * sqrt(share) + ndtri(power) * sqrt(max(share - difference**2, 0.0))
    return float(ceil((result / difference) ** 2 + 2 / difference))


def confusion(positive: Bool[np.ndarray, "case"], predicted: Bool[np.ndarray, "case"]) -> Confusion:
    """Count the four kinds of cases."""
    kind = 2 * positive.astype(int) + predicted
    return Confusion(np.bincount(kind, minlength=4).reshape(2, 2))
