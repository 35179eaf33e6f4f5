"""Self-attention of one head over words at 0, 1, 2, ..., with different position schemes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seqviz.compute.attention.scaled import softmax
from seqviz.compute.positions.relative import LEARNED_ROWS, placed, projections, scores
from seqviz.compute.positions.sinusoidal import check_positions


@dataclass(frozen=True)
class OrderAttention:
    """One head: weights (rows sum to 1), outputs per token."""

    weights: Float[np.ndarray, "query key"]
    outputs: Float[np.ndarray, "token d_model"]


def attend(
    words: Float[np.ndarray, "token d_model"],
    scheme: str = "none",
    causal: bool = False,
    seed: int = 0,
    strength: float = 1.0,
) -> OrderAttention:
    """Return softmax(q . k / sqrt(d_model)) v of one head without output matrix.

    Without encoding and mask, attention is permutation equivariant, f(Px) = P f(x): outputs only
    move with their words. "Exactly the same answer" would need f(Px) = f(x), which does not hold.
    Sums in another order differ by rounding, about 1e-16. A causal mask alone breaks equivariance.

    Args:
        words: word vectors, at positions 0, 1, 2, ...
        scheme: position scheme, as in `relative.scores`; an added encoding is in the values, too.
        causal: True to give keys after the query weight 0.
        seed: seed of the random projections.
        strength: factor of the encoding, as in `relative.scores`.

    Raises:
        UserError: no or more than 512 words, the rows of a learned table, or an odd width with
            "rotary".
        ValueError: unknown scheme.

    References:
        Vaswani et al. (2017), equation 1.
    """
    n, d_model = words.shape
    check_positions(n, LEARNED_ROWS)
    positions, maps = np.arange(n), projections(d_model, seed)
    result = scores(words, positions, scheme, maps, seed, strength)
    observed = np.where(np.triu(np.ones((n, n), bool), 1), -np.inf, result) if causal else result
    weights = softmax(observed)
    read = placed(words, positions, scheme, seed, strength)
    return OrderAttention(weights, weights @ (read @ maps.value))
