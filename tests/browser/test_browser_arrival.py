"""What a first visit asks the server for until it sees the first figure, and what moves."""

from __future__ import annotations

from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import expect

from seqviz.content import catalog
from seqviz.core.i18n import Text
from testing.chromium import GEOMETRY, MARKS
from tests.browser.lesson_page import LessonPage
from tests.tiers import first_only

FIGURE = f".seqviz-chart :is({MARKS}), .seqviz-sinusoid canvas"
BYTES = 1_500_000  # 6 s of a lecture hall's share of Wi-Fi, 2 Mbit/s

PAPERS = {"dark": "rgb(17, 22, 29)", "light": "rgb(255, 255, 255)"}
PAPER = "(one) => getComputedStyle(one).backgroundColor"

# What moves on the page before it stands, by its names of CSS; a line that is rounded to the next
# pixel (0.0003) is not seen.
MOVED = """
window.moved = [];
new PerformanceObserver((list) => {
  for (const { value, sources } of list.getEntries())
    for (const { node } of value > 0.001 ? sources : []) moved.push(String(node?.className ?? ""));
}).observe({ type: "layout-shift", buffered: true });
"""


@pytest.mark.parametrize("record", first_only(catalog.LESSONS), ids=lambda record: record.slug)
def test_first_visit_stays_within_byte_budget_without_errors_or_shift(browser, server, record):
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    context.add_init_script(MOVED)
    network = context.new_cdp_session(page)
    network.send("Network.enable")
    sizes: list[float] = []
    failed: list[str] = []
    network.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    page.on("response", lambda item: failed.append(item.url) if item.status >= 400 else None)
    page.goto(f"{server.url}/{record.slug}")
    page.locator(f"#root {FIGURE}").first.wait_for(timeout=60_000)
    page.locator("#seqviz-shell").wait_for(state="detached")
    moved = page.evaluate("moved")
    context.close()
    assert failed == []
    assert len(sizes) > 50
    assert sum(sizes) <= BYTES
    assert moved == []


@pytest.mark.parametrize("system", first_only(["dark", "light"]))
def test_shell_shows_first_figure_before_websocket_opens(browser, server, system):
    """In the system's colors, and in those that the visitor has chosen instead."""
    context = browser.new_context(color_scheme=system, locale="en-US")
    lesson, line_is_open = LessonPage(page := context.new_page()), [True]
    page.route_web_socket(
        "**/_stcore/stream", lambda line: line.connect_to_server() if line_is_open[0] else None
    )
    page.goto(f"{server.url}/ar_fitting?lang=en")
    first = page.locator("#seqviz-shell")
    for chosen in (system, "light" if system == "dark" else "dark"):
        before = lesson.geometry("ar.by_hand")
        if chosen != system:
            page.get_by_test_id("stMainMenu").click()
            page.get_by_role("menuitemradio", name=chosen.capitalize()).click()
        line_is_open[0] = False
        page.reload()
        first.locator(FIGURE).first.wait_for()
        assert first.evaluate(GEOMETRY) == before
        assert page.locator("h1").count() == 0
        assert first.evaluate(PAPER) == PAPERS[chosen]
        line_is_open[0] = True
        page.reload()
        first.wait_for(state="detached")
        assert lesson.geometry("ar.by_hand") == before
        assert page.locator(".stApp").evaluate(PAPER) == PAPERS[chosen]
    context.close()


def test_shell_omits_figure_for_non_default_link(visit, server):
    """A link with settings, presenter mode or an embed gets a shell without a figure."""

    def html(address: str, language: str = "en-US") -> str:
        request = Request(f"{server.url}/{address}", headers={
            "Accept": "text/html", "Accept-Language": language,
        })  # fmt: skip
        return urlopen(request).read().decode()

    visit("ar_fitting", {"lang": "zh"}).geometry("ar.by_hand")
    title = Text("zh")("ar_fitting.title")
    for full in (html("ar_fitting", "zh-CN,zh;q=0.9"), html("ar_fitting?lang=zh")):
        assert title in full
        assert '"mode":"lines"' in full.replace('\\"', '"')
    assert title not in html("ar_fitting?lang=en", "zh-CN")
    for other in ("?lang=zh-TW", "?lang=zh_Hans", "?lang=ZH"):
        assert title in html(f"ar_fitting{other}")
    assert title in html("ar_fitting", "fr-FR,zh-CN;q=0.8,en;q=0.5")
    assert title in html("ar_fitting?lang=zh&ar.process.phi=0.5")
    assert '"mode":"lines"' not in html("ar_fitting?lang=zh&ar.process.phi=0.5").replace('\\"', '"')
    assert Text("zh")("home.goal")[:20] in html("?lang=zh")
    for other in ("ar_fitting?lang=zh&present=true", "ar_fitting?embed=true", "none"):
        assert "seqviz-shell-figure" not in html(other)


@pytest.mark.parametrize(
    "lost", first_only([True, False]), ids=["lost on the line", "does nothing"]
)
def test_shell_is_removed_without_its_script(browser, server, lost):
    context = browser.new_context()
    page = context.new_page()
    page.clock.install()
    page.route(
        "**/shell.js*",
        lambda route: (
            route.abort() if lost else route.fulfill(body="", content_type="text/javascript")
        ),
    )
    page.goto(f"{server.url}/ar_fitting")
    if not lost:
        page.clock.fast_forward(10_000)
        expect(page.locator("#seqviz-shell")).to_be_attached()
        page.clock.fast_forward(10_000)
    expect(page.locator("#seqviz-shell")).not_to_be_attached()
    expect(page.locator("#root h1")).to_be_visible(timeout=30_000)
    context.close()
