"""Two orders of the same words: how far each output moved, and both attention maps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from seen import said, sound

from seqviz.compute.positions.orders import Orders, compare_orders, shuffle
from seqviz.figures.grammar.style import LIGHT
from seqviz.figures.positions.effects import both_orders, moved_words
from seqviz.figures.positions.examples import FIRST, SECOND
from seqviz.text import number

FOUND = compare_orders(FIRST, SECOND)
WORDS, OTHERS = FOUND.words, FOUND.others
LONG = " ".join(f"word{k}" for k in range(20))


def only(found: Orders, row: int) -> Orders:
    """The same with one scheme."""
    rows = {name: getattr(found, name)[row : row + 1]
            for name in ("schemes", "moved", "pooled", "first", "second")}  # fmt: skip
    return replace(found, **rows)


def test_a_group_of_bars_for_each_scheme():
    figure = moved_words(FOUND)
    for bars, gap in zip(figure.data, FOUND.moved, strict=True):
        np.testing.assert_array_equal(bars.y, gap)
    places = np.concatenate([bars.x for bars in figure.data])
    assert len(set(places)) == len(places)
    assert np.diff(places).max() == 2  # one place is free between groups
    assert [bars.marker.color for bars in figure.data] == [
        LIGHT.baseline,
        LIGHT.prediction,
        LIGHT.gru,
        LIGHT.rnn,
    ]
    # Two words one below the other: on a phone they would touch the next group's.
    names = ("no<br>encoding", "sinusoidal", "learned", "rotary")
    assert said(figure) == [f"<b>{name}</b>" for name in names]


def test_titles_stand_over_the_middle_of_their_group():
    figure = moved_words(FOUND)
    for bars, title in zip(figure.data, figure.layout.annotations, strict=True):
        assert title.x == np.mean(bars.x)


def test_rounding_is_written_as_zero():
    assert 0 < FOUND.moved[0].max() < 1e-10  # there is some, as sums have another order
    bars = moved_words(FOUND).data
    assert set(bars[0].text) == {"0"}
    assert "0" not in bars[1].text
    assert "no encoding: 0;" in moved_words(FOUND).alt


def test_the_largest_fits_with_its_number():
    figure = moved_words(FOUND)
    top = float(FOUND.moved.max())
    low, high = figure.layout.yaxis.range
    assert low == 0
    assert high > 1.1 * top
    assert number(top) in figure.alt


def test_words_are_plain_text():
    figure = moved_words(FOUND)
    assert list(figure.layout.xaxis.ticktext)[:5] == [
        "&lt;b&gt;Mary&lt;/b&gt;",
        "gave",
        "John&amp;co",
        "a",
        "flower",
    ]
    assert figure.data[0].customdata[0] == "&lt;b&gt;Mary&lt;/b&gt;"
    named = figure.layout.meta["names"]["x"]
    for bars in figure.data:
        assert [named[int(place) - 1] for place in bars.x] == list(WORDS)


def test_a_long_word_is_cut_before_it_is_escaped():
    found = compare_orders("<" * 30, "<" * 30)
    cut = moved_words(found).layout.xaxis.ticktext[0]
    assert cut == "&lt;" * 11 + "…"


def test_many_words_are_read_on_hover():
    found = compare_orders(LONG, shuffle(LONG))
    figure = moved_words(found)
    assert not figure.layout.xaxis.ticktext
    assert set(figure.data[1].text) == {""}
    few = moved_words(only(found, 3))
    assert len(few.layout.xaxis.ticktext) == 20


def test_a_word_of_one_order_alone_is_left_out():
    found = compare_orders("a b c", "c x a")
    figure = moved_words(found)
    for bars, gap in zip(figure.data, found.moved, strict=True):
        assert list(bars.customdata) == ["a", "c"]
        np.testing.assert_array_equal(bars.y, gap[[0, 2]])
    sound(moved_words(compare_orders("a b", "c d")))


@pytest.mark.parametrize("gap", [np.zeros(1), np.array([2.5])])
def test_one_word(gap):
    found = replace(only(compare_orders("a", "a"), 0), moved=gap[None])
    figure = moved_words(found)
    sound(figure)
    assert figure.layout.yaxis.range[1] > 1


def test_both_maps_with_their_own_words():
    for row, scheme in enumerate(FOUND.schemes):
        figure = both_orders(FOUND, scheme)
        for heat, weights in zip(figure.data, (FOUND.first, FOUND.second), strict=True):
            np.testing.assert_array_equal(heat.z, weights[row].astype(np.float32))
            assert (heat.zmin, heat.zmax) == (0, 1)
            assert heat.texttemplate is not None
            assert number(float(weights[row][0, -1])) in figure.alt
    for axis in ("xaxis", "yaxis"):
        assert figure.layout[axis].ticktext[2] == "John&amp;co"
        assert figure.layout[axis + "2"].ticktext[0] == "John&amp;co"
    assert figure.layout.meta["names"]["y2"] == list(OTHERS)
    assert len(said(figure)) == 2


@pytest.mark.parametrize(("first", "second"), [(1, 3), (20, 12), (24, 24)])
def test_maps_of_other_lengths(first, second):
    texts = (" ".join(f"w{k}" for k in range(count)) for count in (first, second))
    figure = both_orders(compare_orders(*texts), "learned")
    for heat, count in zip(figure.data, (first, second), strict=True):
        assert heat.z.shape == (count, count)
        assert (heat.texttemplate is not None) == (count <= 9)


def test_long_words_have_room_between_the_maps():
    def room(text: str) -> float:
        layout = both_orders(compare_orders(text, text), "none").layout
        assert layout.xaxis2.domain[1] == 0.93
        return layout.xaxis2.domain[0] - layout.xaxis.domain[1]

    assert 0.05 < room("a b") < room("我 你") < room("longer words") < room("incomprehensibilities")
    assert room("x" * 100) < 0.4
