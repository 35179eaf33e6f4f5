"""From a key press on a slider to the changed picture, against an empty Streamlit page.

A real Chromium presses the right arrow on the first slider of each lesson, and in turn on the
slider of a page that holds nothing else (the floor: what Streamlit itself takes). The clock runs
inside the page: from the `keydown` event to the second animation frame after the chart (there: the
text) has changed and stayed; nothing polls in between. No value comes twice on a server that
started with this run, so nothing that is measured comes from its cache: the slider's values are
checked to be all different. A lesson's other benches, which its first slider changes too, are
drawn after the first chart; every press waits until they are done.

`python -m benchmarks.interaction [--presses 40]`
"""

from __future__ import annotations

import argparse
import contextlib
import json
from dataclasses import dataclass, field
from urllib.parse import urlencode

import numpy as np
from playwright.sync_api import Browser, Page

from benchmarks.browser import GEOMETRY, chromium, css_class, serve, serve_empty_page
from seqviz import catalog

WARM_UP = 5
GOAL = 1.5
QUIET_MS = 300  # the page counts as idle when its script has rested for this long
PATIENCE_MS = 20_000

# Arms one measurement; `seqviz.done` resolves to milliseconds.
PROBE = f"""
const geometry = {GEOMETRY};
const host = document.querySelector(CHART);
const content = () => host.querySelector("svg") ? geometry(host) : host.textContent;
const twoFrames = () => new Promise((resolve) =>
  requestAnimationFrame(() => requestAnimationFrame(resolve)));
window.seqviz = {{
  arm() {{
    let shown = content(), start = null, seen = false;
    document.addEventListener("keydown", () => {{ start = performance.now(); }},
      {{capture: true, once: true}});
    this.done = new Promise((resolve, reject) => {{
      setTimeout(() => reject(new Error("nothing changed")), {PATIENCE_MS});
      const observer = new MutationObserver(async () => {{
        if (seen || start === null || content() === shown) return;
        seen = true;
        do {{ // until a frame adds nothing to the picture
          shown = content();
          await twoFrames();
        }} while (content() !== shown);
        observer.disconnect();
        resolve(performance.now() - start);
      }});
      observer.observe(host,
        {{subtree: true, childList: true, attributes: true, characterData: true}});
    }});
  }},
  idle() {{
    return new Promise((resolve, reject) => {{
      setTimeout(() => reject(new Error("never idle")), {PATIENCE_MS});
      const app = document.querySelector(".stApp");
      let rested = performance.now();
      const timer = setInterval(() => {{
        if (app.dataset.testScriptState !== "notRunning") rested = performance.now();
        if (performance.now() - rested < {QUIET_MS}) return;
        clearInterval(timer);
        resolve();
      }}, 20);
    }});
  }},
}};
"""


@dataclass
class Subject:
    """One page under measurement: its slider, what its slider changes, and the times so far."""

    page: Page
    slider: str
    chart: str
    values: list[str] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """The median time in milliseconds, without the warm-up."""
        return float(np.median(self.milliseconds[WARM_UP:]))

    @property
    def p95(self) -> float:
        """The 95th percentile in milliseconds, without the warm-up."""
        return float(np.percentile(self.milliseconds[WARM_UP:], 95))

    def press(self) -> None:
        """Measure one press; wait until the page is idle before it and after it."""
        self.page.evaluate("seqviz.idle()")
        self.page.locator(self.slider).focus()
        self.page.evaluate("seqviz.arm()")
        self.page.keyboard.press("ArrowRight")
        self.milliseconds.append(self.page.evaluate("seqviz.done"))
        self.values.append(self.page.locator(self.slider).input_value())
        self.page.evaluate("seqviz.idle()")


def open_subject(browser: Browser, url: str, key: str, chart: str, presses: int) -> Subject:
    """A page with its slider as far left of the middle as `presses` presses need.

    The empty page starts in the middle; a lesson is opened with a link that sets the slider.
    """
    slider = f"{css_class(key)} input[type=range]"
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    _open(page, url, slider, chart)
    ends = page.locator(slider).evaluate("(s) => [+s.min, +s.max, +s.step, +s.value]")
    low, high, step, value = ends
    stops = round((high - low) / step)
    if stops < presses:
        raise SystemExit(f"{key} has {stops + 1} values, too few for {presses} fresh ones.")
    start = low + step * ((stops - presses) // 2)
    if value + presses * step > high or "." in key:
        _open(page, f"{url}?{urlencode({key: f'{start:g}'})}", slider, chart)
    return Subject(page, slider, chart, [page.locator(slider).input_value()])


def measure(presses: int) -> tuple[Subject, dict[str, Subject]]:
    """The floor and every lesson, pressed in turn."""
    total = presses + WARM_UP
    with contextlib.ExitStack() as stack:
        app = stack.enter_context(serve())
        empty = stack.enter_context(serve_empty_page())
        browser = stack.enter_context(chromium())
        floor = open_subject(browser, empty.url, "value", css_class("shown"), total)
        lessons = {}
        for lesson in catalog.LESSONS:
            bench, parameter = (f"{lesson.code}.{lesson.first[0]}", lesson.first[1])
            chart = css_class(f"{bench}.figure")
            url = f"{app.url}/{lesson.slug}"
            lessons[lesson.slug] = open_subject(browser, url, f"{bench}.{parameter}", chart, total)
        subjects = [floor, *lessons.values()]
        for _ in range(total):
            for subject in subjects:
                subject.press()
        for subject in subjects:
            if len(set(subject.values)) != total + 1:
                raise RuntimeError(f"A value came twice: {subject.values}")
    return floor, lessons


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--presses", type=int, default=40, help="measured presses per page")
    floor, lessons = measure(parser.parse_args().presses)
    print(f"slider press to changed picture, {len(floor.milliseconds) - WARM_UP} fresh values each")
    print(f"{'':20}{'median':>10}{'p95':>10}{'ratio':>8}   from ... to")
    for name, subject in {"empty page": floor, **lessons}.items():
        print(
            f"{name:20}{subject.median:7.1f} ms{subject.p95:7.1f} ms"
            f"{subject.median / floor.median:8.2f}   {subject.values[0]} ... {subject.values[-1]}"
        )
    found = {
        slug: {"ms": round(s.median, 1), "ratio": round(s.median / floor.median, 3)}
        for slug, s in lessons.items()
    }
    print(f"goal: ratio <= {GOAL}")
    print(json.dumps({"name": "interaction", "floor_ms": round(floor.median, 1), "lessons": found}))


def _open(page: Page, url: str, slider: str, chart: str) -> None:
    page.goto(url)
    page.locator(slider).wait_for(state="attached")
    page.locator(chart).locator("svg.main-svg, svg.marks, p, [data-testid=stText]").first.wait_for()
    page.evaluate(PROBE.replace("CHART", json.dumps(chart)))
    page.evaluate("seqviz.idle()")


if __name__ == "__main__":
    main()
