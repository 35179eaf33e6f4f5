"""Linear maps from the stream behind a layer to the last one: fitted, of low rank, measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seqviz.stats.estimate import Estimate, mean_ci
from seqviz.stats.facts import Facts

LENSES = ("plain", "fitted")


@dataclass(frozen=True)
class TunedLens:
    """For the embedding and each layer but the last: u + (u down) up + shift.

    u: the stream divided by its root mean square; what comes out stands for that of the last layer.
    bits: KL divergence of the distribution in the end from that of a row by either lens, of texts
    that were not fitted on, each a mean over its tokens. constant: the same of what the mean of the
    last streams says, whatever the text. tokens: that were fitted on.
    """

    down: Float[np.ndarray, "row d_model rank"]
    up: Float[np.ndarray, "row rank d_model"]
    shift: Float[np.ndarray, "row d_model"]
    bits: Float[np.ndarray, "lens text row"]
    constant: Float[np.ndarray, "text"]
    tokens: int

    @property
    def rank(self) -> int:
        """Of what is added to the stream."""
        return self.up.shape[1]

    @property
    def texts(self) -> int:
        """That the lenses were measured on."""
        return self.bits.shape[1]

    def read(
        self, streams: Float[np.ndarray, "row token d_model"]
    ) -> Float[np.ndarray, "row token d_model"]:
        """What the maps make of normalized streams, one row each."""
        return np.asarray(streams + streams @ self.down @ self.up + self.shift[:, None])

    def mean(self, lens: str) -> Estimate:
        """The mean over the texts, in bits, of each row."""
        return mean_ci(self.bits[LENSES.index(lens)], source="texts")

    @property
    def furthest(self) -> int:
        """The row behind a layer at which the plain lens is furthest away; 0 is the embedding."""
        return 1 + int(self.mean("plain").mean[1:].argmax())

    @property
    def plain_most(self) -> float:
        """The bits of the plain lens there."""
        return float(self.mean("plain").mean[self.furthest])

    @property
    def fitted_there(self) -> float:
        """The bits of the fitted lens at the same row."""
        return float(self.mean("fitted").mean[self.furthest])

    @property
    def alone(self) -> float:
        """The bits of the constant, a mean over the texts."""
        return float(self.constant.mean())

    def summary(self) -> Facts:
        """State the bits of both lenses where the plain one is furthest away."""
        plain, fitted = (self.mean(lens)[self.furthest] for lens in LENSES)
        return Facts(texts=self.texts, plain=plain, fitted=fitted, alone=self.alone)


def fit(
    cross: Float[np.ndarray, "both both"], root: Float[np.ndarray, "way d d"], rank: int
) -> tuple[Float[np.ndarray, "d rank"], Float[np.ndarray, "rank d"], Float[np.ndarray, "d"]]:
    """The least squares of y - x by x, of this rank (reduced rank regression; Izenman 1975).

    cross: sums of products of all pairs of the columns x [d], y [d] and 1. root: the `roots` of the
    metric of an error. Returns down, up (rows of length 1) and shift: y is about x + (x down) up +
    shift.
    """
    there, back = root
    d = len(there)
    count = cross[-1, -1]
    mean = cross[-1, :-1] / count
    spread = cross[:-1, :-1] / count - np.outer(mean, mean)
    xx, xy = spread[:d, :d], spread[:d, d:]
    xx = xx + 1e-4 * np.trace(xx) / d * np.eye(d)  # a ridge: some directions are hardly used
    full = np.linalg.solve(xx, xy - spread[:d, :d])
    inside = np.linalg.cholesky(xx).T
    _, _, directions = np.linalg.svd(inside @ full @ there, full_matrices=False)
    retained = directions[:rank]
    down, up = full @ there @ retained.T, retained @ back
    sizes = np.linalg.norm(up, axis=1, keepdims=True)  # so that half precision can hold both
    down, up = down * sizes.T, up / sizes
    return down, up, mean[d:] - mean[:d] - mean[:d] @ down @ up


def roots(metric: Float[np.ndarray, "d d"]) -> Float[np.ndarray, "way d d"]:
    """The symmetric square root of a metric (an error e counts e metric e'), and its inverse."""
    values, vectors = np.linalg.eigh(metric)
    root = np.sqrt(np.maximum(values, 1e-12 * values.max()))
    return np.stack([(vectors * root) @ vectors.T, (vectors / root) @ vectors.T])
