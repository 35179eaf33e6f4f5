"""Examples of figures of positions."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from seqviz.compute.positions import learned, offsets, orders, relative, rotary, simple
from seqviz.compute.positions.clocks import clocks, embedding_scale
from seqviz.compute.positions.results import VARIANTS, Reordered
from seqviz.compute.positions.sinusoidal import encoding, fit_rotation, rotation
from seqviz.compute.positions.tiny.results import OrderReport, OrderResult, TaskScores
from seqviz.compute.positions.tiny.settings import ENCODINGS, OrderSettings
from seqviz.figures.positions import biases, effects, encoder, encodings, schemes, tables, tasks
from seqviz.figures.positions import clocks as clock_figures
from seqviz.figures.positions import simple as simple_figures
from seqviz.stats.proportions import Proportion
from testing.fake import fake
from testing.figure_examples import Example

FIRST, SECOND = "<b>Mary</b> gave John&co a flower", "John&co gave <b>Mary</b> a flower"
PIECES = ("[CLS]", "<b>mary</b>", "%{x}", "john & co", "a", "[SEP]")


def examples() -> tuple[Example, ...]:
    """Return examples of every figure function of the subject, several where it has branches."""
    return (*_of_encodings(), *_of_learned(), *_of_schemes(), *_of_orders(), *_of_training())


def _of_encodings() -> tuple[Example, ...]:
    sines, narrow = encoding(48, 16), encoding(64, 8)
    result, wandering = offsets.similarity(sines.table), offsets.similarity(wandering_table())
    dot, held = result.dot_by_offset, simple.demands(32)
    closed = offsets.dot_by_offset(sines.frequencies, dot.offset)
    here, there, many = clocks(sines, 5), clocks(sines, 12), encoding(20, 80)
    words = np.random.RandomState(5).standard_normal((300, 16)) / 4
    lengths = embedding_scale(words, sines.table)
    digits = simple.code("binary", 48), simple.code("waves", 48)
    wide = rotation(3, 16), fit_rotation(encoding(256, 16).table, 3), 3
    return (
        Example("positions: demands", simple_figures.code_demands, (held,), held.jump),
        Example("positions: digits", simple_figures.digits_and_waves, digits, 101111),
        Example("positions: table", encodings.encoding_map, (sines,), 48),
        Example("positions: by offset", encodings.similarity_by_offset, (result, closed),
                dot.mean[0]),
        Example("positions: dot products", encodings.dot_products, (result,), result.dot[0, -1]),
        Example("positions: signed dot products", encodings.dot_products, (wandering,), 40),
        Example("positions: rotation", encodings.rotation_matrices,
                (rotation(3, 8), fit_rotation(narrow.table, 3), 3), np.cos(3)),
        Example("positions: rotation without numbers", encodings.rotation_matrices, wide, 16),
        Example("positions: clocks", clock_figures.clock_hands, (here, there), 12),
        Example("positions: many clocks", clock_figures.clock_hands,
                (clocks(many, 0), clocks(many, 19)), 40),
        Example("positions: wavelengths", clock_figures.wavelengths, (sines,),
                sines.wavelengths[-1]),
        Example("positions: norms", clock_figures.embedding_norms, (lengths,),
                np.median(lengths.scaled)),
    )  # fmt: skip


def _of_learned() -> tuple[Example, ...]:
    own = wandering_table()
    sinusoids = encoding(*own.shape).table
    both = offsets.similarity(own), offsets.similarity(sinusoids)
    ages = learned.ages(own), learned.ages(sinusoids)
    trained = learned.updates(np.array([2, 3, 3, 8]), len(own), 6)
    spectra = learned.spectrum(own), learned.spectrum(sinusoids)
    return (
        Example("positions: two tables", tables.table_similarity, both, both[0].cosine[0, -1]),
        Example("positions: early and late", tables.early_and_late, ages, ages[0].late[1]),
        Example("positions: updates of rows", tables.row_updates, (trained,), 34),
        Example("positions: path", tables.component_path, (learned.path(own),), 40),
        Example("positions: spectrum", tables.power_spectrum, spectra, 1 / 40),
    )  # fmt: skip


def _of_schemes() -> tuple[Example, ...]:
    result, at = rotary.random_scores(16, 40), rotary.turned(16, 13, 10)
    slopes = relative.alibi_slopes(8)
    shifts = tuple(relative.shift_change(scheme) for scheme in relative.SCHEMES)
    both_sides = slopes, relative.alibi_bias(8, 16, False), 3
    return (
        Example("positions: rotary", schemes.rotary_scores, (result, at), result.scores[0, 0]),
        Example("positions: terms", schemes.term_maps, (relative.position_terms(12),), 12),
        Example("positions: ALiBi", biases.alibi, (slopes, relative.alibi_bias(8, 32), 2), 32),
        Example("positions: ALiBi, both sides", biases.alibi, both_sides, -15 / 16),
        Example("positions: T5", biases.t5_buckets, (relative.t5_map(64),), 64),
        Example("positions: T5, written", biases.t5_buckets, (relative.t5_map(12, False),), 12),
        Example("positions: shift", schemes.shift_bars, (shifts,), 1000.0),
    )  # fmt: skip


def _of_orders() -> tuple[Example, ...]:
    pair, text = orders.compare_orders(FIRST, SECOND), " ".join(f"word{k}" for k in range(20))
    many, other = orders.compare_orders(text, orders.shuffle(text)), reordered()
    return (
        Example("positions: moved", effects.moved_words, (pair,), pair.moved[1].max()),
        Example("positions: moved, many", effects.moved_words, (many,), many.moved[1].max()),
        Example("positions: both orders", effects.both_orders, (pair, "sinusoidal"),
                pair.first[1][0, -1]),
        Example("positions: both orders, many", effects.both_orders, (many, "rotary"),
                many.second[3][0, -1]),
        Example("positions: encoder", encoder.encoder_variants, (other,), 1),
        Example("positions: encoder, head", encoder.encoder_maps, (other, "shuffled"),
                other.previous[2]),
    )  # fmt: skip


def _of_training() -> tuple[Example, ...]:
    result = order_result()
    rows = list(zip(result.updates.tolist(), result.curve, strict=True))
    trail = tuple(OrderReport(update, 500, accuracy) for update, accuracy in rows[:3])
    return (
        Example("positions: progress", tasks.learning_progress, (trail, result.settings), 150),
        Example("positions: curves", tasks.learning_curves, (result,), 500),
        Example("positions: results", tasks.accuracies, (result,), 36.5),
    )


def wandering_table(positions: int = 40, width: int = 12) -> Float[np.ndarray, "position d_model"]:
    """Return a position table with similar neighbors, like a learned one."""
    return np.cumsum(np.random.RandomState(1).standard_normal((positions, width)), axis=0)


def reordered(pieces: tuple[str, ...] = PIECES) -> Reordered:
    """Return a reordering with nearly equal, moderately similar and dissimilar vectors."""
    count = len(pieces)
    weights = np.random.RandomState(1).dirichlet(np.full(count, 0.3), (len(VARIANTS), count))
    return fake(
        Reordered, pieces=pieces, others=pieces[::-1], variants=VARIANTS, weights=weights,
        alike=np.array([0.98853, 1.0, -0.12, 0.99928]), previous=np.array([0.99983, 0.2, 0, 0.2]),
        original_cosine=np.array([1.0, 0.67182, 0.78315, 0.62176]),
    )  # fmt: skip


def order_result(encodings: tuple[str, ...] = ENCODINGS, runs: int = 3) -> OrderResult:
    """Return a training of these encodings; a learned table has no rows for longer sequences."""
    accuracy = np.random.RandomState(3).uniform(0.3, 1.0, (len(encodings), runs))
    longer = accuracy / 2
    longer[[encoding == "learned" for encoding in encodings]] = np.nan
    settings = OrderSettings(encodings=encodings, runs=runs)
    return fake(
        OrderResult, settings=settings, updates=np.arange(50, 501, 50), test=_scores(8, accuracy),
        longer=_scores(16, longer), encoding=len(encodings), run=runs,
    )  # fmt: skip


def _scores(length: int, accuracy: Float[np.ndarray, "encoding run"]) -> TaskScores:
    """Return scores with intervals of ±0.02."""
    low, high = np.maximum(accuracy - 0.02, 0), np.minimum(accuracy + 0.02, 1)
    n = np.full(accuracy.shape, 1000)
    return TaskScores(length, Proportion(accuracy, low, high, n), 0.167, 0.365)
