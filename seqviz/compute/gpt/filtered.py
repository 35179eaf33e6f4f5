"""The distribution of one next token on its way through filters, and the token drawn from it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.gpt import filters
from seqviz.compute.gpt.continuation import NextToken
from seqviz.compute.gpt.draw import (
    ManyDraws,
    draw,
    entropy,
    many_draws,
    order,
    probabilities,
    uniforms,
)
from seqviz.compute.gpt.filters import Chain
from seqviz.core import deprecated
from seqviz.core.units import Probability, Share
from seqviz.stats.facts import Facts


@dataclass(frozen=True)
class Filtered:
    """What filters make of the scores of a next token, and what a number u draws from them.

    stages: the name of each filter that is on, in order, and the scores behind it. u: in [0, 1).
    """

    next_token: NextToken
    found = deprecated.alias("next_token")
    stages: tuple[tuple[str, Float[np.ndarray, "vocabulary"]], ...]
    u: Probability

    @cached_property
    def scores(self) -> Float[np.ndarray, "vocabulary"]:
        """Behind all filters, -inf where a token is cut."""
        return self.stages[-1][1] if self.stages else self.next_token.scores.astype(float)

    @cached_property
    def chances(self) -> Float[np.ndarray, "vocabulary"]:
        """The probabilities that are drawn from."""
        return probabilities(self.scores)

    @cached_property
    def ranked(self) -> Int[np.ndarray, "vocabulary"]:
        """The tokens from the likeliest down."""
        return order(self.scores)

    @cached_property
    def token(self) -> int:
        """The id of the drawn token."""
        return draw(self.scores, self.u)

    @cached_property
    def ends(self) -> tuple[float, float]:
        """Where the drawn token begins and ends on the cumulative bar, the likeliest token first.

        Each in 0 to 1; u lies between them.
        """
        cumulated = np.cumsum(self.chances[self.ranked])
        layout = int(np.flatnonzero(self.ranked == self.token)[0])
        return float(cumulated[layout] - self.chances[self.token]), float(cumulated[layout])

    @cached_property
    def entropy(self) -> float:
        """Of the distribution that is drawn from, in bits."""
        return float(entropy(self.scores))

    @cached_property
    def cut(self) -> Share:
        """The probability, by the model, of all tokens that can no longer be drawn."""
        return float(self.next_token.all_chances[np.isneginf(self.scores)].sum())

    kept = deprecated.alias("n_kept")

    @cached_property
    def n_kept(self) -> int:
        """How many tokens can still be drawn."""
        return filters.count_kept(self.scores)

    def summary(self) -> Facts:
        """State where u falls, and what filters leave of the distribution."""
        low, high = self.ends
        return Facts(
            u=self.u, low=low, high=high, kept=self.n_kept, cut=self.cut, entropy=self.entropy,
            before=self.next_token.entropy,
        )  # fmt: skip

    def cut_by(self, token: int) -> str:
        """The name of the filter that cuts a token, "" where none does."""
        return next((name for name, scores in self.stages if np.isneginf(scores[token])), "")


def filtered(next_token: NextToken, chain: Chain, seed: int = 0, number: int = 1) -> Filtered:
    """Filter the scores and draw with number `number`, from 1, of a seed (`uniforms`)."""
    stages = chain.stages(next_token.scores, next_token.text_ids)
    return Filtered(next_token, stages, uniforms(seed, number)[-1])


def first_words(
    distribution: Filtered, seed: int = 0, count: int = 200, bars: int = 18
) -> ManyDraws:
    """Draw with the first numbers of a seed, and count by the likeliest tokens that are left."""
    return many_draws(distribution.scores, uniforms(seed, count), min(bars, distribution.n_kept))


def largest_difference(left: Filtered, right: Filtered) -> Probability:
    """The largest difference of a token's probability between both: 0 where they are alike."""
    return float(np.abs(left.chances - right.chances).max())
