"""A page with everything on it opened, and what axe-core says of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from testing.chromium import css_class
from tests.browser.lesson_page import PARTS, LessonPage

AXE = Path(__file__).resolve().parents[1] / "vendor" / "axe-core" / "axe.min.js"
TAGS = (
    "wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice",
)  # fmt: skip
RUN = """async ([within, tags]) => {
    const found = await axe.run(within ?? document, {runOnly: tags, resultTypes: ["violations"]});
    return found.violations.map(({id, impact, help, nodes}) => ({
        id, impact, help,
        nodes: nodes.map(({target, html, failureSummary}) => ({
            target: target.flat().join(" "), html: html.slice(0, 300), why: failureSummary,
        })),
    }));
}"""
DIALOG = '[role="dialog"]'
POPOVER = '[data-testid="stPopoverBody"]'
# axe looks at what is laid out; what is far from the window is not.
ALL_LAID_OUT = "[class*=st-key-bench-] {content-visibility: visible !important}"
PANELS = ("data", "export", "code", "link")  # under a figure


def violations(lesson: LessonPage, within: str | None = None) -> list[dict[str, Any]]:
    """What axe-core finds on the page, or in a part of it. axe is put there once a page."""
    if not lesson.page.evaluate("'axe' in window"):
        lesson.page.evaluate(AXE.read_text("utf-8"))
    return lesson.page.evaluate(RUN, [within, list(TAGS)])


def told(results: list[dict[str, Any]]) -> str:
    """What was found, to be read: one line an element."""
    return "\n".join(
        f"{item['id']} ({item['impact']}): {node['target']}\n    {node['html']}\n    {node['why']}"
        for item in results
        for node in item["nodes"]
    )


def unfold(lesson: LessonPage) -> None:
    """Draw all benches; open what unfolds; answer what is asked, so that it is revealed."""
    page = lesson.page
    lesson.whole()
    page.add_style_tag(content=ALL_LAID_OUT)
    for summary in page.locator("details:not([open]) > summary").all():
        if summary.is_visible():
            summary.click()
    for group in page.get_by_role("radiogroup").all():
        if group.is_visible() and group.locator("input[type=radio]").count():
            group.locator("label").first.click()
    for answer in page.locator('[class*="-exercise-"] .box input:visible').element_handles():
        if answer.input_value():
            continue
        answer.fill("1")
        answer.press("Enter")
    page.mouse.move(0, 0)  # what has moved under the pointer shows its help
    page.evaluate("document.activeElement.blur()")
    page.locator("[role=tooltip]").wait_for(state="detached")
    lesson.rest()


def parts(lesson: LessonPage) -> Iterator[str]:
    """The page unfolded, once for each of its tabs."""
    tabs = lesson.page.locator(PARTS)
    names = tabs.all_inner_texts() or [""]
    for index, name in enumerate(names):
        if name:
            tabs.nth(index).click()
        unfold(lesson)
        yield name


def panels(lesson: LessonPage, bench: str | None) -> Iterator[tuple[str, str]]:
    """Each panel that opens over the page, opened: its name, and where it is."""
    page = lesson.page
    if page.locator(PARTS).count():
        page.locator(PARTS).first.click()
    requests = [("glossary.open", DIALOG), ("share", POPOVER), ("about", POPOVER)]
    if bench:
        requests += [(f"{bench}.{name}", DIALOG) for name in PANELS]
    for key, where in requests:
        page.locator(f"{css_class(key)} button").first.click()
        page.locator(where).first.wait_for()
        lesson.rest()
        yield key, where
        page.keyboard.press("Escape")
        page.locator(where).first.wait_for(state="detached")
