"""Words in a plane: axes between two words each, principal components, classical scaling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seqviz.core import deprecated
from seqviz.core.units import Fraction, Share
from seqviz.stats.facts import Facts

PROJECTIONS = ("axes", "pca", "mds")


@dataclass(frozen=True)
class Placed:
    """Words at places of a plane.

    ends: of each axis the two words that it runs between; empty but for axes. shares: what each
    axis has of the variance (pca) or of the positive eigenvalues (mds), nan for axes. slant: the
    cosine between the two axes in the space of the vectors; 0 where they are made at right angles.
    unknown: words without a vector; split: words whose vector is the mean of several pieces'.
    """

    words: tuple[str, ...]
    coordinates: Float[np.ndarray, "word 2"]
    cosines: Float[np.ndarray, "word word"]
    projection: str
    ends: tuple[tuple[str, str], ...]
    shares: Float[np.ndarray, "2"]
    slant: float
    dimensions: int
    unknown: tuple[str, ...]
    split: tuple[str, ...]

    kept = deprecated.alias("neighbors_preserved")

    @property
    def neighbors_preserved(self) -> Fraction:
        """Of how many words the neighbor in the picture is the one that is nearest by cosine."""
        apart = np.linalg.norm(self.coordinates[:, None] - self.coordinates[None], axis=-1)
        near = self.cosines.copy()
        np.fill_diagonal(apart, np.inf)
        np.fill_diagonal(near, -np.inf)
        return int((apart.argmin(1) == near.argmax(1)).sum()), len(self.words)

    @property
    def corner(self) -> int:
        """The word nearest to where both axes say 1, without those that they run between."""
        ends = {word for pair in self.ends for word in pair}
        apart = np.linalg.norm(self.coordinates - 1.0, axis=1)
        free = np.array([word not in ends for word in self.words])
        return int(np.argmin(np.where(free | ~free.any(), apart, np.inf)))

    @property
    def both(self) -> Share:
        """What both axes have together."""
        return float(self.shares.sum())

    def summary(self) -> Facts:
        """State what two numbers keep of the words, and which word stands in the corner."""
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
    """How far each vector is on the way from `low` (0) to `high` (1), at right angles to it.

    Raises ValueError where the two are one.
    """
    method = high - low
    if not method @ method > 0:
        raise ValueError("An axis runs between two different vectors.")
    return np.asarray((vectors - low) @ method / (method @ method))


def cosine_matrix(
    vectors: Float[np.ndarray, "word dimension"],
) -> Float[np.ndarray, "word word"]:
    """Of every vector with every other; 0 with one of length 0."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.where(norms > 0, norms, 1)
    return np.asarray(np.clip(unit @ unit.T, -1, 1))


def principal(
    vectors: Float[np.ndarray, "word dimension"],
) -> tuple[Float[np.ndarray, "word 2"], Float[np.ndarray, "2"]]:
    """Scores on the first two principal components, and their shares of the variance."""
    moved = vectors - vectors.mean(0)
    u, s, _ = np.linalg.svd(moved, full_matrices=False)
    return _two(u * s), _two(s[None] ** 2)[0] / max(float((s**2).sum()), 1e-300)


def classical(
    distances: Float[np.ndarray, "word word"],
) -> tuple[Float[np.ndarray, "word 2"], Float[np.ndarray, "2"]]:
    """Classical multidimensional scaling (Torgerson, 1952), and the shares of the eigenvalues.

    The squared distances are centered in both directions; the first two eigenvectors, each as long
    as the root of its eigenvalue, are the coordinates. Of Euclidean distances they are the
    principal components. Shares: of the sum of the positive eigenvalues.
    """
    squares = distances**2
    centered = squares - squares.mean(0) - squares.mean(1)[:, None] + squares.mean()
    values, vectors = np.linalg.eigh(-centered / 2)
    values, vectors = np.maximum(values[::-1], 0), vectors[:, ::-1]
    shares = _two(values[None])[0] / max(float(values.sum()), 1e-300)
    return _two(vectors * np.sqrt(values)), shares


def _two(columns: Float[np.ndarray, "row column"]) -> Float[np.ndarray, "row 2"]:
    """The first two columns, zeros where there are fewer; each with its largest entry positive."""
    result = np.zeros((len(columns), 2))
    some = columns[:, :2]
    signs = np.sign(some[np.abs(some).argmax(0), np.arange(some.shape[1])])
    result[:, : some.shape[1]] = some * np.where(signs == 0, 1, signs)
    return result
