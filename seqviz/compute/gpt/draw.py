"""A token drawn from the scores of a vocabulary with a given number between 0 and 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from jaxtyping import Float, Int

EXACT = 200  # scores that are kept in full precision


class Filters(Protocol):
    """What changes the scores before a draw: temperature, top-k, top-p and so on.

    A frozen dataclass, so that equal ones are one key of the cache of the class.
    """

    def __call__(
        self, scores: Float[np.ndarray, "vocabulary"], ids: Sequence[int]
    ) -> Float[np.ndarray, "vocabulary"]:
        """The scores changed, -inf where a token is cut. ids: of prompt and text so far."""
        ...


def scores(logits: Float[np.ndarray, "vocabulary"]) -> Float[np.ndarray, "vocabulary"]:
    """Logits: the first `EXACT` in float32, the others rounded to half precision.

    So they travel to a browser as they are, and every draw from them is the same there. They keep
    their level, on which a penalty of repetition depends.
    """
    result = logits.astype(np.float32)
    first = foremost(result, EXACT)
    halved = np.minimum(result.astype(np.float16).astype(np.float32), result[first[-1]])
    halved[first] = result[first]
    return halved


def order(scores: Float[np.ndarray, "vocabulary"]) -> Int[np.ndarray, "rank"]:
    """The tokens from the highest score down; of equals the one of the smaller number first.

    Those that are cut, mostly all but a few, need no sorting.
    """
    none = np.isneginf(scores)
    left = np.flatnonzero(~none)
    return np.concatenate([left[np.argsort(-scores[left], kind="stable")], np.flatnonzero(none)])


def foremost(scores: Float[np.ndarray, "vocabulary"], count: int) -> Int[np.ndarray, "rank"]:
    """The first of that order, without sorting all."""
    if count >= len(scores):
        return order(scores)
    minimum = np.partition(scores, -count)[-count]
    some = np.flatnonzero(scores >= minimum)
    return some[order(scores[some])][:count]


def probabilities(
    scores: Float[np.ndarray, "*rows vocabulary"],
) -> Float[np.ndarray, "*rows vocabulary"]:
    """Softmax over the last axis, in float64; 0 where a score is -inf."""
    raised = np.exp(scores.astype(float) - scores.max(-1, keepdims=True))
    return np.asarray(raised / raised.sum(-1, keepdims=True))


def log_probabilities(
    scores: Float[np.ndarray, "*rows vocabulary"],
) -> Float[np.ndarray, "*rows vocabulary"]:
    """Natural logarithms of the same."""
    less = scores.astype(float) - scores.max(-1, keepdims=True)
    return np.asarray(less - np.log(np.exp(less).sum(-1, keepdims=True)))


def draw(scores: Float[np.ndarray, "vocabulary"], u: float) -> int:
    """The token on which u falls where probabilities stand side by side from the highest down.

    u: in [0, 1). The inverse of the cumulative distribution, so one u gives one token everywhere.
    """
    return int(draws(scores, (u,))[0])


def draws(
    scores: Float[np.ndarray, "vocabulary"], uniforms: Sequence[float]
) -> Int[np.ndarray, "draw"]:
    """A token for each of the numbers, as in `draw`."""
    ranked = order(scores)
    cumulated = np.cumsum(probabilities(scores)[ranked])
    possible = int(np.isfinite(scores).sum())
    indices = np.searchsorted(cumulated, np.asarray(uniforms), side="right")
    return np.asarray(ranked[np.minimum(indices, possible - 1)])


def entropy(scores: Float[np.ndarray, "*rows vocabulary"]) -> Float[np.ndarray, "*rows"]:
    """Of the distribution, in bits."""
    logs = log_probabilities(scores)
    finite = np.where(np.isfinite(logs), logs, 0.0)
    return np.asarray(-(np.exp(logs) * finite).sum(-1) / np.log(2))
