"""Table of word vectors: cosines, nearest words, and analogies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from seqviz.core.units import Cosine
from seqviz.stats.facts import Facts
from seqviz.stats.proportions import Paired, Proportion, mcnemar, proportion, shares

WAYS = ("excluded", "all", "neighbor")


@dataclass(frozen=True)
class WordTable:
    """Words with a vector each.

    Attributes:
        mean: subtracted from centered vectors; for the bundled words the mean of the full table.
        answers: True for words that may be an answer.
    """

    words: tuple[str, ...]
    vectors: Float[np.ndarray, "word dimension"]
    mean: Float[np.ndarray, "dimension"]
    answers: Bool[np.ndarray, "word"]

    @cached_property
    def index(self) -> dict[str, int]:
        """Row of each word."""
        return {word: index for index, word in enumerate(self.words)}

    @cached_property
    def lengths(self) -> tuple[Float[np.ndarray, "word"], Float[np.ndarray, "word"]]:
        """Norms of the raw vectors and of the centered ones."""
        raw = np.linalg.norm(self.vectors, axis=1)
        # |v - m|^2 is expanded, which needs no second table.
        mean = self.mean.astype(self.vectors.dtype)
        squares = raw.astype(float) ** 2 - 2 * (self.vectors @ mean) + self.mean @ self.mean
        return raw, np.sqrt(np.maximum(squares, 0))

    def cosines(
        self, vector: Float[np.ndarray, "dimension"], centered: bool
    ) -> Float[np.ndarray, "word"]:
        """Return the cosine of every word with a vector.

        Args:
            vector: the vector, already centered where `centered`.
            centered: True to subtract the mean from the words.
        """
        norm = self.lengths[centered] * np.linalg.norm(vector)
        # In the table's precision, because numpy would copy the table for another one.
        dots = self.vectors @ vector.astype(self.vectors.dtype)
        dots = dots - (self.mean @ vector if centered else 0.0)
        return np.where(norm > 0, dots / np.where(norm > 0, norm, 1), 0.0)

    def moved(
        self, vectors: Float[np.ndarray, "*rows dimension"], centered: bool
    ) -> Float[np.ndarray, "*rows dimension"]:
        """Return vectors in float64, without the mean where `centered`.

        Args:
            vectors: the vectors.
            centered: True to subtract the mean.
        """
        return np.asarray(vectors, float) - (self.mean if centered else 0.0)


@dataclass(frozen=True)
class Ranked:
    """Nearest words to a vector by cosine.

    Attributes:
        query: words of the query.
        words: nearest first.
        of: number of possible answers.
        between: mean cosine of random pairs of words, for comparison.
    """

    query: tuple[str, ...]
    words: tuple[str, ...]
    cosines: Float[np.ndarray, "rank"]
    of: int
    between: Cosine

    @property
    def first(self) -> str:
        """Nearest word."""
        return self.words[0]

    @property
    def first_new(self) -> str:
        """Nearest word that is not in the query."""
        return next(word for word in self.words if word not in self.query)

    @property
    def top(self) -> Cosine:
        """Cosine of `first_new`."""
        return float(self.cosines[self.words.index(self.first_new)])


def target(
    a: Float[np.ndarray, "dimension"],
    b: Float[np.ndarray, "dimension"],
    c: Float[np.ndarray, "dimension"],
) -> Float[np.ndarray, "dimension"]:
    """Return a - b + c of normalized vectors (3CosAdd: Levy and Goldberg, 2014).

    Args:
        a: first vector.
        b: subtracted vector.
        c: third vector.
    """
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
    """Return the nearest words to a vector.

    Args:
        table: the vectors.
        vector: the query, see `WordTable.cosines`.
        centered: True to subtract the mean.
        query_words: words of the query.
        count: number of words.
        include_query: True where the query words may be answers.
    """
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
    """Return the mean cosine of random pairs of different words, deterministic.

    Args:
        table: the vectors.
        centered: True to subtract the mean.
        count: number of pairs.
    """
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
    """Correctness of analogies "a is to b as c is to d", by class.

    Ways (`WAYS`): answer among all words but the three of the question ("excluded"), among all
    words ("all"), or the nearest neighbor of c except a and b, without arithmetic ("neighbor").

    Attributes:
        kind: index of each question's class.
        right: True where the answer is d.
        candidates: number of words that may be an answer.
    """

    classes: tuple[str, ...]
    kind: Int[np.ndarray, "question"]
    right: Bool[np.ndarray, "way question"]
    candidates: int

    def of(self, method: str) -> Proportion:
        """Return the proportion of correct answers of each class (Wilson)."""
        row = self.right[WAYS.index(method)]
        cells = np.full((len(self.classes), len(row)), np.nan)
        cells[self.kind, np.arange(len(row))] = row
        return shares(cells)

    def overall(self, method: str) -> Proportion:
        """Return the proportion of correct answers of all questions."""
        return proportion(self.right[WAYS.index(method)])

    def compared(self) -> Paired:
        """Return McNemar's test of the arithmetic ("excluded") against the neighbor of c."""
        return mcnemar(self.right[0], self.right[2])

    @property
    def questions(self) -> int:
        """Number of questions."""
        return len(self.kind)

    def summary(self) -> Facts:
        """State the accuracy in each way, and the questions correct in only one of two ways."""
        paired = self.compared()
        shares = {method: self.overall(method).share for method in WAYS}
        return Facts(questions=self.questions, classes=len(self.classes), **shares,
                     first=paired.only_first, second=paired.only_second,
                     candidates=self.candidates)  # fmt: skip


def by_class(
    table: WordTable, questions: Sequence[tuple[int, str, str, str, str]], classes: Sequence[str],
    centered: bool,
) -> ByClass:  # fmt: skip
    """Answer every question in three ways; a question with a word outside the table is wrong.

    Args:
        table: the vectors.
        questions: (class, a, b, c, d).
        classes: names of the classes.
        centered: True to subtract the mean.
    """
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
    kinds = np.array([kind for kind, *_ in questions])
    return ByClass(tuple(classes), kinds, right, int(table.answers.sum()))
