"""Answers of a decoder behind some solved examples, or none: right, and in the form asked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from seqviz.core.units import Share
from seqviz.stats.estimate import Estimate, ShareEstimate, crossed_difference, share_ci
from seqviz.stats.facts import Facts

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

    def accuracy(self, condition: str, amount: int) -> ShareEstimate:
        """The share of right answers, mean over draws; the interval is for other questions."""
        right = self._of(self.right, condition, amount)
        return share_ci(right.mean(), self.questions, source="questions")

    def form(self, condition: str, amount: int) -> Share:
        """How often a label is the likeliest token of all: the form of the answer is known."""
        return float(self._of(self.named, condition, amount).mean())

    def gain(self, left: tuple[str, int], right: tuple[str, int]) -> Estimate:
        """Accuracy of one condition and amount minus that of another, in 0 to 1.

        The interval is for other questions and other draws of examples.
        """
        first, second = (self._of(self.right, *which) for which in (left, right))
        return crossed_difference(first, second, source="questions and draws")

    def compared(self, condition: str) -> Facts:
        """State what the most examples of a condition change, against none."""
        none, many = ("right", 0), (condition, int(self.amounts[-1]))
        gain = self.gain(many, none)
        return Facts(
            "significant" if gain.is_significant else "null",
            most=many[1], questions=self.questions, draws=self.draws, gain=gain,
            without=self.accuracy(*none), behind=self.accuracy(*many),
            form_without=self.form(*none), form_behind=self.form(*many),
        )  # fmt: skip

    def label_effect(self, condition: str) -> Facts:
        """State how much more right labels give than another condition, with the most examples."""
        amount = int(self.amounts[-1])
        gain = self.gain(("right", amount), (condition, amount))
        variant = "significant" if gain.is_significant else "null"
        return Facts(variant, right=self.accuracy("right", amount), gain=gain)

    def _of(self, what: np.ndarray, condition: str, amount: int) -> np.ndarray:
        at = int(np.flatnonzero(self.amounts == amount)[0])
        return np.asarray(what[CONDITIONS.index(condition), at])
