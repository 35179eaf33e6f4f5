"""Every page paints: title, every chart, nothing from another host, no errors."""

from __future__ import annotations

import pytest

from seqviz import catalog
from seqviz.text import LANGUAGES, Text

PAGES = ("home", *(lesson.slug for lesson in catalog.LESSONS))
CHARTS = "svg.main-svg, svg.marks, .vega-embed canvas"


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("slug", PAGES)
def test_a_page_paints(visit, slug, lang):
    lesson = visit("" if slug == "home" else slug, {"lang": lang})
    lesson.titled(Text(lang)(f"{slug}.title"))
    lesson.idle()
    figures = lesson.page.locator('[class*="-figure"]')
    assert slug == "home" or figures.count() > 0
    for figure in figures.all():
        chart = figure.locator(CHARTS).first
        chart.wait_for()
        box = chart.bounding_box()
        assert box["width"] > 100 and box["height"] > 100, figure.get_attribute("class")
