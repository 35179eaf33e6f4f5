"""Chapters: the dots in the header, what fills them, where they lead, where they are hidden."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from seqviz import lessons
from seqviz.content import catalog
from seqviz.content.search_index import plain_title
from seqviz.core.i18n import LANGUAGES, Text

DOTS = ".seqviz-chapters a"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_chapter_titles_are_plain_text(lang):
    text = Text(lang)
    for record in catalog.LESSONS:
        for name in getattr(lessons, record.slug).lesson.core:
            title = plain_title(text(f"{record.slug}.bench.{name}"))
            assert not re.search(r"[$*`<\\[]", title), name


def test_chapters_fill_with_predictions_and_moves(visit):
    lesson = visit("recurrent", {"lang": "en"})
    page = lesson.page
    dots = page.locator(DOTS)
    expect(dots).to_have_count(len(lessons.recurrent.lesson.core))
    expect(page.locator(".seqviz-chapters")).to_have_accessible_name("Chapters")
    unanswered = dots.filter(has_text="○ predicted")
    before = unanswered.count()
    assert before > 0
    page.get_by_role("button", name=Text("en")("frame.skip")).first.click()
    expect(unanswered).to_have_count(before - 1)
    page.reload()
    expect(unanswered).to_have_count(before - 1)


def test_chapters_go_to_their_figures(visit):
    lesson = visit("recurrent", {"lang": "en"})
    page = lesson.page
    name = lessons.recurrent.lesson.core[2]
    page.locator(DOTS).nth(2).press("Enter")
    page.wait_for_function(f"""() => {{
        const top = document.querySelector(".st-key-bench-{name}")?.getBoundingClientRect().top;
        return top > 40 && top < 100;
    }}""")
    expect(page.locator(DOTS).nth(2)).to_have_attribute("aria-current", "true")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.nightly
def test_chapters_are_hidden_in_presentation_and_leave_with_the_page(visit):
    page = visit("recurrent", {"lang": "en", "present": "true"}).page
    expect(page.locator(".seqviz-chapters")).to_be_hidden()
    page = visit("recurrent", {"lang": "en"}).page
    expect(page.locator(".seqviz-chapters")).to_be_visible()
    page.locator(".st-key-go-next a, .st-key-go-next button").first.click()
    page.wait_for_url("**/vanishing_gradients*")
    expect(page.locator(".seqviz-chapters")).to_have_count(1)
    core = lessons.vanishing_gradients.lesson.core
    expect(page.locator(DOTS).first).to_have_attribute("href", f"#bench-{core[0]}")


@pytest.mark.nightly
def test_chapters_ignore_foreign_storage(visit):
    page = visit("recurrent", {"lang": "en"}).page
    stored = json.dumps({"recurrent": ["<img src=x onerror=alert(1)>", 7, "tried-none"]})
    page.evaluate("text => localStorage.setItem('seqviz.progress', text)", stored)
    page.reload()
    dots = page.locator(DOTS)
    expect(dots).to_have_count(len(lessons.recurrent.lesson.core))
    expect(dots.first).to_contain_text("○ tried")
    assert page.locator(".seqviz-chapters img").count() == 0
