"""A position as hands of clocks, and beside a word's embedding."""

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

    Raises UserError for a position outside the table.
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
    """Euclidean norms of word vectors, of the same times `factor`, and of encodings."""

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
    """Norms of embeddings before and after the factor sqrt(d_model), and of what is added to them.

    Vaswani et al. (2017), section 3.4, multiply by sqrt(d_model) and give no reason. The sinusoidal
    encoding has the norm sqrt(d_model/2) at every position (sin^2 + cos^2 = 1 per pair); an
    embedding drawn with variance 1/d_model, as in tensor2tensor, has a norm near 1.
    """
    factor = math.sqrt(embedding.shape[1])
    raw = np.linalg.norm(embedding, axis=1)
    return EmbeddingScale(factor, raw, raw * factor, np.linalg.norm(encoding, axis=1))
