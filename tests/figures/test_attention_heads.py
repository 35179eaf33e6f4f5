"""Heads in the order of a number: grid, bars, names, and what is not known yet."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from attention_drawings import effects_of, mosaic_of
from gate_drawings import labels, sound

from seqviz.figures.attention.heads import counted, ranked_heads
from seqviz.figures.attention.views import effects_view, ranked_view
from seqviz.figures.grammar.style import LIGHT, Style
from seqviz.text import LANGUAGES, number

LANG = pytest.mark.parametrize("lang", LANGUAGES)


def drawn(values, layer=0, head=0, **more):
    names = [[f"name {a}.{b}" for b in range(values.shape[1])] for a in range(len(values))]
    return ranked_heads(values, names, "share", layer, head, **{"share": True, **more})


def values_of(layers, heads):
    return np.random.RandomState(0).uniform(size=(layers, heads))


@pytest.mark.parametrize(("layers", "heads"), [(6, 12), (12, 12), (30, 9), (1, 1), (1, 3), (3, 1)])
def test_grid_and_bars_hold_the_values(layers, heads):
    values = values_of(layers, heads)
    figure = drawn(values)
    sound(figure)
    grid, bars = figure.data
    across = layers > heads
    np.testing.assert_array_equal(grid.z, (values.T if across else values).astype(np.float32))
    assert (grid.meta, grid.zmin, grid.zmax) == ("pick", 0, 1)
    assert (len(grid.x), len(grid.y)) == ((layers, heads) if across else (heads, layers))
    titles = (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text)
    assert titles == (("layer", "head") if across else ("head", "layer"))
    assert list(figure.layout.yaxis.range)[1] == -0.5  # the first on top
    wanted = sorted(itertools.product(range(layers), range(heads)), key=lambda p: -values[p])[:10]
    assert list(bars.x) == [values[place] for place in wanted]
    assert list(figure.layout.yaxis2.ticktext) == [f"{a}.{b}" for a, b in wanted]
    assert list(figure.layout.yaxis2.tickvals) == list(bars.y)
    assert list(figure.layout.yaxis2.range)[1] == 0.5
    for (a, b), words in zip(wanted, bars.text, strict=True):
        assert words == f" {number(values[a, b])}  name {a}.{b}"


@pytest.mark.parametrize(("layers", "heads"), [(3, 5), (5, 3)])
def test_the_chosen_head_is_lit_in_both(layers, heads):
    values = np.zeros((layers, heads))
    values[2, 1] = 0.75
    values[0, 2] = 0.5
    figure = drawn(values, 2, 1)
    (shape,) = figure.layout.shapes
    x, y = (2, 1) if layers > heads else (1, 2)
    assert (shape.x0, shape.x1, shape.y0, shape.y1) == (x - 0.5, x + 0.5, y - 0.5, y + 0.5)
    assert figure.data[0].z[y][x] == 0.75
    colors = figure.data[1].marker.color
    assert colors[0] == LIGHT.highlight
    assert set(colors[1:]) == {LIGHT.prediction}


def test_hover_names_layer_and_head_in_the_right_order():
    wide, deep = (drawn(values_of(*shape)).data[0] for shape in ((3, 5), (5, 3)))
    assert wide.hovertemplate.startswith("layer %{y}, head %{x}<br>share: %{z:.3g}")
    assert deep.hovertemplate.startswith("layer %{x}, head %{y}<br>share: %{z:.3g}")


def test_description():
    values = values_of(3, 5)
    a, b = np.unravel_index(values.argmax(), values.shape)
    said = drawn(values).alt
    assert f"layer {a}, head {b} with {number(values.max())} (name {a}.{b})" in said
    assert number(np.median(values)) in said
    assert labels(drawn(values)) == ["share"]


@pytest.mark.parametrize("done", [0, 1, 2, 5])
def test_what_is_not_known_yet_is_blank_and_has_no_bar(done):
    found = effects_of(5, 3, done)
    figure = effects_view(found, 0, 0)
    sound(figure)
    grid, bars = figure.data
    np.testing.assert_array_equal(np.isnan(np.asarray(grid.z)).T, np.isnan(found.change))
    assert len(bars.x) == min(10, 3 * done)
    assert np.isfinite(np.asarray(bars.x, float)).all()
    assert grid.zmin < grid.zmax
    assert grid.hoverongaps is False
    assert not re.search("nan", figure.to_json(), re.IGNORECASE)
    low, high = figure.layout.xaxis2.range
    assert low < high


@LANG
def test_effects_of_both_kinds_of_model(lang):
    style = Style(lang=lang)
    bits, cosine = (effects_view(effects_of(2, 3, 2, d), 1, 1, style) for d in (True, False))
    assert bits.data[0].name == style.text("figure.lost_bits")
    assert cosine.data[0].name == style.text("figure.lost_cosine")


@pytest.mark.parametrize("values", [np.zeros((2, 2)), np.full((2, 2), 1e-300)])
def test_heads_that_change_nothing(values):
    figure = drawn(values, share=False)
    sound(figure)
    assert figure.data[0].zmin < figure.data[0].zmax
    assert figure.layout.xaxis2.range[0] < figure.layout.xaxis2.range[1]


def test_the_scale_ends_at_one_for_shares_and_at_the_largest_otherwise():
    values = values_of(3, 4) * 7
    assert drawn(values, share=False).data[0].zmax == values.max()
    assert drawn(values / 10).data[0].zmax == 1


def test_the_line_from_which_a_head_has_its_name():
    line = drawn(values_of(3, 4), named_from=0.5).layout.shapes[1]
    assert (line.type, line.x0, line.x1, line.xref) == ("line", 0.5, 0.5, "x2")
    assert len(drawn(values_of(3, 4)).layout.shapes) == 1


@LANG
@pytest.mark.parametrize("measure", ["previous", "same", "separator", "entropy", "distance",
                                     "spread"])  # fmt: skip
def test_each_measure_of_habits(measure, lang):
    found, style = mosaic_of(3, 4), Style(lang=lang)
    figure = ranked_view(found, measure, 99, 99, style)
    sound(figure)
    np.testing.assert_array_equal(
        figure.data[0].z, getattr(found.habits, measure).astype(np.float32)
    )
    share = measure not in ("entropy", "distance")
    assert (figure.data[0].zmax == 1) == share
    assert (len(figure.layout.shapes) == 2) == (measure in ("previous", "same", "separator"))
    assert figure.data[0].name == style.text(f"figure.habit_{measure}")
    chosen = figure.layout.shapes[0]
    assert (chosen.x1, chosen.y1) == (3.5, 2.5)  # beyond the last is the last


@pytest.mark.parametrize(("count", "step"), [(1, 1), (12, 1), (13, 2), (24, 2), (30, 5), (96, 5)])
def test_layers_and_heads_are_counted_from_zero(count, step):
    axis = counted(Style(), count, [-0.5, count - 0.5], "layer")
    assert axis["tickvals"] == list(range(0, count, step))
    assert axis["title"]["text"] == "layer"
