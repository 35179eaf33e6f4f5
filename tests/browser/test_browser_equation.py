"""The equation under a figure: its symbols light up what they mean, and the reverse."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from seqviz import lessons
from seqviz.content import catalog
from testing.chromium import css_class, slider_input
from tests.browser.lesson_page import LessonPage

BENCH, PHI = "ar.process", "ar.process.phi"
RING, LIT, FADED = "[data-seqviz-ring]", ".seqviz-lit", ".seqviz-lighting"
HEIGHT = "(element) => element.getBoundingClientRect().height"


def symbols(page: Page, bench: str = "process") -> Locator:
    return page.locator(f".st-key-bench-{bench} .seqviz-equation .symbol:visible")


@pytest.fixture
def lesson(visit) -> LessonPage:
    opened = visit("ar_fitting", {"lang": "en"})
    opened.geometry(BENCH)
    expect(symbols(opened.page)).to_have_count(4)
    return opened


def test_equation_symbol_lights_up_and_is_lit(lesson):
    """By pointer and by keyboard a symbol lights a trace or control; these light the symbol."""
    page = lesson.page
    series, phi, _, sigma = (symbols(page).nth(k) for k in range(4))
    expect(phi.locator(".number")).to_have_text("0.8")
    phi.hover()
    expect(page.locator(css_class(f"{PHI}.slider")).and_(page.locator(RING))).to_be_visible()
    expect(page.locator(FADED)).to_have_count(0)
    series.hover()
    expect(page.locator(RING)).to_have_count(0)
    expect(page.locator(FADED)).to_have_count(1)
    assert page.locator(LIT).count() == 1
    lesson.slider(PHI).hover()
    expect(page.locator(f"{FADED}, {LIT}")).to_have_count(0)
    expect(phi).to_have_class(re.compile(r"\blit\b"))
    expect(sigma).not_to_have_class(re.compile(r"\blit\b"))
    series.focus()
    expect(page.locator(FADED)).to_have_count(1)
    page.keyboard.press("Tab")
    expect(phi).to_be_focused()
    expect(page.locator(RING)).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator(RING)).to_have_count(0)
    group = page.locator(".st-key-bench-process").get_by_role(
        "group", name="Equation with the current values"
    )
    expect(group.get_by_role("button", name="φ, autoregressive coefficient: 0.8")).to_be_visible()


def test_equation_numbers_follow_a_drag(lesson):
    """The numbers are those of the frame on screen; the line keeps its height."""
    page = lesson.page
    line = page.locator(".st-key-bench-process .seqviz-equation:visible")
    height = line.evaluate(HEIGHT)
    lesson.drag(PHI, 0.83, 0.3)
    expect(symbols(page).nth(1).locator(".number")).not_to_have_text("0.8")
    expect(symbols(page).nth(1)).to_have_class(re.compile(r"\blit\b"))
    page.mouse.up()
    lesson.heard(BENCH)
    value = page.locator(slider_input(PHI)).input_value()
    expect(symbols(page).nth(1).locator(".number")).to_have_text(value.replace("-", "−"))
    assert line.evaluate(HEIGHT) == height


@pytest.mark.nightly
@pytest.mark.parametrize("record", catalog.LESSONS, ids=lambda record: record.slug)
@pytest.mark.parametrize("view", ["desk", "phone"])
def test_every_symbol_of_a_lesson_lights_something(visit, record, view):
    lesson = visit(record.slug, {"lang": "zh"}, view=view)
    lesson.whole()
    lesson.rest()
    page = lesson.page
    for name in getattr(lessons, record.slug).lesson.core:
        for symbol in symbols(page, name).all():
            symbol.focus()
            part = f"{RING}, {LIT}, .seqviz-step-lights > *"
            controls = symbol.evaluate("(s) => JSON.parse(s.dataset.lights)")
            in_more = all(light["kind"] == "control" for light in controls)
            assert page.locator(part).count() > 0 or in_more, (name, symbol.get_attribute("title"))
