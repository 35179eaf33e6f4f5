"""What comes with the page itself is what the page will show."""

from __future__ import annotations

import html
import json
import re

import pytest

from seqviz import catalog, lessons
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.style import LIVE, Style
from seqviz.text import LANGUAGES, Text
from seqviz.ui.bench import first_figure

DATA = re.compile(r'id="seqviz-first-figure">(.*?)</script>', re.DOTALL)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("record", catalog.LESSONS, ids=lambda record: record.slug)
def test_the_first_bench_as_it_stands_with_nothing_set(record, lang, minilm):
    first_figure._draw(record.slug, lang)
    page = first_figure.page(record.slug, lang, plain=True)
    (data,) = DATA.findall(page)
    figures = json.loads(data)["figures"]
    lesson = getattr(lessons, record.slug).lesson
    bench = next(iter(lesson.benches.values()))
    wanted = bench.run({}, style=Style(LIVE, lang)).figure
    text = Text(lang)
    assert html.escape(text(f"{record.slug}.title")) in page
    assert json.loads(data)["place"] == f".st-key-bench-{bench.name}"
    if record.slug == "positions":  # the browser draws it
        assert figures == {}
        return
    assert isinstance(wanted, Figure)
    assert json.loads(figures["light"]["figure"]) == json.loads(wanted.to_json())
    assert figures["light"]["alt"] == wanted.alt
    assert DATA.findall(first_figure.page(record.slug, lang, plain=False)) != [data]


def test_the_map_has_its_title_and_no_bench():
    page = first_figure.page("", "zh", plain=True)
    assert html.escape(Text("zh")("home.title")) in page
    assert 'class="bench' not in page


def test_a_failure_is_logged_and_leaves_the_place_empty(monkeypatch, caplog):
    monkeypatch.setattr(first_figure, "_figure", lambda *_: 1 / 0)
    monkeypatch.delitem(first_figure._pages, ("gates", "en"), raising=False)
    first_figure._draw("gates", "en")
    assert "a first figure failed" in caplog.text
    assert first_figure.page("gates", "en", plain=True) == first_figure._without_figure(
        "gates", "en"
    )


def test_the_next_start_has_what_this_version_has_drawn(monkeypatch, tmp_path):
    monkeypatch.setenv("SEQVIZ_CACHE", str(tmp_path))
    monkeypatch.setattr(first_figure, "_pages", {})
    first_figure._draw("ar_fitting", "zh")
    drawn = first_figure.page("ar_fitting", "zh", plain=True)
    older = tmp_path / "first_figures" / "ar_fitting.en.0123456789abcdef.json"
    older.write_text("{}")
    first_figure._pages.clear()
    first_figure.recall()
    assert list(first_figure._pages) == [("ar_fitting", "zh")]
    assert first_figure.page("ar_fitting", "zh", plain=True) == drawn
    first_figure._draw("ar_fitting", "en")
    assert not older.exists()
    kept = [path.name.rpartition(".")[2] for path in older.parent.iterdir()]
    assert kept == ["json", "json"]
    older.with_name(first_figure._file("ar_fitting", "en").name).write_text("{")
    first_figure._pages.clear()
    first_figure.recall()
    assert list(first_figure._pages) == [("ar_fitting", "zh")]
