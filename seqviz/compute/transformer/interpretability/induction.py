"""What a decoder gains from having seen the same tokens before, and which heads it needs for it.

Olsson et al. (2022): a head whose query looks at the token that came next the first time (its map
of weights has a stripe) copies; such heads are named induction heads.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.core.units import Share
from seqviz.stats.estimate import Estimate, ShareEstimate, mean_ci, paired_difference
from seqviz.stats.facts import Facts

HEAD_CHOICES = ("best", "random")


@dataclass(frozen=True)
class Induction:
    """Sequences of random tokens, each read twice in a row, with heads of a decoder switched off.

    heads: layer and head of those with the strongest stripe on other sequences than these, the
    strongest first. stripe: what each gives to the token that came next the first time, a mean over
    the queries of the second copy. maps: the weights of each, a mean over the sequences; queries
    and keys from 0. losses: bits of each token but the first, with so many heads off (0 to all of
    `heads`): the foremost of `heads` ("best"), or as many drawn from all others ("random"), anew
    for each sequence. even: the stripe of a head that gives all it may see alike. all_heads, words:
    of the model. pieces: the tokens, where there is one sequence only.
    """

    heads: Int[np.ndarray, "rank 2"]
    stripe: Float[np.ndarray, "sequence rank"]
    maps: Float[np.ndarray, "rank query key"]
    losses: Float[np.ndarray, "kind off sequence token"]
    even: float
    all_heads: int
    words: int
    pieces: tuple[str, ...]

    @property
    def sequences(self) -> int:
        """How many there are."""
        return len(self.stripe)

    @property
    def length(self) -> int:
        """Tokens of one copy."""
        return self.maps.shape[-1] // 2

    @property
    def alike(self) -> float:
        """Bits of a token if all of the vocabulary were as likely."""
        return math.log2(self.words)

    @property
    def first(self) -> float:
        """Bits of a token of the first copy, with all heads; the first token has no prediction."""
        return float(self.losses[0, 0, :, : self.length - 1].mean())

    @property
    def second(self) -> float:
        """Bits of a token of the second copy but its first, which nothing announces; all heads."""
        return float(self.losses[0, 0, :, self.length :].mean())

    def loss(self, kind: str, off: int) -> Estimate:
        """Bits of each token but the first, a mean over the sequences."""
        return mean_ci(self._of(kind, off), source="sequences")

    def gain(self, kind: str, off: int) -> Estimate:
        """By how many bits the second copy is cheaper than the first, with these heads off."""
        values = self._of(kind, off)
        copies = values[:, : self.length - 1].mean(1), values[:, self.length :].mean(1)
        return paired_difference(*copies, source="sequences")

    def gain_left(self, kind: str, off: int) -> Share:
        """What is left of the gain that the model has with all its heads."""
        return float(self.gain(kind, off).mean / self.gain(kind, 0).mean)

    def stripe_of(self, rank: int) -> ShareEstimate:
        """The stripe of the head of this rank, from 0; a mean over the sequences."""
        return mean_ci(self.stripe[:, rank], source="sequences").clip(0, 1)

    def name(self, rank: int) -> str:
        """Layer and head of this rank, as "18.6"."""
        layer, head = self.heads[rank]
        return f"{layer}.{head}"

    def summary(self, off: int) -> Facts:
        """State what the second copy gains, with all heads and with so many off."""
        variant = ("many" if self.sequences > 1 else "one") + ("" if off else "_none")
        return Facts(
            variant, sequences=self.sequences, first=self.first, second=self.second, off=off,
            gain=self.gain("best", 0), best=self.gain("best", off),
            random=self.gain("random", off), remainder=self.gain_left("best", off),
            heads=self.all_heads, head=self.name(0), stripe=self.stripe_of(0), even=self.even,
        )  # fmt: skip

    def _of(self, kind: str, off: int) -> Float[np.ndarray, "sequence token"]:
        values: np.ndarray = self.losses[HEAD_CHOICES.index(kind), off]
        return values


def stripe(
    weights: Float[np.ndarray, "*head query key"], length: int
) -> Float[np.ndarray, "*head"]:
    """The mean weight of the second copy on the token that came next the first time.

    Of all queries of the second copy but its last, whose next token the first copy does not have.
    """
    queries = length + np.arange(length - 1)
    return np.asarray(weights[..., queries, queries - length + 1].mean(-1))
