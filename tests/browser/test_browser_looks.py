"""Dark, narrow, and in the lecture hall."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect
from rings import one_of

from seqviz import catalog
from seqviz.figures.grammar.style import DARK, LIGHT
from seqviz.text import Text

WHITE, NIGHT = "rgb(255, 255, 255)", "rgb(17, 22, 29)"  # the theme's two backgrounds
PHONE = {"width": 420, "height": 800}
each_lesson = pytest.mark.parametrize(
    "record", one_of(catalog.LESSONS), ids=lambda record: record.slug
)


def first_bench(record: catalog.Lesson) -> str:
    return f"{record.code}.{record.first[0]}"


def background(lesson) -> str:
    return lesson.page.locator(".stApp").evaluate("(app) => getComputedStyle(app).backgroundColor")


def first_line(lesson, bench: str) -> str:
    """The color of the chart's first line, as the palette writes it."""
    line = lesson.figure(bench).locator(".mlayer .js-line").first
    rgb = line.evaluate("(line) => getComputedStyle(line).stroke")
    return "#{:02X}{:02X}{:02X}".format(*map(int, re.findall(r"\d+", rgb)[:3]))


@each_lesson
def test_a_dark_window_gets_dark_charts_and_they_follow_it_to_light_and_back(visit, record):
    lesson = visit(record.slug, color_scheme="dark")
    bench = first_bench(record)
    lesson.geometry(bench)
    assert background(lesson) == NIGHT
    role = DARK.colors().index(first_line(lesson, bench))
    line = lesson.figure(bench).locator(".mlayer .js-line").first
    for scheme, palette, page in (("light", LIGHT, WHITE), ("dark", DARK, NIGHT)):
        lesson.page.emulate_media(color_scheme=scheme)
        wanted = palette.colors()[role]
        expect(line).to_have_css("stroke", f"rgb{tuple(bytes.fromhex(wanted[1:]))}", timeout=10_000)
        assert background(lesson) == page


@each_lesson
def test_a_phone_stacks_the_figure_above_its_controls_and_never_scrolls_sideways(visit, record):
    lesson = visit(record.slug, viewport=PHONE)
    lesson.titled(Text("en")(f"{record.slug}.title"))
    lesson.whole()
    fits_a_phone(lesson, record)
    lesson.by_key("lang").get_by_text("中文").click()
    lesson.titled(Text("zh")(f"{record.slug}.title"))
    lesson.page.wait_for_url("**lang=zh*")
    fits_a_phone(lesson, record)


def fits_a_phone(lesson, record: catalog.Lesson) -> None:
    bench = first_bench(record)
    lesson.geometry(bench)
    for place in ("html", ".stMain"):
        wide, seen = lesson.page.locator(place).evaluate("(e) => [e.scrollWidth, e.clientWidth]")
        assert wide <= seen, place
    figure = lesson.figure(bench).bounding_box()
    controls = lesson.slider(f"{bench}.{record.first[1]}").bounding_box()
    assert figure["y"] + figure["height"] <= controls["y"]
    chart = lesson.chart(bench).bounding_box()
    assert chart["x"] >= 0
    assert chart["x"] + chart["width"] <= PHONE["width"]


@each_lesson
def test_on_a_phone_the_figure_stays_in_sight_while_its_slider_is_moved(visit, record):
    lesson = visit(record.slug, viewport=PHONE)
    bench = first_bench(record)
    lesson.geometry(bench)
    slider = lesson.slider(f"{bench}.{record.first[1]}")
    slider.evaluate("(e) => e.scrollIntoView({block: 'end'})")
    lesson.rest()
    figure, handle = lesson.figure(bench).bounding_box(), slider.bounding_box()
    lower = figure["y"] + figure["height"]
    assert lower <= handle["y"] < PHONE["height"]
    assert lower > 0.25 * PHONE["height"]
    assert lower - 60 <= 0.46 * PHONE["height"]  # below the header it takes its share at most


@each_lesson
def test_presenter_mode_hides_the_header_and_gives_the_chart_most_of_the_window(visit, record):
    window = {"width": 1280, "height": 900}
    lesson = visit(record.slug, {"present": "true"}, viewport=window)
    bench = first_bench(record)
    lesson.geometry(bench)
    expect(lesson.page.get_by_test_id("stHeader")).to_be_hidden()
    # 60 % are meant; the chart may leave a few pixels of its frame
    assert lesson.chart(bench).bounding_box()["height"] == pytest.approx(0.6 * 900, rel=0.05)
    assert lesson.page.locator("html").evaluate("(e) => getComputedStyle(e).fontSize") == "20px"
