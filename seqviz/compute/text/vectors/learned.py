"""Vectors learned from neighbors: the nearest words under two windows, substitutes and topics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from seqviz.compute.text.vectors.plane import cosine_matrix
from seqviz.stats.proportions import Paired, Proportion, mcnemar, of_share

METHODS = ("svd", "skipgram")


@dataclass(frozen=True)
class LearnedVectors:
    """Words of some texts with a vector each.

    counts: how often a word stands there. pairs: of neighbors, both ways. losses: of every epoch,
    nats a pair with its negatives; none where nothing was trained.
    """

    words: tuple[str, ...]
    vectors: Float[np.ndarray, "word dimension"]
    counts: Int[np.ndarray, "word"]
    pairs: int
    losses: Float[np.ndarray, "epoch"]


@dataclass(frozen=True)
class Nearest:
    """The nearest words to one under a window, by cosine."""

    word: str
    window: int
    words: tuple[str, ...]
    cosines: Float[np.ndarray, "rank"]


def nearest(learned_vectors: LearnedVectors, word: str, window: int, count: int) -> Nearest:
    """Raises ValueError where the word is none of the texts' words."""
    at = learned_vectors.words.index(word)
    scores = cosine_rows(learned_vectors, [at])[0]
    scores[at] = -np.inf
    order = np.argsort(-scores, kind="stable")[:count]
    return Nearest(word, window, tuple(learned_vectors.words[k] for k in order), scores[order])


def shared(left: Nearest, right: Nearest) -> int:
    """How many words both have."""
    return len(set(left.words) & set(right.words))


def cosine_rows(
    learned_vectors: LearnedVectors, rows: Sequence[int]
) -> Float[np.ndarray, "row word"]:
    """Of some words with all."""
    norms = np.linalg.norm(learned_vectors.vectors, axis=1, keepdims=True)
    unit = learned_vectors.vectors / np.where(norms > 0, norms, 1)
    return np.asarray(unit[list(rows)] @ unit.T)


def substitutes_nearer(
    learned_vectors: LearnedVectors, items: Sequence[tuple[str, str, str]]
) -> Bool[np.ndarray, "item"]:
    """Of each (word, substitute, topic) whether the substitute is nearer than the topic."""
    at = {word: index for index, word in enumerate(learned_vectors.words)}
    right = []
    for item in items:
        cosines = cosine_matrix(learned_vectors.vectors[[at[word] for word in item]])[0]
        right.append(cosines[1] > cosines[2])
    return np.array(right)


@dataclass(frozen=True)
class Substitutes:
    """Whether the substitute is nearer: of both methods (`METHODS`), each window, seed and item.

    The SVD has no seed: its rows are all the same.
    """

    windows: tuple[int, ...]
    nearer: Bool[np.ndarray, "method window seed item"]

    @property
    def items(self) -> int:
        """How many words were asked about."""
        return self.nearer.shape[3]

    @property
    def seeds(self) -> int:
        """How many times skip-gram was trained."""
        return self.nearer.shape[2]

    def share(self, method: str, window: int) -> Proportion:
        """Mean over seeds; the interval (Wilson) is for other items."""
        return of_share(float(self._of(method, window).mean()), self.items)

    def compared(self, method: str, left: int, right: int) -> Paired:
        """Two windows on the same items; of several trainings what most of them say."""
        first, second = (self._of(method, w).mean(0) > 0.5 for w in (left, right))
        return mcnemar(first, second)

    def _of(self, method: str, window: int) -> Bool[np.ndarray, "seed item"]:
        return self.nearer[METHODS.index(method), self.windows.index(window)]
