"""Tuned lens: linear maps of low rank from the residual stream of a layer to the last one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seqviz.stats.estimate import Estimate, mean_ci
from seqviz.stats.facts import Facts

LENSES = ("plain", "fitted")


@dataclass(frozen=True)
class TunedLens:
    """Tuned lens, u + (u down) up + shift, for the embedding and each layer but the last.

    u is the residual stream divided by its root mean square; the result approximates that of the
    last layer.

    Attributes:
        bits: KL divergence of the final distribution from a row's, by the plain and the fitted lens
            (`LENSES`), on held-out texts, mean over the tokens of each.
        constant: the same for the mean of the last streams, independent of the text.
        tokens: number of tokens of the fit.
    """

    down: Float[np.ndarray, "row d_model rank"]
    up: Float[np.ndarray, "row rank d_model"]
    shift: Float[np.ndarray, "row d_model"]
    bits: Float[np.ndarray, "lens text row"]
    constant: Float[np.ndarray, "text"]
    tokens: int

    @property
    def rank(self) -> int:
        """Rank of the map."""
        return self.up.shape[1]

    @property
    def texts(self) -> int:
        """Number of held-out texts."""
        return self.bits.shape[1]

    def read(
        self, streams: Float[np.ndarray, "row token d_model"]
    ) -> Float[np.ndarray, "row token d_model"]:
        """Return normalized streams after the map of each row."""
        return np.asarray(streams + streams @ self.down @ self.up + self.shift[:, None])

    def mean(self, lens: str) -> Estimate:
        """Return the bits of each row, mean over texts."""
        return mean_ci(self.bits[LENSES.index(lens)], source="texts")

    @property
    def furthest(self) -> int:
        """Row of the layer with the most bits by the plain lens; 0 is the embedding, left out."""
        return 1 + int(self.mean("plain").mean[1:].argmax())

    @property
    def plain_most(self) -> float:
        """Bits of the plain lens at the row `furthest`."""
        return float(self.mean("plain").mean[self.furthest])

    @property
    def fitted_there(self) -> float:
        """Bits of the fitted lens at the row `furthest`."""
        return float(self.mean("fitted").mean[self.furthest])

    @property
    def alone(self) -> float:
        """Bits of the constant prediction, mean over texts."""
        return float(self.constant.mean())

    def summary(self) -> Facts:
        """State the bits of both lenses at the row `furthest`."""
        plain, fitted = (self.mean(lens)[self.furthest] for lens in LENSES)
        return Facts(texts=self.texts, plain=plain, fitted=fitted, alone=self.alone)


def fit(
    cross: Float[np.ndarray, "both both"], root: Float[np.ndarray, "way d d"], rank: int
) -> tuple[Float[np.ndarray, "d rank"], Float[np.ndarray, "rank d"], Float[np.ndarray, "d"]]:
    """Fit y - x by x with reduced-rank least squares: y is about x + (x down) up + shift.

    Args:
        cross: sums of products of all pairs of the columns x [d], y [d] and 1.
        root: the `roots` of the metric of the error.
        rank: rank of the map.

    Returns:
        down, up (rows of length 1) and shift.

    References:
        Izenman, 1975, Reduced-rank regression for the multivariate linear model.
    """
    there, back = root
    d = len(there)
    count = cross[-1, -1]
    mean = cross[-1, :-1] / count
    spread = cross[:-1, :-1] / count - np.outer(mean, mean)
    xx, xy = spread[:d, :d], spread[:d, d:]
    xx = xx + 1e-4 * np.trace(xx) / d * np.eye(d)  # ridge, because some directions are hardly used
    full = np.linalg.solve(xx, xy - spread[:d, :d])
    inside = np.linalg.cholesky(xx).T
    _, _, directions = np.linalg.svd(inside @ full @ there, full_matrices=False)
    retained = directions[:rank]
    down, up = full @ there @ retained.T, retained @ back
    sizes = np.linalg.norm(up, axis=1, keepdims=True)  # scales both to the range of half precision
    down, up = down * sizes.T, up / sizes
    return down, up, mean[d:] - mean[:d] - mean[:d] @ down @ up


def roots(metric: Float[np.ndarray, "d d"]) -> Float[np.ndarray, "way d d"]:
    """Return the symmetric square root of a metric and its inverse.

    The squared error of e is e metric e'.
    """
    values, vectors = np.linalg.eigh(metric)
    root = np.sqrt(np.maximum(values, 1e-12 * values.max()))
    return np.stack([(vectors * root) @ vectors.T, (vectors / root) @ vectors.T])
