"""A lesson opens with its first bench; the others are drawn as the reader comes near them."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from seqviz.content import catalog
from seqviz.core.i18n import LANGUAGES, Text
from seqviz.lessons import ar_fitting
from testing.chromium import css_class
from tests.tiers import first_only

# Names of the benches that wait, and of all that have a place where the reader can see it.
WAITING = """() => [...document.querySelectorAll('[class*="st-key-bench-"]')]
    .filter((bench) => bench.querySelector('[class*="st-key-"][class*="-placeholder"]') !== null)
    .map((bench) => bench.className.match(/st-key-bench-(\\S+)/)[1])"""
SHOWN = """() => [...document.querySelectorAll('[class*="st-key-bench-"]')]
    .filter((bench) => bench.getClientRects().length > 0)
    .map((bench) => bench.className.match(/st-key-bench-(\\S+)/)[1])"""
HEIGHTS = f"""() => ({WAITING})().map((name) =>
    [name, document.querySelector(`.st-key-bench-${{name}}`).getBoundingClientRect().height])"""
HEIGHT = """() => document.querySelector('[data-testid="stMain"]').scrollHeight"""
PATIENCE = 60_000  # the first visitor of a model waits for it


def arrived(lesson, name: str) -> None:
    """Wait until this bench no longer waits."""
    lesson.page.wait_for_function(
        f"(name) => !({WAITING})().includes(name)", arg=name, timeout=PATIENCE
    )


@pytest.mark.parametrize("record", first_only(catalog.LESSONS), ids=lambda record: record.slug)
def test_lazy_load_draws_every_bench_on_scroll(visit, record):
    lesson = visit(record.slug)
    lesson.rest()
    names = lesson.page.evaluate(SHOWN)
    waiting = lesson.page.evaluate(WAITING)
    assert names[0] not in waiting
    assert names[-1] in waiting
    for name in names:
        lesson.page.locator(css_class(f"bench-{name}")).scroll_into_view_if_needed()
        arrived(lesson, name)
        still = lesson.page.evaluate(WAITING)
        below = names[names.index(name) :]
        assert not set(still) & (set(names) - set(below)), "one that was passed"
    assert falls_silent(lesson)


def falls_silent(lesson) -> bool:
    """Whether the page stops asking the server, at last when a model is loaded."""
    for _ in range(50):
        sent = lesson.sent
        lesson.page.wait_for_timeout(600)  # four looks of lazy_load.js
        if lesson.sent == sent:
            return True
    return False


def has_arrived(lesson) -> bool:
    """Whether the page keeps its height: formulas and text below the benches come late to it when
    the machine is busy, and make it a window longer."""
    height = 0
    for _ in range(30):
        before, height = height, lesson.page.evaluate(HEIGHT)
        if height == before:
            return True
        lesson.page.wait_for_timeout(1000)
    return False


def test_lazy_load_draws_card_when_opened(visit):
    lesson = visit("bert_accuracy")
    lesson.rest()
    cards = [lesson.page.locator(css_class(f"card-{name}")) for name in ("heads", "tune")]
    for card in cards:  # closed, without a look at it
        card.locator("summary").first.dispatch_event("click")
        expect(card.locator("details").first).not_to_have_attribute("open", "")
    cards[1].scroll_into_view_if_needed()
    lesson.rest()
    assert {"heads", "tune"} <= set(lesson.page.evaluate(WAITING))
    cards[1].locator("summary").first.click()
    arrived(lesson, "tune")
    lesson.chart("ba.tune").wait_for()
    assert "heads" in lesson.page.evaluate(WAITING)  # in a card that is still closed


@pytest.mark.nightly
def test_lazy_load_notebook_includes_all_benches(visit, server, tmp_path):
    """Before the script is there that asks for benches."""
    lesson, late = visit(), []
    lesson.page.route("**/lazy_load.js", lambda route: late.append(route))
    lesson.page.goto(f"{server.url}/ar_fitting")
    lesson.rest()
    assert lesson.page.evaluate(WAITING)
    with lesson.page.expect_download(timeout=PATIENCE) as download:
        lesson.page.get_by_role("button", name=Text("en")("frame.notebook")).click()
        (script,) = late
        script.continue_()
    download.value.save_as(tmp_path / "first.ipynb")
    cells = json.loads((tmp_path / "first.ipynb").read_text("utf-8"))["cells"]
    full = [cell for cell in cells if cell["cell_type"] == "code"]
    lesson.whole()
    with lesson.page.expect_download() as download:
        lesson.page.get_by_role("button", name=Text("en")("frame.notebook")).click()
    download.value.save_as(tmp_path / "again.ipynb")
    assert (tmp_path / "again.ipynb").read_bytes() == (tmp_path / "first.ipynb").read_bytes()
    assert len(full) >= 5


@pytest.mark.parametrize("lang", first_only(LANGUAGES))
def test_lazy_load_jump_to_end_skips_benches_and_keeps_position(visit, lang):
    """A place out of sight is as tall as one in sight, so that the jump arrives where it went."""
    # With the course's notes the end is far from the last bench, which would grow there.
    lesson = visit("ar_fitting", {"lang": lang, "course": "zh5"})
    lesson.rest()
    assert has_arrived(lesson)
    # The second bench may be there: while the page grows it is for a moment near the window.
    passed = {"fit", "networks"} & set(lesson.page.evaluate(WAITING))
    assert "networks" in passed
    heights = dict(lesson.page.evaluate(HEIGHTS))
    assert len(heights) >= 4
    asking = {question.bench for question in ar_fitting.lesson.questions.values()}
    for group in (heights.keys() & asking, heights.keys() - asking):
        values = [heights[name] for name in group]
        assert max(values) - min(values) < 2, heights
    end = lesson.page.locator(css_class("go.next")).last
    end.scroll_into_view_if_needed()
    assert falls_silent(lesson)
    waiting = lesson.page.evaluate(WAITING)
    assert passed <= set(waiting)  # too fast to be seen
    box = end.bounding_box()
    assert box is not None
    assert 0 <= box["y"] < lesson.page.viewport_size["height"]
    for name in reversed(waiting):  # they come from below as they do from above
        lesson.page.locator(css_class(f"bench-{name}")).scroll_into_view_if_needed()
        arrived(lesson, name)


@pytest.mark.nightly
def test_lazy_load_draws_passed_bench_with_dependents(minilm_on_disk, visit):
    lesson = visit("attention")
    lesson.rest()
    assert "real" in lesson.page.evaluate(WAITING)
    lesson.page.locator(css_class("go.next")).last.scroll_into_view_if_needed()
    arrived(lesson, "real")
    assert falls_silent(lesson)
    assert lesson.page.evaluate(WAITING), "only those that are near, and those that lead"


@pytest.mark.nightly
def test_lazy_load_keeps_drawn_benches_on_language_change(visit):
    lesson = visit("ar_fitting")
    lesson.rest()
    lesson.page.locator(css_class("bench-fit")).scroll_into_view_if_needed()
    arrived(lesson, "fit")
    lesson.rest()
    waiting = lesson.page.evaluate(WAITING)
    lesson.by_key("lang").get_by_text("中文").click()
    lesson.titled(Text("zh")("ar_fitting.title"))
    lesson.rest()
    assert lesson.page.evaluate(WAITING) == waiting != []


# Two benches that wait on a page of its own: one in sight, one that is only near.
NEAR = """async () => {
    const { default: start } = await import("/app/static/bench/lazy_load.js");
    document.body.innerHTML = ["seen", "near"].map((name, place) =>
        `<div class="st-key-bench-${name}" style="position: absolute; top: ${120 * place}vh">
            <p class="st-key-t-placeholder">...</p></div>`).join("");
    const asked = [];
    const until = (count) => new Promise((resolve) => {
        const look = () => asked.length >= count ? resolve() : requestAnimationFrame(look);
        look();
    });
    start({ data: { benches: ["seen", "near"], leads: [], whole: "main", predictions: [],
              chapters: [] }, parentElement: document.body,
            setTriggerValue: (_, names) => asked.push(names) });
    await until(1);
    window.dispatchEvent(new Event("scroll"));
    await until(2);
    return asked;
}"""


@pytest.mark.nightly
def test_lazy_load_draws_visible_bench_before_near_one(server, browser):
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{server.url}/app/static/bench/lazy_load.js")
    assert page.evaluate(NEAR) == [["seen"], ["seen", "near"]]
    context.close()
