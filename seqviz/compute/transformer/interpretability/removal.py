"""Layer ablation: change of a prediction when one part of one layer is removed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Float

from seqviz.core import deprecated
from seqviz.core.units import Fraction, Probability, Share
from seqviz.stats.estimate import Estimate, mean_ci
from seqviz.stats.facts import Facts

# The first four remove a part: attention, MLP, residual connections, normalizations. The others
# skip a layer, swap it with the next one, or run it twice.
CHANGES = ("attention", "mlp", "residual", "norm", "skip", "swap", "repeat")


@dataclass(frozen=True)
class Ablation:
    """One text under one change of each layer, one layer at a time.

    Attributes:
        change: one of `CHANGES`.
        bits: KL divergence of the next-token distribution, unchanged from changed, in bits; nan
            where not computed yet. A swap has none for the last layer.
        before: likeliest token of the unchanged model.
        after: likeliest token under the change of each layer; "" where not computed yet.
        probability: probability of `before` in the unchanged model; nan where it was not recorded.
        changed: probability of the same token under the change of each layer; nan where not
            computed yet, empty where not recorded.
    """

    change: str
    bits: Float[np.ndarray, "layer"]
    before: str
    after: tuple[str, ...]
    probability: Probability = math.nan
    changed: Float[np.ndarray, "layer"] = field(default_factory=lambda: np.zeros(0))

    @property
    def largest(self) -> int:
        """Layer with the largest divergence, of those computed."""
        return int(np.nan_to_num(self.bits, nan=-1.0).argmax())

    most = deprecated.alias("largest_shift")

    @property
    def largest_shift(self) -> float:
        """Largest divergence in bits."""
        return float(np.nanmax(self.bits, initial=0.0))

    @property
    def median(self) -> float:
        """Median over the layers, in bits."""
        finite = self.bits[np.isfinite(self.bits)]
        return float(np.median(finite)) if finite.size else 0.0

    @property
    def same(self) -> Fraction:
        """Number of layers whose change keeps the likeliest token, and of all layers."""
        return sum(piece == self.before for piece in self.after), len(self.bits)

    def summary(self) -> Facts:
        """State the layer with the largest divergence, against the median."""
        same, layers = self.same
        return Facts(
            layer=self.largest, most=self.largest_shift, after=self.after[self.largest],
            before=self.before, median=self.median, same=same, layers=layers,
            probability=self.probability,
            changed=float(self.changed[self.largest]) if self.changed.size else math.nan,
        )  # fmt: skip


@dataclass(frozen=True)
class AblationSweep:
    """Many texts under every change of each layer.

    Attributes:
        bits: as in `Ablation`; nan for a swap of the last layer.
        is_unchanged: True where the likeliest token stays the same.
    """

    bits: Float[np.ndarray, "change text layer"]
    is_unchanged: Bool[np.ndarray, "change text layer"]
    texts: int
    tokens: int

    def of(self, change: str) -> Float[np.ndarray, "text layer"]:
        """Return the bits of one change, without layers that have none."""
        result = self.bits[CHANGES.index(change)]
        return result[:, np.isfinite(result).all(0)]

    def means(self, change: str) -> Estimate:
        """Return the bits of each layer, mean over texts."""
        return mean_ci(self.of(change), source="texts")

    def largest(self, change: str) -> int:
        """Return the layer with the largest mean."""
        return int(self.means(change).mean.argmax())

    def mean_of(self, change: str, layer: int) -> Estimate:
        """Return the bits of one layer, mean over texts.

        Args:
            change: one of `CHANGES`.
            layer: the layer, from 0.
        """
        return self.means(change)[layer]

    def median(self, change: str) -> float:
        """Return the median over layers of the mean bits."""
        return float(np.median(self.means(change).mean))

    def kept_share(self, change: str, layer: int) -> Share:
        """Return the share of texts with an unchanged likeliest token.

        Args:
            change: one of `CHANGES`.
            layer: the layer, from 0.
        """
        return float(self.is_unchanged[CHANGES.index(change)][:, layer].mean())

    def median_kept(self, change: str) -> Share:
        """Return the median over layers of the share of texts with the same likeliest token."""
        at = CHANGES.index(change)
        layers = np.isfinite(self.bits[at]).all(0)
        return float(np.median(self.is_unchanged[at][:, layers].mean(0)))

    def summary(self, change: str) -> Facts:
        """State the layer with the largest mean divergence, against the median."""
        layer = self.largest(change)
        return Facts(
            texts=self.texts, tokens=self.tokens, layer=layer, mean=self.mean_of(change, layer),
            median=self.median(change), kept=self.kept_share(change, layer),
            median_kept=self.median_kept(change),
        )  # fmt: skip


def of_change(ablations: Sequence[Ablation], change: str) -> Ablation:
    """Return the ablation of this change.

    Args:
        ablations: one for each change.
        change: one of `CHANGES`.
    """
    return next(item for item in ablations if item.change == change)


def divergence(
    before: Float[np.ndarray, "vocabulary"], after: Float[np.ndarray, "row vocabulary"]
) -> Float[np.ndarray, "row"]:
    """Return KL(before || after) in bits.

    Args:
        before: natural log-probabilities.
        after: likewise, one row for each change.
    """
    return (np.exp(before) * (before - after)).sum(-1) / math.log(2)
