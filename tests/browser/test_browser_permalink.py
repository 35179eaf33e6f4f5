"""What a visitor sets is in the address bar, and the address brings it back."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from seqviz.content import catalog
from seqviz.core.i18n import Text
from seqviz.lessons.framework.controls import SelectSlider, encoded
from tests.hostile.input_declarations import keys
from tests.tiers import first_only


def numbers(geometry: str) -> list[float]:
    return [float(item) for item in re.findall(r"-?\d+\.?\d*", geometry)]


@pytest.mark.parametrize(
    "record", first_only(catalog.LESSONS, retained=0), ids=lambda record: record.slug
)
def test_permalink_records_slider_key_and_restores_it_on_reload(visit, record):
    lesson = visit(record.slug)
    bench, parameter = f"{record.code}.{record.first[0]}", record.first[1]
    key = f"{bench}.{parameter}"
    before = lesson.geometry(bench)
    assert key not in lesson.page.url
    lesson.slider(key).focus()
    lesson.page.keyboard.press("ArrowLeft")
    after = lesson.changed(bench, before)
    value = lesson.slider(key).input_value()  # of a slider with stops: which of them
    control = keys(record.slug)[key]
    set_to = encoded(control.stops[int(value)]) if isinstance(control, SelectSlider) else value
    assert parse_qs(urlsplit(lesson.page.url).query)[key] == [set_to]
    lesson.page.reload()
    # Plotly makes room for labels in steps: it ends within a pixel of where it came from elsewhere.
    assert numbers(lesson.geometry(bench)) == pytest.approx(numbers(after), abs=1)
    assert lesson.slider(key).input_value() == value


def test_permalink_back_and_forward_restore_settings(visit):
    lesson = visit("ar_fitting", {"lang": "en"})
    page, key = lesson.page, "ar.process.phi"

    def settled(before=None):
        """The first picture after a press is not always the last: the page draws it once more."""
        if before is not None:
            lesson.changed("ar.process", before)
        return lesson.geometry("ar.process")

    shapes = [settled()]
    lesson.slider(key).press("PageDown")
    expect(page).to_have_url(re.compile(rf"{re.escape(key)}=0\.7"))
    shapes.append(settled(shapes[0]))
    page.get_by_role("radio", name="Roots").click()
    expect(page).to_have_url(re.compile("ar.process.view=roots"))
    shapes.append(settled(shapes[1]))
    for step, visible, phi in (
        (page.go_back, 1, "0.7"), (page.go_back, 0, "0.8"), (page.go_forward, 1, "0.7"),
    ):  # fmt: skip
        before = lesson.geometry("ar.process")
        step()
        assert settled(before) == shapes[visible]
        expect(lesson.slider(key)).to_have_value(phi)


@pytest.mark.parametrize("slug", first_only(["home", catalog.LESSONS[0].slug]))
def test_language_defaults_to_chinese_browser_locale(visit, slug):
    lesson = visit("" if slug == "home" else slug, locale="zh-CN")
    lesson.titled(Text("zh")(f"{slug}.title"))


def test_language_variant_in_link_is_normalized_in_page_and_url(visit):
    lesson = visit("gates", {"lang": "zh-TW"})
    lesson.titled(Text("zh")("gates.title"))
    expect(lesson.page).to_have_url(re.compile(r"/gates\?lang=zh$"))
    assert lesson.page.evaluate("document.documentElement.lang") == "zh-CN"


def test_language_in_link_overrides_browser_locale(visit):
    visit("", {"lang": "en"}, locale="zh-CN").titled(Text("en")("home.title"))
