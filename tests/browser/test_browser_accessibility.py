"""By ear, by key, at 200%, without motion, in colors of one's own."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from seqviz.content import catalog
from seqviz.core.i18n import Text
from testing.chromium import css_class
from tests.browser.accessibility import DIALOG, panels, parts, told, unfold, violations
from tests.tiers import first_only

WIDE = {"width": 1280, "height": 900}
PHONE = {"width": 420, "height": 900}
ZOOMED = {"width": 640, "height": 450}  # 1280 by 900 at 200%
SLUGS = [record.slug for record in catalog.LESSONS]
FIRST = {record.slug: f"{record.code}.{record.first[0]}" for record in catalog.LESSONS}
# The first two are tried at each push: home on a phone, and a lesson with formulas.
LOOKS = [
    ("", "dark", 420), ("gates", "light", 1280),
    *((slug, scheme, width) for slug in ("", *SLUGS) for scheme in ("light", "dark")
      for width in (1280, 420)),
]  # fmt: skip
# Elements that a Tab comes to, and what of their looks tells that they have the focus.
TABBED = """async () => {
    const frame = () => new Promise(requestAnimationFrame);
    await frame();
    await frame(); // what fades in has come
    const around = (one, levels) =>
        levels && one ? [one, ...around(one.parentElement, levels - 1)] : [];
    const look = (one) => [...around(one, 5), one.firstElementChild, one.nextElementSibling]
        .filter(Boolean)
        .map((element) => ["", "::before", "::after"].map((part) => {
            const style = getComputedStyle(element, part || null);
            return [style.outlineStyle, style.outlineWidth, style.outlineColor, style.boxShadow,
                style.borderColor, style.backgroundColor, style.color, style.textDecoration,
                style.content, style.opacity].join();
        }).join()).join("|");
    const now = document.activeElement;
    const before = window.tabbed;
    const unseen = before && before.one.isConnected && look(before.one) === before.looks
        ? before.name : null;
    if (now === null || now === document.body) {
        window.tabbed = null;
        return {end: true, unseen};
    }
    const name = now.getAttribute("aria-label") || now.innerText || now.outerHTML.slice(0, 120);
    const backwards = Boolean(before && before.one.isConnected && (
        now.compareDocumentPosition(before.one) & Node.DOCUMENT_POSITION_FOLLOWING));
    const {width, height} = now.getBoundingClientRect();
    window.tabbed = {one: now, looks: look(now), name: `${now.tagName} ${name}`};
    window.reached ??= new Set();
    const again = window.reached.has(now);
    window.reached.add(now);
    return {end: false, unseen, backwards: backwards && name, again, size: width * height, name};
}"""
# What can be done on the page, but was not come to. Of a group of radio buttons one is.
MISSED = """() => {
    const reached = [...window.reached];
    const doable = 'button, input, select, summary, a[href], [role="radio"], [role="tab"]';
    return [...document.querySelectorAll(`.stMain :is(${doable})`)]
        .filter((one) => one.checkVisibility({visibilityProperty: true}) && !one.disabled
            && !one.closest(".seqviz-overlay, .stDataFrame, .vega-bindings"))
        .filter((one) => {
            const group = one.closest('[role="radiogroup"], [role="tablist"], [role="toolbar"]');
            return !reached.some((two) => two === one || (group ?? one).contains(two));
        })
        // Beside the number that its arrow keys change; in a menu that a key opens.
        .filter((one) => !one.closest(".seqviz-slider .box, .stSelectbox"))
        .map((one) => one.outerHTML.slice(0, 160));
}"""
WIDER = """() => {
    const scrolls = `.katex-display, table, pre, [role=tablist], .stButtonGroup, svg, math,
        .chips, [class*="-footer"], [class*="-readouts"]`;
    const main = document.querySelector('[data-testid="stMain"]');
    return [main.scrollWidth - main.clientWidth,
        ...[...main.querySelectorAll("*")].filter((one) => {
            const {right, width, height} = one.getBoundingClientRect();
            return width * height > 1 && right > innerWidth + 1 && !one.closest(scrolls)
                && one.checkVisibility();
        }).map((one) => one.outerHTML.slice(0, 120))];
}"""


def options(scheme: str = "light", width: int = 1280) -> dict:
    view = {"width": width, "height": 900}
    phone = {"has_touch": True, "is_mobile": True} if width == 420 else {}
    return {"color_scheme": scheme, "viewport": view, **phone}


@pytest.mark.parametrize(("slug", "scheme", "width"), first_only(LOOKS, retained=2))
def test_axe_reports_no_violations(visit, slug, scheme, width, request):
    """On the page with everything on it opened; by night in each panel that opens over it, too."""
    lesson = visit(slug, {"lang": "en"}, **options(scheme, width))
    for part in parts(lesson) if slug else [""]:
        lesson.rest()
        assert not told(violations(lesson)), part
    if request.node.get_closest_marker("nightly"):
        for name, where in panels(lesson, FIRST.get(slug)):
            assert not told(violations(lesson, where)), name


@pytest.mark.nightly
def test_start_button_has_no_axe_violations_in_dark_theme(visit):
    """Where nothing is shipped, and no model is waited for."""
    lesson = visit("ar_fitting", {"lang": "en", "ar.networks.preset": "own"}, color_scheme="dark")
    lesson.page.locator(".st-key-bench-networks").scroll_into_view_if_needed()
    lesson.page.locator(".st-key-ar-networks-start button").wait_for()
    lesson.rest()
    assert not (results := violations(lesson, ".st-key-bench-networks")), told(results)


@pytest.mark.nightly
def test_axe_reports_unnamed_button(visit):
    """As a test of the tests: a button that loses its name."""
    lesson = visit("ar_fitting", {"lang": "en"})
    lesson.by_key("ar.process.data").locator("button").evaluate("(b) => b.replaceChildren()")
    assert "button-name" in {violation["id"] for violation in violations(lesson)}


def walked(page) -> tuple[list[str], list[str], list[str]]:
    """Tab through the page: what had the focus unseen, went backwards, was not come to."""
    page.evaluate("window.reached = new Set(); window.tabbed = null")
    page.get_by_role("link", name="Skip to main content").focus()
    unseen, backwards = [], []
    for _ in range(600):
        page.keyboard.press("Tab")
        value = page.evaluate(TABBED)
        if value["unseen"]:
            unseen.append(value["unseen"])
        if value["end"] or value["again"]:
            break
        assert value["size"] > 0, value["name"]
        if value["backwards"]:
            backwards.append(value["backwards"])
    else:
        pytest.fail("no end")
    return unseen, backwards, page.evaluate(MISSED)


@pytest.mark.nightly
@pytest.mark.parametrize("slug", SLUGS)
def test_page_tab_order_reaches_every_control_with_visible_focus(visit, slug):
    """Tab comes to all that can be pressed or moved, in the page's order, and one sees where."""
    lesson = visit(slug, {"lang": "en"}, viewport=WIDE)
    unfold(lesson)
    page = lesson.page
    page.emulate_media(reduced_motion="reduce")  # a border that fades in is seen later
    try:
        unseen, backwards, missed = walked(page)
    finally:  # the next test has this page
        page.emulate_media(reduced_motion="no-preference")
    assert missed == []
    assert unseen == []
    assert backwards == []


def test_figure_key_opens_data_dialog_and_restores_focus(visit):
    """The key is announced, what stands under the figure describes it, the bench has its name."""
    lesson = visit("ar_fitting", {"lang": "en"})
    text = Text("en")
    group = lesson.page.get_by_role("group", name=text("ar_fitting.bench.process"))
    group.get_by_role("button", name=text("frame.data"), exact=True).wait_for()
    chart = lesson.figure("ar.process").locator(".seqviz-chart")
    chart.focus()
    lesson.page.wait_for_function("() => document.activeElement.ariaKeyShortcuts === 'D Enter'")
    first = chart.get_attribute("aria-describedby").split()[0]  # what is folded comes after it
    message = lesson.page.locator(f"[id='{first}']").inner_text()
    visible = lesson.page.locator('[class*="st-key-ar-process-notes-"]').first.inner_text()
    assert message == visible != ""
    for key in ("d", "Enter"):
        lesson.page.keyboard.press(key)
        dialog = lesson.page.locator(DIALOG)
        dialog.get_by_text(chart.get_attribute("aria-label")).wait_for()
        dialog.locator(".stDataFrame").first.wait_for()
        lesson.page.keyboard.press("Escape")
        dialog.wait_for(state="detached")
        assert chart.evaluate("(one) => document.activeElement === one")


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["data", "export", "code", "link"])
def test_dialog_traps_focus_and_restores_it(visit, name):
    lesson = visit("ar_fitting", {"lang": "en"})
    button = lesson.by_key(f"ar.process.{name}").locator("button")
    button.focus()
    lesson.page.keyboard.press("Enter")
    lesson.page.locator(DIALOG).wait_for()
    lesson.page.wait_for_function("() => document.activeElement.closest('[role=dialog]') !== null")
    for _ in range(12):  # it does not leave the dialog
        lesson.page.keyboard.press("Tab")
        assert lesson.page.evaluate("document.activeElement.closest('[role=dialog]') !== null")
    lesson.page.keyboard.press("Escape")
    lesson.page.locator(DIALOG).wait_for(state="detached")
    lesson.page.wait_for_function(
        "(key) => document.activeElement === document.querySelector(`${key} button`)",
        arg=css_class(f"ar.process.{name}"),
    )


@pytest.mark.nightly
@pytest.mark.parametrize("slug", ["", *SLUGS])
def test_page_at_200_percent_zoom_keeps_controls_without_overflow(visit, slug):
    """What can be pressed or moved at 1280 pixels is there at 640 as well."""
    lesson = visit(slug, {"lang": "en"}, viewport=WIDE)
    if slug:
        lesson.whole()
    named = """() => [...document.querySelectorAll(".stMain [class*=st-key-]")]
        .filter((one) => one.checkVisibility() && one.querySelector("button, input, a"))
        .map((one) => [...one.classList].find((name) => name.startsWith("st-key-")))"""
    before = set(lesson.page.evaluate(named))
    lesson.page.set_viewport_size(ZOOMED)
    lesson.rest()
    for bench in lesson.page.locator('[class*="st-key-bench-"]:visible').all():
        bench.scroll_into_view_if_needed()  # a chart out of sight keeps the width that it had
        lesson.rest()
    assert lesson.page.evaluate(WIDER) == [0]
    assert before - set(lesson.page.evaluate(named)) == set()


@pytest.mark.nightly
def test_page_disables_animation_for_reduced_motion(visit):
    moving = """() => [...document.querySelectorAll("*")].filter((one) => {
        const {transitionDuration, animationDuration} = getComputedStyle(one);
        return [transitionDuration, animationDuration].some((all) =>
            all.split(",").some((seconds) => parseFloat(seconds) > 0.001));
    }).length"""
    lesson = visit("gates", {"lang": "en"})
    assert lesson.page.evaluate(moving) > 0
    try:
        lesson.page.emulate_media(reduced_motion="reduce")
        assert lesson.page.evaluate(moving) == 0
    finally:
        lesson.page.emulate_media(reduced_motion="no-preference")


def pixels(locator) -> np.ndarray:
    picture = Image.open(io.BytesIO(locator.screenshot()))
    return np.asarray(picture.convert("RGB")).astype(int)


@pytest.mark.nightly
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_keeps_controls_visible_in_forced_colors(visit, scheme):
    """Handle and track of a slider, lines of a chart, the chosen segment, a switch, the focus."""
    lesson = visit("ar_fitting", {"lang": "en"}, color_scheme=scheme)
    lesson.chart("ar.process").wait_for()
    lesson.rest()
    plain = pixels(lesson.figure("ar.process"))
    try:
        lesson.page.emulate_media(forced_colors="active")
        slider = pixels(lesson.slider("ar.process.phi"))
        middle = slider[slider.shape[0] // 2]
        paper = slider[0, 0]
        handle = int(2 / 2.4 * slider.shape[1])  # phi = 0.8 of -1.2 to 1.2
        observed = np.abs(middle - paper).sum(axis=1) > 100
        assert observed.mean() > 0.9  # the track, all along
        tall = np.abs(slider[:, handle - 20 : handle + 20] - paper).sum(axis=2) > 100
        assert tall.sum(axis=0).max() >= 10  # the handle
        figure = pixels(lesson.figure("ar.process"))
        assert np.abs(figure - plain).mean() < 1  # the same picture, on the same paper
        chosen, other = (
            lesson.page.get_by_role("radio", name=name, exact=True)
            for name in ("ACF and PACF", "Roots")
        )
        assert np.abs(pixels(chosen)[4, 8] - pixels(other)[4, 8]).sum() > 100
        button = lesson.by_key("ar.process.data").locator("button")
        button.focus()
        lesson.page.keyboard.press("Shift+Tab")
        lesson.page.keyboard.press("Tab")
        assert button.evaluate("(one) => getComputedStyle(one).outlineStyle") == "solid"
        switch = lesson.by_key("ar.process.shuffle").locator(".stCheckbox")
        off = pixels(switch)[:, :36]
        assert len(np.unique(off.reshape(-1, 3), axis=0)) > 1
        switch.click()
        lesson.rest()
        assert np.abs(pixels(switch)[:, :36] - off).max() > 100
        badge = lesson.page.locator('[class*="-footer"] .stMarkdownBadge').first
        assert len(np.unique(pixels(badge).reshape(-1, 3), axis=0)) > 1
    finally:
        lesson.page.emulate_media(forced_colors="none")
