"""Heads in the order of a number: grid, bars, names, and what is not known yet."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest
from gate_drawings import labels, sound

from seqviz.compute.attention.patterns import HABITS, Habits
from seqviz.figures.attention.examples import effects_of, mosaic_of
from seqviz.figures.attention.head_grid import counted
from seqviz.figures.attention.heads import head_importance, head_names, heads_by_measure
from seqviz.figures.attention.maps import head_mosaic
from seqviz.figures.grammar.style import LIGHT, Style
from seqviz.text import LANGUAGES, Text, number

LANG = pytest.mark.parametrize("lang", LANGUAGES)


def habits_of(**measures) -> Habits:
    """Heads with these measures, and no other habit."""
    shape = next(iter(measures.values())).shape
    found = mosaic_of(*shape).habits
    return replace(found, **{habit: np.zeros(shape) for habit in HABITS}, **measures)


def by_share(values, layer=0, head=0):
    """Drawn in the order of "spread", a share from whose size no head has its name."""
    found = mosaic_of(*values.shape)
    return heads_by_measure(replace(found, habits=habits_of(spread=values)), "spread", layer, head)


def by_effect(values, layer=0, head=0):
    return head_importance(replace(effects_of(2, 2, 2), change=values), layer, head)


def values_of(layers, heads):
    return np.random.RandomState(0).uniform(0, 0.89, size=(layers, heads))


@pytest.mark.parametrize(("layers", "heads"), [(6, 12), (12, 12), (30, 9), (1, 1), (1, 3), (3, 1)])
def test_grid_and_bars_hold_the_values(layers, heads):
    values = values_of(layers, heads)
    figure = by_share(values)
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
    mixed = Style().text("figure.name_mixed")
    for place, words in zip(wanted, bars.text, strict=True):
        assert words == f" {number(values[place])}  {mixed}"


@pytest.mark.parametrize(("layers", "heads"), [(3, 5), (5, 3)])
@pytest.mark.parametrize("draw", [by_share, by_effect])
def test_the_chosen_head_is_lit_in_both(draw, layers, heads):
    values = np.zeros((layers, heads))
    values[2, 1] = 0.75
    values[0, 2] = 0.5
    figure = draw(values, 2, 1)
    (shape,) = figure.layout.shapes
    x, y = (2, 1) if layers > heads else (1, 2)
    assert (shape.x0, shape.x1, shape.y0, shape.y1) == (x - 0.5, x + 0.5, y - 0.5, y + 0.5)
    assert figure.data[0].z[y][x] == 0.75
    colors = figure.data[1].marker.color
    assert colors[0] == LIGHT.highlight
    assert set(colors[1:]) == {LIGHT.prediction}


def test_hover_names_layer_and_head_in_the_right_order():
    wide, deep = (by_share(values_of(*shape)).data[0] for shape in ((3, 5), (5, 3)))
    assert wide.hovertemplate.startswith(f"layer %{{y}}, head %{{x}}<br>{wide.name}: %{{z:.3g}}")
    assert deep.hovertemplate.startswith(f"layer %{{x}}, head %{{y}}<br>{deep.name}: %{{z:.3g}}")


def test_description():
    values = values_of(3, 5)
    figure = by_share(values)
    a, b = np.unravel_index(values.argmax(), values.shape)
    named = f"({Style().text('figure.name_mixed')})"
    assert f"layer {a}, head {b} with {number(values.max())} {named}" in figure.alt
    assert number(np.median(values)) in figure.alt
    assert labels(figure) == [Style().text("figure.habit_spread")]


@pytest.mark.parametrize("done", [0, 1, 2, 5])
def test_what_is_not_known_yet_is_blank_and_has_no_bar(done):
    found = effects_of(5, 3, done)
    figure = head_importance(found, 0, 0)
    sound(figure)
    grid, bars = figure.data
    np.testing.assert_array_equal(np.isnan(np.asarray(grid.z)).T, np.isnan(found.change))
    assert len(bars.x) == min(10, 3 * done)
    assert np.isfinite(np.asarray(bars.x, float)).all()
    assert grid.zmin < grid.zmax
    assert grid.hoverongaps is False
    assert not re.search("nan", figure.to_json(), re.IGNORECASE)
    for axis in (figure.layout.xaxis2, figure.layout.yaxis2):
        assert axis.range[0] != axis.range[1]


@LANG
def test_effects_of_both_kinds_of_model(lang):
    style = Style(lang=lang)
    bits, cosine = (head_importance(effects_of(2, 3, 2, d), 1, 1, style) for d in (True, False))
    assert bits.data[0].name == style.text("figure.lost_bits")
    assert cosine.data[0].name == style.text("figure.lost_cosine")


@pytest.mark.parametrize("values", [np.zeros((2, 2)), np.full((2, 2), 1e-300)])
def test_heads_that_change_nothing(values):
    figure = by_effect(values)
    sound(figure)
    assert figure.data[0].zmin < figure.data[0].zmax
    assert figure.layout.xaxis2.range[0] < figure.layout.xaxis2.range[1]


def test_the_scale_ends_at_one_for_shares_and_at_the_largest_otherwise():
    values = values_of(3, 4)
    assert by_effect(values * 7).data[0].zmax == (values * 7).max()
    assert by_share(values / 10).data[0].zmax == 1


@LANG
@pytest.mark.parametrize("measure", ["previous", "same", "separator", "entropy", "distance",
                                     "spread"])  # fmt: skip
def test_each_measure_of_habits(measure, lang):
    found, style = mosaic_of(3, 4), Style(lang=lang)
    figure = heads_by_measure(found, measure, 99, 99, style)
    sound(figure)
    np.testing.assert_array_equal(
        figure.data[0].z, getattr(found.habits, measure).astype(np.float32)
    )
    share = measure not in ("entropy", "distance")
    assert (figure.data[0].zmax == 1) == share
    assert figure.data[0].name == style.text(f"figure.habit_{measure}")
    chosen, *line = figure.layout.shapes
    assert (chosen.x1, chosen.y1) == (3.5, 2.5)  # beyond the last is the last
    # the line from which a head has its name
    named = measure in ("previous", "same", "separator")
    assert [(s.type, s.x0, s.x1, s.xref) for s in line] == [("line", 0.5, 0.5, "x2")] * named


@LANG
def test_names_of_heads(lang):
    text = Text(lang)
    habits = habits_of(spread=np.array([[0.95, 0.5, 0.0], [0, 0, 0]]))
    habits.previous[0, 2] = 0.731
    habits.separator[1, 1] = 1.0
    wanted = [
        [text("figure.name_broad"), text("figure.name_mixed"),
         f"{text('figure.name_previous')} {number(0.731, 2)}"],
        [text("figure.name_mixed"), f"{text('figure.name_separator')} {number(1.0, 2)}",
         text("figure.name_mixed")],
    ]  # fmt: skip
    assert head_names(habits, text) == wanted
    assert head_names(habits, text, shares=False)[0][2] == text("figure.name_previous")
    found = replace(mosaic_of(2, 3), habits=habits)
    hover = np.asarray(head_mosaic(found, 0, 2, Style(lang=lang)).data[0].text)
    assert wanted[0][2] in hover[0, 2]


def test_bars_beside_the_grid_do_not_repeat_the_share():
    found = mosaic_of(2, 3)
    bars = heads_by_measure(found, "previous", 0, 0).data[1]
    names = head_names(found.habits, Text("en"), shares=False)
    for words, rank in zip(bars.text, np.argsort(-found.habits.previous, axis=None), strict=True):
        assert words.endswith(names[rank // 3][rank % 3])


@pytest.mark.parametrize(("count", "step"), [(1, 1), (12, 1), (13, 2), (24, 2), (30, 5), (96, 5)])
def test_layers_and_heads_are_counted_from_zero(count, step):
    axis = counted(count, "layer")
    assert axis["tickvals"] == list(range(0, count, step))
    assert axis["title"]["text"] == "layer"
