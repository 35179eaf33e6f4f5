"""Draw the pictures of the lessons' cards, and home's: `python -m tools.pictures`.

Each is the figure of a lesson's first bench at its defaults, as Plotly writes it into an SVG. Cards
have no words, and a file for each theme: an image knows nothing of the page around it. Home's
stands in the page itself and takes its colors from the theme. A test draws all of them anew and
compares.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from playwright.sync_api import Browser, Page

from seqviz import lessons
from seqviz.content import catalog
from seqviz.core.brotli_assets import read_asset
from seqviz.core.i18n import LANGUAGES
from seqviz.core.paths import ASSETS
from seqviz.plotting.card_picture import HEIGHT, WIDTH, wordless
from seqviz.plotting.figure import Figure
from seqviz.plotting.style import DARK, LIGHT, LIVE, Style
from testing.chromium import chromium

CARDS, HOME = ASSETS / "static" / "home", ASSETS / "pictures"
# Where a card would have more marks than it has place for.
SHORT = {"text": {"text": "Unbelievable films"}}
SIZES = {"wide": (717, 420), "narrow": (356, 420)}  # of home's: beside its slider, on a phone
DRAW = """async ([written, width, height]) => {
  const host = document.body.appendChild(document.createElement("div"));
  const {data, layout} = JSON.parse(written);
  await Plotly.react(host, data, {...layout, width, height});
  const svg = await Plotly.toImage(host, {format: "svg", width, height});
  host.remove();
  return svg;
}"""
_TAG = re.compile(r"<[^>]+>")
_NUMBER = re.compile(r"-?\d+\.\d+")
_DECLARATION = re.compile(
    r"(?:vector-effect|font-variant|letter-spacing|white-space|pointer-events|user-select"
    r"|font-style|font-weight|text-transform|text-decoration-line|line-height|text-shadow"
    r"|text-decoration): (?:none|normal|400|pre|all|non-scaling-stroke);? ?"
)
_EMPTY = re.compile(r'<g(?: [^>]*)?/>|<g(?: [^>]*)?></g>|<path[^>]* d="M0,0Z"[^>]*/>')


def clean(svg: str) -> str:
    """An SVG of Plotly's to a tenth of a pixel, without what only Plotly reads in it."""
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
    """One that stands in a page: its type is the page's, its colors are the theme's.

    The reserved colors of figures (#000001 ...) become variables of CSS. name: for what it names in
    itself, as another stands in the same page.
    """
    svg = re.sub(r'(?<=id=")p(?=\d)|(?<=#)p(?=\d)', name, svg)
    svg = re.sub(r"font-family: [^;\"]+;? ?", "", svg)
    for slot in range(1, 11):
        blue = int(f"{slot:06d}", 16)
        svg = svg.replace(f"rgb(0, 0, {blue})", f"var(--seqviz-{slot})")
    return svg


def pictures(browser: Browser) -> Iterator[tuple[Path, str]]:
    """Every picture with the file that it belongs in."""
    page = browser.new_page()
    page.add_script_tag(content=read_asset(ASSETS / "static" / "plotly.min.js").decode())
    for record in catalog.LESSONS:
        small = wordless(_first(record.slug, "en"))
        for theme, palette in {"light": LIGHT, "dark": DARK}.items():
            written = small.to_json()
            for reserved, color in zip(LIVE.colors(), palette.colors(), strict=True):
                written = written.replace(reserved, color)
            yield CARDS / f"card_{record.slug}_{theme}.svg", _drawn(page, written, WIDTH, HEIGHT)
    for lang in LANGUAGES:
        written = _first(catalog.SHOWN, lang).to_json()
        for name, size in SIZES.items():
            yield HOME / f"home.{lang}.{name}.svg", inline(_drawn(page, written, *size), name)
    page.close()


def _first(slug: str, lang: str) -> Figure:
    bench = next(iter(getattr(lessons, slug).lesson.benches.values()))
    figure = bench.run(SHORT.get(slug, {}), style=Style(LIVE, lang), code=False).figure
    assert isinstance(figure, Figure), slug
    return figure


def _drawn(page: Page, written: str, width: int, height: int) -> str:
    return clean(page.evaluate(DRAW, [written, width, height]))


if __name__ == "__main__":
    with chromium() as browser:
        for path, svg in pictures(browser):
            path.parent.mkdir(exist_ok=True)
            path.write_text(svg + "\n", "utf-8")
            print(path.relative_to(ASSETS), len(svg))
