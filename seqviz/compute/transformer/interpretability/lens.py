"""Logit lens: prediction of a model from the residual stream after each layer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seqviz.compute.attention.tokens import Tokens
from seqviz.core import deprecated
from seqviz.core.units import Probability
from seqviz.stats.facts import Facts


@dataclass(frozen=True)
class Lens:
    """Logit lens (nostalgebraist 2020) on the last tokens of a text.

    Row 0 is the embedding, the last row the model's own output.

    Attributes:
        pieces: the tokens examined.
        likeliest: likeliest token by the stream of each row.
        probability: its probability.
        answer: probability, in each row, of the token that the last row predicts.
        bits: KL divergence of the final distribution from that of the row, in bits.
        decoder: True where a position predicts the next token; an encoder predicts the token there.
    """

    tokens: Tokens
    pieces: tuple[str, ...]
    likeliest: tuple[tuple[str, ...], ...]
    probability: Float[np.ndarray, "row token"]
    answer: Float[np.ndarray, "row token"]
    bits: Float[np.ndarray, "row token"]
    decoder: bool

    @property
    def rows(self) -> int:
        """Number of rows: the embedding and the layers."""
        return len(self.likeliest)

    def settled_layer(self, index: int) -> int:
        """Return the first row from which on the likeliest token is the final one."""
        last = self.likeliest[-1][index]
        others = [row for row in range(self.rows) if self.likeliest[row][index] != last]
        return others[-1] + 1 if others else 0

    median_settled = deprecated.alias("median_settled_layer")

    @property
    def median_settled_layer(self) -> int | float:
        """Median of `settled_layer` over all positions: a whole number, or half between two."""
        result = float(np.median([self.settled_layer(k) for k in range(len(self.pieces))]))
        return int(result) if result.is_integer() else result

    def chance_of(self, index: int) -> Probability:
        """Return the probability of the final prediction."""
        return float(self.probability[-1, index])

    def before_settled(self, index: int) -> Probability:
        """Return the probability of the final prediction one row before `settled_layer`."""
        return float(self.answer[max(0, self.settled_layer(index) - 1), index])

    def largest_bits(self, index: int) -> float:
        """Return the largest divergence of a row from the final distribution, in bits."""
        return float(self.bits[:-1, index].max(initial=0))

    def summary(self, index: int) -> Facts:
        """State the final prediction at a position, and its probability before it settles."""
        return Facts(
            "committed" if self.settled_layer(index) else "always",
            token=self.pieces[index], answer=self.likeliest[-1][index],
            chance=self.chance_of(index), before=self.before_settled(index),
            bits=self.largest_bits(index), last=self.rows - 1,
        )  # fmt: skip
