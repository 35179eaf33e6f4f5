"""The scale of attention weights, and pictures of many maps, read back pixel by pixel."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from plotly.colors import sample_colorscale

from seqviz.plotting.scales import weights
from seqviz.plotting.weights_color import picture
from tests.figures.markup_samples import unpacked

NEAR = 3  # of 255: 256 levels of the root of a weight, each rounded to whole colors


def cividis(weights) -> np.ndarray:
    """Red, green, blue of weights, from Plotly's own scale at their root."""
    roots = np.sqrt(np.ravel(weights)).astype(float)
    result = sample_colorscale("Cividis", list(roots), colortype="tuple")
    return (255 * np.array(result)).reshape(*np.shape(weights), 3)


def pixels(tiles) -> np.ndarray:
    """Tiles of one cell a pixel, side by side."""
    source, _ = picture(np.asarray(tiles, np.float32), 0, 1)
    return unpacked(source).astype(int)


def test_weights_scale_is_cividis_of_square_root():
    scale = weights()
    positions = [color for color, _ in scale.colors]
    assert (positions[0], positions[-1], scale.low, scale.high) == (0, 1, 0, 1)
    assert all(a < b for a, b in itertools.pairwise(positions))
    values = np.linspace(0, 1, 201)
    rendered = 255 * np.array(sample_colorscale(scale.colors, list(values), colortype="tuple"))
    # between its 33 stops the scale is a straight line over the weight, not over the root
    np.testing.assert_allclose(rendered, cividis(values), 0, 4)
    ticks, words = scale.ticks
    assert [float(word) for word in words] == ticks
    assert (ticks[0], ticks[-1]) == (0, 1)
    # Lightness grows with the weight: also in print and for those who see no colors.
    assert (np.diff(cividis(values) @ [0.2126, 0.7152, 0.0722]) > 0).all()


@pytest.mark.parametrize("gap", [0, 2])
@pytest.mark.parametrize(
    ("shape", "least", "times"),
    [
        ((1, 1, 1, 1), 1, 1),
        ((2, 3, 4, 4), 9, 3),
        ((3, 2, 5, 7), 10, 2),  # higher than wide and the reverse
        ((1, 2, 56, 56), 56, 1),
        ((1, 2, 57, 57), 56, 1),
    ],
)
def test_picture_draws_each_cell_as_colored_block(shape, least, times, gap):
    tiles = np.random.RandomState(0).uniform(size=shape).astype(np.float32)
    tiles.flags.writeable = False  # results are
    source, (high, wide) = picture(tiles, gap, least)
    image = unpacked(source).astype(int)
    rows, columns, height, width = shape
    assert (high, wide) == (height * times + gap, width * times + gap)
    assert image.shape == (rows * high, columns * wide, 4)
    colors = cividis(tiles)
    for row, column in itertools.product(range(rows), range(columns)):
        tile = image[row * high : (row + 1) * high, column * wide : (column + 1) * wide]
        inside = tile[: height * times, : width * times]
        assert (inside[..., 3] == 255).all()
        expected = colors[row, column].repeat(times, 0).repeat(times, 1)
        np.testing.assert_allclose(inside[..., :3], expected, 0, NEAR)
        assert not tile[height * times :, :, 3].any()  # the gap lets the page shine through
        assert not tile[:, width * times :, 3].any()


def test_picture_distinguishes_small_weights():
    image = pixels([[[[0, 0.001, 0.01, 0.05, 0.2, 0.5, 1]]]])
    assert np.abs(np.diff(image[0, :, :3], axis=0)).sum(1).min() > 10


def test_picture_clamps_weights_outside_range():
    image = pixels([[[[-1e-7, 0, 1, 1 + 1e-6]]]])
    assert (image[0, 0] == image[0, 1]).all()
    assert (image[0, 2] == image[0, 3]).all()
    assert (image[..., 3] == 255).all()


def test_picture_is_compressed_below_quarter_byte_per_pixel():
    tiles = np.random.RandomState(0).gamma(0.1, size=(30, 9, 24, 24)).clip(0, 1)
    source, (high, wide) = picture(tiles.astype(np.float32), 2, 56)
    assert len(source) < 4 / 3 * 0.25 * (30 * high) * (9 * wide)  # in base64
