"""What surrounds a lesson: switches, the four buttons under a figure, the way on, and failures."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from seqviz.compute import ar_fitting as ar
from seqviz.content import catalog, search_index
from seqviz.core.errors import MessageError
from seqviz.core.i18n import ASSETS, LANGUAGES, Text
from seqviz.core.units import unbroken
from seqviz.lessons.framework.lesson import Bench
from seqviz.models import device, placement
from seqviz.ui.page import export
from seqviz.ui.runtime import result_cache
from tests.pages.page_assertions import alerts, bench, figures, walk
from tests.sliders import sliders
from tests.tiers import by_day, first_only

SLUGS = [lesson.slug for lesson in catalog.LESSONS]
SLUG = "ar_fitting"


def dialog(app: AppTest):
    (result,) = (node for node in walk(app._tree) if node.type == "dialog")
    return result


def query(address: str) -> dict[str, str]:
    return {key: values[0] for key, values in parse_qs(urlsplit(address).query).items()}


def test_language_defaults_to_browser_locale(visit):
    for locale, lang in (("zh-CN", "zh"), ("zh-TW", "zh"), ("en-US", "en"), ("de", "en")):
        app = AppTest.from_file(str(ASSETS.parent / "app.py"), default_timeout=60)
        app.context = {"locale": locale}
        app.run()
        assert app.title[0].value == Text(lang)("home.title"), locale


def test_language_falls_back_to_english_if_unknown(visit):
    app = AppTest.from_file(str(ASSETS.parent / "app.py"), default_timeout=60)
    app.query_params["lang"] = "xx"
    app.run()
    assert not app.exception
    assert app.title[0].value == Text("en")("home.title")


@pytest.mark.parametrize("slug", first_only(SLUGS))  # the settings are those of the first
def test_language_change_keeps_settings(visit, slug):
    page = visit(slug, "en", ar__process__phi="-0.5", ar__fit__view="order")
    before = {(b, n): page.value(b, n) for b, d in page.lesson.benches.items()
              for n in d.__dataclass_fields__}  # fmt: skip
    page.app.get_by_key("lang").set_value("zh").run()
    page.healthy()
    assert page.app.title[0].value == Text("zh")(f"{slug}.title")
    assert {key: page.value(*key) for key in before} == before
    assert page.address["lang"] == "zh"
    labels = {slider["label"] for slider in sliders(page.app).values()}
    first = catalog.lesson(slug).first[1]
    assert Text("zh")(f"{slug}.control.{first}.label") in labels
    page.app.get_by_key("lang").set_value("en").run()
    assert {key: page.value(*key) for key in before} == before


def rules(app: AppTest) -> str:
    """The CSS that the page carries."""
    return "".join(element.proto.body for element in app.get("html"))


@pytest.mark.parametrize("slug", first_only(SLUGS))
def test_presenter_mode_toggles_header_font_and_link(visit, slug):
    page = visit(slug)
    assert "stHeader" not in rules(page.app)
    small = figures(page.app)[0]["layout"]["font"]["size"]
    page.app.get_by_key("present").set_value(True).run()
    page.healthy()
    assert "stHeader" in rules(page.app)
    assert page.address["present"] == "true"
    assert figures(page.app)[0]["layout"]["font"]["size"] == pytest.approx(1.25 * small)
    keys = page.text("frame.present_keys")
    assert keys in [item.value for item in page.app.caption]
    page.app.get_by_key("present").set_value(False).run()
    assert "stHeader" not in rules(page.app)
    assert "present" not in page.address
    assert keys not in [item.value for item in page.app.caption]


def test_presenter_mode_opens_from_link_and_persists():
    app = AppTest.from_file(str(ASSETS.parent / "app.py"), default_timeout=60)
    app.query_params["present"] = "true"
    app.run()
    assert "stHeader" in rules(app)
    assert app.get_by_key("present").value is True
    app.switch_page(f"pages/{SLUG}.py").run()
    assert "stHeader" in rules(app)  # and it stays on from page to page


def press(page, name: str, button: str):
    """What opens when a button under a figure is pressed."""
    page.app.get_by_key(f"{page.lesson.prefix(name)}.{button}").click().run()
    page.healthy()
    return dialog(page.app)


def data(page, name: str) -> None:
    visible = press(page, name, "data")
    frames = [frame.value for frame in visible.get("dataframe")]
    assert frames, name
    assert all(len(frame) and isinstance(frame, pd.DataFrame) for frame in frames)
    assert visible.get("markdown")[0].value.strip()  # the figure in words


def files(page, name: str) -> None:
    labels = [button.label for button in press(page, name, "export").get("download_button")]
    assert labels == [page.text("frame.csv"), page.text("frame.html")]


def code(page, name: str) -> None:
    (visible,) = press(page, name, "code").get("code")
    assert visible.value.strip() == page.lesson.sources()[name].strip()


def framed(line: str) -> tuple[str, str]:
    """Address and title in the line of HTML that embeds a bench."""
    (frame,) = re.findall("<iframe ([^>]+)></iframe>", line)
    named = dict(re.findall('([a-z]+)="([^"]*)"', frame))
    assert named["loading"] == "lazy"
    assert int(named["height"]) >= 420
    return html.unescape(named["src"]), html.unescape(named["title"])


def link(page, name: str) -> None:
    visible, line = press(page, name, "link").get("code")
    assert query(visible.value) == {"lang": page.text.lang}
    source, title = framed(line.value)
    assert urlsplit(source).path == f"/embed/{page.lesson.declared.slug}/{name}"
    assert query(source) == query(visible.value)
    assert page.text(f"{page.lesson.declared.slug}.title") in title


@pytest.mark.parametrize("turn", first_only(range(4)))
@pytest.mark.parametrize("slug", by_day(SLUGS))
def test_figure_buttons_open_their_dialogs(visit, slug, turn):
    """A button of every bench, in turn; the other three by night, in either language."""
    page = visit(slug, LANGUAGES[(SLUGS.index(slug) + turn) % 2])
    rendered = [name for name in page.lesson.benches if figures(bench(page.app, name))]
    assert len(rendered) >= 4  # so that each button is pressed in every lesson
    for index, name in enumerate(rendered):
        (data, files, code, link)[(index + turn) % 4](page, name)
        # nothing happened to any bench while somebody looked behind a figure
        assert not alerts(bench(page.app, name))["warning"]


def test_data_dialog_contains_figure_values(visit):
    page = visit(SLUG)
    page.app.get_by_key("ar.process.data").click().run()
    frames = [frame.value for frame in dialog(page.app).get("dataframe")]
    values = ar.simulate((0.8,), n=500, seed=1).values
    name = page.text("figure.value").replace("<sub>", "").replace("</sub>", "")
    series = next(frame[name].dropna() for frame in frames if name in frame)
    assert series.to_numpy() == pytest.approx(values, rel=1e-6)  # float32 on the way


def test_link_dialog_includes_upstream_settings(visit):
    """A figure of the fit is another one on another series: both are in its link."""
    page = visit(SLUG)
    page.run(ar__process__phi=0.5, ar__fit__view="order", ar__forecast__horizon=5)
    page.app.get_by_key("ar.fit.link").click().run()
    address, line = dialog(page.app).get("code")
    assert query(framed(line.value)[0]) == query(address.value)
    assert query(address.value) == {
        "lang": "en", "ar.process.phi": "0.5", "ar.fit.view": "order",
    }  # fmt: skip
    page.app.get_by_key("ar.real.link").click().run()
    address, _ = dialog(page.app).get("code")
    assert query(address.value) == {"lang": "en"}


def test_share_panel_includes_all_settings(visit):
    page = visit(SLUG, "zh", ar__process__phi="0.5", ar__real__source="nile")
    page.app.session_state["share"] = True
    page.app.run()
    page.healthy()
    address = page.app.code[0].value
    assert query(address) == {
        "lang": "zh", "ar.process.phi": "0.5", "ar.real.source": "nile",
    }  # fmt: skip
    source, _ = framed(page.app.code[1].value)  # its first bench
    assert urlsplit(source).path == "/embed/ar_fitting/by_hand"
    assert query(source) == query(address)
    assert page.app.get("imgs") or page.app.get("image")  # the code to scan


def test_about_panel_reports_device(visit, monkeypatch):
    page = visit(SLUG, "zh")
    page.app.session_state["about"] = True
    page.run()
    before, after = page.text("frame.device").split("{name}")
    (message,) = (m.value for m in page.app.markdown if m.value.startswith(before))
    assert message.endswith(after)
    assert len(message) > len(before) + len(after)
    there = placement.MeasuredCrossover("H", "2026-12-01", {}, 2.04e-6)
    cases = {
        "device_missing": ("cpu", "missing", placement.MeasuredCrossover()),
        "device_lost": ("cpu", "lost", placement.MeasuredCrossover()),
        "device_rule": ("cuda", "", placement.MeasuredCrossover()),
        "device_measured": ("cuda", "", there),
        "device_own": ("cuda", "", replace(there, largest=None)),
    }
    visible = {"wish": "cuda", "name": "H", "date": "2026-12-01", "largest": "2 × 10⁻⁶"}
    words = {key: unbroken(page.text(f"frame.{key}", **visible)) for key in cases}
    for key, (kind, note, measured) in cases.items():
        chosen = device.Device(kind, "Pretended", "cuda", note)
        with monkeypatch.context() as patch:
            patch.setattr(device, "choose", lambda chosen=chosen: chosen)
            patch.setattr(placement, "measured", lambda measured=measured: measured)
            page.run()
        captions = {item.value for item in page.app.caption}
        assert captions & set(words.values()) == {words[key]}


def test_previous_button_returns_home(visit):
    page = visit(SLUG, "zh")
    button = page.app.get_by_key("go.previous")
    assert button.label == page.text("frame.map")
    button.click().run()
    assert not page.app.exception
    assert page.app.title[0].value == page.text("home.title")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_home_cards_link_to_lessons_in_same_language(lang):
    app = AppTest.from_file(str(ASSETS.parent / "app.py"), default_timeout=60)
    app.query_params["lang"] = lang
    app.run()
    text, cards = Text(lang), rules(app)
    assert re.findall(r'href="([^"]*)"', cards) == [
        f"{lesson.slug}?lang={lang}" for lesson in catalog.LESSONS
    ]
    assert re.findall(r"<h3>(.*?)</h3>", cards) == [
        html.escape(f"{position} · {text(f'{lesson.slug}.title')}")
        for position, lesson in enumerate(catalog.LESSONS, start=1)
    ]
    for lesson in catalog.LESSONS:
        assert html.escape(text(f"stage.{lesson.stage}.question")) in cards
        assert text("home.minutes", minutes=search_index.minutes(lesson.slug)) in cards
    assert "</ol><p" not in cards  # what does not exist is not listed


def test_bench_failure_leaves_others_drawn(visit, monkeypatch, caplog):
    page = visit(SLUG, "zh")

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a secret path")

    monkeypatch.setattr("seqviz.figures.ar_fitting.estimation.estimates_beside_truth", broken)
    page.app.run()
    assert alerts(bench(page.app, "fit"))["error"] == [page.text("frame.failed")]
    for name in ("process", "by_hand", "forecast", "real"):
        assert len(figures(bench(page.app, name))) == 1
    assert not page.app.exception
    assert "a bench failed" in caplog.text
    monkeypatch.undo()


def test_export_dialog_builds_no_file_until_requested(visit, monkeypatch):
    """A standalone page is 5 MB: it must not be made with every run."""
    built: list[str] = []
    monkeypatch.setattr(export, "html", lambda chart: built.append("html"))
    monkeypatch.setattr(export, "csv", lambda chart: built.append("csv"))
    page = visit(SLUG)
    page.app.get_by_key("ar.process.export").click().run()
    page.healthy()
    assert built == []


def test_home_lists_lessons_when_figure_fails(monkeypatch):
    def refused(*_: object, **__: object) -> None:
        raise MessageError("compute_limit", wait=3)

    monkeypatch.setattr("seqviz.ui.live.handler.render_bench", refused)
    app = AppTest.from_file(str(ASSETS.parent / "app.py"), default_timeout=60)
    app.run()
    assert not app.exception
    assert [item.value for item in app.warning] == [Text("en")("problem.compute_limit", wait=3)]
    assert rules(app).count("seqviz-card") >= len(catalog.LESSONS)


def test_home_figure_is_cached_across_sessions(monkeypatch):
    cache, rendered, run = result_cache.ResultCache(1e7), [], Bench.run

    def counted(bench: Bench, *args: object, **keywords: object) -> object:
        rendered.append(bench.name)
        return run(bench, *args, **keywords)

    monkeypatch.setattr(result_cache, "result_cache", lambda: cache)
    monkeypatch.setattr(Bench, "run", counted)
    for _ in range(3):
        app = AppTest.from_file(str(ASSETS.parent / "app.py"), default_timeout=60)
        app.run()
        assert not app.exception
    assert rendered == [catalog.lesson(catalog.SHOWN).first[0]]
