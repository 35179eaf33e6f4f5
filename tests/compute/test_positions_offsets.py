"""Similarity of rows, values by offset, clocks, binary digits, norms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from seqviz.compute.positions import clocks as hands
from seqviz.compute.positions import offsets, sinusoidal
from seqviz.refusal import Refusal


def test_values_by_offset_in_loops():
    draw = np.random.RandomState(0)
    matrix, places = draw.standard_normal((5, 5)), np.array([0, 1, 2, 7, 9])
    differences = np.subtract.outer(places, places)
    found = offsets.by_offset(matrix, differences)
    groups: dict[int, list[float]] = {}
    for i in range(5):
        for j in range(5):
            groups.setdefault(int(places[i] - places[j]), []).append(matrix[i, j])
    assert list(found.offset) == sorted(groups)
    for place, offset in enumerate(found.offset):
        values = groups[int(offset)]
        assert found.mean[place] == pytest.approx(np.mean(values), abs=1e-15)
        assert (found.low[place], found.high[place]) == (min(values), max(values))
    assert found.spread == max(max(v) - min(v) for v in groups.values())


@pytest.mark.parametrize("layout", sinusoidal.LAYOUTS)
@pytest.mark.parametrize("base", [2.0, 1e4])
def test_dot_products_of_sinusoids_depend_on_the_offset_alone(layout, base):
    encoding = sinusoidal.encoding(200, 32, base, layout)
    found = offsets.similarity(encoding.table)
    closed = offsets.dot_by_offset(encoding.frequencies, np.arange(200))
    # 16 products of numbers up to 1 at angles up to 200: 16 x 200 x 1e-16 at the worst.
    assert found.dot_by_offset.spread < 1e-12
    np.testing.assert_allclose(found.dot_by_offset.mean, closed, atol=1e-12)
    np.testing.assert_allclose(found.cosine_by_offset.mean, closed / 16, atol=1e-13)
    assert closed[0] == 16
    for i, j in ((0, 0), (3, 150), (199, 4)):
        a, b = encoding.table[i], encoding.table[j]
        assert found.dot[i, j] == pytest.approx(sum(a * b), abs=1e-13)
        assert found.cosine[i, j] == pytest.approx(
            sum(a * b) / math.sqrt(sum(a * a)) / math.sqrt(sum(b * b)), abs=1e-14
        )


def test_position_4_is_closer_to_5_than_to_17():
    found = offsets.similarity(sinusoidal.encoding(20, 64).table)
    assert found.cosine[4, 5] > found.cosine[4, 17]


def test_an_odd_width_and_a_learned_table_do_not_depend_on_the_offset_alone():
    odd = offsets.similarity(sinusoidal.encoding(100, 5, 10.0).table)
    random = offsets.similarity(np.random.RandomState(0).standard_normal((100, 8)))
    assert min(odd.dot_by_offset.spread, random.dot_by_offset.spread) > 0.5


def test_one_row_zero_rows_and_too_many():
    one = offsets.similarity(sinusoidal.encoding(1, 8).table)
    assert (one.dot.item(), one.cosine.item(), list(one.dot_by_offset.offset)) == (4, 1, [0])
    holed = offsets.similarity(np.array([[0.0, 0.0], [3.0, 4.0]]))
    assert np.isnan(holed.cosine[0]).all()
    assert holed.cosine[1, 1] == 1
    for rows in (0, 2049):
        with pytest.raises(Refusal) as caught:
            offsets.similarity(np.ones((rows, 2)))
        assert caught.value.code == "encoding_positions"


@pytest.mark.parametrize("layout", sinusoidal.LAYOUTS)
@pytest.mark.parametrize(("spacing", "width"), [("paper", 8), ("paper", 9), ("tensor2tensor", 9)])
def test_clocks_show_the_angle_of_each_pair(layout, spacing, width):
    encoding = sinusoidal.encoding(100, width, 50.0, layout, spacing)
    for position in (0, 1, 77):
        found = hands.clocks(encoding, position)
        angle = position * encoding.frequencies[:4]
        np.testing.assert_allclose(found.cosine, np.cos(angle), atol=1e-14)
        np.testing.assert_allclose(found.sine, np.sin(angle), atol=1e-14)
        np.testing.assert_allclose(np.exp(1j * found.angle), np.exp(1j * angle), atol=1e-13)
        np.testing.assert_allclose(found.turns, angle / (2 * np.pi), rtol=1e-14)
        assert ((found.angle >= 0) & (found.angle < 2 * np.pi)).all()


def test_clocks_outside_the_table_are_refused():
    encoding = sinusoidal.encoding(10, 4)
    for position in (-1, 10):
        with pytest.raises(Refusal) as caught:
            hands.clocks(encoding, position)
        assert caught.value.details == {"position": position, "positions": 10}


def test_binary_digits_are_pythons():
    found = hands.binary(300, 6)
    for n in (0, 1, 37, 63, 64, 299):
        assert "".join(map(str, found[n, ::-1])) == format(n % 64, "06b")
    np.testing.assert_array_equal(hands.binary(1, 3), [[0, 0, 0]])
    assert hands.binary(3, 62)[2, 61] == 0
    for arguments in ((0, 3), (3, 0), (3, 63)):
        with pytest.raises(Refusal):
            hands.binary(*arguments)


def test_the_factor_lifts_embeddings_above_the_encoding():
    d_model = 512
    words = np.random.RandomState(0).standard_normal((400, d_model)) / math.sqrt(d_model)
    found = hands.embedding_scale(words, sinusoidal.encoding(50, d_model).table)
    assert found.factor == math.sqrt(512)
    np.testing.assert_allclose(found.scaled, found.embedding * math.sqrt(512), rtol=1e-15)
    # A chi variable over sqrt(512): standard deviation 0.031, so a mean of 400 within 5 x 0.0016.
    assert found.embedding.mean() == pytest.approx(1, abs=0.008)
    np.testing.assert_allclose(found.encoding, 16, rtol=1e-14)
    assert found.embedding.max() < 16 < found.scaled.min()
