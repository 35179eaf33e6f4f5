"""The mosaic, read back from its pixels, and single maps: values, words, clicks, any text."""

from __future__ import annotations

import itertools
import time
from dataclasses import replace

import numpy as np
import pytest
from attention_drawings import HOSTILE, pixels, plainly
from gate_drawings import labels, sound

from seqviz.figures.attention.changes import attention_mask, head_switches
from seqviz.figures.attention.examples import (
    WORDS,
    change_of,
    map_of,
    mosaic_of,
    parts_of,
    weights_of,
)
from seqviz.figures.attention.heads import heads_by_measure
from seqviz.figures.attention.maps import attention_map, head_mosaic, rollout_map
from seqviz.figures.attention.parts import query_key_products, scores_to_weights
from seqviz.figures.grammar.axes import NAMED_ROWS
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


def test_the_mosaic_of_512_tokens_is_quick_and_small():
    found = mosaic_of(30, 9, pieces=("cat",) * 120, side=24)  # what 512 tokens are reduced to
    found = replace(found, cells=512 / 24)
    start = time.process_time()
    figure = head_mosaic(found, 12, 3)
    written = figure.to_json()
    assert time.process_time() - start < 1  # measured: 0.15 s
    assert len(written) < 1_000_000
    sound(figure)


# --- one map --------------------------------------------------------------------------------------


def of(weights, pieces=None):
    """A map of these weights, all allowed."""
    found = map_of(tuple(pieces or ["t"] * len(weights)))
    return replace(found, weights=weights)


@pytest.mark.parametrize("count", [1, 2, 8, 12, 13, 64, 65])
def test_the_cells_hold_the_weights(count):
    weights = weights_of(count, count)
    figure = attention_map(of(weights), count, 1)
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
    figure = attention_map(of(weights, "abc"), 1, 3)
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


@pytest.mark.parametrize(
    ("draw", "layer", "head", "title"),
    [
        (attention_map, 2, 3, "layer 2, head 3"),
        (attention_map, 2, -1, "mean of the heads of layer 2"),
        (attention_map, -1, -1, "mean of all heads of all layers"),
        (rollout_map, 4, -1, "attention rollout up to layer 4"),
    ],
)
def test_a_map_is_named_after_what_it_is(draw, layer, head, title):
    found = map_of(layer=layer, head=head)
    figure = draw(found, 3, 5)
    assert labels(figure)[0].startswith(f"{title} · ")
    assert figure.alt.startswith(title)
    np.testing.assert_array_equal(np.asarray(figure.data[0].z), found.weights)


def test_blank_where_nothing_was_asked():
    found = map_of(causal=True)
    figure = attention_map(found, 2, 5)
    (heat,) = figure.data
    z = np.asarray(heat.z)
    np.testing.assert_array_equal(np.isnan(z), ~np.tri(8, dtype=bool))
    np.testing.assert_array_equal(z[found.allowed], found.weights[found.allowed])
    assert heat.hoverongaps is False
    assert np.isfinite(found.weights).all()  # the input is as it was
    sound(figure)
    assert ": <b>0</b>" in labels(figure)[0]  # a cell that is not allowed has no weight


def test_hover_names_query_key_and_the_exact_weight():
    (heat,) = attention_map(map_of(), 1, 1).data
    assert heat.hovertemplate == "“%{y}” → “%{x}”: %{z:.4f}<extra></extra>"


def test_tokens_stand_on_both_axes_as_plain_text():
    count = len(HOSTILE)
    found = map_of(HOSTILE)
    for at in range(1, count + 1):
        figure = attention_map(found, at, at)
        for axis in (figure.layout.xaxis, figure.layout.yaxis):
            assert [plainly(tick) for tick in axis.ticktext] == list(HOSTILE)
            assert not any("<" in tick or "%{" in tick for tick in axis.ticktext)
        (words,) = labels(figure)
        inside = words.replace("<b>", "", 1).replace("</b>", "", 1)
        assert "<" not in inside
        assert "%{" not in inside  # Plotly would fill it in
        assert f"“{HOSTILE[at - 1]}” → “{HOSTILE[at - 1]}”" in plainly(inside)
        assert HOSTILE[at - 1] in figure.alt  # an attribute of HTML: not marked up
        sound(figure)
    assert list(figure.layout.meta["names"]["x"]) == list(HOSTILE)  # as it is, in the table
    assert WORDS[0] not in figure.to_json()


def test_hover_on_a_long_text_has_tokens_too():
    count = NAMED_ROWS + 50
    pieces = [f"<{i}>" for i in range(count)]
    figure = attention_map(of(weights_of(count, count), pieces), 70, 3)
    for axis in (figure.layout.xaxis, figure.layout.yaxis):
        names = {place: plainly(name) for place, name in axis.labelalias.items()}
        assert names == {str(i + 1): piece for i, piece in enumerate(pieces)}
        # A tick on a place itself would show its number on hover in place of its token.
        assert not np.isin(axis.tickvals, np.arange(count + 1)).any()


def test_512_tokens_are_quick_and_typed():
    found = of(weights_of(512, 512))
    start = time.process_time()
    written = attention_map(found, 512, 1).to_json()
    assert time.process_time() - start < 1  # measured: 0.05 s
    assert len(written) < 1.4 * 4 * 512 * 512  # float32 in base64 (4/3), no list of numbers


# --- every figure of a model's text ---------------------------------------------------------------


def test_places_beyond_the_text_are_the_last():
    found, parts = map_of(), parts_of()
    for draw, what in (
        (attention_map, found),
        (rollout_map, found),
        (query_key_products, parts),
        (scores_to_weights, parts),
    ):
        assert draw(what, 99, 99).to_json() == draw(what, 8, 8).to_json()


@pytest.mark.parametrize("pieces", [("a",), ("a", "b"), HOSTILE], ids=len)
def test_every_figure_of_short_and_hostile_texts(pieces):
    mosaic, found, parts = mosaic_of(3, 2, pieces), map_of(pieces), parts_of(pieces)
    for draw, *args in (
        (head_mosaic, mosaic, 2, 1),
        (attention_map, found, 1, 1),
        (rollout_map, found, 1, 1),
        (heads_by_measure, mosaic, "previous", 2, 1),
        (query_key_products, parts, 1, 1),
        (scores_to_weights, parts, 1, 1),
        (head_switches, change_of(3, 2, pieces), ((2, 1),)),
        (head_switches, change_of(3, 2, pieces, decoder=True), ((2, 1),)),
        (attention_mask, found),
    ):
        for lang in LANGUAGES:
            sound(draw(*args, Style(lang=lang)))
