"""The sinusoidal encoding drawn: the pictures are its numbers, at every size."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from seen import said, sound, trace

from seqviz.compute.positions import clocks, offsets, sinusoidal
from seqviz.figures.grammar.style import LIGHT
from seqviz.figures.grammar.table import table
from seqviz.figures.positions import encodings as drawn
from seqviz.figures.positions.clocks import clock_hands, embedding_norms, wavelengths
from seqviz.figures.positions.examples import wandering_table
from seqviz.text import number


@cache
def waves(positions: int = 64, width: int = 64) -> sinusoidal.Sinusoids:
    return sinusoidal.encoding(positions, width)


FOUND = offsets.similarity(waves().table)
CLOSED = offsets.dot_by_offset(waves().frequencies, FOUND.dot_by_offset.offset)
SIZES = pytest.mark.parametrize(
    ("positions", "width"), [(1, 2), (2, 3), (7, 5), (64, 64), (512, 384)]
)


# --- the table ------------------------------------------------------------------------------------


@SIZES
def test_map_is_the_table(positions, width):
    values = waves(positions, width).table
    figure = drawn.encoding_map(waves(positions, width))
    (heat,) = figure.data
    np.testing.assert_array_equal(heat.z, values.T.astype(np.float32))
    np.testing.assert_array_equal(heat.x, np.arange(positions))
    np.testing.assert_array_equal(heat.y, np.arange(width))
    assert list(figure.layout.xaxis.range) == [-0.5, positions - 0.5]
    assert list(figure.layout.yaxis.range) == [width - 0.5, -0.5]  # dimension 0 on top
    sound(figure)


def test_colors_are_symmetric_about_zero():
    (heat,) = drawn.encoding_map(waves()).data
    assert heat.zmin == -heat.zmax
    assert heat.colorscale[5] == (0.5, "rgba(214,104,20,0.00)")  # the page itself


def test_a_map_of_ten_thousand_positions_shows_some_and_says_so():
    figure = drawn.encoding_map(waves(10_000, 128))
    (heat,) = figure.data
    step = int(heat.x[1])
    assert heat.z.size <= 2**18
    np.testing.assert_array_equal(heat.z, waves(10_000, 128).table[::step].T.astype(np.float32))
    assert any(f"1 of {step} positions" in words for words in said(figure))
    assert figure.layout.xaxis.range[1] >= heat.x[-1] + step / 2


def test_the_base_is_said():
    for base, words in ((1e6, "base 1,000,000"), (1.5, "base 1.5")):
        assert said(drawn.encoding_map(sinusoidal.encoding(8, 8, base))) == [words]


# --- by offset ------------------------------------------------------------------------------------


def test_first_line_is_the_dot_product_from_end_to_end():
    figure = drawn.similarity_by_offset(FOUND, CLOSED)
    first = figure.data[0]
    np.testing.assert_array_equal(first.x, np.arange(-63, 64))
    half = FOUND.dot_by_offset.mean
    np.testing.assert_array_equal(first.y, np.concatenate([half[:0:-1], half]))
    assert (first.line.color, first.line.dash) == (LIGHT.truth, None)
    assert list(figure.layout.xaxis.range) == [-63, 63]


def test_first_line_takes_more_than_50_pixels():
    figure = drawn.similarity_by_offset(FOUND, CLOSED)
    low, high = figure.layout.yaxis.range
    share = figure.layout.yaxis.domain[1] - figure.layout.yaxis.domain[0]
    height = (figure.layout.height - 44 - 60) * share  # without the legend and the axis below
    assert np.ptp(figure.data[0].y) / (high - low) * height > 50


def test_closed_form_is_dotted_and_equal():
    figure = drawn.similarity_by_offset(FOUND, CLOSED)
    line = trace(figure, "closed form Σ cos ω<sub>m</sub>k")
    assert line.line.dash == "dot"
    # Sums of 32 cosines, each right to 1e-16: their rounding is some 1e-15 times 32.
    np.testing.assert_allclose(line.y, figure.data[0].y, atol=1e-12)
    assert line.name not in [t.name for t in drawn.similarity_by_offset(FOUND).data]


def test_cosine_has_a_panel_of_its_own_down_to_zero():
    figure = drawn.similarity_by_offset(FOUND)
    line = figure.data[1]
    assert (line.yaxis, line.line.color) == ("y2", LIGHT.prediction)
    half = FOUND.cosine_by_offset.mean
    np.testing.assert_array_equal(line.y, np.concatenate([half[:0:-1], half]))
    assert figure.layout.yaxis2.range[0] < 0
    assert figure.layout.yaxis2.range[1] > 1
    assert figure.layout.yaxis2.domain[1] < figure.layout.yaxis.domain[0]


def test_table_has_more_than_a_hundred_rows():
    assert len(table(drawn.similarity_by_offset(FOUND, CLOSED))) > 300


def test_a_band_only_where_pairs_differ():
    learned = offsets.similarity(wandering_table())
    names = [t.name for t in drawn.similarity_by_offset(learned).data]
    assert names.count("least pair") == names.count("greatest pair") == 2
    assert "least pair" not in [t.name for t in drawn.similarity_by_offset(FOUND).data]
    for line, values in zip(
        drawn.similarity_by_offset(learned).data[2:4],
        (learned.dot_by_offset.low, learned.dot_by_offset.high),
        strict=True,
    ):
        np.testing.assert_array_equal(line.y[len(values) - 1 :], values)


@pytest.mark.parametrize("positions", [1, 2, 512])
def test_by_offset_at_every_size(positions):
    found = offsets.similarity(waves(positions, 2).table)
    figure = drawn.similarity_by_offset(found, found.dot_by_offset.mean)
    assert len(figure.data[0].x) == 2 * positions - 1
    low, high = figure.layout.xaxis.range
    assert low < high
    sound(figure)


def test_a_row_of_zeros_has_no_cosine():
    zeros = np.zeros((5, 4))
    alt = drawn.similarity_by_offset(offsets.similarity(zeros)).alt
    assert "cosine is –" in alt


def test_closed_form_for_other_distances():
    with pytest.raises(ValueError, match=r"^There are 64 distances, and 127 closed forms\.$"):
        drawn.similarity_by_offset(FOUND, np.zeros(127))


# --- matrices -------------------------------------------------------------------------------------


def test_similarity_is_the_matrix_and_can_be_clicked():
    figure = drawn.dot_products(FOUND)
    (heat,) = figure.data
    np.testing.assert_array_equal(heat.z, FOUND.dot.astype(np.float32))
    assert heat.meta == "pick"
    assert (heat.x[0], heat.y[0]) == (0, 0)
    assert figure.layout.yaxis.range[0] > figure.layout.yaxis.range[1]


def test_similarity_is_signed_where_values_are():
    (heat,) = drawn.dot_products(replace(FOUND, dot=FOUND.dot - 20)).data
    assert heat.zmin == -heat.zmax == -np.abs(FOUND.dot - 20).max()
    (heat,) = drawn.dot_products(replace(FOUND, dot=np.abs(FOUND.dot))).data
    assert heat.zmin is None


def test_similarity_of_many_positions_shows_some():
    found = offsets.similarity(waves(1100, 2).table)
    figure = drawn.dot_products(found)
    (heat,) = figure.data
    np.testing.assert_array_equal(heat.z, found.dot[::3, ::3].astype(np.float32))
    assert "1 of 3" in said(figure)[0]


@pytest.mark.parametrize("rows", [np.ones((1, 1)), np.zeros((3, 2)), np.full((3, 3), np.nan)])
def test_similarity_of_next_to_nothing(rows):
    sound(drawn.dot_products(offsets.similarity(rows)))


def test_rotation_shows_both_matrices_and_how_far_they_differ():
    closed = sinusoidal.rotation(3, 8)
    found = sinusoidal.found_rotation(waves(64, 8).table, 3)
    figure = drawn.rotation_matrices(closed, found, 3)
    for heat, matrix in zip(figure.data, (closed, found.matrix), strict=True):
        np.testing.assert_array_equal(heat.z, matrix.astype(np.float32))
        assert heat.zmin == -heat.zmax
        assert heat.text[0][1] == "0.14"  # sin 3
        assert heat.text[1][0] == "−0.14"
        assert heat.text[0][5] == "0.00"  # no −0.00
    assert figure.data[0].zmax == figure.data[1].zmax
    assert number(float(np.abs(closed - found.matrix).max())) in said(figure)[1]


def rotation(matrix: np.ndarray, offset: int):
    """The drawing where least squares finds just the matrix of the formula."""
    found = sinusoidal.found_rotation(waves(64, 8).table, 3)
    return drawn.rotation_matrices(matrix, replace(found, matrix=matrix), offset)


def test_rotation_backward_has_a_true_minus():
    figure = rotation(sinusoidal.rotation(-3, 8), -3)
    assert said(figure) == ["by the formula, k = −3", "by least squares, off by 0"]


@pytest.mark.parametrize("width", [2, 8, 10, 512])
def test_numbers_stand_in_small_matrices_only(width):
    figure = rotation(sinusoidal.rotation(1, width), 1)
    assert all((heat.text is not None) == (width <= 8) for heat in figure.data)


# --- clocks ---------------------------------------------------------------------------------------


def hands(figure, order: int) -> np.ndarray:
    """From center to tip; order: 1 for the hands at the earlier position, 2 for the later."""
    line = figure.data[order]
    x, y = (np.asarray(v, float).reshape(-1, 3) for v in (line.x, line.y))
    assert np.isnan(x[:, 2]).all()
    return np.stack([x[:, 1] - x[:, 0], y[:, 1] - y[:, 0]], axis=1)


@pytest.mark.parametrize("width", [2, 5, 8, 64])
def test_hands_point_where_the_pair_does(width):
    before, after = (clocks.clocks(waves(64, width), p) for p in (5, 12))
    figure = clock_hands(before, after)
    for order, at in ((1, before), (2, after)):
        # A hand's tip is its center plus the pair, and centers are below 100: rounding of 1e-14.
        np.testing.assert_allclose(
            hands(figure, order), np.stack([at.cosine, at.sine], axis=1), atol=1e-13
        )
    assert figure.data[1].line.color == LIGHT.baseline
    assert figure.data[2].line.color == LIGHT.prediction
    assert figure.data[2].line.width > figure.data[1].line.width


def test_clocks_are_circles_in_view():
    before, after = (clocks.clocks(waves(), p) for p in (0, 1))
    figure = clock_hands(before, after)
    assert figure.layout.yaxis.scaleanchor == "x"
    ring = figure.data[0]
    for values, axis in ((ring.x, figure.layout.xaxis), (ring.y, figure.layout.yaxis)):
        assert axis.range[0] < np.nanmin(values)
        assert np.nanmax(values) < axis.range[1]


def test_wavelengths_stand_below_the_clocks():
    before, after = (clocks.clocks(waves(64, 8), p) for p in (5, 12))
    assert said(clock_hands(before, after)) == ["6.28", "62.8", "628", "6,283"]
    backward = clock_hands(after, clocks.clocks(waves(64, 8), 0))
    assert said(backward) == ["6.28", "62.8", "628", "6,283"]
    still = clocks.clocks(waves(64, 8), 0)
    assert not said(clock_hands(still, still))  # no hand has moved: not known


def test_a_long_wavelength_is_short_to_write():
    wide = sinusoidal.encoding(4, 4, 1e10)
    figure = clock_hands(clocks.clocks(wide, 1), clocks.clocks(wide, 2))
    assert said(figure)[-1] == "6.3·10<sup>5</sup>"


def test_of_many_clocks_some_are_shown_evenly():
    before, after = (clocks.clocks(waves(64, 512), p) for p in (5, 12))
    figure = clock_hands(before, after)
    assert len(hands(figure, 2)) == 32
    assert said(figure)[-1] == "32 of 256 clocks"
    tips = hands(figure, 2)
    for shown, pair in ((0, 0), (-1, 255)):
        np.testing.assert_allclose(tips[shown], [after.cosine[pair], after.sine[pair]], atol=1e-13)


def test_the_table_of_the_clocks_has_all_angles():
    before, after = (clocks.clocks(waves(64, 512), p) for p in (5, 12))
    frame = table(clock_hands(before, after))
    later = frame[frame["series"] == "hand at position 12"]
    np.testing.assert_array_equal(later["Angle of the hand (radians)"], after.angle)
    np.testing.assert_array_equal(later["Pair of dimensions"], np.arange(256))
    assert len(frame) == 512


# --- wavelengths and norms ------------------------------------------------------------------------


@pytest.mark.parametrize("base", [1.5, 100.0, 1e4, 1e6])
@pytest.mark.parametrize("width", [2, 5, 512])
def test_wavelengths_lie_between_dotted_lines(width, base):
    sines = sinusoidal.encoding(1, width, base)
    lengths = sines.wavelengths
    figure = wavelengths(sines)
    np.testing.assert_array_equal(figure.data[0].y, lengths)
    low, high = (shape.y0 for shape in figure.layout.shapes)
    assert (low, high) == (2 * math.pi, 2 * math.pi * base)
    assert all(shape.line.dash == "dot" for shape in figure.layout.shapes)
    assert lengths.min() == low  # the first frequency is exactly 1
    assert lengths.max() < high
    bottom, top = figure.layout.yaxis.range
    assert bottom < math.log10(low) < math.log10(high) < top


def test_norms_are_shares_of_the_vectors():
    draw = np.random.RandomState(0).standard_normal((500, 64)) / 8
    found = clocks.embedding_scale(draw, waves().table)
    figure = embedding_norms(found)
    for line, values in zip(
        figure.data, (found.embedding, found.scaled, found.encoding), strict=True
    ):
        assert sum(line.y) == pytest.approx(100)  # every vector is in a bin
        edges, share = np.asarray(line.x), np.asarray(line.y)
        tallest = int(share.argmax())
        inside = (values >= edges[tallest]) & (values < edges[tallest + 1])
        assert share[tallest] == pytest.approx(100 * inside.mean())
        assert number(float(np.median(values))) in line.name
    assert figure.layout.xaxis.type == "log"
    low, high = figure.layout.xaxis.range
    assert low < np.log10(found.embedding.min())
    assert np.log10(found.scaled.max()) < high


@pytest.mark.parametrize("words", [np.zeros((3, 4)), np.ones((1, 4))])
def test_norms_of_next_to_nothing(words):
    sound(embedding_norms(clocks.embedding_scale(words, np.zeros((2, 4)))))
