"""Lists of words that come with the app: analogies, words of two senses, substitutes, vectors.

`glove_words.npz` and `analogies.tsv` are made by tools/bundle_vectors.py; the sentences and the
substitutes were written for the lesson *Text to numbers*.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from jaxtyping import Float, Float16

from seqviz.core.errors import damaged
from seqviz.core.paths import ASSETS

FOLDER = ASSETS / "data"
AHEAD = 3  # questions a pair: it is asked about the pairs 1, 2 and 3 places behind it


@dataclass(frozen=True)
class Bundled:
    """Words of GloVe (Pennington et al., 2014) and their vectors.

    mean: of the vectors of the 20,000 most frequent words.
    """

    words: tuple[str, ...]
    vectors: Float16[np.ndarray, "word dimension"]
    mean: Float[np.ndarray, "dimension"]


@dataclass(frozen=True)
class TwoSenses:
    """A word with two sentences in one sense and two in another."""

    word: str
    first: tuple[str, str]
    second: tuple[str, str]


@cache
def bundled() -> Bundled:
    """Raises UserError("damaged") when the file is not whole."""
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
    """The pairs of each class: of questions-words.txt (Mikolov et al., 2013) the first 20.

    In lower case, and only those of which both words are among the 20,000 most frequent of GloVe.
    """
    result: dict[str, list[tuple[str, str]]] = {}
    for kind, row, other in _rows("analogies.tsv", 3):
        result.setdefault(kind, []).append((row, other))
    return {kind: tuple(pairs) for kind, pairs in result.items()}


def analogy_questions() -> tuple[tuple[int, str, str, str, str], ...]:
    """(class, a, b, c, d): a is to b as c is to d, each pair beside the next `AHEAD`."""
    return tuple(
        (kind, *pair, *pairs[(at + step) % len(pairs)])
        for kind, pairs in enumerate(analogy_pairs().values())
        for at, pair in enumerate(pairs)
        for step in range(1, AHEAD + 1)
    )


@cache
def two_senses() -> tuple[TwoSenses, ...]:
    """Fifty words in four sentences each."""
    return tuple(TwoSenses(w, (a, b), (c, d)) for w, a, b, c, d in _rows("senses.tsv", 5))


@cache
def substitutes() -> tuple[tuple[str, str, str], ...]:
    """(word, one that can stand in its place, one of the same subject that cannot)."""
    return tuple((a, b, c) for a, b, c in _rows("substitutes.tsv", 3))


def _rows(name: str, columns: int) -> list[list[str]]:
    """Raises UserError("damaged")."""
    path = FOLDER / name
    try:
        rows = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise damaged(path) from error
    if not rows or any(len(row) != columns for row in rows):
        raise damaged(path)
    return rows
