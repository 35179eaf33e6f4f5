"""Co-occurrence of words in a window: pairs, counts, PMI and its SVD."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

MODES = ("skipgram", "cbow")


@dataclass(frozen=True)
class SkipGramPair:
    """Training example of word2vec; words are indices from 0.

    Attributes:
        middle: center of the window.
        given: input words.
        target: predicted word.
    """

    middle: int
    given: tuple[int, ...]
    target: int


@dataclass(frozen=True)
class TrainingPairs:
    """Words of a text and their training examples, in the order of the text."""

    words: tuple[str, ...]
    pairs: tuple[SkipGramPair, ...]

    @property
    def spelled(self) -> Counter[tuple[tuple[str, ...], str]]:
        """Count of each example in words; the order of the input words does not matter."""
        return Counter(
            (tuple(sorted(self.words[at] for at in pair.given)), self.words[pair.target])
            for pair in self.pairs
        )

    def shared(self, other: TrainingPairs) -> int:
        """Return the number of examples in common with another text."""
        return sum((self.spelled & other.spelled).values())


def training_pairs(words: Sequence[str], window: int, mode: str) -> TrainingPairs:
    """Return the training examples of word2vec (Mikolov et al., 2013).

    Args:
        words: words of the text.
        window: words on either side of the center.
        mode: "skipgram" predicts each word of the window from its center, "cbow" the center from
            all other words of the window.

    Raises:
        ValueError: the mode is unknown.
    """
    if mode not in MODES:
        raise ValueError(f"The mode is skipgram or cbow, not {mode!r}.")
    pairs: list[SkipGramPair] = []
    for middle in range(len(words)):
        near = range(max(0, middle - window), min(len(words), middle + window + 1))
        around = tuple(at for at in near if at != middle)
        if mode == "cbow" and around:
            pairs.append(SkipGramPair(middle, around, middle))
        elif mode == "skipgram":
            pairs += [SkipGramPair(middle, (middle,), at) for at in around]
    return TrainingPairs(tuple(words), tuple(pairs))


def neighbors(
    ids: Int[np.ndarray, "token"], text: Int[np.ndarray, "token"], window: int
) -> Int[np.ndarray, "pair 2"]:
    """Return all (word, word of its window) pairs of many texts, in both directions.

    Args:
        ids: the words; below 0 for a token that is not a word, which keeps its position.
        text: text of each token; windows do not cross texts.
        window: words on either side.
    """
    results = []
    for step in range(1, window + 1):
        item, two = ids[:-step], ids[step:]
        good = (text[:-step] == text[step:]) & (item >= 0) & (two >= 0)
        results += [np.stack([item[good], two[good]], 1), np.stack([two[good], item[good]], 1)]
    return np.concatenate(results) if results else np.zeros((0, 2), int)


def contexts(
    ids: Int[np.ndarray, "token"], text: Int[np.ndarray, "token"], window: int
) -> Int[np.ndarray, "example given_1"]:
    """Return the words around each word, -1 where there is none, and last the word itself.

    Args:
        ids: the words; below 0 for a token that is not a word, which keeps its position.
        text: text of each token; windows do not cross texts.
        window: words on either side.
    """
    given = np.full((len(ids), 2 * window), -1)
    for step in range(1, window + 1):
        together = text[:-step] == text[step:]
        given[step:, step - 1] = np.where(together, ids[:-step], -1)
        given[:-step, window + step - 1] = np.where(together, ids[step:], -1)
    retained = (ids >= 0) & (given >= 0).any(1)
    return np.concatenate([given, ids[:, None]], 1)[retained]


def counts(pairs: Int[np.ndarray, "pair 2"], words: int) -> Float[np.ndarray, "word word"]:
    """Return the co-occurrence counts [word, neighbor].

    Args:
        pairs: (word, neighbor).
        words: size of the vocabulary.
    """
    flat = np.bincount(pairs[:, 0] * words + pairs[:, 1], minlength=words * words)
    return flat.reshape(words, words).astype(float)


def positive_pmi(
    counted: Float[np.ndarray, "word word"], smoothing: float = 0.75
) -> Float[np.ndarray, "word word"]:
    """Return the positive PMI, max(0, ln P(w, c) / (P(w) P(c))); 0 for a pair without count.

    Args:
        counted: co-occurrence counts.
        smoothing: exponent of the counts in P(c), as in word2vec's negative sampling (Levy,
            Goldberg and Dagan, 2015); 1 is the PMI of Church and Hanks (1990).
    """
    context = counted.sum(0) ** smoothing
    expected = np.outer(counted.sum(1), context / max(float(context.sum()), 1e-300))
    with np.errstate(divide="ignore", invalid="ignore"):
        result = np.log(counted / expected)
    return np.where(counted > 0, np.maximum(result, 0.0), 0.0)


def reduced(matrix: Float[np.ndarray, "word word"], rank: int) -> Float[np.ndarray, "word rank"]:
    """Return U sqrt(S) of the truncated singular value decomposition, deterministic.

    U and S^2 are eigenvectors and eigenvalues of M M^T. Only the largest are computed, up to
    rounding, by Lanczos' method from a fixed start, which never forms M M^T.

    Args:
        matrix: M.
        rank: number of singular values.
    """
    from scipy.linalg import eigh
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import LinearOperator, eigsh

    size = len(matrix)
    if 2 * rank < size:
        sparse = csr_array(matrix)
        gram = LinearOperator((size, size), lambda x: sparse @ (sparse.T @ x), dtype=float)
        squares, u = eigsh(gram, rank, v0=np.ones(size))
    else:
        rank = min(rank, size)
        squares, u = eigh(matrix @ matrix.T, subset_by_index=(size - rank, size - 1))
    return np.asarray(u[:, ::-1] * np.maximum(squares[::-1], 0) ** 0.25)
