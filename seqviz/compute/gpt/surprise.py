"""Surprisal of the tokens of a text in bits, and the effect of repetition on it."""

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
    """Surprisal of every token of a text but the first under a decoder.

    All arrays begin with the second token.

    Attributes:
        tokens: tokens of the whole text.
        bits: -log2 p of each token.
        entropy: entropy of the predicted distribution in bits, the expected surprisal.
        rank: rank of each token; 1 is the likeliest.
        answer: piece of the likeliest token.
    """

    tokens: Tokens
    bits: Float[np.ndarray, "token"]
    entropy: Float[np.ndarray, "token"]
    rank: Int[np.ndarray, "token"]
    answer: tuple[str, ...]


@dataclass(frozen=True)
class Repeated:
    """Surprisal of a repeated sentence, read in one pass.

    Attributes:
        pieces: pieces of one copy.
        bits: -log2 p of each token of each copy; nan for the very first token, which has no
            prediction.
        penalized: the same with the repetition penalty.
        penalty: repetition penalty; positive logits of tokens seen before are divided by it,
            negative ones multiplied; 1 for none (Keskar et al., 2019).
    """

    pieces: tuple[str, ...]
    bits: Float[np.ndarray, "copy token"]
    penalized: Float[np.ndarray, "copy token"]
    penalty: float

    @property
    def copies(self) -> int:
        """Number of copies."""
        return len(self.bits)

    def mean_bits(self, penalized: bool = False) -> Float[np.ndarray, "copy"]:
        """Return the bits per token of each copy; its first token is left out for comparability."""
        return np.asarray((self.penalized if penalized else self.bits)[:, 1:].mean(1))

    chance = deprecated.alias("probability")

    def probability(self, copy: int, penalized: bool = False) -> Share:
        """Return the geometric mean of the token probabilities of a copy.

        Args:
            copy: the copy, from 1.
            penalized: True with the repetition penalty.
        """
        return float(2 ** -self.mean_bits(penalized)[copy - 1])

    def compared(self) -> Facts:
        """State the probability of the first and last copy, and the number of rises."""
        punished, count = self.penalty != 1, self.copies
        first, last = (self.probability(copy, punished) for copy in (1, count))
        rises = int((np.diff(self.mean_bits(punished)) < 0).sum())
        return Facts(
            "penalty" if punished else "plain", first_copy=first, last_copy=last, copies=count,
            penalty=self.penalty, before=self.probability(count), rises=rises, repeats=count - 1,
        )  # fmt: skip


@dataclass(frozen=True)
class Scored:
    """Text of tokens x_1 ... x_n; the tokens from `first` on carry loss.

    In pre-training `first` = 1: all but the very first. Of an article, a separator and its summary,
    (x_1 ... x_m, delta, y_1 ... y_n), only y carries loss: `first` = m + 1.

    Attributes:
        read: surprisal of the text.
        first: index of the first token with loss, from 0.
    """

    read: Surprise
    first: int

    @property
    def pieces(self) -> tuple[str, ...]:
        """Pieces of all tokens."""
        return self.read.tokens.pieces

    @property
    def bits(self) -> Float[np.ndarray, "token"]:
        """-log2 p of each token; nan for the very first, which has no prediction."""
        return np.concatenate([[np.nan], self.read.bits])

    @property
    def carries(self) -> Bool[np.ndarray, "token"]:
        """True where a token carries loss."""
        return np.asarray(np.arange(len(self.pieces)) >= max(1, self.first))

    @property
    def tokens(self) -> Count:
        """Number of all tokens."""
        return float(len(self.pieces))

    @property
    def scored(self) -> Count:
        """Number of tokens that carry loss."""
        return float(self.carries.sum())

    @property
    def loss(self) -> float:
        """Mean bits of the tokens that carry loss: cross-entropy to base 2."""
        return float(self.bits[self.carries].mean())

    @property
    def nats(self) -> float:
        """The loss in nats, as in PyTorch."""
        return self.loss * float(np.log(2))

    @property
    def perplexity(self) -> float:
        """Perplexity, 2 to the loss: the number of tokens of a uniform guess."""
        return float(2**self.loss)
