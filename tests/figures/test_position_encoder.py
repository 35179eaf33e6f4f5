"""A real encoder with other position tables, drawn: bars and maps are the numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from seen import said, sound

from seqviz.compute.positions.findings import VARIANTS
from seqviz.figures.grammar.style import DARK, LIGHT, Style
from seqviz.figures.grammar.table import tables
from seqviz.figures.positions.encoder import encoder_maps, encoder_variants
from seqviz.figures.positions.examples import reordered
from seqviz.text import LANGUAGES, Text, number

SERIES = ("alike", "kept", "previous")


FOUND = reordered()
MANY = reordered(tuple(f"w{k}" for k in range(200)))


# --------------------------------------------------------------------------------------- variants
@pytest.mark.parametrize("lang", LANGUAGES)
def test_three_bars_for_each_table(lang):
    text = Text(lang)
    figure = encoder_variants(FOUND, Style(lang=lang))
    assert [bars.name for bars in figure.data] == [text(f"figure.pos_{name}") for name in SERIES]
    for bars, name in zip(figure.data, SERIES, strict=True):
        np.testing.assert_array_equal(bars.x, getattr(FOUND, name))
        assert list(bars.text) == [number(float(v), 4) for v in getattr(FOUND, name)]
    rows = figure.layout.yaxis
    assert list(rows.ticktext) == [text(f"figure.pos_table_{name}") for name in VARIANTS]
    assert len(set(rows.ticktext)) == len(VARIANTS)
    assert rows.range[0] > rows.range[1]  # its own table on top
    sound(figure)


@pytest.mark.parametrize("least", [-1.0, -0.12, 0.0, 0.5])
def test_every_bar_and_its_number_fit(least):
    figure = encoder_variants(replace(FOUND, alike=np.array([1.0, 1.0, least, 0.5])))
    low, high = figure.layout.xaxis.range
    assert low <= min(least, 0)
    assert low < least or least >= 0  # room for its number
    assert high > 1.1


def test_the_colors_of_the_bars_differ_in_both_themes():
    for palette in (LIGHT, DARK):
        figure = encoder_variants(FOUND, Style(palette))
        colors = [bars.marker.color for bars in figure.data]
        assert colors == [palette.prediction, palette.gru, palette.baseline]
        assert len(set(colors)) == 3


def test_variants_in_words():
    alt = encoder_variants(FOUND).alt
    for part in (FOUND.model, number(0.98853, 4)):
        assert part in alt


def test_the_table_of_the_bars():
    (frame,) = tables(encoder_variants(FOUND))
    numbers = frame.select_dtypes("number").to_numpy().ravel()
    for name in SERIES:
        assert set(getattr(FOUND, name)) <= set(numbers), name


# ------------------------------------------------------------------------------------------- maps
@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("variant", VARIANTS[1:])
def test_both_maps_are_the_weights(variant, lang):
    text = Text(lang)
    figure = encoder_maps(FOUND, variant, Style(lang=lang))
    own, other = figure.data
    np.testing.assert_array_equal(own.z, FOUND.weights[0])
    np.testing.assert_array_equal(other.z, FOUND.weights[VARIANTS.index(variant)])
    # one color for one weight on both sides, and one bar that says so
    assert (own.zmin, own.zmax) == (other.zmin, other.zmax) == (0, 1)
    assert own.colorscale == other.colorscale
    assert (own.showscale, other.showscale) == (False, None)
    assert said(figure) == [text(f"figure.pos_table_{name}") for name in ("own", variant)]
    sound(figure)


def test_a_students_words_are_plain_on_the_axes():
    layout = encoder_maps(FOUND, "zero").layout
    for axis in (layout.xaxis, layout.xaxis2, layout.yaxis):
        assert "&lt;b&gt;mary&lt;/b&gt;" in axis.ticktext
        assert "john &amp; co" in axis.ticktext
        assert not any("%{" in label for label in axis.ticktext)
    assert layout.yaxis2.showticklabels is False
    assert list(layout.yaxis2.range) == list(layout.yaxis.range)


def test_maps_in_words_say_which_head_and_what_it_does():
    alt = encoder_maps(FOUND, "zero").alt
    for part in ("3", "7", number(float(FOUND.previous[0])), number(float(FOUND.previous[1]))):
        assert part in alt


def test_maps_of_a_long_text_number_the_places():
    layout = encoder_maps(MANY, "shuffled").layout
    for axis in (layout.xaxis, layout.xaxis2, layout.yaxis):
        assert len(axis.ticktext) < 30


def test_the_tables_of_the_maps_name_the_words():
    frames = tables(encoder_maps(FOUND, "sinusoidal"))
    assert len(frames) == 2
    for frame, values in zip(frames, (FOUND.weights[0], FOUND.weights[3]), strict=True):
        written = frame.to_csv(index=False)
        assert "<b>mary</b>" in written
        numbers = frame.select_dtypes("number").to_numpy().ravel()
        for value in values.ravel()[:5]:
            assert np.isclose(numbers, value, rtol=1e-6).any()
