"""Interaction latency: from a key press on a slider to the changed figure.

A real Chromium presses the right arrow on the first slider of each lesson, alternating with the
slider of an otherwise empty page (the floor: the cost of Streamlit itself). The clock runs inside
the page: from the `keydown` event to the second animation frame after the chart (there: the text)
has changed; nothing polls in between. "Settled" is when two frames have passed without a further
change. A press moves by one step, whose figure an idle page has prefetched; "far" is a step across
the slider, which is not prefetched. No value occurs twice on a server that was started for this
run, so that no measurement hits its cache; the slider's values are checked to be all different. A
lesson's first slider also changes the dependent benches: they are drawn after the first chart, and
every press waits until the whole page is idle.

Then the same sliders are dragged for three seconds with sixty moves per second, back and forth over
values not used before: how many different figures are drawn per second, and how old the displayed
value is (at each frame, the time since the drag set the drawn value; 95th percentile). Of each
lesson, its first bench is measured (or the one that a class uses, where the first slider has few
values) and the one whose response takes the server longest (determined in this run); the worse of
the two is reported for the lesson. A drag that drew every value is not the worse one: a slider with
few values has no more figures.

With `--apart`, servers run on one core and the browser, with the measurement, on another. A page
that fails is reported with its slider, the others are measured, and the command exits with 1.

`--every LESSON`: the first slider that applies initially in each bench of a lesson; in a bench
without one, the last menu (its clock runs from the Enter that selects an option), alternating with
the menu of the empty page. Some have few positions: the direction reverses at an end, so a value
can occur twice, then from the shared cache. Presses of the empty page and of a bench alternate.

`--phone`: a finger drags the docked slider of every figure of a lesson's core for three seconds:
touch events of the browser, a window of 390 x 844, a processor four times slower than this one.

Three more parts use no browser but students of `testing.protocol`:

* `--cpu`: the server's total processor time for one slider interaction. One student moves a slider
  to an uncached value and releases it: the figure of that value (`picture`), and Streamlit's work
  on the commit (`rest`). The page is drawn down to this bench; dependent benches further down are
  not redrawn.
* `--texts`: ten fresh sentences at once. In each round, ten students simultaneously send a new
  sentence: to *Account of a logit* (the Transformer block), or to *From scores to a draw* (GPT),
  whose next bench then writes twelve tokens, and twelve with another in one place. Until each has
  its figures, another student uses the slider of Gates that a class uses. Printed: the time of that
  student's figures, alone beforehand and in the rounds; and the seconds until the figures of a
  sentence.
* `--streaming`: the seconds of a training whose page draws it five times a second, over those of
  one whose page is not drawn; eight pairs of trainings, each with another series.

Usage: `python -m benchmarks.interaction [LESSON ...] [--presses 40] [--apart]`, `--every
transformer`, `--phone`, `--cpu`, `--streaming`,
`--texts [--lesson gpt] [--students 10] [--rounds 12]`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
from playwright.sync_api import Browser, Error, Page

from benchmarks.classroom import (
    INSTEAD,
    MODELS,
    SEED,
    SEEDS,
    TRAINER,
    Times,
    begin_training,
    fresh,
    pressed,
    training_link,
)
from benchmarks.classroom import press as press_live
from benchmarks.report import Report, milliseconds, options
from seqviz import lessons
from seqviz.content import catalog
from seqviz.lessons.framework.control_schema import active_controls, is_constant
from seqviz.lessons.framework.controls import Choice, SelectSlider, Slider, controls, encoded
from seqviz.lessons.framework.host import PendingError
from seqviz.lessons.framework.lesson import Bench
from seqviz.ui.live import handler
from seqviz.ui.runtime.run_context import Session
from testing.chromium import GEOMETRY, chromium, css_class, draw_whole, slider_input
from testing.protocol import ProtocolClient
from testing.server import Server, serve, serve_empty_page, serve_page

WARM_UP = 5
GOAL = 1.5
QUIET_MS = 300  # time without a script run until the page counts as idle
PATIENCE_MS = 20_000
DRAG_MS = 3000
FAR = (0.1, 0.8, 0.2, 0.9, 0.3, 0.7)  # positions on a slider, each far from the previous one

LAPTOP = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}

# `arm` starts one measurement, `done` resolves to [milliseconds to the change, to the settled].
PROBE = f"""() => {{
  const geometry = {GEOMETRY};
  const host = () => document.querySelector(CHART);
  const content = () => host().querySelector("svg") ? geometry(host()) : host().textContent;
  const twoFrames = () => new Promise((resolve) =>
    requestAnimationFrame(() => requestAnimationFrame(resolve)));
  const within = (wait) => new Promise((resolve, reject) => {{
    setTimeout(() => reject(new Error("nothing happened")), {PATIENCE_MS});
    wait(resolve);
  }});
  const press = async (kind, resolve) => {{
    let shown = content(), pressed = null, changed = null;
    document.addEventListener(kind, () => {{ pressed = performance.now(); }},
      {{capture: true, once: true}});
    const observer = new MutationObserver(async () => {{
      const now = content();
      if (changed !== null || pressed === null || now === "" || now === shown) return;
      changed = 0; // from now on only the loop below looks
      do {{
        shown = content();
        await twoFrames();
        changed ||= performance.now();
      }} while (content() !== shown);
      observer.disconnect();
      resolve([changed - pressed, performance.now() - pressed]);
    }});
    observer.observe(host(),
      {{subtree: true, childList: true, attributes: true, characterData: true}});
  }};
  const rest = (resolve) => {{
    const app = document.querySelector(".stApp");
    let since = performance.now();
    const timer = setInterval(() => {{
      if (app.dataset.testScriptState !== "notRunning") since = performance.now();
      if (performance.now() - since < {QUIET_MS}) return;
      clearInterval(timer);
      resolve();
    }}, 20);
  }};
  // moves: [when, value]; pictures: [when, value on screen] at each frame.
  const drag = (selector, bench, key, values) => new Promise((resolve) => {{
    const range = document.querySelector(selector), moves = [], frames = [];
    let count = 0;
    const place = globalThis.seqvizLiveBench?.(bench);
    const started = performance.now();
    const timer = setInterval(() => {{
      const value = values[count++ % values.length];
      range.value = value;
      const at = performance.now();
      range.dispatchEvent(new Event("input", {{bubbles: true}}));
      const moved = place?.pending.get(key);
      if (moved) moves.push([at, Number(moved.text)]);
    }}, 1000 / 60);
    const frame = () => {{
      const last = place?.frames.at(-1), now = performance.now();
      if (last?.at >= started) frames.push([now, Number(last.values[key])]);
      if (now - started < {DRAG_MS}) return requestAnimationFrame(frame);
      clearInterval(timer);
      const drawn = (place?.frames ?? [])
        .filter((one) => one.at >= started && one.at - started < {DRAG_MS});
      resolve({{moves, frames, pictures: drawn.map((one) => Number(one.values[key]))}});
    }};
    requestAnimationFrame(frame);
  }});
  window.seqviz = {{
    drag,
    arm(kind) {{ this.done = within((resolve) => press(kind, resolve)); }},
    leap(selector, value) {{
      const range = document.querySelector(selector);
      range.value = value;
      range.dispatchEvent(new Event("input", {{bubbles: true}}));
    }},
    idle: () => within(rest),
  }};
}}"""


@dataclass
class Drag:
    """Measurements of one drag: different figures per second, and age of the displayed value.

    Attributes:
        every: True where each value of the drag was drawn, so that more figures were impossible.
    """

    per_s: float
    p95_ms: float
    every: bool


@dataclass
class Subject:
    """One page under measurement: its slider, what the slider changes, and the times.

    Attributes:
        presses: number of the requested presses for which the slider has fresh values.
        milliseconds: per press, to the change and to the settled figure; the warm-up comes first.
        leaps: per far step, to the change.
    """

    page: Page
    slider: str
    values: list[str]
    key: str = ""
    presses: int = 0
    milliseconds: list[tuple[float, float]] = field(default_factory=list)
    leaps: list[float] = field(default_factory=list)

    def press(self, key: str = "ArrowRight") -> None:
        """Measure one press; wait until the page is idle before and after it."""
        self.page.evaluate("seqviz.idle()")
        self.page.locator(self.slider).focus()
        self.page.evaluate("seqviz.arm('keydown')")
        self.page.keyboard.press(key)
        try:
            changed, committed = self.page.evaluate("seqviz.done")
        except Error as error:
            raise RuntimeError(f"{self.key} at {self.values[-1]}, {key}: {error.message}") from None
        self.milliseconds.append((changed, committed))
        self.values.append(self.page.locator(self.slider).input_value())
        self.page.evaluate("seqviz.idle()")

    def leap(self, value: float) -> None:
        """Measure one step to a far value that the browser has not prefetched."""
        self.page.evaluate("seqviz.idle()")
        self.page.evaluate("seqviz.arm('input')")
        self.page.evaluate("([s, v]) => seqviz.leap(s, v)", [self.slider, value])
        self.leaps.append(self.page.evaluate("seqviz.done")[0])
        self.page.evaluate("seqviz.idle()")

    def drag(self) -> Drag:
        """Drag for three seconds, back and forth; wait until the page is idle before and after."""
        low, high, step = ends(self.page, self.slider)
        methods = min(DRAG_MS * 60 // 1000, round((high - low) / step) + 1)
        there = np.linspace(low, high, max(2, methods))
        # In sight: far outside the window Chromium paints nothing.
        self.page.locator(self.slider).evaluate("e => e.scrollIntoView({block: 'center'})")
        self.page.evaluate("seqviz.idle()")
        result = self.page.evaluate(
            "([s, b, k, v]) => seqviz.drag(s, b, k, v)",
            [self.slider, self.key.rpartition(".")[0], self.key, [*there, *there[::-1]]],
        )
        self.page.evaluate("seqviz.idle()")
        visible = result["pictures"]
        different, set_to = changes(visible), changes([value for _, value in result["moves"]])
        observed = age(result["moves"], result["frames"])
        return Drag(1000 * different / DRAG_MS, observed, different >= set_to > 0)

    def median(self, column: int = 0) -> float:
        """Return the median milliseconds: to the change (0) or to the settled figure (1)."""
        return float(np.median(self._warm()[:, column])) if self.milliseconds else math.nan

    def p95(self) -> float:
        """Return the 95th percentile of the milliseconds to the change."""
        return float(np.percentile(self._warm()[:, 0], 95)) if self.milliseconds else math.nan

    def _warm(self) -> np.ndarray:
        """Return the times without the warm-up, which is shorter for a slider of few values."""
        return np.array(self.milliseconds)[min(WARM_UP, len(self.milliseconds) // 2) :]


@contextlib.contextmanager
def noted(broken: dict[str, str], name: str, slider: str) -> Iterator[None]:
    """Record a page that fails in `broken`, by name, with slider and error, and continue."""
    try:
        yield
    except Exception as error:  # of any kind, since the other pages can still be measured
        first = str(error).partition("\n")[0]
        broken.setdefault(name, f"{slider}: {type(error).__name__}: {first}")
        print(f"{name} {broken[name]}", file=sys.stderr, flush=True)


def changes(values: Sequence[float]) -> int:
    """Return the number of changes between successive values.

    >>> changes([1.0, 1.0, 2.0, 1.0])
    3
    """
    return len(values) - sum(now == before for before, now in pairwise(values))


def age(moves: list[tuple[float, float]], frames: list[tuple[float, float]]) -> float:
    """Return the 95th percentile over the frames of the age of the displayed value, in ms.

    The age is the time since the drag last set the value before the frame; nan if nothing was
    drawn.

    >>> age([(0.0, 1.0), (10.0, 2.0)], [(30.0, 1.0), (40.0, 2.0)])
    30.0

    Args:
        moves: times and values that the drag has set.
        frames: times and values that were displayed.
    """
    ages = [
        now
        - max((when for when, value in moves if value == frame and when <= now), default=math.nan)
        for now, frame in frames
    ]
    return float(np.percentile(ages, 95)) if ages else math.nan


def slowest(lesson: catalog.LessonRecord, but: str) -> tuple[str, str] | None:
    """Return bench and parameter of the slider whose response takes this process longest.

    Only sliders that apply initially, in benches with an immediate figure, are compared.

    Args:
        lesson: the lesson.
        but: a bench to leave out because it is measured already.
    """
    session = Session("benchmark", 0.0)
    result: dict[tuple[str, str], float] = {}
    for name, bench in getattr(lessons, lesson.slug).lesson.benches.items():
        if name == but:
            continue
        for parameter, control in controls(bench.declaration):
            if not isinstance(control, Slider | SelectSlider) or control.client or control.more:
                continue
            if control.when is not None:
                continue
            low, high = control.bounds()
            with contextlib.suppress(PendingError, ValueError):
                times = []
                for value in (low, high):
                    started = time.perf_counter()
                    request = {f"{bench.prefix}.{parameter}": encoded(value)}
                    handler.render_bench(bench, request, session)
                    times.append(time.perf_counter() - started)
                result[name, parameter] = times[-1]  # earlier calls were warm-up
            break
    return max(result, key=lambda position: result[position]) if result else None


def open_floor(browser: Browser, url: str) -> Subject:
    """Open the empty page: its slider starts in the middle and has 120 values to the right."""
    return open_page(browser, url, "value", "shown")


def open_lesson(
    browser: Browser,
    url: str,
    lesson: catalog.LessonRecord,
    presses: int,
    position: tuple[str, str] | None = None,
    fewer: bool = False,
) -> Subject:
    """Open a lesson with a slider set half the presses left of the middle.

    Exits if the first slider has too few values for that many fresh ones, unless `fewer` is set;
    another slider starts at its initial value.

    Args:
        browser: the browser.
        url: URL of the server.
        lesson: the lesson.
        presses: number of presses.
        position: bench and parameter; by default the lesson's first slider.
        fewer: True to accept a slider with fewer values.
    """
    name, parameter = position or lesson.first
    bench = f"{lesson.code}.{name}"
    key, chart, address = f"{bench}.{parameter}", f"{bench}.figure", f"{url}/{lesson.slug}"
    subject = open_page(browser, address, key, chart)
    low, high, step = ends(subject.page, subject.slider)
    step = step if position is None else max(step, (high - low) / 1000)
    stops = round((high - low) / step)
    if fewer:
        presses = min(presses, stops)
    if stops < presses and position is None:
        raise SystemExit(f"{key} has {stops + 1} values, too few for {presses} fresh ones.")
    if position is not None and not fewer:
        return subject
    subject.page.context.close()
    start = low + step * ((stops - presses) // 2)
    subject = open_page(browser, f"{address}?{urlencode({key: f'{start:g}'})}", key, chart)
    return replace(subject, presses=presses)


def measure(
    presses: int,
    differences: bool = False,
    chosen: Sequence[catalog.LessonRecord] = catalog.LESSONS,
) -> tuple[Subject, dict[str, Subject], dict[str, dict[str, Drag]], dict[str, str]]:
    """Press the floor and every lesson in turn; then drag each lesson's two benches.

    The last result has the pages that failed, and why; they are in no other result.
    """
    total, broken = presses + WARM_UP, dict[str, str]()
    cores = sorted(os.sched_getaffinity(0))
    with contextlib.ExitStack() as stack:
        if differences:
            os.sched_setaffinity(0, cores[:1])
        app = stack.enter_context(serve())
        empty = stack.enter_context(serve_empty_page())
        if differences:
            os.sched_setaffinity(0, cores[-1:])
        browser = stack.enter_context(chromium())
        floor = open_floor(browser, empty.url)
        opened: dict[str, Subject] = {}
        for lesson in chosen:
            position = INSTEAD.get(lesson.slug)
            with noted(broken, lesson.slug, ".".join((lesson.code, *(position or lesson.first)))):
                opened[lesson.slug] = open_lesson(browser, app.url, lesson, total, position, True)
        subjects = {"empty page": floor, **opened}
        for turn in range(total):
            for name, subject in subjects.items():
                if name not in broken and turn < (subject.presses or total):
                    with noted(broken, name, subject.key):
                        subject.press()
        for name, subject in opened.items():
            if name not in broken:
                with noted(broken, name, subject.key):
                    low, high, _ = ends(subject.page, subject.slider)
                    for part in FAR:
                        subject.leap(low + part * (high - low))
        drags: dict[str, dict[str, Drag]] = {}
        for lesson in chosen:
            if lesson.slug in broken:
                continue
            first, subject = pressed(lesson)[0], opened[lesson.slug]
            with noted(broken, lesson.slug, subject.key):
                drags[lesson.slug] = {first: subject.drag()}
                subject.page.context.close()
                second = slowest(lesson, first)
            if lesson.slug not in broken and second:
                with noted(broken, lesson.slug, ".".join((lesson.code, *second))):
                    other = open_lesson(browser, app.url, lesson, total, second)
                    drags[lesson.slug][second[0]] = other.drag()
                    other.page.context.close()
    for name, subject in subjects.items():
        if name not in broken:
            with noted(broken, name, subject.key):
                if len(set(subject.values)) != len(subject.milliseconds) + 1:
                    raise RuntimeError(f"A value came twice: {subject.values}")
    opened = {name: subject for name, subject in opened.items() if name not in broken}
    return floor, opened, {name: drags[name] for name in opened}, broken


def ends(page: Page, slider: str) -> tuple[float, float, float]:
    """Return lower end, upper end and step of a slider."""
    low, high, step = page.locator(slider).evaluate("(s) => [+s.min, +s.max, +s.step]")
    return low, high, step


def open_page(
    browser: Browser, url: str, key: str, chart: str, device: Mapping[str, Any] = LAPTOP
) -> Subject:
    """Open a page under measurement.

    Args:
        browser: the browser.
        url: URL of the page.
        key: key of a slider or a menu.
        chart: what it changes.
        device: options of the browser's context.
    """
    page = browser.new_context(**device).new_page()
    page.goto(url)
    page.locator("h1, input[type=range]").first.wait_for(state="attached")
    draw_whole(page)
    theirs = f"{css_class(key)} input:is([type=range], [role=combobox])"
    slider = f"{slider_input(key)}, {theirs}"  # ours, or Streamlit's own
    page.locator(slider).wait_for(state="attached")
    page.locator(css_class(chart)).locator(
        "svg.main-svg, svg.marks, [data-testid=stText]"
    ).first.wait_for()
    page.evaluate(PROBE.replace("CHART", json.dumps(css_class(chart))))
    page.evaluate("seqviz.idle()")
    return Subject(page, slider, [page.locator(slider).input_value()], key)


def measure_lessons(presses: int, apart: bool, chosen: Sequence[catalog.LessonRecord]) -> None:
    """Measure presses, far steps and drags of lessons, with the empty page as floor."""
    floor, opened, drags, broken = measure(presses, apart, chosen)
    report = Report("interaction", floor_ms=round(floor.median(), 1))
    print(f"slider press to changed picture, {presses} fresh values each, milliseconds")
    for name, subject in {"empty page": floor, **opened}.items():
        report.row(
            name, median=subject.median(), p95=subject.p95(),
            ratio=subject.median() / floor.median(), settled=subject.median(1),
            far=float(np.median(subject.leaps or [np.nan])),
        )  # fmt: skip
    print(f"a drag of {DRAG_MS / 1000:.0f} s, 60 moves a second; all: all values of the slider")
    lesson_values: dict[str, dict[str, object]] = {}
    for slug, drag in drags.items():
        for bench, item in drag.items():
            report.row(f"{slug} {bench}", per_s=item.per_s, p95_ms=item.p95_ms, all=item.every)
        bench, worst = min(drag.items(), key=lambda entry: (entry[1].every, entry[1].per_s))
        ms, far = opened[slug].median(), float(np.median(opened[slug].leaps))
        lesson_values[slug] = {
            "ms": round(ms, 1),
            "ratio": round(ms / floor.median(), 3),
            "settled_ms": round(opened[slug].median(1), 1),
            "far_ms": round(far, 1),
            "far_ratio": round(far / floor.median(), 3),
            "drag_per_s": round(worst.per_s, 1),
            "drag_every": worst.every,
            "drag_p95_ms": round(max(entry.p95_ms for entry in drag.values())),
            "bench": bench,
        }
    report.values["lessons"] = lesson_values
    report.finish({"ratio": GOAL}, is_broken=bool(broken))


# --- every bench of a lesson ----------------------------------------------------------------------

UNTIMED = 2  # number of unmeasured first presses
# Controls for benches whose first control changes no mark that the probe sees (a treemap, an
# outlined cell, a vertical line). bill: its menu; steps: the control that draws other tokens;
# futures: more branches (one more continuation has no mark).
SETTINGS = {
    ("transformer", "bill"): {"view": "operations"}, ("gpt", "steps"): {"way": "sampled"},
}  # fmt: skip
PARAMETERS = {
    ("transformer", "norms"): "added", ("transformer", "bill"): "design",
    ("gpt", "steps"): "temperature", ("gpt", "futures"): "shown",
}  # fmt: skip
# `testing.server.EMPTY_PAGE` with a menu.
MENU_PAGE = """
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
MENU_LOOKS = 10  # number of polls of an opening menu
OTHER = """(box) => {
  const option = document.getElementById(box.getAttribute("aria-activedescendant"));
  return option !== null && option.getAttribute("aria-selected") !== "true";
}"""  # true where the focused option is not the selected one
LINES = {1: "ArrowDown", -1: "ArrowUp"}


def moved(bench: Bench) -> tuple[str, Slider | SelectSlider | Choice] | None:
    """Return the first slider of a bench that applies initially, else its last menu, if any."""
    place = bench.lesson.slug, bench.name
    result = list(active_controls(bench.declaration(**SETTINGS.get(place, {}))))
    for name, control, values in result:
        is_chosen = PARAMETERS.get(place, name) == name and not is_constant(control, values)
        if is_chosen and isinstance(control, Slider | SelectSlider) and not control.more:
            return name, control
    menus = [(name, c) for name, c, _ in result if isinstance(c, Choice) and c.menu]
    return menus[-1] if menus else None


def choose(subject: Subject, method: int) -> None:
    """Measure another option of a menu, in this direction; as `Subject.press`."""
    page = subject.page
    page.evaluate("seqviz.idle()")
    page.locator(subject.slider).blur()
    page.locator(subject.slider).click()
    for view in range(MENU_LOOKS):
        page.wait_for_timeout(100)
        if page.locator(subject.slider).evaluate(OTHER):
            break
        is_at_end = view >= MENU_LOOKS // 2  # then reverse the direction
        page.keyboard.press(LINES[-method if is_at_end else method])
    page.evaluate("seqviz.arm('keydown')")
    page.keyboard.press("Enter")
    changed, committed = page.evaluate("seqviz.done")
    subject.milliseconds.append((changed, committed))
    page.evaluate("seqviz.idle()")


def press_bench(
    browser: Browser, url: str, floor: Subject, bench: Bench, name: str,
    control: Slider | SelectSlider | Choice, presses: int,
) -> tuple[Subject, Subject]:  # fmt: skip
    """Press a bench and the empty page in turn."""
    settings = SETTINGS.get((bench.lesson.slug, bench.name), {})
    link = {f"{bench.prefix}.{k}": v for k, v in settings.items()}
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


def measure_benches(slug: str, presses: int) -> None:
    """Measure every bench of a lesson, with the empty page as floor."""
    ratios, broken = dict[str, float](), dict[str, str]()
    report = Report("every_bench", lesson=slug, ratios=ratios)
    with contextlib.ExitStack() as stack:
        app = stack.enter_context(serve(environment=MODELS))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        empty = stack.enter_context(serve_page(folder, MENU_PAGE))
        browser = stack.enter_context(chromium())
        floor = open_page(browser, empty.url, "value", "shown")
        for bench in getattr(lessons, slug).lesson.benches.values():
            if (result := moved(bench)) is None:
                continue
            with noted(broken, bench.name, f"{bench.prefix}.{result[0]}"):
                both = press_bench(browser, app.url, floor, bench, *result, presses)
                ms, beside = (np.array(item.milliseconds[UNTIMED:])[:, 0] for item in both)
                median, floor_ms = float(np.median(ms)), float(np.median(beside))
                ratios[bench.name] = round(median / floor_ms, 2)
                report.row(f"{bench.name} {result[0]}", median=median, worst=float(ms.max()),
                           empty_page=floor_ms, ratio=median / floor_ms)  # fmt: skip
    report.finish(is_broken=bool(broken))


# --- drags on a phone ----------------------------------------------------------------------------

SLOWER = 4  # times that the phone's processor takes
MIN_PER_S, MIN_PER_S_NETWORK = 20.0, 8.0  # goals; the second for a figure of MiniLM or SmolLM2
NETWORKS = ("attention", "bert_accuracy")  # lessons whose figures are passes of such a network
TO_AND_FRO_S = 3.0
DRAWN = """([bench, key, since]) => globalThis.seqvizLiveBench(bench).frames
  .filter(({ at }) => at >= since).map(({ values }) => Number(values[key]))"""
DOCK = """(input) => {
  const { left, right, top, bottom } = input.getBoundingClientRect();
  const above = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
  return above === input && top > innerHeight / 2;
}"""  # whether the slider is at the lower edge of the window, and nothing on it


def drag_on_phone(browser: Browser, url: str, bench: Bench, name: str) -> tuple[str, float]:
    """Drag the docked slider to and fro; return its key, and the figures per second.

    Args:
        browser: the browser.
        url: of the server.
        bench: the bench.
        name: a slider of the bench, by which one knows that it has been drawn.

    Raises:
        RuntimeError: no slider is docked.
    """
    key, chart = f"{bench.prefix}.{name}", f"{bench.prefix}.figure"
    subject = open_page(browser, f"{url}/{bench.lesson.slug}", key, chart, PHONE)
    page = subject.page
    page.locator(css_class(chart)).evaluate("(figure) => figure.scrollIntoView()")
    page.evaluate("seqviz.idle()")
    for name, control in controls(bench.declaration):
        if not isinstance(control, Slider | SelectSlider):
            continue
        key = f"{bench.prefix}.{name}"
        slider = page.locator(slider_input(key))
        if slider.count() and slider.evaluate(DOCK):
            break
    else:
        raise RuntimeError("no slider is docked")
    tools, box = page.context.new_cdp_session(page), slider.bounding_box()
    assert box is not None
    tools.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})

    def touch(kind: str, share: float) -> None:
        point = {"x": box["x"] + share * box["width"], "y": box["y"] + box["height"] / 2}
        points = [] if kind == "touchEnd" else [point]
        tools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    started, seconds = time.monotonic(), 0.0
    since = page.evaluate("performance.now()")
    touch("touchStart", 0.1)
    while seconds < DRAG_MS / 1000:
        touch("touchMove", 0.5 - 0.4 * math.cos(2 * math.pi * seconds / TO_AND_FRO_S))
        time.sleep(1 / 60)
        seconds = time.monotonic() - started
    drawn = page.evaluate(DRAWN, [bench.prefix, key, since])
    touch("touchEnd", 0.0)
    page.context.close()
    return key, changes(drawn) / seconds


def measure_phone(chosen: Sequence[catalog.LessonRecord]) -> None:
    """Measure drags of the docked sliders."""
    broken = dict[str, str]()
    others, networks = dict[str, dict[str, float]](), dict[str, dict[str, float]]()
    report = Report("phone", slower=SLOWER, others=others, networks=networks)
    with serve(environment=MODELS) as app, chromium() as browser:
        for record in chosen:
            lesson = getattr(lessons, record.slug).lesson
            for bench in (lesson.benches[name] for name in lesson.core or lesson.benches):
                docked = moved(bench)
                if docked is None or isinstance(docked[1], Choice):
                    continue
                name = f"{record.slug} {bench.name}"
                with noted(broken, name, f"{bench.prefix}.{docked[0]}"):
                    key, per_s = drag_on_phone(browser, app.url, bench, docked[0])
                    per_s = round(per_s, 1)
                    report.row(key, per_s=per_s)
                    if record.slug in NETWORKS:
                        networks[name] = {"network_per_s": per_s}
                    else:
                        others[name] = {"per_s": per_s}
    goals = {"per_s": MIN_PER_S, "network_per_s": MIN_PER_S_NETWORK}
    report.finish(at_least=goals, is_broken=bool(broken))


# --- processor time of a press --------------------------------------------------------------------

CPU_GOALS = {"picture": 5.0, "press": 12.0}  # milliseconds
AFTER_START = 40.0  # seconds; a server loads torch after its first answers
AFTER_VISIT = 8.0  # seconds in which garbage of a visit is collected (seqviz.core.gc_tuning)
# lesson, key of the slider, its values
MOVED: list[tuple[str, str, Iterator[float]]] = [
    ("ar_fitting", "ar.process.phi", (round(-0.9 + 0.01 * k, 2) for k in range(180))),
    ("gates", "ga.force.f", (round(0.2 + 0.004 * k, 3) for k in range(180))),
    ("gates", "ga.watch.step", iter(range(1, 148))),
    ("vanishing_gradients", "vg.reach.gain", (round(0.4 + 0.01 * k, 2) for k in range(110))),
]


async def cpu_of_presses(
    server: Server, page: str, key: str, values: Iterator[float], presses: int
) -> dict:
    """Return the server's processor ms per interaction: `picture`, `rest` and both."""
    used = {"picture": 0.0, "rest": 0.0}
    async with ProtocolClient(server.url, page, cookies={}) as student:
        await student.open()
        bench = key.split(".")[1]
        if f"{key}.slider" not in student.widgets:
            await student.scroll(to=bench)
        for number in range(WARM_UP + presses):
            if number == WARM_UP:
                await asyncio.sleep(AFTER_VISIT)
                used = dict.fromkeys(used, 0.0)
            value = next(values)
            before = server.cpu_seconds()
            if (status := await student.picture(key, value)) != 200:
                raise RuntimeError(f"{key} = {value}: {status}")
            between = server.cpu_seconds()
            await student.move(key, value)
            await asyncio.sleep(0.1)  # includes the server's remaining work for it
            used["picture"] += between - before
            used["rest"] += server.cpu_seconds() - between
    result = {name: round(1e3 * seconds / presses, 2) for name, seconds in used.items()}
    return result | {"press": round(sum(result.values()), 2)}


def measure_cpu(presses: int) -> None:
    """Measure the processor time of interactions."""
    sliders: dict[str, dict[str, float]] = {}
    report = Report("rest", presses=presses, sliders=sliders)
    with serve() as server:
        asyncio.run(cpu_of_presses(server, *MOVED[0], presses=1))
        time.sleep(AFTER_START)
        for page, key, values in MOVED:
            sliders[key] = asyncio.run(cpu_of_presses(server, page, key, values, presses))
            report.row(key, **sliders[key])
    report.finish(CPU_GOALS)


# --- figures of a running training ----------------------------------------------------------------

MAX_STREAMED = 1.05  # goal: seconds of a training over those of one that nobody sees
STREAMED_PAIRS = 8


async def seconds_of_training(server: Server, is_drawn: bool) -> tuple[float, int]:
    """Return the seconds that a training runs, and how often its page was drawn meanwhile."""
    before, drawn = server.counter("seqviz_job_seconds_total"), 0
    async with ProtocolClient(server.url, TRAINER, training_link(next(SEEDS))) as student:
        await begin_training(student)
        while is_drawn and student.polls:  # as a browser: at intervals, however long a run takes
            fragment, interval = next(iter(student.polls.items()))
            took = await student.ask((), fragment, auto=True)
            drawn += 1
            await asyncio.sleep(max(0.0, interval - took))
        while server.counter("seqviz_jobs_running") + server.counter("seqviz_jobs_waiting"):
            await asyncio.sleep(1.0)
    return server.counter("seqviz_job_seconds_total") - before, drawn


def measure_streaming() -> None:
    """Measure what the figures of a running training cost it."""
    report, ratios = Report("streaming"), []
    with serve() as server:
        asyncio.run(seconds_of_training(server, is_drawn=True))
        time.sleep(AFTER_START)
        for turn in range(STREAMED_PAIRS):
            seconds: dict[bool, float] = {}
            for is_drawn in (True, False) if turn % 2 else (False, True):
                seconds[is_drawn], drawn = asyncio.run(seconds_of_training(server, is_drawn))
                if is_drawn:
                    per_s = drawn / seconds[True]
            ratios.append(seconds[True] / seconds[False])
            report.row(f"pair {turn + 1}", drawn_s=round(seconds[True], 2),
                       unseen_s=round(seconds[False], 2), per_s=round(per_s, 1),
                       ratio=round(ratios[-1], 3))  # fmt: skip
    report.values["ratio"] = round(float(np.median(ratios)), 3)
    report.finish({"ratio": MAX_STREAMED})


# --- fresh sentences at once ----------------------------------------------------------------------

GATES = catalog.lesson("gates")
GATES_BENCH, GATES_SLIDER = pressed(GATES)
GATES_KEY = f"{GATES.code}.{GATES_BENCH}.{GATES_SLIDER}"
# The bench whose text is sent, and the control that is then moved: twelve tokens are written, and
# twelve with another second token.
TEXT_BENCHES = {"transformer": "account", "gpt": "scores"}
NEXT_MOVES = {"gpt": ("steps", "rank", 2)}
TEXT_GOAL_MS = 250
THINK_S, ALONE_S, PAUSE_S = 0.2, 10.0, 1.0  # between presses, before the rounds, between them
SENTENCE_WORDS = tuple(map(str.split, (
    "The A My Every One This",
    "old young tired quiet clever hungry careful famous",
    "sailor teacher doctor farmer painter lawyer baker pilot",
    "bought sold carried repaired described forgot found borrowed",
    "a the his her",
    "small heavy yellow broken wooden silver cheap strange",
    "boat clock table letter bridge window garden basket",
    "near behind before above",
    "the a",
)))  # fmt: skip


async def send_text(student: ProtocolClient, draw: random.Random, waits: list[float]) -> None:
    """Send one of 5 million sentences; record the seconds until its figures arrive."""
    text = " ".join(map(draw.choice, SENTENCE_WORDS))
    lesson = catalog.lesson(student.page)
    moves: list[tuple[str, str, Any]] = [(TEXT_BENCHES[lesson.slug], "text", text)]
    moves += [NEXT_MOVES[lesson.slug]] if lesson.slug in NEXT_MOVES else []
    seconds = 0.0
    for bench, name, value in moves:
        seconds += await student.move(f"{lesson.code}.{bench}.{name}", value)
        while student.polls:  # the page waits for a model, or in the queue
            seconds += await student.poll()
    if not student.charts or student.errors or student.warnings:
        raise RuntimeError(f"no figure of {text!r}: {student.errors + student.warnings}")
    waits.append(seconds)


async def press_during(
    work: asyncio.Future[Any], student: ProtocolClient, values: Iterator[Any], times: Times
) -> None:
    """Use the slider of Gates repeatedly until the work is done."""
    while not work.done():
        await press_live(student, GATES_KEY, next(values), times)
        await asyncio.sleep(THINK_S)
    await work


async def attend(
    url: str, slug: str, students: int, rounds: int
) -> tuple[Times, Times, list[float]]:
    """Return the other student's times, alone and in rounds, and seconds of all sentences."""
    draw, alone, busy, waits = random.Random(SEED), Times(), Times(), list[float]()
    async with contextlib.AsyncExitStack() as stack:
        other, *writers = [
            await stack.enter_async_context(ProtocolClient(url, page, cookies={}))
            for page in (GATES.slug, *[slug] * students)
        ]
        await asyncio.gather(*(item.open() for item in (other, *writers)))
        await other.scroll(GATES_BENCH)
        if slug in NEXT_MOVES:
            await asyncio.gather(*(writer.scroll(NEXT_MOVES[slug][0]) for writer in writers))
        values = fresh(other, GATES_KEY, draw)
        await press_live(other, GATES_KEY, next(values), Times())
        await send_text(writers[0], draw, [])  # warm-up
        await press_during(asyncio.ensure_future(asyncio.sleep(ALONE_S)), other, values, alone)
        for _ in range(rounds):
            await asyncio.sleep(PAUSE_S)
            at_once = asyncio.gather(*(send_text(writer, draw, waits) for writer in writers))
            await press_during(at_once, other, values, busy)
    return alone, busy, waits


def measure_texts(slug: str, students: int, rounds: int) -> None:
    """Measure fresh sentences at once, while another student uses a slider."""
    with serve(environment=MODELS) as server:
        alone, busy, waits = asyncio.run(attend(server.url, slug, students, rounds))
    report = Report("fresh", lesson=slug, students=students)
    report.values |= {"presses": len(busy.rests), "sentences": len(waits)}
    for name, seconds in (("alone", alone.rests), ("busy", busy.rests), ("sentence", waits)):
        cells = {f"p{k}_ms": milliseconds(seconds, k) for k in (50, 95, 100)}
        report.row(name, **cells)
        report.values |= {f"{name}_{key}": value for key, value in cells.items()}
    report.finish({"busy_p95_ms": TEXT_GOAL_MS})


def main(arguments: Sequence[str] | None = None) -> None:
    registered = {lesson.slug: lesson for lesson in catalog.LESSONS}
    given = options(
        __doc__,
        arguments,
        lessons={"nargs": "*", "metavar": "LESSON", "help": "slugs of lessons; default: all"},
        presses=(0, "measured presses of a page (40), a slider (--cpu: 50), a bench (--every: 6)"),
        apart=(False, "run browser and server on one core each"),
        phone=(False, "measure drags on a phone"),
        every={"choices": registered, "help": "measure each bench of this lesson"},
        cpu=(False, "measure the processor time of interactions"),
        streaming=(False, "measure what the figures of a running training cost it"),
        texts=(False, "measure concurrent fresh sentences"),
        lesson={"choices": TEXT_BENCHES, "default": "transformer", "help": "lesson for --texts"},
        students=(10, "number of students for --texts"),
        rounds=(12, "number of rounds for --texts"),
    )
    if given.texts:
        measure_texts(given.lesson, given.students, given.rounds)
    elif given.phone:
        measure_phone([registered[slug] for slug in given.lessons or registered])
    elif given.streaming:
        measure_streaming()
    elif given.cpu:
        measure_cpu(given.presses or 50)
    elif given.every:
        measure_benches(given.every, given.presses or 6)
    else:
        if unknown := [slug for slug in given.lessons if slug not in registered]:
            sys.exit(f"There is no lesson {unknown[0]!r}; there are {', '.join(registered)}.")
        chosen = [registered[slug] for slug in given.lessons or registered]
        measure_lessons(given.presses or 40, given.apart, chosen)


if __name__ == "__main__":
    main()
