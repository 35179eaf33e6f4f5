"""Cold start: from starting the server to the first figure of the first lesson.

Each run starts a new server process and opens a new window of a Chromium that is already running:
the server's health is polled, then the page is opened. The clock starts before the process is
created and stops at the second animation frame after the first chart (on the empty page: the text)
was drawn, as measured inside the page. The first chart is prerendered if this version of the app
has drawn it on this machine before (`ui.prerender`); a third column is the page's own chart, which
follows sliders. All variants alternate; the first run of each is not counted, so that all files are
in memory.

Usage: `python -m benchmarks.cold_start [--runs 5]`.
"""

from __future__ import annotations

import statistics
from contextlib import AbstractContextManager

from playwright.sync_api import Browser

from benchmarks.report import Report, options
from seqviz.content import catalog
from testing.chromium import MARKS, chromium, css_class, watched
from testing.server import Server, serve, serve_empty_page

GOAL = 1.5


def seconds(
    browser: Browser, starting: AbstractContextManager[Server], path: str, painted: str
) -> float:
    """Return the seconds from before the process to the first paint of the elements `painted`."""
    with starting as server:
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        page = watched(context, painted)
        page.goto(f"{server.url}/{path}", wait_until="commit")
        ended = page.evaluate("window.painted") / 1000
        context.close()
        return float(ended - server.started)


def measure(runs: int) -> list[tuple[float, ...]]:
    """Measure the empty page, and the first lesson to its prerendered and to its own chart."""
    lesson = catalog.LESSONS[0]
    own = f"{css_class(f'{lesson.code}.{lesson.first[0]}.figure')} :is({MARKS})"
    first = f"#seqviz-shell :is({MARKS}), {own}"
    text = f"{css_class('shown')} [data-testid=stText]"
    with chromium() as browser:
        turns = [
            (
                seconds(browser, serve_empty_page(), "", text),
                seconds(browser, serve(), lesson.slug, first),
                seconds(browser, serve(), lesson.slug, own),
            )
            for _ in range(runs + 1)
        ]
    return list(zip(*turns[1:], strict=True))


def main() -> None:
    runs = options(__doc__, runs=(5, "number of measured starts of each")).runs
    empty, first, own = measure(runs)
    report = Report("cold_start")
    print(f"process start to first picture, {runs} starts each, seconds")
    for name, times in (("empty page", empty), ("first chart", first), ("the page's own", own)):
        report.row(name, median=statistics.median(times), least=min(times), most=max(times))
    empty_s, lesson_s, own_s = map(statistics.median, (empty, first, own))
    report.values |= {
        "ratio": round(lesson_s / empty_s, 3),
        "empty_s": round(empty_s, 3),
        "lesson_s": round(lesson_s, 3),
        "own_s": round(own_s, 3),
        "own_ratio": round(own_s / empty_s, 3),
    }
    report.finish({"ratio": GOAL})


if __name__ == "__main__":
    main()
