"""A real encoder with other position tables, drawn: bars and maps are the numbers."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from gate_drawings import refuse

from seqviz.compute.positions.findings import VARIANTS, Reordered
from seqviz.figures.grammar.style import DARK, LIGHT, Style, recolored
from seqviz.figures.grammar.table import tables
from seqviz.figures.positions.encoder import maps, variants
from seqviz.text import LANGUAGES, Text, number

PIECES = ("[CLS]", "<b>mary</b>", "%{x}", "john & co", "a", "[SEP]")
SERIES = ("alike", "kept", "previous")


def weights(count: int) -> np.ndarray:
    drawn = np.random.RandomState(1).dirichlet(np.full(count, 0.3), (len(VARIANTS), count))
    return drawn.astype(np.float32)


FOUND = Reordered(
    "a <model>",
    PIECES,
    PIECES[::-1],
    VARIANTS,
    np.array([0.98853, 1.0, -0.12, 0.99928]),
    np.array([1.0, 0.67182, 0.78315, 0.62176]),
    np.array([0.99983, 0.20656, 0.0, 0.21380]),
    weights(len(PIECES)),
    3,
    7,
)
MANY = replace(FOUND, pieces=tuple(f"w{k}" for k in range(200)), weights=weights(200))


# --------------------------------------------------------------------------------------- variants
@pytest.mark.parametrize("lang", LANGUAGES)
def test_three_bars_for_each_table(lang):
    text = Text(lang)
    figure = variants(FOUND, Style(lang=lang))
    assert [bars.name for bars in figure.data] == [text(f"figure.pos_{name}") for name in SERIES]
    for bars, name in zip(figure.data, SERIES, strict=True):
        np.testing.assert_array_equal(bars.x, getattr(FOUND, name))
        assert list(bars.text) == [number(float(v), 4) for v in getattr(FOUND, name)]
    rows = figure.layout.yaxis
    assert list(rows.ticktext) == [text(f"figure.pos_table_{name}") for name in VARIANTS]
    assert len(set(rows.ticktext)) == len(VARIANTS)
    assert rows.range[0] > rows.range[1]  # its own table on top
    json.loads(figure.to_json(), parse_constant=refuse)


@pytest.mark.parametrize("least", [-1.0, -0.12, 0.0, 0.5])
def test_every_bar_and_its_number_fit(least):
    figure = variants(replace(FOUND, alike=np.array([1.0, 1.0, least, 0.5])))
    low, high = figure.layout.xaxis.range
    assert low <= min(least, 0)
    assert low < least or least >= 0  # room for its number
    assert high > 1.1


def test_the_colors_of_the_bars_differ_in_both_themes():
    for palette in (LIGHT, DARK):
        figure = variants(FOUND, Style(palette))
        colors = [bars.marker.color for bars in figure.data]
        assert colors == [palette.prediction, palette.gru, palette.baseline]
        assert len(set(colors)) == 3


def test_variants_in_words():
    said = variants(FOUND).alt
    for part in (FOUND.model, number(0.98853, 4)):
        assert part in said
    assert "1" in said


def test_the_table_of_the_bars():
    (frame,) = tables(variants(FOUND))
    numbers = frame.select_dtypes("number").to_numpy().ravel()
    for name in SERIES:
        assert set(getattr(FOUND, name)) <= set(numbers), name


# ------------------------------------------------------------------------------------------- maps
@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("variant", VARIANTS[1:])
def test_both_maps_are_the_weights(variant, lang):
    text = Text(lang)
    figure = maps(FOUND, variant, Style(lang=lang))
    own, other = figure.data
    np.testing.assert_array_equal(own.z, FOUND.weights[0])
    np.testing.assert_array_equal(other.z, FOUND.weights[VARIANTS.index(variant)])
    # one color for one weight on both sides, and one bar that says so
    assert (own.zmin, own.zmax) == (other.zmin, other.zmax) == (0, 1)
    assert own.colorscale == other.colorscale
    assert (own.showscale, other.showscale) == (False, None)
    titles = [annotation.text for annotation in figure.layout.annotations]
    assert any(text("figure.pos_table_own") in title for title in titles)
    assert any(text(f"figure.pos_table_{variant}") in title for title in titles)
    json.loads(figure.to_json(), parse_constant=refuse)


def test_a_students_words_are_plain_on_the_axes():
    layout = maps(FOUND, "zero").layout
    for axis in (layout.xaxis, layout.xaxis2, layout.yaxis):
        assert "&lt;b&gt;mary&lt;/b&gt;" in axis.ticktext
        assert "john &amp; co" in axis.ticktext
        assert not any("%{" in label for label in axis.ticktext)
    assert layout.yaxis2.showticklabels is False
    assert list(layout.yaxis2.range) == list(layout.yaxis.range)


def test_maps_in_words_say_which_head_and_what_it_does():
    said = maps(FOUND, "zero").alt
    for part in ("3", "7", number(float(FOUND.previous[0])), number(float(FOUND.previous[1]))):
        assert part in said


def test_maps_of_a_long_text_number_the_places():
    layout = maps(MANY, "shuffled").layout
    for axis in (layout.xaxis, layout.xaxis2, layout.yaxis):
        assert len(axis.ticktext) < 30


def test_the_tables_of_the_maps_name_the_words():
    frames = tables(maps(FOUND, "sinusoidal"))
    assert len(frames) == 2
    for frame, values in zip(frames, (FOUND.weights[0], FOUND.weights[3]), strict=True):
        written = frame.to_csv(index=False)
        assert "<b>mary</b>" in written
        numbers = frame.select_dtypes("number").to_numpy().ravel()
        for value in values.ravel()[:5]:
            assert np.isclose(numbers, value, rtol=1e-6).any()


@pytest.mark.parametrize("draw", [variants, lambda found, style: maps(found, "zero", style)])
def test_both_themes_have_the_same_drawing(draw):
    light, dark = (draw(FOUND, Style(palette)) for palette in (LIGHT, DARK))
    again = recolored(light, LIGHT, DARK)
    assert json.loads(again.to_json()) == json.loads(dark.to_json())
