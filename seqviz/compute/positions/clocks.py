"""Sinusoidal rows as clock hands, and their norms compared with those of embeddings."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seqviz.compute.positions.sinusoidal import Sinusoids, columns
from seqviz.core.errors import UserError
from seqviz.stats.facts import Facts


@dataclass(frozen=True)
class Clocks:
    """Hand of each (sin, cos) pair at one position, the fastest clock first.

    Attributes:
        cosine: x of the hand's tip.
        sine: y of the hand's tip.
        angle: radians from 0 to 2 pi, counterclockwise from the x axis.
        turns: turns of the hand since position 0, fractions included.
    """

    position: int
    cosine: Float[np.ndarray, "pair"]
    sine: Float[np.ndarray, "pair"]
    angle: Float[np.ndarray, "pair"]
    turns: Float[np.ndarray, "pair"]


def clocks(encoding: Sinusoids, position: int) -> Clocks:
    """Return a row of the table as d_model/2 clocks; a sine without its cosine is left out.

    Args:
        encoding: the table.
        position: number of the row, from 0.

    Raises:
        UserError: the position is outside the table.
    """
    length, width = encoding.table.shape
    if not 0 <= position < length:
        raise UserError(
            "position_outside",
            f"There is no position {position} in a table of {length}.",
            position=position,
            positions=length,
        )
    sines, cosines = columns(width, encoding.layout)
    row, pairs = encoding.table[position], len(cosines)
    sine, cosine = row[sines[:pairs]], row[cosines]
    turns = position / encoding.wavelengths[:pairs]
    return Clocks(position, cosine, sine, np.arctan2(sine, cosine) % (2 * np.pi), turns)


@dataclass(frozen=True)
class EmbeddingScale:
    """Euclidean norms of word vectors and encodings.

    Attributes:
        factor: sqrt(d_model).
        embedding: norms of the word vectors.
        scaled: norms of the word vectors times `factor`.
        encoding: norms of the encodings.
    """

    factor: float
    embedding: Float[np.ndarray, "token"]
    scaled: Float[np.ndarray, "token"]
    encoding: Float[np.ndarray, "position"]

    def medians(self) -> Facts:
        """State the median norms, beside that of a sinusoidal row; nan of none."""
        words, scaled, added = (
            float(np.median(part)) if len(part) else math.nan
            for part in (self.embedding, self.scaled, self.encoding)
        )
        sines = self.factor / math.sqrt(2)
        return Facts(
            words=words, scaled=scaled, added=added, factor=self.factor, sines=sines,
            times=sines / words if words else math.inf,
            share=sines / scaled if scaled else math.inf,
        )  # fmt: skip


def embedding_scale(
    embedding: Float[np.ndarray, "token d_model"], encoding: Float[np.ndarray, "position d_model"]
) -> EmbeddingScale:
    """Return norms of embeddings before and after the factor sqrt(d_model), and of encodings.

    Vaswani et al. (2017), section 3.4, multiply by sqrt(d_model) and give no reason. The sinusoidal
    encoding has the norm sqrt(d_model/2) at every position (sin^2 + cos^2 = 1 per pair); an
    embedding drawn with variance 1/d_model, as in tensor2tensor, has a norm near 1.

    Args:
        embedding: word vectors.
        encoding: position vectors that are added to them.
    """
    factor = math.sqrt(embedding.shape[1])
    raw = np.linalg.norm(embedding, axis=1)
    return EmbeddingScale(factor, raw, raw * factor, np.linalg.norm(encoding, axis=1))
