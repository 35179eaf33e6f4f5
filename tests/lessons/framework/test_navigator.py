"""The small map at the benches of a lesson."""

from __future__ import annotations

import re

import pytest

from seqviz import lessons
from seqviz.content import catalog
from seqviz.core.i18n import LANGUAGES, Text
from seqviz.lessons.framework.navigator import Navigator

WITH_MAP = [
    lesson
    for record in catalog.LESSONS
    if (lesson := getattr(lessons, record.slug).lesson).navigator
]


def test_boxes_of_shown_parts_are_lit_and_named():
    small = Navigator("map", ("embed", "norm", "mlp", "norm"), {"norms": ("norm",)})
    html = small.html("norms", Text("en"), "transformer")
    assert re.findall(r"<i( class=\"lit\")?>", html) == [
        "", ' class="lit"', "", ' class="lit"'
    ]  # fmt: skip
    assert 'href="#bench-map"' in html
    assert 'aria-label="On the map: norm"' in html
    assert small.html("map", Text("en"), "transformer") is None


def test_boxes_carry_the_letters_of_their_parts():
    small = Navigator("map", ("norm", "mlp"), {"norms": ("norm",)}, {"norm": "n", "mlp": "<"})
    html = small.html("norms", Text("en"), "transformer")
    assert '<i class="lit" data-letter="n"></i><i data-letter="&lt;"></i>' in html


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("lesson", WITH_MAP, ids=lambda lesson: lesson.slug)
def test_every_bench_beside_the_map_shows_parts_of_it(lesson, lang):
    small = lesson.navigator
    assert set(small.parts_by_bench) == set(lesson.benches) - {small.bench}
    assert all(set(parts) <= set(small.parts) for parts in small.parts_by_bench.values())
    for name in small.parts_by_bench:
        assert set(small.letters) <= set(small.parts)
        label = re.search('title="([^"]+)"', small.html(name, Text(lang), lesson.slug))[1]
        assert label.startswith(Text(lang)("frame.on_the_map").split("{")[0])
