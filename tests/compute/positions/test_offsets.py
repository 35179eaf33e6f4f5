"""Similarity of rows, values by offset, clocks, norms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from seqviz.compute.positions import clocks as hands
from seqviz.compute.positions import offsets, sinusoidal


def test_by_offset_matches_explicit_loops():
    draw = np.random.RandomState(0)
    matrix, positions = draw.standard_normal((5, 5)), np.array([0, 1, 2, 7, 9])
    offset_curve = offsets.by_offset(matrix, np.subtract.outer(positions, positions))
    groups: dict[int, list[float]] = {}
    for i in range(5):
        for j in range(5):
            groups.setdefault(int(positions[i] - positions[j]), []).append(matrix[i, j])
    assert list(offset_curve.offset) == sorted(groups)
    for index, offset in enumerate(offset_curve.offset):
        values = groups[int(offset)]
        assert offset_curve.mean[index] == pytest.approx(np.mean(values), abs=1e-15)
        assert (offset_curve.low[index], offset_curve.high[index]) == (min(values), max(values))
    assert offset_curve.spread == max(max(v) - min(v) for v in groups.values())


@pytest.mark.parametrize("layout", sinusoidal.LAYOUTS)
@pytest.mark.parametrize("base", [2.0, 1e4])
def test_similarity_of_sinusoids_depends_only_on_offset(layout, base):
    encoding = sinusoidal.encoding(200, 32, base, layout)
    similarity = offsets.similarity(encoding.table)
    closed = offsets.dot_by_offset(encoding.frequencies, np.arange(200))
    # 16 products of numbers up to 1 at angles up to 200: 16 x 200 x 1e-16 at the worst.
    assert similarity.dot_by_offset.spread < 1e-12
    np.testing.assert_allclose(similarity.dot_by_offset.mean, closed, atol=1e-12)
    np.testing.assert_allclose(similarity.cosine_by_offset.mean, closed / 16, atol=1e-13)
    assert closed[0] == 16


def test_similarity_matches_definition():
    """The sinusoidal row of position 4 is more similar to that of 5 than to that of 17."""
    table = np.random.RandomState(0).standard_normal((100, 8))
    similarity = offsets.similarity(table)
    assert similarity.dot_by_offset.spread > 0.5
    for i, j in ((0, 0), (3, 50), (99, 4)):
        a, b = table[i], table[j]
        assert similarity.dot[i, j] == pytest.approx(sum(a * b), abs=1e-13)
        expected = sum(a * b) / math.sqrt(sum(a * a)) / math.sqrt(sum(b * b))
        assert similarity.cosine[i, j] == pytest.approx(expected, abs=1e-14)
    sinusoids = offsets.similarity(sinusoidal.encoding(20, 64).table)
    assert sinusoids.dot[4, 5] > sinusoids.dot[4, 17]


def test_similarity_handles_one_row_and_zero_rows():
    similarity = offsets.similarity(sinusoidal.encoding(1, 8).table)
    assert (
        similarity.dot.item(),
        similarity.cosine.item(),
        list(similarity.dot_by_offset.offset),
    ) == (4, 1, [0])
    holed = offsets.similarity(np.array([[0.0, 0.0], [3.0, 4.0]]))
    assert np.isnan(holed.cosine[0]).all()
    assert holed.cosine[1, 1] == 1


@pytest.mark.parametrize("layout", sinusoidal.LAYOUTS)
@pytest.mark.parametrize("width", [8, 9])
@pytest.mark.parametrize("position", [0, 1, 77, 99])
def test_clocks_return_angle_of_each_pair(layout, width, position):
    encoding = sinusoidal.encoding(100, width, 50.0, layout)
    result = hands.clocks(encoding, position)
    angle = position * encoding.frequencies[:4]
    np.testing.assert_allclose(result.cosine, np.cos(angle), atol=1e-14)
    np.testing.assert_allclose(result.sine, np.sin(angle), atol=1e-14)
    np.testing.assert_allclose(result.angle, angle % (2 * np.pi), atol=1e-13)
    np.testing.assert_allclose(result.turns, angle / (2 * np.pi), rtol=1e-14)
    assert result.position == position


def test_embedding_scale_lifts_embeddings_above_encoding():
    d_model = 512
    words = np.random.RandomState(0).standard_normal((400, d_model)) / math.sqrt(d_model)
    embedding_scale = hands.embedding_scale(words, sinusoidal.encoding(50, d_model).table)
    assert embedding_scale.factor == math.sqrt(512)
    np.testing.assert_allclose(
        embedding_scale.scaled, embedding_scale.embedding * math.sqrt(512), rtol=1e-15
    )
    # A chi variable over sqrt(512): standard deviation 0.031, so a mean of 400 within 5 x 0.0016.
    assert embedding_scale.embedding.mean() == pytest.approx(1, abs=0.008)
    np.testing.assert_allclose(embedding_scale.encoding, 16, rtol=1e-14)
    assert embedding_scale.embedding.max() < 16 < embedding_scale.scaled.min()
