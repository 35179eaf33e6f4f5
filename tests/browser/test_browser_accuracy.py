"""The lesson on accuracy in a browser: cards, words to click, a training beside a slider."""

from __future__ import annotations

import json
import statistics
import time
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from benchmarks.interaction import PROBE, Subject
from seqviz.core.i18n import LANGUAGES, Text
from seqviz.lessons.bert_accuracy.lesson import lesson as declared
from testing.chromium import css_class
from testing.server import serve
from tests.browser.lesson_page import CHARTS, watched

SLUG = "bert_accuracy"
CORE = tuple(f"ba.{name}" for name in declared.core)
CARDS = tuple(name for name in declared.benches if name not in declared.core)
FIRST = 90_000  # ms for the server's first visitor, who waits until torch and the model are loaded
GONE = 4.0  # seconds after which a server of these tests takes a visitor for gone
PRESSES = 5


@pytest.fixture(scope="module", autouse=True)
def model(vectors):
    """Model and sentence vectors on this machine's disk, where the server finds them."""


@pytest.fixture(scope="module")
def loaded(model, visitors):
    """The server with the model in its memory."""
    with visitors.watched() as open_page:
        lesson = open_page(SLUG)
        lesson.figure("ba.guess").locator(CHARTS).first.wait_for(timeout=FIRST)


def opened(visit, lang: str = "en", options=None, **settings: str):
    link = {f"ba.{key.replace('__', '.')}": value for key, value in settings.items()}
    lesson = visit(SLUG, {**link, "lang": lang}, **(options or {}))
    lesson.titled(Text(lang)(f"{SLUG}.title"))
    lesson.rest()
    return lesson


def card(lesson, name: str):
    """The line of a card, which opens and closes it."""
    return lesson.page.locator(f"{css_class(f'card-{name}')} summary").first


@pytest.fixture(scope="module")
def guided(model, guided_visitors):
    """Cards are closed."""
    with guided_visitors.watched() as visit:
        lesson = visit(SLUG)
        lesson.figure("ba.guess").locator(CHARTS).first.wait_for(timeout=FIRST)
        yield visit


def fills(lesson, bench: str) -> None:
    """The chart of a bench can be seen, and is as wide as its frame."""
    figure = lesson.figure(bench)
    figure.scroll_into_view_if_needed()
    chart = figure.locator(CHARTS).first
    chart.wait_for()
    lesson.rest()
    frame, box = figure.bounding_box(), chart.bounding_box()
    assert min(box["width"], box["height"]) > 100, bench
    assert abs(box["width"] - frame["width"]) < 4, bench
    assert box["height"] <= frame["height"] + 1, bench


@pytest.mark.nightly  # by day test_browser_painting.py draws every figure
@pytest.mark.parametrize("lang", LANGUAGES)
def test_card_paints_its_figure_when_opened(guided, lang):
    lesson = opened(guided, lang)
    for bench in CORE:
        fills(lesson, bench)
    for name in CARDS:
        expect(lesson.figure(f"ba.{name}")).to_be_hidden()
        card(lesson, name).click()
        lesson.page.locator(css_class(f"bench-{name}")).scroll_into_view_if_needed()
        if declared.benches[name].veiled_by:
            lesson.rest()
            continue
        fills(lesson, f"ba.{name}")


@pytest.mark.nightly  # by day tests/pages/test_accuracy_visitors.py opens the cards of links
def test_link_opens_card_of_its_bench(guided):
    lesson = opened(guided, count__regime="all")
    fills(lesson, "ba.count")
    expect(lesson.figure("ba.tune")).to_be_hidden()
    lesson.by_key("ba.count.link").get_by_role("button").click()
    dialog = lesson.page.get_by_role("dialog")
    address = dialog.get_by_test_id("stCode").first.inner_text().strip()
    query = urlsplit(address).query
    assert parse_qs(query) == {"ba.count.regime": ["all"], "lang": ["en"]}
    again = guided(f"{SLUG}?{query}")
    again.titled(Text("en")(f"{SLUG}.title"))
    fills(again, "ba.count")
    there = guided(f"{SLUG}?lang=en#bench-modes")
    there.titled(Text("en")(f"{SLUG}.title"))
    expect(there.figure("ba.modes")).to_be_in_viewport()
    old = opened(guided, part="weights")  # of the time when the page had tabs
    expect(old.page.locator(css_class("bench-heads"))).to_be_visible()
    expect(old.page.locator(css_class("bench-tune"))).to_be_hidden()


@pytest.mark.nightly
def test_word_click_masks_word_and_updates_link(loaded, visit):
    lesson = opened(visit, guess__text="one of the best films ever", guess__place="4")
    before = lesson.geometry("ba.guess")
    words = lesson.by_key("ba.guess.place.pick")
    for position, word in ((5, "films"), (2, "of")):
        words.get_by_role("button", name=word, exact=True).or_(
            words.get_by_role("radio", name=word, exact=True)
        ).click()
        before = lesson.changed("ba.guess", before)
        expect(lesson.slider("ba.guess.place")).to_have_value(str(position))
        assert f"ba.guess.place={position}" in lesson.page.url


@pytest.mark.nightly
def test_heads_bench_retrains_on_each_slider_press(loaded, visit):
    lesson = opened(visit, heads__runs="1")
    badge = lesson.by_key("ba.heads.footer")
    expect(badge).to_contain_text(Text("en")("frame.live"))
    before = lesson.geometry("ba.heads")
    for key in ("ba.heads.epochs", "ba.heads.head_rate"):
        slider = lesson.slider(key)
        slider.focus()
        lesson.page.keyboard.press("ArrowLeft")
        before = lesson.changed("ba.heads", before)


@pytest.mark.nightly  # by day test_browser_narrow.py draws every figure at this width
@pytest.mark.parametrize("lang", LANGUAGES)
def test_lesson_never_scrolls_sideways_on_phone(loaded, visit, lang):
    phone = {"width": 420, "height": 800}
    lesson = opened(visit, lang, {"viewport": phone}, looks__view="own", knife__view="own")
    for bench in (*CORE, *(f"ba.{name}" for name in CARDS)):
        lesson.figure(bench).scroll_into_view_if_needed()
        lesson.chart(bench).wait_for()
        lesson.rest()
        box = lesson.chart(bench).bounding_box()
        assert box["x"] >= 0, bench
        assert box["x"] + box["width"] <= phone["width"], bench
    for position in ("html", ".stMain"):
        sizes = lesson.page.locator(position).evaluate("(e) => [e.scrollWidth, e.clientWidth]")
        assert sizes[0] <= sizes[1], position


# ------------------------------------------------------------------------------ beside a training
@pytest.fixture
def hasty(model, browser):
    """A server that soon takes a visitor for gone."""
    before = (
        "from seqviz import jobs\n"
        "made = jobs.JobQueue.__init__\n"
        "jobs.JobQueue.__init__ = lambda self, *args, **keywords: made(\n"
        f"    self, *args, **{{'abandon_after': {GONE}, **keywords}}\n"
        ")\n"
    )
    with serve(environment={"HF_HUB_OFFLINE": "1"}, before=before) as running:
        yield running


def presses(subject: Subject) -> float:
    """The median of some presses, in milliseconds to the changed picture."""
    subject.milliseconds.clear()
    for _ in range(PRESSES):
        subject.press()
    return statistics.median(changed for changed, _ in subject.milliseconds)


@pytest.mark.nightly
@pytest.mark.timing
def test_training_keeps_slider_responsive_and_ends_on_tab_close(hasty, browser):
    """Closing the tab ends its training, and the next visitor's queued job starts."""
    words = Text("en")
    with watched(browser, hasty) as visit:
        lesson = opened(visit, tune__sentences="200", tune__epochs="5", knife__share="10")
        lesson.figure("ba.guess").locator(CHARTS).first.wait_for(timeout=FIRST)
        lesson.geometry("ba.knife")
        lesson.page.evaluate(PROBE.replace("CHART", json.dumps(".st-key-ba-knife-figure")))
        slider = ".st-key-ba-knife-share-slider input[type=range]"
        subject = Subject(lesson.page, slider, [])
        presses(subject)  # warm-up
        idle = presses(subject)

        start = words(f"{SLUG}.work.start")
        lesson.by_key("ba.tune.start").get_by_role("button", name=start).click()
        progress = lesson.page.get_by_test_id("stProgress")
        expect(progress).to_contain_text("%")
        busy = presses(subject)
        expect(progress).to_contain_text("%")  # it was still at work
        print(f"idle {idle:.0f} ms, beside the training {busy:.0f} ms")

        # Somebody else waits behind the training, until its visitor has gone.
        other = opened(visit, fill__sentences="200")
        other.by_key("ba.fill.start").get_by_role("button", name=start).click()
        queued = other.page.get_by_test_id("stProgress").filter(
            has_text=words("work.queued", position=1)
        )
        expect(queued).to_be_visible()
        lesson.page.close()
        closed = time.monotonic()
        expect(queued).to_have_count(0, timeout=30_000)
        assert time.monotonic() - closed < GONE + 5
        other.chart("ba.fill").wait_for(timeout=60_000)
    assert busy <= 2 * idle, f"idle {idle:.0f} ms, beside the training {busy:.0f} ms"
