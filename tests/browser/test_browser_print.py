"""A lesson on paper: a readable handout, whichever theme and width it is read in."""

from __future__ import annotations

import re

import pytest

from seqviz.content import catalog
from seqviz.core.paths import ROOT, STATIC
from seqviz.ui.render import share_link
from testing.pdf import inked

BY_DAY = "gates"  # the longest on paper
SLUGS = [
    pytest.param(record.slug, marks=[] if record.slug == BY_DAY else [pytest.mark.nightly])
    for record in catalog.LESSONS
]
MAX_PAGES, MIN_FILLED = 8, 0.5  # of A4, and how far down each has something but the last
# What is on the page while it is being printed; ours has been told before.
SNAPSHOT = """() => window.addEventListener("beforeprint", ({isTrusted}) => {
    if (!isTrusted) return;
    const frame = (host) => host.closest('[class*="-figure"]').getBoundingClientRect();
    const charts = [...document.querySelectorAll(".seqviz-chart")]
        .filter((host) => host.chart?.json);
    window.paper = {
        values: [...document.querySelectorAll("p.seqviz-printed:not(.address)")]
            .map((one) => one.textContent),
        address: document.querySelector(".seqviz-printed.address").textContent,
        ink: charts.map((host) => getComputedStyle(host.querySelector(".xtick text")
            ?? host.querySelector("text")).fill),
        wider: charts.filter((host) => host.querySelector(".main-svg").getBoundingClientRect()
            .right > frame(host).right + 1).length,
        charts: charts.length,
        waiting: document.querySelectorAll('[class*="st-key-"][class*="-placeholder"]').length,
        numbers: [...document.querySelectorAll('.stMetric [data-testid="stMetricValue"]')]
            .filter((one) => one.getBoundingClientRect().width < 5).length,
        code: document.querySelector(".seqviz-page-code")?.naturalWidth,
    };
}, {once: true, capture: true})"""
PRINTS = """() => {
    const waiting = '[class*="st-key-"][class*="-placeholder"]';
    window.print = () => (window.waiting = document.querySelectorAll(waiting).length);
}"""


@pytest.mark.nightly
def test_print_draws_all_benches_first(visit):
    lesson = visit("vanishing_gradients", {"lang": "en"})
    lesson.page.evaluate(PRINTS)
    lesson.rest()
    assert lesson.page.locator('[class*="st-key-"][class*="-placeholder"]').count() > 0
    lesson.page.keyboard.press("Control+p")
    lesson.page.wait_for_function("() => window.waiting !== undefined")
    assert lesson.page.evaluate("window.waiting") == 0


@pytest.mark.parametrize("slug", SLUGS)
def test_print_turns_dark_lesson_into_light_handout(visit, slug):
    """Light, on few sheets, with the values in place of the controls; then as it was."""
    lesson = visit(slug, {"lang": "en"}, color_scheme="dark")
    lesson.whole()
    lesson.rest()
    page = lesson.page
    before = page.locator(".seqviz-chart").first.evaluate("(one) => one.chart.json")
    page.evaluate(SNAPSHOT)
    page.emulate_media(media="null", color_scheme="dark")
    pages = inked(page.pdf(format="A4"))
    paper = page.evaluate("window.paper")
    assert paper["charts"] > 0
    assert paper["wider"] == paper["waiting"] == 0
    assert set(paper["ink"]) == {"rgb(27, 36, 48)"}  # of the light theme
    assert paper["address"].startswith(lesson.page.url.partition("?")[0])
    if slug == "ar_fitting":
        series = "Figure: ACF and PACF · Order P: 1 · φ: 0.8 · Length n: 500 · Random seed: 1"
        assert paper["values"][0].startswith("Figure: All pairs · Slope φ: 0")
        assert paper["values"][1].startswith(series)
    assert paper["numbers"] == 0
    assert (paper["code"] is not None) == (share_link._own_address() is not None)
    assert paper["code"] != 0  # an image that is painted
    assert 3 <= len(pages) <= MAX_PAGES
    assert min(pages[:-1]) > MIN_FILLED, pages
    page.wait_for_function("() => !document.querySelector('.seqviz-printed')")
    assert page.locator(".seqviz-chart").first.evaluate("(one) => one.chart.json") == before


@pytest.mark.nightly
def test_print_lists_filter_order(visit, smollm2):
    """It is a control without a field of its own."""
    lesson = visit("gpt", {"lang": "en"})
    bench = lesson.by_key("bench-scores")
    bench.locator(".stExpander summary").first.click()
    bench.locator(".order .handle").first.wait_for()
    payload = lesson.page.evaluate("""async () => {
        const { preparePrint, restoreScreen } = await import("/app/static/bench/print.js");
        preparePrint();
        const said = [...document.querySelectorAll("p.seqviz-printed")];
        const told = said.map((one) => one.textContent);
        restoreScreen();
        return told;
    }""")
    assert (
        "Order of the filters: Penalty → Temperature → Top-k → Top-p → Min-p → Typical"
        in payload[0]
    )


def test_print_css_has_light_theme_colors():
    """They stand in the rules for paper, which a dark page has as well."""
    config = (ROOT / ".streamlit" / "config.toml").read_text("utf-8")
    light = config.partition("[theme.light]")[2].partition("[theme.dark]")[0]
    colors = re.findall(r"#[0-9A-F]{6}", light)
    assert set(colors) <= set(re.findall(r"#[0-9A-F]{6}", (STATIC / "bench/print.css").read_text()))
