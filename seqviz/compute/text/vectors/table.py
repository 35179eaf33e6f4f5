"""A table of word vectors: cosines, the nearest words, and the answer to an analogy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from seqviz.stats.facts import Facts
from seqviz.stats.proportions import Paired, Proportion, mcnemar, proportion, shares

WAYS = ("excluded", "all", "neighbor")


@dataclass(frozen=True)
class WordTable:
    """Words with a vector each, and which of them may be an answer.

    mean: of the vectors that are centered; of the bundled words it is that of the whole table.
    """

    words: tuple[str, ...]
    vectors: Float[np.ndarray, "word dimension"]
    mean: Float[np.ndarray, "dimension"]
    answers: Bool[np.ndarray, "word"]

    @cached_property
    def index(self) -> dict[str, int]:
        """Where a word stands."""
        return {word: index for index, word in enumerate(self.words)}

    @cached_property
    def lengths(self) -> tuple[Float[np.ndarray, "word"], Float[np.ndarray, "word"]]:
        """Norms of the vectors as they are, and with the mean removed."""
        raw = np.linalg.norm(self.vectors, axis=1)
        # |v - m|^2 without a second table
        mean = self.mean.astype(self.vectors.dtype)
        squares = raw.astype(float) ** 2 - 2 * (self.vectors @ mean) + self.mean @ self.mean
        return raw, np.sqrt(np.maximum(squares, 0))

    def cosines(
        self, vector: Float[np.ndarray, "dimension"], centered: bool
    ) -> Float[np.ndarray, "word"]:
        """Of every word with a vector, from which the mean has been removed where `centered`."""
        norm = self.lengths[centered] * np.linalg.norm(vector)
        # in the table's own precision: in another one numpy would copy all of it
        dots = self.vectors @ vector.astype(self.vectors.dtype)
        dots = dots - (self.mean @ vector if centered else 0.0)
        return np.where(norm > 0, dots / np.where(norm > 0, norm, 1), 0.0)

    def moved(
        self, vectors: Float[np.ndarray, "*rows dimension"], centered: bool
    ) -> Float[np.ndarray, "*rows dimension"]:
        """Vectors without the mean where `centered`, in float64."""
        return np.asarray(vectors, float) - (self.mean if centered else 0.0)


@dataclass(frozen=True)
class Ranked:
    """The nearest words to a place, by cosine.

    query: the words that the place was made of. of: so many words may be an answer. between: mean
    cosine of random pairs of words, for comparison.
    """

    query: tuple[str, ...]
    words: tuple[str, ...]
    cosines: Float[np.ndarray, "rank"]
    of: int
    between: float

    @property
    def first(self) -> str:
        """The nearest of all."""
        return self.words[0]

    @property
    def first_new(self) -> str:
        """The nearest that was not asked with."""
        return next(word for word in self.words if word not in self.query)

    @property
    def top(self) -> float:
        """Its cosine."""
        return float(self.cosines[self.words.index(self.first_new)])


def target(
    a: Float[np.ndarray, "dimension"],
    b: Float[np.ndarray, "dimension"],
    c: Float[np.ndarray, "dimension"],
) -> Float[np.ndarray, "dimension"]:
    """a - b + c of vectors brought to length 1 (3CosAdd: Levy and Goldberg, 2014)."""
    item, two, three = (v / (np.linalg.norm(v) or 1.0) for v in (a, b, c))
    return np.asarray(item - two + three)


def ranked(
    table: WordTable,
    vector: Float[np.ndarray, "dimension"],
    centered: bool,
    query_words: Sequence[str],
    count: int,
    include_query: bool,
) -> Ranked:
    """The `count` nearest words. include_query: those asked with are answers as well."""
    scores = table.cosines(vector, centered)
    may = table.answers.copy()
    inside = [table.index[word] for word in query_words if word in table.index]
    may[inside] = include_query
    order = np.argsort(np.where(may, -scores, np.inf), kind="stable")[: min(count, int(may.sum()))]
    return Ranked(
        tuple(query_words), tuple(table.words[k] for k in order), scores[order], int(may.sum()),
        random_pairs(table, centered),
    )  # fmt: skip


def random_pairs(table: WordTable, centered: bool, count: int = 2000) -> float:
    """Mean cosine of `count` random pairs of different words, always the same ones."""
    indices = np.flatnonzero(table.answers)
    draws = np.random.RandomState(0)
    item = draws.randint(len(indices), size=count)
    other = (item + draws.randint(1, len(indices), size=count)) % len(indices)
    first, second = (
        table.vectors[indices[at]].astype(float) - (table.mean if centered else 0)
        for at in (item, other)
    )
    norms = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return float(np.mean((first * second).sum(1) / np.maximum(norms, 1e-12)))


@dataclass(frozen=True)
class ByClass:
    """Questions "a is to b as c is to d" of some classes, and whether d is the answer.

    right: [way, question]: of all words but the three asked with ("excluded"); of all words
    ("all"); the nearest neighbor of c, a and b left out, without any arithmetic ("neighbor").
    kind: the place of each question's class.
    """

    classes: tuple[str, ...]
    kind: Int[np.ndarray, "question"]
    right: Bool[np.ndarray, "way question"]

    def of(self, method: str) -> Proportion:
        """Of each class the share of right answers, with its 95% interval (Wilson)."""
        row = self.right[WAYS.index(method)]
        cells = np.full((len(self.classes), len(row)), np.nan)
        cells[self.kind, np.arange(len(row))] = row
        return shares(cells)

    def overall(self, method: str) -> Proportion:
        """Of all questions together."""
        return proportion(self.right[WAYS.index(method)])

    def compared(self) -> Paired:
        """The arithmetic (question words left out) and the neighbor of c on the same questions."""
        return mcnemar(self.right[0], self.right[2])

    @property
    def questions(self) -> int:
        """How many were asked."""
        return len(self.kind)

    def summary(self) -> Facts:
        """State how many are right in each way, and which of two ways alone is."""
        paired = self.compared()
        shares = {method: self.overall(method).share for method in WAYS}
        return Facts(questions=self.questions, classes=len(self.classes), **shares,
                     first=paired.only_first, second=paired.only_second)  # fmt: skip


def by_class(
    table: WordTable, questions: Sequence[tuple[int, str, str, str, str]], classes: Sequence[str],
    centered: bool,
) -> ByClass:  # fmt: skip
    """Every question (class, a, b, c, d) in three ways; a word that the table lacks: wrong."""
    right = np.zeros((len(WAYS), len(questions)), bool)
    for at, (_, a, b, c, d) in enumerate(questions):
        positions = [table.index.get(word, -1) for word in (a, b, c, d)]
        if min(positions) < 0:
            continue
        item, two, three = (table.moved(table.vectors[k], centered) for k in positions[:3])
        scores = table.cosines(target(two, item, three), centered)
        alone = table.cosines(three, centered)
        for result in (scores, alone):
            result[~table.answers] = -np.inf
        right[1, at] = scores.argmax() == positions[3]
        scores[positions[:3]] = alone[positions[:3]] = -np.inf
        right[0, at], right[2, at] = scores.argmax() == positions[3], alone.argmax() == positions[3]
    return ByClass(tuple(classes), np.array([kind for kind, *_ in questions]), right)
