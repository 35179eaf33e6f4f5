"""Measures of attention heads: where they look, how far, how sharply.

All functions take weights [..., query, key] whose rows sum to 1, of any model. Layers, heads and
places are counted from 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from seqviz.compute.attention.scaled import entropy
from seqviz.core.units import Share
from seqviz.stats.facts import Facts

# Targets that a head may be named after; measured as the mean share of its weight on them.
HABITS = ("previous", "next", "itself", "same", "first", "separator")
NAMED_FROM = 0.5  # smallest share of a head's weight on a target for the head to have its name


@dataclass(frozen=True)
class Habits:
    """Measures of each head on one text; arrays [layer, head].

    Attributes:
        previous: weight on the token before.
        next: weight on the token after.
        itself: weight on the query's own token.
        same: weight on other tokens with the same id.
        first: weight on the first token ([CLS] in BERT).
        separator: weight on separators and other special tokens but the first.
        entropy: entropy of the rows in bits.
        spread: entropy as a share of that of equal weights.
        distance: mean of |query - key| in tokens.
    """

    previous: Float[np.ndarray, "layer head"]
    next: Float[np.ndarray, "layer head"]
    itself: Float[np.ndarray, "layer head"]
    same: Float[np.ndarray, "layer head"]
    first: Float[np.ndarray, "layer head"]
    separator: Float[np.ndarray, "layer head"]
    entropy: Float[np.ndarray, "layer head"]
    spread: Float[np.ndarray, "layer head"]
    distance: Float[np.ndarray, "layer head"]

    def of(self, measure: str, layer: int, head: int) -> float:
        """Return one measure of one head.

        Args:
            measure: name of one of the arrays, such as "entropy".
            layer: layer of the head.
            head: number of the head.
        """
        return float(getattr(self, measure)[layer, head])

    def ranking(self, measure: str) -> Facts:
        """State which head has the most of a measure, and how many heads have at least half."""
        values = getattr(self, measure)
        layer, head = ranked(values, 1)[0]
        return Facts(
            "share" if measure in HABITS else "value", best=f"{layer}.{head}",
            value=float(values[layer, head]), median=float(np.median(values)),
            half=int((values >= NAMED_FROM).sum()), heads=values.size,
        )  # fmt: skip

    def idle(self, layer: int, head: int) -> Share:
        """Return the weight on the first token and the separators, as of a head with nothing to do.

        Args:
            layer: layer of the head.
            head: number of the head.
        """
        return float(self.first[layer, head] + self.separator[layer, head])

    def name(self, layer: int, head: int) -> str:
        """Return one of `HABITS` with at least half of the weight, else "broad" or "mixed".

        Args:
            layer: layer of the head.
            head: number of the head.
        """
        shares = [float(getattr(self, habit)[layer, head]) for habit in HABITS]
        if max(shares) >= NAMED_FROM:
            return HABITS[int(np.argmax(shares))]
        return "broad" if self.spread[layer, head] >= 0.9 else "mixed"


def habits(
    weights: Float[np.ndarray, "layer head query key"],
    ids: Int[np.ndarray, "key"],
    special: Bool[np.ndarray, "key"],
) -> Habits:
    """Compute the measures of each head, means over the queries of one text but the first.

    The first token has none before it, and in a decoder it can only look at itself. A text of one
    token has means of that one query.

    Args:
        weights: attention weights.
        ids: token ids.
        special: True for tokens added by the tokenizer.

    References:
        Clark et al. (2019), section 3.
    """
    tokens = len(ids)
    start = min(1, tokens - 1)
    rows = weights[:, :, start:]
    queries = np.arange(start, tokens)
    before = rows[:, :, queries > 0, queries[queries > 0] - 1]
    after = rows[:, :, queries < tokens - 1, queries[queries < tokens - 1] + 1]
    alike = ids[queries, None] == ids[None, :]
    alike[np.arange(len(queries)), queries] = False
    others = special.copy()
    others[:1] = False
    entropies = entropy(rows)
    open_to = np.maximum((rows > 0).sum(-1), 2)
    gaps = np.abs(queries[:, None] - np.arange(tokens)[None, :])

    def mean(values: np.ndarray) -> np.ndarray:
        return values.sum(-1) / len(queries)

    return Habits(
        previous=mean(before),
        next=mean(after),
        itself=mean(rows[:, :, queries - start, queries]),
        same=mean((rows * alike).sum(-1)),
        first=mean(rows[..., 0]),
        separator=mean(rows[..., others].sum(-1)),
        entropy=mean(entropies),
        spread=mean(entropies / np.log2(open_to)),
        distance=mean((rows * gaps).sum(-1)),
    )


def carried_first(
    weights: Float[np.ndarray, "layer head query key"],
    norms: Float[np.ndarray, "layer head key"],
) -> Float[np.ndarray, "layer head"]:
    """Return the share of the first token in weight times norm of the value, as `Habits.first`.

    A weight alone says what a head looks at; the product says how much it can take from there.

    Args:
        weights: attention weights.
        norms: norms of the values.

    References:
        Kobayashi et al. (2020), who multiply the value by the output matrix as well.
    """
    start = min(1, weights.shape[-1] - 1)
    products = weights[:, :, start:] * norms[:, :, None]
    total = np.maximum(products.sum(-1), np.finfo(np.float32).tiny)
    return np.asarray((products[..., 0] / total).mean(-1), float)


def rollout(
    weights: Float[np.ndarray, "layer head query key"],
) -> Float[np.ndarray, "layer query key"]:
    """Return attention rollout: the share of each input token in each token after every layer.

    The mean over heads, half of the identity for the residual connection, multiplied from the first
    layer up; [-1] is the last layer's. Rows sum to 1. Values, MLPs and norms are ignored.

    References:
        Abnar and Zuidema (2020).
    """
    tokens = weights.shape[-1]
    mixed = 0.5 * weights.astype(np.float64).mean(1) + 0.5 * np.eye(tokens)
    mixed /= mixed.sum(-1, keepdims=True)
    paths = [mixed[0]]
    for layer in mixed[1:]:
        paths.append(layer @ paths[-1])
    return np.stack(paths)


def tiles(
    weights: Float[np.ndarray, "layer head query key"], side: int
) -> Float[np.ndarray, "layer head row column"]:
    """Downsample each map to at most `side` cells a side, by maximum.

    The maximum and not the mean keeps a single bright cell visible.

    Args:
        weights: attention weights.
        side: maximum number of rows and of columns.
    """
    queries, keys = weights.shape[-2:]
    if max(queries, keys) <= side:
        return weights
    down = np.maximum.reduceat(weights, _starts(queries, side), axis=-2)
    return np.maximum.reduceat(down, _starts(keys, side), axis=-1)


def _starts(count: int, side: int) -> Int[np.ndarray, "cell"]:
    cells = min(count, side)
    return np.arange(cells) * count // cells


def ranked(measure: Float[np.ndarray, "layer head"], maximum: int) -> Sequence[tuple[int, int]]:
    """Return the (layer, head) pairs with the largest values, largest first.

    Args:
        measure: value of each head.
        maximum: number of pairs.
    """
    order = np.argsort(-measure, axis=None, kind="stable")[:maximum]
    layers, heads = np.unravel_index(order, measure.shape)
    return [(int(a), int(b)) for a, b in zip(layers, heads, strict=True)]
