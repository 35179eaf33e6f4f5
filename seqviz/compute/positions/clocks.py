"""A position as hands of clocks, as binary digits, and beside a word's embedding."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.positions.sinusoidal import Sinusoids, check_positions, columns
from seqviz.refusal import Refusal


@dataclass(frozen=True)
class Clocks:
    """The hand of each (sin, cos) pair at one position, the fastest clock first.

    cosine and sine are the hand's tip (x, y). angle: radians from 0 to 2 pi, counterclockwise from
    the x axis. turns: how often the hand has gone round since position 0, fractions included.
    """

    position: int
    cosine: Float[np.ndarray, "pair"]
    sine: Float[np.ndarray, "pair"]
    angle: Float[np.ndarray, "pair"]
    turns: Float[np.ndarray, "pair"]


def clocks(encoding: Sinusoids, position: int) -> Clocks:
    """Read a row of the table as d_model/2 clocks; a sine without its cosine is left out.

    Raises Refusal for a position outside the table.
    """
    length, width = encoding.table.shape
    if not 0 <= position < length:
        raise Refusal(
            "position_outside",
            f"There is no position {position} in a table of {length}.",
            position=position,
            positions=length,
        )
    # An odd width has a lone sine or, in tensor2tensor's spacing, a column of zeros.
    spacing = "paper" if len(encoding.frequencies) == (width + 1) // 2 else "tensor2tensor"
    sines, cosines = columns(width, encoding.layout, spacing)
    row, pairs = encoding.table[position], len(cosines)
    sine, cosine = row[sines[:pairs]], row[cosines]
    turns = position / encoding.wavelengths[:pairs]
    return Clocks(position, cosine, sine, np.arctan2(sine, cosine) % (2 * np.pi), turns)


def binary(positions: int, bits: int) -> Int[np.ndarray, "position bit"]:
    """The binary digits of 0, 1, 2, ..., the lowest first: bit b has the period 2^(b+1).

    The comparison of d2l.ai, section 11.6: the encoding's pairs alternate at falling frequencies as
    the digits do, but continuously. Digits above `bits` are dropped, as on an odometer.

    Raises Refusal for fewer than 1 or more than 100,000 positions, or bits outside 1 to 62.
    """
    check_positions(positions)
    if not 1 <= bits <= 62:
        raise Refusal("binary_bits", f"There can be from 1 to 62 bits, not {bits}.", found=bits)
    return (np.arange(positions, dtype=np.int64)[:, None] >> np.arange(bits)) & 1


@dataclass(frozen=True)
class EmbeddingScale:
    """Euclidean norms of word vectors, of the same times `factor`, and of encodings."""

    factor: float
    embedding: Float[np.ndarray, "token"]
    scaled: Float[np.ndarray, "token"]
    encoding: Float[np.ndarray, "position"]


def embedding_scale(
    embedding: Float[np.ndarray, "token d_model"], encoding: Float[np.ndarray, "position d_model"]
) -> EmbeddingScale:
    """Norms of embeddings before and after the factor sqrt(d_model), and of what is added to them.

    Vaswani et al. (2017), section 3.4, multiply by sqrt(d_model) and give no reason. The sinusoidal
    encoding has the norm sqrt(d_model/2) at every position (sin^2 + cos^2 = 1 per pair); an
    embedding drawn with variance 1/d_model, as in tensor2tensor, has a norm near 1.
    """
    factor = math.sqrt(embedding.shape[1])
    raw = np.linalg.norm(embedding, axis=1)
    return EmbeddingScale(factor, raw, raw * factor, np.linalg.norm(encoding, axis=1))
