"""A user's words in a plane, the neighbors of a word, and analogies."""

from __future__ import annotations

import numpy as np

from seqviz.compute.text.vectors import plane
from seqviz.compute.text.vectors import table as tables
from seqviz.compute.text.vectors.plane import PROJECTIONS, Placed
from seqviz.compute.text.vectors.table import ByClass, Ranked, by_class, ranked
from seqviz.core.errors import UserError
from seqviz.data import word_lists
from seqviz.experiments.text.vectors.tables import needed, table, vector, words_of
from seqviz.jobs import Report, no_progress
from seqviz.models import texts

NEAREST = 8
FEWEST = 3
_NAMED, _LONGEST = 5, 20  # unknown words that a message names, and their characters


def project(
    source: str,
    text: texts.TokenizerText,
    projection: str,
    across: str = "",
    up: str = "",
    centered: bool = True,
) -> Placed:
    """Project the words of a text to a plane, without those missing from the table.

    Args:
        source: name of the table, of `TABLES`.
        text: the words.
        projection: "axes" from the first to the second word of `across` and of `up`; "pca" of the
            vectors at length 1; "mds" of the angles between them.
        across: two words for the horizontal axis.
        up: two words for the vertical axis.
        centered: True to subtract the mean of the table before lengths and angles; axes do not
            depend on it.

    Raises:
        ValueError: unknown projection.
        UserError: "few_words", "few_known_words", "axis_words", "unknown_word" or "no_word".
    """
    if projection not in PROJECTIONS:
        raise ValueError(f"The projection is one of {', '.join(PROJECTIONS)}, not {projection!r}.")
    result = {word: vector(source, word) for word in words_of(text)}
    existing = {word: item for word, item in result.items() if item is not None}
    missing = tuple(word for word, item in result.items() if item is None)
    if len(existing) < FEWEST:
        sentence = f"Write at least {FEWEST} words that are known here."
        if not missing:
            raise UserError("few_words", sentence, least=FEWEST)
        unknown = ", ".join([word[:_LONGEST] for word in missing[:_NAMED]])
        unknown += ", …" if len(missing) > _NAMED else ""
        raise UserError("few_known_words", f"{sentence} Unknown: {unknown}.", least=FEWEST,
                        unknown=unknown)  # fmt: skip
    rows = np.stack([item for item, _ in existing.values()])
    moved = table(source).moved(rows, centered)
    cosines = plane.cosine_matrix(moved)
    ends: tuple[tuple[str, str], ...] = ()
    shares, slant = np.full(2, np.nan), 0.0
    if projection == "axes":
        ends = (_two(across), _two(up))
        paths = [[needed(source, word) for word in pair] for pair in ends]
        try:
            positions = np.stack([plane.along(rows, *method) for method in paths], 1)
        except ValueError as error:
            raise UserError("axis_words", str(error)) from error
        slant = float(plane.cosine_matrix(np.stack([high - low for low, high in paths]))[0, 1])
    elif projection == "pca":
        positions, shares = plane.principal(moved / np.linalg.norm(moved, axis=1, keepdims=True))
    else:
        positions, shares = plane.classical(np.arccos(cosines))
    return Placed(
        tuple(existing), positions, cosines, projection, ends, shares, slant, rows.shape[1],
        missing,
        tuple(word for word, (_, pieces) in existing.items() if pieces > 1),
    )  # fmt: skip


def _two(text: str) -> tuple[str, str]:
    """Return the two words of an axis; raise UserError("axis_words") for another number."""
    words = words_of(text)
    if len(words) != 2:
        raise UserError("axis_words", "An axis runs between two different words: write two.")
    return words[0], words[1]


def nearest(source: str, word: str, centered: bool) -> Ranked:
    """Return the nearest words of a table to a word.

    Args:
        source: name of the table, of `TABLES`.
        word: the word.
        centered: True to subtract the mean of the table.

    Raises:
        UserError: "unknown_word" or "no_word".
    """
    first = words_of(word)[0]
    existing = table(source)
    moved = existing.moved(needed(source, first), centered)
    return ranked(existing, moved, centered, (first,), NEAREST, include_query=False)


def solve(source: str, question: str, centered: bool) -> tuple[Ranked, Ranked]:
    """Return the nearest words to a - b + c, these three included, and to c for comparison.

    The neighbors of c are the answer without arithmetic.

    Args:
        source: name of the table, of `TABLES`.
        question: the question "a - b + c".
        centered: True to subtract the mean of the table.

    Raises:
        UserError: "three_words", "unknown_word" or "no_word".
    """
    words = words_of(question)
    if len(words) != 3:
        raise UserError("three_words", "An analogy has three different words: a - b + c.")
    existing = table(source)
    a, b, c = (existing.moved(needed(source, word), centered) for word in words)
    return (
        ranked(existing, tables.target(a, b, c), centered, words, NEAREST, include_query=True),
        ranked(existing, c, centered, words, NEAREST, include_query=False),
    )


def analogies(source: str, centered: bool, report: Report = no_progress) -> ByClass:
    """Answer the bundled analogy questions in one of the large tables (a job).

    Args:
        source: name of the table, of `TABLES`.
        centered: True to subtract the mean of the table.
        report: progress callback; receives 1 at the end.

    Raises:
        UserError: errors of `load`.
    """
    kinds = tuple(word_lists.analogy_pairs())
    result = by_class(table(source), word_lists.analogy_questions(), kinds, centered)
    report(1.0, 1.0)
    return result
