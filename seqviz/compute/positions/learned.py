"""What a position table holds, learned or not: its path, its frequencies, its likeness."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seqviz.compute.positions import sinusoidal
from seqviz.compute.positions.sinusoidal import (
    MAX_PAIRS_OF_POSITIONS,
    check_positions,
    check_range,
)
from seqviz.core.errors import UserError
from seqviz.core.units import WholeShare
from seqviz.stats.facts import Facts

SHUFFLES = 20
_FROM_TO = "There can be from {least} to {limit} positions, not {found}."


@dataclass(frozen=True)
class PrincipalPath:
    """Principal components of a table: where each position lies along the widest directions.

    components: coordinates of the centered rows. directions: unit vectors, each with its largest
    entry positive. explained: share of the variance around the mean row along each.
    """

    components: Float[np.ndarray, "position component"]
    directions: Float[np.ndarray, "component d_model"]
    explained: Float[np.ndarray, "component"]


def path(table: Float[np.ndarray, "position d_model"]) -> PrincipalPath:
    """PCA: two eigenvectors of the covariance, the widest first; of a table of one dimension one.

    A table whose rows are all equal has no directions: its shares are 0. Raises UserError as
    `checked`.
    """
    centered = _centered(checked(table))
    # Squaring costs the small components their digits, not the first; an SVD takes 4 times as long.
    values, vectors = np.linalg.eigh(centered.T @ centered)
    values, directions = values[::-1][:2], vectors.T[::-1][:2]
    # An eigenvector's sign is arbitrary; argmax takes the first of equals.
    largest = np.abs(directions).argmax(axis=1)[:, None]
    directions = directions * np.where(np.take_along_axis(directions, largest, 1) < 0, -1.0, 1.0)
    total = (centered**2).sum()
    explained = np.maximum(values, 0) / total if total > 0 else np.zeros(len(values))
    return PrincipalPath(centered @ directions.T, directions, explained)


@dataclass(frozen=True)
class PositionSpectrum:
    """Power of each frequency along the positions, averaged over the dimensions.

    frequency: cycles per position, from 1/positions up to 1/2. power: one-sided; its sum is the
    mean variance of a dimension.
    """

    frequency: Float[np.ndarray, "frequency"]
    power: Float[np.ndarray, "frequency"]

    @property
    def slow(self) -> float:
        """The share of the power in the eight lowest frequencies."""
        return float(self.power[:8].sum() / self.power.sum()) if self.power.any() else 0.0


def spectrum(table: Float[np.ndarray, "position d_model"]) -> PositionSpectrum:
    """The periodogram of each dimension over the positions, each dimension's mean taken out.

    No window: a wave that does not fit the table a whole number of times leaks into its neighbors.
    Raises UserError as `checked`, and for a single position, which has no frequencies.
    """
    table = checked(table)
    n = len(table)
    if n < 2:
        raise UserError("one_position", "A spectrum needs at least two positions.")
    power = np.abs(np.fft.rfft(_centered(table), axis=0)[1:]) ** 2 / n**2
    power[: (n - 1) // 2] *= 2  # each stands for its negative too, except 1/2 in an even length
    return PositionSpectrum(np.fft.rfftfreq(n)[1:], power.mean(axis=1))


@dataclass(frozen=True)
class Ages:
    """A table from its first row to its last: rows that were seldom trained would stand out.

    norm: of each position. neighbor: cosine of each position with the next one. A row left as it
    was drawn has a small norm and a cosine near 0 with its neighbors.
    """

    norm: Float[np.ndarray, "position"]
    neighbor: Float[np.ndarray, "neighbor"]

    @property
    def early(self) -> tuple[float, float]:
        """Mean norm, and mean cosine with the next, in the first quarter without its first 16."""
        return self._means(self.skipped, len(self.norm) // 4)

    @property
    def skipped(self) -> int:
        """How many positions at the beginning are left out of the first quarter."""
        return min(16, len(self.norm) // 8)

    @property
    def late(self) -> tuple[float, float]:
        """The same in the last quarter."""
        return self._means(3 * len(self.norm) // 4, len(self.norm))

    @property
    def first(self) -> tuple[float, float]:
        """Norm of the first position, and its cosine with the next."""
        return float(self.norm[0]), float(self.neighbor[0])

    @property
    def last(self) -> tuple[float, float]:
        """Norm of the last position, and its cosine with the one before."""
        return float(self.norm[-1]), float(self.neighbor[-1])

    @property
    def broken(self) -> tuple[int, float]:
        """The position after which the table breaks most, and its cosine with the next.

        Within the table: an eighth is left out at either end.
        """
        edge = max(1, len(self.neighbor) // 8)
        at = edge + int(np.nanargmin(self.neighbor[edge:-edge]))
        return at, float(self.neighbor[at])

    @property
    def trained(self) -> bool:
        """Whether the last quarter is no more like untrained rows than the first is, but a tenth.

        Such rows have a small norm, and a cosine near 0 with their neighbors.
        """
        return all(late >= 0.9 * early for early, late in zip(self.early, self.late, strict=True))

    def quarters(self) -> Facts:
        """State norms and cosines of both quarters, of both ends, and of the deepest break."""
        (norm, near), (late_norm, late_near) = self.early, self.late
        (start_norm, start_near), (end_norm, end_near) = self.first, self.last
        broken, broken_near = self.broken
        return Facts(
            "late" if self.trained else "untrained", norm=norm, near=near, late_norm=late_norm,
            late_near=late_near, skip=self.skipped, start_norm=start_norm, start_near=start_near,
            end_norm=end_norm, end_near=end_near, last=len(self.norm) - 1, broken=broken,
            after=broken + 1, broken_near=broken_near,
        )  # fmt: skip

    def _means(self, start: int, end: int) -> tuple[float, float]:
        return float(self.norm[start:end].mean()), float(self.neighbor[start:end].mean())


def ages(table: Float[np.ndarray, "position d_model"]) -> Ages:
    """Norm and likeness to the next position along a table. Raises UserError as `checked`.

    Also UserError for fewer than 8 positions, which have no quarters. A row of zeros has no cosine.
    """
    table = checked(table)
    check_range("encoding_positions", len(table), 8, MAX_PAIRS_OF_POSITIONS, _FROM_TO)
    norm = np.linalg.norm(table, axis=1)
    with np.errstate(invalid="ignore"):
        return Ages(norm, (table[1:] * table[:-1]).sum(axis=1) / (norm[1:] * norm[:-1]))


@dataclass(frozen=True)
class TableComparison:
    """A table beside the sinusoidal one of the same shape.

    in_eight: the variance of the table in its first eight principal components, and the same of
    the sinusoidal one. cka: linear centered kernel alignment, 1 when one is a turned and scaled
    copy of the other. cka_chance: the same after shuffling the rows, mean of 20 shuffles; it is far
    from 0 only with few positions and many dimensions. unlike: the share of variance left
    when the table is best turned, mirrored and scaled onto the sinusoidal one (orthogonal
    Procrustes), 0 to 1.
    """

    in_eight: WholeShare
    sinusoidal_in_eight: WholeShare
    cka: float
    cka_chance: float
    unlike: WholeShare


def compare(table: Float[np.ndarray, "position d_model"]) -> TableComparison:
    """Concentration, and likeness to the sinusoidal encoding; the shuffles are always the same.

    CKA: Kornblith et al. (2019), equation 4 with linear kernels, biased variant. A table without
    variation has likeness NaN. Raises UserError as `checked`.
    """
    table = checked(table)
    sinusoids = sinusoidal.encoding(len(table), table.shape[1]).table
    x, y = _centered(table), _centered(sinusoids)
    gram_x, gram_y = x @ x.T, y @ y.T
    scale = np.linalg.norm(gram_x) * np.linalg.norm(gram_y)
    draw = np.random.RandomState(0)
    with np.errstate(invalid="ignore"):
        orders = [draw.permutation(len(x)) for _ in range(SHUFFLES)]
        probability = [(gram_x[np.ix_(o, o)] * gram_y).sum() / scale for o in orders]
        nuclear = np.linalg.svd(x.T @ y, compute_uv=False).sum()
        unlike = 1 - nuclear**2 / ((x**2).sum() * (y**2).sum())
        cka = (gram_x * gram_y).sum() / scale
    shares = _in_eight(gram_x), _in_eight(gram_y)
    return TableComparison(*shares, float(cka), float(np.mean(probability)), float(unlike))


def checked(table: Float[np.ndarray, "position d_model"]) -> Float[np.ndarray, "position d_model"]:
    """The table in float64. Raises UserError for no or more than 2048 rows, or values not
    finite."""
    check_positions(len(table), MAX_PAIRS_OF_POSITIONS)
    if not np.isfinite(table).all():
        raise UserError("table_not_finite", "The position table has values that are not numbers.")
    return table.astype(float)


def _centered(table: np.ndarray) -> np.ndarray:
    """Less the mean row; what rounding leaves of equal rows is nothing, not noise."""
    centered = table - table.mean(axis=0)
    still = np.abs(centered).max() <= 1e-14 * math.sqrt(len(table)) * np.abs(table).max()
    return np.zeros_like(centered) if still else centered


def _in_eight(gram: np.ndarray) -> float:
    """Variance in the first eight components, from the Gram matrix of centered rows."""
    values = np.linalg.eigvalsh(gram)
    return float(values[-8:].sum() / values.sum()) if values.sum() > 0 else 0.0
