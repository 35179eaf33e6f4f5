"""On a phone: the figure above, the control under the thumb, read-outs in a line."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from seqviz import lessons
from seqviz.content import catalog
from testing.chromium import css_class
from tests.browser.room_page import a_room
from tests.tiers import LOOKED_AT, alternate

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
SMALL = {"width": 360, "height": 640}
# With the figure below the header: where figure and control stand, and what lies on the control.
DOCKED = """async (bench) => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const figure = bench.querySelector('[class*="-figure"]');
    const strip = bench.querySelector(".stColumn + .stColumn > .stVerticalBlock > :first-child");
    const input = strip?.querySelector('.seqviz-slider input[type="range"]');
    if (!figure || !input) return null;
    figure.scrollIntoView({ block: "start" });
    for (let n = 0; n < 5; n += 1) await frame();
    const { left, right, top, bottom } = input.getBoundingClientRect();
    const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    return { left, right: innerWidth - right, bottom: innerHeight - bottom, isHit: hit === input,
             figure: figure.getBoundingClientRect().top, top };
}"""
SLUGS = [record.slug for record in catalog.LESSONS]


@pytest.mark.parametrize(("slug", "lang"), alternate(SLUGS, LOOKED_AT))
def test_first_control_is_docked_at_the_lower_edge(visit, slug, lang):
    """The figure is in sight with it, on a large and on a small phone."""
    lesson = visit(slug, {"lang": lang}, **PHONE)
    lesson.whole()
    lesson.rest()
    declared = getattr(lessons, slug).lesson
    docked = 0
    for size in (PHONE["viewport"], SMALL):
        lesson.page.set_viewport_size(size)
        lesson.rest()
        for name in declared.core or declared.benches:
            box = lesson.page.locator(css_class(f"bench-{name}")).evaluate(DOCKED)
            if box is None:
                continue
            docked += 1
            assert box["isHit"], (name, box)
            assert box["figure"] < box["top"], (name, box)
            assert box["bottom"] >= 0, (name, box)
            assert min(box["left"], box["right"]) >= 0, (name, box)
    assert docked >= 2
    assert lesson.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_read_outs_are_a_line_and_swipe_brings_the_next_control(visit):
    lesson = visit("gates", {"lang": "en"}, **PHONE)
    bench = lesson.page.locator(css_class("bench-one"))
    lesson.by_key("ga.one.readouts").scroll_into_view_if_needed()
    tops = bench.locator(".stMetric").evaluate_all(
        "(all) => all.map((one) => one.getBoundingClientRect().top)"
    )
    assert len(tops) == 3
    assert max(tops) - min(tops) < 1
    assert lesson.by_key("ga.one.readouts").bounding_box()["height"] < 60
    strip = bench.locator(".stColumn + .stColumn > .stVerticalBlock > :first-child > *").first
    cell = lesson.by_key("ga.one.cell")
    assert cell.bounding_box()["x"] > 300
    strip.evaluate("(strip) => strip.scrollBy({ left: 300, behavior: 'instant' })")
    lesson.page.wait_for_timeout(300)
    assert cell.bounding_box()["x"] < 100


def test_vote_is_a_sheet_below_the_figure(browser, server):
    with a_room(browser, server) as room:
        teacher, student = room.teacher.page, room.student.page
        teacher.get_by_role("button", name="Put it to the vote").first.click()
        sheet = student.locator("[data-seqviz-sheet]")
        expect(sheet).to_be_visible(timeout=2000)
        figure = student.locator(css_class("ar-by_hand-figure"))
        student.wait_for_timeout(500)
        above, below = figure.bounding_box(), sheet.bounding_box()
        assert 0 < above["y"] < 100
        assert below["y"] - above["y"] > 200
        assert below["y"] + below["height"] <= 860
