"""Matrices over pairs of positions, and their dependence on the offset."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.positions.sinusoidal import MAX_PAIRS_OF_POSITIONS, check_positions


@dataclass(frozen=True)
class OffsetCurve:
    """Mean, least and greatest value among all pairs of positions that are `offset` apart.

    Where low equals high, the value depends on the offset alone.
    """

    offset: Int[np.ndarray, "offset"]
    mean: Float[np.ndarray, "offset"]
    low: Float[np.ndarray, "offset"]
    high: Float[np.ndarray, "offset"]

    @property
    def spread(self) -> float:
        """Largest difference between two pairs of the same offset."""
        return float((self.high - self.low).max())


def by_offset(
    matrix: Float[np.ndarray, "query key"], offsets: Int[np.ndarray, "query key"]
) -> OffsetCurve:
    """Group the values of a matrix by the offset of each pair; offsets in ascending order.

    Args:
        matrix: the values.
        offsets: offset of each pair.
    """
    first = offsets.min()
    bins, values = (offsets - first).ravel(), matrix.ravel()
    count = np.bincount(bins)
    low, high = np.full(len(count), np.inf), np.full(len(count), -np.inf)
    with np.errstate(invalid="ignore"):  # a NaN makes its offset NaN
        np.minimum.at(low, bins, values)
        np.maximum.at(high, bins, values)
    observed = np.flatnonzero(count)
    mean = np.bincount(bins, weights=values)[observed] / count[observed]
    return OffsetCurve(first + observed, mean, low[observed], high[observed])


@dataclass(frozen=True)
class Similarity:
    """Dot products and cosines of all rows of a table, and both by the distance |i - j|.

    A row of zeros has no direction: its cosines are NaN.
    """

    dot: Float[np.ndarray, "position position"]
    cosine: Float[np.ndarray, "position position"]
    dot_by_offset: OffsetCurve
    cosine_by_offset: OffsetCurve

    def cosine_apart(self, offset: int) -> float:
        """Return the mean cosine of positions at a distance; nan where there are none."""
        pairs = np.diag(self.cosine, offset)
        return float(pairs.mean()) if len(pairs) else float("nan")


def similarity(table: Float[np.ndarray, "position d_model"]) -> Similarity:
    """Compare every row of a position table, sinusoidal or learned, with every other.

    Raises:
        UserError: no row, or more than 2048: the matrix of all pairs would be too large.
    """
    check_positions(len(table), MAX_PAIRS_OF_POSITIONS)
    table = table.astype(float)
    dot = table @ table.T
    norm = np.sqrt(np.diag(dot))
    with np.errstate(invalid="ignore"):
        cosine = dot / np.multiply.outer(norm, norm)
    positions = np.arange(len(table))
    distance = np.abs(np.subtract.outer(positions, positions))
    return Similarity(dot, cosine, by_offset(dot, distance), by_offset(cosine, distance))


def dot_by_offset(
    frequencies: Float[np.ndarray, "pair"], offsets: Int[np.ndarray, "offset"]
) -> Float[np.ndarray, "offset"]:
    """Return PE_i . PE_(i+k) = sum over the pairs of cos(frequency x k), independent of i.

    For complete (sin, cos) pairs, by cos(a - b) = cos a cos b + sin a sin b. Divided by the number
    of pairs it is the cosine, because every row has the norm sqrt(pairs).

    Args:
        frequencies: radians per position of each pair.
        offsets: values of k.
    """
    return np.cos(np.multiply.outer(offsets, frequencies)).sum(axis=1)
