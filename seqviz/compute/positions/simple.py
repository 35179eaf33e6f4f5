"""Three simple position codes beside sinusoids, and the demands that each fails.

The number p itself, its share p / (n - 1) of a text of n words, its binary digits; and sinusoids
whose wavelengths double from pair to pair, like the periods of binary digits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seqviz.compute.positions.sinusoidal import check_range, encoding
from seqviz.core.units import Fraction
from seqviz.stats.facts import Facts

CODES = ("number", "share", "binary", "waves")
WIDTH = 16  # dimensions of a word vector, and of each code
BASE = 2.0 ** (WIDTH / 2)  # the wavelengths of neighboring pairs then differ by a factor of 2
MAX_WORDS = 1024  # words of a text


def code(name: str, length: int) -> Float[np.ndarray, "position d_model"]:
    """Return what is added to the words of a text, [position, 16].

    Args:
        name: "number" and "share": in the first dimension, 0 in the others; "binary": digit k of
            the position in dimension k, the lowest first; "waves": Vaswani et al. (2017) with base
            256.
        length: number of words.

    Raises:
        UserError: fewer than 2 or more than 1024 words.
        ValueError: another name.
    """
    sentence = "There can be from {least} to {limit} words, not {found}."
    check_range("encoding_positions", length, 2, MAX_WORDS, sentence)
    positions = np.arange(length)
    if name == "waves":
        return encoding(length, WIDTH, BASE).table
    if name == "binary":
        return (positions[:, None] >> np.arange(WIDTH) & 1).astype(float)
    if name not in CODES:
        raise ValueError(f"Unknown code: {name}; there are {', '.join(CODES)}.")
    result = np.zeros((length, WIDTH))
    result[:, 0] = positions / (length - 1) if name == "share" else positions
    return result


@dataclass(frozen=True)
class Demands:
    """Norm, drift and step of each of `CODES`, in a text of `length` words.

    Attributes:
        word: root mean square norm of a word vector with standard normal entries.
        norm: norm of what is added at each position.
        drift: distance of a position's vector from that of the same position in a text twice as
            long.
        step: distance of a position's vector from the next one's.
    """

    length: int
    word: float
    norm: Float[np.ndarray, "code position"]
    drift: Float[np.ndarray, "code position"]
    step: Float[np.ndarray, "code neighbor"]

    def of(self, name: str, demand: str) -> Float[np.ndarray, "position"]:
        """Return the numbers of one code.

        Args:
            name: one of `CODES`.
            demand: "norm", "drift" or "step".
        """
        values: np.ndarray = getattr(self, demand)[CODES.index(name)]
        return values

    @property
    def drowned(self) -> Fraction:
        """Number of positions whose number is longer than a word vector, and of all positions."""
        return int((self.of("number", "norm") > self.word).sum()), self.length

    @property
    def moved(self) -> float:
        """Change of the share of the last position when the text gets twice as long."""
        return float(self.of("share", "drift")[-1])

    @property
    def jump(self) -> float:
        """Longest step of the binary digits; the shortest is 1."""
        return float(self.of("binary", "step").max())

    @property
    def jump_at(self) -> int:
        """Position before the longest step, the first of equals."""
        return int(self.of("binary", "step").argmax())

    @property
    def stride(self) -> float:
        """Step of the waves, the same everywhere."""
        return float(self.of("waves", "step").mean())

    def failures(self) -> Facts:
        """State where the codes fail: long numbers, shares that move, digits that jump."""
        after = self.jump_at + 1
        return Facts(
            last=self.length - 1, word=self.word, moved=self.moved, before=self.jump_at,
            after=after, digits=after.bit_length(), jump=self.jump, stride=self.stride,
            norm=float(self.of("waves", "norm")[0]),
        )  # fmt: skip


def demands(length: int) -> Demands:
    """Compute the three demands for the four codes.

    Raises UserError as `code` at twice the length.
    """
    short = np.stack([code(name, length) for name in CODES])
    long = np.stack([code(name, 2 * length)[:length] for name in CODES])
    return Demands(
        length,
        math.sqrt(WIDTH),
        np.linalg.norm(short, axis=2),
        np.linalg.norm(long - short, axis=2),
        np.linalg.norm(np.diff(short, axis=1), axis=2),
    )
