"""Answers of a decoder behind some solved examples, or none: right, and in the form asked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from seqviz.core.units import Interval, Share, ShareEnds
from seqviz.stats.proportions import of_share

CONDITIONS = ("right", "random", "other")


@dataclass(frozen=True)
class FewShotAccuracy:
    """Is a review positive or negative? The same questions behind 0, 1, 2 ... solved examples.

    amounts: of examples. right, positive: whether the likelier of both labels is the right one,
    and whether it is "positive". named: whether one of both is the model's likeliest token of all.
    Of `CONDITIONS`: "right" examples; with labels thrown by a coin, "random"; and right ones in
    another layout than the question, "other". Without examples all three are one. mass: the
    probability of both labels together, mean over questions.
    """

    amounts: Int[np.ndarray, "amount"]
    right: Bool[np.ndarray, "condition amount draw question"]
    positive: Bool[np.ndarray, "condition amount draw question"]
    named: Bool[np.ndarray, "condition amount draw question"]
    mass: Float[np.ndarray, "condition amount draw"]

    @property
    def draws(self) -> int:
        """How many times other examples were drawn."""
        return self.right.shape[2]

    @property
    def questions(self) -> int:
        """How many reviews were judged behind each draw."""
        return self.right.shape[3]

    def accuracy(self, condition: str, amount: int) -> Share:
        """The share of right answers, mean over draws."""
        return float(self._of(self.right, condition, amount).mean())

    def ends(self, condition: str, amount: int) -> ShareEnds:
        """95% interval of the accuracy (Wilson): other questions, the draws as they are."""
        proportion = of_share(self.accuracy(condition, amount), self.questions)
        return proportion.low, proportion.high

    def form(self, condition: str, amount: int) -> Share:
        """How often a label is the likeliest token of all: the form of the answer is known."""
        return float(self._of(self.named, condition, amount).mean())

    def gain(self, left: tuple[str, int], right: tuple[str, int]) -> float:
        """Accuracy of one condition and amount minus that of another, in 0 to 1."""
        return float(self._differences(left, right).mean())

    def gain_ends(self, left: tuple[str, int], right: tuple[str, int]) -> Interval:
        """95% interval of that, for other questions and other draws of examples.

        The variances of both means are added, which is rather too wide than too narrow (Owen,
        2007), with Student's t of the fewer. Of one draw: for other questions alone.
        """
        from scipy.stats import t

        each = self._differences(left, right)
        parts = [each.mean(axis) for axis in (0, 1)]
        parts = [part for part in parts if len(part) > 1]
        squares = sum(float(part.var(ddof=1)) / len(part) for part in parts)
        reach = t.ppf(0.975, min(map(len, parts)) - 1) * np.sqrt(squares)
        return float(each.mean() - reach), float(each.mean() + reach)

    def is_significant(self, left: tuple[str, int], right: tuple[str, int]) -> bool:
        """Whether the interval of the gain leaves out 0: else no difference is shown."""
        low, high = self.gain_ends(left, right)
        return low > 0 or high < 0

    def _differences(
        self, left: tuple[str, int], right: tuple[str, int]
    ) -> Float[np.ndarray, "draw question"]:
        first, second = (self._of(self.right, *which).astype(float) for which in (left, right))
        return np.asarray(first - second)

    def _of(self, what: np.ndarray, condition: str, amount: int) -> np.ndarray:
        at = int(np.flatnonzero(self.amounts == amount)[0])
        return np.asarray(what[CONDITIONS.index(condition), at])
