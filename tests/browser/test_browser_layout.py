"""Nothing lies on a figure, sticks out of the window or is cut, and icons are pictures."""

from __future__ import annotations

import io
from collections.abc import Iterator

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Locator

from seqviz.content import catalog
from tests.browser.lesson_page import PARTS, LessonPage
from tests.tiers import LOOKED_AT, alternate, rotate

DESK = {"width": 1280, "height": 800}
MORE = {"attention": {"at.bertviz.picture": "head"}}  # the bench that is a page of its own
THEMES = {"en": "light", "zh": "dark"}
# A window of 320 pixels is one of 1280 at 400 %, one of 640 is that at 200 %.
NARROW = (320, 640)
TALL = {720: 1280, 1080: 1920, 1440: 2560, 2160: 3840}  # the widths of such screens

# What reaches beyond the page and is in no box of its own that scrolls or ends it with dots, nor in
# one for the ear alone.
TOO_WIDE = """() => {
    const page = document.querySelector(".stMain"), edge = page.clientWidth + 1, wrong = [];
    const holds = (box) => {
        const { overflowX, textOverflow } = getComputedStyle(box);
        const cut = overflowX !== "visible", heard = box.clientWidth < 2;
        const scrolls = ["auto", "scroll"].includes(overflowX);
        return scrolls || (cut && (heard || textOverflow === "ellipsis"));
    };
    for (const one of page.querySelectorAll("*")) {
        const { width, right } = one.getBoundingClientRect();
        if (width === 0 || right <= edge || one.closest("svg, .katex-mathml")) continue;
        let box = one.parentElement;
        while (box !== page && !holds(box)) box = box.parentElement;
        const said = one.textContent.trim().slice(0, 30);
        if (box === page) wrong.push(`${one.tagName}, ${Math.round(right - edge)}: ${said}`);
    }
    for (const box of [document.documentElement, page])
        if (box.scrollWidth > box.clientWidth) wrong.push(`${box.tagName} moves sideways`);
    return wrong;
}"""
# Elements that cut what they hold and have a line of text; `uncut` lets them show all of it.
CUTS = """() => {
    const figures = '[class*="-figure"], .js-plotly-plot, iframe, .stDataFrame';
    const style = document.createElement("style");
    style.textContent = `:is(${figures}) {display: none !important;}
        [class*="st-key-bench-"] {content-visibility: visible !important;}`;
    document.head.append(style);
    window.cuts = [...document.querySelectorAll(".stApp *")].filter((one) => {
        if (!(one instanceof HTMLElement) || !one.checkVisibility()) return false;
        const { overflowX, overflowY } = getComputedStyle(one);
        const { width, height } = one.getBoundingClientRect();
        const cuts = overflowX !== "visible" || overflowY !== "visible";
        return cuts && one.innerText.trim() && width > 2 && height > 2 && height < 150;
    });
    const show = (style) => style.setProperty("overflow", "visible", "important");
    window.uncut = (on) =>
        cuts.forEach(({ style }) => (on ? show(style) : style.removeProperty("overflow")));
    window.figures = (on) => on ? style.remove() : document.head.append(style);
    return document.querySelector(".stMain").scrollHeight;
}"""
BOXES = """() => cuts.map((one) => {
    const { left, top, right, bottom } = one.getBoundingClientRect();
    return { box: [left - 8, top - 8, right + 8, bottom + 8].map(Math.round),
             long: one.scrollWidth > one.clientWidth, text: one.innerText.trim().slice(0, 40) };
})"""
# Icons that are wider than a letter is high: the word itself, where the font has no picture for it.
WORDS_FOR_ICONS = """() => {
    const seen = [], wrong = [], range = document.createRange();
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const text = texts.currentNode;
        const { fontFamily, fontSize } = getComputedStyle(text.parentElement);
        if (!/Material Symbols/.test(fontFamily) || !text.data.trim()) continue;
        range.selectNodeContents(text);
        const { width } = range.getBoundingClientRect();
        seen.push(text.data);
        if (width > 1.05 * parseFloat(fontSize)) wrong.push(`${text.data}: ${width} px`);
    }
    return [seen, wrong];
}"""
# Bench by bench: what lies on its figure, is cut below, or was drawn for another window.
COVERED = """async (beside) => {
    const wrong = [];
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const chart = (figure) => figure.querySelector("svg.main-svg")?.getBoundingClientRect().height;
    const filled = (figure) => {
        const { width, height } = figure.getBoundingClientRect();
        const scale = width / figure.offsetWidth; // whole pixels of a drawing that is enlarged
        return Math.abs((chart(figure) ?? height) - height) <= Math.max(1, scale);
    };
    let seen = 0;
    for (const bench of document.querySelectorAll('[class*="st-key-bench-"]')) {
        if (bench.getClientRects().length === 0) continue;
        const say = (what) => wrong.push(`${bench.className.match(/bench-\\w+/)}: ${what}`);
        bench.scrollIntoView({ block: "start" });
        for (const figure of bench.querySelectorAll('[class*="-figure"], iframe')) {
            if (!figure.checkVisibility()) continue; // below an open sketch
            for (let n = 0; n < 2 || (!filled(figure) && n < 600); n += 1) await frame();
            seen += 1;
            const box = figure.getBoundingClientRect();
            if (!filled(figure)) say(`${chart(figure)} px in ${box.height}`);
            if (figure.scrollHeight > figure.clientHeight + 1) say("cut below");
            if (chart(figure) < 0.4 * innerHeight) say(`small, ${chart(figure)} px`);
            for (const one of bench.querySelectorAll(beside)) {
                if (figure.contains(one) || one.contains(figure)) continue;
                const { left, right, top, bottom } = one.getBoundingClientRect();
                const across = Math.min(right, box.right) - Math.max(left, box.left);
                const down = Math.min(bottom, box.bottom) - Math.max(top, box.top);
                if (across > 1 && down > 1) say(`${one.className.slice(0, 40)}, ${down} px`);
            }
        }
    }
    return [seen, wrong];
}"""
BESIDE = """[class*="-footer"], [class*="-notes-"], [class*="-readouts"], .seqviz-slider, .stMetric,
    .stButton, .stButtonGroup, .stMarkdown, .stSelectbox, .stCheckbox, .stTextInput, .stExpander"""
# What is out of sight keeps its old layout otherwise, and so does the figure in it.
LAID_OUT = '[class*="st-key-bench-"] {content-visibility: visible !important;}'
OPEN = "(all) => all.forEach((summary) => summary.checkVisibility() && summary.click())"


def each_lesson(*also: str) -> pytest.MarkDecorator:
    """Tests of one visit; the languages take turns. also: pages that are no lesson."""
    slugs = [*(record.slug for record in catalog.LESSONS), *also]
    turns = [pytest.param(item.values, marks=item.marks) for item in alternate(slugs, LOOKED_AT)]
    return pytest.mark.parametrize("page", turns, indirect=True, ids=lambda p: f"{p[0]}-{p[1]}")


@pytest.fixture(scope="module")
def page(request, visitors) -> Iterator[LessonPage]:
    """A page in a language, with all of its benches."""
    slug, lang = request.param
    with visitors.watched() as visit:
        query = {"lang": lang, **MORE.get(slug, {})}
        lesson = visit(slug, query, color_scheme=THEMES[lang], viewport=DESK)
        if slug:
            lesson.whole()
        if slug in MORE:
            framed(lesson)
        lesson.rest()
        yield lesson


def framed(lesson: LessonPage) -> Locator:
    """The page in BertViz' bench, in sight, when its model is there."""
    lesson.by_key("bench-bertviz").evaluate("(bench) => bench.scrollIntoView()")
    frame = lesson.page.locator('[class*="st-key-bench-"] iframe')
    frame.wait_for(timeout=120_000)
    return frame


def parts(lesson: LessonPage) -> Iterator[None]:
    """Each part of a lesson once open, or the page as it is."""
    for tab in lesson.page.locator(PARTS).all() or [None]:
        if tab:
            tab.click()
            lesson.rest()
        yield


def sized(lesson: LessonPage, width: int, height: int) -> None:
    lesson.page.set_viewport_size({"width": width, "height": height})
    lesson.rest()


@each_lesson("")
def test_page_fits_narrow_window_without_overflow(page, request):
    """Only content that scrolls by itself may be wider than a narrow window."""
    wrong = []
    laid_out = page.page.add_style_tag(content=LAID_OUT)
    for width in rotate(NARROW, 1, request):
        sized(page, width, 640)
        for _ in parts(page):
            page.page.locator(".stMain details:not([open]) summary").evaluate_all(OPEN)
            page.rest()
            wrong += [f"{width}: {item}" for item in page.page.evaluate(TOO_WIDE)]
    laid_out.evaluate("(style) => style.remove()")
    assert not wrong, wrong


@each_lesson("")
def test_page_text_is_not_clipped_by_box(page):
    """What shows more ink as soon as nothing is cut; a name that is too long ends in dots."""
    sized(page, **DESK)
    wrong = []
    for _ in parts(page):
        height = page.page.evaluate(CUTS)
        try:
            page.page.set_viewport_size({**DESK, "height": min(16_000, height + 40)})
            page.rest()
            boxes = page.page.evaluate(BOXES)
            assert boxes
            cut, full = picture(page), picture(page, full=True)
            results = [box for box in boxes if not box["long"] and changed(cut, full, box["box"])]
            again = picture(page) if results else cut  # what moves by itself is not meant
            wrong += [item["text"] for item in results if not changed(cut, again, item["box"])]
        finally:
            page.page.evaluate("figures(true)")
            page.page.set_viewport_size(DESK)
    assert not wrong, wrong


def picture(lesson: LessonPage, full: bool = False) -> np.ndarray:
    """The pixels of the window. full: nothing is cut."""
    lesson.page.evaluate("(on) => uncut(on)", full)
    shot = lesson.page.screenshot(animations="disabled", caret="hide")
    lesson.page.evaluate("uncut(false)")
    return np.asarray(Image.open(io.BytesIO(shot)).convert("L")).astype(int)


def changed(first: np.ndarray, second: np.ndarray, box: list[int]) -> bool:
    left, top, right, bottom = (max(0, edge) for edge in box)
    position = np.s_[top:bottom, left:right]
    return bool(np.abs(first[position] - second[position]).max(initial=0) > 20)


DIALOG_BUTTONS = '[class*="-footer"] button:not([class*="-bookmark"] *, [class*="-pin"] *):visible'


@each_lesson("")
def test_page_icons_render_as_pictures_not_words(page):
    sized(page, **DESK)
    press, observed, wrong = page.page, set(), set()

    def look() -> None:
        page.rest()
        icons, words = press.evaluate(WORDS_FOR_ICONS)
        observed.update(icons)
        wrong.update(words)

    for _ in parts(page):
        look()
    for name in ("share", "about"):
        button = press.locator(f".st-key-{name} button").first
        button.click()
        press.get_by_test_id("stPopoverBody").wait_for()
        look()
        press.keyboard.press("Escape")
    for button in press.locator(DIALOG_BUTTONS).all()[:4]:
        button.click()
        press.get_by_role("dialog").wait_for()
        press.locator(".stDialog :is(button, canvas, pre)").nth(1).wait_for()
        look()
        press.keyboard.press("Escape")
        press.get_by_role("dialog").wait_for(state="detached")
    assert not wrong, wrong
    assert len(observed) > 5, observed


@pytest.mark.nightly
@each_lesson()
def test_page_in_presenter_mode_covers_no_figure(page, request):
    """Whole pages, at large screens; a push looks at each slide (`test_browser_slides`)."""
    sized(page, **DESK)
    toggle = page.by_key("present")
    if not toggle.locator("input").is_checked():  # the page is still open where a test runs again
        toggle.locator("label").click()
    page.page.get_by_test_id("stHeader").wait_for(state="hidden")
    page.rest()
    page.whole()
    wrong, observed, heights = [], 0, rotate(list(TALL), 2, request)
    for _ in parts(page):
        for height in heights:
            sized(page, TALL[height], height)
            count, result = page.page.evaluate(COVERED, BESIDE)
            observed += count
            wrong += [f"{height}: {item}" for item in result]
    assert not wrong, wrong
    assert observed >= 6 * len(heights)
