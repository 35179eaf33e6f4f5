"""An example of every figure about positions, with seeded tables, words and results."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from seqviz.compute.positions import learned, offsets, orders, relative, rotary, simple
from seqviz.compute.positions.clocks import clocks, embedding_scale
from seqviz.compute.positions.results import VARIANTS, Reordered
from seqviz.compute.positions.sinusoidal import encoding, fit_rotation, rotation
from seqviz.compute.positions.tiny.results import OrderReport, OrderResult, TaskScores
from seqviz.compute.positions.tiny.settings import ENCODINGS, OrderSettings
from seqviz.compute.positions.tiny.tasks import LetterExamples
from seqviz.figures.positions import tables
from seqviz.figures.positions.biases import alibi, t5_buckets
from seqviz.figures.positions.clocks import clock_hands, embedding_norms, wavelengths
from seqviz.figures.positions.effects import both_orders, moved_words
from seqviz.figures.positions.encoder import encoder_maps, encoder_variants
from seqviz.figures.positions.encodings import (
    dot_products,
    encoding_map,
    rotation_matrices,
    similarity_by_offset,
)
from seqviz.figures.positions.schemes import rotary_scores, shift_bars, term_maps
from seqviz.figures.positions.simple import code_demands, digits_and_waves
from seqviz.figures.positions.tasks import accuracies, learning_curves, learning_progress
from seqviz.stats.proportions import Shares
from testing.figure_examples import Example

FIRST, SECOND = "<b>Mary</b> gave John&co a flower", "John&co gave <b>Mary</b> a flower"
PIECES = ("[CLS]", "<b>mary</b>", "%{x}", "john & co", "a", "[SEP]")


def examples() -> tuple[Example, ...]:
    """Every figure of the subject; several where its parts differ."""
    return (*_encodings(), *_learned(), *_schemes(), *_orders(), *_trained())


def _encodings() -> tuple[Example, ...]:
    sines, narrow = encoding(48, 16), encoding(64, 8)
    result, wandering = offsets.similarity(sines.table), offsets.similarity(wandering_table())
    dot = result.dot_by_offset
    closed = offsets.dot_by_offset(sines.frequencies, dot.offset)
    here, there = clocks(sines, 5), clocks(sines, 12)
    many = encoding(20, 80)
    words = np.random.RandomState(5).standard_normal((300, 16)) / 4
    lengths = embedding_scale(words, sines.table)
    held = simple.demands(32)
    digits = simple.code("binary", 48), simple.code("waves", 48)
    return (
        Example("positions: demands", code_demands, (held,), held.jump),
        Example("positions: digits", digits_and_waves, digits, 101111),
        Example("positions: table", encoding_map, (sines,), 48),
        Example("positions: by offset", similarity_by_offset, (result, closed), float(dot.mean[0])),
        Example("positions: dot products", dot_products, (result,), float(result.dot[0, -1])),
        Example("positions: signed dot products", dot_products, (wandering,), 40),
        Example(
            "positions: rotation",
            rotation_matrices,
            (rotation(3, 8), fit_rotation(narrow.table, 3), 3),
            float(np.cos(3)),
        ),
        Example(
            "positions: rotation without numbers",
            rotation_matrices,
            (rotation(3, 16), fit_rotation(encoding(256, 16).table, 3), 3),
            16,
        ),
        Example("positions: clocks", clock_hands, (here, there), 12),
        Example("positions: many clocks", clock_hands, (clocks(many, 0), clocks(many, 19)), 40),
        Example("positions: wavelengths", wavelengths, (sines,), float(sines.wavelengths[-1])),
        Example("positions: norms", embedding_norms, (lengths,), float(np.median(lengths.scaled))),
    )


def _learned() -> tuple[Example, ...]:
    own = wandering_table()
    sinusoids = encoding(*own.shape).table
    both = offsets.similarity(own), offsets.similarity(sinusoids)
    return (
        Example(
            "positions: two tables", tables.table_similarity, both, float(both[0].cosine[0, -1])
        ),
        Example(
            "positions: early and late",
            tables.early_and_late,
            (learned.ages(own), learned.ages(sinusoids)),
            learned.ages(own).late[1],
        ),
        Example("positions: path", tables.component_path, (learned.path(own),), 40),
        Example(
            "positions: spectrum",
            tables.power_spectrum,
            (learned.spectrum(own), learned.spectrum(sinusoids)),
            1 / 40,
        ),
    )


def _schemes() -> tuple[Example, ...]:
    result, at = rotary.random_scores(16, 40), rotary.turned(16, 13, 10)
    terms = relative.position_terms(12)
    slopes = relative.alibi_slopes(8)
    return (
        Example("positions: rotary", rotary_scores, (result, at), float(result.scores[0, 0])),
        Example("positions: terms", term_maps, (terms,), 12),
        Example("positions: ALiBi", alibi, (slopes, relative.alibi_bias(8, 32), 2), 32),
        Example(
            "positions: ALiBi, both sides",
            alibi,
            (slopes, relative.alibi_bias(8, 16, False), 3),
            float(-15 / 16),
        ),
        Example("positions: T5", t5_buckets, (relative.t5_map(64),), 64),
        Example("positions: T5, written", t5_buckets, (relative.t5_map(12, False),), 12),
        Example(
            "positions: shift",
            shift_bars,
            (tuple(relative.shift_change(scheme) for scheme in relative.SCHEMES),),
            1000.0,
        ),
    )


def _orders() -> tuple[Example, ...]:
    order_comparison = orders.compare_orders(FIRST, SECOND)
    text = " ".join(f"word{k}" for k in range(20))
    many = orders.compare_orders(text, orders.shuffle(text))
    other = reordered()
    return (
        Example(
            "positions: moved",
            moved_words,
            (order_comparison,),
            float(order_comparison.moved[1].max()),
        ),
        Example("positions: moved, many", moved_words, (many,), float(many.moved[1].max())),
        Example(
            "positions: both orders",
            both_orders,
            (order_comparison, "sinusoidal"),
            float(order_comparison.first[1][0, -1]),
        ),
        Example(
            "positions: both orders, many",
            both_orders,
            (many, "rotary"),
            float(many.second[3][0, -1]),
        ),
        Example("positions: encoder", encoder_variants, (other,), 1),
        Example(
            "positions: encoder, head",
            encoder_maps,
            (other, "shuffled"),
            float(other.previous[2]),
        ),
    )


def _trained() -> tuple[Example, ...]:
    result = order_result()
    trail = tuple(
        OrderReport(int(update), 500, accuracy)
        for update, accuracy in zip(result.updates[:3], result.curve[:3], strict=True)
    )
    return (
        Example("positions: progress", learning_progress, (trail, result.settings), 150),
        Example("positions: curves", learning_curves, (result,), 500),
        Example("positions: results", accuracies, (result,), 36.5),
    )


def wandering_table(positions: int = 40, width: int = 12) -> Float[np.ndarray, "position d_model"]:
    """A table whose neighbors are alike, as those of a learned one are."""
    return np.cumsum(np.random.RandomState(1).standard_normal((positions, width)), axis=0)


def reordered(pieces: tuple[str, ...] = PIECES) -> Reordered:
    """What a pretrained encoder could have been found to do, with weights from a seed."""
    count = len(pieces)
    weights = np.random.RandomState(1).dirichlet(np.full(count, 0.3), (len(VARIANTS), count))
    return Reordered(
        "a <model>",
        pieces,
        pieces[::-1],
        VARIANTS,
        np.array([0.98853, 1.0, -0.12, 0.99928]),
        np.array([1.0, 0.67182, 0.78315, 0.62176]),
        np.array([0.99983, 0.20656, 0.0, 0.21380]),
        weights.astype(np.float32),
        3,
        7,
    )


def order_result(encodings: tuple[str, ...] = ENCODINGS, runs: int = 3) -> OrderResult:
    """What a training could have found; a learned table has no rows for longer sequences."""
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
        _scores(8, accuracy),
        _scores(16, longer),
        LetterExamples(letters, letters[:, ::-1].copy()),
        np.zeros((count, runs, 8, 8), int),
        np.full(count, 1000),
        "cpu",
    )


def _scores(length: int, accuracy: Float[np.ndarray, "encoding run"]) -> TaskScores:
    """An interval of 0.02 to either side; the limits of the tasks are numbers of their own."""
    low, high = np.maximum(accuracy - 0.02, 0), np.minimum(accuracy + 0.02, 1)
    n = np.full(accuracy.shape, 1000)
    return TaskScores(length, Shares(accuracy, low, high, n), 0.167, 0.365)
