"""Commit, then see: answering lifts the veil, on one's own and in a room."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from seqviz.core.i18n import Text
from tests.browser.room_page import a_room

WORDS = Text("en")
FORCE = ".st-key-bench-force"
QUESTION = ".st-key-ga-predict-force-question"
CURVES = f"{FORCE} .main-svg .scatterlayer .trace .lines path"


@pytest.fixture
def visit(guided_visitors):
    with guided_visitors.watched() as open_page:
        yield open_page


def options() -> list[str]:
    return WORDS.items("gates.predict.force.options")


def opened(visit):
    page = visit("gates", {"lang": "en"}).page
    page.locator(FORCE).scroll_into_view_if_needed()
    expect(page.locator(f"{FORCE} .main-svg").first).to_be_visible()
    expect(page.locator(FORCE)).to_contain_text(WORDS("frame.veiled"))
    return page


def test_veil_lifts_after_second_try(visit):
    page = opened(visit)
    right = int(WORDS("gates.predict.force.answer"))
    wrong = options()[right - 1]
    page.locator(QUESTION).get_by_text(wrong, exact=True).click()
    expect(page.locator(QUESTION)).to_contain_text(WORDS("frame.try_again"))
    assert page.locator(CURVES).count() == 0
    page.locator(QUESTION).get_by_text(options()[right], exact=True).click()
    expect(page.locator(FORCE)).to_contain_text(WORDS("frame.predicted", answer=options()[right]))
    expect(page.locator(CURVES).first).to_be_attached()
    expect(page.locator(FORCE)).not_to_contain_text(WORDS("frame.veiled"))


def test_answered_veil_lights_up_chosen_option_in_figure(visit):
    page = visit("positions", {"lang": "en"}).page
    bench = ".st-key-bench-distance"
    card = page.locator(".st-key-card-distance")
    card.locator("summary").first.click()
    page.locator(bench).scroll_into_view_if_needed()
    question = page.locator(".st-key-po-predict-neighbors-question")
    options = WORDS.items("positions.predict.neighbors.options")
    for option in options[1], options[0]:
        question.get_by_text(option, exact=True).click()
    sentence = page.locator(".seqviz-answer button")
    expect(sentence).to_contain_text(WORDS("frame.predicted", answer=options[0]))
    mark = page.locator(f"{bench} .seqviz-step-lights .axis")
    expect(mark).to_be_visible()
    expect(mark).to_have_count(0)  # it goes out
    sentence.click()
    expect(mark).to_be_visible()


def test_veil_lifts_on_skip_and_stays_lifted_after_reload(visit):
    page = opened(visit)
    page.locator(QUESTION).get_by_role("button", name=WORDS("frame.skip")).click()
    expect(page.locator(CURVES).first).to_be_attached()
    page.wait_for_function(
        "() => (localStorage.getItem('seqviz.progress') ?? '').includes('predict-force')"
    )
    page.reload()
    page.locator(FORCE).scroll_into_view_if_needed()
    expect(page.locator(CURVES).first).to_be_attached()


@pytest.mark.nightly
def test_question_button_sets_figure_to_answer(visit):
    page = opened(visit)
    page.locator(QUESTION).get_by_role("button", name=WORDS("frame.skip")).click()
    page.get_by_role("button", name=WORDS("frame.show_it")).click()
    expect(page).to_have_url(re.compile(r"ga\.force\.f=1\b"))
    expect(page.locator(".st-key-ga-force-figure")).to_be_in_viewport(ratio=0.6)


def test_question_button_sets_what_its_figure_reads(visit):
    """The answer speaks of a series that another bench makes."""
    lesson = visit("ar_fitting", {"lang": "en", "ar.process.phi": "0.5"})
    page = lesson.page
    page.locator(".st-key-bench-fit").scroll_into_view_if_needed()
    question = lesson.by_key("ar.predict.bias.question")
    question.get_by_role("button", name=WORDS("frame.skip")).click()
    title = WORDS("ar_fitting.bench.process")
    expect(question).to_contain_text(WORDS("frame.sets_above", figures=title))
    lesson.by_key("ar.predict.bias.show").get_by_role("button").click()
    expect(page).to_have_url(re.compile(r"ar\.fit\.view=sampling"))
    expect(page).to_have_url(re.compile(r"ar\.process\.phi=0\.9\b"))
    expect(page).to_have_url(re.compile(r"ar\.process\.n=50\b"))
    expect(lesson.slider("ar.process.phi")).to_have_value("0.9")


def test_teacher_lifts_veil_without_vote(browser, guided_visitors):
    """The class sees the result once the teacher shows it, and who joins later does, too."""
    with a_room(browser, guided_visitors.server) as room:
        teacher, student = room.teacher.page, room.student.page
        button = teacher.get_by_role("button", name=WORDS("room.answer"))
        reveal = Text("zh")("ar_fitting.predict.twice.reveal")[:8]
        expect(student.locator(".st-key-ar-predict-twice-question")).not_to_contain_text(reveal)
        button.first.click()
        expect(student.locator(".st-key-ar-predict-twice-question")).to_contain_text(reveal)
        late = room.visit("ar_fitting", {"room": room.code, "lang": "zh"}).page
        expect(late.locator(".st-key-ar-predict-twice-question")).to_contain_text(reveal)


@pytest.mark.nightly
def test_empty_axes_of_a_slide_say_what_they_wait_for(visit):
    """In large type on the axes, which are all that a slide shows of an open question."""
    options = {"viewport": {"width": 1920, "height": 1080}}
    page = visit("gates", {"present": "true", "lang": "en"}, **options).page
    page.locator(".st-key-bench-force").evaluate("(bench) => bench.scrollIntoView()")
    told = page.locator(".st-key-ga-force-veiled p")
    expect(told).to_have_text(WORDS("frame.veiled_elsewhere"))
    expect(told).to_be_in_viewport()
    box, figure = told.bounding_box(), page.locator(".st-key-ga-force-figure").bounding_box()
    assert figure["y"] < box["y"] < figure["y"] + figure["height"]
