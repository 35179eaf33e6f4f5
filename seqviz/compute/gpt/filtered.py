"""Next-token distribution after each filter, and the token drawn from it."""

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
    """Next-token scores after each filter, and a uniform number for the draw.

    Attributes:
        next_token: the unfiltered distribution.
        stages: name of each active filter, in order, and the scores after it.
        u: uniform number in [0, 1).
    """

    next_token: NextToken
    found = deprecated.alias("next_token")
    stages: tuple[tuple[str, Float[np.ndarray, "vocabulary"]], ...]
    u: Probability

    @cached_property
    def scores(self) -> Float[np.ndarray, "vocabulary"]:
        """Scores after all filters; -inf where a token is removed."""
        return self.stages[-1][1] if self.stages else self.next_token.scores.astype(float)

    @cached_property
    def chances(self) -> Float[np.ndarray, "vocabulary"]:
        """Probabilities after all filters."""
        return probabilities(self.scores)

    @cached_property
    def ranked(self) -> Int[np.ndarray, "vocabulary"]:
        """Tokens, most probable first."""
        return order(self.scores)

    @cached_property
    def token(self) -> int:
        """Id of the drawn token."""
        return draw(self.scores, self.u)

    @cached_property
    def ends(self) -> tuple[float, float]:
        """Ends of the drawn token's interval on the cumulative distribution; u lies between them.

        The likeliest token comes first; both ends are in [0, 1].
        """
        cumulated = np.cumsum(self.chances[self.ranked])
        layout = int(np.flatnonzero(self.ranked == self.token)[0])
        return float(cumulated[layout] - self.chances[self.token]), float(cumulated[layout])

    @cached_property
    def entropy(self) -> float:
        """Entropy of the filtered distribution in bits."""
        return float(entropy(self.scores))

    @cached_property
    def cut(self) -> Share:
        """Probability, under the unfiltered model, of all removed tokens together."""
        return float(self.next_token.all_chances[np.isneginf(self.scores)].sum())

    kept = deprecated.alias("n_kept")

    @cached_property
    def n_kept(self) -> int:
        """Number of tokens that are not removed."""
        return filters.count_kept(self.scores)

    def summary(self) -> Facts:
        """State the interval of u, and the tokens, probability and entropy left by the filters."""
        low, high = self.ends
        return Facts(
            u=self.u, low=low, high=high, kept=self.n_kept, cut=self.cut, entropy=self.entropy,
            before=self.next_token.entropy,
        )  # fmt: skip

    def cut_by(self, token: int) -> str:
        """Return the name of the filter that removes a token; "" where none does."""
        return next((name for name, scores in self.stages if np.isneginf(scores[token])), "")


def filtered(next_token: NextToken, chain: Chain, seed: int = 0, number: int = 1) -> Filtered:
    """Filter the scores and draw with one uniform number of a seed.

    Args:
        next_token: the unfiltered distribution.
        chain: the filters.
        seed: seed of `uniforms`.
        number: index of the uniform number, from 1.
    """
    stages = chain.stages(next_token.scores, next_token.text_ids)
    return Filtered(next_token, stages, uniforms(seed, number)[-1])


def first_words(
    distribution: Filtered, seed: int = 0, count: int = 200, bars: int = 18
) -> ManyDraws:
    """Draw with the first numbers of a seed and count the likeliest remaining tokens.

    Args:
        distribution: the filtered distribution.
        seed: seed of `uniforms`.
        count: number of draws.
        bars: largest number of tokens with a bar.
    """
    return many_draws(distribution.scores, uniforms(seed, count), min(bars, distribution.n_kept))


def largest_difference(left: Filtered, right: Filtered) -> Probability:
    """Return the largest absolute difference of a token's probability between two distributions.

    Args:
        left: a distribution.
        right: the other one.
    """
    return float(np.abs(left.chances - right.chances).max())
