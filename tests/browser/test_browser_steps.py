"""Chips of a bench: a click moves controls and figure, and shows the sentence of the run."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from testing.chromium import css_class, slider_input
from tests.browser.lesson_page import PICTURES, LessonPage

BENCH, PHI = "ar.process", "ar.process.phi"
RING, LIT = "[data-seqviz-ring]", ".seqviz-lit"
FADED = ".seqviz-lighting"
RETRY = 2.0  # seconds after which a page that has not answered is told again (steps.js)
COMMITS = "(bench) => seqvizLiveBench(bench).nCommits"  # which the page has not drawn
STEP = re.compile(r"[?&]ar\.process\.step=(\d)")

IN_SIGHT = """(figure) => {
    const { top, bottom } = document.querySelector(figure).getBoundingClientRect();
    return top > 0 && bottom <= window.innerHeight;
}"""


def chips(page: Page, bench: str = "process") -> Locator:
    return page.locator(f".st-key-bench-{bench} .seqviz-steps button")


def sentence(page: Page, bench: str = "process") -> Locator:
    return page.locator(f".st-key-bench-{bench} .seqviz-steps .says")


@pytest.fixture
def lesson(visit) -> Iterator[LessonPage]:
    opened = visit("ar_fitting", {"lang": "en"})
    expect(chips(opened.page)).to_have_count(3)
    opened.geometry(BENCH)
    yield opened
    opened.page.emulate_media(reduced_motion="no-preference")  # the next visitor has this page


def test_steps_click_moves_slider(lesson):
    """As in a drag: frames are painted on the way, and the page is told once."""
    page, before = lesson.page, lesson.geometry(BENCH)
    frames, commits = page.evaluate(PICTURES, BENCH), page.evaluate(COMMITS, BENCH)
    page.locator(".st-key-bench-process .seqviz-steps").evaluate(
        "one => one.scrollIntoView({ block: 'end' })"  # the figure is below the window
    )
    started = time.monotonic()
    chips(page).nth(0).click()
    expect(sentence(page)).to_contain_text("this series has −0.840")
    page.wait_for_function(IN_SIGHT, arg=css_class(f"{BENCH}-figure"))
    expect(page.locator(slider_input(PHI))).to_have_value("-0.8")
    expect(page.locator(css_class(f"{PHI}.slider")).and_(page.locator(RING))).to_be_visible()
    expect(page.locator(RING)).to_have_count(1)
    assert page.locator(LIT).count() > 0
    lesson.heard(BENCH)
    assert page.evaluate(PICTURES, BENCH) >= frames + 2  # one on the way, and the last
    assert (
        page.evaluate("(bench) => seqvizLiveBench(bench).frames.at(-1).values", BENCH)[PHI]
        == "-0.8"
    )
    expect(page).to_have_url(re.compile(r"ar\.process\.phi=-0\.8"))
    told = page.evaluate(COMMITS, BENCH) - commits  # 0 where the page draws, for the answer is late
    assert told <= 1 + (time.monotonic() - started) / RETRY
    assert STEP.search(page.url)[1] == "1"
    assert lesson.changed(BENCH, before)
    expect(page.locator(RING)).to_have_count(0)
    expect(page.locator(f"{FADED}, {LIT}")).to_have_count(0)


def test_steps_click_sets_other_controls_and_resets_sliders(lesson):
    """A step has all its settings, whichever step was before; the bench is drawn once."""
    page = lesson.page
    chips(page).nth(1).click()
    expect(sentence(page)).to_contain_text("The sample ACF falls")
    chips(page).nth(2).click()
    expect(sentence(page)).to_contain_text("The same values")
    expect(page.locator(slider_input(PHI))).to_have_value("0.8")
    expect(lesson.by_key("ar.process.shuffle").locator("input")).to_be_checked()
    expect(page).to_have_url(re.compile(r"ar\.process\.shuffle=true"))
    assert "phi" not in page.url
    chips(page).nth(0).click()
    expect(sentence(page)).to_contain_text("this series has −0.840")
    expect(lesson.by_key("ar.process.shuffle").locator("input")).not_to_be_checked()
    expect(page).to_have_url(STEP)
    assert "shuffle" not in page.url


@pytest.mark.nightly
def test_steps_keyboard_takes_step(lesson):
    page = lesson.page
    group = page.locator(".st-key-bench-process").get_by_role("group", name="Try this")
    chip = group.get_by_role("button", name="Shuffle the series")
    expect(chip).to_have_attribute("aria-pressed", "false")
    chips(page).nth(1).focus()
    page.keyboard.press("Tab")
    expect(chip).to_be_focused()
    page.keyboard.press("Enter")
    expect(sentence(page)).to_contain_text("The same values")
    expect(sentence(page)).to_have_attribute("aria-live", "polite")
    expect(chip).to_be_focused()
    expect(group.get_by_role("button", name="Shuffle the series (done)")).to_have_attribute(
        "aria-pressed", "true"
    )


@pytest.mark.nightly
def test_steps_other_settings_end_step(lesson):
    """The sentence is about its settings: it goes when the slider moves on, the tick stays."""
    page = lesson.page
    chips(page).nth(0).click()
    expect(page).to_have_url(STEP)
    lesson.heard(BENCH)
    lesson.slider(PHI).focus()
    lesson.slider(PHI).press("ArrowRight")
    expect(sentence(page)).to_be_hidden()
    expect(page).not_to_have_url(STEP)
    expect(chips(page).nth(0)).to_have_attribute("aria-pressed", "false")
    expect(chips(page).nth(0)).to_have_class("done")


def test_steps_link_opens_step(visit):
    """A link with the step alone: its settings are completed."""
    lesson = visit("ar_fitting", {"lang": "zh", "ar.process.step": "3"})
    page = lesson.page
    expect(sentence(page)).to_contain_text("值还是那些值")
    expect(lesson.by_key("ar.process.shuffle").locator("input")).to_be_checked()
    expect(chips(page).nth(2)).to_have_attribute("aria-pressed", "true")
    expect(page).to_have_url(re.compile(r"ar\.process\.shuffle=true"))


@pytest.mark.nightly
def test_steps_reduced_motion_sets_slider_at_once(lesson):
    page = lesson.page
    page.emulate_media(reduced_motion="reduce")
    frames = page.evaluate(PICTURES, BENCH)
    chips(page).nth(0).click()
    expect(sentence(page)).to_contain_text("this series has −0.840")
    expect(page.locator(RING)).to_have_count(1)
    expect(page.locator(FADED)).to_have_count(0)
    assert page.evaluate(PICTURES, BENCH) == frames + 1


def test_steps_teacher_step_reaches_student(room):
    room.at("ar_fitting", BENCH)
    teacher, student = room.teacher.page, room.student.page
    chips(teacher).nth(0).click()
    expect(sentence(student)).to_contain_text("这个序列在滞后 1 的相关是 −0.840")
    expect(student.locator(slider_input(PHI))).to_have_value("-0.8")
    expect(chips(student).nth(0)).to_have_attribute("aria-pressed", "true")
    chips(teacher).nth(2).click()
    expect(sentence(student)).to_contain_text("值还是那些值")
    expect(student.locator(slider_input(PHI))).to_have_value("0.8")


@pytest.mark.nightly
def test_steps_work_beside_a_control_named_steps(visit):
    """The component once had the key of that control."""
    lesson = visit("vanishing_gradients", {"lang": "en"})
    lesson.whole()
    lesson.rest()
    page = lesson.page
    page.locator(".st-key-bench-back").scroll_into_view_if_needed()
    expect(chips(page, "back").first).to_be_visible()
    for number in range(chips(page, "back").count()):
        chips(page, "back").nth(number).click()
        expect(sentence(page, "back")).to_have_text(re.compile(r"\d"))
        expect(page).to_have_url(re.compile(rf"vg\.back\.(step|try)={number + 1}"))
    expect(page.get_by_test_id("stException")).to_have_count(0)
