"""What was computed about positions, as the figures of the lesson on positional encodings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.positions.clocks import Clocks, EmbeddingScale
from seqviz.compute.positions.findings import Reordered
from seqviz.compute.positions.learned import Path, Spectrum
from seqviz.compute.positions.offsets import Similarity
from seqviz.compute.positions.orders import Orders
from seqviz.compute.positions.relative import ShiftChange
from seqviz.compute.positions.rotary import ScoresByOffset
from seqviz.compute.positions.sinusoidal import FoundRotation, Sinusoids
from seqviz.compute.positions.tiny.results import OrderReport, OrderResult
from seqviz.compute.positions.tiny.settings import OrderSettings
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.style import Style
from seqviz.figures.positions import clocks, effects, encoder, encodings, schemes, tables, tasks

_STYLE = Style()


def table_view(sines: Sinusoids, style: Style = _STYLE) -> Figure:
    """The table as a map."""
    return encodings.encoding_map(sines.table, sines.base, style=style)


def offset_view(
    found: Similarity, closed: Float[np.ndarray, "offset"], style: Style = _STYLE
) -> Figure:
    """Dot product and cosine by offset."""
    return encodings.by_offset(found, closed, style=style)


def matrix_view(found: Similarity, style: Style = _STYLE) -> Figure:
    """Dot products of all pairs."""
    title = style.text("figure.pos_dot_products")
    return encodings.similarity_matrix(found.dot, title, style=style)


def rotation_view(
    closed: Float[np.ndarray, "d d"], found: FoundRotation, offset: int, style: Style = _STYLE
) -> Figure:
    """The rotation by formula beside the one found in the table."""
    return encodings.rotation_figure(closed, found.matrix, offset, style=style)


def clocks_view(before: Clocks, after: Clocks, offset: int, style: Style = _STYLE) -> Figure:
    """Two positions as hands of clocks."""
    return clocks.clocks_figure(before, after, offset, style=style)


def wavelengths_view(sines: Sinusoids, style: Style = _STYLE) -> Figure:
    """Wavelengths of all pairs."""
    return clocks.wavelengths(sines.wavelengths, sines.base, style=style)


def norms_view(found: EmbeddingScale, style: Style = _STYLE) -> Figure:
    """Lengths of word vectors and of position vectors."""
    return clocks.norms(found, style=style)


def learned_similarity_view(
    learned: Similarity, waves: Similarity, style: Style = _STYLE
) -> Figure:
    """Cosines within a learned table, beside those within a sinusoidal one."""
    return tables.table_similarity(learned.cosine, waves.cosine, style=style)


def path_view(found: Path, style: Style = _STYLE) -> Figure:
    """The way of the positions through the first two principal components."""
    return tables.path(found, style=style)


def spectrum_view(learned: Spectrum, waves: Spectrum, style: Style = _STYLE) -> Figure:
    """Power by frequency, learned and sinusoidal."""
    return tables.spectrum(learned, waves, style=style)


def rotary_view(found: ScoresByOffset, style: Style = _STYLE) -> Figure:
    """Rotary scores by offset."""
    return schemes.rotary_scores(found, style=style)


def alibi_view(
    slopes: Float[np.ndarray, "head"],
    bias: Float[np.ndarray, "head query key"],
    head: int = 0,
    style: Style = _STYLE,
) -> Figure:
    """ALiBi's slopes and one head's bias."""
    return schemes.alibi(slopes, bias[head], head, style=style)


def t5_view(buckets: Int[np.ndarray, "query key"], style: Style = _STYLE) -> Figure:
    """T5's buckets of distances."""
    return schemes.t5_buckets(buckets, style=style)


def shift_view(changes: Sequence[ShiftChange], style: Style = _STYLE) -> Figure:
    """Which scores notice a shift."""
    return schemes.shift_bars(changes, style=style)


def moved_view(found: Orders, style: Style = _STYLE) -> Figure:
    """How far each word's output moves; a word that is in one order only is left out."""
    paired = [place for place, other in enumerate(found.partner) if other >= 0]
    gaps = dict(zip(found.schemes, found.moved[:, paired], strict=True))
    words = [found.words[place] for place in paired]
    return effects.moved_words(words, gaps, style=style)


def orders_view(found: Orders, scheme: str, style: Style = _STYLE) -> Figure:
    """The attention of both orders under one scheme."""
    row = found.schemes.index(scheme)
    return effects.outputs(
        found.words, found.first[row], found.others, found.second[row], style=style
    )


def variants_view(found: Reordered, style: Style = _STYLE) -> Figure:
    """A real encoder with four tables."""
    return encoder.variants(found, style=style)


def variant_maps_view(found: Reordered, variant: str, style: Style = _STYLE) -> Figure:
    """One head of a real encoder with two tables."""
    return encoder.maps(found, variant, style=style)


def progress_view(
    trail: Sequence[OrderReport], settings: OrderSettings, style: Style = _STYLE
) -> Figure:
    """Accuracy so far."""
    return tasks.curves(
        np.array([report.update for report in trail]),
        np.stack([report.accuracy for report in trail]),
        settings.encodings,
        settings.updates,
        style=style,
    )


def curves_view(found: OrderResult, style: Style = _STYLE) -> Figure:
    """Accuracy while training."""
    return tasks.curves(
        found.updates, found.curve, found.settings.encodings, found.settings.updates, style=style
    )


def result_view(found: OrderResult, style: Style = _STYLE) -> Figure:
    """Accuracy on new sequences, as long as in training and twice as long."""
    return tasks.accuracies(found, style=style)
