"""Bars about positions: how far outputs moved, what an encoder does, what a shift changes."""

from __future__ import annotations

import json
from dataclasses import astuple, replace

import numpy as np
import pytest

from seqviz.compute.positions import relative
from seqviz.compute.positions.orders import OrderComparison, compare_orders, shuffle
from seqviz.compute.positions.results import VARIANTS
from seqviz.core.i18n import number
from seqviz.figures.positions.effects import moved_words
from seqviz.figures.positions.encoder import encoder_variants
from seqviz.figures.positions.schemes import shift_bars
from seqviz.figures.positions.style import look, stride
from seqviz.plotting.style import DARK, LIGHT, LIVE, Style
from testing.figure_examples import examples
from testing.figure_examples.positions import FIRST, SECOND, reordered
from tests.figures.trace_helpers import said, sound

FOUND, ENCODER = compare_orders(FIRST, SECOND), reordered()
MANY = " ".join(f"word{k}" for k in range(20))
ZERO, LACKING = "<b>0 (exactly)</b>", "<b>only 512 rows</b>"


# --- what they share ------------------------------------------------------------------------------


@pytest.mark.parametrize("palette", [LIGHT, DARK, LIVE])
def test_look_differs_between_schemes_in_every_property(palette):
    view = [astuple(look(scheme, Style(palette))) for scheme in relative.SCHEMES]
    for kinds in zip(*view, strict=True):  # name, color, dash, symbol, pattern
        assert len(set(kinds)) == len(relative.SCHEMES)


@pytest.mark.parametrize("count", [1, 256, 257, 512, 513, 100_000])
def test_stride_limits_count_to_maximum(count):
    step = stride(count, 256)
    assert len(range(0, count, step)) <= 256
    assert step == 1 or len(range(0, count, step - 1)) > 256


@pytest.mark.parametrize(
    "example", [e for e in examples() if e.name.startswith("positions")], ids=lambda e: e.name
)
def test_position_figures_escape_user_words(example):
    """`<b>` of ours comes in pairs around a name or a number; the student's is escaped."""
    figure = json.loads(example.figure().to_json())
    figure["layout"].pop("meta")  # the names for the table, which are never drawn as HTML
    assert "<b>mary" not in json.dumps(figure).lower()


# --- outputs that moved ---------------------------------------------------------------------------


def only(order_comparison: OrderComparison, row: int) -> OrderComparison:
    """The same with one scheme."""
    rows = {name: getattr(order_comparison, name)[row : row + 1]
            for name in ("schemes", "moved", "first", "second")}  # fmt: skip
    return replace(order_comparison, **rows)


def in_groups(figure):
    """The bars from left to right: those of no encoding are painted last."""
    return [figure.data[-1], *figure.data[:-1]]


@pytest.mark.parametrize(
    "found", [FOUND, compare_orders("a b c", "c x a"), compare_orders("a b", "c d")]
)
def test_moved_words_draw_one_bar_group_per_scheme(found):
    """A word that is in one order only is left out."""
    figure = moved_words(found)
    groups, named = (
        zip(in_groups(figure), found.moved, strict=True),
        figure.layout.meta["names"]["x"],
    )
    words, positions = [found.words[position] for position in found.paired], []
    for bars, gap in groups:
        np.testing.assert_array_equal(bars.y, gap[found.paired])
        assert [named[int(position) - 1] for position in bars.x] == words
        positions += bars.x.tolist()
    assert len(set(positions)) == len(positions)
    assert not positions or np.diff(positions).max() == 2  # one place is free between groups
    assert figure.layout.yaxis.range[0] == 0
    assert figure.layout.yaxis.range[1] > 1.1 * np.nanmax(found.moved, initial=0)
    sound(figure)


def test_moved_words_center_scheme_names_above_groups():
    figure = moved_words(FOUND)
    # Two words one below the other: on a phone they would touch the next group's.
    names = ("no<br>encoding", "sinusoidal", "learned<br>(random)", "rotary")
    assert said(figure)[:-1] == [f"<b>{name}</b>" for name in names]
    for bars, title in zip(in_groups(figure), figure.layout.annotations[:-1], strict=True):
        assert title.x == np.mean(bars.x)
        assert title.font.color == bars.marker.color


@pytest.mark.parametrize(("causal", "mask"), [(False, "no mask"), (True, "causal mask")])
def test_moved_words_name_both_orders_and_mask(causal, mask):
    """A sentence is truncated before it is escaped."""
    headline = said(moved_words(compare_orders("a <b>", f"{MANY} <b>", causal)))[-1]
    assert headline == f"a &lt;b&gt;<br>word0 word1 word2 word3 word4 w… · {mask}"


def test_moved_words_write_rounding_errors_as_zero():
    assert 0 < FOUND.moved[0].max() < 1e-10  # there is some, as sums have another order
    figure = moved_words(FOUND)
    assert set(in_groups(figure)[0].text) == {"0"}
    assert list(in_groups(figure)[1].text) == [number(gap, 2) for gap in FOUND.moved[1].tolist()]
    assert "no encoding: 0;" in figure.alt


def test_moved_words_truncate_words_before_escaping():
    axis = moved_words(FOUND).layout.xaxis
    expected = ["&lt;b&gt;Mary&lt;/b&gt;", "gave", "John&amp;co", "a", "flower"]
    assert list(axis.ticktext)[:5] == expected
    long = moved_words(compare_orders("<" * 30, "<" * 30))
    assert long.layout.xaxis.ticktext[0] == "&lt;" * 11 + "…"


def test_moved_words_hide_labels_of_many_words():
    order_comparison = compare_orders(MANY, shuffle(MANY))
    figure = moved_words(order_comparison)
    assert not figure.layout.xaxis.ticktext
    assert set(in_groups(figure)[1].text) == {""}
    assert len(moved_words(only(order_comparison, 3)).layout.xaxis.ticktext) == 20


# --- a real encoder -------------------------------------------------------------------------------


@pytest.mark.parametrize("least", [-1.0, -0.12, 0.0, 0.5])
def test_encoder_variants_draw_three_bars_per_table(least):
    result = replace(ENCODER, alike=np.array([1.0, 1.0, least, 0.5]))
    figure = encoder_variants(result)
    for bars, name in zip(figure.data, ("alike", "original_cosine", "previous"), strict=True):
        np.testing.assert_array_equal(bars.x, getattr(result, name))
        assert list(bars.text) == [number(float(v), 4) for v in getattr(result, name)]
    assert len({bars.marker.color for bars in figure.data}) == 3
    rows, (low, high) = figure.layout.yaxis, figure.layout.xaxis.range
    assert len(set(rows.ticktext)) == len(VARIANTS)
    assert rows.range[0] > rows.range[1]  # its own table on top
    assert low < least or low == 0  # room for its number
    assert high > 1.1
    sound(figure)


# --- a shift --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shift", "words"), [(1000, [ZERO, "", LACKING, "", ZERO, ZERO]), (0, [ZERO] * 6)]
)
def test_shift_bars_draw_largest_changes_or_explain_absence(shift, words):
    changes = [relative.shift_change(scheme, shift=shift) for scheme in relative.SCHEMES]
    figure = shift_bars(changes)
    (bars,) = figure.data
    values = np.array([change.largest for change in changes])
    np.testing.assert_array_equal(np.asarray(bars.x, float), values)
    low, high = figure.layout.xaxis.range
    ends = np.nan_to_num(values)  # a number without a bar is at 0
    assert low == 0
    assert all(1.2 * ends < high)  # with room for the number
    numbers = [word or f"<b>{number(value)}</b>" for word, value in zip(words, values, strict=True)]
    if shift:  # of the rotary scheme only rounding is left, and no bar
        numbers[3] = f"<b>0 (rounding: {number(values[3])})</b>"
    assert said(figure)[1:] == numbers
    assert [mark.x for mark in figure.layout.annotations[1:]] == pytest.approx(list(ends))
    assert len(set(bars.marker.pattern.shape)) == len(changes)  # they differ without their colors
    sound(figure)


@pytest.mark.parametrize(("strength", "top"), [(0.0, 0.8), (0.3, 0.8), (1.0, 0.8), (2.0, 1.6)])
def test_moved_words_keep_axis_fixed_at_low_strength(strength, top):
    order_comparison = compare_orders(
        "Mary gave John a flower", "John gave Mary a flower", strength=strength
    )
    low, high = moved_words(order_comparison).layout.yaxis.range
    assert (low, high) == (0, pytest.approx(top))
    assert np.nanmax(order_comparison.moved) < high
