"""A click on a chart moves the sliders of its bench, and nothing but its bench runs again."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from testing.server import serve_page
from tests.browser.lesson_page import visitors

BENCH = "sample.place"
# The middle of a place in data units, of the first or the second panel, in pixels of the window.
# The browser cuts off fractions of a pixel: a cell of 1.3 pixels would be missed.
PIXELS = """(host, [panel, x, y]) => {
    const {xaxis, yaxis} = host._fullLayout._plots[panel];
    const box = host.getBoundingClientRect();
    const left = box.x + xaxis._offset, top = box.y + yaxis._offset;
    return [Math.round(left + xaxis.d2p(x)), Math.round(top + yaxis.d2p(y))];
}"""


@pytest.fixture(scope="module")
def sample(browser, tmp_path_factory):
    page = Path(__file__).with_name("sample_page.py").read_text("utf-8")
    folder = tmp_path_factory.mktemp("sample")
    with serve_page(folder, page) as running, visitors(browser, running) as created:
        yield created


@pytest.fixture
def page(sample):
    with sample.watched() as visit:
        lesson = visit()
        lesson.geometry(BENCH)
        yield lesson


def point(lesson, x: float, y: float, panel: str = "xy") -> None:
    """Put the mouse on a place of the chart."""
    host = lesson.figure(BENCH).locator(".js-plotly-plot")
    left, top = host.evaluate(PIXELS, [panel, x, y])
    lesson.page.mouse.move(left - 3, top - 3)
    lesson.page.mouse.move(left, top)
    lesson.rest()


def click(lesson, *position) -> None:
    point(lesson, *position)
    lesson.page.mouse.down()
    lesson.page.mouse.up()
    lesson.rest()


def settings(lesson) -> tuple[str, str]:
    return tuple(lesson.slider(f"{BENCH}.{name}").input_value() for name in ("column", "row"))


def link(lesson) -> dict[str, list[str]]:
    return parse_qs(urlsplit(lesson.page.url).query)


def test_chart_click_moves_both_sliders_and_link(page):
    assert settings(page) == ("10", "0.5")
    click(page, 30, 1.0)
    expect(page.slider(f"{BENCH}.column")).to_have_value("30")
    assert settings(page) == ("30", "1")
    assert link(page) == {f"{BENCH}.column": ["30"], f"{BENCH}.row": ["1"]}
    page.figure(BENCH).get_by_role("img", name="Cell 30, 1.0.").wait_for()
    page.page.get_by_text("1 runs of the page").wait_for()
    click(page, 20, 0.5)  # and again: one handler, not two; half of it back to the default
    assert settings(page) == ("20", "0.5")
    assert link(page) == {f"{BENCH}.column": ["20"]}


@pytest.mark.nightly
def test_chart_click_beyond_slider_clamps_to_its_end(page):
    click(page, 40, 1.5)
    assert settings(page) == ("40", "1.25")


def test_chart_click_ignores_unclickable_panel(page):
    drag = page.figure(BENCH).locator(".seqviz-chart")
    point(page, 20, 1, "x2y2")
    assert "picking" not in drag.get_attribute("class")
    sent = page.sent
    click(page, 20, 1, "x2y2")
    assert page.sent == sent
    assert settings(page) == ("10", "0.5")
    point(page, 20, 1.0)
    assert "picking" in drag.get_attribute("class")
    area = page.figure(BENCH).locator(".nsewdrag[data-subplot=xy]")
    assert area.evaluate("(area) => getComputedStyle(area).cursor") == "pointer"


@pytest.mark.nightly
def test_chart_click_on_last_committed_value_redraws(visit):
    """Meanwhile a hand has rested elsewhere, and the page has drawn nothing."""
    lesson, bench, step = visit("gates"), "ga.watch", "ga.watch.step"
    lesson.geometry(bench)
    value = lesson.by_key(f"{bench}.readouts").get_by_test_id("stMetricDelta").first
    rendered, at = value.text_content(), lesson.slider(step).input_value()
    lesson.slider(step).press("ArrowRight")
    expect(value).not_to_have_text(rendered)
    lesson.rest()
    assert lesson.page.evaluate(f"seqvizLiveBench('{bench}').nCommits") == 1
    host = lesson.figure(bench).locator(".js-plotly-plot")
    lesson.page.mouse.click(*host.evaluate(PIXELS, ["xy", int(at), 1]))
    expect(lesson.slider(step)).to_have_value(at)
    expect(value).to_have_text(rendered)
