"""The mosaic, read back from its pixels, and single maps: values, words, clicks, any text."""

from __future__ import annotations

import itertools
import time
from dataclasses import replace

import numpy as np
import pytest
from attention_drawings import HOSTILE, WORDS, map_of, mosaic_of, pixels, plainly, weights_of
from gate_drawings import labels, sound

from seqviz.figures.attention.maps import attention_map
from seqviz.figures.attention.views import head_mosaic
from seqviz.figures.grammar.matrices import NAMED_ROWS, weight_cells
from seqviz.figures.grammar.style import LIGHT, Style
from seqviz.figures.grammar.weights_color import picture
from seqviz.text import LANGUAGES, number

LANG = pytest.mark.parametrize("lang", LANGUAGES)
SHAPES = [(6, 12), (12, 12), (30, 9), (1, 1), (1, 12), (12, 1), (2, 3), (3, 2)]


def drawn(layers, heads, layer=0, head=0, **more):
    return head_mosaic(mosaic_of(layers, heads, **more), layer, head)


# --- mosaic ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("layers", "heads"), SHAPES)
def test_the_tile_at_a_place_is_the_head_that_a_click_there_gives(layers, heads):
    """From the pixels: the picture is laid over the axes, and each place holds its own head."""
    found = mosaic_of(layers, heads)
    figure = head_mosaic(found, 0, 0)
    image, (laid,) = pixels(figure), figure.layout.images
    grid = figure.data[0]
    across = layers > heads
    columns, rows = (layers, heads) if across else (heads, layers)
    assert (laid.sizex, laid.sizey) == (columns, rows)
    assert (laid.xanchor, laid.yanchor, laid.sizing) == ("left", "top", "stretch")
    assert list(figure.layout.xaxis.range) == [-0.5, columns - 0.5]
    assert list(figure.layout.yaxis.range) == [rows - 0.5, -0.5]  # the first is on top
    assert grid.meta == "pick"
    for x, y in itertools.product(range(columns), range(rows)):
        layer, head = (x, y) if across else (y, x)
        # the pixels of the picture between x - 1/2 and x + 1/2 on the axis
        ends = [(x - laid.x - 0.5) / columns, (x - laid.x + 0.5) / columns]
        left, right = (round(end * image.shape[1]) for end in ends)
        ends = [(y - laid.y - 0.5) / rows, (y - laid.y + 0.5) / rows]
        top, bottom = (round(end * image.shape[0]) for end in ends)
        tile = image[max(top, 0) : bottom, max(left, 0) : right]
        alone, _ = picture(found.tiles[layer, head][None, None], 0, 56)
        figure.layout.images[0].source = alone
        wanted = pixels(figure)
        solid = tile[tile[..., 3].any(1)][:, tile[..., 3].any(0)]
        np.testing.assert_array_equal(solid, wanted)
        assert grid.z[y][x] == np.float32(found.habits.entropy[layer, head])


def test_the_gap_is_even_around_a_tile():
    figure = drawn(2, 3)
    (laid,) = figure.layout.images
    image = pixels(figure)
    half = 1 / (image.shape[1] / 3)  # one of two pixels of the gap, in tiles
    assert laid.x == pytest.approx(-0.5 + half)
    assert laid.y == pytest.approx(-0.5 + half)
    clear = ~image[..., 3].any(0)
    assert clear.sum() == 2 * 3
    assert clear[-2:].all()


@pytest.mark.parametrize(("layers", "heads"), [(3, 5), (5, 3)])
def test_the_chosen_head_is_outlined_and_named(layers, heads):
    found = mosaic_of(layers, heads)
    figure = head_mosaic(found, 2, 1)
    (shape,) = figure.layout.shapes
    x, y = (2, 1) if layers > heads else (1, 2)
    assert (shape.x0, shape.x1, shape.y0, shape.y1) == (x - 0.5, x + 0.5, y - 0.5, y + 0.5)
    assert shape.line.color == LIGHT.highlight
    (words,) = labels(figure)
    assert "layer 2, head 1" in words
    assert number(float(found.habits.entropy[2, 1])) in words
    titles = (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text)
    assert titles == (("layer", "head") if layers > heads else ("head", "layer"))


@LANG
def test_hover_names_layer_head_habit_entropy_and_distance(lang):
    found = mosaic_of(5, 3)
    figure = head_mosaic(found, 0, 0, Style(lang=lang))
    said = np.asarray(figure.data[0].text)
    assert said.shape == (3, 5)  # layers across
    for layer, head in itertools.product(range(5), range(3)):
        words = said[head, layer]
        values = (found.habits.entropy, found.habits.distance)
        for part in (str(layer), str(head), *(number(float(v[layer, head])) for v in values)):
            assert part in words
    assert figure.data[0].hovertemplate == "%{text}<extra></extra>"
    assert "%{" not in "".join(said.ravel())


def test_description_names_sharpest_and_broadest():
    found = mosaic_of(4, 3)
    entropy = found.habits.entropy
    said = head_mosaic(found, 3, 2).alt
    for flat in (entropy.argmin(), entropy.argmax()):
        assert f"{flat // 3}.{flat % 3}" in said
    assert "4 × 3" in said
    assert number(float(entropy[3, 2])) in said


def test_reduction_is_said_and_only_then():
    long = ("cat",) * 100
    (words,) = labels(drawn(2, 3, pieces=long))
    assert "reduced" in words
    assert number(100 / 51, 2) in words
    (words,) = labels(drawn(2, 3))
    assert "reduced" not in words


def test_a_chosen_head_beyond_the_last_is_the_last():
    assert drawn(2, 3, 99, 99).to_json() == drawn(2, 3, 1, 2).to_json()


def test_one_token():
    figure = drawn(1, 1, pieces=("a",))
    sound(figure)
    assert (pixels(figure)[:56, :56] == pixels(figure)[0, 0]).all()


@LANG
def test_the_mosaic_of_512_tokens_is_quick_and_small(lang):
    found = mosaic_of(30, 9, pieces=("cat",) * 120, side=24)  # what 512 tokens are reduced to
    found = replace(found, cells=512 / 24)
    start = time.process_time()
    figure = head_mosaic(found, 12, 3, Style(lang=lang))
    written = figure.to_json()
    assert time.process_time() - start < 1  # measured: 0.15 s
    assert len(written) < 1_000_000
    sound(figure)


# --- one map --------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 8, 12, 13, 64, 65])
def test_the_cells_hold_the_weights(count):
    weights = weights_of(count, count)
    figure = attention_map(weights, ["t"] * count, "a title", count, 1)
    (heat,) = figure.data
    np.testing.assert_array_equal(np.asarray(heat.z), weights)
    assert list(heat.x) == list(heat.y) == list(range(1, count + 1))
    assert list(figure.layout.yaxis.range) == [count + 0.5, 0.5]
    assert list(figure.layout.xaxis.range) == [0.5, count + 0.5]
    assert (heat.zmin, heat.zmax, heat.meta) == (0, 1, "pick")
    assert (heat.texttemplate is not None) == (count <= 12)  # numbers where they find room
    assert bool(heat.xgap) == (count <= 64)
    row, cell = figure.layout.shapes
    assert (row.x0, row.x1, row.y0, row.y1) == (0.5, count + 0.5, count - 0.5, count + 0.5)
    assert (cell.x0, cell.x1, cell.y0, cell.y1) == (0.5, 1.5, count - 0.5, count + 0.5)
    sound(figure)


def test_x_is_the_key_and_y_the_query():
    weights = np.zeros((3, 3), np.float32)
    weights[0, 2] = 0.625  # the first query looks at the third key
    figure = attention_map(weights, ["a", "b", "c"], "map", 1, 3)
    assert figure.data[0].z[0][2] == 0.625
    assert (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == (
        Style().text("figure.keys"),
        Style().text("figure.queries"),
    )
    assert list(figure.layout.xaxis.ticktext) == list(figure.layout.yaxis.ticktext) == list("abc")
    (words,) = labels(figure)
    assert "“a” → “c”: <b>0.625</b>" in words
    said = figure.alt
    assert "“a” gives “c” the weight 0.625" in said
    assert "most at “c”" in said


def test_blank_where_nothing_was_asked():
    found = map_of(causal=True)
    cells = weight_cells(found.weights, Style(), found.allowed)
    z = np.asarray(cells["z"])
    np.testing.assert_array_equal(np.isnan(z), ~found.allowed)
    np.testing.assert_array_equal(z[found.allowed], found.weights[found.allowed])
    assert cells["hoverongaps"] is False
    assert np.isfinite(found.weights).all()  # the input is as it was
    figure = attention_map(found.weights, WORDS, "map", 2, 5, found.allowed)
    sound(figure)
    assert ": <b>0</b>" in labels(figure)[0]  # a cell that is not allowed has no weight


def test_hover_names_query_key_and_the_exact_weight():
    (heat,) = attention_map(weights_of(8, 8), WORDS, "map", 1, 1).data
    assert heat.hovertemplate == "“%{y}” → “%{x}”: %{z:.4f}<extra></extra>"


def test_tokens_stand_on_both_axes_as_plain_text():
    count = len(HOSTILE)
    for at in range(1, count + 1):
        figure = attention_map(weights_of(count, count), HOSTILE, "<i>%{x}", at, at)
        for axis in (figure.layout.xaxis, figure.layout.yaxis):
            assert [plainly(tick) for tick in axis.ticktext] == list(HOSTILE)
            assert not any("<" in tick or "%{" in tick for tick in axis.ticktext)
        (words,) = labels(figure)
        inside = words.replace("<b>", "", 1).replace("</b>", "", 1)
        assert "<" not in inside
        assert "%{" not in inside  # Plotly would fill it in
        assert plainly(inside).startswith("<i>%{x} · ")
        assert f"“{HOSTILE[at - 1]}” → “{HOSTILE[at - 1]}”" in plainly(inside)
        assert HOSTILE[at - 1] in figure.alt  # an attribute of HTML: not marked up
        sound(figure)


def test_hover_on_a_long_text_has_tokens_too():
    count = NAMED_ROWS + 50
    pieces = [f"<{i}>" for i in range(count)]
    figure = attention_map(weights_of(count, count), pieces, "map", 70, 3)
    for axis in (figure.layout.xaxis, figure.layout.yaxis):
        names = {place: plainly(name) for place, name in axis.labelalias.items()}
        assert names == {str(i + 1): piece for i, piece in enumerate(pieces)}
        # A tick on a place itself would show its number on hover in place of its token.
        assert not np.isin(axis.tickvals, np.arange(count + 1)).any()


@LANG
def test_512_tokens_are_quick_and_typed(lang):
    weights = weights_of(512, 512)
    start = time.process_time()
    figure = attention_map(weights, ["cat"] * 512, "map", 512, 1, style=Style(lang=lang))
    written = figure.to_json()
    assert time.process_time() - start < 1  # measured: 0.05 s
    # float32 in base64 (4/3, and each slash in it written as six letters), no list of numbers
    assert len(written) < 1.6 * 4 * 512 * 512
