"""Dot-product attention with every stage kept, in the variants of the texts."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from seqviz.core.units import Exact, Share

SCALES = ("d_k", "d", "none")
OPERATORS = ("add", "multiply")


@dataclass(frozen=True)
class AttentionStages:
    """Every stage of one attention; leading axes are heads (or none).

    Attributes:
        scores: q · k.
        scaled: scores divided by divisor and temperature.
        masked: scores that enter the softmax.
        weights: attention weights; each row sums to 1 (the columns do not).
        output: weighted sums of the values.
    """

    scores: Float[np.ndarray, "*head query key"]
    scaled: Float[np.ndarray, "*head query key"]
    masked: Float[np.ndarray, "*head query key"]
    weights: Float[np.ndarray, "*head query key"]
    output: Float[np.ndarray, "*batch query d_v"]

    def score_at(self, *index: int) -> Exact:
        """Return q · k at [head,] query, key, from 0; without a head where there are none."""
        return float(self.scores[index])

    def weight_at(self, *index: int) -> Exact:
        """Return the weight of a query for a key, indexed as in `score_at`."""
        return float(self.weights[index])

    def row_sum(self, *index: int) -> Exact:
        """Return the sum of all weights of a query."""
        return float(self.weights[index].sum())

    def column_sum(self, *index: int) -> Exact:
        """Return the sum of the weights of all queries for a key."""
        return float(self.weights[index[:-1]][:, index[-1]].sum())

    def later(self, *head: int) -> Share:
        """Return the weight on later words, a mean over the queries."""
        weights = self.weights[head]
        return float(weights[~np.tri(len(weights), dtype=bool)].sum() / len(weights))


def divisor(scale: str, d_k: int, d: int) -> float:
    """Return the divisor of the scores.

    Args:
        scale: "d_k": sqrt(d_k) (Vaswani et al. 2017, eq. 1); "d": sqrt(d) (as one of the texts
            writes; with d = 512 and d_k = 64 that is 22.6 instead of 8); "none": 1.
        d_k: number of entries of one query.
        d: width of the model.

    Raises:
        ValueError: another scale, or a dimension below 1.
    """
    if scale not in SCALES:
        raise ValueError(f"The scale is one of {', '.join(SCALES)}, not {scale!r}.")
    if d_k < 1 or d < 1:
        raise ValueError(f"Vectors have at least one entry: d_k is {d_k} and d is {d}.")
    return {"d_k": math.sqrt(d_k), "d": math.sqrt(d), "none": 1.0}[scale]


def attend(
    queries: Float[np.ndarray, "*#head query d_k"],
    keys: Float[np.ndarray, "*#head key d_k"],
    values: Float[np.ndarray, "*#head key d_v"],
    *,
    divide_by: float = 1.0,
    temperature: float = 1.0,
    allowed: Bool[np.ndarray, "query key"] | None = None,
    operator: str = "add",
) -> AttentionStages:
    """Compute dot-product attention, softmax(Q K^T / c) V with tokens as rows.

    Leading axes broadcast. float32 stays float32.

    Args:
        queries: the queries.
        keys: the keys.
        values: the values.
        divide_by: divisor of the scores.
        temperature: further divisor of the scores.
        allowed: True where a query may attend to a key; None: everywhere.
        operator: "add": -inf is added to forbidden scores before the softmax (Vaswani);
            "multiply": forbidden scores are multiplied by 0, as in one of the texts; exp(0) = 1 is
            then still in the sum, and forbidden keys get weight.

    Raises:
        ValueError: a divisor or temperature that is not positive, or an unknown operator.

    References:
        Vaswani et al. (2017), eq. 1.
    """
    for name, value in (("divisor", divide_by), ("temperature", temperature)):
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"The {name} is a positive number, not {value}.")
    if operator not in OPERATORS:
        raise ValueError(f"The mask's operator is one of {', '.join(OPERATORS)}, not {operator!r}.")
    scores = queries @ np.swapaxes(keys, -1, -2)
    scaled = scores / divide_by / temperature
    masked = scaled
    if allowed is not None:
        masked = np.where(allowed, scaled, scaled.dtype.type(-np.inf if operator == "add" else 0))
    weights = softmax(masked)
    return AttentionStages(scores, scaled, masked, weights, weights @ values)


def softmax(scores: Float[np.ndarray, "*batch key"]) -> Float[np.ndarray, "*batch key"]:
    """Return exp(s_j) / sum_i exp(s_i) along the last axis, in a stable form.

    The largest score is subtracted first. A row in which every score is -inf gives zeros, as in
    PyTorch's scaled_dot_product_attention since 2.5: a query that may attend to nothing mixes
    nothing. torch.softmax gives nan.
    """
    largest = scores.max(axis=-1, keepdims=True)
    # -inf minus -inf is nan; such a row has no largest score to subtract.
    powers = np.exp(scores - np.where(np.isneginf(largest), 0, largest))
    total = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(total == 0, 1, total)


def entropy(weights: Float[np.ndarray, "*batch key"]) -> Float[np.ndarray, "*batch"]:
    """Return -sum_j w_j log2 w_j along the last axis, in bits; 0 log 0 = 0.

    0: all weight on one key; log2(n): the same weight on each of n keys.
    """
    logs = np.log2(weights, out=np.zeros_like(weights), where=weights > 0)
    return np.asarray(0 - np.sum(weights * logs, axis=-1))
