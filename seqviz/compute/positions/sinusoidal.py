"""Sinusoidal encoding of Vaswani et al. (2017), section 3.5, and its linear shift property."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Num

from seqviz.core import deprecated
from seqviz.core.errors import UserError
from seqviz.core.units import Exact, Fraction, TwoDigits, array_item

LAYOUTS = ("interleaved", "halves")
BASE = 10_000.0
MAX_POSITIONS, MAX_WIDTH = 100_000, 4096
MAX_ENTRIES = 2**26  # half a gigabyte of float64
MAX_PAIRS_OF_POSITIONS = 2048  # a matrix of all pairs has 32 MiB
MAX_SOLVED = 2**18  # such as 512 x 512: about a second on two cores
_RANK_TOLERANCE = 1e-10
__getattr__ = deprecated.names_of(__name__)


@dataclass(frozen=True)
class Sinusoids:
    """Table of encodings.

    Attributes:
        wavelengths: positions per turn, 2 pi / frequency, the shortest first.
        frequencies: radians per position.
        layout: order of the columns; see `columns`.
    """

    table: Float[np.ndarray, "position d_model"]
    wavelengths: Float[np.ndarray, "pair"]
    frequencies: Float[np.ndarray, "pair"]
    layout: str
    base: float

    @property
    def norm(self) -> Exact:
        """Euclidean length of the first row; of every row, where the width is even: √(d/2)."""
        return float(np.linalg.norm(self.table[0]))

    shortest = array_item("wavelengths", 0, "The shortest wavelength, in positions.", Exact)
    longest = array_item("wavelengths", -1, "The longest wavelength, in positions.", Exact)

    @property
    def ratio(self) -> float:
        """Ratio of neighboring wavelengths; 1 for a single wave."""
        return float((self.longest / self.shortest) ** (1 / max(len(self.wavelengths) - 1, 1)))

    def dot(self, offset: int) -> float:
        """Return the dot product at an offset k, sum of cos(frequency k), for an even width."""
        return float(np.cos(offset * self.frequencies).sum())

    def degrees(self, positions: int, pair: int) -> float:
        """Return the angle by which a pair turns over a number of positions, in degrees.

        Args:
            positions: number of positions.
            pair: number of the pair, from 0.
        """
        return 360 * positions / float(self.wavelengths[pair])


def frequencies(d_model: int, base: float = BASE) -> Float[np.ndarray, "pair"]:
    """Return base^(-2i/d_model) radians per position of each pair: a geometric sequence from 1.

    It stops short of 1/base, so wavelengths run from 2 pi to just under 2 pi base. The last
    dimension of an odd d_model has a frequency, too: it is a sine without its cosine.

    Args:
        d_model: width of the encoding.
        base: base of the frequencies.

    Raises:
        UserError: a base that is not a number above 1, or a width outside 2 to 4096.
    """
    if not (math.isfinite(base) and base > 1):
        raise UserError(
            "encoding_base", f"The base must be a number above 1, not {base}.", base=base
        )
    sentence = "The encoding needs from {least} to {limit} dimensions, not {found}."
    check_range("encoding_width", d_model, 2, MAX_WIDTH, sentence)
    return float(base) ** (-np.arange(0, d_model, 2) / d_model)


def columns(
    d_model: int, layout: str = "interleaved"
) -> tuple[Int[np.ndarray, "sine"], Int[np.ndarray, "cosine"]]:
    """Return the columns of the sines and of the cosines, pair by pair.

    Args:
        d_model: width of the encoding.
        layout: "interleaved": sin at 2i, cos at 2i+1, the paper's text; "halves": all sines, then
            all cosines, as in tensor2tensor. One is a permutation of the other, which a learned
            matrix can undo.

    Raises:
        ValueError: unknown layout.
    """
    sines, cosines = (d_model + 1) // 2, d_model // 2
    if layout == "interleaved":
        return 2 * np.arange(sines), 2 * np.arange(cosines) + 1
    if layout == "halves":
        return np.arange(sines), sines + np.arange(cosines)
    raise ValueError(f"Unknown layout: {layout}; there are {', '.join(LAYOUTS)}.")


def rows(
    positions: Num[np.ndarray, "position"],
    d_model: int,
    base: float = BASE,
    layout: str = "interleaved",
) -> Float[np.ndarray, "position d_model"]:
    """Return the encodings of any positions, whole or not, in any order.

    Args:
        positions: the positions.
        d_model: width of the encoding.
        base: base of the frequencies.
        layout: as in `columns`.

    Raises:
        UserError: as in `frequencies`, or a table of more than 2^26 entries.
        ValueError: unknown layout.
    """
    omega = frequencies(d_model, base)
    if len(positions) * d_model > MAX_ENTRIES:
        raise UserError(
            "encoding_too_large",
            f"A table of {len(positions)} positions in {d_model} dimensions is too large: "
            f"it may have {MAX_ENTRIES} entries.",
            positions=len(positions),
            width=d_model,
            limit=MAX_ENTRIES,
        )
    sine, cosine = columns(d_model, layout)
    angle = np.multiply.outer(positions, omega)
    table = np.empty((len(positions), d_model))
    table[:, sine] = np.sin(angle)
    table[:, cosine] = np.cos(angle[:, : len(cosine)])
    return table


def encoding(
    positions: int, d_model: int, base: float = BASE, layout: str = "interleaved"
) -> Sinusoids:
    """Return the sinusoidal encoding of positions 0, 1, 2, ...

    PE[pos, 2i] = sin(pos / base^(2i/d_model)), PE[pos, 2i+1] = cos(of the same). An odd d_model
    ends in a sine without its cosine (the formula taken literally, as Marian's code does).

    Args:
        positions: number of positions.
        d_model: width of the encoding.
        base: base of the frequencies.
        layout: as in `columns`.

    Raises:
        UserError: as in `rows`, or fewer than 1 or more than 100,000 positions.
        ValueError: unknown layout.

    References:
        Vaswani et al. (2017), section 3.5.
    """
    check_positions(positions)
    omega = frequencies(d_model, base)
    table = rows(np.arange(positions), d_model, base, layout)
    return Sinusoids(table, 2 * np.pi / omega, omega, layout, float(base))


def rotation(
    offset: int, d_model: int, base: float = BASE, layout: str = "interleaved"
) -> Float[np.ndarray, "d_model d_model"]:
    """Return R with PE[pos + offset] = R PE[pos] for all pos: rotation by offset x frequency.

    On (sin, cos) of a pair with b = offset x frequency the block is [[cos b, sin b], [-sin b,
    cos b]], by the addition theorems; the paper calls it a linear function of PE[pos].

    Args:
        offset: distance in positions.
        d_model: width of the encoding.
        base: base of the frequencies.
        layout: as in `columns`.

    Raises:
        UserError: an odd d_model: the last sine has no cosine, and its next value does not follow
            from the row.
    """
    omega = frequencies(d_model, base)
    sine, cosine = columns(d_model, layout)
    if len(sine) > len(cosine):
        raise UserError(
            "lone_sine",
            f"With {d_model} dimensions the last sine has no cosine, so no matrix moves the "
            "encoding along: choose an even number.",
            width=d_model,
        )
    matrix = np.zeros((d_model, d_model))
    matrix[sine, sine] = matrix[cosine, cosine] = np.cos(offset * omega)
    matrix[sine, cosine] = np.sin(offset * omega)
    matrix[cosine, sine] = -matrix[sine, cosine]
    return matrix


@dataclass(frozen=True)
class FittedRotation:
    """Least-squares matrix from each row of a table to the row `offset` further on.

    Attributes:
        rank: number of directions that the rows span; below d_model the matrix is the smallest of
            many.
        residual: largest entry of |PE[pos + k] - R PE[pos]|.
    """

    matrix: Float[np.ndarray, "d_model d_model"]
    rank: int
    residual: TwoDigits

    @property
    def rank_of_width(self) -> Fraction:
        """Rank, and full rank."""
        return self.rank, len(self.matrix)

    def gap(self, formula: Float[np.ndarray, "d_model d_model"]) -> TwoDigits:
        """Return the largest difference between an entry and that of the formula."""
        return float(np.abs(self.matrix - formula).max())


def fit_rotation(table: Float[np.ndarray, "position d_model"], offset: int) -> FittedRotation:
    """Fit R to a table by least squares over all positions; any table.

    Directions with a singular value below 1e-10 of the largest count as not spanned: rounding in
    the table (1e-16) divided by it would already be 1e-6 of R. Slow pairs hardly turn over few
    positions, so the rank is often below d_model; then R is the least-norm solution, which still
    fits every row, but is not a rotation.

    Args:
        table: the table.
        offset: distance in positions.

    Raises:
        UserError: the table has no two rows that far apart, or more than 2^18 entries.
    """
    positions, width = table.shape
    if not 0 < offset < positions:
        raise UserError(
            "offset_beyond_table",
            f"No two of {positions} positions are {offset} apart.",
            positions=positions,
            offset=offset,
        )
    if positions * width > MAX_SOLVED:
        raise UserError(
            "too_large_to_solve",
            f"{positions} positions in {width} dimensions take too long to solve.",
            positions=positions,
            width=width,
        )
    start, end = table[:-offset], table[offset:]
    solved, _, rank, _ = np.linalg.lstsq(start, end, rcond=_RANK_TOLERANCE)
    residual = float(np.abs(start @ solved - end).max())
    return FittedRotation(solved.T.copy(), int(rank), residual)


def check_positions(positions: int, limit: int = MAX_POSITIONS) -> None:
    """Raise UserError unless there are from 1 to `limit` positions.

    Args:
        positions: number of positions.
        limit: maximum.
    """
    sentence = "There can be from {least} to {limit} positions, not {found}."
    check_range("encoding_positions", positions, 1, limit, sentence)


def check_range(code: str, value: int, minimum: int, limit: int, sentence: str) -> None:
    """Raise UserError unless a number is from `minimum` to `limit`.

    Args:
        code: code of the error.
        value: the number.
        minimum: smallest permitted number.
        limit: largest permitted number.
        sentence: message with the placeholders {found}, {least} and {limit}.
    """
    if not minimum <= value <= limit:
        filled = sentence.format(found=value, least=minimum, limit=limit)
        raise UserError(code, filled, found=value, limit=limit)
