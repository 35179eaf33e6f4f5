"""Sampling of tokens from vocabulary scores with given uniform numbers.

The uniform numbers are the same in Python and in a browser: Philox4x32-10 needs only products of
32-bit numbers. It is counter-based: each number is computed from its index, without those before.

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

EXACT = 200  # highest scores, stored in full precision
_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_STEPS = (0x9E3779B9, 0xBB67AE85)  # added to the key in each round
_ROUNDS = 10
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


class Filters(Protocol):
    """Logits processor: temperature, top-k, top-p and other changes of scores before a draw.

    Implementations are frozen dataclasses, so that equal ones share a key of the process-wide
    cache.
    """

    def __call__(
        self, scores: Float[np.ndarray, "vocabulary"], ids: Sequence[int]
    ) -> Float[np.ndarray, "vocabulary"]:
        """Return the changed scores; -inf where a token is removed.

        Args:
            scores: scores of the vocabulary.
            ids: tokens of the prompt and the text so far.
        """
        ...


def scores(logits: Float[np.ndarray, "vocabulary"]) -> Float[np.ndarray, "vocabulary"]:
    """Return logits with the highest `EXACT` in float32 and the others rounded to float16.

    A browser receives exactly these scores, so every draw from them is the same there. They are not
    shifted, because a repetition penalty depends on their sign.
    """
    result = logits.astype(np.float32)
    first = foremost(result, EXACT)
    halved = np.minimum(result.astype(np.float16).astype(np.float32), result[first[-1]])
    halved[first] = result[first]
    return halved


def order(scores: Float[np.ndarray, "vocabulary"]) -> Int[np.ndarray, "rank"]:
    """Return all tokens by descending score; among equal scores the smaller id comes first.

    Removed tokens (-inf), usually nearly all, are not sorted.
    """
    none = np.isneginf(scores)
    left = np.flatnonzero(~none)
    return np.concatenate([left[np.argsort(-scores[left], kind="stable")], np.flatnonzero(none)])


def foremost(scores: Float[np.ndarray, "vocabulary"], count: int) -> Int[np.ndarray, "rank"]:
    """Return the first tokens of `order`, without sorting all.

    Args:
        scores: scores of the vocabulary.
        count: number of tokens.
    """
    if count >= len(scores):
        return order(scores)
    minimum = np.partition(scores, -count)[-count]
    some = np.flatnonzero(scores >= minimum)
    return some[order(scores[some])][:count]


def probabilities(
    scores: Float[np.ndarray, "*rows vocabulary"],
) -> Float[np.ndarray, "*rows vocabulary"]:
    """Return the softmax over the last axis, in float64; 0 where a score is -inf."""
    raised = np.exp(scores.astype(float) - scores.max(-1, keepdims=True))
    return np.asarray(raised / raised.sum(-1, keepdims=True))


def log_probabilities(
    scores: Float[np.ndarray, "*rows vocabulary"],
) -> Float[np.ndarray, "*rows vocabulary"]:
    """Return the natural logarithms of `probabilities`."""
    less = scores.astype(float) - scores.max(-1, keepdims=True)
    return np.asarray(less - np.log(np.exp(less).sum(-1, keepdims=True)))


def draw(scores: Float[np.ndarray, "vocabulary"], u: float) -> int:
    """Sample a token with one uniform number, by inverse transform sampling.

    The probabilities are cumulated in the order of `order`, so one u gives one token everywhere.

    Args:
        scores: scores of the vocabulary.
        u: uniform number in [0, 1).
    """
    return int(draws(scores, (u,))[0])


def draws(
    scores: Float[np.ndarray, "vocabulary"], uniforms: Sequence[float]
) -> Int[np.ndarray, "draw"]:
    """Return one token for each uniform number, as in `draw`.

    Args:
        scores: scores of the vocabulary.
        uniforms: numbers in [0, 1).
    """
    ranked = order(scores)
    cumulated = np.cumsum(probabilities(scores)[ranked])
    possible = int(np.isfinite(scores).sum())
    indices = np.searchsorted(cumulated, np.asarray(uniforms), side="right")
    return np.asarray(ranked[np.minimum(indices, possible - 1)])


def entropy(scores: Float[np.ndarray, "*rows vocabulary"]) -> Float[np.ndarray, "*rows"]:
    """Return the entropy of the softmax distribution in bits."""
    logs = log_probabilities(scores)
    finite = np.where(np.isfinite(logs), logs, 0.0)
    return np.asarray(-(np.exp(logs) * finite).sum(-1) / np.log(2))


def philox(
    counters: UInt32[np.ndarray, "block 4"], key: tuple[int, int]
) -> UInt32[np.ndarray, "block 4"]:
    """Return four random 32-bit numbers for each counter (Philox4x32-10).

    Args:
        counters: counters of four 32-bit words.
        key: two 32-bit words.
    """
    words = [counters[:, k].astype(np.uint64) for k in range(4)]
    for turn in range(_ROUNDS):
        a, b = np.uint64(_MULTIPLIERS[0]) * words[0], np.uint64(_MULTIPLIERS[1]) * words[2]
        keys = [np.uint64((part + turn * step) % 2**32)
                for part, step in zip(key, _STEPS, strict=True)]  # fmt: skip
        words = [(b >> _HALF) ^ words[1] ^ keys[0], b & _LOW,
                 (a >> _HALF) ^ words[3] ^ keys[1], a & _LOW]  # fmt: skip
    return np.stack(words, 1).astype(np.uint32)


def uniforms(seed: int, count: int, stream: int = 0) -> tuple[float, ...]:
    """Return the first uniform numbers of a seed: multiples of 2^-32 in [0, 1).

    Args:
        seed: 32 bits.
        count: how many.
        stream: 32 bits; another stream of a seed has other numbers.
    """
    counters = np.zeros((count, 4), np.uint32)
    counters[:, 0], counters[:, 1] = np.arange(count), stream
    return tuple((philox(counters, (seed, 0))[:, 0] / 2**32).tolist())


@dataclass(frozen=True)
class ManyDraws:
    """Draws with replacement; their counts are multinomial.

    Attributes:
        ids: the likeliest tokens, most probable first, one bar each; the last bar is all other
            tokens.
        bars: bar of each draw, in the order of the draws.
    """

    ids: Int[np.ndarray, "token"]
    bars: Int[np.ndarray, "draw"]
    probability: Float[np.ndarray, "bar"]

    def counts(self, first: int | None = None) -> Int[np.ndarray, "bar"]:
        """Return the number of draws in each bar, among the first draws or all."""
        return np.bincount(self.bars[:first], minlength=len(self.probability))

    def band(self, first: int | None = None) -> tuple[Int[np.ndarray, "bar"], ...]:
        """Return the 2.5% and 97.5% quantiles of each bar's count by itself (binomial)."""
        low, high = self._counts(first).ppf([[0.025], [0.975]]).astype(int)
        return low, high

    def within(self, first: int | None = None) -> Fraction:
        """Return the number of bars with a count in its band, and the number of all bars."""
        low, high = self.band(first)
        counts = self.counts(first)
        return int(((low <= counts) & (counts <= high)).sum()), len(counts)

    def distance(self, first: int | None = None) -> Share:
        """Return the total variation distance between shares and probabilities of the bars.

        In [0, 1]. All tokens without a bar of their own are one bar, so the distance over single
        tokens is larger.
        """
        counts = self.counts(first)
        return float(np.abs(counts / counts.sum() - self.probability).sum() / 2)

    def expected_within(self, first: int | None = None) -> float:
        """Return the expected number of bars in their bands: 95% or more, as counts are whole."""
        counts, (low, high) = self._counts(first), self.band(first)
        return float((counts.cdf(high) - counts.cdf(low - 1)).sum())

    def compared(self, first: int | None = None) -> Facts:
        """State the agreement of the first draws, or all, with the probabilities."""
        counts, (within, bars) = self.counts(first), self.within(first)
        return Facts(
            count=int(counts.sum()), within=within, bars=bars,
            expected=self.expected_within(first), distance=self.distance(first),
            share=counts[0] / counts.sum(), chance=float(self.probability[0]),
        )  # fmt: skip

    def _counts(self, first: int | None) -> Any:
        """Return the binomial distribution of each count by itself."""
        from scipy.stats import binom

        return binom(len(self.bars[:first]), np.clip(self.probability, 0, 1))


def many_draws(
    scores: Float[np.ndarray, "vocabulary"], uniforms: Sequence[float], bars: int = 20
) -> ManyDraws:
    """Draw a token for each uniform number and count the likeliest tokens and the rest.

    Args:
        scores: scores of the vocabulary.
        uniforms: numbers in [0, 1), as for `draw`.
        bars: number of likeliest tokens with a bar.
    """
    ids, likely = foremost(scores, bars), probabilities(scores)
    position = np.full(len(scores), len(ids))
    position[ids] = np.arange(len(ids))
    rest = max(1.0 - float(likely[ids].sum()), 0.0)
    return ManyDraws(ids, position[draws(scores, uniforms)], np.append(likely[ids], rest))
