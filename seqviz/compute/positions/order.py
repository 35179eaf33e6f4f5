"""Self-attention and the order of words: what shuffling does with and without encoding and mask."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.attention.scaled import softmax
from seqviz.compute.positions.relative import (
    SCHEMES,
    learned_table,
    placed,
    projections,
    scores,
)
from seqviz.compute.positions.sinusoidal import BASE, MAX_PAIRS_OF_POSITIONS, check_positions
from seqviz.refusal import Refusal

__all__ = ["SCHEMES", "Attention", "Shuffle", "attend", "inverse", "shuffled"]


@dataclass(frozen=True)
class Attention:
    """One head: scores before the mask, weights (rows sum to 1), outputs per token."""

    scores: Float[np.ndarray, "query key"]
    weights: Float[np.ndarray, "query key"]
    outputs: Float[np.ndarray, "token d_model"]


def attend(
    words: Float[np.ndarray, "token d_model"],
    scheme: str = "none",
    causal: bool = False,
    kind: str = "random",
    seed: int = 0,
    base: float = BASE,
    table: Float[np.ndarray, "row width"] | None = None,
) -> Attention:
    """softmax(q . k / sqrt(d_model)) v of one head without output matrix, words at 0, 1, 2, ...

    Vaswani et al. (2017), equation 1. kind: "random" projections, fixed by `seed`, or "identity"
    (then words attend to words like themselves). scheme: how positions enter, as in
    `relative.scores`; an added encoding is in the values too. table: for "learned", else a Gaussian
    stand-in of 512 rows. causal: keys after the query get weight 0.

    Raises Refusal for no or more than 2048 words, more than a learned table has rows, or an odd
    width with "rotary"; ValueError for an unknown scheme or kind.
    """
    n, d_model = words.shape
    check_positions(n, MAX_PAIRS_OF_POSITIONS)
    if table is None and scheme == "learned":
        table = learned_table(d_model, seed)
    if scheme == "learned" and table is not None and n > len(table):
        raise Refusal(
            "beyond_table",
            f"The learned table has {len(table)} positions, and there are {n} words.",
            rows=len(table),
            found=n,
        )
    place, maps = np.arange(n), projections(d_model, seed, kind)
    found = scores(words, place, scheme, maps, table, base, seed)
    seen = np.where(np.triu(np.ones((n, n), bool), 1), -np.inf, found) if causal else found
    weights = softmax(seen)
    return Attention(
        found, weights, weights @ (placed(words, place, scheme, table, base) @ maps.value)
    )


@dataclass(frozen=True)
class Shuffle:
    """Outputs of the same words in their order and in another; P puts them into the other.

    moved: per word, the distance between its two outputs, |f(Px) - P f(x)|, in the first order;
    all 0 (rounding apart) means equivariant: outputs only move with their words. equivariance: the
    largest entry of |f(Px) - P f(x)|. invariance: the largest entry of |f(Px) - f(x)|, 0 only if
    shuffling changed nothing at all. pooled: the largest entry of the change of the mean output.
    """

    permutation: Int[np.ndarray, "token"]
    before: Attention
    after: Attention
    moved: Float[np.ndarray, "token"]
    equivariance: float
    invariance: float
    pooled: float


def shuffled(
    words: Float[np.ndarray, "token d_model"],
    permutation: Int[np.ndarray, "place"],
    scheme: str = "none",
    causal: bool = False,
    kind: str = "random",
    seed: int = 0,
    base: float = BASE,
    table: Float[np.ndarray, "row width"] | None = None,
) -> Shuffle:
    """Attend to the words, and to the words as words[permutation]; arguments as in `attend`.

    Without encoding and mask, attention is permutation equivariant, f(Px) = P f(x), and its pooled
    mean invariant. "Exactly the same answer" would need f(Px) = f(x), which does not hold. Sums in
    another order differ by rounding, some 1e-16. A causal mask alone breaks equivariance.

    Raises Refusal when the permutation does not name every word once, and as `attend`.
    """
    n = len(words)
    if not np.array_equal(np.sort(permutation), np.arange(n)):
        raise Refusal("permutation", f"An order names each of the {n} words once.", words=n)
    before = attend(words, scheme, causal, kind, seed, base, table)
    after = attend(words[permutation], scheme, causal, kind, seed, base, table)
    back = after.outputs[inverse(permutation)]
    return Shuffle(
        permutation,
        before,
        after,
        np.linalg.norm(back - before.outputs, axis=1),
        float(np.abs(back - before.outputs).max()),
        float(np.abs(after.outputs - before.outputs).max()),
        float(np.abs(after.outputs.mean(axis=0) - before.outputs.mean(axis=0)).max()),
    )


def inverse(permutation: Int[np.ndarray, "token"]) -> Int[np.ndarray, "token"]:
    """Where each word went: shuffled[inverse] is the first order again."""
    return np.argsort(permutation)
