"""A logit as a sum: what the embedding, each attention and each MLP of a decoder add to it.

The last normalization divides by a number that depends on all parts together; it is kept as it came
out (frozen), so that what is left is linear (Elhage et al. 2021, "direct logit attribution").
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.attention.tokens import Tokens
from seqviz.core import deprecated
from seqviz.core.units import Exact, Probability
from seqviz.stats.facts import Facts


@dataclass(frozen=True)
class LogitAttribution:
    """The logit of one token, or of one minus that of another, as a sum of parts.

    tokens: what was read; the logit is that of the token behind the last. target, against: the
    tokens as they are shown; against is empty where there is no other. parts: what is added, in
    the order of the stream: the embedding, then attention and MLP of each layer. logit: of the
    model itself. probability, rank: of the target, rank 1 the likeliest. scale: what the last
    normalization multiplied with.
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
        """How many layers the model has."""
        return len(self.parts) // 2

    @property
    def total(self) -> Exact:
        """The sum of all parts."""
        return float(self.parts.sum())

    @property
    def gap(self) -> float:
        """By how much the sum misses the model's own logit: rounding."""
        return abs(self.total - self.logit)

    @property
    def attention(self) -> Float[np.ndarray, "layer"]:
        """What the attentions add."""
        return self.parts[1::2]

    @property
    def mlp(self) -> Float[np.ndarray, "layer"]:
        """What the MLPs add."""
        return self.parts[2::2]

    @property
    def largest(self) -> int:
        """The part that adds most in size."""
        return int(np.abs(self.parts).argmax())

    most = deprecated.alias("largest_value")

    @property
    def largest_value(self) -> float:
        """What that part adds."""
        return float(self.parts[self.largest])

    @property
    def half(self) -> int:
        """The part at which the running sum passes half of the logit for good."""
        return passed_for_good(self.parts)

    def summary(self) -> Facts:
        """State the logit as a sum, and by how much the sum misses it."""
        return Facts(
            "difference" if self.against else "logit",
            target=self.target, against=self.against, logit=self.logit, layers=self.layers,
            embedding=float(self.parts[0]), attention=float(self.attention.sum()),
            mlp=float(self.mlp.sum()), gap=self.gap,
        )  # fmt: skip


@dataclass(frozen=True)
class Split:
    """One part of an account into its own parts: heads, or the foremost neurons and the rest.

    part: its number in the account. kind: "embedding", "attention" or "mlp". numbers: of heads or
    neurons, the largest in size first for neurons, in their order for heads. values: what each
    adds. rest: what the other neurons add together, and `others` how many they are.
    """

    part: int
    kind: str
    numbers: Int[np.ndarray, "unit"]
    values: Float[np.ndarray, "unit"]
    rest: float
    others: int

    @property
    def total(self) -> Exact:
        """The sum of the units and the rest: the bar of the account."""
        return float(self.values.sum()) + self.rest

    @property
    def foremost(self) -> int:
        """The number of the unit that adds most in size."""
        return int(self.numbers[np.abs(self.values).argmax()])

    def summary(self) -> Facts:
        """State which unit adds most in size, and what is left for the others."""
        value = float(self.values[np.abs(self.values).argmax()])
        return Facts(self.kind, total=self.total, best=self.foremost, value=value,
                     rest=self.rest, others=self.others)  # fmt: skip


def part_location(part: int) -> tuple[str, int]:
    """The kind and the layer of a part: 0 is the embedding (layer -1), 1 attention of layer 0."""
    if part == 0:
        return "embedding", -1
    return ("mlp" if part % 2 == 0 else "attention"), (part - 1) // 2


def passed_for_good(parts: Float[np.ndarray, "part"]) -> int:
    """The first part from which on the running sum stays beyond half of the whole sum."""
    share = np.cumsum(parts) / (parts.sum() or 1.0)
    below = np.flatnonzero(share < 0.5)
    return min(int(below[-1]) + 1 if below.size else 0, len(parts) - 1)


def foremost(
    values: Float[np.ndarray, "unit"], count: int
) -> tuple[Int[np.ndarray, "kept"], Float[np.ndarray, "kept"], float]:
    """The units that add most in size, what each adds, and what all others add together."""
    order = np.argsort(-np.abs(values), kind="stable")[:count]
    rest = float(np.delete(values, order).sum())
    return order, values[order], rest
