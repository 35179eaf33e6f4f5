"""Padding, causal and token masks on a matrix of scores: added -inf or multiplied 0."""

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
    """Scores, mask, and attention weights with either operator (`OPERATORS`).

    Attributes:
        allowed: True where the query may attend to the key.
    """

    scores: Float[np.ndarray, "query key"]
    allowed: Bool[np.ndarray, "query key"]
    weights: Float[np.ndarray, "operator query key"]

    def leak(self, operator: str) -> Share:
        """Return the total weight on forbidden keys, mean over queries."""
        result = self.weights[OPERATORS.index(operator)]
        return float(result[~self.allowed].sum() / len(result))

    @property
    def leaked(self) -> Share:
        """Weight on forbidden keys where their scores are multiplied by 0."""
        return self.leak("multiply")

    @property
    def worst(self) -> Share:
        """Largest total weight of one query on forbidden keys under multiplication."""
        result = np.where(self.allowed, 0, self.weights[OPERATORS.index("multiply")])
        return float(result.sum(axis=1).max())

    def compared(self) -> Facts:
        """State the weight on forbidden keys where scores are multiplied by 0."""
        closed = int((~self.allowed).sum())
        return Facts(
            "closed" if closed else "open", closed=closed, cells=self.allowed.size,
            leaked=self.leaked, worst=self.worst,
        )  # fmt: skip


def masked(
    scores: str = SCORES, kind: str = "causal", pads: int = 1, hidden: int = 1
) -> MaskedScores:
    """Return the attention weights of typed scores under a mask.

    Operators: -inf is added before the softmax (Vaswani et al. 2017), or the score is multiplied by
    0 (S2), which leaves exp(0). As everywhere with padding, a padding token is masked as a key; its
    own query still has a row, which is not used.

    Args:
        scores: a square matrix, see `normalization.read`.
        kind: one of `MASK_KINDS`; "causal": a query attends to itself and earlier keys; "padding":
            the last `pads` keys are masked; "both": both; "token": key `hidden` is masked.
        pads: number of padding tokens.
        hidden: the masked key, from 1.

    Raises:
        UserError: "square" for scores that are not square, and errors of `normalization.read`.
        ValueError: the kind is unknown.
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
