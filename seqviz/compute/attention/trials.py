"""A hypothesis about attention heads, tried on many texts: shares of weight with their interval."""

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
_CHANCE = 0.95  # quantile of the best head among all that know nothing


@dataclass(frozen=True)
class HeadTrials:
    """Every head of a model on every trial; layers and heads from 0.

    share: what the hypothesis promises to be large. "previous": the weight on the token before, a
    mean over the queries of a sentence. "repeated": random tokens read twice, the weight of the
    second copy on the token that came next the first time. "pronoun": a pair of sentences that
    differ in one word; of the weight that "it" gives the two nouns, the part of the right one, a
    mean over the two sentences.
    other: of a pair the part of the first noun in either sentence, [trial, sentence, layer, head],
    right in sentence 0 and wrong in 1; of repeated tokens the weight on the same token in the first
    copy, as sentence 0; empty otherwise.
    given: the weight on both nouns together (1 where the hypothesis is not of nouns).
    even: what a head gets that gives all tokens alike, or that ignores the word that changes.
    labels: of the trials. decoder: whether a query sees what comes before it only.
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
        """The share of each head, a mean over the trials."""
        return self.share.mean(0)

    def mean_of(self, layer: int, head: int) -> ShareEstimate:
        """The share of one head, a mean over the trials."""
        return mean_ci(self.share[:, layer, head], source="texts").clip(0, 1)

    @property
    def best(self) -> tuple[int, int]:
        """Layer and head of the largest mean."""
        return ranked(self.means, 1)[0]

    def followed(self, layer: int, head: int) -> Proportion:
        """The pairs in which the head gives the right noun more in both sentences."""
        first, second = self.other[:, 0, layer, head], self.other[:, 1, layer, head]
        right = (first > 0.5) & (second < 0.5)
        return of_share(float(right.mean()), len(right))

    def given_to_nouns(self, layer: int, head: int) -> Share:
        """The weight that "it" gives the two nouns together, a mean over the sentences."""
        return float(self.given[layer, head])

    def same_of(self, layer: int, head: int) -> Share:
        """The weight on the same token in the first copy, a mean over the trials."""
        return float(self.other[:, 0, layer, head].mean())

    def compared(self, layer: int, head: int) -> Facts:
        """State what came out for a head and for the best one."""
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
        """What the best of all heads stays below in 95% of cases if none knows anything.

        Of a head that knows nothing each trial is as likely that much above `even` as below it: the
        signs of whole trials are drawn anew, the same for all heads, and the best mean noted
        (a permutation test with the maximum as its statistic; Nichols and Holmes 2002).
        """
        beyond = (self.share - self.even).reshape(len(self.share), -1)
        signs = np.random.RandomState(0).choice([-1.0, 1.0], (_FLIPS, len(beyond)))
        best = (signs @ beyond).max(1) / len(beyond)
        return self.even + float(np.quantile(best, _CHANCE))
