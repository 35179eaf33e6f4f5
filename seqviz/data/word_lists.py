"""Bundled word lists: analogies, polysemous words, substitutes, agreement, and GloVe vectors.

`glove_words.npz` and `analogies.tsv` are made by tools/bundle_vectors.py; the sentences and the
substitutes were written for the lessons *Text to numbers* and *Language models*, as were the
continuations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from jaxtyping import Float, Float16

from seqviz.core.errors import damaged
from seqviz.core.paths import ASSETS

FOLDER = ASSETS / "data"
AHEAD = 3  # questions per pair: with the pairs 1, 2 and 3 places after it


@dataclass(frozen=True)
class Bundled:
    """GloVe words and their vectors.

    Attributes:
        words: the words.
        vectors: one row per word, read-only.
        mean: mean vector of the 20,000 most frequent words.

    References:
        Pennington et al., 2014.
    """

    words: tuple[str, ...]
    vectors: Float16[np.ndarray, "word dimension"]
    mean: Float[np.ndarray, "dimension"]


@dataclass(frozen=True)
class TwoSenses:
    """Polysemous word with two sentences for each of two senses.

    Attributes:
        word: the word.
        first: sentences in one sense.
        second: sentences in the other sense.
    """

    word: str
    first: tuple[str, str]
    second: tuple[str, str]


@dataclass(frozen=True)
class AgreementSentence:
    """Beginning of a sentence whose verb, "were" or "was", agrees with a distant subject.

    Attributes:
        plural: the subject, which "were" follows.
        singular: the subject in the singular, which "was" follows.
        between: phrases of three words each; any number of the first can stand after the subject.
        ending: the four words in front of the verb.
    """

    plural: str
    singular: str
    between: tuple[str, ...]
    ending: str

    def beginning(self, plural: bool, phrases: int) -> str:
        """Return the text in front of the verb.

        Args:
            plural: number of the subject.
            phrases: how many of the phrases stand after it.
        """
        subject = self.plural if plural else self.singular
        return " ".join(("The", subject, *self.between[:phrases], self.ending))


@dataclass(frozen=True)
class Choice:
    """Text with two continuations.

    Attributes:
        text: the text.
        right: the continuation that is right.
        wrong: the other one.
    """

    text: str
    right: str
    wrong: str


@cache
def bundled() -> Bundled:
    """Return the bundled GloVe vectors.

    Raises:
        UserError: "damaged": the file is missing or incomplete.
    """
    path = FOLDER / "glove_words.npz"
    try:
        with np.load(path, allow_pickle=False) as retained:
            words = tuple(retained["words"].tobytes().decode().split("\n"))
            vectors, mean = retained["vectors"], retained["mean"]
    except (OSError, ValueError, KeyError) as error:
        raise damaged(path) from error
    for array in (vectors, mean):
        array.flags.writeable = False
    return Bundled(words, vectors, mean)


@cache
def analogy_pairs() -> dict[str, tuple[tuple[str, str], ...]]:
    """Return the analogy pairs by class: the first 20 of each class of questions-words.txt.

    They are in lower case, with both words among the 20,000 most frequent of GloVe.

    References:
        Mikolov et al., 2013.
    """
    result: dict[str, list[tuple[str, str]]] = {}
    for kind, row, other in _rows("analogies.tsv", 3):
        result.setdefault(kind, []).append((row, other))
    return {kind: tuple(pairs) for kind, pairs in result.items()}


def analogy_questions() -> tuple[tuple[int, str, str, str, str], ...]:
    """Return (class, a, b, c, d): a is to b as c is to d; each pair with the next `AHEAD` pairs."""
    return tuple(
        (kind, *pair, *pairs[(at + step) % len(pairs)])
        for kind, pairs in enumerate(analogy_pairs().values())
        for at, pair in enumerate(pairs)
        for step in range(1, AHEAD + 1)
    )


@cache
def two_senses() -> tuple[TwoSenses, ...]:
    """Return fifty words with four sentences each."""
    return tuple(TwoSenses(w, (a, b), (c, d)) for w, a, b, c, d in _rows("senses.tsv", 5))


@cache
def substitutes() -> tuple[tuple[str, str, str], ...]:
    """Return triples: a word, a substitute for it, a related word that is no substitute."""
    return tuple((a, b, c) for a, b, c in _rows("substitutes.tsv", 3))


@cache
def agreement() -> tuple[AgreementSentence, ...]:
    """Return forty beginnings such as "The flights from the north the airline was cancelling"."""
    return tuple(
        AgreementSentence(plural, singular, tuple(between), ending)
        for plural, singular, *between, ending in _rows("agreement.tsv", 7)
    )


@cache
def uses() -> dict[str, tuple[Choice, ...]]:
    """Return twelve texts with two continuations for each task: translation, sentiment, ..."""
    result: dict[str, list[Choice]] = {}
    for task, *parts in _rows("uses.tsv", 4):
        result.setdefault(task, []).append(Choice(*parts))
    return {task: tuple(items) for task, items in result.items()}


def _rows(name: str, columns: int) -> list[list[str]]:
    """Return the rows of a bundled table; UserError("damaged") where it is incomplete."""
    path = FOLDER / name
    try:
        rows = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise damaged(path) from error
    if not rows or any(len(row) != columns for row in rows):
        raise damaged(path)
    return rows
