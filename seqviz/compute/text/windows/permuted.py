"""Other numbers for the tokens of a vocabulary: what a network gives when ids or rows are moved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from seqviz.compute.seeded import seeded
from seqviz.core.units import Share, array_item
from seqviz.stats import proportions
from seqviz.stats.estimate import Estimate, mean_ci
from seqviz.stats.facts import Facts
from seqviz.stats.proportions import Proportion

CASES = ("both", "ids", "rows")


def permutation(size: int, share: float, seed: int) -> Int[np.ndarray, "id"]:
    """The new id of each id: about this share of them, drawn at random, change places in a ring.

    Each of those has another id than before; the same seed moves the ids of a smaller share as
    well. All keep their ids where fewer than two would move.
    """
    moved = seeded(seed).permutation(size)[: round(share * size)]
    result = np.arange(size)
    result[moved] = np.roll(moved, 1)
    return result


def moved_rows(new: Int[np.ndarray, "id"]) -> Int[np.ndarray, "id"]:
    """Return the inverse permutation: the old row at each place when rows move with their ids.

    `table[moved_rows(new)][new]` is the table as it was.
    """
    result = np.empty_like(new)
    result[new] = np.arange(len(new))
    return result


@dataclass(frozen=True)
class Permuted:
    """One sentence under a permutation of the vocabulary, case by case as in `CASES`.

    pieces: the tokens. ids: as trained. given: the ids that enter in each case. reads: the token to
    which the vector that is read belongs. same: whether that is the sentence's own. cosine: of the
    sentence vector with that of the trained network. difference: the largest of any component of
    any token's vector in the last layer. positive: the probability that the review is positive;
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
    ids_cosine = array_item("cosine", 1, "Where the ids alone are new.")
    ids_positive = array_item("positive", 1, "Where the ids alone are new.", Share)

    def moved(self) -> int:
        """Tokens of the sentence whose id has changed."""
        return int((self.given[0] != self.ids).sum())

    def summary(self) -> Facts:
        """State what the moved ids and rows change in the sentence."""
        _, ids, rows = self.cosine.tolist()
        return Facts(
            "same" if self.both_difference == 0 else "differ", moved=self.moved(),
            tokens=len(self.ids), both=float(self.cosine[0]), ids=ids, rows=rows,
            difference=self.both_difference, positive=self.ids_positive, trained=self.trained,
        )  # fmt: skip


@dataclass(frozen=True)
class ByShare:
    """Bundled reviews under permutations of a share of the vocabulary.

    cosine: of the sentence vector with that of the trained network, the mean of the sentences of
    each permutation. right: whether the verdict is the label; trained: the same without one.
    equal: sentences whose vectors are those of the trained network to the last bit when ids and
    rows move together. other: cosine of each sentence with the next one, as the trained network has
    it, the mean by permutation.
    """

    shares: Float[np.ndarray, "share"]
    cosine: Float[np.ndarray, "share case permutation"]
    right: Int[np.ndarray, "share case"]
    equal: Int[np.ndarray, "share"]
    trained: int
    other: Float[np.ndarray, "permutation"]
    sentences: int

    @property
    def permutations(self) -> int:
        """How many were drawn; each has sentences of its own."""
        return len(self.other)

    def _row(self, share: float) -> int:
        return int(np.abs(self.shares - share).argmin())

    def mean(self, share: float, case: str) -> Estimate:
        """Cosine with the trained network's sentence vector."""
        return mean_ci(self.cosine[self._row(share), CASES.index(case)], source="permutations")

    def accuracy(self, share: float, case: str) -> Proportion:
        """How often the verdict is the label."""
        return proportions.of(int(self.right[self._row(share), CASES.index(case)]), self.sentences)

    def as_trained(self) -> Proportion:
        """The same without a permutation."""
        return proportions.of(self.trained, self.sentences)

    def equal_at(self, share: float) -> int:
        """Sentences that are equal to the last bit when both move."""
        return int(self.equal[self._row(share)])

    def others(self) -> Estimate:
        """Cosine of two different sentences."""
        return mean_ci(self.other, source="permutations")

    def summary(self, share: float) -> Facts:
        """State what moved ids change in many reviews."""
        return Facts(
            sentences=self.sentences, permutations=self.permutations, equal=self.equal_at(share),
            cosine=self.mean(share, "ids"), other=self.others(), right=self.accuracy(share, "ids"),
            before=self.as_trained(),
        )  # fmt: skip


@dataclass(frozen=True)
class Listed:
    """Some tokens of a vocabulary, with their neighbors in it and in the space of the vectors.

    special: ids and names of the tokens that always stand on top. ids, names: the others.
    next_cosine: cosine of each row's vector with that of the next id. nearest: the id whose vector
    has the largest cosine with the row's, nearest_names, closeness: its name and that cosine.
    matches: how many tokens the search has found; all where nothing is searched. size: of the
    vocabulary. neighbors, pairs: mean cosine of all pairs of ids that follow one another, and of as
    many pairs drawn at random.
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
    neighbors: float
    pairs: float

    @property
    def apart(self) -> float:
        """Median distance in the vocabulary between a row and its nearest by meaning, in ids."""
        return float(np.median(np.abs(self.nearest - self.ids)))
