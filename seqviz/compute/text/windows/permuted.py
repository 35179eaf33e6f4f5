"""Permutation of a vocabulary: output of a network when ids or embedding rows are permuted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from seqviz.compute.seeded import seeded
from seqviz.core.units import Cosine, Share, array_item
from seqviz.stats import proportions
from seqviz.stats.estimate import Estimate, mean_ci
from seqviz.stats.facts import Facts
from seqviz.stats.proportions import Proportion

CASES = ("both", "ids", "rows")


def permutation(size: int, share: float, seed: int) -> Int[np.ndarray, "id"]:
    """Return the new id of each id; a random share of them is permuted cyclically.

    Each of those gets another id; with the same seed the ids of a smaller share are a subset. All
    keep their ids where fewer than two would change.

    Args:
        size: size of the vocabulary.
        share: share of the ids.
        seed: random seed.
    """
    moved = seeded(seed).permutation(size)[: round(share * size)]
    result = np.arange(size)
    result[moved] = np.roll(moved, 1)
    return result


def moved_rows(new: Int[np.ndarray, "id"]) -> Int[np.ndarray, "id"]:
    """Return the inverse permutation: the old row at each position if rows move with their ids.

    `table[moved_rows(new)][new]` is the original table.
    """
    result = np.empty_like(new)
    result[new] = np.arange(len(new))
    return result


@dataclass(frozen=True)
class Permuted:
    """One sentence under a permutation of the vocabulary, by case (`CASES`).

    Attributes:
        given: ids of the input.
        reads: the token to which each embedding row belongs.
        same: True where that is the sentence's own token.
        cosine: cosine of the sentence vector with the unpermuted network's.
        difference: largest difference of a component of any token's vector in the last layer.
        positive: probability that the review is positive.
        trained: the same without a permutation.
    """

    pieces: tuple[str, ...]
    ids: Int[np.ndarray, "token"]
    given: Int[np.ndarray, "case token"]
    reads: tuple[tuple[str, ...], ...]
    same: Bool[np.ndarray, "case token"]
    cosine: Float[np.ndarray, "case"]
    difference: Float[np.ndarray, "case"]
    positive: Float[np.ndarray, "case"]
    trained: float

    both_difference = array_item(
        "difference", 0, "Where ids and rows move together; 0: equal bits."
    )
    ids_cosine = array_item("cosine", 1, "Where the ids alone are new.", Cosine)
    ids_positive = array_item("positive", 1, "Where the ids alone are new.", Share)

    def moved(self) -> int:
        """Return the number of tokens with a changed id."""
        return int((self.given[0] != self.ids).sum())

    def summary(self) -> Facts:
        """State the effect of permuted ids and rows on the sentence."""
        _, ids, rows = self.cosine.tolist()
        return Facts(
            "same" if self.both_difference == 0 else "differ", moved=self.moved(),
            tokens=len(self.ids), both=float(self.cosine[0]), ids=ids, rows=rows,
            difference=self.both_difference, positive=self.ids_positive, trained=self.trained,
        )  # fmt: skip


@dataclass(frozen=True)
class ByShare:
    """Bundled reviews under permutations of a share of the vocabulary.

    Attributes:
        cosine: cosine of the sentence vector with the unpermuted network's, mean over the sentences
            of each permutation.
        right: number of correct predictions.
        equal: sentences with bitwise equal vectors when ids and rows are permuted together.
        trained: number of correct predictions without a permutation.
        other: cosine of each sentence with the next one in the unpermuted network, mean by
            permutation.
        positive: number of sentences labeled positive.
    """

    shares: Float[np.ndarray, "share"]
    cosine: Float[np.ndarray, "share case permutation"]
    right: Int[np.ndarray, "share case"]
    equal: Int[np.ndarray, "share"]
    trained: int
    other: Float[np.ndarray, "permutation"]
    sentences: int
    positive: int

    @property
    def permutations(self) -> int:
        """Number of permutations, each with its own sentences."""
        return len(self.other)

    def _row(self, share: float) -> int:
        return int(np.abs(self.shares - share).argmin())

    def mean(self, share: float, case: str) -> Estimate:
        """Return the cosine with the unpermuted network's sentence vector.

        Args:
            share: one of `shares`.
            case: one of `CASES`.
        """
        return mean_ci(self.cosine[self._row(share), CASES.index(case)], source="permutations")

    def accuracy(self, share: float, case: str) -> Proportion:
        """Return the proportion of correct predictions.

        Args:
            share: one of `shares`.
            case: one of `CASES`.
        """
        return proportions.of(int(self.right[self._row(share), CASES.index(case)]), self.sentences)

    def as_trained(self) -> Proportion:
        """Return the proportion of correct predictions without a permutation."""
        return proportions.of(self.trained, self.sentences)

    @property
    def majority(self) -> Share:
        """Accuracy of the same prediction for all sentences, the more frequent label."""
        return max(self.positive, self.sentences - self.positive) / self.sentences

    def equal_at(self, share: float) -> int:
        """Return the number of bitwise equal sentences when ids and rows are permuted together."""
        return int(self.equal[self._row(share)])

    def others(self) -> Estimate:
        """Return the cosine of two different sentences."""
        return mean_ci(self.other, source="permutations")

    def summary(self, share: float) -> Facts:
        """State the effect of permuted ids on many reviews."""
        return Facts(
            sentences=self.sentences, permutations=self.permutations, equal=self.equal_at(share),
            cosine=self.mean(share, "ids"), other=self.others(), right=self.accuracy(share, "ids"),
            before=self.as_trained(), majority=self.majority,
        )  # fmt: skip


@dataclass(frozen=True)
class Listed:
    """Some tokens of a vocabulary, with their neighbors by id and by vector.

    Attributes:
        special: ids and names of the tokens always listed first.
        ids: ids of the other tokens listed.
        next_cosine: cosine of each row's vector with that of the next id.
        nearest: id with the largest cosine.
        nearest_names: its name.
        closeness: that cosine.
        matches: number of tokens that match the search; all without a search.
        neighbors: mean cosine of all pairs of consecutive ids.
        pairs: mean cosine of as many random pairs.
    """

    special: tuple[tuple[int, str], ...]
    ids: Int[np.ndarray, "row"]
    names: tuple[str, ...]
    next_cosine: Float[np.ndarray, "row"]
    nearest: Int[np.ndarray, "row"]
    nearest_names: tuple[str, ...]
    closeness: Float[np.ndarray, "row"]
    matches: int
    size: int
    neighbors: Cosine
    pairs: Cosine

    @property
    def apart(self) -> float:
        """Median distance in ids between a row and its nearest by vector."""
        return float(np.median(np.abs(self.nearest - self.ids)))
