"""Projections of words to a plane: axes between words, principal components, classical MDS."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seqviz.core import deprecated
from seqviz.core.units import Cosine, Fraction, Share
from seqviz.stats.facts import Facts

PROJECTIONS = ("axes", "pca", "mds")


@dataclass(frozen=True)
class Placed:
    """Words projected to a plane.

    Attributes:
        projection: one of `PROJECTIONS`.
        ends: for "axes", the two words between which each axis runs; else empty.
        shares: share of each axis in the variance (pca) or in the positive eigenvalues (mds); nan
            for axes.
        slant: cosine between the two axes in the space of the vectors; 0 where they are orthogonal
            by construction.
        unknown: words without a vector.
        split: words whose vector is the mean of the vectors of several pieces.
    """

    words: tuple[str, ...]
    coordinates: Float[np.ndarray, "word 2"]
    cosines: Float[np.ndarray, "word word"]
    projection: str
    ends: tuple[tuple[str, str], ...]
    shares: Float[np.ndarray, "2"]
    slant: Cosine
    dimensions: int
    unknown: tuple[str, ...]
    split: tuple[str, ...]

    kept = deprecated.alias("neighbors_preserved")

    @property
    def neighbors_preserved(self) -> Fraction:
        """Number of words with the same nearest neighbor in the plane as by cosine, and of all."""
        apart = np.linalg.norm(self.coordinates[:, None] - self.coordinates[None], axis=-1)
        near = self.cosines.copy()
        np.fill_diagonal(apart, np.inf)
        np.fill_diagonal(near, -np.inf)
        return int((apart.argmin(1) == near.argmax(1)).sum()), len(self.words)

    @property
    def corner(self) -> int:
        """Word nearest to (1, 1), without the words at the ends of the axes."""
        ends = {word for pair in self.ends for word in pair}
        apart = np.linalg.norm(self.coordinates - 1.0, axis=1)
        free = np.array([word not in ends for word in self.words])
        return int(np.argmin(np.where(free | ~free.any(), apart, np.inf)))

    @property
    def both(self) -> Share:
        """Share of both axes together."""
        return float(self.shares.sum())

    def summary(self) -> Facts:
        """State the neighbors preserved by the plane, and the word in the corner."""
        preserved, words = self.neighbors_preserved
        x, y = self.coordinates[self.corner].tolist()
        return Facts(
            self.projection, kept=preserved, words=words, dimensions=self.dimensions,
            both=self.both, word=self.words[self.corner], x=x, y=y, slant=self.slant,
        )  # fmt: skip


def along(
    vectors: Float[np.ndarray, "word dimension"],
    low: Float[np.ndarray, "dimension"],
    high: Float[np.ndarray, "dimension"],
) -> Float[np.ndarray, "word"]:
    """Return the projection of each vector on the line from `low` (0) to `high` (1).

    Args:
        vectors: the vectors.
        low: start of the axis.
        high: end of the axis.

    Raises:
        ValueError: both ends are equal.
    """
    method = high - low
    if not method @ method > 0:
        raise ValueError("An axis runs between two different vectors.")
    return np.asarray((vectors - low) @ method / (method @ method))


def cosine_matrix(
    vectors: Float[np.ndarray, "word dimension"],
) -> Float[np.ndarray, "word word"]:
    """Return the cosine of every pair of vectors; 0 for a vector of length 0."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.where(norms > 0, norms, 1)
    return np.asarray(np.clip(unit @ unit.T, -1, 1))


def principal(
    vectors: Float[np.ndarray, "word dimension"],
) -> tuple[Float[np.ndarray, "word 2"], Float[np.ndarray, "2"]]:
    """Return the scores on the first two principal components, and their shares of the variance."""
    moved = vectors - vectors.mean(0)
    u, s, _ = np.linalg.svd(moved, full_matrices=False)
    return _two(u * s), _two(s[None] ** 2)[0] / max(float((s**2).sum()), 1e-300)


def classical(
    distances: Float[np.ndarray, "word word"],
) -> tuple[Float[np.ndarray, "word 2"], Float[np.ndarray, "2"]]:
    """Return classical multidimensional scaling in two dimensions, and the axes' shares.

    The squared distances are double-centered; the first two eigenvectors, each scaled to the root
    of its eigenvalue, are the coordinates. For Euclidean distances they are the principal
    components. Shares are of the sum of the positive eigenvalues.

    References:
        Torgerson, 1952.
    """
    squares = distances**2
    centered = squares - squares.mean(0) - squares.mean(1)[:, None] + squares.mean()
    values, vectors = np.linalg.eigh(-centered / 2)
    values, vectors = np.maximum(values[::-1], 0), vectors[:, ::-1]
    shares = _two(values[None])[0] / max(float(values.sum()), 1e-300)
    return _two(vectors * np.sqrt(values)), shares


def _two(columns: Float[np.ndarray, "row column"]) -> Float[np.ndarray, "row 2"]:
    """Return the first two columns, padded with zeros, each with its largest entry positive."""
    result = np.zeros((len(columns), 2))
    some = columns[:, :2]
    signs = np.sign(some[np.abs(some).argmax(0), np.arange(some.shape[1])])
    result[:, : some.shape[1]] = some * np.where(signs == 0, 1, signs)
    return result
