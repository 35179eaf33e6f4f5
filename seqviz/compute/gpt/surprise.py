"""What the tokens of a text cost a model in bits, and what repetition does to that."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from seqviz.compute.attention.tokens import Tokens
from seqviz.core import deprecated
from seqviz.core.units import Count, Share
from seqviz.stats.facts import Facts


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

    def compared(self) -> Facts:
        """State how probable first and last copy are, and how often a copy is more so."""
        punished, count = self.penalty != 1, self.copies
        first, last = (self.probability(copy, punished) for copy in (1, count))
        rises = int((np.diff(self.mean_bits(punished)) < 0).sum())
        return Facts(
            "penalty" if punished else "plain", first_copy=first, last_copy=last, copies=count,
            penalty=self.penalty, before=self.probability(count), rises=rises, repeats=count - 1,
        )  # fmt: skip


@dataclass(frozen=True)
class Scored:
    """A text of tokens x_1 ... x_n; those from `first` on (counted from 0) carry loss.

    In pre-training all but the very first do, `first` = 1. Of an article, a separator and its
    summary, (x_1 ... x_m, delta, y_1 ... y_n), only y does, `first` = m + 1.
    """

    read: Surprise
    first: int

    @property
    def pieces(self) -> tuple[str, ...]:
        """Of all tokens."""
        return self.read.tokens.pieces

    @property
    def bits(self) -> Float[np.ndarray, "token"]:
        """-log2 p of each token; nan for the very first, which nothing predicts."""
        return np.concatenate([[np.nan], self.read.bits])

    @property
    def carries(self) -> Bool[np.ndarray, "token"]:
        """Mask of the tokens that carry loss."""
        return np.asarray(np.arange(len(self.pieces)) >= max(1, self.first))

    @property
    def tokens(self) -> Count:
        """How many tokens there are in all."""
        return float(len(self.pieces))

    @property
    def scored(self) -> Count:
        """How many carry loss."""
        return float(self.carries.sum())

    @property
    def loss(self) -> float:
        """The mean of their bits: cross-entropy to base 2."""
        return float(self.bits[self.carries].mean())

    @property
    def nats(self) -> float:
        """The same with natural logarithms, as PyTorch counts."""
        return self.loss * float(np.log(2))
