"""Dark, narrow, and in the lecture hall."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from seqviz import catalog
from seqviz.figures.style import DARK, LIGHT
from seqviz.text import LANGUAGES

WHITE, NIGHT = "rgb(255, 255, 255)", "rgb(17, 22, 29)"  # the theme's two backgrounds
each_lesson = pytest.mark.parametrize("record", catalog.LESSONS, ids=lambda record: record.slug)


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
def test_a_dark_window_gets_a_dark_page_and_dark_charts(visit, record):
    lesson = visit(record.slug, color_scheme="dark")
    bench = first_bench(record)
    lesson.geometry(bench)
    assert background(lesson) == NIGHT
    assert first_line(lesson, bench) in DARK.colors()


@each_lesson
def test_a_chart_follows_the_window_from_light_to_dark(visit, record):
    lesson = visit(record.slug)
    bench = first_bench(record)
    lesson.geometry(bench)
    assert background(lesson) == WHITE
    role = LIGHT.colors().index(first_line(lesson, bench))
    lesson.page.emulate_media(color_scheme="dark")
    wanted = DARK.colors()[role]
    line = lesson.figure(bench).locator(".mlayer .js-line").first
    expect(line).to_have_css("stroke", f"rgb{tuple(bytes.fromhex(wanted[1:]))}", timeout=10_000)
    assert background(lesson) == NIGHT


@pytest.mark.parametrize("lang", LANGUAGES)
@each_lesson
def test_a_phone_stacks_the_figure_above_its_controls_and_never_scrolls_sideways(
    visit, record, lang
):
    phone = {"width": 420, "height": 800}
    lesson = visit(record.slug, {"lang": lang}, viewport=phone)
    bench = first_bench(record)
    lesson.geometry(bench)
    for place in ("html", ".stMain"):
        wide, seen = lesson.page.locator(place).evaluate("(e) => [e.scrollWidth, e.clientWidth]")
        assert wide <= seen, place
    figure = lesson.figure(bench).bounding_box()
    controls = lesson.by_key(f"{bench}.{record.first[1]}").bounding_box()
    assert figure["y"] + figure["height"] <= controls["y"]
    chart = lesson.chart(bench).bounding_box()
    assert chart["x"] >= 0
    assert chart["x"] + chart["width"] <= phone["width"]


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
