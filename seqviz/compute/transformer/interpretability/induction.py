"""Induction heads of a decoder: gain of bits on repeated tokens, and its loss without heads.

An induction head attends from a token to the token that followed its first occurrence (a stripe in
its attention map), and copies it (Olsson et al. 2022).
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
    """Sequences of random tokens, each repeated once, with heads of a decoder ablated.

    Attributes:
        heads: layer and head of those with the strongest stripe on other sequences, strongest
            first.
        stripe: weight of each on the token that followed the first occurrence, mean over the
            queries of the second copy.
        maps: attention weights of each, mean over the sequences.
        losses: bits of each token but the first with 0 to all of `heads` ablated: the strongest
            ("best"), or as many of all other heads, drawn anew for each sequence ("random").
        even: stripe of a head with uniform attention.
        all_heads: number of heads of the model.
        words: size of its vocabulary.
        pieces: tokens, for a single sequence only.
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
        """Number of sequences."""
        return len(self.stripe)

    @property
    def length(self) -> int:
        """Tokens of one copy."""
        return self.maps.shape[-1] // 2

    @property
    def alike(self) -> float:
        """Bits of a token under a uniform distribution over the vocabulary."""
        return math.log2(self.words)

    @property
    def first(self) -> float:
        """Bits per token of the first copy with all heads; its first token is not predicted."""
        return float(self.losses[0, 0, :, : self.length - 1].mean())

    @property
    def second(self) -> float:
        """Bits per token of the second copy with all heads, without its unpredictable first one."""
        return float(self.losses[0, 0, :, self.length :].mean())

    def loss(self, kind: str, off: int) -> Estimate:
        """Return the bits of each token but the first, mean over sequences.

        Args:
            kind: one of `HEAD_CHOICES`.
            off: number of ablated heads.
        """
        return mean_ci(self._of(kind, off), source="sequences")

    def gain(self, kind: str, off: int) -> Estimate:
        """Return the difference in bits per token, first copy minus second.

        Args:
            kind: one of `HEAD_CHOICES`.
            off: number of ablated heads.
        """
        values = self._of(kind, off)
        copies = values[:, : self.length - 1].mean(1), values[:, self.length :].mean(1)
        return paired_difference(*copies, source="sequences")

    def gain_left(self, kind: str, off: int) -> Share:
        """Return the gain as a share of the gain of the full model.

        Args:
            kind: one of `HEAD_CHOICES`.
            off: number of ablated heads.
        """
        return float(self.gain(kind, off).mean / self.gain(kind, 0).mean)

    def stripe_of(self, rank: int) -> ShareEstimate:
        """Return the stripe of the head of this rank, from 0; mean over sequences."""
        return mean_ci(self.stripe[:, rank], source="sequences").clip(0, 1)

    def name(self, rank: int) -> str:
        """Return layer and head of this rank, such as "18.6"."""
        layer, head = self.heads[rank]
        return f"{layer}.{head}"

    def summary(self, off: int) -> Facts:
        """State the gain of the second copy, with all heads and with `off` of them ablated."""
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
    """Return the mean weight of the second copy on the token that followed the first occurrence.

    The mean is over all queries of the second copy but its last, which has no such token.

    Args:
        weights: attention weights.
        length: tokens of one copy.
    """
    queries = length + np.arange(length - 1)
    return np.asarray(weights[..., queries, queries - length + 1].mean(-1))
