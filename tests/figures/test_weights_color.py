"""The scale of attention weights, and pictures of many maps, read back pixel by pixel."""

from __future__ import annotations

import base64
import io
import itertools

import numpy as np
import pytest
from PIL import Image
from plotly.colors import sample_colorscale

from seqviz.figures.grammar.scales import weights
from seqviz.figures.grammar.weights_color import picture

NEAR = 3  # of 255: 256 levels of the root of a weight, each rounded to whole colors


def cividis(weights) -> np.ndarray:
    """Red, green, blue of weights, from Plotly's own scale at their root."""
    roots = np.sqrt(np.ravel(weights)).astype(float)
    found = sample_colorscale("Cividis", list(roots), colortype="tuple")
    return (255 * np.array(found)).reshape(*np.shape(weights), 3)


def decoded(tiles, gap, least):
    """The picture as [row, column, red green blue alpha], the pixels of a tile, its bytes."""
    source, size = picture(np.asarray(tiles, np.float32), gap, least)
    kind, _, written = source.partition(",")
    assert kind == "data:image/png;base64"
    data = base64.b64decode(written, validate=True)
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGBA")).astype(int), size, len(data)


def test_the_scale_is_cividis_at_the_root_of_a_weight():
    scale = weights()
    places = [place for place, _ in scale.colors]
    assert (places[0], places[-1], scale.low, scale.high) == (0, 1, 0, 1)
    assert all(a < b for a, b in itertools.pairwise(places))
    values = np.linspace(0, 1, 201)
    drawn = 255 * np.array(sample_colorscale(scale.colors, list(values), colortype="tuple"))
    # between its 33 stops the scale is a straight line over the weight, not over the root
    np.testing.assert_allclose(drawn, cividis(values), 0, 4)


def test_the_ticks_say_where_they_stand():
    places, words = weights().ticks
    assert [float(word) for word in words] == places
    assert (places[0], places[-1]) == (0, 1)


def test_lightness_grows_with_the_weight():
    """Also in print and for those who see no colors."""
    colors = cividis(np.linspace(0, 1, 101))
    lightness = colors @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(lightness) > 0).all()


@pytest.mark.parametrize("gap", [0, 2])
@pytest.mark.parametrize(
    ("shape", "least", "times"),
    [
        ((1, 1, 1, 1), 1, 1),
        ((2, 3, 4, 4), 1, 1),
        ((2, 3, 4, 4), 9, 3),
        ((3, 2, 5, 7), 10, 2),  # higher than wide and the reverse
        ((1, 2, 56, 56), 56, 1),
        ((1, 2, 57, 57), 56, 1),
    ],
)
def test_each_cell_is_a_block_of_its_color(shape, least, times, gap):
    tiles = np.random.RandomState(0).uniform(size=shape)
    image, (high, wide), _ = decoded(tiles, gap, least)
    rows, columns, height, width = shape
    assert (high, wide) == (height * times + gap, width * times + gap)
    assert image.shape == (rows * high, columns * wide, 4)
    colors = cividis(tiles)
    for row, column in itertools.product(range(rows), range(columns)):
        tile = image[row * high : (row + 1) * high, column * wide : (column + 1) * wide]
        inside = tile[: height * times, : width * times]
        assert (inside[..., 3] == 255).all()
        wanted = colors[row, column].repeat(times, 0).repeat(times, 1)
        np.testing.assert_allclose(inside[..., :3], wanted, 0, NEAR)
        assert not tile[height * times :, :, 3].any()  # the gap lets the page shine through
        assert not tile[:, width * times :, 3].any()


def test_neighbors_among_small_weights_can_be_told_apart():
    tiles = np.array([0, 0.001, 0.01, 0.05, 0.2, 0.5, 1]).reshape(1, 1, 1, 7)
    image, _, _ = decoded(tiles, 0, 1)
    steps = np.abs(np.diff(image[0, :, :3], axis=0)).sum(1)
    assert steps.min() > 10


def test_weights_a_little_outside_are_those_at_the_ends():
    image, _, _ = decoded([[[[-1e-7, 0, 1, 1 + 1e-6]]]], 0, 1)
    assert (image[0, 0] == image[0, 1]).all()
    assert (image[0, 2] == image[0, 3]).all()
    assert (image[..., 3] == 255).all()


def test_one_byte_a_pixel_and_compressed():
    tiles = np.random.RandomState(0).gamma(0.1, size=(30, 9, 24, 24)).clip(0, 1)
    image, _, size = decoded(tiles, 2, 56)
    assert size < 0.25 * image.shape[0] * image.shape[1]


def test_the_input_stays_as_it_is():
    tiles = np.random.RandomState(0).uniform(size=(2, 2, 3, 3)).astype(np.float32)
    before = tiles.copy()
    tiles.flags.writeable = False
    picture(tiles, 2, 10)
    np.testing.assert_array_equal(tiles, before)
