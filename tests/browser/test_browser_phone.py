"""On a phone: the figure above, the control under the thumb, read-outs in a line."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from seqviz import lessons
from seqviz.content import catalog
from seqviz.core.i18n import LANGUAGES
from testing.chromium import css_class
from testing.server import serve
from tests.browser.lesson_page import visitors
from tests.browser.room_page import a_room
from tests.tiers import LOOKED_AT, alternate, first_only

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
    numbers = bench.locator(".stMetric")
    expect(numbers).to_have_count(3)
    tops = [numbers.nth(k).bounding_box()["y"] for k in range(2)]
    assert abs(tops[1] - tops[0]) < 1
    expect(numbers.nth(2)).to_be_hidden()  # the third is in a fold
    assert lesson.by_key("ga.one.readouts").bounding_box()["height"] < 60
    fold = lesson.by_key("ga.one.details").locator("summary")
    fold.tap()
    expect(numbers.nth(2)).to_be_visible()
    fold.tap()
    strip = bench.locator(".stColumn + .stColumn > .stVerticalBlock > :first-child > *").first
    cell = lesson.by_key("ga.one.cell")
    assert cell.bounding_box()["x"] > 300
    strip.evaluate("(strip) => strip.scrollBy({ left: 300, behavior: 'instant' })")
    lesson.page.wait_for_timeout(300)
    assert cell.bounding_box()["x"] < 100


# Screens of a lesson at 390 x 844, with all that is out of sight laid out.
SCREENS = """() => {
    const style = document.createElement("style");
    style.textContent = '[class*="st-key-bench-"] { content-visibility: visible !important; }';
    document.head.append(style);
    const { scrollHeight } = document.querySelector('[data-testid="stMain"]');
    style.remove();
    return scrollHeight / innerHeight;
}"""
MAX_SCREENS = 10


@pytest.fixture(scope="module")
def readers(browser):
    """Of lessons in which nothing is answered."""
    with (
        serve(environment={"SEQVIZ_GUIDED": "1", "HF_HUB_OFFLINE": "1"}) as running,
        visitors(browser, running) as created,
    ):
        yield created


@pytest.mark.parametrize(
    ("lang", "slug"), first_only([(lang, slug) for lang in LANGUAGES for slug in reversed(SLUGS)])
)
def test_lesson_has_ten_screens_at_most(readers, lang, slug):
    with readers.watched() as visit:
        lesson = visit(slug, {"lang": lang}, **PHONE)
        lesson.whole()
        lesson.rest()
        assert lesson.page.evaluate(SCREENS) <= MAX_SCREENS


def test_tabs_show_one_panel_and_follow_a_step(visit):
    """The panel that a step points to is seen; the others are a tap away."""
    lesson = visit("ar_fitting", {"lang": "en"}, **PHONE)
    lesson.geometry("ar.process")
    tabs = lesson.figure("ar.process").get_by_role("tab")
    assert tabs.count() == 3
    figure = lesson.figure("ar.process")
    expect(tabs.first).to_have_attribute("aria-selected", "true")
    expect(figure.locator(".xtitle")).to_have_count(1)
    tabs.nth(2).click()
    expect(tabs.nth(2)).to_have_attribute("aria-selected", "true")
    expect(figure.locator(".x3title")).to_have_count(1)
    expect(figure.locator(".xtitle")).to_have_count(0)
    box = lesson.figure("ar.process").bounding_box()
    assert box["height"] < 0.5 * PHONE["viewport"]["height"]
    for place in (1, 0):
        lesson.page.keyboard.press("ArrowLeft")
        expect(tabs.nth(place)).to_be_focused()
        expect(tabs.nth(place)).to_have_attribute("aria-selected", "true")
    bench = lesson.page.locator(css_class("bench-process"))
    bench.locator(".seqviz-steps .chips button").first.click()
    expect(tabs.nth(1)).to_have_attribute("aria-selected", "true")  # the step points to the ACF
    expect(figure.locator(".seqviz-lit").first).to_be_attached()
    lesson.page.set_viewport_size({"width": 844, "height": 390})  # turned: side by side again
    expect(tabs).to_have_count(0)
    expect(figure.locator(":is(.xtitle, .x2title, .x3title)")).to_have_count(3)


# A frame of a drag in which only the PACF is another; `also`: the series as well.
FRAME = """(host, also) => {
    const figure = JSON.parse(host.chart.figure);
    const axes = also ? ["x", "x3"] : ["x3"];
    for (const trace of figure.data)
        if (axes.includes(trace.xaxis ?? "x")) trace.opacity = also ? 0.5 : 0.6;
    host.chart.show(JSON.stringify(figure), "", true);
}"""


@pytest.mark.nightly
def test_drag_brings_the_panel_that_it_changes_into_sight(visit):
    """It stays where the panel in sight changes as well."""
    lesson = visit("ar_fitting", {"lang": "en"}, **PHONE)
    lesson.geometry("ar.process")
    tabs = lesson.figure("ar.process").get_by_role("tab")
    chart = lesson.figure("ar.process").locator(".seqviz-chart")
    chart.evaluate(FRAME, True)
    expect(tabs.first).to_have_attribute("aria-selected", "true")
    lesson.page.wait_for_timeout(1100)  # another drag
    chart.evaluate(FRAME, False)
    expect(tabs.nth(2)).to_have_attribute("aria-selected", "true")


@pytest.mark.nightly  # by day test_browser_narrow.py draws every figure at this width
def test_tree_with_long_tokens_scrolls_sideways(visit):
    """Its tokens are whole, and the page itself does not move."""
    lesson = visit("gpt", {"lang": "en"}, **PHONE)
    lesson.geometry("gp.futures")
    figure = lesson.figure("gp.futures")
    assert "␣analytics" in figure.locator("svg.main-svg text").all_text_contents()
    chart = figure.locator(".seqviz-chart")
    before, after, beyond = chart.evaluate(
        """({ parentElement: scroller }) => {
            const before = scroller.scrollLeft;
            scroller.scrollLeft = 1000;
            const { scrollWidth } = document.documentElement;
            return [before, scroller.scrollLeft, scrollWidth - innerWidth];
        }"""
    )
    assert before == 0
    assert after > 100
    assert beyond <= 0


def test_main_control_is_docked_first(visit):
    """Declared second: phi has room beside the order only after a swipe."""
    lesson = visit("ar_fitting", {"lang": "en"}, **PHONE)
    lesson.geometry("ar.process")
    phi, order = (lesson.by_key(f"ar.process.{name}.slider") for name in ("phi", "order"))
    assert phi.bounding_box()["x"] < order.bounding_box()["x"]


def test_turned_phone_keeps_setting_and_cuts_nothing(visit):
    lesson = visit("gates", {"lang": "en", "ga.one.step": "5"}, **PHONE)
    lesson.geometry("ga.one")
    for width, height in ((844, 390), (360, 640), (390, 844)):
        lesson.page.set_viewport_size({"width": width, "height": height})
        lesson.geometry("ga.one")
        assert lesson.slider("ga.one.step").input_value() == "5"
        assert lesson.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        box = lesson.figure("ga.one").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert "ga.one.step=5" in lesson.page.url


def test_tap_on_a_cell_shows_its_value(visit):
    """A heat map with too many cells for numbers."""
    lesson = visit("vanishing_gradients", {"lang": "en"}, **PHONE)
    figure = lesson.figure("vg.pairs")
    cells = figure.locator(".heatmaplayer image").first
    cells.scroll_into_view_if_needed()
    lesson.rest()
    assert figure.locator(".heatmaplayer text").count() == 0
    box = cells.bounding_box()
    lesson.page.touchscreen.tap(box["x"] + 0.3 * box["width"], box["y"] + 0.6 * box["height"])
    expect(figure.locator(".hoverlayer .hovertext").first).to_contain_text(re.compile(r"\d"))


def test_tap_opens_help_of_a_control_and_brings_figure_of_a_step(visit):
    """The controls are a strip that scrolls: help is over the page, and goes with the next tap."""
    lesson = visit("ar_fitting", {"lang": "en"}, **PHONE)
    bench = lesson.by_key("bench-process")
    lesson.geometry("ar.process")
    bench.locator(".seqviz-slider .help").first.tap()
    tip = bench.locator(".tip:popover-open")
    expect(tip).to_be_in_viewport(ratio=1)
    assert tip.evaluate("(tip) => tip.scrollWidth <= tip.clientWidth")
    lesson.page.touchscreen.tap(195, 300)
    expect(tip).to_have_count(0)
    steps = bench.locator(".seqviz-steps")
    steps.evaluate("(steps) => steps.scrollIntoView({ block: 'end' })")
    steps.locator("button").first.tap()
    lesson.page.wait_for_function(
        "(figure) => document.querySelector(figure).getBoundingClientRect().bottom <= innerHeight",
        arg=css_class("ar.process.figure"),
    )
    expect(steps).to_be_in_viewport()


@pytest.mark.nightly
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


def test_swipe_over_a_figure_scrolls_the_page(visit):
    """Plotly would take it for a zoom."""
    lesson = visit("ar_fitting", {"lang": "en"}, **PHONE)
    lesson.rest()
    page = lesson.page
    figure = page.locator(f"{css_class('bench-by_hand')} .seqviz-chart .nsewdrag").first
    figure.evaluate("(figure) => figure.scrollIntoView({ block: 'center' })")
    lesson.rest()
    look = """() => ({
        top: document.querySelector(".stMain").scrollTop,
        ranges: JSON.stringify([...document.querySelectorAll(".seqviz-chart")]
            .map((host) => [host._fullLayout?.xaxis.range, host._fullLayout?.yaxis.range])),
    })"""
    before, box = page.evaluate(look), figure.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    session = page.context.new_cdp_session(page)
    for kind, points in (
        ("touchStart", [{"x": x, "y": y}]),
        *(("touchMove", [{"x": x, "y": y - 15 * k}]) for k in range(1, 11)),
        ("touchEnd", []),
    ):
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    lesson.rest()
    after = page.evaluate(look)
    assert after["top"] > before["top"] + 100
    assert after["ranges"] == before["ranges"]
