"""In the lecture hall: the keys of a clicker wherever the focus is, figures after every change.

With the notes (N), where they go from bench to bench; slides are in `test_browser_slides.py`.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from testing.chromium import css_class
from tests.browser.lesson_page import LessonPage
from tests.browser.test_browser_layout import BESIDE, COVERED, MORE, framed

HALL = {"width": 1920, "height": 1080}
# Which bench stands at the upper edge, -1 for none of them.
AT = """() => [...document.querySelectorAll('[class*="st-key-bench-"]')]
    .map((bench) => bench.getBoundingClientRect().top).findIndex((top) => top >= 0 && top < 16)"""
UP = "() => { document.activeElement.blur(); document.querySelector('.stMain').scrollTo(0, 0); }"
# A group of radios or pills gives the focus to the one that had it last.
FOCUS = """(element) => {
    element.focus({ preventScroll: true });
    const group = element.closest("[role=radiogroup], [role=toolbar]");
    return document.activeElement === element || Boolean(group?.contains(document.activeElement));
}"""
# What can have the focus and does nothing with the keys of a clicker.
PRESSED = {
    "switch": '.st-key-present input[type="checkbox"]',
    "language": '.st-key-lang [aria-checked="true"]',
    "segment": '[class*="st-key-bench-"] [role="radio"]',
    "pill": '[role="toolbar"] button',
    "option": '[data-testid="stRadioOption"] input',
    "button": ".st-key-ga-one-data button",
    "popover": ".st-key-share button",
    "help": '[data-testid="stTooltipHoverTarget"] button',
    "expander": "summary",
    "link": ".stMain a[href='#print']",
    "figure": ".seqviz-chart[tabindex]",
    "slider": 'input[type="range"]',
}
OWN_ARROWS = {"language", "segment", "pill", "option", "slider"}
TYPED = {
    "exact value": ".seqviz-slider input.exact",
    "text": '[data-testid="stTextInputField"]',
    "menu": '[role="combobox"]',
}


def at(lesson: LessonPage) -> int:
    lesson.rest()
    return lesson.page.evaluate(AT)


@pytest.mark.nightly
def test_clicker_walks_benches_right_after_toggle_click(visit):
    lesson = visit("gates", {"lang": "en"}, viewport={"width": 1280, "height": 720})
    lesson.whole()
    lesson.by_key("present").locator("label").click()
    lesson.page.get_by_test_id("stHeader").wait_for(state="hidden")
    lesson.whole()
    lesson.rest()
    expect(lesson.page.locator('.st-key-present input[type="checkbox"]')).to_be_focused()
    lesson.page.keyboard.press("a")
    for bench in range(4):
        lesson.page.keyboard.press("PageDown")
        assert at(lesson) == bench
    lesson.page.keyboard.press("PageUp")
    assert at(lesson) == 2


@pytest.fixture(scope="module")
def hall(visitors):
    with visitors.watched() as visit:
        lesson = visit("gates", {"lang": "en", "present": "true"}, viewport=HALL)
        lesson.whole()
        lesson.rest()
        lesson.page.keyboard.press("a")
        yield lesson


def test_clicker_walks_from_any_focused_control(hall):
    page, wrong = hall.page, []
    for name, selector in PRESSED.items():
        page.evaluate(UP)
        # The last one: the first field belongs to the slider watched here, and takes ten steps.
        assert page.locator(selector).locator("visible=true").last.evaluate(FOCUS), name
        page.keyboard.press("PageDown")
        if at(hall) != 0:
            wrong.append(name)
    assert not wrong


def test_arrow_keys_move_last_slider_unless_focus_uses_them(hall):
    page, wrong = hall.page, []
    slider = hall.slider("ga.one.step")  # temperature is in the closed expander
    for index, (name, selector) in enumerate(PRESSED.items()):
        page.evaluate(UP)
        slider.evaluate("(one) => one.focus({ preventScroll: true })")
        before = slider.input_value()
        focus = page.locator(selector).locator("visible=true").first
        assert focus.evaluate(FOCUS), name
        if name == "slider":
            continue
        page.keyboard.press(("ArrowRight", "ArrowLeft")[index % 2])  # it has an end
        hall.rest()
        if (slider.input_value() != before) == (name in OWN_ARROWS):
            wrong.append(name)
    assert not wrong


@pytest.mark.nightly
def test_text_field_keeps_page_and_arrow_keys(hall):
    page, wrong = hall.page, []
    slider = hall.slider("ga.one.step")
    for name, selector in TYPED.items():
        page.evaluate(UP)
        before = slider.input_value()
        # The last one: the first field belongs to the slider watched here, and takes ten steps.
        assert page.locator(selector).locator("visible=true").last.evaluate(FOCUS), name
        for key in ("PageDown", "ArrowRight"):
            page.keyboard.press(key)
        if at(hall) != -1 or slider.input_value() != before:
            wrong.append(name)
    assert not wrong


@pytest.mark.nightly
def test_dialog_keeps_page_and_arrow_keys(hall):
    page = hall.page
    page.evaluate(UP)
    top, slider = (
        "() => document.querySelector('.stMain').scrollTop",
        hall.slider("ga.one.step"),
    )
    hall.by_key("ga.one.code").locator("button").click()
    page.get_by_role("dialog").wait_for()
    before, value = page.evaluate(top), slider.input_value()
    for key in ("PageDown", "ArrowRight"):
        page.keyboard.press(key)
    hall.rest()
    assert (page.evaluate(top), slider.input_value()) == (before, value)
    page.keyboard.press("Escape")
    page.get_by_role("dialog").wait_for(state="detached")
    page.evaluate(UP)
    page.keyboard.press("PageDown")
    assert at(hall) == 0


def test_figures_stay_uncovered_after_slider_reload_and_resize(hall):
    def clear() -> None:
        hall.whole()
        hall.rest()
        observed, wrong = hall.page.evaluate(COVERED, BESIDE)
        assert not wrong
        assert observed > 6

    slider = hall.slider("ga.one.step")
    slider.focus()
    slider.press("ArrowRight")
    hall.heard("ga.one")
    clear()
    hall.page.reload()
    clear()
    hall.page.set_viewport_size({"width": 560, "height": 900})
    hall.rest()
    wrong = [item for item in hall.page.evaluate(COVERED, BESIDE)[1] if "small" not in item]
    assert not wrong


@pytest.mark.nightly  # by day from every kind of control
def test_clicker_walks_from_iframe_and_sketch_keeps_arrow_keys(visit):
    lesson = visit("attention", {"present": "true", **MORE["attention"]}, viewport=HALL)
    lesson.whole()
    lesson.page.keyboard.press("a")  # a slide shows its question first
    frame = framed(lesson)
    lesson.rest()
    frame.click(position={"x": 300, "y": 10})
    assert lesson.page.evaluate("document.activeElement.tagName") == "IFRAME"
    lesson.page.evaluate("document.querySelector('.stMain').scrollTo(0, 0)")
    lesson.page.keyboard.press("PageDown")
    assert at(lesson) == 0
    pad = lesson.page.locator(".seqviz-sketch .pad").first
    assert pad.evaluate(FOCUS)
    values = "() => [...document.querySelectorAll('input[type=range]')].map(({ value }) => value)"
    before = lesson.page.evaluate(values)
    lesson.page.keyboard.press("ArrowRight")
    lesson.rest()
    assert lesson.page.evaluate(values) == before
    expect(pad).to_be_focused()


@pytest.mark.nightly
def test_clicker_walks_past_closed_card(visit):
    lesson = visit("bert_accuracy", {"present": "true", "lang": "en"}, viewport=HALL)
    card = lesson.page.locator(css_class("card-compare")).locator("summary").first
    lesson.geometry("ba.knife")
    card.click()
    lesson.page.keyboard.press("a")
    expect(lesson.page.locator(css_class("bench-compare"))).not_to_be_visible()
    lesson.page.locator(css_class("bench-looks")).evaluate("(one) => one.scrollIntoView()")
    lesson.page.keyboard.press("PageDown")
    lesson.rest()
    top = lesson.page.locator(css_class("bench-fill")).bounding_box()["y"]
    assert 0 <= top < 16
