"""Words in each other's neighborhood: the pairs of a window, counted; PMI and its SVD."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

Pair = tuple[tuple[str, ...], str]


def training_pairs(words: Sequence[str], window: int, mode: str) -> tuple[Pair, ...]:
    """What word2vec is trained on, in the order of the text: (input words, word to predict).

    mode: "skipgram" predicts each word of the window from the one in its middle, "cbow" the one in
    the middle from all of the window. Raises ValueError for another.
    """
    if mode not in ("skipgram", "cbow"):
        raise ValueError(f"The mode is skipgram or cbow, not {mode!r}.")
    found: list[Pair] = []
    for at, middle in enumerate(words):
        around = (*words[max(0, at - window) : at], *words[at + 1 : at + 1 + window])
        if mode == "cbow" and around:
            found.append((around, middle))
        elif mode == "skipgram":
            found += [((middle,), word) for word in around]
    return tuple(found)


def neighbors(
    ids: Int[np.ndarray, "token"], text: Int[np.ndarray, "token"], window: int
) -> Int[np.ndarray, "pair 2"]:
    """All (word, word of its window) of many texts, both ways; ids below 0 are no words.

    text: which text a token is of: no window reaches into the next one. What is no word keeps its
    place.
    """
    found = []
    for step in range(1, window + 1):
        one, two = ids[:-step], ids[step:]
        good = (text[:-step] == text[step:]) & (one >= 0) & (two >= 0)
        found += [np.stack([one[good], two[good]], 1), np.stack([two[good], one[good]], 1)]
    return np.concatenate(found) if found else np.zeros((0, 2), int)


def counts(pairs: Int[np.ndarray, "pair 2"], words: int) -> Float[np.ndarray, "word word"]:
    """How often each word stands in the window of each."""
    flat = np.bincount(pairs[:, 0] * words + pairs[:, 1], minlength=words * words)
    return flat.reshape(words, words).astype(float)


def positive_pmi(
    counted: Float[np.ndarray, "word word"], smoothing: float = 0.75
) -> Float[np.ndarray, "word word"]:
    """max(0, ln P(w, c) / (P(w) P(c))), 0 where a pair never occurs.

    smoothing: the power of the counts in P(c), as word2vec draws its negative samples (Levy,
    Goldberg and Dagan, 2015); 1 is the PMI of Church and Hanks (1990).
    """
    context = counted.sum(0) ** smoothing
    expected = np.outer(counted.sum(1), context / max(float(context.sum()), 1e-300))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log(counted / expected)
    return np.where(counted > 0, np.maximum(found, 0.0), 0.0)


def reduced(matrix: Float[np.ndarray, "word word"], rank: int) -> Float[np.ndarray, "word rank"]:
    """U sqrt(S) of the singular value decomposition cut at `rank`: exact, no randomness.

    U and S^2 are eigenvectors and eigenvalues of M M^T, of which only the largest are computed.
    """
    from scipy.linalg import eigh

    size = len(matrix)
    rank = min(rank, size)
    squares, u = eigh(matrix @ matrix.T, subset_by_index=(size - rank, size - 1))
    return np.asarray(u[:, ::-1] * np.maximum(squares[::-1], 0) ** 0.25)
