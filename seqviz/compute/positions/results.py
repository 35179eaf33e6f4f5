"""What a pretrained model knows of positions: plain arrays, for any model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seqviz.core.units import Exact, WholeShare
from seqviz.stats.facts import Facts

VARIANTS = ("own", "zero", "shuffled", "sinusoidal")
ROUNDING = 1e-6  # of a cosine, in an encoder of float32


@dataclass(frozen=True)
class PositionTable:
    """The learned position vectors of a model, and the lengths of its word vectors.

    model: its title. table: [position, d_model]. words: a sample of word vectors [word, d_model].
    """

    model: str
    table: Float[np.ndarray, "position d_model"]
    words: Float[np.ndarray, "word d_model"]


@dataclass(frozen=True)
class Reordered:
    """Two texts read by one encoder with its position table, without it, and with it in disorder.

    alike: cosine of the two sentence vectors. original_cosine: of the first one's vector with the
    one of the untouched model. previous: the largest share of weight that any head gives to the
    token before. weights: of one head on the first text, [variant, query, key]. left_out: whether a
    text had more tokens than are read.
    """

    model: str
    pieces: tuple[str, ...]
    others: tuple[str, ...]
    variants: tuple[str, ...]
    alike: Float[np.ndarray, "variant"]
    original_cosine: Float[np.ndarray, "variant"]
    previous: Float[np.ndarray, "variant"]
    weights: Float[np.ndarray, "variant query key"]
    layer: int
    head: int
    left_out: bool = False

    def alike_of(self, variant: str) -> Exact:
        """Cosine of the two sentence vectors, with a variant of the table."""
        return float(self.alike[self.variants.index(variant)])

    def kept_of(self, variant: str) -> float:
        """Cosine of the first sentence's vector with the one of the untouched model."""
        return float(self.original_cosine[self.variants.index(variant)])

    def before_of(self, variant: str) -> float:
        """What the head of `weights` gives to the token before, mean over the tokens with one."""
        before = np.diagonal(self.weights[self.variants.index(variant)], -1)
        return float(before.mean()) if before.size else 0.0

    def previous_of(self, variant: str) -> WholeShare:
        """The largest share of weight that any head gives to the token before."""
        return float(self.previous[self.variants.index(variant)])

    def order_effect(self) -> Facts:
        """State how far the other order moves the sentence vector with each table.

        part: of what it is with the model's own table, what it is with sines.
        """
        changes = {name: 1 - self.alike_of(name) for name in self.variants}
        own, variant, part = changes["own"], "", np.nan
        if sorted(self.pieces) != sorted(self.others):
            variant = "other_tokens"
        elif own > ROUNDING:
            variant = "order_hardly" if own < 0.05 else "order_matters"
            part = max(changes["sinusoidal"], 0.0) / own
        rounded = {name: by if by > ROUNDING else 0.0 for name, by in changes.items()}
        return Facts(variant, part=part, **rounded)
