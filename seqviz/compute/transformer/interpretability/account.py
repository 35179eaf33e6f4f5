"""Direct logit attribution: contributions of embedding, attention and MLPs to a logit.

The scale of the last normalization depends on all parts together; it is frozen at its value in the
forward pass, so that the rest is linear (Elhage et al. 2021, "direct logit attribution").
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from seqviz.compute.attention.tokens import Tokens
from seqviz.core import deprecated
from seqviz.core.units import Exact, Probability, Share
from seqviz.stats.facts import Facts


@dataclass(frozen=True)
class LogitAttribution:
    """Logit of a token, or difference of two logits, as a sum of parts.

    Attributes:
        tokens: the text; the logit is that of the token behind the last.
        target: the token as displayed.
        against: the token whose logit is subtracted, as displayed; "" for none.
        parts: contributions in the order of the residual stream: the embedding, then attention and
            MLP of each layer.
        logit: the model's own logit, or difference.
        probability: probability of the target.
        rank: rank of the target; 1 is the likeliest.
        scale: factor of the last normalization.
    """

    tokens: Tokens
    target: str
    against: str
    parts: Float[np.ndarray, "part"]
    logit: Exact
    probability: Probability
    rank: int
    scale: float

    @property
    def layers(self) -> int:
        """Number of layers of the model."""
        return len(self.parts) // 2

    @property
    def total(self) -> Exact:
        """Sum of all parts."""
        return float(self.parts.sum())

    @property
    def gap(self) -> float:
        """Absolute difference of the sum from the model's own logit: rounding."""
        return abs(self.total - self.logit)

    @property
    def attention(self) -> Float[np.ndarray, "layer"]:
        """Contributions of attention."""
        return self.parts[1::2]

    @property
    def mlp(self) -> Float[np.ndarray, "layer"]:
        """Contributions of the MLPs."""
        return self.parts[2::2]

    @property
    def largest(self) -> int:
        """Index of the part with the largest absolute contribution."""
        return int(np.abs(self.parts).argmax())

    most = deprecated.alias("largest_value")

    @property
    def largest_value(self) -> float:
        """Contribution of the part `largest`."""
        return float(self.parts[self.largest])

    @property
    def half(self) -> int:
        """First part from which on the running sum stays beyond half of the total."""
        return passed_for_good(self.parts)

    def summary(self) -> Facts:
        """State the logit as a sum of parts, and the rounding error of the sum."""
        return Facts(
            "difference" if self.against else "logit",
            target=self.target, against=self.against, logit=self.logit, layers=self.layers,
            embedding=float(self.parts[0]), attention=float(self.attention.sum()),
            mlp=float(self.mlp.sum()), gap=self.gap,
        )  # fmt: skip


@dataclass(frozen=True)
class CapitalAttributions:
    """Logit of each capital against the mean of the others, as a sum of parts.

    Attributes:
        countries: name of each country.
        parts: contributions by country, in the order of `LogitAttribution.parts`.
        is_known: whether the likeliest token after the text is the capital.
    """

    countries: tuple[str, ...]
    parts: Float[np.ndarray, "country part"]
    is_known: Bool[np.ndarray, "country"]

    @property
    def known_countries(self) -> tuple[str, ...]:
        """The countries whose capital the model names."""
        return tuple(name for name, is_known in zip(self.countries, self.is_known, strict=True)
                     if is_known)  # fmt: skip

    @property
    def shares(self) -> Float[np.ndarray, "known part"]:
        """Contributions as shares of the difference, for the known countries."""
        parts = self.parts[self.is_known]
        return parts / parts.sum(1, keepdims=True)

    @property
    def attention(self) -> Float[np.ndarray, "known"]:
        """Share of all attentions together."""
        return self.shares[:, 1::2].sum(1)

    @property
    def largest(self) -> int:
        """The part that is the largest one for most of the known countries."""
        return int(np.bincount(np.abs(self.shares).argmax(1)).argmax())

    @property
    def largest_share(self) -> Float[np.ndarray, "known"]:
        """Share of the part `largest`."""
        return self.shares[:, self.largest]

    @property
    def largest_count(self) -> int:
        """Number of known countries for which `largest` is the largest part."""
        return int((np.abs(self.shares).argmax(1) == self.largest).sum())

    @property
    def attention_mean(self) -> Share:
        """Share of all attentions, mean over the known countries."""
        return float(self.attention.mean())

    def summary(self) -> Facts:
        """State the part that is most often the largest, and the share of all attentions."""
        return Facts(
            known=len(self.known_countries), of=len(self.countries), count=self.largest_count,
            attention=self.attention_mean, least=float(self.attention.min()),
            most=float(self.attention.max()),
        )  # fmt: skip


@dataclass(frozen=True)
class Split:
    """Contribution of one part, split into attention heads or neurons.

    Attributes:
        part: index of the part in `LogitAttribution.parts`.
        kind: "embedding", "attention" or "mlp".
        numbers: indices of the heads in order, or of the neurons by descending absolute
            contribution.
        values: their contributions.
        rest: total contribution of all other neurons.
        others: their number.
    """

    part: int
    kind: str
    numbers: Int[np.ndarray, "unit"]
    values: Float[np.ndarray, "unit"]
    rest: float
    others: int

    @property
    def total(self) -> Exact:
        """Sum of the units and the rest: the contribution of the part."""
        return float(self.values.sum()) + self.rest

    @property
    def foremost(self) -> int:
        """Index of the unit with the largest absolute contribution."""
        return int(self.numbers[np.abs(self.values).argmax()])

    def summary(self) -> Facts:
        """State the unit with the largest absolute contribution, and the rest."""
        value = float(self.values[np.abs(self.values).argmax()])
        return Facts(self.kind, total=self.total, best=self.foremost, value=value,
                     rest=self.rest, others=self.others)  # fmt: skip


def part_location(part: int) -> tuple[str, int]:
    """Return kind and layer of a part: 0 is the embedding (layer -1), 1 attention of layer 0."""
    if part == 0:
        return "embedding", -1
    return ("mlp" if part % 2 == 0 else "attention"), (part - 1) // 2


def passed_for_good(parts: Float[np.ndarray, "part"]) -> int:
    """Return the first part from which on the running sum stays beyond half of the total."""
    share = np.cumsum(parts) / (parts.sum() or 1.0)
    below = np.flatnonzero(share < 0.5)
    return min(int(below[-1]) + 1 if below.size else 0, len(parts) - 1)


def foremost(
    values: Float[np.ndarray, "unit"], count: int
) -> tuple[Int[np.ndarray, "kept"], Float[np.ndarray, "kept"], float]:
    """Select the units with the largest absolute contributions.

    Args:
        values: contribution of each unit.
        count: number of units selected.

    Returns:
        Their indices, their contributions, and the total contribution of all others.
    """
    order = np.argsort(-np.abs(values), kind="stable")[:count]
    rest = float(np.delete(values, order).sum())
    return order, values[order], rest
