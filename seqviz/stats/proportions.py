"""Proportions: Wilson intervals, McNemar's test, confusion counts and sample sizes."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf, nan, sqrt
from typing import Annotated, Any

import numpy as np
from jaxtyping import Bool, Float, Int

from seqviz.core.units import Count, Probability, Unit
from seqviz.stats.estimate import Estimate, share_ci
from seqviz.stats.intervals import NORMAL_95

_HARDLY = 0.05  # significance level of `Paired.verdict`


@dataclass(frozen=True)
class Proportion(Estimate):
    """Share of correct predictions among n cases with its Wilson interval; scalar or array.

    It is nan for no cases.
    """

    @property
    def share(self) -> Annotated[Any, Unit("share", 1)]:
        """The share itself."""
        return self.mean

    @property
    def correct(self) -> Any:
        """Number of correct cases; 0 where there are no cases."""
        counts = np.rint(np.nan_to_num(np.multiply(self.mean, self.n))).astype(int)
        return counts if counts.ndim else int(counts)


@dataclass(frozen=True)
class Paired:
    """Comparison of two systems on the same cases by McNemar's test.

    Attributes:
        both: cases on which both are correct.
        only_first: cases on which only the first is correct.
        only_second: cases on which only the second is correct.
        neither: cases on which both are wrong.
        n: all cases.
        p: p value of McNemar's exact test.
    """

    both: int
    only_first: int
    only_second: int
    neither: int
    n: int
    p: Probability

    @property
    def verdict(self) -> str:
        """Verdict: "no_difference" (equal on every case), "real" (p < 0.05) or "chance"."""
        if self.only_first + self.only_second == 0:
            return "no_difference"
        return "real" if self.p < _HARDLY else "chance"

    @property
    def needed(self) -> Count:
        """Sample size that detects the observed difference; see `needed_n`."""
        first, second = self.both + self.only_first, self.both + self.only_second
        discordant = self.only_first + self.only_second
        return needed_n(first / self.n, second / self.n, discordant / self.n)


@dataclass(frozen=True)
class Confusion:
    """Confusion matrix of a binary classifier.

    Attributes:
        counts: number of cases [actual, predicted]; 0 is negative and 1 positive.
    """

    counts: Int[np.ndarray, "actual predicted"]


def of(correct: int, n: int) -> Proportion:
    """Return the proportion of `correct` cases among `n`.

    Args:
        correct: number of correct cases.
        n: number of cases.

    Raises:
        ValueError: `correct` is not in [0, n].
    """
    if not 0 <= correct <= n:
        raise ValueError(f"Of {n} cases {correct} cannot be correct.")
    return of_share(correct / n if n else nan, n)


def proportion(right: Bool[np.ndarray, "case"]) -> Proportion:
    """Return the share of True with its interval."""
    return of(int(right.sum()), len(right))


def of_share(share: Any, n: Any) -> Proportion:
    """Return observed shares as proportions.

    For a share averaged over runs on the same cases, `n` is still the number of cases of one run:
    more runs do not narrow the interval.

    Args:
        share: observed shares in [0, 1], scalar or array.
        n: number of cases of each share.
    """
    return Proportion(**vars(share_ci(share, n)))


def answers_right(
    probability: Float[np.ndarray, "*rows case"], positive: Bool[np.ndarray, "case"]
) -> Float[np.ndarray, "*rows case"]:
    """Return 1 for a correct prediction, 0 for a wrong one, nan where there is none.

    The prediction is "positive" where its probability exceeds 1/2.

    Args:
        probability: probability of "positive"; nan where there is no prediction.
        positive: true labels.
    """
    return np.where(np.isfinite(probability), (probability > 0.5) == positive, np.nan)


def counted(right: Float[np.ndarray, "case"]) -> Proportion:
    """Return the proportion of ones; cases of nan are left out."""
    return of(int(np.nansum(right)), int(np.isfinite(right).sum()))


def shares(right: Float[np.ndarray, "*rows case"]) -> Proportion:
    """Return the proportion of ones in each row; cases of nan are left out."""
    n = np.isfinite(right).sum(axis=-1)
    return of_share(np.nansum(right, axis=-1) / np.maximum(n, 1), n)


def running(right: Bool[np.ndarray, "case"]) -> Proportion:
    """Return the share of True among the first 1, 2, ... cases, with the interval at each.

    The interval is valid for one n chosen in advance, not for an n chosen by the result.
    """
    n = np.arange(1, len(right) + 1)
    return of_share(np.cumsum(right) / n, n)


def majority(
    train_positive: Bool[np.ndarray, "train"], test_positive: Bool[np.ndarray, "test"]
) -> Proportion:
    """Return the accuracy of the majority-class baseline on the test set.

    Args:
        train_positive: labels from which the majority is taken; a tie counts as positive.
        test_positive: labels to predict.
    """
    answer = 2 * int(train_positive.sum()) >= len(train_positive)
    return proportion(test_positive == answer)


def mcnemar(
    first_right: Bool[np.ndarray, "case"], second_right: Bool[np.ndarray, "case"]
) -> Paired:
    """Return McNemar's exact test for two systems on the same cases.

    Only discordant cases count: under the null hypothesis each falls to either side with
    probability 1/2. The two-sided p is that of the exact binomial distribution, and 1 without
    discordant cases.

    Args:
        first_right: cases on which the first system is correct.
        second_right: the same for the second system.

    References:
        McNemar, 1947.
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
    """Return `mcnemar` for outputs of `answers_right`, without cases that lack a prediction.

    Args:
        first_right: 1, 0 or nan for each case, first system.
        second_right: the same for the second system.
    """
    both = np.isfinite(first_right) & np.isfinite(second_right)
    return mcnemar(first_right[both] == 1, second_right[both] == 1)


def needed_n(
    first: float, second: float, discordant: float | None = None, power: float = 0.8
) -> Count:
    """Return the sample size at which McNemar's test at the 5% level separates two accuracies.

    With d = first - second and s = discordant, the normal approximation is n = (z(0.975) sqrt(s) +
    z(power) sqrt(s - d^2))^2 / d^2. The exact test counts whole cases, so a continuity correction
    of one case is made: 2 / |d| is added to n. From n = 100 on, the exact power is 0.80 to 0.83 for
    a requested 0.8, and up to 0.90 where nearly all disagreements fall to one side.

    Args:
        first: true accuracy of the first system.
        second: true accuracy of the second system.
        discordant: share of cases on which exactly one system is correct; by default that of
            independent errors. Systems that err on the same cases have fewer discordant cases and
            need a smaller sample.
        power: probability that the test finds p < 0.05.

    Returns:
        A whole number, or inf where the accuracies are equal.

    Raises:
        ValueError: no two systems with these accuracies differ on that share of the cases.

    References:
        Connett, Smith and McHugh, 1987.
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
    """Return the confusion matrix of predictions.

    Args:
        positive: true labels.
        predicted: predicted labels.
    """
    kind = 2 * positive.astype(int) + predicted
    return Confusion(np.bincount(kind, minlength=4).reshape(2, 2))
