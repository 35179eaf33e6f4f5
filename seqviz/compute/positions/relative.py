"""Positions in the scores: ALiBi, T5, and every scheme under a shift of all positions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.attention.scaled import softmax
from seqviz.compute.positions import rotary, sinusoidal
from seqviz.compute.positions.offsets import by_offset
from seqviz.compute.positions.sinusoidal import (
    MAX_PAIRS_OF_POSITIONS,
    MAX_POSITIONS,
    check_positions,
    check_range,
)
from seqviz.core.errors import UserError
from seqviz.core.units import Exact, Fraction, TwoDigits

SCHEMES = ("none", "sinusoidal", "learned", "rotary", "alibi", "t5")
LEARNED_ROWS = 512  # BERT's table
SLOPE = 0.5  # ALiBi's first head of eight


def alibi_slopes(heads: int) -> Float[np.ndarray, "head"]:
    """Return ALiBi's slope m of each head.

    2^(-8/n), 2^(-16/n), ..., 2^-8 for n heads, n a power of two; otherwise as in the paper's code
    (get_slopes): the slopes of the nearest smaller power of two, then every second of the next
    larger, from its first.

    Raises:
        UserError: fewer than 1 or more than 1024 heads.

    References:
        Press, Smith and Lewis (2022), section 3.
    """
    check_range("heads", heads, 1, 1024, "There can be from {least} to {limit} heads, not {found}.")
    power = 2 ** (heads.bit_length() - 1)
    slopes = 2.0 ** (-8.0 / power * np.arange(1, power + 1))
    more = 2.0 ** (-4.0 / power * np.arange(1, 2 * (heads - power), 2))
    return np.concatenate([slopes, more])


def largest_slope(slopes: Float[np.ndarray, "head"]) -> Exact:
    """Return the slope of the head with the shortest reach."""
    return float(slopes.max())


def smallest_slope(slopes: Float[np.ndarray, "head"]) -> Exact:
    """Return the slope of the head with the longest reach."""
    return float(slopes.min())


def alibi_bias(heads: int, n: int, causal: bool = True) -> Float[np.ndarray, "head query key"]:
    """Return ALiBi's bias -m (i - j) for key j <= i, added to the scores after scaling.

    Args:
        heads: number of heads.
        n: number of positions.
        causal: True for the paper's -inf at keys after the query; False for the symmetric variant
            -m |i - j| that its authors suggest for encoders.

    Raises:
        UserError: as in `alibi_slopes`, or n outside 1 to 2048.
    """
    check_positions(n, MAX_PAIRS_OF_POSITIONS)
    ahead = np.subtract.outer(np.arange(n), np.arange(n))
    distance = np.where(ahead < 0, np.inf, ahead) if causal else np.abs(ahead).astype(float)
    return 0.0 - np.multiply.outer(alibi_slopes(heads), distance)  # 0.0 -: no negative zeros


def t5_bucket(
    relative_position: Int[np.ndarray, "*shape"],
    bidirectional: bool = True,
    buckets: int = 32,
    max_distance: int = 128,
) -> Int[np.ndarray, "*shape"]:
    """Return the bucket of a relative position; one learned bias per bucket and head.

    In the variant of the paper's code (Mesh TensorFlow, _relative_position_bucket). In each
    direction, half the buckets are one distance each, the others grow logarithmically up to
    max_distance, beyond which all share the last.

    Args:
        relative_position: key minus query.
        bidirectional: True where half the buckets are for keys after the query; False where these
            all share bucket 0.
        buckets: number of buckets.
        max_distance: distance beyond which all keys share the last bucket.

    Raises:
        UserError: buckets that cannot be divided so, or max_distance within the exact ones.

    References:
        Raffel et al. (2020), section 2.1.
    """
    one_way = buckets // 2 if bidirectional else buckets
    exact = one_way // 2
    if exact < 1 or (bidirectional and buckets % 2) or max_distance <= exact:
        raise UserError(
            "buckets",
            f"{buckets} buckets up to a distance of {max_distance} cannot be divided: take an even "
            "number of at least 4 and a larger distance.",
            buckets=buckets,
            distance=max_distance,
        )
    after = np.where(relative_position > 0, one_way, 0) if bidirectional else 0
    distance = np.abs(relative_position) if bidirectional else np.maximum(-relative_position, 0)
    # float32 throughout, as in the original: mixed precision moves the limits at powers of two.
    ratio = np.log(np.maximum(distance, exact).astype(np.float32) / np.float32(exact))
    grown = ratio / np.float32(math.log(max_distance / exact)) * np.float32(one_way - exact)
    far = np.minimum(exact + grown.astype(np.int64), one_way - 1)
    return np.asarray(after + np.where(distance < exact, distance, far))


def t5_map(
    n: int, bidirectional: bool = True, buckets: int = 32, max_distance: int = 128
) -> Int[np.ndarray, "query key"]:
    """Return the bucket of every pair among n positions.

    Equal along diagonals: only key minus query counts.

    Args:
        n: number of positions.
        bidirectional: as in `t5_bucket`.
        buckets: as in `t5_bucket`.
        max_distance: as in `t5_bucket`.

    Raises:
        UserError: as in `t5_bucket`, or n outside 1 to 2048.
    """
    check_positions(n, MAX_PAIRS_OF_POSITIONS)
    positions = np.arange(n)
    return t5_bucket(positions[None, :] - positions[:, None], bidirectional, buckets, max_distance)


def t5_last(bidirectional: bool = True, buckets: int = 32, max_distance: int = 128) -> int:
    """Return the distance from which on all keys before a query are in the last bucket.

    Below max_distance, as that bucket is as wide as the others on a logarithmic scale.

    Args:
        bidirectional: as in `t5_bucket`.
        buckets: as in `t5_bucket`.
        max_distance: as in `t5_bucket`.

    Raises:
        UserError: as in `t5_bucket`.
    """
    values = t5_bucket(-np.arange(max_distance + 1), bidirectional, buckets, max_distance)
    return int(np.argmax(values == values.max()))


def buckets_used(values: Int[np.ndarray, "query key"], buckets: int) -> Fraction:
    """Return the number of different buckets in a map, and of all buckets.

    Args:
        values: the map.
        buckets: number of all buckets.
    """
    return len(np.unique(values)), buckets


@dataclass(frozen=True)
class Projections:
    """Matrices of one attention head; vectors are rows, so queries are words @ query."""

    query: Float[np.ndarray, "d_model d_model"]
    key: Float[np.ndarray, "d_model d_model"]
    value: Float[np.ndarray, "d_model d_model"]


@lru_cache(maxsize=16)
def projections(d_model: int, seed: int) -> Projections:
    """Return fixed Gaussian matrices of variance 1/d_model, which keeps norms; read-only.

    Args:
        d_model: width of the vectors.
        seed: seed of the matrices.
    """
    draw = np.random.RandomState(seed).standard_normal((3, d_model, d_model))
    draw /= math.sqrt(d_model)
    draw.flags.writeable = False
    return Projections(*draw)


@lru_cache(maxsize=4)
def learned_table(d_model: int, seed: int) -> Float[np.ndarray, "row d_model"]:
    """Return a read-only Gaussian stand-in for a trained table, with the sinusoids' power 1/2.

    Args:
        d_model: width of the vectors.
        seed: seed of the table.
    """
    samples = np.random.RandomState([seed, 1]).standard_normal((LEARNED_ROWS, d_model))
    samples *= math.sqrt(0.5)
    samples.flags.writeable = False
    return samples


def placed(
    words: Float[np.ndarray, "token d_model"],
    positions: Int[np.ndarray, "token"],
    scheme: str,
    seed: int = 0,
    strength: float = 1.0,
) -> Float[np.ndarray, "token d_model"]:
    """Return words with their position added; the words themselves if the scheme adds none.

    Args:
        words: word vectors.
        positions: position of each word; one beyond the learned table makes its word NaN.
        scheme: one of `SCHEMES`.
        seed: seed of `learned_table`.
        strength: factor of the encoding.

    Raises:
        ValueError: unknown scheme.
    """
    if scheme == "sinusoidal":
        return words + strength * sinusoidal.rows(positions, words.shape[1])
    if scheme == "learned":
        table, inside = learned_table(words.shape[1], seed), positions < LEARNED_ROWS
        rows = strength * table[np.where(inside, positions, 0)]
        return np.where(inside[:, None], words + rows, np.nan)
    if scheme not in SCHEMES:
        raise ValueError(f"Unknown scheme: {scheme}; there are {', '.join(SCHEMES)}.")
    return words


def scores(
    words: Float[np.ndarray, "token d_model"],
    positions: Int[np.ndarray, "token"],
    scheme: str,
    maps: Projections,
    seed: int = 0,
    strength: float = 1.0,
) -> Float[np.ndarray, "query key"]:
    """Return q . k / sqrt(d_model) of one head with a position scheme; no mask.

    Args:
        words: word vectors.
        positions: position of each word.
        scheme: "sinusoidal" and "learned": added to the words before the projections; "rotary": q
            and k rotated (pairs interleaved); "alibi": -|i - j|/2 added (symmetric, slope of the
            first of eight heads); "t5": one Gaussian bias per bucket added.
        maps: projections of the head.
        seed: seed of the learned table and of T5's biases.
        strength: factor of what is added, and of the angle of rotation; 0 is "none".

    Raises:
        ValueError: unknown scheme.
    """
    x = placed(words, positions, scheme, seed, strength)
    q, k = x @ maps.query, x @ maps.key
    if scheme == "rotary":
        q, k = (rotary.rotate(vectors, strength * positions) for vectors in (q, k))
    result = q @ k.T / math.sqrt(words.shape[1])
    offset = positions[None, :] - positions[:, None]
    if scheme == "alibi":
        return result - strength * SLOPE * np.abs(offset)
    if scheme == "t5":
        bias = np.random.RandomState([seed, 2]).standard_normal(32)
        return result + strength * bias[t5_bucket(offset)]
    return result


@dataclass(frozen=True)
class SchemeTerms:
    """Contribution of each scheme to the score of one word with itself, by the two positions.

    Attributes:
        schemes: all but "none".
        terms: the score less the one without positions, divided by sqrt(d_model) as in `scores`.
        spread: largest difference between two pairs of the same offset; where it is rounding, only
            the offset counts.
    """

    schemes: tuple[str, ...]
    terms: Float[np.ndarray, "scheme query key"]
    spread: Float[np.ndarray, "scheme"]

    def spread_of(self, scheme: str) -> TwoDigits:
        """Return the largest difference between two pairs of the same offset."""
        return float(self.spread[self.schemes.index(scheme)])


def position_terms(n: int = 24, d_model: int = 64, seed: int = 0) -> SchemeTerms:
    """Compute the positions' part of the scores, with the same word at n positions.

    Word, projections, and the tables of "learned" and "t5" are Gaussian.

    Args:
        n: number of positions.
        d_model: width of the vectors.
        seed: seed of all of these.

    Raises:
        UserError: n outside 1 to 512, the rows of the learned table.
    """
    check_positions(n, LEARNED_ROWS)
    word = np.random.RandomState([seed, 0]).standard_normal((1, d_model))
    words, positions, maps = np.tile(word, (n, 1)), np.arange(n), projections(d_model, seed)
    without = scores(words, positions, "none", maps, seed)
    terms = np.stack([scores(words, positions, name, maps, seed) - without for name in SCHEMES[1:]])
    offset = np.subtract.outer(positions, positions)
    spread = np.array([by_offset(term, offset).spread for term in terms])
    return SchemeTerms(SCHEMES[1:], terms, spread)


@dataclass(frozen=True)
class ShiftChange:
    """Scores of the same words at positions 0, 1, ... and at the same plus `shift`.

    Attributes:
        size: root-mean-square score.
        largest: greatest change of a score.
        typical: root-mean-square change of a score.
        attention: largest share of weight that moves to other keys in any row (total variation).
        beyond: number of positions beyond the learned table; where it is not 0, their scores and
            every number that compares them are NaN.
    """

    scheme: str
    shift: int
    before: Float[np.ndarray, "query key"]
    after: Float[np.ndarray, "query key"]
    size: float
    largest: float
    typical: float
    attention: float
    beyond: int

    @property
    def rounding(self) -> TwoDigits:
        """Greatest change of a score of a scheme that is invariant to the shift."""
        return self.largest

    @property
    def without_row(self) -> Fraction:
        """Number of positions beyond the learned table, and of all positions."""
        return self.beyond, len(self.before)


def shift_change(
    scheme: str, n: int = 16, shift: int = 1000, d_model: int = 64, seed: int = 0
) -> ShiftChange:
    """Move n words by `shift` positions and compare the scores.

    Words and projections are Gaussian, as is the stand-in of 512 learned rows. Relative schemes are
    invariant. Added encodings are not, not even sinusoidal ones: p_i . p_j alone would depend on
    i - j, but the words' products with positions, and p_i W p_j, do not.

    Args:
        scheme: one of `SCHEMES`.
        n: number of words.
        shift: positions added.
        d_model: width of the vectors.
        seed: seed of words, projections and tables.

    Raises:
        UserError: n outside 1 to 2048, or a shift outside 0 to 100,000.
    """
    check_positions(n, MAX_PAIRS_OF_POSITIONS)
    sentence = "The shift can be from {least} to {limit}, not {found}."
    check_range("shift", shift, 0, MAX_POSITIONS, sentence)
    words = np.random.RandomState([seed, 0]).standard_normal((n, d_model))
    maps = projections(d_model, seed)
    positions = np.arange(n)
    before = scores(words, positions, scheme, maps, seed)
    after = scores(words, positions + shift, scheme, maps, seed)
    change = np.abs(after - before)
    moved = np.abs(softmax(after) - softmax(before)).sum(axis=1).max() / 2
    beyond = int((positions + shift >= LEARNED_ROWS).sum()) if scheme == "learned" else 0
    return ShiftChange(
        scheme, shift, before, after, _rms(before), float(change.max()), _rms(change),
        float(moved), beyond,
    )  # fmt: skip


def _rms(values: Float[np.ndarray, "query key"]) -> float:
    return float(np.sqrt((values**2).mean()))
