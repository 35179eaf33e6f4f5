"""Dark, narrow, and in the lecture hall."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from seqviz.content import catalog
from seqviz.core.i18n import Text
from seqviz.plotting.style import DARK, LIGHT
from tests.browser.lesson_page import with_a_curve
from tests.tiers import first_only

WHITE, NIGHT = "rgb(255, 255, 255)", "rgb(17, 22, 29)"  # the theme's two backgrounds
UPRIGHT, SIDEWAYS = {"width": 420, "height": 800}, {"width": 844, "height": 390}
TOUCHED = {"has_touch": True, "is_mobile": True}
# What a finger presses in a bench, and how large it is where that is less than it should be. The
# name of an input is part of it, and what is outside of a help's circle but near it belongs to it.
TOO_SMALL = """(least) => {
    const what = ".stMain [class*=st-key-bench-] :is(button, summary, input, select, textarea)";
    const seen = [...document.querySelectorAll(what)].filter((e) => e.checkVisibility());
    const box = (e) => {
        const { width, height } = (e.closest("label") ?? e).getBoundingClientRect();
        const around = parseFloat(getComputedStyle(e, "::before").inset) || 0;
        return [width - 2 * around, height - 2 * around].map(Math.round);
    };
    const helps = (e) => e.classList.contains("stTooltipHoverTarget");
    return seen.filter((e) => !helps(e) && Math.min(...box(e)) < least)
        .map((e) => [e.tagName, e.closest("[data-testid]")?.dataset.testid, ...box(e)].join(" "));
}"""
each_lesson = pytest.mark.parametrize(
    "record", first_only(catalog.LESSONS), ids=lambda record: record.slug
)


def first_bench(record: catalog.LessonRecord) -> str:
    return f"{record.code}.{record.first[0]}"


def background(lesson) -> str:
    return lesson.page.locator(".stApp").evaluate("(app) => getComputedStyle(app).backgroundColor")


def first_line(lesson, bench: str) -> str:
    """The color of the chart's first line, as the palette writes it."""
    line = lesson.figure(bench).locator(".mlayer .js-line").first
    rgb = line.evaluate("(line) => getComputedStyle(line).stroke")
    return "#{:02X}{:02X}{:02X}".format(*map(int, re.findall(r"\d+", rgb)[:3]))


@each_lesson
def test_chart_follows_dark_and_light_color_scheme(visit, record):
    lesson = visit(record.slug, color_scheme="dark")
    bench = with_a_curve(record)
    lesson.whole()
    lesson.geometry(bench)
    assert background(lesson) == NIGHT
    role = DARK.colors().index(first_line(lesson, bench))
    line = lesson.figure(bench).locator(".mlayer .js-line").first
    for scheme, palette, page in (("light", LIGHT, WHITE), ("dark", DARK, NIGHT)):
        lesson.page.emulate_media(color_scheme=scheme)
        expected = palette.colors()[role]
        expect(line).to_have_css("stroke", f"rgb{tuple(bytes.fromhex(expected[1:]))}")
        assert background(lesson) == page


def on_a_phone(lessons: int = 1) -> pytest.MarkDecorator:
    """For tests that look at the one visit of each lesson on a phone."""
    marked = first_only(catalog.LESSONS, retained=lessons)
    return pytest.mark.parametrize("visited", marked, indirect=True, ids=lambda record: record.slug)


@pytest.fixture(scope="module")
def visited(request, visitors):
    """One visitor of a lesson on a phone."""
    with visitors.watched() as visit:
        yield visit(request.param.slug, {"lang": "en"}, **TOUCHED, viewport=UPRIGHT), request.param


@pytest.fixture
def phone(visited):
    """It is held upright."""
    turned(*visited, UPRIGHT)
    return visited


def turned(lesson, record: catalog.LessonRecord, size: dict[str, int]) -> None:
    lesson.page.set_viewport_size(size)
    lesson.page.locator(".stMain").evaluate("(page) => page.scrollTo(0, 0)")
    lesson.geometry(first_bench(record))


@on_a_phone()
def test_phone_touch_targets_are_at_least_44_px(phone):
    lesson, _ = phone
    lesson.whole()
    for size in (UPRIGHT, SIDEWAYS):
        turned(*phone, size)
        assert lesson.page.evaluate(TOO_SMALL, 44) == []


@on_a_phone()
@pytest.mark.nightly
def test_phone_stacks_figure_above_controls_without_overflow(phone):
    lesson, record = phone
    bench = first_bench(record)
    for lang, name in (("zh", "中文"), ("en", "English")):
        lesson.by_key("lang").get_by_text(name).click()
        lesson.titled(Text(lang)(f"{record.slug}.title"))
        lesson.geometry(bench)
        never_scrolls_sideways(lesson)
        lesson.slider(f"{bench}.{record.first[1]}").scroll_into_view_if_needed()
        controls = lesson.slider(f"{bench}.{record.first[1]}").bounding_box()
        assert controls["y"] > UPRIGHT["height"] / 2  # docked at the lower edge, over what scrolls
        chart = lesson.chart(bench).bounding_box()
        assert chart["x"] >= 0
        assert chart["x"] + chart["width"] <= UPRIGHT["width"]


def never_scrolls_sideways(lesson) -> None:
    for position in ("html", ".stMain"):
        wide, observed = lesson.page.locator(position).evaluate(
            "(e) => [e.scrollWidth, e.clientWidth]"
        )
        assert wide <= observed, position


@on_a_phone(lessons=2)  # the first stacks its panels, the second has but one
def test_phone_keeps_figure_in_view_while_slider_moves(phone):
    lesson, record = phone
    bench = first_bench(record)
    slider = lesson.slider(f"{bench}.{record.first[1]}")
    slider.evaluate("(e) => e.scrollIntoView({block: 'end'})")
    lesson.rest()
    # On until the figure has come to where it stays, with its share of what the header leaves.
    figure, stays = lesson.figure(bench).bounding_box(), 60 + 0.45 * UPRIGHT["height"]
    further = max(0, figure["y"] + figure["height"] - stays)
    lesson.page.locator(".stMain").evaluate("(page, by) => page.scrollBy(0, by)", further)
    figure, handle = lesson.figure(bench).bounding_box(), slider.bounding_box()
    lower = figure["y"] + figure["height"]
    assert lower <= handle["y"] < UPRIGHT["height"]
    assert 0.25 * UPRIGHT["height"] < lower <= stays + 1
    # What scrolls on behind it does not show through.
    box = lesson.figure(bench).locator("xpath=..")
    expect(box).to_have_css("background-color", WHITE)


@on_a_phone()
@pytest.mark.nightly
def test_phone_landscape_places_figure_beside_controls(phone):
    lesson, record = phone
    turned(*phone, SIDEWAYS)
    bench = first_bench(record)
    slider = lesson.slider(f"{bench}.{record.first[1]}")
    lesson.figure(bench).evaluate("(e) => e.scrollIntoView({block: 'end'})")
    slider.evaluate("(e) => e.scrollIntoView({block: 'nearest'})")
    lesson.rest()
    figure, handle = lesson.figure(bench).bounding_box(), slider.bounding_box()
    assert figure["x"] + figure["width"] <= handle["x"]
    assert figure["y"] > 59  # below the header
    assert figure["y"] + figure["height"] < SIDEWAYS["height"] + 1
    assert 60 < handle["y"] < handle["y"] + handle["height"] < SIDEWAYS["height"] + 1
    never_scrolls_sideways(lesson)


@each_lesson
def test_presenter_mode_hides_header_and_enlarges_chart(visit, record):
    window = {"width": 1280, "height": 900}
    lesson = visit(record.slug, {"present": "true"}, viewport=window)
    bench = first_bench(record)
    lesson.geometry(bench)
    expect(lesson.page.get_by_test_id("stHeader")).to_be_hidden()
    assert lesson.chart(bench).bounding_box()["height"] > 0.4 * 900
    size = lesson.page.locator("html").evaluate("(e) => parseFloat(getComputedStyle(e).fontSize)")
    assert size == pytest.approx(min(0.026 * 900, 0.0175 * 1280))


def tops(lesson) -> list[float]:
    """Where the benches begin, below the upper edge of the window."""
    benches = lesson.page.locator('[class*="st-key-bench-"]')
    return benches.evaluate_all("(all) => all.map((bench) => bench.getBoundingClientRect().top)")


def at_the_edge(top: float) -> bool:
    return 0 <= top < 16


@pytest.mark.nightly
def test_presenter_mode_arrows_move_the_slider_used_last(visit):
    lesson = visit("ar_fitting", {"present": "true", "lang": "en"})
    page, keys = lesson.page, lesson.page.keyboard
    lesson.whole()
    lesson.rest()
    keys.press("a")  # the whole lesson: a slide shows its question first
    for _ in range(2):  # to the line by hand, then to the series
        keys.press("PageDown")
        lesson.rest()
    assert at_the_edge(tops(lesson)[1])
    phi = lesson.slider("ar.process.phi")
    keys.press("ArrowRight")  # nothing has the focus: the first slider in sight
    expect(lesson.slider("ar.process.order")).to_have_value("2")
    keys.press("ArrowLeft")
    lesson.rest()
    phi.press("ArrowLeft")
    expect(phi).to_have_value("0.79")
    page.evaluate("document.activeElement.blur()")
    keys.press("ArrowLeft")  # the one used last
    expect(phi).to_have_value("0.78")
    lesson.by_key("ar.process.phi.slider").locator("input.exact").focus()
    for key in ("PageDown", "ArrowLeft"):  # somebody types: the keys of the field, ten steps
        keys.press(key)
    lesson.rest()
    assert at_the_edge(tops(lesson)[1])
    expect(phi).to_have_value("0.68")
