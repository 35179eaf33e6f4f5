"""How many words and screens the core of a lesson has, and words above the first thing to do.

Counted in a window of 1280 x 900 in English, with nothing answered and nothing unfolded. Labels of
a figure and the letters of a text that it colors are no prose: they are not counted.
"""

from __future__ import annotations

import pytest

from seqviz.content import catalog
from tests.shared_fixtures import lesson_of
from tests.tiers import first_only

MAX_WORDS, MAX_WORDS_BEFORE, MAX_SCREENS = 900, 30, 5
WINDOW = {"width": 1280, "height": 900}
# Screens above the heading of the folded figures.
SCREENS = """() => {
  const top = (element) => element.getBoundingClientRect().top;
  const headings = [...document.querySelectorAll("h2")];
  const card = document.querySelector('[class*="st-key-card-"]');
  const deeper = headings.findLast((heading) => top(heading) < top(card));
  return (top(deeper) + document.querySelector('[data-testid="stMain"]').scrollTop) / innerHeight;
}"""

# [words, words above the first control of the bench]; the masthead is no part of what comes above.
# A formula has one text for the eye and one for screen readers, and icons are letters of a font.
COUNT = r"""(bench) => {
  const main = document.querySelector('[data-testid="stMain"]');
  const UNSEEN = `svg, style, .katex-mathml, [role="img"], details:not([open]) > :not(summary),
    [data-testid="stIconMaterial"], [data-testid="stTooltipIcon"]`;
  const isClipped = (element) => {
    const { width, height } = element.getBoundingClientRect();
    return (width < 3 || height < 3) && getComputedStyle(element).overflow !== "visible";
  };
  const isVisible = (element) => {
    if (element.closest(UNSEEN) || !element.checkVisibility({ visibilityProperty: true }))
      return false;
    for (let parent = element; parent !== main; parent = parent.parentElement)
      if (isClipped(parent)) return false;
    return true;
  };
  const controls = document.querySelector(`.st-key-bench-${bench}`)
    .querySelectorAll("input, textarea, button, [role=radio], [role=slider]");
  const first = [...controls].find((control) => !control.closest('[data-testid="stTooltipIcon"]'));
  const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
  let words = 0, before = 0;
  for (let node; (node = walker.nextNode());) {
    if (!isVisible(node.parentElement)) continue;
    const count = node.data.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
    words += count;
    const isAbove = node.compareDocumentPosition(first) & Node.DOCUMENT_POSITION_FOLLOWING;
    if (isAbove && !node.parentElement.closest(".st-key-masthead")) before += count;
  }
  return [words, before];
}"""


@pytest.fixture
def visit(guided_visitors):
    with guided_visitors.watched() as open_page:
        yield open_page


@pytest.mark.parametrize(
    "slug", first_only([record.slug for record in catalog.LESSONS], retained=2)
)
def test_core_is_short_and_begins_with_something_to_do(visit, slug):
    lesson = visit(slug, {"lang": "en"}, viewport=WINDOW)
    lesson.whole()
    lesson.rest()
    words, before = lesson.page.evaluate(COUNT, lesson_of(slug).core[0])
    assert 0 < before <= MAX_WORDS_BEFORE
    assert words <= MAX_WORDS
    assert 3 < lesson.page.evaluate(SCREENS) <= MAX_SCREENS


@pytest.mark.nightly
def test_core_count_sees_prose_but_no_figure_and_no_fold(visit):
    """One more sentence in the page counts; in a figure or a closed fold it does not."""
    lesson = visit("gates", {"lang": "en"})
    lesson.whole()
    lesson.rest()
    page, bench = lesson.page, lesson_of("gates").core[0]
    words, before = page.evaluate(COUNT, bench)
    add = """(selector) => document.querySelector(selector).append(
      Object.assign(document.createElement("p"), { textContent: "Three more words." }))"""
    page.evaluate(add, ".st-key-more-one details > :not(summary)")
    page.evaluate(add, ".st-key-ga-one-figure svg")
    assert page.evaluate(COUNT, bench) == [words, before]
    page.evaluate(add, ".st-key-bench-one h2")
    assert page.evaluate(COUNT, bench) == [words + 3, before + 3]
    page.evaluate(add, ".st-key-bench-force")
    assert page.evaluate(COUNT, bench) == [words + 6, before + 3]
