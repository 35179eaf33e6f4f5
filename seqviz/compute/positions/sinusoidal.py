"""The sinusoidal encoding of Vaswani et al. (2017), section 3.5, and what makes it useful."""

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
    """A table of encodings with the frequencies (radians per position) that made it.

    wavelengths: positions per turn, 2 pi / frequency, the shortest first.
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
        """Length of a wave over that of the one before it; 1 for a single wave."""
        return float((self.longest / self.shortest) ** (1 / max(len(self.wavelengths) - 1, 1)))

    def dot(self, offset: int) -> float:
        """The dot product of two positions so far apart (even width): sum of cos(frequency k)."""
        return float(np.cos(offset * self.frequencies).sum())

    def degrees(self, positions: int, pair: int) -> float:
        """By how much the hand of a pair turns within so many positions."""
        return 360 * positions / float(self.wavelengths[pair])


def frequencies(d_model: int, base: float = BASE) -> Float[np.ndarray, "pair"]:
    """base^(-2i/d_model) radians per position of each pair: a geometric sequence from 1.

    It stops short of 1/base, so wavelengths run from 2 pi to just under 2 pi base. The last
    dimension of an odd d_model has a frequency too: it is a sine without its cosine.

    Raises UserError for a base that is not a number above 1 and for a width outside 2 to 4096.
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
    """The columns of the sines and of the cosines, pair by pair.

    interleaved: sin at 2i, cos at 2i+1, the paper's text. halves: all sines, then all cosines, as
    in tensor2tensor. One is a permutation of the other, which no learned matrix can tell apart.
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
    """The encodings of any positions, whole or not, in any order. Raises as `encoding` does."""
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
    """PE[pos, 2i] = sin(pos / base^(2i/d_model)), PE[pos, 2i+1] = cos(of the same), from pos 0.

    Vaswani et al. (2017), section 3.5; layout as in `columns`. An odd d_model ends in a sine
    without its cosine (the formula taken literally, as Marian's code does).

    Raises UserError for a base not above 1, fewer than 1 or more than 100,000 positions, a width
    outside 2 to 4096, or a table of more than 2^26 entries; ValueError for an unknown layout.
    """
    check_positions(positions)
    omega = frequencies(d_model, base)
    table = rows(np.arange(positions), d_model, base, layout)
    return Sinusoids(table, 2 * np.pi / omega, omega, layout, float(base))


def rotation(
    offset: int, d_model: int, base: float = BASE, layout: str = "interleaved"
) -> Float[np.ndarray, "d_model d_model"]:
    """R with PE[pos + offset] = R PE[pos] at every pos: each pair turned by offset x frequency.

    On (sin, cos) of a pair with b = offset x frequency the block is [[cos b, sin b], [-sin b,
    cos b]], by the addition theorems; what the paper calls a linear function of PE[pos].

    Raises UserError for an odd d_model: the last sine has no cosine, and its next value does not
    follow from the row.
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
    """The matrix that best carries each row of a table to the row `offset` further on.

    rank: how many directions the rows show; below d_model the matrix is one of many, the smallest.
    residual: the largest entry of |PE[pos + k] - R PE[pos]|.
    """

    matrix: Float[np.ndarray, "d_model d_model"]
    rank: int
    residual: TwoDigits

    @property
    def rank_of_width(self) -> Fraction:
        """The rank, of the full one."""
        return self.rank, len(self.matrix)

    def gap(self, formula: Float[np.ndarray, "d_model d_model"]) -> TwoDigits:
        """The largest difference between an entry and the one of the formula."""
        return float(np.abs(self.matrix - formula).max())


def fit_rotation(table: Float[np.ndarray, "position d_model"], offset: int) -> FittedRotation:
    """R found from a table alone, by least squares over all positions of any table.

    Directions with a singular value below 1e-10 of the largest count as not shown: rounding in the
    table (1e-16) divided by it would already be 1e-6 of R. Slow pairs hardly turn over few
    positions, so the rank is often below d_model; then R is the least-norm solution, which still
    fits every row, but is not a rotation.

    Raises UserError when the table has no two rows that far apart or more than 2^18 entries.
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
    """Raise UserError unless there are from 1 to `limit` positions."""
    sentence = "There can be from {least} to {limit} positions, not {found}."
    check_range("encoding_positions", positions, 1, limit, sentence)


def check_range(code: str, value: int, minimum: int, limit: int, sentence: str) -> None:
    """Raise UserError, with the sentence filled in, unless a number is from `minimum` to
    `limit`.
    """
    if not minimum <= value <= limit:
        filled = sentence.format(found=value, least=minimum, limit=limit)
        raise UserError(code, filled, found=value, limit=limit)
