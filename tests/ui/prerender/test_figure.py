"""What comes with the page itself is what the page will show."""

from __future__ import annotations

import html
import json
import re

import pytest

from seqviz import lessons
from seqviz.content import catalog
from seqviz.core.i18n import LANGUAGES, Text
from seqviz.plotting.figure import Figure
from seqviz.plotting.style import LIVE, Style
from seqviz.ui.page import home
from seqviz.ui.prerender import figure as first_figure
from seqviz.ui.prerender import shell

DATA = re.compile(r'id="seqviz-shell-figure">(.*?)</script>', re.DOTALL)


def sent(slug: str, lang: str, baseline: bool = True) -> str:
    return shell.page(slug, lang, baseline, first_figure.undrawn)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("record", catalog.LESSONS, ids=lambda record: record.slug)
def test_prerender_matches_first_bench_with_defaults(record, lang, minilm, smollm2):
    first_figure._draw(record.slug, lang)
    page = sent(record.slug, lang)
    (data,) = DATA.findall(page)
    figures = json.loads(data)["figures"]
    lesson = getattr(lessons, record.slug).lesson
    bench = next(iter(lesson.benches.values()))
    expected = bench.run({}, style=Style(LIVE, lang)).figure
    text = Text(lang)
    assert html.escape(text(f"{record.slug}.title")) in page
    assert json.loads(data)["bench_selector"] == f".st-key-bench-{bench.name}"
    assert isinstance(expected, Figure)
    assert json.loads(figures["light"]["figure"]) == json.loads(expected.to_json())
    assert figures["light"]["alt"] == expected.alt
    assert DATA.findall(sent(record.slug, lang, baseline=False)) != [data]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_prerender_home_has_title_lead_and_two_figures(lang):
    page = sent("", lang)
    assert html.escape(Text(lang)("home.title")) in page
    assert page.count("<svg") == 2  # on a wide window, and on a phone
    words = shell.home_words(lang)
    bench = getattr(lessons, catalog.SHOWN).lesson.benches[catalog.lesson(catalog.SHOWN).first[0]]
    assert bench is home.opening_bench()
    assert len(Text("en")("home.lead").split()) <= 30
    readouts = list(bench.run().readouts)
    assert {name: readouts.index(name) for name in home.READOUTS} == home.READOUTS
    assert all(html.escape(words[name]) in page for name in ("title", "lead"))


def test_prerender_logs_failure_and_leaves_figure_empty(monkeypatch, tmp_path, caplog):
    monkeypatch.setenv("SEQVIZ_CACHE", str(tmp_path))
    monkeypatch.setattr(first_figure, "_figure", lambda *_: 1 / 0)
    monkeypatch.setattr(shell, "_kept", {})
    first_figure._draw("gates", "en")
    assert "prerender: a first figure failed" in caplog.text
    assert json.loads(DATA.findall(sent("gates", "en"))[0])["figures"] == {}


def test_prerender_reuses_stored_figure_after_restart(monkeypatch, tmp_path):
    def again(slug: str, lang: str) -> str:
        """As the next start sends it, which has not drawn anything."""
        monkeypatch.setattr(shell, "_kept", {})
        return shell.page(slug, lang, True, lambda *_: shell.PrerenderedFigure("undrawn", {}))

    monkeypatch.setenv("SEQVIZ_CACHE", str(tmp_path))
    monkeypatch.setattr(shell, "_kept", {})
    first_figure._draw("ar_fitting", "zh")
    rendered = sent("ar_fitting", "zh")
    older = tmp_path / "first_figures" / "ar_fitting.en.0123456789abcdef.json"
    older.write_text("{}")
    assert again("ar_fitting", "zh") == rendered
    assert "undrawn" in again("ar_fitting", "en")
    first_figure._draw("ar_fitting", "en")
    assert not older.exists()
    retained = [path.name.rpartition(".")[2] for path in older.parent.iterdir()]
    assert retained == ["json", "json"]
    damaged = older.with_name(shell._file("ar_fitting", "en").name)
    for content in ("{", "[]", "{}"):
        damaged.write_text(content)
        assert "undrawn" in again("ar_fitting", "en")
