"""Feed-forward language model: a network that reads a window of the preceding words.

References:
    Bengio, Ducharme, Vincent and Jauvin, 2003, A neural probabilistic language model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from seqviz.core.units import Share
from seqviz.stats.estimate import Estimate, mean_ci
from seqviz.stats.facts import Facts

WINDOW = 3  # words read
SIZE, HIDDEN = 30, 100  # of an embedding, and of the hidden layer
_ROWS = 256  # windows whose probabilities are computed at once: 5 MB for 5,000 words


@dataclass(frozen=True)
class BlockSimilarity:
    """Cosines of what the weight blocks of two positions make of words, means over words removed.

    Attributes:
        same: cosine of each word at one position and the same word at the other.
        other: cosines of different words.
        rank: rank of each word's own vector among all by cosine, from 1.
    """

    same: Float[np.ndarray, "word"]
    other: Float[np.ndarray, "pair"]
    rank: Int[np.ndarray, "word"]

    @property
    def mean(self) -> Estimate:
        """Mean cosine of the same word at both positions, over words."""
        return mean_ci(self.same, source="words")


@dataclass(frozen=True)
class NextWords:
    """Words of a text, and what a network expects after some of them.

    Attributes:
        pieces: the words and marks as they are written.
        unknown: True for words outside the vocabulary.
        position: words that stand before the predicted one.
        likely: the likeliest next words.
        p: probabilities of `likely`.
        following: the word that comes next in the text; the end of a sentence after the last.
        rank: rank of that word among all, from 1.
        p_following: its probability.
    """

    pieces: tuple[str, ...]
    unknown: Bool[np.ndarray, "word"]
    position: int
    likely: tuple[str, ...]
    p: Float[np.ndarray, "likely"]
    following: str
    rank: int
    p_following: Share

    def summary(self) -> Facts:
        """State the likeliest word, and rank, probability and bits of the one that follows."""
        variant = "first" if self.rank == 1 else "later"
        return Facts(
            "unknown" if [*self.unknown, False][self.position] else variant, position=self.position,
            first=self.likely[0], chance=float(self.p[0]), following=self.following,
            rank=self.rank, p=self.p_following, bits=float(-np.log2(self.p_following)),
        )  # fmt: skip


@dataclass(frozen=True)
class WindowNetwork:
    """Softmax(output tanh(sum over positions of gain E(word) block + bias) + output bias).

    The sum is the product of the concatenated embeddings, 1 x 3d, with a matrix of one block for
    each position. With one block in all (tied), only the gain differs by position.

    Attributes:
        words: vocabulary; 0 is an unknown word, 1 the end of a sentence.
        embedding: E, a row for each word.
        blocks: a block for each position, or one.
        gains: factor of each position; ones for separate blocks.
    """

    words: tuple[str, ...]
    embedding: Float[np.ndarray, "word d"]
    blocks: Float[np.ndarray, "block d hidden"]
    gains: Float[np.ndarray, "position"]
    bias: Float[np.ndarray, "hidden"]
    output: Float[np.ndarray, "word hidden"]
    output_bias: Float[np.ndarray, "word"]

    @property
    def tied(self) -> bool:
        """True for one block at all positions."""
        return len(self.blocks) == 1

    @property
    def window(self) -> int:
        """Number of words read."""
        return len(self.gains)

    @property
    def parameters(self) -> int:
        """Number of parameters; the gains of separate blocks are none."""
        arrays = self.embedding, self.blocks, self.bias, self.output, self.output_bias
        return sum(array.size for array in arrays) + self.tied * len(self.gains)

    def at_position(
        self, ids: Int[np.ndarray, "*rows"], position: int
    ) -> Float[np.ndarray, "*rows hidden"]:
        """Return what words add to the hidden layer at a position.

        Args:
            ids: the words.
            position: position in the window, from 0; the last is the word before the predicted one.
        """
        block = self.blocks[0 if self.tied else position]
        return np.asarray(self.gains[position] * (self.embedding[ids] @ block))

    def log2_probabilities(
        self, windows: Int[np.ndarray, "window position"]
    ) -> Float[np.ndarray, "window word"]:
        """Return log2 of the probability of each next word.

        Args:
            windows: ids of the words before, the latest last.
        """
        parts = (self.at_position(windows[:, k], k) for k in range(self.window))
        scores = np.tanh(sum(parts) + self.bias) @ self.output.T + self.output_bias
        scores -= scores.max(-1, keepdims=True)
        return np.asarray((scores - np.log(np.exp(scores).sum(-1, keepdims=True))) / np.log(2))

    def bits(self, ids: Int[np.ndarray, "time"]) -> Float[np.ndarray, "time"]:
        """Return -log2 of the probability of each word; ends of a sentence stand before the first.

        Args:
            ids: the words of a sentence.
        """
        windows = windows_of(ids, self.window)
        parts = []
        for start in range(0, len(ids), _ROWS):
            log2 = self.log2_probabilities(windows[start : start + _ROWS])
            parts.append(-log2[np.arange(len(log2)), ids[start : start + _ROWS]])
        return np.concatenate(parts) if parts else np.zeros(0)

    def similarity(self, first: int, second: int, n_words: int = 300) -> BlockSimilarity:
        """Compare what the blocks of two positions make of the commonest words.

        Args:
            first: a position, from 0.
            second: the other position.
            n_words: number of words, unknown and end of a sentence left out.
        """
        ids = np.arange(2, 2 + n_words)
        units = []
        for position in (first, second):
            rows = self.at_position(ids, position)
            rows = rows - rows.mean(0)
            units.append(rows / np.linalg.norm(rows, axis=1, keepdims=True))
        cosines = units[0] @ units[1].T
        same = np.diagonal(cosines)
        rank = 1 + (cosines > same[:, None]).sum(1)
        return BlockSimilarity(same, cosines[~np.eye(len(ids), dtype=bool)], rank)


def windows_of(ids: Int[np.ndarray, "time"], window: int) -> Int[np.ndarray, "time position"]:
    """Return the words before each word of a sentence; ends (1) stand before the first.

    Args:
        ids: the words.
        window: number of words before.
    """
    text = np.concatenate([np.ones(window, np.int64), ids])
    every = np.arange(len(ids))[:, None] + np.arange(window)
    return np.asarray(text[every])
