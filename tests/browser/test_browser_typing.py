"""A text that is being typed: the picture follows, the page hears of it when it is done."""

from __future__ import annotations

import time
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from seqviz.core.i18n import Text
from seqviz.lessons.framework.controls import controls
from seqviz.lessons.text import lesson
from tests.browser.lesson_page import FOLLOWED, PICTURES

BENCH = "tx.cutters"
KEY = f"{BENCH}.text"
TYPED = "Seven strips follow what is typed. "
A_SECOND = 10  # pictures, at the least
LIMIT = dict(controls(lesson.benches["cutters"].declaration))["text"].limit
COPIED = """(text) => {
    document.querySelector("#copied")?.remove();
    const field = Object.assign(document.createElement("textarea"), {id: "copied", value: text});
    document.body.append(field);
    field.select();
}"""
COMPOSING = """(box) => {
    box.value += "ni";
    box.dispatchEvent(new InputEvent("input", {bubbles: true, isComposing: true}));
}"""


@pytest.fixture(scope="module")
def visited(visitors):
    """One visitor for all tests of this file."""
    with visitors.watched() as visit:
        lesson = visit("text", {"lang": "en"})
        lesson.geometry(BENCH)
        lesson.page.wait_for_function(
            "(bench) => seqvizLiveBench(bench).source !== null", arg=BENCH
        )
        lesson.box = lesson.by_key(KEY).locator("input")
        yield lesson, lesson.box.input_value()


@pytest.fixture
def page(visited):
    """With the text that it came with."""
    lesson, text = visited
    lesson.box.fill(text)
    lesson.box.press("Enter")
    lesson.heard(BENCH)
    lesson.page.wait_for_function("(key) => !location.search.includes(key)", arg=KEY)
    lesson.geometry(BENCH)
    return lesson


def strips(lesson) -> str:
    return lesson.figure(BENCH).get_by_role("img").first.get_attribute("aria-label")


@pytest.mark.timing
def test_text_field_updates_figure_per_key_and_commits_once(page):
    page.box.fill(TYPED[0])
    page.box.press("Enter")
    page.rest()
    before, sent = page.page.evaluate(PICTURES, BENCH), page.sent
    started = time.perf_counter()
    page.box.press_sequentially(TYPED[1:], delay=40)
    page.page.wait_for_function(
        "([bench, key, text]) => seqvizLiveBench(bench).overlay?.key.includes("
        "new URLSearchParams({[key]: text}).toString())",
        arg=[BENCH, KEY, TYPED],
    )
    seconds = time.perf_counter() - started
    pictures = page.page.evaluate(PICTURES, BENCH) - before
    assert pictures >= min(len(TYPED) - 1, A_SECOND * seconds)  # one for each letter is all
    assert page.sent == sent
    rendered = strips(page)
    assert parse_qs(urlsplit(page.page.url).query)[KEY] == [TYPED[0]]
    page.box.press("Enter")
    page.rest()
    assert parse_qs(urlsplit(page.page.url).query)[KEY] == [TYPED]
    assert strips(page) == rendered
    assert page.page.evaluate("(bench) => seqvizLiveBench(bench).pending.size", BENCH) == 0


def test_text_field_ignores_input_during_composition(page):
    before = page.page.evaluate(PICTURES, BENCH)
    page.box.evaluate(COMPOSING)
    page.rest()
    assert page.page.evaluate(PICTURES, BENCH) == before
    page.box.evaluate(
        "(box) => box.dispatchEvent(new CompositionEvent('compositionend', {bubbles: true}))"
    )
    page.page.wait_for_function(FOLLOWED, arg=[BENCH, before])


COMPOSED_ENTER = """(box) => {
    const how = {key: "Enter", code: "Enter", isComposing: true, bubbles: true, cancelable: true};
    box.dispatchEvent(new KeyboardEvent("keydown", how));
}"""


@pytest.mark.nightly
def test_text_field_commits_composed_text_only_when_it_is_done(page):
    """Enter chooses a character first: half of one is neither drawn nor committed."""
    keyboard = page.page.context.new_cdp_session(page.page)
    own, before, sent = page.page.url, strips(page), page.sent
    page.box.press("End")
    composition = {"text": "ni", "selectionStart": 2, "selectionEnd": 2}
    keyboard.send("Input.imeSetComposition", composition)
    page.box.evaluate(COMPOSED_ENTER)
    page.rest()
    assert page.box.input_value().endswith("ni")
    assert (page.page.url, strips(page), page.sent) == (own, before, sent)
    keyboard.send("Input.insertText", {"text": "你"})
    page.box.press("Enter")
    page.page.wait_for_function("() => location.search.includes(encodeURIComponent('你'))")
    keyboard.detach()


@pytest.mark.nightly
def test_text_field_undo_restores_committed_figure(page):
    own = strips(page)
    page.box.press("End")
    page.box.press_sequentially("!!")
    page.page.wait_for_function(FOLLOWED, arg=[BENCH, page.page.evaluate(PICTURES, BENCH) - 1])
    page.box.press("Backspace")
    page.box.press("Backspace")
    page.rest()
    assert strips(page) == own
    assert page.page.evaluate("(bench) => seqvizLiveBench(bench).pending.size", BENCH) == 0


def test_paste_beyond_the_limit_is_cut_there_and_the_page_says_so(page):
    pasted = "Words of a megabyte. " * 50_000
    page.page.evaluate(COPIED, pasted)
    page.page.keyboard.press("ControlOrMeta+c")
    page.box.click()
    page.box.press("ControlOrMeta+a")
    page.box.press("ControlOrMeta+v")
    expect(page.box).to_have_value(pasted[:LIMIT])
    page.box.press("Enter")
    full = Text("en")("frame.text_full", limit=LIMIT)
    expect(page.page.get_by_text(full)).to_be_visible()


def test_text_field_discards_draft_when_page_is_left(page):
    page.box.press("End")
    page.box.press_sequentially("!!")
    page.page.wait_for_function(FOLLOWED, arg=[BENCH, page.page.evaluate(PICTURES, BENCH) - 1])
    page.go("/positions?lang=en")
    page.titled(Text("en")("positions.title"))
    page.heard(BENCH)
    page.go("/text?lang=en")
    page.geometry(BENCH)
    assert KEY not in page.page.evaluate("(bench) => seqvizLiveBench(bench).currentQuery()", BENCH)
