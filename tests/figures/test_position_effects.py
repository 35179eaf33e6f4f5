"""Two orders of the same words: how far each output moved, and both attention maps."""

from __future__ import annotations

import json

import numpy as np
import pytest
from gate_drawings import refuse
from position_drawings import OTHERS, WORDS, said, shuffles

from seqviz.figures.grammar.style import LIGHT
from seqviz.figures.positions.effects import moved_words, outputs
from seqviz.text import number

GAPS = {scheme: shuffle.moved for scheme, shuffle in shuffles().items()}
BOTH = shuffles()["sinusoidal"]
LONG = tuple(f"word{k}" for k in range(20))


def test_a_group_of_bars_for_each_scheme():
    figure = moved_words(WORDS, GAPS)
    assert len(figure.data) == len(GAPS)
    for bars, gap in zip(figure.data, GAPS.values(), strict=True):
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
    figure = moved_words(WORDS, GAPS)
    for bars, title in zip(figure.data, figure.layout.annotations, strict=True):
        assert title.x == np.mean(bars.x)


def test_rounding_is_written_as_zero():
    assert 0 < GAPS["none"].max() < 1e-10  # there is some, as sums have another order
    bars = moved_words(WORDS, GAPS).data
    assert set(bars[0].text) == {"0"}
    assert "0" not in bars[1].text
    assert "no encoding: 0;" in moved_words(WORDS, GAPS).alt


def test_the_largest_fits_with_its_number():
    figure = moved_words(WORDS, GAPS)
    top = max(float(gap.max()) for gap in GAPS.values())
    low, high = figure.layout.yaxis.range
    assert low == 0
    assert high > 1.1 * top
    assert number(top) in figure.alt


def test_words_are_plain_text():
    figure = moved_words(WORDS, GAPS)
    assert list(figure.layout.xaxis.ticktext)[:5] == [
        "&lt;b&gt;Mary&lt;/b&gt;",
        "gave",
        "John &amp; co",
        "a",
        "flower",
    ]
    assert figure.data[0].customdata[0] == "&lt;b&gt;Mary&lt;/b&gt;"
    named = figure.layout.meta["names"]["x"]
    for bars in figure.data:
        assert [named[int(place) - 1] for place in bars.x] == list(WORDS)


def test_a_long_word_is_cut_before_it_is_escaped():
    (cut,) = moved_words(["<" * 30], {"none": np.ones(1)}).layout.xaxis.ticktext
    assert cut == "&lt;" * 11 + "…"


def test_many_words_are_read_on_hover():
    gaps = {scheme: np.arange(1.0, 21.0) for scheme in GAPS}
    figure = moved_words(LONG, gaps)
    assert not figure.layout.xaxis.ticktext
    assert set(figure.data[0].text) == {""}
    few = moved_words(LONG, {"none": gaps["none"]})
    assert len(few.layout.xaxis.ticktext) == 20


@pytest.mark.parametrize("gap", [np.zeros(1), np.array([2.5])])
def test_one_word(gap):
    figure = moved_words(["a"], {"none": gap})
    json.loads(figure.to_json(), parse_constant=refuse)
    assert figure.layout.yaxis.range[1] > 1


def test_both_maps_with_their_own_words():
    figure = outputs(WORDS, BOTH.before.weights, OTHERS, BOTH.after.weights)
    for heat, weights in zip(figure.data, (BOTH.before.weights, BOTH.after.weights), strict=True):
        np.testing.assert_array_equal(heat.z, weights.astype(np.float32))
        assert (heat.zmin, heat.zmax) == (0, 1)
        assert heat.texttemplate is not None
    for axis in ("xaxis", "yaxis"):
        assert figure.layout[axis].ticktext[2] == "John &amp; co"
        assert figure.layout[axis + "2"].ticktext[0] == "John &amp; co"
    assert figure.layout.meta["names"]["y2"] == list(OTHERS)
    assert len(figure.layout.annotations) == 2


def test_maps_of_other_lengths():
    for first, second in ((1, 3), (20, 12), (64, 64)):
        figure = outputs(
            [f"w{k}" for k in range(first)],
            np.full((first, first), 1 / first),
            [f"w{k}" for k in range(second)],
            np.full((second, second), 1 / second),
        )
        assert [heat.z.shape[0] for heat in figure.data] == [first, second]
        for heat, count in zip(figure.data, (first, second), strict=True):
            assert (heat.texttemplate is not None) == (count <= 9)


def test_description_reads_the_corner():
    figure = outputs(WORDS, BOTH.before.weights, OTHERS, BOTH.after.weights)
    for weights in (BOTH.before.weights, BOTH.after.weights):
        assert number(float(weights[0, -1])) in figure.alt
