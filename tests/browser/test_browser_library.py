"""Where the drawing library cannot be loaded, the page says so and stays whole."""

from __future__ import annotations

from seqviz.content import catalog
from seqviz.core.i18n import Text


def test_page_reports_missing_plotly(browser, server):
    lesson = catalog.LESSONS[0]
    context = browser.new_context(locale="en-US")
    page = context.new_page()
    page.route("**/plotly.min.js", lambda route: route.abort())
    page.goto(f"{server.url}/{lesson.slug}")
    figure = page.locator(f".st-key-{lesson.code}-{lesson.first[0]}-figure")
    figure.get_by_text(Text("en")("frame.no_library")).wait_for()
    page.locator(f".st-key-bench-{lesson.first[0]} [data-testid=stMetric]").first.wait_for()
    context.close()
