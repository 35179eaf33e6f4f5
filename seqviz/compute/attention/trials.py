"""Tests of hypotheses about attention heads on many texts: shares of weight with intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seqviz.compute.attention.patterns import NAMED_FROM, ranked
from seqviz.core.units import Share
from seqviz.stats.estimate import ShareEstimate, mean_ci
from seqviz.stats.facts import Facts
from seqviz.stats.proportions import Proportion, of_share

HYPOTHESES = ("pronoun", "previous", "repeated")
_FLIPS = 2000
_CHANCE = 0.95  # quantile of the best mean of all heads under the null hypothesis


@dataclass(frozen=True)
class HeadTrials:
    """Weights of every head of a model in every trial; layers and heads from 0.

    Attributes:
        share: large where the hypothesis is true. "previous": the weight on the token before, a
            mean over the queries of a sentence. "repeated": random tokens read twice, the weight of
            the second copy on the token that came next the first time. "pronoun": a pair of
            sentences that differ in one word; of the weight of "it" on the two nouns, the part of
            the right one, a mean over the two sentences.
        other: of a pair the part of the first noun in either sentence, right in sentence 0 and
            wrong in 1; of repeated tokens the weight on the same token in the first copy, as
            sentence 0; empty otherwise.
        given: weight on both nouns together (1 where the hypothesis is not about nouns).
        even: share of a head with equal weights, or that ignores the differing word.
        decoder: True where a query attends only to what comes before it.
        fraction: share of the trials that are done.
    """

    hypothesis: str
    share: Float[np.ndarray, "trial layer head"]
    other: Float[np.ndarray, "trial sentence layer head"]
    given: Float[np.ndarray, "layer head"]
    even: float
    labels: tuple[str, ...]
    decoder: bool
    fraction: float

    @property
    def means(self) -> Float[np.ndarray, "layer head"]:
        """Mean share of each head over the trials."""
        return self.share.mean(0)

    def mean_of(self, layer: int, head: int) -> ShareEstimate:
        """Return the mean share of one head over the trials.

        Args:
            layer: layer of the head.
            head: number of the head.
        """
        return mean_ci(self.share[:, layer, head], source="texts").clip(0, 1)

    @property
    def best(self) -> tuple[int, int]:
        """Layer and head of the largest mean."""
        return ranked(self.means, 1)[0]

    def followed(self, layer: int, head: int) -> Proportion:
        """Return the share of pairs in which the head gives the right noun more in both sentences.

        Args:
            layer: layer of the head.
            head: number of the head.
        """
        first, second = self.other[:, 0, layer, head], self.other[:, 1, layer, head]
        right = (first > 0.5) & (second < 0.5)
        return of_share(float(right.mean()), len(right))

    def given_to_nouns(self, layer: int, head: int) -> Share:
        """Return the weight of "it" on the two nouns together, a mean over the sentences.

        Args:
            layer: layer of the head.
            head: number of the head.
        """
        return float(self.given[layer, head])

    def same_of(self, layer: int, head: int) -> Share:
        """Return the weight on the same token in the first copy, a mean over the trials.

        Args:
            layer: layer of the head.
            head: number of the head.
        """
        return float(self.other[:, 0, layer, head].mean())

    def compared(self, layer: int, head: int) -> Facts:
        """State the results of a head and of the best one.

        Args:
            layer: layer of the head.
            head: number of the head.
        """
        largest = self.mean_of(*self.best).mean
        facts = Facts(
            "previous", label=f"{layer}.{head}", share=self.mean_of(layer, head),
            texts=len(self.labels), even=self.even, best="{}.{}".format(*self.best),
            most=largest, heads=self.means.size, half=int((self.means >= NAMED_FROM).sum()),
        )  # fmt: skip
        if self.hypothesis == "pronoun":
            bound, blind = self.best_by_chance, self.decoder and np.ptp(self.share) < 1e-6
            facts.update(chance=bound, followed=self.followed(layer, head).correct,
                         given=self.given_to_nouns(layer, head))  # fmt: skip
            verdict = "blind" if blind else "found" if largest > bound else "none"
            facts.variant = f"pronoun_{verdict}"
        elif self.hypothesis == "repeated":
            same = ranked(self.other[:, 0].mean(0), 1)[0]
            facts.update(same="{}.{}".format(*same), same_share=self.same_of(*same))
            facts.variant = f"repeated_{'found' if largest >= NAMED_FROM else 'none'}"
        return facts

    @property
    def best_by_chance(self) -> Share:
        """95% quantile of the largest mean over the heads under the null hypothesis.

        A permutation test with the maximum as its statistic (Nichols and Holmes 2002): under the
        null each trial is as likely that much above `even` as below it, so the signs of whole
        trials are drawn at random, the same for all heads.
        """
        beyond = (self.share - self.even).reshape(len(self.share), -1)
        signs = np.random.RandomState(0).choice([-1.0, 1.0], (_FLIPS, len(beyond)))
        best = (signs @ beyond).max(1) / len(beyond)
        return self.even + float(np.quantile(best, _CHANCE))
