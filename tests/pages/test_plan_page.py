"""Lesson plans for teachers in the app: a page per lesson and language."""

from __future__ import annotations

import re

import pytest

from seqviz.content import catalog
from seqviz.core.i18n import unbroken
from seqviz.core.paths import PLANS
from seqviz.ui.page import plan
from tests.tiers import alternate

SLUGS = [lesson.slug for lesson in catalog.LESSONS]
BOLD = re.compile(r"\*\*([^*]+)\*\*")


def written(page) -> str:
    """All Markdown and HTML of a page."""
    return "\n".join(item.value for item in (*page.app.markdown, *page.app.get("html")))


@pytest.mark.parametrize(("slug", "lang"), alternate(SLUGS))
def test_plan_page_shows_whole_plan_and_offers_its_files(visit, slug, lang):
    page = visit(slug, lang, view="plan")
    visible = written(page)
    source = (PLANS / f"{slug}.{lang}.md").read_text("utf-8")
    assert page.charts() == 0
    assert "<!--" not in visible
    assert set(BOLD.findall(unbroken(source))) <= set(BOLD.findall(visible))
    links = re.findall(r"\]\((/[^)\s]+)\)", source)
    assert links
    assert all(f"]({link[1:]})" in visible for link in links)
    files = set(re.findall(r"\]\((notebooks/[^)\s]+)\)", source))
    offered = {button.proto.id.rsplit("plan.", 1)[-1] for button in page.app.get("download_button")}
    assert files <= offered
    assert f'href="{slug}?lang={lang}"' in visible
    for other in set(SLUGS) - {slug}:
        assert f"({other}?lang={lang}&view=plan)" in visible


@pytest.mark.parametrize(("slug", "lang"), alternate(SLUGS))
def test_lesson_links_its_plan(untouched, slug, lang):
    assert f'href="{slug}?lang={lang}&view=plan"' in written(untouched(slug, lang))


def test_rendered_plan_keeps_files_in_order_and_only_once():
    source = (
        "# Title\n[a](notebooks/x.ipynb), [b](/gates?lang=en#bench-one), [c](notebooks/x.ipynb),"
    )
    body, files = plan.rendered(f"{source} **3**<!--=1 + 2--> [d](text.en.md)", {"lang": "en"})
    assert files == ["notebooks/x.ipynb"]
    assert (
        body
        == "## Title\n*a*, [b](gates?lang=en#bench-one), *c*, **3** [d](text?lang=en&view=plan)"
    )
