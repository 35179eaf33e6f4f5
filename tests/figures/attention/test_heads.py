"""All heads as a grid, in four figures; bars of the foremost, names, and what is not known yet."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest

from seqviz.compute.attention.patterns import HABITS, Habits
from seqviz.core.i18n import LANGUAGES, Text, number
from seqviz.figures.attention.changes import head_switches
from seqviz.figures.attention.head_grid import counted
from seqviz.figures.attention.heads import head_importance, head_names, heads_by_measure
from seqviz.figures.attention.maps import head_mosaic
from seqviz.plotting.style import LIGHT, Style
from testing.figure_examples.attention import change_of, effects_of, mosaic_of
from tests.figures.markup_samples import box
from tests.figures.trace_helpers import said, sound

LANG = pytest.mark.parametrize("lang", LANGUAGES)


def habits_of(**measures) -> Habits:
    """Heads with these measures, and no other habit."""
    shape = next(iter(measures.values())).shape
    habits = mosaic_of(*shape).habits
    return replace(habits, **{habit: np.zeros(shape) for habit in HABITS}, **measures)


def by_share(values, layer=0, head=0):
    """Drawn in the order of "spread", a share from whose size no head has its name."""
    mosaic = replace(mosaic_of(*values.shape), habits=habits_of(spread=values))
    return heads_by_measure(mosaic, "spread", layer, head)


def by_effect(values, layer=0, head=0):
    return head_importance(replace(effects_of(2, 2, 2), change=values), layer, head)


def as_mosaic(values, layer, head):
    mosaic = mosaic_of(*values.shape)
    return head_mosaic(replace(mosaic, habits=replace(mosaic.habits, entropy=values)), layer, head)


def as_switches(values, layer, head):
    """Those below one half are off."""
    off = [(int(a), int(b)) for a, b in np.argwhere(values < 0.5)]
    return head_switches(change_of(*values.shape), off)


def values_of(layers, heads):
    return np.random.RandomState(0).uniform(0, 0.89, size=(layers, heads))


@pytest.mark.parametrize("draw", [as_mosaic, by_share, by_effect, as_switches])
@pytest.mark.parametrize(("layers", "heads"), [(3, 5), (5, 3), (12, 12), (30, 9), (1, 1), (3, 1)])
def test_head_grid_cell_matches_clicked_head(draw, layers, heads):
    """Layers along x where there are more of them; a chosen head beyond the last is the last."""
    values, deep = values_of(layers, heads), layers > heads
    figure = draw(values, 99, heads - 1)
    sound(figure)
    grid, layout = figure.data[0], figure.layout
    is_visible = values >= 0.5 if draw is as_switches else values.astype(np.float32)
    np.testing.assert_array_equal(grid.z, is_visible.T if deep else is_visible)
    columns, rows = (layers, heads) if deep else (heads, layers)
    assert (grid.meta, list(grid.x), list(grid.y)) == ("pick", [*range(columns)], [*range(rows)])
    assert list(layout.xaxis.range) == [-0.5, columns - 0.5]
    assert list(layout.yaxis.range) == [rows - 0.5, -0.5]  # the first on top
    titles = ("layer", "head") if deep else ("head", "layer")
    assert (layout.xaxis.title.text, layout.yaxis.title.text) == titles
    if draw is not as_mosaic:
        over = "layer %{x}, head %{y}" if deep else "layer %{y}, head %{x}"
        assert grid.hovertemplate.startswith(over)
    if draw is as_switches:
        np.testing.assert_array_equal(np.asarray(grid.text) == "×", np.asarray(grid.z) == 0)
        assert [color for _, color in grid.colorscale] == [LIGHT.highlight, LIGHT.band]
        assert f"{(values < 0.5).sum()} of {layers * heads} heads" in figure.alt
        return
    chosen = layout.shapes[0]
    x, y = (layers - 1, heads - 1) if deep else (heads - 1, layers - 1)
    assert box(chosen) == (x - 0.5, x + 0.5, y - 0.5, y + 0.5)
    assert chosen.line.color == LIGHT.highlight


@pytest.mark.parametrize(("layers", "heads"), [(6, 12), (30, 9), (1, 1), (1, 3)])
def test_head_bars_show_largest_values_in_order(layers, heads):
    values = values_of(layers, heads)
    expected = sorted(itertools.product(range(layers), range(heads)), key=lambda p: -values[p])[:10]
    figure = by_share(values, *expected[-1])
    bars, axis = figure.data[1], figure.layout.yaxis2
    assert list(bars.x) == [values[position] for position in expected]
    assert list(axis.ticktext) == [f"{a}.{b}" for a, b in expected]
    assert list(axis.tickvals) == list(bars.y)
    assert list(axis.range)[1] == 0.5
    mixed = Style().text("figure.name_mixed")
    assert list(bars.text) == [f" {number(values[position])}  {mixed}" for position in expected]
    *others, chosen = bars.marker.color
    assert chosen == LIGHT.highlight
    assert {*others} <= {LIGHT.prediction}
    (a, b), middle = expected[0], number(np.median(values))
    assert f"layer {a}, head {b} with {number(values.max())} ({mixed})" in figure.alt
    assert f"the median is {middle}" in figure.alt
    assert said(figure) == [Style().text("figure.habit_spread")]


@pytest.mark.parametrize("done", [0, 1, 2, 5])
def test_head_importance_leaves_pending_heads_blank(done):
    effects = effects_of(5, 3, done)
    figure = head_importance(effects, 0, 0)
    sound(figure)
    grid, bars = figure.data
    np.testing.assert_array_equal(np.isnan(np.asarray(grid.z)).T, np.isnan(effects.change))
    assert len(bars.x) == min(10, 3 * done)
    assert np.isfinite(np.asarray(bars.x, float)).all()
    assert grid.zmin < grid.zmax
    assert grid.hoverongaps is False
    assert not re.search("nan", figure.to_json(), re.IGNORECASE)


@LANG
def test_head_importance_names_effect_by_model_kind(lang):
    style = Style(lang=lang)
    for decoder, name in ((True, "lost_bits"), (False, "lost_cosine")):
        figure = head_importance(effects_of(2, 3, 2, decoder), 1, 1, style)
        assert figure.data[0].name == style.text(f"figure.{name}")


@pytest.mark.parametrize("largest", [0, 1e-300, 7])
def test_head_grid_scale_ends_at_maximum_or_one_for_shares(largest):
    figure = by_effect(largest * np.eye(2))
    sound(figure)
    assert figure.data[0].zmax == (largest or 1)
    assert by_share(values_of(3, 4) / 10).data[0].zmax == 1


@LANG
@pytest.mark.parametrize("measure", ["previous", "separator", "entropy", "distance", "spread"])
def test_heads_by_measure_draws_each_measure(measure, lang):
    result, style = mosaic_of(3, 4), Style(lang=lang)
    figure = heads_by_measure(result, measure, 1, 1, style)
    values = getattr(result.habits, measure)
    np.testing.assert_array_equal(figure.data[0].z, values.astype(np.float32))
    assert (figure.data[0].zmax == 1) == (measure not in ("entropy", "distance"))
    assert figure.data[0].name == style.text(f"figure.habit_{measure}")
    # the line from which a head has its name
    lines = [(s.type, s.x0, s.x1, s.xref) for s in figure.layout.shapes[1:]]
    assert lines == [("line", 0.5, 0.5, "x2")] * (measure in HABITS)


@LANG
def test_head_names_describe_dominant_habit(lang):
    """With the share that says so, but not in bars, which have it already."""
    text = Text(lang)
    habits = habits_of(spread=np.array([[0.95, 0.5, 0.0], [0, 0, 0]]))
    habits.previous[0, 2] = 0.731
    habits.separator[1, 1] = 1.0
    broad, mixed, previous, separator = (
        text(f"figure.name_{name}") for name in ("broad", "mixed", "previous", "separator")
    )
    expected = [[broad, mixed, f"{previous} {number(0.731, 2)}"],
              [mixed, f"{separator} {number(1.0, 2)}", mixed]]  # fmt: skip
    assert head_names(habits, text) == expected
    mosaic = replace(mosaic_of(2, 3), habits=habits)
    hover = head_mosaic(mosaic, 0, 2, Style(lang=lang)).data[0].text
    assert all(expected[a][b] in hover[a][b] for a in range(2) for b in range(3))
    bars = heads_by_measure(mosaic, "previous", 0, 0, Style(lang=lang)).data[1]
    assert list(bars.text)[:2] == [f" {number(0.731)}  {previous}", f" {number(0.0)}  {broad}"]


@pytest.mark.parametrize(("count", "step"), [(1, 1), (12, 1), (13, 2), (24, 2), (25, 5), (96, 5)])
def test_counted_starts_ticks_at_zero(count, step):
    assert counted(count, "layer")["tickvals"] == list(range(0, count, step))
