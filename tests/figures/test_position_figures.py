"""What every figure about positions owes the reader: names, words, numbers, colors."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import numpy as np
import pytest
from gate_drawings import refuse
from position_drawings import drawings

from seqviz.figures.grammar.line_ends import around, spread
from seqviz.figures.grammar.style import DARK, LIGHT, LIVE, Style, recolored
from seqviz.figures.grammar.table import table
from seqviz.figures.positions.parts import look, stride
from seqviz.text import LANGUAGES

DRAWN = drawings()
EVERY = pytest.mark.parametrize("name", DRAWN)
LANG = pytest.mark.parametrize("lang", LANGUAGES)
BORROWED = ("yaxis2",)  # the right of two matrices: its rows are named on the left


def spec_of(name: str, **style) -> dict:
    return json.loads(DRAWN[name](Style(**style)).to_json(), parse_constant=refuse)


def fixed_colors(spec) -> set[str]:
    """Colors of lines, marks and words; a scale of colors for values is the same in both themes."""
    if isinstance(spec, dict):
        return {c for key, v in spec.items() if key != "colorscale" for c in fixed_colors(v)}
    if isinstance(spec, list):
        return {c for v in spec for c in fixed_colors(v)}
    return set(re.findall(r"#[0-9A-Fa-f]{6}", spec)) if isinstance(spec, str) else set()


@EVERY
@LANG
def test_words(name, lang):
    """A description of the figure in one language, and nothing left to fill in."""
    figure = DRAWN[name](Style(lang=lang))
    alt = figure.alt
    assert len(alt) > 30
    assert "nan" not in alt.lower()
    assert (re.search(r"[\u4e00-\u9fff]", alt) is not None) == (lang == "zh")
    assert not re.search(r"(?<!%){\w*}", json.dumps(spec_of(name, lang=lang)))


@EVERY
def test_every_axis_has_a_name(name):
    layout = spec_of(name)["layout"]
    axes = {key: axis["title"]["text"] for key, axis in layout.items() if key[1:5] == "axis"}
    twin = "yaxis2" in axes and axes["yaxis2"] == ""
    for key, title in axes.items():
        assert title or (twin and key in BORROWED), key


@EVERY
def test_axes_are_named_in_the_readers_language(name):
    english, chinese = (spec_of(name, lang=lang)["layout"] for lang in LANGUAGES)
    for key in english:
        if key[1:5] == "axis" and (title := english[key]["title"]["text"]):
            formula = "·" in title and title.startswith("p<sub>")
            assert formula or title != chinese[key]["title"]["text"], key


@EVERY
def test_colors_follow_the_theme(name):
    live = DRAWN[name](Style(LIVE))
    assert fixed_colors(json.loads(live.to_json())) <= set(LIVE.colors())
    for palette in (LIGHT, DARK):
        filed = recolored(live, LIVE, palette)
        assert json.loads(filed.to_json()) == json.loads(DRAWN[name](Style(palette)).to_json())


@EVERY
def test_no_word_of_a_student_is_a_tag(name):
    """`<b>` of ours comes in pairs around a name or a number; the student's is escaped."""
    figure = spec_of(name)
    figure["layout"].pop("meta")  # the names for the table, which are never drawn as HTML
    assert "<b>Mary" not in json.dumps(figure)


@EVERY
def test_the_table_has_numbers(name):
    frame = table(DRAWN[name](Style()))
    assert frame.select_dtypes("number").notna().to_numpy().any()
    assert len(frame) > 2


@EVERY
def test_panels_side_by_side_have_titles_of_their_own(name):
    """On a narrow screen they are put one below the other, each with its title."""
    layout = spec_of(name)["layout"]
    if layout.get("xaxis2"):
        places = {a.get("xref") for a in layout["annotations"]}
        assert {"x domain", "x2 domain"} <= places
        assert layout["xaxis"]["domain"][1] < layout["xaxis2"]["domain"][0]


def test_schemes_differ_in_dash_and_marker():
    schemes = ("none", "sinusoidal", "learned", "rotary", "alibi", "t5")
    for palette in (LIGHT, DARK, LIVE):
        looks = [look(scheme, Style(palette)) for scheme in schemes]
        for part in ("name", "color", "dash", "symbol"):
            assert len({getattr(found, part) for found in looks}) == len(schemes), part


def test_labels_stand_apart_and_near_their_lines():
    wanted = [99.0, 98.0, 30.0, 97.0, 60.0]
    found = spread(wanted, 6.0)
    assert np.diff(sorted(found)).min() >= 6.0 - 1e-9  # rounding of sums of numbers below 200
    assert (found[2], found[4]) == (30.0, 60.0)
    assert [found[0], found[1], found[3]] == pytest.approx([104.0, 98.0, 92.0])
    assert spread([], 6.0) == []


def test_labels_that_meet_only_after_others_were_moved():
    """Three in a heap push the fourth, which was far enough from each of them."""
    found = spread([0.0, 0.0, 0.0, 8.0], 6.0)
    assert sorted(found) == pytest.approx([-7.0, -1.0, 5.0, 11.0])


@pytest.mark.parametrize("count", [1, 2, 255, 256, 257, 512, 513, 100_000])
def test_stride_keeps_no_more_than_the_most(count):
    step = stride(count, 256)
    assert len(range(0, count, step)) <= 256
    assert step == 1 or len(range(0, count, step - 1)) > 256


def test_a_range_holds_its_values():
    low, high = around(np.array([1.0, np.nan, 3.0]), np.array([2.0]))
    assert low < 1 < 3 < high
    for flat in (np.zeros(3), np.full(3, 5.0), np.full(2, np.nan)):
        low, high = around(flat)
        assert low < high


def test_no_label_stands_above_the_axis_that_would_leave_it_out():
    found = spread([100.0, 100.0, 100.0, 90.0, 36.0], 6.0, 103.0)
    assert max(found) == 103.0
    in_order = sorted(found)
    assert all(b - a >= 6.0 - 1e-9 for a, b in pairwise(in_order))
    assert found[4] == 36.0
