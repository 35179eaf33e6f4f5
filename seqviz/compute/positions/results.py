"""Results about positions in pretrained models: plain arrays, for any model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seqviz.core.units import Exact, WholeShare
from seqviz.stats.facts import Facts

VARIANTS = ("own", "zero", "shuffled", "sinusoidal")
ROUNDING = 1e-6  # of a cosine, in a float32 encoder


@dataclass(frozen=True)
class PositionTable:
    """Learned position vectors of a model.

    Attributes:
        model: title of the model.
        table: position vectors.
        words: a sample of word vectors, to compare their norms.
    """

    model: str
    table: Float[np.ndarray, "position d_model"]
    words: Float[np.ndarray, "word d_model"]


@dataclass(frozen=True)
class Reordered:
    """Two texts read by one encoder with variants of its position table.

    Attributes:
        pieces: tokens of the first text.
        others: tokens of the second text.
        variants: variants of the table: its own, zeros, shuffled rows, or sinusoids.
        alike: cosine of the two sentence vectors.
        original_cosine: cosine of the first sentence's vector with that of the untouched model.
        previous: largest share of weight of any head on the token before.
        weights: weights of one head on the first text.
        left_out: True where a text had more tokens than are read.
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
        """Return the cosine of the two sentence vectors, with a variant of the table."""
        return float(self.alike[self.variants.index(variant)])

    def kept_of(self, variant: str) -> float:
        """Return the cosine of the first sentence's vector with that of the untouched model."""
        return float(self.original_cosine[self.variants.index(variant)])

    def before_of(self, variant: str) -> float:
        """Return the mean weight of one head (`weights`) on the token before."""
        before = np.diagonal(self.weights[self.variants.index(variant)], -1)
        return float(before.mean()) if before.size else 0.0

    def previous_of(self, variant: str) -> WholeShare:
        """Return the largest share of weight of any head on the token before."""
        return float(self.previous[self.variants.index(variant)])

    def order_effect(self) -> Facts:
        """State the change of the sentence vector by the other order with each table.

        `part` is the change with sinusoids as a share of that with the model's own table.
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
