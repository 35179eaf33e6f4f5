"""What a model would say after each layer: the stream there, read by the model's own last step."""

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
    """The logit lens (nostalgebraist 2020): layers x the last tokens of a text.

    tokens: what was read. pieces: those that are looked at. likeliest: the token that is likeliest
    by the stream of a layer at a place; row 0 is the embedding, the last row the model's own
    output. probability: its own. answer: the probability of the token that is likeliest in the
    end, at the same place. bits: KL divergence of the distribution in the end from that of the
    layer, in bits. decoder: whether a place stands for the token behind it, or for its own (an
    encoder fills in).
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
        """The embedding and the layers."""
        return len(self.likeliest)

    def settled_layer(self, index: int) -> int:
        """The first row from which on the likeliest token at a place is that of the end."""
        last = self.likeliest[-1][index]
        others = [row for row in range(self.rows) if self.likeliest[row][index] != last]
        return others[-1] + 1 if others else 0

    median_settled = deprecated.alias("median_settled_layer")

    @property
    def median_settled_layer(self) -> int | float:
        """The median of that row over all places: a whole row, or half between two."""
        result = float(np.median([self.settled_layer(k) for k in range(len(self.pieces))]))
        return int(result) if result.is_integer() else result

    def chance_of(self, index: int) -> Probability:
        """The probability of the likeliest token in the end."""
        return float(self.probability[-1, index])

    def before_settled(self, index: int) -> Probability:
        """What the answer had one row before it became the likeliest for good."""
        return float(self.answer[max(0, self.settled_layer(index) - 1), index])

    def largest_bits(self, index: int) -> float:
        """How far a reading at a place is away from the end, at the most."""
        return float(self.bits[:-1, index].max(initial=0))

    def summary(self, index: int) -> Facts:
        """State with what the model ends at a place, and from which row on it is likeliest."""
        return Facts(
            "committed" if self.settled_layer(index) else "always",
            token=self.pieces[index], answer=self.likeliest[-1][index],
            chance=self.chance_of(index), before=self.before_settled(index),
            bits=self.largest_bits(index), last=self.rows - 1,
        )  # fmt: skip
