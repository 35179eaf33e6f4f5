"""The figures about positions with seeded tables, words and results: what their tests draw."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from seqviz.compute.positions import clocks, learned, offsets, order, relative, rotary, sinusoidal
from seqviz.compute.positions.tiny.results import OrderResult, Scores
from seqviz.compute.positions.tiny.settings import OrderSettings
from seqviz.compute.positions.tiny.tasks import Examples
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.style import Style
from seqviz.figures.positions import (
    biases,
    effects,
    schemes,
    tables,
    tasks,
)
from seqviz.figures.positions import (
    clocks as position_clocks,
)
from seqviz.figures.positions import (
    encodings as position_encodings,
)

WORDS = ("<b>Mary</b>", "gave", "John & co", "a", "flower")
OTHERS = ("John & co", "gave", "<b>Mary</b>", "a", "flower")
ORDER = np.array([2, 1, 0, 3, 4])
ENCODINGS = ("none", "sinusoidal", "learned", "rotary", "alibi")


@cache
def waves(positions: int = 64, width: int = 64) -> sinusoidal.Sinusoids:
    return sinusoidal.encoding(positions, width)


@cache
def table(positions: int = 40, width: int = 12) -> np.ndarray:
    """A table that wanders, so that neighbors are alike."""
    return np.cumsum(np.random.RandomState(1).standard_normal((positions, width)), axis=0)


@cache
def shuffles() -> dict[str, order.Shuffle]:
    words = np.random.RandomState(2).standard_normal((len(WORDS), 16))
    return {s: order.shuffled(words, ORDER, s) for s in ("none", "sinusoidal", "learned", "rotary")}


def scores(length: int, accuracy: np.ndarray) -> Scores:
    """An interval of 0.02 to either side; the limits of the tasks are numbers of their own."""
    low, high = np.maximum(accuracy - 0.02, 0), np.minimum(accuracy + 0.02, 1)
    return Scores(length, accuracy, low, high, 0.167, 0.365)


@cache
def result(encodings: tuple[str, ...] = ENCODINGS, runs: int = 3) -> OrderResult:
    """What a training could have found; the learned table has no rows for longer sequences."""
    draw = np.random.RandomState(3)
    count, updates = len(encodings), np.arange(50, 501, 50)
    accuracy = draw.uniform(0.3, 1.0, (count, runs))
    longer = accuracy / 2
    longer[[encoding == "learned" for encoding in encodings]] = np.nan
    letters = draw.randint(6, size=(8, 8))
    return OrderResult(
        OrderSettings(encodings=encodings, runs=runs),
        updates,
        draw.uniform(0.1, 1.0, (len(updates), count, runs)),
        scores(8, accuracy),
        scores(16, longer),
        Examples(letters, letters[:, ::-1].copy()),
        np.zeros((count, runs, 8, 8), int),
        np.full(count, 1000),
        "cpu",
    )


def rotary_of(positions: int) -> rotary.ScoresByOffset:
    q, k = np.random.RandomState(4).standard_normal((2, 16))
    return rotary.score_by_offset(q, k, np.arange(positions))


def drawings() -> dict[str, Callable[[Style], Figure]]:
    """Every figure about positions once, by its name."""
    enc, found = waves(), offsets.similarity(waves().table)
    closed = offsets.dot_by_offset(enc.frequencies, found.dot_by_offset.offset)
    small = waves(64, 8)
    beside = sinusoidal.encoding(*table().shape)
    of_table, of_waves = offsets.similarity(table()), offsets.similarity(beside.table)
    likeness = learned.compare(table())
    words = np.random.RandomState(5).standard_normal((300, 64)) / 8
    gaps = {scheme: shuffle.moved for scheme, shuffle in shuffles().items()}
    both = shuffles()["sinusoidal"]
    done = result()
    changes = [relative.shift_change(scheme) for scheme in relative.SCHEMES]
    return {
        "map": lambda s: position_encodings.encoding_map(enc.table, 1e4, s),
        "offset": lambda s: position_encodings.by_offset(found, closed, s),
        "offset, learned": lambda s: position_encodings.by_offset(of_table, None, s),
        "similarity": lambda s: position_encodings.similarity_matrix(
            found.dot, s.text("figure.pos_score"), s
        ),
        "rotation": lambda s: position_encodings.rotation_figure(
            sinusoidal.rotation(3, 8), sinusoidal.found_rotation(small.table, 3).matrix, 3, s
        ),
        "clocks": lambda s: position_clocks.clocks_figure(
            clocks.clocks(enc, 5), clocks.clocks(enc, 12), 7, s
        ),
        "wavelengths": lambda s: position_clocks.wavelengths(enc.wavelengths, 1e4, s),
        "norms": lambda s: position_clocks.norms(clocks.embedding_scale(words, enc.table), s),
        "tables": lambda s: tables.table_similarity(of_table.cosine, of_waves.cosine, s),
        "path": lambda s: tables.path(learned.path(table()), style=s),
        "spectrum": lambda s: tables.spectrum(
            learned.spectrum(table()), learned.spectrum(beside.table), s
        ),
        "table norms": lambda s: tables.norms(likeness, s),
        "shares": lambda s: tables.shares(likeness, s),
        "rotary": lambda s: schemes.rotary_scores(rotary_of(40), style=s),
        "alibi": lambda s: biases.alibi(
            relative.alibi_slopes(8), relative.alibi_bias(8, 32)[2], 2, s
        ),
        "t5": lambda s: biases.t5_buckets(relative.t5_map(64), s),
        "shift": lambda s: schemes.shift_bars(changes, style=s),
        "moved": lambda s: effects.moved_words(WORDS, gaps, s),
        "outputs": lambda s: effects.outputs(
            WORDS, both.before.weights, OTHERS, both.after.weights, s
        ),
        "curves": lambda s: tasks.curves(done.updates, done.curve, ENCODINGS, style=s),
        "accuracies": lambda s: tasks.accuracies(done, s),
    }


def trace(figure: Figure, name: str) -> Figure:
    """The trace with this name."""
    (found,) = [t for t in figure.data if t.name == name]
    return found


def said(figure: Figure) -> list[str]:
    """The words that stand in the figure outside its axes."""
    return [annotation.text for annotation in figure.layout.annotations]
