"""Rotary position embedding (RoPE): queries and keys are turned, so scores know only distance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Complex, Float, Int, Num

from seqviz.compute.positions import sinusoidal
from seqviz.compute.positions.offsets import OffsetCurve, by_offset
from seqviz.compute.positions.sinusoidal import (
    BASE,
    LAYOUTS,
    MAX_PAIRS_OF_POSITIONS,
    MAX_POSITIONS,
    check_positions,
)
from seqviz.core.errors import UserError
from seqviz.core.units import TwoDigits
from seqviz.stats.facts import Facts


def frequencies(d_k: int, base: float = BASE) -> Float[np.ndarray, "pair"]:
    """base^(-2i/d_k) radians per position; Su et al. (2021), RoFormer, equation 15.

    Raises UserError for an odd or non-positive d_k, whose last dimension has no partner to turn
    with, and as the sinusoidal `frequencies`, which these are.
    """
    if d_k < 2 or d_k % 2:
        raise UserError(
            "odd_head",
            f"Rotation works on pairs: the head needs an even number of dimensions, not {d_k}.",
            width=d_k,
        )
    return sinusoidal.frequencies(d_k, base)


def rotate(
    vectors: Float[np.ndarray, "*rest position d_k"],
    positions: Num[np.ndarray, "position"],
    base: float = BASE,
    layout: str = "interleaved",
) -> Float[np.ndarray, "*rest position d_k"]:
    """Turn each pair of a query or key by position x frequency, counterclockwise.

    (a, b) becomes (a cos - b sin, a sin + b cos). layout="interleaved": pairs (2i, 2i+1), as in
    RoFormer (equation 34) and GPT-J; "halves": pairs (i, i + d_k/2), as in GPT-NeoX and Llama. A
    checkpoint works only with the layout it was trained with, though both are the same up to an
    order of dimensions. Any positions, negative ones too.

    Raises UserError as `frequencies` does, ValueError for an unknown layout.
    """
    angle = np.multiply.outer(positions, frequencies(vectors.shape[-1], base))
    cos, sin = np.cos(angle), np.sin(angle)
    a, b = _pairs(vectors, layout)
    turned = (a * cos - b * sin, a * sin + b * cos)
    if layout == "halves":
        return np.concatenate(turned, axis=-1)
    return np.stack(turned, axis=-1).reshape(vectors.shape)


@dataclass(frozen=True)
class ScoresByOffset:
    """Dot products of one query and one key, set at every pair of these positions.

    by_offset: gathered by query position minus key position. closed_form: what they should be.
    alike: the same of a key that equals the query. pairs: of dimensions, which turn.
    """

    positions: Int[np.ndarray, "position"]
    scores: Float[np.ndarray, "position position"]
    by_offset: OffsetCurve
    closed_form: Float[np.ndarray, "offset"]
    alike: Float[np.ndarray, "offset"]
    pairs: int

    @property
    def spread(self) -> TwoDigits:
        """The largest difference between two scores of the same offset: rounding."""
        return self.by_offset.spread

    @property
    def error(self) -> TwoDigits:
        """The largest difference from the closed form."""
        return float(np.abs(self.by_offset.mean - self.closed_form).max())

    def at(self, offset: int) -> float:
        """The score of query and key at one offset, by the closed form."""
        return float(self.closed_form[np.searchsorted(self.by_offset.offset, offset)])

    def sizes(self, alike: bool) -> tuple[float, float]:
        """Mean size of the scores in the nearest and in the farthest quarter of the offsets.

        alike: of a key that equals the query.
        """
        scores = np.abs(self.alike if alike else self.closed_form)
        distance = np.abs(self.by_offset.offset)
        near, far = (distance <= distance.max() / 4), (distance >= 3 * distance.max() / 4)
        return float(scores[near].mean()), float(scores[far].mean())

    def falloff(self) -> Facts:
        """State the sizes of scores near and far, of any key and of one that equals the query."""
        (near, far), (alike, alike_far) = self.sizes(False), self.sizes(True)
        return Facts("falls" if alike_far < 0.9 * alike else "stays", near=near, far=far,
                     alike=alike, alike_far=alike_far)  # fmt: skip


def score_by_offset(
    q: Float[np.ndarray, "d_k"],
    k: Float[np.ndarray, "d_k"],
    positions: Int[np.ndarray, "position"],
    base: float = BASE,
    layout: str = "interleaved",
) -> ScoresByOffset:
    """Set the same q and k at all `positions` and take every rotated dot product, not divided.

    (R_i q) . (R_j k) = q . R_(j-i) k (RoFormer, equation 16): the spread within an offset is
    rounding, about 1e-16 x position x |q||k|.

    Raises UserError for no or more than 2048 positions, or any beyond 100,000 either way.
    """
    check_positions(len(positions), MAX_PAIRS_OF_POSITIONS)
    if np.abs(positions).max() > MAX_POSITIONS:
        raise UserError(
            "position_too_far",
            f"Positions can be up to {MAX_POSITIONS}.",
            limit=MAX_POSITIONS,
        )
    many = (len(positions), 1)
    scores = rotate(np.tile(q, many), positions, base, layout) @ (
        rotate(np.tile(k, many), positions, base, layout).T
    )
    curve = by_offset(scores, np.subtract.outer(positions, positions))
    closed, alike = (closed_form(q, key, curve.offset, base, layout) for key in (k, q))
    return ScoresByOffset(positions, scores, curve, closed, alike, len(q) // 2)


def random_scores(
    d_k: int, positions: int, base: float = BASE, layout: str = "halves", seed: int = 1
) -> ScoresByOffset:
    """`score_by_offset` at 0, 1, 2, ... of a query and a key of normal numbers from the seed.

    Entries are standard normal, so that the scores have the standard deviation sqrt(d_k). Raises
    as `frequencies` and `score_by_offset` do.
    """
    frequencies(d_k, base)
    check_positions(positions, MAX_PAIRS_OF_POSITIONS)
    q, k = _drawn(d_k, seed)
    return score_by_offset(q, k, np.arange(positions), base, layout)


def _drawn(d_k: int, seed: int) -> np.ndarray:
    """A query and a key of normal numbers."""
    return np.random.RandomState(seed).standard_normal((2, d_k))


@dataclass(frozen=True)
class Turned:
    """One query and one key at their positions, each pair of entries as an arrow a + ib.

    flat: both before they are turned. arrows: after. wavelengths: positions per turn.
    """

    query_position: int
    key_position: int
    flat: Complex[np.ndarray, "2 pair"]
    arrows: Complex[np.ndarray, "2 pair"]
    wavelengths: Float[np.ndarray, "pair"]

    @property
    def between(self) -> Float[np.ndarray, "pair"]:
        """Degrees from the key's arrow on to the query's, above -180 and up to 180."""
        return np.degrees(np.angle(self.arrows[0] * np.conj(self.arrows[1])))

    @property
    def offset(self) -> int:
        """Query minus key."""
        return self.query_position - self.key_position

    @property
    def score(self) -> float:
        """Their dot product: lengths times the cosine of the angle, summed over the pairs."""
        return float((self.arrows[0] * np.conj(self.arrows[1])).real.sum())


def turned(
    d_k: int, query_position: int, key_position: int, base: float = BASE, seed: int = 1
) -> Turned:
    """The query and the key of `random_scores` with the same seed, pair by pair, set somewhere.

    Pairs are "halves"; the first turns fastest. Raises UserError as `frequencies` does.
    """
    omega, both = frequencies(d_k, base), _drawn(d_k, seed)
    positions = np.array([query_position, key_position])
    after = np.stack([rotate(item[None], positions[at : at + 1], base, "halves")[0]
                      for at, item in enumerate(both)])  # fmt: skip
    flat, arrows = (as_complex(vectors, "halves") for vectors in (both, after))
    return Turned(query_position, key_position, flat, arrows, 2 * np.pi / omega)


def closed_form(
    q: Float[np.ndarray, "d_k"],
    k: Float[np.ndarray, "d_k"],
    offsets: Num[np.ndarray, "offset"],
    base: float = BASE,
    layout: str = "interleaved",
) -> Float[np.ndarray, "offset"]:
    """Re sum over pairs of q conj(k) e^(i offset frequency), pairs read as complex numbers.

    RoFormer, equation 12; offset = query position - key position.
    """
    product = as_complex(q, layout) * np.conj(as_complex(k, layout))
    angle = np.multiply.outer(offsets, frequencies(len(q), base))
    return (np.exp(1j * angle) @ product).real


def as_complex(
    vectors: Float[np.ndarray, "*rest d_k"], layout: str = "interleaved"
) -> Complex[np.ndarray, "*rest pair"]:
    """Each pair (a, b) as the complex number a + ib, which rotation multiplies by e^(i angle)."""
    a, b = _pairs(vectors, layout)
    return a + 1j * b


def _pairs(vectors: np.ndarray, layout: str) -> tuple[np.ndarray, np.ndarray]:
    if layout == "interleaved":
        return vectors[..., 0::2], vectors[..., 1::2]
    if layout == "halves":
        half = vectors.shape[-1] // 2
        return vectors[..., :half], vectors[..., half:]
    raise ValueError(f"Unknown layout: {layout}; there are {', '.join(LAYOUTS)}.")
