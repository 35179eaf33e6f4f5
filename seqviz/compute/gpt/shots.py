"""Few-shot classification with a decoder: accuracy, and form of the answer."""

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
    """Few-shot sentiment classification: the same reviews after 0, 1, 2, ... solved examples.

    Conditions (`CONDITIONS`): "right", correct examples; "random", labels drawn at random; "other",
    correct examples in another layout than the question. Without examples all three are the same.

    Attributes:
        amounts: numbers of examples.
        right: True where the likelier of both labels is correct.
        positive: True where the likelier label is "positive".
        named: True where one of both labels is the likeliest token of the vocabulary.
        mass: total probability of both labels, mean over questions.
    """

    amounts: Int[np.ndarray, "amount"]
    right: Bool[np.ndarray, "condition amount draw question"]
    positive: Bool[np.ndarray, "condition amount draw question"]
    named: Bool[np.ndarray, "condition amount draw question"]
    mass: Float[np.ndarray, "condition amount draw"]

    @property
    def draws(self) -> int:
        """Number of draws of other examples."""
        return self.right.shape[2]

    @property
    def questions(self) -> int:
        """Number of reviews judged in each draw."""
        return self.right.shape[3]

    def accuracy(self, condition: str, amount: int) -> ShareEstimate:
        """Return the share of correct answers, mean over draws; the interval is over questions.

        Args:
            condition: one of `CONDITIONS`.
            amount: number of examples.
        """
        right = self._of(self.right, condition, amount)
        return share_ci(right.mean(), self.questions, source="questions")

    def form(self, condition: str, amount: int) -> Share:
        """Return the share of questions with a label as the likeliest token of the vocabulary.

        Args:
            condition: one of `CONDITIONS`.
            amount: number of examples.
        """
        return float(self._of(self.named, condition, amount).mean())

    def gain(self, left: tuple[str, int], right: tuple[str, int]) -> Estimate:
        """Return the difference of two accuracies, `left` minus `right`, as a share.

        The interval is over questions and draws of examples.

        Args:
            left: condition and number of examples.
            right: the baseline, likewise.
        """
        first, second = (self._of(self.right, *which) for which in (left, right))
        return crossed_difference(first, second, source="questions and draws")

    def compared(self, condition: str) -> Facts:
        """State the change of accuracy from no examples to the largest number, in a condition."""
        none, many = ("right", 0), (condition, int(self.amounts[-1]))
        gain = self.gain(many, none)
        return Facts(
            "significant" if gain.is_significant else "null",
            most=many[1], questions=self.questions, draws=self.draws, gain=gain,
            without=self.accuracy(*none), behind=self.accuracy(*many),
            form_without=self.form(*none), form_behind=self.form(*many),
        )  # fmt: skip

    def label_effect(self, condition: str) -> Facts:
        """State the gain of correct labels over another condition, with the most examples."""
        amount = int(self.amounts[-1])
        gain = self.gain(("right", amount), (condition, amount))
        variant = "significant" if gain.is_significant else "null"
        return Facts(variant, right=self.accuracy("right", amount), gain=gain)

    def _of(self, what: np.ndarray, condition: str, amount: int) -> np.ndarray:
        at = int(np.flatnonzero(self.amounts == amount)[0])
        return np.asarray(what[CONDITIONS.index(condition), at])
