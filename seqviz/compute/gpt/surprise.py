"""What the tokens of a text cost a model in bits, and what repetition does to that."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.attention.tokens import Tokens
from seqviz.core import deprecated
from seqviz.core.units import Fraction, Share


@dataclass(frozen=True)
class Surprise:
    """Every token but the first of a text, as a decoder expects it from those before.

    bits: -log2 p. entropy: of the model's distribution there, what it expects to pay. rank: 1 is
    the likeliest token. answer: the piece that was likeliest. All begin with the second token.
    """

    tokens: Tokens
    bits: Float[np.ndarray, "token"]
    entropy: Float[np.ndarray, "token"]
    rank: Int[np.ndarray, "token"]
    answer: tuple[str, ...]

    @property
    def mean_bits(self) -> float:
        """Bits per token."""
        return float(self.bits.mean())

    @property
    def bits_per_character(self) -> float:
        """Of what stands behind the first token."""
        return float(self.bits.sum() / max(sum(map(len, self.tokens.pieces[1:])), 1))


@dataclass(frozen=True)
class Repeated:
    """A sentence written again and again, read in one pass.

    pieces: of one copy. bits: -log2 p of each token of each copy; the very first token of all has
    no prediction and is nan. penalized: the same after the repetition penalty.
    penalty: what a positive logit of a token that has been there is divided by (a negative one is
    multiplied with it), 1 for none (Keskar et al., 2019).
    """

    pieces: tuple[str, ...]
    bits: Float[np.ndarray, "copy token"]
    penalized: Float[np.ndarray, "copy token"]
    penalty: float

    @property
    def copies(self) -> int:
        """How many times the sentence stands there."""
        return len(self.bits)

    def mean_bits(self, penalized: bool = False) -> Float[np.ndarray, "copy"]:
        """Bits per token of each copy, the first token of each left out, so that all are alike."""
        return np.asarray((self.penalized if penalized else self.bits)[:, 1:].mean(1))

    chance = deprecated.alias("probability")

    def probability(self, copy: int, penalized: bool = False) -> Share:
        """The geometric mean of the probabilities of a copy's tokens; copies count from 1."""
        return float(2 ** -self.mean_bits(penalized)[copy - 1])

    def rises(self, penalized: bool = False) -> Fraction:
        """Of all repetitions, those in which a token is more probable than in the copy before."""
        bits = self.mean_bits(penalized)
        return int((np.diff(bits) < 0).sum()), len(bits) - 1
