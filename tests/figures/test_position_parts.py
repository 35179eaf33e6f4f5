"""What the figures about positions share."""

from __future__ import annotations

import json
from dataclasses import astuple

import pytest

from seqviz.compute.positions.relative import SCHEMES
from seqviz.figures.grammar.example import examples
from seqviz.figures.grammar.style import DARK, LIGHT, LIVE, Style
from seqviz.figures.positions.parts import look, stride


@pytest.mark.parametrize("palette", [LIGHT, DARK, LIVE])
def test_schemes_differ_in_each_way_they_are_drawn(palette):
    looks = [astuple(look(scheme, Style(palette))) for scheme in SCHEMES]
    for kinds in zip(*looks, strict=True):  # name, color, dash, symbol, pattern
        assert len(set(kinds)) == len(SCHEMES)


@pytest.mark.parametrize("count", [1, 2, 255, 256, 257, 512, 513, 100_000])
def test_stride_keeps_no_more_than_the_most(count):
    step = stride(count, 256)
    assert len(range(0, count, step)) <= 256
    assert step == 1 or len(range(0, count, step - 1)) > 256


@pytest.mark.parametrize(
    "example", [e for e in examples() if e.name.startswith("positions")], ids=lambda e: e.name
)
def test_no_word_of_a_student_is_a_tag(example):
    """`<b>` of ours comes in pairs around a name or a number; the student's is escaped."""
    figure = json.loads(example.figure().to_json())
    figure["layout"].pop("meta")  # the names for the table, which are never drawn as HTML
    assert "<b>mary" not in json.dumps(figure).lower()
