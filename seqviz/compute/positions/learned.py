"""Analysis of position tables: PCA, spectrum, norms, updates, similarity to sinusoids."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

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
    """Principal components of a position table.

    Attributes:
        components: coordinates of the centered rows.
        directions: unit vectors, each with its largest entry positive.
        explained: share of the variance around the mean row along each.
    """

    components: Float[np.ndarray, "position component"]
    directions: Float[np.ndarray, "component d_model"]
    explained: Float[np.ndarray, "component"]


def path(table: Float[np.ndarray, "position d_model"]) -> PrincipalPath:
    """Compute PCA: the first two eigenvectors of the covariance; one of a one-dimensional table.

    A table whose rows are all equal has no directions: its shares are 0. Raises UserError as
    `checked`.
    """
    centered = _centered(checked(table))
    # Squaring costs precision only in the small components; an SVD takes 4 times as long.
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

    Attributes:
        frequency: cycles per position, from 1/positions up to 1/2.
        power: one-sided power; its sum is the mean variance of a dimension.
    """

    frequency: Float[np.ndarray, "frequency"]
    power: Float[np.ndarray, "frequency"]

    @property
    def slow(self) -> float:
        """Share of the power in the eight lowest frequencies."""
        return float(self.power[:8].sum() / self.power.sum()) if self.power.any() else 0.0


def spectrum(table: Float[np.ndarray, "position d_model"]) -> PositionSpectrum:
    """Compute the periodogram of each dimension over the positions, without its mean.

    No window: a wave that does not fit the table a whole number of times leaks into its neighbors.
    Raises UserError as `checked`, and for a single position, which has no frequencies.
    """
    table = checked(table)
    n = len(table)
    if n < 2:
        raise UserError("one_position", "A spectrum needs at least two positions.")
    power = np.abs(np.fft.rfft(_centered(table), axis=0)[1:]) ** 2 / n**2
    power[: (n - 1) // 2] *= 2  # each represents its negative, too, except 1/2 in an even length
    return PositionSpectrum(np.fft.rfftfreq(n)[1:], power.mean(axis=1))


@dataclass(frozen=True)
class Ages:
    """Norms and neighbor cosines along a table; rarely trained rows differ from the others.

    A row left as it was drawn has a small norm and a cosine near 0 with its neighbors.

    Attributes:
        norm: norm of each position.
        neighbor: cosine of each position with the next one.
    """

    norm: Float[np.ndarray, "position"]
    neighbor: Float[np.ndarray, "neighbor"]

    @property
    def early(self) -> tuple[float, float]:
        """Mean norm, and mean cosine with the next, in the first quarter without its first 16."""
        return self._means(self.skipped, len(self.norm) // 4)

    @property
    def skipped(self) -> int:
        """Number of positions at the beginning that are left out of the first quarter."""
        return min(16, len(self.norm) // 8)

    @property
    def late(self) -> tuple[float, float]:
        """Mean norm, and mean cosine with the next, in the last quarter."""
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
        """Position with the smallest cosine with the next one, and that cosine.

        An eighth of the table is left out at either end.
        """
        edge = max(1, len(self.neighbor) // 8)
        at = edge + int(np.nanargmin(self.neighbor[edge:-edge]))
        return at, float(self.neighbor[at])

    @property
    def trained(self) -> bool:
        """True where norm and cosine of the last quarter reach 90% of those of the first.

        Untrained rows have a small norm, and a cosine near 0 with their neighbors.
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
    """Compute norms and cosines with the next position along a table; a zero row has no cosine.

    Raises:
        UserError: as `checked`, or fewer than 8 positions, which have no quarters.
    """
    table = checked(table)
    check_range("encoding_positions", len(table), 8, MAX_PAIRS_OF_POSITIONS, _FROM_TO)
    norm = np.linalg.norm(table, axis=1)
    with np.errstate(invalid="ignore"):
        return Ages(norm, (table[1:] * table[:-1]).sum(axis=1) / (norm[1:] * norm[:-1]))


@dataclass(frozen=True)
class RowUpdates:
    """Share of the training sequences that update each row of a position table.

    A row has a gradient from a sequence that reaches its position, and none from a shorter one.

    Attributes:
        separate: by position, of texts that are cut to the longest length.
        packed: by position, of sequences of that length cut from the texts joined together.
        texts: number of texts.
        sequences: number of packed sequences.
        longest: number of tokens of the longest sequence.
    """

    separate: Float[np.ndarray, "position"]
    packed: Float[np.ndarray, "position"]
    texts: int
    sequences: int
    longest: int

    def summary(self) -> Facts:
        """State which rows are rarely or never updated.

        `half` is the first position that less than half of the texts reach, `end` the first that
        none reaches, `never` and `packed_never` the rows without an update.
        """
        never, packed_never = (int((some == 0).sum()) for some in (self.separate, self.packed))
        return Facts(
            "some" if never else "all", texts=self.texts, sequences=self.sequences,
            longest=self.longest, rows=len(self.separate), never=never, packed_never=packed_never,
            half=int((self.separate >= 0.5).sum()), end=len(self.separate) - never,
        )  # fmt: skip


def updates(lengths: Int[np.ndarray, "text"], rows: int, longest: int) -> RowUpdates:
    """Count the sequences that reach each position of a table, for texts of these lengths.

    Args:
        lengths: tokens of each text.
        rows: rows of the table.
        longest: number of tokens to which texts are cut, and of a packed sequence.

    Raises:
        UserError: as `checked` for the number of rows; a length of no token or beyond the rows.
    """
    check_positions(rows, MAX_PAIRS_OF_POSITIONS)
    check_range("encoding_positions", longest, 1, rows, _FROM_TO)
    positions = np.arange(rows)
    cut = np.sort(np.minimum(lengths, longest))
    separate = 1 - np.searchsorted(cut, positions, side="right") / len(cut)
    sequences = int(lengths.sum()) // longest
    packed = (positions < longest).astype(float) * (sequences > 0)
    return RowUpdates(separate, packed, len(cut), sequences, longest)


@dataclass(frozen=True)
class TableComparison:
    """A table compared with the sinusoidal one of the same shape.

    Attributes:
        in_eight: share of variance of the table in its first eight principal components.
        sinusoidal_in_eight: the same for the sinusoidal table.
        cka: linear centered kernel alignment; 1 for a rotated and scaled copy.
        cka_chance: mean of the same over 20 shuffles of the rows; it is far from 0 only with few
            positions and many dimensions.
        unlike: share of variance left when the table is optimally rotated, mirrored and scaled onto
            the sinusoidal one (orthogonal Procrustes), 0 to 1.
    """

    in_eight: WholeShare
    sinusoidal_in_eight: WholeShare
    cka: float
    cka_chance: float
    unlike: WholeShare


def compare(table: Float[np.ndarray, "position d_model"]) -> TableComparison:
    """Compare a table with the sinusoidal encoding; the shuffles are always the same.

    A table without variation has the similarity NaN. Raises UserError as `checked`.

    References:
        CKA: Kornblith et al. (2019), equation 4 with linear kernels, biased variant.
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
    """Return the table in float64.

    Raises:
        UserError: no or more than 2048 rows, or values that are not finite.
    """
    check_positions(len(table), MAX_PAIRS_OF_POSITIONS)
    if not np.isfinite(table).all():
        raise UserError("table_not_finite", "The position table has values that are not numbers.")
    return table.astype(float)


def _centered(table: np.ndarray) -> np.ndarray:
    """Return the table less its mean row; zeros where only rounding is left."""
    centered = table - table.mean(axis=0)
    still = np.abs(centered).max() <= 1e-14 * math.sqrt(len(table)) * np.abs(table).max()
    return np.zeros_like(centered) if still else centered


def _in_eight(gram: np.ndarray) -> float:
    """Return the variance share of the first eight components, from a centered Gram matrix."""
    values = np.linalg.eigvalsh(gram)
    return float(values[-8:].sum() / values.sum()) if values.sum() > 0 else 0.0
