"""From a press to the changed picture for every bench of a lesson, beside an empty page.

As `benchmarks.interaction`, but of one lesson, and of each bench the first slider that applies as
it opens; where there is none, the last menu (its clock runs from the Enter that chooses an option),
beside the menu of the empty page.
Some have few places: at an end the hand turns round, so a value can come twice, then from the cache
of the class. Presses of the empty page and of a bench take turns.

`python -m benchmarks.every_bench transformer [--presses 6]`
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
from playwright.sync_api import Browser

from benchmarks.classroom import MODELS
from benchmarks.interaction import GOAL, Subject, ends, noted, open_page
from seqviz import lessons
from seqviz.content import catalog
from seqviz.lessons.framework.control_schema import active_controls, is_constant
from seqviz.lessons.framework.controls import Choice, SelectSlider, Slider
from seqviz.lessons.framework.lesson import Bench
from testing.chromium import chromium, css_class
from testing.server import serve, serve_page

UNTIMED = 2  # first presses of each
# What the probe does not see: a treemap has no marks of its kind, an outlined cell is none, nor is
# a vertical line. bill: its menu; steps: what draws other
# tokens; futures: more branches (one way more has no mark of its own).
INSTEAD = {"bill": {"view": "operations"}, "steps": {"way": "sampled"}}
OTHERS = {"norms": "added", "bill": "design", "steps": "temperature", "futures": "shown"}
# `testing.server.EMPTY_PAGE` with a menu.
PAGE = """
import streamlit as st

@st.fragment
def bench():
    value = st.slider("value", -1.2, 1.2, 0.0, 0.01, key="value")
    option = st.selectbox("option", ("one", "two", "three"), index=1, key="option")
    with st.container(key="shown"):
        st.text(f"{value:.2f} {option}")

bench()
"""
KEYS = {1: "ArrowRight", -1: "ArrowLeft"}
PATIENCE = 10  # looks at a menu that opens
OTHER = """(box) => {
  const option = document.getElementById(box.getAttribute("aria-activedescendant"));
  return option !== null && option.getAttribute("aria-selected") !== "true";
}"""  # whether the option under the keyboard is none that is chosen
LINES = {1: "ArrowDown", -1: "ArrowUp"}


def moved(bench: Bench) -> tuple[str, Slider | SelectSlider | Choice]:
    """The first slider of a bench as it opens, else its last menu."""
    result = list(active_controls(bench.declaration(**INSTEAD.get(bench.name, {}))))
    for name, control, values in result:
        if (
            not isinstance(control, Slider | SelectSlider)
            or control.more
            or is_constant(control, values)
        ):
            continue
        if OTHERS.get(bench.name, name) == name:
            return name, control
    menus = [(name, c) for name, c, _ in result if isinstance(c, Choice) and c.menu]
    return menus[-1]


def choose(subject: Subject, method: int) -> None:
    """Measure another option of a menu, in this direction; as `Subject.press`."""
    page = subject.page
    page.evaluate("seqviz.idle()")
    page.locator(subject.slider).blur()
    page.locator(subject.slider).click()
    for view in range(PATIENCE):
        page.wait_for_timeout(100)
        if page.locator(subject.slider).evaluate(OTHER):
            break
        page.keyboard.press(LINES[method if view < PATIENCE // 2 else -method])  # it was at its end
    page.evaluate("seqviz.arm('keydown')")
    page.keyboard.press("Enter")
    changed, committed = page.evaluate("seqviz.done")
    subject.milliseconds.append((changed, committed))
    page.evaluate("seqviz.idle()")


def measure(
    browser: Browser, url: str, floor: Subject, bench: Bench, presses: int
) -> tuple[Subject, Subject]:
    """A bench and the empty page, pressed in turn."""
    name, control = moved(bench)
    link = {f"{bench.prefix}.{k}": v for k, v in INSTEAD.get(bench.name, {}).items()}
    key, chart = f"{bench.prefix}.{name}", f"{bench.prefix}.figure"
    subject = open_page(browser, f"{url}/{bench.lesson.slug}?{urlencode(link)}", key, chart)
    floor = replace(floor, milliseconds=[])
    if isinstance(control, Choice):
        floor = replace(floor, slider=f"{css_class('option')} input")
        indices, index = len(control.options), control.options.index(control.default)
    else:
        low, high, step = ends(subject.page, subject.slider)
        indices, index = (
            round((high - low) / step) + 1,
            round((float(subject.page.locator(subject.slider).input_value()) - low) / step),
        )
    method = 1
    for turn in range(UNTIMED + presses):
        if not 0 <= index + method < indices:
            method = -method
        index += method
        for item, its in ((floor, 1 - 2 * (turn % 2)), (subject, method)):
            choose(item, its) if isinstance(control, Choice) else item.press(KEYS[its])
    subject.page.context.close()
    return subject, floor


def main() -> None:
    parser = argparse.ArgumentParser(description="A press of every bench, beside an empty page.")
    parser.add_argument("lesson", choices=[lesson.slug for lesson in catalog.LESSONS])
    parser.add_argument("--presses", type=int, default=6, help="measured presses of each bench")
    parser.add_argument("--benches", nargs="*", help="only these")
    given = parser.parse_args()
    result, broken = dict[str, float](), dict[str, str]()
    with contextlib.ExitStack() as stack:
        app = stack.enter_context(serve(environment=MODELS))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        empty = stack.enter_context(serve_page(folder, PAGE))
        browser = stack.enter_context(chromium())
        floor = open_page(browser, empty.url, "value", "shown")
        print(f"{'bench':12}{'control':10}{'median':>9}{'worst':>9}{'empty page':>12}{'ratio':>8}")
        for bench in getattr(lessons, given.lesson).lesson.benches.values():
            if given.benches and bench.name not in given.benches:
                continue
            with noted(broken, bench.name, f"{bench.prefix}.{moved(bench)[0]}"):
                both = measure(browser, app.url, floor, bench, given.presses)
            if bench.name in broken:
                continue
            changed, beside = (np.array(item.milliseconds[UNTIMED:])[:, 0] for item in both)
            own, minimum = float(np.median(changed)), float(np.median(beside))
            result[bench.name] = round(own / minimum, 2)
            print(f"{bench.name:12}{moved(bench)[0]:10}{own:9.1f}{changed.max():9.1f}{minimum:12.1f}"
                  f"{own / minimum:8.2f}", flush=True)  # fmt: skip
    print(f"goal: ratio <= {GOAL}")
    print(json.dumps({"name": "every_bench", "lesson": given.lesson, "ratios": result}))
    if broken:
        sys.exit(1)


if __name__ == "__main__":
    main()
