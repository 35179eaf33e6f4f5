"""Render the images of the home page and of all cards: `python -m tools.pictures`.

Each is the figure of a bench at its defaults, exported by Plotly as SVG: on a lesson's card its
first bench, on the card of a folded bench that one. Cards have no text, and one file per theme, as
an image cannot inherit the page's colors. The home page's image is reduced as there
(`home/hero.js`), inline, and uses the theme's colors. Tests render them and compare.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from urllib.parse import unquote

from playwright.sync_api import Browser, Page

from seqviz import lessons
from seqviz.content import catalog
from seqviz.core.brotli_assets import read_asset
from seqviz.core.i18n import LANGUAGES
from seqviz.core.paths import ASSETS
from seqviz.lessons.framework.lesson import Bench
from seqviz.plotting.card_picture import HEIGHT, WIDTH, wordless
from seqviz.plotting.figure import Figure
from seqviz.plotting.style import DARK, LIGHT, LIVE, Style
from seqviz.ui.page import home
from seqviz.ui.prerender import shell
from testing.chromium import chromium

CARDS, HOME = ASSETS / "static" / "home", ASSETS / "pictures"
FOLDED = ASSETS / "static" / "bench" / "cards"
# On the card instead of the first bench, whose figure answers the lesson's first question or has
# too many points.
CARD_BENCHES = {"vanishing_gradients": "reach", "ar_fitting": "process"}
# Settings for figures with too many marks for a card.
SHORT = {"text": {"text": "Unbelievable films"}}
MAX_CHARACTERS = 24_000  # of the image of a card
SIZES = {"wide": (717, 420), "narrow": (356, 420)}  # home page: next to its slider, on a phone
DRAW = """async ([written, width, height]) => {
  const host = document.body.appendChild(document.createElement("div"));
  const {data, layout} = JSON.parse(written);
  await Plotly.react(host, data, {...layout, width, height});
  const svg = await Plotly.toImage(host, {format: "svg", width, height});
  host.remove();
  return svg;
}"""
HERO = "([figure, words]) => heroFigure(figure, words)"
_TAG = re.compile(r"<[^>]+>")
_NUMBER = re.compile(r"-?\d+\.\d+")
_DECLARATION = re.compile(
    r"(?:vector-effect|font-variant|letter-spacing|white-space|pointer-events|user-select"
    r"|font-style|font-weight|text-transform|text-decoration-line|line-height|text-shadow"
    r"|text-decoration): (?:none|normal|400|pre|all|non-scaling-stroke);? ?"
)
_EMPTY = re.compile(r'<g(?: [^>]*)?/>|<g(?: [^>]*)?></g>|<path[^>]* d="M0,0Z"[^>]*/>')


def clean(svg: str) -> str:
    """Return Plotly's SVG rounded to a tenth of a pixel, without attributes for Plotly only."""
    svg = unquote(svg.partition(",")[2])
    svg = re.sub(r' (?:class|data-[\w-]+|pointer-events|text-rendering)="[^"]*"', "", svg)
    svg = _TAG.sub(lambda tag: _NUMBER.sub(_short, tag[0]), svg)
    svg = _DECLARATION.sub("", svg.replace("&quot;", "'")).replace(' style=""', "")
    for index, name in enumerate(dict.fromkeys(re.findall(r'id="([^"]+)"', svg))):
        svg = svg.replace(f'"{name}"', f'"p{index}"').replace(f"#{name}", f"#p{index}")
    while (shorter := _EMPTY.sub("", svg)) != svg:
        svg = shorter
    return svg


def _short(number: re.Match[str]) -> str:
    return f"{float(number[0]):.1f}".removesuffix(".0")


def inline(svg: str, name: str) -> str:
    """Return an SVG for inlining in a page, with the page's font and the theme's colors.

    The reserved colors of figures (#000001 ...) become CSS variables.

    Args:
        svg: the SVG.
        name: prefix of its ids, as a page has several images.
    """
    svg = re.sub(r'(?<=id=")p(?=\d)|(?<=#)p(?=\d)', name, svg)
    svg = re.sub(r"font-family: [^;\"]+;? ?", "", svg)
    for slot in range(1, 11):
        blue = int(f"{slot:06d}", 16)
        svg = svg.replace(f"rgb(0, 0, {blue})", f"var(--seqviz-{slot})")
    return svg


def pictures(browser: Browser) -> Iterator[tuple[Path, str]]:
    """Yield the images of the home page, each with its file."""
    page = _plotly(browser)
    page.add_script_tag(content=(CARDS / "hero.js").read_text("utf-8").replace("export ", ""))
    for record in catalog.LESSONS:
        small = wordless(_first(record.slug, "en"))
        for theme, svg in _themed(page, small):
            yield CARDS / f"card_{record.slug}_{theme}.svg", svg
    for lang in LANGUAGES:
        full = _figure(home.opening_bench(), lang).to_json()
        written = page.evaluate(HERO, [full, shell.home_words(lang)])
        for name, size in SIZES.items():
            yield HOME / f"home.{lang}.{name}.svg", inline(_drawn(page, written, *size), name)
    page.close()


def folded(browser: Browser, slug: str) -> Iterator[tuple[Path, str]]:
    """Yield the images of a lesson's folded benches, each with its file.

    A bench that answers a question has none of its own, as it would show the answer, and neither
    has one whose figure is not Plotly's or is too large for a card.

    Args:
        browser: the browser that draws them.
        slug: the lesson.
    """
    declared = getattr(lessons, slug).lesson
    page = _plotly(browser)
    for name in declared.folded:
        bench = declared.benches[name]
        if bench.veiled_by:
            continue
        result = bench.run({}, style=Style(LIVE, "en"), code=False).figure
        if not isinstance(result, Figure):
            continue
        drawn = [
            (FOLDED / f"{slug}_{name}_{theme}.svg", svg)
            for theme, svg in _themed(page, wordless(result))
        ]
        if all(len(svg) <= MAX_CHARACTERS for _, svg in drawn):
            yield from drawn
    page.close()


def _plotly(browser: Browser) -> Page:
    page = browser.new_page()
    page.add_script_tag(content=read_asset(ASSETS / "static" / "plotly.min.js").decode())
    return page


def _themed(page: Page, small: Figure) -> Iterator[tuple[str, str]]:
    """Yield the SVG of a figure without text for each theme."""
    for theme, palette in {"light": LIGHT, "dark": DARK}.items():
        written = small.to_json()
        for reserved, color in zip(LIVE.colors(), palette.colors(), strict=True):
            written = written.replace(reserved, color)
        yield theme, _drawn(page, written, WIDTH, HEIGHT)


def _first(slug: str, lang: str) -> Figure:
    benches = getattr(lessons, slug).lesson.benches
    return _figure(benches[CARD_BENCHES.get(slug, next(iter(benches)))], lang)


def _figure(bench: Bench, lang: str) -> Figure:
    slug = bench.lesson.slug
    figure = bench.run(SHORT.get(slug, {}), style=Style(LIVE, lang), code=False).figure
    assert isinstance(figure, Figure), slug
    return figure


def _drawn(page: Page, written: str, width: int, height: int) -> str:
    return clean(page.evaluate(DRAW, [written, width, height]))


if __name__ == "__main__":
    with chromium() as browser:
        cards = chain.from_iterable(folded(browser, item.slug) for item in catalog.LESSONS)
        for path, svg in chain(pictures(browser), cards):
            path.parent.mkdir(exist_ok=True)
            path.write_text(svg + "\n", "utf-8")
            print(path.relative_to(ASSETS), len(svg))
