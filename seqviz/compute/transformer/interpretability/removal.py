"""What a prediction loses when something is taken from one layer of the model, for every layer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from seqviz.core import deprecated
from seqviz.core.units import Fraction, Share
from seqviz.stats.estimate import Estimate, mean_ci
from seqviz.stats.facts import Facts

# Switched off: attention, MLP, the residual connections, the normalizations. Then a layer is left
# out, changes places with the next one, or is run twice.
CHANGES = ("attention", "mlp", "residual", "norm", "skip", "swap", "repeat")


@dataclass(frozen=True)
class Ablation:
    """One text under one change of each layer, one layer at a time.

    change: one of `CHANGES`. bits: KL divergence of the next token's distribution, untouched
    against changed, in bits; nan where it is not known yet. before: the likeliest token of the
    untouched model. after: that under the change of each layer, empty where it is not known. Of a
    swap the last layer has none after it: one less.
    """

    change: str
    bits: Float[np.ndarray, "layer"]
    before: str
    after: tuple[str, ...]

    @property
    def largest(self) -> int:
        """The layer whose change moves the prediction most, of those that are known."""
        return int(np.nan_to_num(self.bits, nan=-1.0).argmax())

    most = deprecated.alias("largest_shift")

    @property
    def largest_shift(self) -> float:
        """How far it moves it, in bits."""
        return float(np.nanmax(self.bits, initial=0.0))

    @property
    def median(self) -> float:
        """The median over the layers, in bits."""
        finite = self.bits[np.isfinite(self.bits)]
        return float(np.median(finite)) if finite.size else 0.0

    @property
    def same(self) -> Fraction:
        """Layers under whose change the likeliest token stays what it is, of how many."""
        return sum(piece == self.before for piece in self.after), len(self.bits)

    def summary(self) -> Facts:
        """State the layer that is missed most, against the median of all."""
        same, layers = self.same
        return Facts(
            layer=self.largest, most=self.largest_shift, after=self.after[self.largest],
            before=self.before, median=self.median, same=same, layers=layers,
        )  # fmt: skip


@dataclass(frozen=True)
class AblationSweep:
    """Many texts under every change of each layer.

    bits: as in `Removal`, nan for a swap of the last layer. is_unchanged: whether the likeliest
    token stayed.
    """

    bits: Float[np.ndarray, "change text layer"]
    is_unchanged: Bool[np.ndarray, "change text layer"]
    texts: int
    tokens: int

    def of(self, change: str) -> Float[np.ndarray, "text layer"]:
        """The bits of one change, without a layer that has none."""
        result = self.bits[CHANGES.index(change)]
        return result[:, np.isfinite(result).all(0)]

    def means(self, change: str) -> Estimate:
        """The mean over the texts, of each layer."""
        return mean_ci(self.of(change), source="texts")

    def largest(self, change: str) -> int:
        """The layer with the largest mean."""
        return int(self.means(change).mean.argmax())

    def mean_of(self, change: str, layer: int) -> Estimate:
        """The mean of one layer."""
        return self.means(change)[layer]

    def median(self, change: str) -> float:
        """The median of the means of all layers."""
        return float(np.median(self.means(change).mean))

    def kept_share(self, change: str, layer: int) -> Share:
        """The share of the texts whose likeliest token stays."""
        return float(self.is_unchanged[CHANGES.index(change)][:, layer].mean())

    def summary(self, change: str) -> Facts:
        """State the layer that is missed most on average, against the median of all."""
        layer = self.largest(change)
        return Facts(
            texts=self.texts, tokens=self.tokens, layer=layer, mean=self.mean_of(change, layer),
            median=self.median(change), kept=self.kept_share(change, layer),
        )  # fmt: skip


def of_change(ablations: Sequence[Ablation], change: str) -> Ablation:
    """The one of this name."""
    return next(item for item in ablations if item.change == change)


def divergence(
    before: Float[np.ndarray, "vocabulary"], after: Float[np.ndarray, "row vocabulary"]
) -> Float[np.ndarray, "row"]:
    """KL(before || after) in bits, of logarithms of probabilities (natural)."""
    return (np.exp(before) * (before - after)).sum(-1) / math.log(2)
