"""Which tokens of a text are read only, and which a language model is scored on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from seqviz.compute.gpt.surprise import Surprise
from seqviz.core.units import Count


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
        """Whether a token carries loss."""
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
