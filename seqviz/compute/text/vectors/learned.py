"""Word vectors learned from neighbors: nearest words by window, substitutes and topics."""

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

    Attributes:
        counts: occurrences of each word.
        pairs: number of neighbor pairs, in both directions.
        losses: loss of every epoch, nats per pair with its negatives; empty without training.
    """

    words: tuple[str, ...]
    vectors: Float[np.ndarray, "word dimension"]
    counts: Int[np.ndarray, "word"]
    pairs: int
    losses: Float[np.ndarray, "epoch"]


@dataclass(frozen=True)
class Nearest:
    """Nearest words by cosine, for vectors of one window."""

    word: str
    window: int
    words: tuple[str, ...]
    cosines: Float[np.ndarray, "rank"]


def nearest(learned_vectors: LearnedVectors, word: str, window: int, count: int) -> Nearest:
    """Return the nearest words to a word by cosine.

    Args:
        learned_vectors: the vectors.
        word: one of their words.
        window: window of the vectors.
        count: number of nearest words.

    Raises:
        ValueError: the word has no vector.
    """
    at = learned_vectors.words.index(word)
    scores = cosine_rows(learned_vectors, [at])[0]
    scores[at] = -np.inf
    order = np.argsort(-scores, kind="stable")[:count]
    return Nearest(word, window, tuple(learned_vectors.words[k] for k in order), scores[order])


def shared(left: Nearest, right: Nearest) -> int:
    """Return the number of common words.

    Args:
        left: nearest words.
        right: other nearest words.
    """
    return len(set(left.words) & set(right.words))


def cosine_rows(
    learned_vectors: LearnedVectors, rows: Sequence[int]
) -> Float[np.ndarray, "row word"]:
    """Return the cosines of some words with all.

    Args:
        learned_vectors: the vectors.
        rows: indices of the words.
    """
    norms = np.linalg.norm(learned_vectors.vectors, axis=1, keepdims=True)
    unit = learned_vectors.vectors / np.where(norms > 0, norms, 1)
    return np.asarray(unit[list(rows)] @ unit.T)


def substitutes_nearer(
    learned_vectors: LearnedVectors, items: Sequence[tuple[str, str, str]]
) -> Bool[np.ndarray, "item"]:
    """Return True for each item whose substitute is nearer to the word than the topic.

    Args:
        learned_vectors: the vectors.
        items: (word, substitute, topic).
    """
    at = {word: index for index, word in enumerate(learned_vectors.words)}
    right = []
    for item in items:
        cosines = cosine_matrix(learned_vectors.vectors[[at[word] for word in item]])[0]
        right.append(cosines[1] > cosines[2])
    return np.array(right)


@dataclass(frozen=True)
class Substitutes:
    """Comparison of substitute and topic by method (`METHODS`), window, seed and item.

    The SVD has no seed: its rows are all the same.

    Attributes:
        nearer: True where the substitute is nearer to the word than the topic.
    """

    windows: tuple[int, ...]
    nearer: Bool[np.ndarray, "method window seed item"]

    @property
    def items(self) -> int:
        """Number of words tested."""
        return self.nearer.shape[3]

    @property
    def seeds(self) -> int:
        """Number of skip-gram trainings."""
        return self.nearer.shape[2]

    def share(self, method: str, window: int) -> Proportion:
        """Return the share of nearer substitutes, mean over seeds; Wilson interval over items.

        Args:
            method: one of `METHODS`.
            window: one of `windows`.
        """
        return of_share(float(self._of(method, window).mean()), self.items)

    def compared(self, method: str, left: int, right: int) -> Paired:
        """Return McNemar's test of two windows on the same items, each by majority of its seeds.

        Args:
            method: one of `METHODS`.
            left: one of `windows`.
            right: the other one.
        """
        first, second = (self._of(method, w).mean(0) > 0.5 for w in (left, right))
        return mcnemar(first, second)

    def _of(self, method: str, window: int) -> Bool[np.ndarray, "seed item"]:
        return self.nearer[METHODS.index(method), self.windows.index(window)]
