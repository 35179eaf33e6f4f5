"""Tokens drawn from the scores of a vocabulary with given numbers between 0 and 1.

The numbers are the same in Python and in a browser: Philox4x32-10, made of products of 32-bit
numbers alone. Every number is had from its place without those before.

References:
    Salmon et al., 2011, Parallel random numbers: as easy as 1, 2, 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from jaxtyping import Float, Int, UInt32

from seqviz.core.units import Fraction, Share
from seqviz.stats.facts import Facts

EXACT = 200  # scores that are kept in full precision
_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_STEPS = (0x9E3779B9, 0xBB67AE85)  # added to the key from round to round
_ROUNDS = 10
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


class Filters(Protocol):
    """What changes the scores before a draw: temperature, top-k, top-p and so on.

    A frozen dataclass, so that equal ones are one key of the cache of the class.
    """

    def __call__(
        self, scores: Float[np.ndarray, "vocabulary"], ids: Sequence[int]
    ) -> Float[np.ndarray, "vocabulary"]:
        """The scores changed, -inf where a token is cut. ids: of prompt and text so far."""
        ...


def scores(logits: Float[np.ndarray, "vocabulary"]) -> Float[np.ndarray, "vocabulary"]:
    """Logits: the first `EXACT` in float32, the others rounded to half precision.

    So they travel to a browser as they are, and every draw from them is the same there. They keep
    their level, on which a penalty of repetition depends.
    """
    result = logits.astype(np.float32)
    first = foremost(result, EXACT)
    halved = np.minimum(result.astype(np.float16).astype(np.float32), result[first[-1]])
    halved[first] = result[first]
    return halved


def order(scores: Float[np.ndarray, "vocabulary"]) -> Int[np.ndarray, "rank"]:
    """The tokens from the highest score down; of equals the one of the smaller number first.

    Those that are cut, mostly all but a few, need no sorting.
    """
    none = np.isneginf(scores)
    left = np.flatnonzero(~none)
    return np.concatenate([left[np.argsort(-scores[left], kind="stable")], np.flatnonzero(none)])


def foremost(scores: Float[np.ndarray, "vocabulary"], count: int) -> Int[np.ndarray, "rank"]:
    """The first of that order, without sorting all."""
    if count >= len(scores):
        return order(scores)
    minimum = np.partition(scores, -count)[-count]
    some = np.flatnonzero(scores >= minimum)
    return some[order(scores[some])][:count]


def probabilities(
    scores: Float[np.ndarray, "*rows vocabulary"],
) -> Float[np.ndarray, "*rows vocabulary"]:
    """Softmax over the last axis, in float64; 0 where a score is -inf."""
    raised = np.exp(scores.astype(float) - scores.max(-1, keepdims=True))
    return np.asarray(raised / raised.sum(-1, keepdims=True))


def log_probabilities(
    scores: Float[np.ndarray, "*rows vocabulary"],
) -> Float[np.ndarray, "*rows vocabulary"]:
    """Natural logarithms of the same."""
    less = scores.astype(float) - scores.max(-1, keepdims=True)
    return np.asarray(less - np.log(np.exp(less).sum(-1, keepdims=True)))


def draw(scores: Float[np.ndarray, "vocabulary"], u: float) -> int:
    """The token on which u falls where probabilities stand side by side from the highest down.

    u: in [0, 1). The inverse of the cumulative distribution, so one u gives one token everywhere.
    """
    return int(draws(scores, (u,))[0])


def draws(
    scores: Float[np.ndarray, "vocabulary"], uniforms: Sequence[float]
) -> Int[np.ndarray, "draw"]:
    """A token for each of the numbers, as in `draw`."""
    ranked = order(scores)
    cumulated = np.cumsum(probabilities(scores)[ranked])
    possible = int(np.isfinite(scores).sum())
    indices = np.searchsorted(cumulated, np.asarray(uniforms), side="right")
    return np.asarray(ranked[np.minimum(indices, possible - 1)])


def entropy(scores: Float[np.ndarray, "*rows vocabulary"]) -> Float[np.ndarray, "*rows"]:
    """Of the distribution, in bits."""
    logs = log_probabilities(scores)
    finite = np.where(np.isfinite(logs), logs, 0.0)
    return np.asarray(-(np.exp(logs) * finite).sum(-1) / np.log(2))


def philox(
    counters: UInt32[np.ndarray, "block 4"], key: tuple[int, int]
) -> UInt32[np.ndarray, "block 4"]:
    """Four random 32-bit numbers for each counter of four, under a key of two."""
    words = [counters[:, k].astype(np.uint64) for k in range(4)]
    for turn in range(_ROUNDS):
        a, b = np.uint64(_MULTIPLIERS[0]) * words[0], np.uint64(_MULTIPLIERS[1]) * words[2]
        keys = [np.uint64((part + turn * step) % 2**32)
                for part, step in zip(key, _STEPS, strict=True)]  # fmt: skip
        words = [(b >> _HALF) ^ words[1] ^ keys[0], b & _LOW,
                 (a >> _HALF) ^ words[3] ^ keys[1], a & _LOW]  # fmt: skip
    return np.stack(words, 1).astype(np.uint32)


def uniforms(seed: int, count: int, stream: int = 0) -> tuple[float, ...]:
    """The first `count` numbers of a seed, multiples of 2^-32 in [0, 1).

    seed, stream: 32 bits each; other streams of a seed are other numbers.
    """
    counters = np.zeros((count, 4), np.uint32)
    counters[:, 0], counters[:, 1] = np.arange(count), stream
    return tuple((philox(counters, (seed, 0))[:, 0] / 2**32).tolist())


@dataclass(frozen=True)
class ManyDraws:
    """Draws with replacement: counts are multinomial.

    ids: the likeliest tokens, from the first down; each has a bar, and all others have the last one
    together. bars: of each draw its bar, in the order of the draws. probability: of each bar.
    """

    ids: Int[np.ndarray, "token"]
    bars: Int[np.ndarray, "draw"]
    probability: Float[np.ndarray, "bar"]

    def counts(self, first: int | None = None) -> Int[np.ndarray, "bar"]:
        """How often each bar came among the first draws, or among all."""
        return np.bincount(self.bars[:first], minlength=len(self.probability))

    def band(self, first: int | None = None) -> tuple[Int[np.ndarray, "bar"], ...]:
        """Fewest and most draws of each bar by itself in 95% of all such series (binomial)."""
        low, high = self._counts(first).ppf([[0.025], [0.975]]).astype(int)
        return low, high

    def within(self, first: int | None = None) -> Fraction:
        """Of all bars, those whose count lies in their band."""
        low, high = self.band(first)
        counts = self.counts(first)
        return int(((low <= counts) & (counts <= high)).sum()), len(counts)

    def distance(self, first: int | None = None) -> Share:
        """Between the shares of the draws and the probabilities: total variation, 0 to 1."""
        counts = self.counts(first)
        return float(np.abs(counts / counts.sum() - self.probability).sum() / 2)

    def expected_within(self, first: int | None = None) -> float:
        """How many bars lie in their bands on average; counts are whole, so 95% or more."""
        counts, (low, high) = self._counts(first), self.band(first)
        return float((counts.cdf(high) - counts.cdf(low - 1)).sum())

    def compared(self, first: int | None = None) -> Facts:
        """State how the first draws, or all, agree with the probabilities."""
        counts, (within, bars) = self.counts(first), self.within(first)
        return Facts(
            count=int(counts.sum()), within=within, bars=bars,
            expected=self.expected_within(first), distance=self.distance(first),
            share=counts[0] / counts.sum(), chance=float(self.probability[0]),
        )  # fmt: skip

    def _counts(self, first: int | None) -> Any:
        """Return the distribution of each count by itself."""
        from scipy.stats import binom

        return binom(len(self.bars[:first]), np.clip(self.probability, 0, 1))


def many_draws(
    scores: Float[np.ndarray, "vocabulary"], uniforms: Sequence[float], bars: int = 20
) -> ManyDraws:
    """A token for each number (`draw.draw`), counted by the likeliest tokens and the rest."""
    ids, likely = foremost(scores, bars), probabilities(scores)
    position = np.full(len(scores), len(ids))
    position[ids] = np.arange(len(ids))
    rest = max(1.0 - float(likely[ids].sum()), 0.0)
    return ManyDraws(ids, position[draws(scores, uniforms)], np.append(likely[ids], rest))
