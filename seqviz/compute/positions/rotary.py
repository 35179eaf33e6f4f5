"""Rotary position embedding (RoPE): scores of rotated queries and keys by offset."""

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
    """Return base^(-2i/d_k) radians per position.

    Args:
        d_k: number of entries of a query.
        base: base of the frequencies.

    Raises:
        UserError: an odd or non-positive d_k, whose last dimension has no partner to rotate with,
            or as in `sinusoidal.frequencies`.

    References:
        Su et al. (2021), RoFormer, equation 15.
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
    """Rotate each pair of a query or key by position x frequency, counterclockwise.

    (a, b) becomes (a cos - b sin, a sin + b cos).

    Args:
        vectors: queries or keys.
        positions: any positions, negative ones, too.
        base: base of the frequencies.
        layout: "interleaved": pairs (2i, 2i+1), as in RoFormer (equation 34) and GPT-J; "halves":
            pairs (i, i + d_k/2), as in GPT-NeoX and Llama. A checkpoint works only with the layout
            it was trained with, though both are the same up to a permutation of dimensions.

    Raises:
        UserError: as in `frequencies`.
        ValueError: unknown layout.
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
    """Dot products of one query and one key, placed at every pair of these positions.

    Attributes:
        by_offset: scores grouped by query position minus key position.
        closed_form: their exact value.
        alike: the same of a key that equals the query.
        pairs: number of pairs of dimensions.
    """

    positions: Int[np.ndarray, "position"]
    scores: Float[np.ndarray, "position position"]
    by_offset: OffsetCurve
    closed_form: Float[np.ndarray, "offset"]
    alike: Float[np.ndarray, "offset"]
    pairs: int

    @property
    def spread(self) -> TwoDigits:
        """Largest difference between two scores of the same offset: rounding."""
        return self.by_offset.spread

    @property
    def error(self) -> TwoDigits:
        """Largest difference from the closed form."""
        return float(np.abs(self.by_offset.mean - self.closed_form).max())

    def at(self, offset: int) -> float:
        """Return the score of query and key at one offset, by the closed form."""
        return float(self.closed_form[np.searchsorted(self.by_offset.offset, offset)])

    def sizes(self, alike: bool) -> tuple[float, float]:
        """Return the mean size of the scores in the nearest and farthest quarter of offsets.

        Args:
            alike: True for a key that equals the query.
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
    """Compute every rotated dot product of the same q and k at all `positions`, not divided.

    (R_i q) . (R_j k) = q . R_(j-i) k (RoFormer, equation 16): the spread within an offset is
    rounding, about 1e-16 x position x |q||k|.

    Args:
        q: the query.
        k: the key.
        positions: positions of both.
        base: as in `rotate`.
        layout: as in `rotate`.

    Raises:
        UserError: no or more than 2048 positions, or any beyond 100,000 either way.
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
    """Return `score_by_offset` at 0, 1, 2, ... of a standard normal query and key.

    The scores have the standard deviation sqrt(d_k).

    Args:
        d_k: number of entries of the query.
        positions: number of positions.
        base: as in `rotate`.
        layout: as in `rotate`.
        seed: seed of query and key.

    Raises:
        UserError: as in `frequencies` and `score_by_offset`.
        ValueError: unknown layout.
    """
    frequencies(d_k, base)
    check_positions(positions, MAX_PAIRS_OF_POSITIONS)
    q, k = _drawn(d_k, seed)
    return score_by_offset(q, k, np.arange(positions), base, layout)


def _drawn(d_k: int, seed: int) -> np.ndarray:
    """Return a standard normal query and key."""
    return np.random.RandomState(seed).standard_normal((2, d_k))


@dataclass(frozen=True)
class Turned:
    """One query and one key at their positions, each pair of entries as a complex number a + ib.

    Attributes:
        flat: query and key before rotation.
        arrows: query and key after rotation.
        wavelengths: positions per turn.
        base: base of the frequencies.
    """

    query_position: int
    key_position: int
    flat: Complex[np.ndarray, "2 pair"]
    arrows: Complex[np.ndarray, "2 pair"]
    wavelengths: Float[np.ndarray, "pair"]
    base: float

    @property
    def between(self) -> Float[np.ndarray, "pair"]:
        """Degrees from the key's arrow to the query's, above -180 and up to 180."""
        return np.degrees(np.angle(self.arrows[0] * np.conj(self.arrows[1])))

    @property
    def offset(self) -> int:
        """Query position minus key position."""
        return self.query_position - self.key_position

    @property
    def score(self) -> float:
        """Dot product: lengths times the cosine of the angle, summed over the pairs."""
        return float((self.arrows[0] * np.conj(self.arrows[1])).real.sum())


def turned(
    d_k: int, query_position: int, key_position: int, base: float = BASE, seed: int = 1
) -> Turned:
    """Return the query and the key of `random_scores` rotated to two positions, pair by pair.

    Pairs are "halves"; the first turns fastest.

    Args:
        d_k: number of entries of the query.
        query_position: position of the query.
        key_position: position of the key.
        base: as in `rotate`.
        seed: seed of query and key.

    Raises:
        UserError: as in `frequencies`.
    """
    omega, both = frequencies(d_k, base), _drawn(d_k, seed)
    positions = np.array([query_position, key_position])
    after = np.stack([rotate(item[None], positions[at : at + 1], base, "halves")[0]
                      for at, item in enumerate(both)])  # fmt: skip
    flat, arrows = (as_complex(vectors, "halves") for vectors in (both, after))
    return Turned(query_position, key_position, flat, arrows, 2 * np.pi / omega, base)


def closed_form(
    q: Float[np.ndarray, "d_k"],
    k: Float[np.ndarray, "d_k"],
    offsets: Num[np.ndarray, "offset"],
    base: float = BASE,
    layout: str = "interleaved",
) -> Float[np.ndarray, "offset"]:
    """Return Re sum over pairs of q conj(k) e^(i offset frequency), pairs as complex numbers.

    Args:
        q: the query.
        k: the key.
        offsets: query position minus key position.
        base: as in `rotate`.
        layout: as in `rotate`.

    References:
        RoFormer, equation 12.
    """
    product = as_complex(q, layout) * np.conj(as_complex(k, layout))
    angle = np.multiply.outer(offsets, frequencies(len(q), base))
    return (np.exp(1j * angle) @ product).real


def as_complex(
    vectors: Float[np.ndarray, "*rest d_k"], layout: str = "interleaved"
) -> Complex[np.ndarray, "*rest pair"]:
    """Return each pair (a, b) as a + ib, which rotation multiplies by e^(i angle).

    Args:
        vectors: queries or keys.
        layout: as in `rotate`.
    """
    a, b = _pairs(vectors, layout)
    return a + 1j * b


def _pairs(vectors: np.ndarray, layout: str) -> tuple[np.ndarray, np.ndarray]:
    if layout == "interleaved":
        return vectors[..., 0::2], vectors[..., 1::2]
    if layout == "halves":
        half = vectors.shape[-1] // 2
        return vectors[..., :half], vectors[..., half:]
    raise ValueError(f"Unknown layout: {layout}; there are {', '.join(LAYOUTS)}.")
