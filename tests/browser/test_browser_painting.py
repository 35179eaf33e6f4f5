"""Every page paints: its title, all its charts; nothing from another host, no errors."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from seqviz.content import catalog
from seqviz.core.i18n import LANGUAGES, Text
from seqviz.plotting.card_picture import WIDTH
from testing.server import serve
from tests.browser.lesson_page import CHARTS, PARTS, LessonPage, watched
from tests.tiers import LOOKED_AT, alternate, first_only

HYPHEN = re.compile(r"(?<![\w.)\]}-])-\d")
# The class that says which figure it is.
NAMES = """(figures) => figures.map((figure) =>
    [...figure.classList].find((name) => /^st-key-.*-figure$/.test(name)))"""
SLUGS = [lesson.slug for lesson in catalog.LESSONS]


def all_charts(lesson) -> list:
    """The chart of every bench that has one, after checking that it can be seen in its tab."""
    lesson.whole()
    lesson.rest()
    names = lesson.page.locator('[class*="-figure"]').evaluate_all(NAMES)
    charts = {}
    for tab in lesson.page.locator(PARTS).all() or [None]:
        if tab:
            tab.click()
            lesson.rest()
        for name in names:  # more may come while we look: a model is being loaded
            figure = lesson.page.locator(f".{name}")
            if tab and not figure.is_visible():
                continue
            figure.scroll_into_view_if_needed()
            chart = figure.locator(CHARTS).first
            chart.wait_for()
            box = chart.bounding_box()
            assert min(box["width"], box["height"]) > 100, name
            charts[name] = chart
    assert set(charts) == set(names)
    return list(charts.values())


@pytest.mark.parametrize("lang", first_only(LANGUAGES))
def test_home_paints_all_cards(visit, lang):
    home = visit("", {"lang": lang})
    text = Text(lang)
    home.titled(text("home.title"))
    home.page.locator(".seqviz-home-bench[data-live] .main-svg").first.wait_for()
    for record in catalog.LESSONS:
        card = home.page.locator(f'.seqviz-card[data-slug="{record.slug}"]')
        card.scroll_into_view_if_needed()
        expect(card).to_contain_text(text(f"{record.slug}.title"))
        expect(card.locator("img")).to_have_js_property("complete", True)
        assert card.locator("img").evaluate("(one) => one.naturalWidth") == WIDTH


@pytest.mark.parametrize(("slug", "lang"), alternate(SLUGS, LOOKED_AT))
def test_lesson_paints_all_charts(visit, slug, lang):
    lesson = visit(slug, {"lang": lang})
    lesson.titled(Text(lang)(f"{slug}.title"))
    assert all_charts(lesson)
    # A minus is U+2212 in what Plotly formats, too: ticks, cells (tools/plotly_bundle.js).
    painted = lesson.page.locator(".seqviz-chart text").all_text_contents()
    assert len(painted) > 20
    assert not [text for text in painted if HYPHEN.search(text)]


@pytest.mark.nightly
def test_fresh_server_serves_deep_link_to_first_visitor(browser):
    # With a folder named `pages` Streamlit starts in its old navigation, and app.py never runs.
    slug = SLUGS[-1]
    with serve(environment={"HF_HUB_OFFLINE": "1"}) as fresh, watched(browser, fresh) as visit:
        lesson = visit(slug)
        lesson.titled(Text("en")(f"{slug}.title"))
        assert all_charts(lesson)
        assert lesson.page.get_by_test_id("stSidebar").count() == 0
        lesson.page.get_by_test_id("stHeader").get_by_text(Text("en")("frame.map")).wait_for()


@pytest.mark.nightly
def test_chart_margins_are_measured_with_late_font(visit, browser, server):
    """A font that comes late: the margins are those of the picture that is drawn with it."""
    rendered = visit("ar_fitting", {"lang": "en", "ar.process.seed": "3"}).geometry("ar.process")
    held = []
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.route("**/SourceSansVF-Upright*", lambda route: held.append(route))
    page.goto(f"{server.url}/ar_fitting?lang=en&ar.process.seed=3", wait_until="commit")
    page.wait_for_function("() => window.Plotly?.react")
    page.wait_for_timeout(300)
    assert held
    for route in held:
        route.continue_()
    assert LessonPage(page).geometry("ar.process") == rendered != ""
    context.close()
