"""Notes for the Chinese course: a page per lesson, and the lesson with and without them."""

from __future__ import annotations

import re

import pytest

from seqviz.content import catalog
from seqviz.core.i18n import LANGUAGES, sections
from seqviz.lessons.framework import controls
from seqviz.ui.page import course
from tests.pages.page_assertions import sentences
from tests.tiers import alternate

SLUGS = [lesson.slug for lesson in catalog.LESSONS]
NAMED = re.compile(r"\bS[0-4]\b|\bD-\d\d\b")  # texts and discrepancies


def written(page) -> str:
    """All Markdown and HTML of a page."""
    return "\n".join(item.value for item in (*page.app.markdown, *page.app.get("html")))


def with_variants() -> list[str]:
    """The lessons that have controls of the texts' variants."""
    from seqviz import lessons

    return [slug for slug in SLUGS if list(course.variants(getattr(lessons, slug).lesson))]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("slug", SLUGS)
def test_course_page_holds_every_row_and_discrepancy(visit, slug, lang):
    page = visit(slug, lang, view="course")
    visible, text = written(page), page.text
    assert page.charts() == 0
    for row in text.items(f"{slug}.texts.rows"):
        for cell in row:
            assert cell.replace("|", "\\|") in visible
    material = f"{text.items(f'{slug}.texts.rows')}{sections(slug, lang).get('course', '')}"
    assert set(NAMED.findall(material)) <= set(NAMED.findall(visible))
    assert all(item in visible for item in text.items("frame.five_texts_are"))
    assert f'href="?lang={lang}"' in visible
    assert f'href="?lang={lang}&course=zh5"' in visible


@pytest.mark.parametrize(("slug", "lang"), alternate(SLUGS))
def test_lesson_links_course_page_and_holds_nothing_of_it(untouched, slug, lang):
    page = untouched(slug, lang)
    visible = written(page)
    assert f'href="?lang={lang}&view=course"' in visible
    assert not [sentence for sentence in sentences(page.app) if NAMED.search(sentence)]
    for row in page.text.items(f"{slug}.texts.rows"):
        assert f"| {row[0]} |" not in visible
    for bench, declaration in page.lesson.benches.items():
        for name, control in controls.controls(declaration):
            if control.course:
                assert page.value(bench, name) is None


@pytest.mark.parametrize("slug", with_variants())
def test_course_page_links_set_variants(visit, slug):
    from seqviz import lessons

    lesson = getattr(lessons, slug).lesson
    declared = {
        (bench, name)
        for bench, its in lesson.benches.items()
        for name, control in controls.controls(its.declaration)
        if control.course
    }
    found = list(course.variants(lesson))
    assert {(bench, name) for bench, name, _ in found} == declared
    visible = written(visit(slug, view="course"))
    for bench, name, values in found:
        assert f"#bench-{bench}): " in visible
        page = visit(slug, course="zh5", **values)
        default = dict(controls.controls(page.lesson.benches[bench]))[name].default
        assert page.value(bench, name) not in (None, default)
        assert page.address.items() >= values.items()
