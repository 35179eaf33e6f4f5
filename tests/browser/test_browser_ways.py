"""From page to page: one step of Back for each, and a lesson is as it was left, by every way."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import expect

from seqviz.content import catalog
from seqviz.core.i18n import Text
from seqviz.lessons.bert_accuracy.lesson import lesson as bert_accuracy
from testing.chromium import css_class, slider_input
from tests.tiers import first_only

KEY = "ar.process.phi"
TITLES = {record.slug: Text("en")(f"{record.slug}.title") for record in catalog.LESSONS}
AR, TEXT, GATES = TITLES["ar_fitting"], TITLES["text"], TITLES["gates"]
HOME = Text("en")("home.title")
ROWS = "level,other\n" + "\n".join(f"{7 * t % 13 + 0.1 * t:.1f},{5 * t % 11}" for t in range(80))
CSV = {"name": "own.csv", "mimeType": "text/csv", "buffer": ROWS.encode()}


def menu(lesson, slug: str) -> None:
    """By the list of pages: above, or beside a narrow window."""
    page, record = lesson.page, catalog.lesson(slug)
    section = page.get_by_test_id("stTopNavSection").filter(
        has_text=Text("en")(f"nav.{record.group}")
    )
    if section.count():
        section.click()
        page.get_by_role("menuitem", name=TITLES[slug]).click()
        return
    beside(lesson, TITLES[slug])


def beside(lesson, name: str) -> None:
    page = lesson.page
    page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_test_id("stSidebarNavLink").filter(has_text=name).click()
    page.get_by_test_id("stSidebarCollapseButton").get_by_role("button").click()


def step(lesson, name: str) -> None:
    lesson.page.locator(css_class(f"go.{name}")).get_by_role("button").click()


def card(lesson, slug: str) -> None:
    lesson.page.locator(f'.seqviz-card[data-slug="{slug}"]').click()


def search(lesson, typed: str) -> None:
    field = lesson.page.locator(".seqviz-home-search").get_by_role("combobox")
    field.fill(typed)
    field.press("Enter")


def place(lesson) -> int:
    """In the history of this tab."""
    return lesson.page.evaluate("navigation.currentEntry.index")


def address(lesson) -> tuple[str, dict[str, str]]:
    parts = urlsplit(lesson.page.url)
    return parts.path, dict(parse_qsl(parts.query))


def at_rest(lesson, title: str) -> None:
    lesson.titled(title)
    lesson.rest()


def set_phi(lesson) -> str:
    """Moved by one large step; the picture that it has then."""
    before = lesson.geometry("ar.process")
    lesson.slider(KEY).press("PageDown")
    lesson.page.wait_for_url(re.compile(rf"{re.escape(KEY)}=0\.7"))
    return lesson.changed("ar.process", before)


def is_as_it_was(lesson, picture: str) -> None:
    at_rest(lesson, AR)
    assert address(lesson) == ("/ar_fitting", {"lang": "en", KEY: "0.7"})
    expect(lesson.page.locator(slider_input(KEY))).to_have_value("0.7")
    assert lesson.geometry("ar.process") == picture


@pytest.mark.parametrize("width", first_only((1280, 390)))
def test_navigation_adds_one_history_step_and_restores_settings(visit, width):
    lesson = visit("ar_fitting", {"lang": "en"}, viewport={"width": width, "height": 844})
    page = lesson.page
    picture = set_phi(lesson)

    def to_home() -> None:
        if width > 700:
            page.get_by_test_id("stTopNavLink").first.click()
        else:
            beside(lesson, Text("en")("frame.map"))

    methods = [
        (lambda: step(lesson, "next"), TEXT, lambda: step(lesson, "previous")),
        (lambda: menu(lesson, "gates"), GATES, lambda: menu(lesson, "ar_fitting")),
        (to_home, HOME, lambda: card(lesson, "ar_fitting")),
        (to_home, HOME, lambda: search(lesson, AR)),
    ]
    for leave, there, arrivals in methods:
        before = place(lesson)
        leave()
        at_rest(lesson, there)
        assert address(lesson)[1] == {"lang": "en"}
        assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollTop") == 0
        assert place(lesson) == before + 1
        page.go_back()
        is_as_it_was(lesson, picture)
        page.go_forward()
        at_rest(lesson, there)
        arrivals()
        is_as_it_was(lesson, picture)
        assert place(lesson) == before + 2
        page.go_back()
        at_rest(lesson, there)
        page.go_back()
        is_as_it_was(lesson, picture)


@pytest.mark.nightly
def test_navigation_back_undoes_language_change_and_settings(visit):
    lesson = visit("ar_fitting", {"lang": "en"})
    page = lesson.page
    set_phi(lesson)
    before = place(lesson)
    page.get_by_role("radio", name="中文").click()
    at_rest(lesson, Text("zh")("ar_fitting.title"))
    page.locator(css_class("go.next")).get_by_role("button").click()
    at_rest(lesson, Text("zh")("text.title"))
    assert place(lesson) == before + 2
    for title, query, phi in (
        (Text("zh")("ar_fitting.title"), {"lang": "zh", KEY: "0.7"}, "0.7"),
        (AR, {"lang": "en", KEY: "0.7"}, "0.7"),
        (AR, {"lang": "en"}, "0.8"),
    ):
        page.go_back()
        at_rest(lesson, title)
        assert address(lesson) == ("/ar_fitting", query)
        expect(page.locator(slider_input(KEY))).to_have_value(phi)


@pytest.mark.nightly
def test_navigation_link_with_settings_overrides_saved_ones(visit):
    """As the way from the figure at home into its lesson."""
    key = "ar.process.phi"
    lesson = visit("ar_fitting", {"lang": "en", key: "0.5", "ar.process.n": "200"})
    at_rest(lesson, TITLES["ar_fitting"])
    lesson.page.get_by_test_id("stTopNavLink").first.click()
    at_rest(lesson, HOME)
    lesson.page.locator(".seqviz-home-bench input[type=range]").press("PageUp")
    entry = lesson.page.locator(".seqviz-home-bench .lesson-link")
    expect(entry).to_have_attribute("href", re.compile(re.escape(key)))
    linked = dict(parse_qsl(urlsplit(entry.get_attribute("href")).query))
    before = place(lesson)
    entry.click()
    at_rest(lesson, TITLES["ar_fitting"])
    assert address(lesson)[1] == linked
    assert place(lesson) == before + 1
    expect(lesson.page.locator(slider_input(key))).to_have_value(linked[key])


def test_navigation_keeps_upload_and_answers_within_session(visit):
    lesson = visit("ar_fitting", {"lang": "en", "ar.real.source": "csv"})
    page = lesson.page
    field = lesson.by_key("ar.real.csv")
    field.locator("input[type=file]").set_input_files(CSV)
    lesson.geometry("ar.real")
    column = page.locator(css_class("ar.real.column"))
    first = lesson.geometry("ar.real")
    column.evaluate("(menu) => menu.scrollIntoView({block: 'center'})")
    lesson.rest()
    column.get_by_role("combobox").click()
    page.get_by_role("option", name="other").click()
    picture = lesson.changed("ar.real", first)
    answer = page.locator(css_class("ar.exercise.memory.0.field")).locator("input")
    answer.fill("4")
    answer.press("Enter")
    expect(page.locator(css_class("ar.exercise.memory.done"))).to_be_visible()
    question = page.locator(css_class("ar.predict.decay"))
    question.locator("label").filter(has=page.locator("input")).nth(1).click()
    expect(page.locator(css_class("ar.predict.decay.done"))).to_be_attached()

    def is_there() -> None:
        at_rest(lesson, AR)
        lesson.by_key("ar.real.csv")
        expect(page.get_by_text(Text("en")("frame.file_in_use", name="own.csv"))).to_be_visible()
        expect(column.locator("input").first).to_have_value("other")
        assert lesson.geometry("ar.real") == picture
        expect(answer).to_have_value("4")
        expect(page.locator(css_class("ar.exercise.memory.done"))).to_be_visible()
        expect(page.locator(css_class("ar.predict.decay.done"))).to_be_attached()

    step(lesson, "next")
    at_rest(lesson, TEXT)
    page.go_back()
    is_there()
    page.go_forward()
    at_rest(lesson, TEXT)
    step(lesson, "previous")
    is_there()
    page.get_by_test_id("stTopNavLink").first.click()
    at_rest(lesson, HOME)
    card(lesson, "ar_fitting")
    is_there()
    another = visit("ar_fitting", {"lang": "en", "ar.real.source": "csv"})
    another.by_key("ar.real.csv")
    another.rest()
    expect(another.page.get_by_text("own.csv")).to_have_count(0)
    page.bring_to_front()
    page.locator(css_class("ar.real.csv.remove")).get_by_role("button").click()
    expect(column).to_have_count(0)
    expect(page.get_by_text(Text("en")("frame.file_in_use", name="own.csv"))).to_have_count(0)


def test_navigation_keeps_own_text_and_presenter_mode(visit):
    key, own = "tx.cutters.text", "naïve 你好 & 100%?"
    lesson = visit("text", {"lang": "en", "present": "true"})
    page = lesson.page
    at_rest(lesson, TEXT)
    field = lesson.by_key(key).locator("input")
    field.fill(own)
    field.press("Enter")
    page.wait_for_url(re.compile(re.escape(key)))
    lesson.rest()
    left = address(lesson)
    assert left == ("/text", {"lang": "en", "present": "true", key: own})
    before = place(lesson)
    step(lesson, "next")
    page.wait_for_url(lambda url: "/text" not in url)
    lesson.rest()
    assert address(lesson)[1] == {"lang": "en", "present": "true"}
    step(lesson, "previous")
    at_rest(lesson, TEXT)
    assert (address(lesson), place(lesson)) == (left, before + 2)
    expect(field).to_have_value(own)


@pytest.mark.nightly
def test_navigation_search_result_opens_card_of_visited_lesson(visit):
    lesson = visit("bert_accuracy", {"lang": "en"})
    page = lesson.page
    at_rest(lesson, TITLES["bert_accuracy"])
    name = "heads"
    assert name not in bert_accuracy.core
    bench = page.locator(css_class(f"bench-{name}"))
    page.locator(css_class(f"card-{name}")).locator("summary").first.click()
    expect(bench).not_to_be_visible()
    page.get_by_test_id("stTopNavLink").first.click()
    at_rest(lesson, HOME)
    search(lesson, Text("en")(f"bert_accuracy.bench.{name}").replace("$", ""))
    at_rest(lesson, TITLES["bert_accuracy"])
    expect(bench).to_be_in_viewport()
