"""Padding, causal and token masks on one matrix of scores: minus infinity, or times zero."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from seqviz.compute.attention.scaled import OPERATORS, softmax
from seqviz.compute.transformer.normalization import read
from seqviz.core.errors import UserError
from seqviz.core.units import Share
from seqviz.stats.facts import Facts

MASK_KINDS = ("none", "causal", "padding", "both", "token")
SCORES = "2 1 3, 1 2 0.5, 0.3 1 2"  # three words (S2 multiplies the mask into such a matrix)


@dataclass(frozen=True)
class MaskedScores:
    """Scores, who may look at whom, and the weights with either operator, in that order."""

    scores: Float[np.ndarray, "query key"]
    allowed: Bool[np.ndarray, "query key"]
    weights: Float[np.ndarray, "operator query key"]

    def leak(self, operator: str) -> Share:
        """The weight on forbidden keys, a mean over the queries."""
        result = self.weights[OPERATORS.index(operator)]
        return float(result[~self.allowed].sum() / len(result))

    @property
    def leaked(self) -> Share:
        """What leaks where forbidden scores are multiplied by 0."""
        return self.leak("multiply")

    @property
    def worst(self) -> Share:
        """The largest weight on forbidden keys that one query has under multiplication."""
        result = np.where(self.allowed, 0, self.weights[OPERATORS.index("multiply")])
        return float(result.sum(axis=1).max())

    def compared(self) -> Facts:
        """State what leaks to forbidden keys where scores are multiplied by 0."""
        closed = int((~self.allowed).sum())
        return Facts(
            "closed" if closed else "open", closed=closed, cells=self.allowed.size,
            leaked=self.leaked, worst=self.worst,
        )  # fmt: skip


def masked(
    scores: str = SCORES, kind: str = "causal", pads: int = 1, hidden: int = 1
) -> MaskedScores:
    """The weights of written scores under one of `KINDS`.

    "causal": a query sees itself and what stands before it. "padding": nobody sees the last `pads`
    keys. "both": both. "token": nobody sees key `hidden`, from 1. As everywhere with padding, a pad
    is hidden as a key; its own query still has a row, which nobody reads. Operators: -inf is added
    before the softmax (Vaswani et al. 2017), or the score is multiplied by 0 (S2),
    which leaves exp(0).
    Raises ValueError for another kind, UserError "square" for scores that are no square, and what
    `read` refuses.
    """
    several = read(scores)
    result = several[0]
    if result.shape[0] != result.shape[1] or len(several) > 1:
        raise UserError("square", "As many rows as numbers in a row: a row for each query.")
    if kind not in MASK_KINDS:
        raise ValueError(f"The mask is one of {', '.join(MASK_KINDS)}, not {kind!r}.")
    n = len(result)
    allowed = np.tri(n, dtype=bool) if kind in ("causal", "both") else np.ones((n, n), bool)
    if kind in ("padding", "both"):
        allowed[:, max(0, n - pads) :] = False
    if kind == "token":
        allowed[:, hidden - 1 : hidden] = False
    weights = [softmax(np.where(allowed, result, instead)) for instead in (-np.inf, 0.0)]
    return MaskedScores(result, allowed, np.stack(weights))
