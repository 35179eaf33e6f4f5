"""Every figure can be read on a phone: nothing is cut off at 380 px, no labels overlap."""

from __future__ import annotations

import json

import pytest

from seqviz.content import catalog
from seqviz.core.brotli_assets import read_asset
from seqviz.core.i18n import LANGUAGES
from seqviz.core.paths import STATIC
from seqviz.plotting.figure import Figure
from seqviz.plotting.style import Style
from testing.figure_examples import examples
from tests.tiers import LOOKED_AT, alternate, first_only

pytestmark = pytest.mark.browser
WIDTH = 356  # what a bench has on a screen of 380 px
# Twenty words and more at a map of all pairs: seven pixels for each; a finger on a cell says it.
CROWDED = {"positions: both orders, many"}
LOOK = """
async ([figure, width]) => {
  const host = document.getElementById("host");
  const { traces, layout, ...factors } = stackPanels(figure.data, figure.layout, width);
  const size = { width: width * factors.widthFactor,
                 height: layout.height * Math.max(1, factors.heightFactor) };
  await Plotly.react(host, traces, { ...layout, ...size }, { displayModeBar: false });
  const sheet = host.querySelector(".main-svg").getBoundingClientRect();
  const shown = (element) => {
    const box = element.getBoundingClientRect();
    return { box, text: element.textContent, there: box.width && element.textContent.trim() };
  };
  const turned = (element) => /rotate\\((?!0[,)])/.test(element.getAttribute("transform") ?? "");
  const wrong = [];
  for (const { box, text, there } of [...host.querySelectorAll("text")].map(shown)) {
    const beyond = Math.max(
      sheet.left - box.left, box.right - sheet.right,
      sheet.top - box.top, box.bottom - sheet.bottom,
    );
    if (there && beyond > 2) wrong.push(`cut by ${Math.round(beyond)} px: ${text}`);
  }
  for (const axis of host.querySelectorAll(".xaxislayer-above, .yaxislayer-above")) {
    const ticks = [...axis.querySelectorAll("[class$=tick] text")].filter((one) => !turned(one));
    ticks.map(shown).reduce((last, one) => {
      const [a, b] = [last.box, one.box];
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (across > 2 && down > 4) wrong.push(`${last.text} over ${one.text}`);
      return one;
    }, { box: new DOMRect(), text: "" });
  }
  for (const map of host.querySelectorAll(".hm")) {
    const numbers = [...map.querySelectorAll("text")].filter((one) => /\\d/.test(one.textContent));
    if (numbers.length > 64) wrong.push(`a heat map with ${numbers.length} numbers`);
  }
  // Tokens are whole, and side by side in a row they do not touch.
  const written = JSON.stringify(figure);
  const words = [...host.querySelectorAll(".hm text, .scatterlayer .textpoint text")].map(shown);
  for (const { text, there } of words)
    if (there && text.endsWith("…") && !written.includes(text)) wrong.push(`cut: ${text}`);
  const rows = Map.groupBy(
    words.filter(({ there, text }) => there && /\\p{L}/u.test(text)), // an emoji has its own width
    ({ box }) => Math.round(box.top),
  );
  for (const row of rows.values())
    row.sort((a, b) => a.box.left - b.box.left).reduce((last, one) => {
      if (last.box.right - one.box.left > 2) wrong.push(`${one.text} on ${last.text}`);
      return one;
    });
  return wrong;
}
"""
# Numbers with what they are with, in words of the page, that stand on two lines.
PARTED = r"""() => {
  const related = /(?:[\p{Script=Latin}\p{Script=Greek}|]{1,4}\s)?[=<>≤≥≈±×]\s[-−]?\d[\d.,]*/;
  const measured = /\d\s×\s10\S*|\d\s?%|\d\s(?:ms|s|MB|bits?|比|秒)(?!\w)/;
  const number = new RegExp(`${related.source}|${measured.source}`, "gu");
  const main = document.querySelector("[data-testid=stMain]");
  const texts = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
  const [broken, seen] = [[], []];
  while (texts.nextNode()) {
    const node = texts.currentNode;
    if (node.parentElement.closest(".katex, code, svg, textarea")) continue;
    for (const found of node.textContent.matchAll(number)) {
      const range = document.createRange();
      range.setStart(node, found.index);
      range.setEnd(node, found.index + found[0].length);
      const boxes = [...range.getClientRects()].filter((box) => box.width > 0);
      const lines = new Set(boxes.map((box) => Math.round(box.bottom)));
      if (lines.size > 0) seen.push(found[0]);
      if (lines.size > 1) broken.push(found[0]);
    }
  }
  return [broken, seen.length];
}"""


@pytest.mark.parametrize(
    ("slug", "lang"), alternate([record.slug for record in catalog.LESSONS], LOOKED_AT)
)
def test_line_break_never_splits_number_from_unit(visit, slug, lang):
    lesson = visit(slug, {"lang": lang}, viewport={"width": 390, "height": 844})
    lesson.rest()
    for width in (320, 345, 390, 410):  # lines end elsewhere
        lesson.page.set_viewport_size({"width": width, "height": 844})
        broken, observed = lesson.page.evaluate(PARTED)
        assert broken == [], width
        assert observed


@pytest.mark.parametrize("turn", first_only(range(len(LANGUAGES))))
@pytest.mark.nightly
def test_figure_fits_phone_without_cut_or_overlap(browser, turn):
    """The languages take turns along the figures; by night they change places."""
    context = browser.new_context(viewport={"width": 380, "height": 900})
    page = context.new_page()
    page.set_content('<div id="host"></div>')
    page.add_script_tag(content=read_asset(STATIC / "plotly.min.js").decode())
    module = (STATIC / "bench/responsive_panels.js").read_text("utf-8")
    page.add_script_tag(content=module.replace("export function", "function"))
    wrong, observed = {}, 0
    for index, example in enumerate(examples()):
        lang = LANGUAGES[(index + turn) % 2]
        figure = example.figure(Style(lang=lang))
        if isinstance(figure, Figure) and example.name not in CROWDED:
            observed += 1
            value = page.evaluate(LOOK, [json.loads(figure.to_json()), WIDTH])
            if value:
                wrong[f"{example.name}, {lang}"] = value
    context.close()
    assert not wrong
    assert observed > 125
