"""From a key press on a slider to the changed picture, against an empty Streamlit page.

A real Chromium presses the right arrow on the first slider of each lesson, and in turn on the
slider of a page that holds nothing else (the floor: what Streamlit itself takes). The clock runs
inside the page: from the `keydown` event to the second animation frame after the chart (there: the
text) shows something else; nothing polls in between. "Settled" is when two frames have passed and
added nothing more to the picture. A press goes one step, for which a resting page has fetched the
picture; "far" is a step across the slider, for which it has none. No value comes twice on a server
that started with this run, so nothing that is measured comes from its cache; the slider's values
are checked to be all different.
A lesson's first slider also changes the benches that build on the first one: they are drawn after
the first chart, and every press waits until the whole page has been idle.

Then the same sliders are dragged for three seconds with sixty moves a second, there and back over
values of their own: how many different pictures are drawn in a second, and how old the value is
that is on screen (at each frame the time since the hand set the value that is drawn; 95th
percentile). Of each lesson its first bench is measured (or the one that a class presses, where the
first slider has few values) and the one whose answer takes the server longest (found in this run);
the worse of the two stands for the lesson. A drag that drew all that the hand came by is not the
worse one: a slider with few values has no more pictures.

With `--apart` servers run on one core and the browser, with what measures, on another. A page that
fails is named with its slider, the others are measured, and the command ends with 1.

`--every LESSON`: of each bench of a lesson the first slider that applies as it opens; where there
is none, the last menu (its clock runs from the Enter that chooses an option), beside the menu of
the empty page. Some have few places: at an end the hand turns round, so a value can come twice,
then from the cache of the class. Presses of the empty page and of a bench take turns.

Two more parts have no browser but students of `testing.protocol`:

* `--cpu`: processor time of the server for one press of a slider, all in. One student moves a
  slider to a value that nobody has asked for and lets go: the picture of that value (`picture`),
  and what Streamlit does when the hand rests (`rest`). The page is drawn down to this bench; what
  builds on it further down is not redrawn.
* `--texts`: ten fresh sentences at once. In each round ten students send at the same moment a
  sentence that nobody has sent before: to *Account of a logit* (the Transformer block), or to *From
  scores to a draw* (GPT), whose next bench then writes twelve tokens, and twelve with another in
  one place. Until each has its figures, another student presses the slider of Gates that a class
  presses. Printed: how long that student's pictures took, alone beforehand and in the rounds; after
  how many seconds what a sentence asks for was there.

`python -m benchmarks.interaction [LESSON ...] [--presses 40] [--apart]`, `--every transformer`,
`--cpu`, `--texts [--lesson gpt] [--students 10] [--rounds 12]`
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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
from playwright.sync_api import Browser, Error, Page

from benchmarks.classroom import INSTEAD, MODELS, SEED, Times, fresh, pressed
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
QUIET_MS = 300  # the page counts as idle when its script has rested for this long
PATIENCE_MS = 20_000
DRAG_MS = 3000
FAR = (0.1, 0.8, 0.2, 0.9, 0.3, 0.7)  # places on a slider, all far from the one before

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
    const before = place?.frames.length ?? 0;
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
      if (last && place.frames.length > before) frames.push([now, Number(last.values[key])]);
      if (now - started < {DRAG_MS}) return requestAnimationFrame(frame);
      clearInterval(timer);
      const drawn = (place?.frames ?? []).slice(before)
        .filter((one) => one.at - started < {DRAG_MS});
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
    """A drag: different pictures a second, and the 95th percentile of the age of what is seen.

    every: each value of the hand was drawn: more pictures there could not be.
    """

    per_s: float
    p95_ms: float
    every: bool


@dataclass
class Subject:
    """One page under measurement: its slider, what its slider changes, and the times so far.

    presses: for how many it has fresh values, of those that were asked for.
    milliseconds: per press, to the change and to the settled picture; the warm-up comes first.
    leaps: per step to a value far off, to the change.
    """

    page: Page
    slider: str
    values: list[str]
    key: str = ""
    presses: int = 0
    milliseconds: list[tuple[float, float]] = field(default_factory=list)
    leaps: list[float] = field(default_factory=list)

    def press(self, key: str = "ArrowRight") -> None:
        """Measure one press; wait until the page is idle before it and after it."""
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
        """Measure one step to a value far off, for which the browser has no picture yet."""
        self.page.evaluate("seqviz.idle()")
        self.page.evaluate("seqviz.arm('input')")
        self.page.evaluate("([s, v]) => seqviz.leap(s, v)", [self.slider, value])
        self.leaps.append(self.page.evaluate("seqviz.done")[0])
        self.page.evaluate("seqviz.idle()")

    def drag(self) -> Drag:
        """Drag for three seconds, there and back; wait until the page is idle before and after."""
        low, high, step = ends(self.page, self.slider)
        methods = min(DRAG_MS * 60 // 1000, round((high - low) / step) + 1)
        there = np.linspace(low, high, max(2, methods))
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
        """The median in milliseconds: to the change (0) or to the settled picture (1)."""
        return float(np.median(self._warm()[:, column])) if self.milliseconds else math.nan

    def p95(self) -> float:
        """The 95th percentile in milliseconds, to the change."""
        return float(np.percentile(self._warm()[:, 0], 95)) if self.milliseconds else math.nan

    def _warm(self) -> np.ndarray:
        """Without the warm-up; a slider of few values has a shorter one."""
        return np.array(self.milliseconds)[min(WARM_UP, len(self.milliseconds) // 2) :]


@contextlib.contextmanager
def noted(broken: dict[str, str], name: str, slider: str) -> Iterator[None]:
    """Go on where a page fails; `broken` gets under its name which slider failed, and how."""
    try:
        yield
    except Exception as error:  # of any kind: the next page is another
        first = str(error).partition("\n")[0]
        broken.setdefault(name, f"{slider}: {type(error).__name__}: {first}")
        print(f"{name} {broken[name]}", file=sys.stderr, flush=True)


def changes(values: Sequence[float]) -> int:
    """How often another value comes.

    >>> changes([1.0, 1.0, 2.0, 1.0])
    3
    """
    return len(values) - sum(now == before for before, now in pairwise(values))


def age(moves: list[tuple[float, float]], frames: list[tuple[float, float]]) -> float:
    """How old the value on screen is, 95th percentile over the frames, in milliseconds.

    moves: when the hand set which value; frames: when which value was on screen. A value is as old
    as the last time that the hand set it before the frame; nan where nothing was drawn.

    >>> age([(0.0, 1.0), (10.0, 2.0)], [(30.0, 1.0), (40.0, 2.0)])
    30.0
    """
    ages = [
        now
        - max((when for when, value in moves if value == frame and when <= now), default=math.nan)
        for now, frame in frames
    ]
    return float(np.percentile(ages, 95)) if ages else math.nan


def slowest(lesson: catalog.LessonRecord, but: str) -> tuple[str, str] | None:
    """Bench and parameter of the slider whose answer takes the server longest, in this process.

    but: a bench that is measured already. Of the sliders that apply to a lesson as it opens, where
    there is a picture at once.
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
                result[name, parameter] = times[-1]  # the first has loaded what it needs
            break
    return max(result, key=lambda position: result[position]) if result else None


def open_floor(browser: Browser, url: str) -> Subject:
    """The empty page: its slider starts in the middle and has 120 values to the right."""
    return open_page(browser, url, "value", "shown")


def open_lesson(
    browser: Browser,
    url: str,
    lesson: catalog.LessonRecord,
    presses: int,
    position: tuple[str, str] | None = None,
    fewer: bool = False,
) -> Subject:
    """A lesson, by a link that puts a slider half the presses left of the middle.

    position: bench and parameter; the lesson's first. SystemExit when the first slider has too few
    values for that many fresh ones, unless `fewer` will do; another one begins where it stands.
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
    """The floor and every lesson, pressed in turn; then each lesson's two benches are dragged.

    The last result tells which pages failed, and how; they are in no other.
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
    """Lower end, upper end and the step of a slider."""
    low, high, step = page.locator(slider).evaluate("(s) => [+s.min, +s.max, +s.step]")
    return low, high, step


def open_page(browser: Browser, url: str, key: str, chart: str) -> Subject:
    """A page of its own under measurement. key: of a slider or a menu. chart: what it changes."""
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
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
    """Presses, leaps and drags of lessons, beside the empty page."""
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

UNTIMED = 2  # first presses of each
# What the probe does not see: a treemap has no marks of its kind, an outlined cell is none, nor is
# a vertical line. bill: its menu; steps: what draws other
# tokens; futures: more branches (one way more has no mark of its own).
SETTINGS = {"bill": {"view": "operations"}, "steps": {"way": "sampled"}}
PARAMETERS = {"norms": "added", "bill": "design", "steps": "temperature", "futures": "shown"}
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
MENU_LOOKS = 10  # looks at a menu that opens
OTHER = """(box) => {
  const option = document.getElementById(box.getAttribute("aria-activedescendant"));
  return option !== null && option.getAttribute("aria-selected") !== "true";
}"""  # whether the option under the keyboard is none that is chosen
LINES = {1: "ArrowDown", -1: "ArrowUp"}


def moved(bench: Bench) -> tuple[str, Slider | SelectSlider | Choice] | None:
    """The first slider of a bench as it opens, else its last menu, if it has any."""
    result = list(active_controls(bench.declaration(**SETTINGS.get(bench.name, {}))))
    for name, control, values in result:
        is_chosen = PARAMETERS.get(bench.name, name) == name and not is_constant(control, values)
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
        is_at_end = view >= MENU_LOOKS // 2  # then the other way
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
    """A bench and the empty page, pressed in turn."""
    link = {f"{bench.prefix}.{k}": v for k, v in SETTINGS.get(bench.name, {}).items()}
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
    """Every bench of a lesson, beside the empty page."""
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


# --- processor time of a press --------------------------------------------------------------------

CPU_GOALS = {"picture": 5.0, "press": 12.0}  # milliseconds
AFTER_START = 40.0  # seconds; a server loads torch after its first answers
AFTER_VISIT = 8.0  # seconds; what a new visit leaves is collected within (seqviz.core.gc_tuning)
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
    """Milliseconds of the server's processor time a press: `picture`, `rest` and both."""
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
            await asyncio.sleep(0.1)  # what the server still does for it
            used["picture"] += between - before
            used["rest"] += server.cpu_seconds() - between
    result = {name: round(1e3 * seconds / presses, 2) for name, seconds in used.items()}
    return result | {"press": round(sum(result.values()), 2)}


def measure_cpu(presses: int) -> None:
    """Processor time of presses."""
    sliders: dict[str, dict[str, float]] = {}
    report = Report("rest", presses=presses, sliders=sliders)
    with serve() as server:
        asyncio.run(cpu_of_presses(server, *MOVED[0], presses=1))
        time.sleep(AFTER_START)
        for page, key, values in MOVED:
            sliders[key] = asyncio.run(cpu_of_presses(server, page, key, values, presses))
            report.row(key, **sliders[key])
    report.finish(CPU_GOALS)


# --- fresh sentences at once ----------------------------------------------------------------------

GATES = catalog.lesson("gates")
GATES_BENCH, GATES_SLIDER = pressed(GATES)
GATES_KEY = f"{GATES.code}.{GATES_BENCH}.{GATES_SLIDER}"
# The bench whose text is sent, and what is moved then: twelve tokens are written, and twelve with
# another in the place of the second.
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
    """Send one of 5 million sentences; note the seconds until its figures are there."""
    text = " ".join(map(draw.choice, SENTENCE_WORDS))
    lesson = catalog.lesson(student.page)
    moves: list[tuple[str, str, Any]] = [(TEXT_BENCHES[lesson.slug], "text", text)]
    moves += [NEXT_MOVES[lesson.slug]] if lesson.slug in NEXT_MOVES else []
    seconds = 0.0
    for bench, name, value in moves:
        seconds += await student.move(f"{lesson.code}.{bench}.{name}", value)
        while student.polls:  # it waits for a model, or for its turn
            seconds += await student.poll()
    if not student.charts or student.errors or student.warnings:
        raise RuntimeError(f"no figure of {text!r}: {student.errors + student.warnings}")
    waits.append(seconds)


async def press_during(
    work: asyncio.Future[Any], student: ProtocolClient, values: Iterator[Any], times: Times
) -> None:
    """Press the slider of Gates again and again until the work is done."""
    while not work.done():
        await press_live(student, GATES_KEY, next(values), times)
        await asyncio.sleep(THINK_S)
    await work


async def attend(
    url: str, slug: str, students: int, rounds: int
) -> tuple[Times, Times, list[float]]:
    """The other student's presses alone and in the rounds; the seconds of all sentences."""
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
        await send_text(writers[0], draw, [])  # what is loaded once is loaded now
        await press_during(asyncio.ensure_future(asyncio.sleep(ALONE_S)), other, values, alone)
        for _ in range(rounds):
            await asyncio.sleep(PAUSE_S)
            at_once = asyncio.gather(*(send_text(writer, draw, waits) for writer in writers))
            await press_during(at_once, other, values, busy)
    return alone, busy, waits


def measure_texts(slug: str, students: int, rounds: int) -> None:
    """Fresh sentences at once, beside a slider that is pressed."""
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
        lessons={"nargs": "*", "metavar": "LESSON", "help": "only these, by their slugs"},
        presses=(0, "measured presses of a page (40), a slider (--cpu: 50), a bench (--every: 6)"),
        apart=(False, "browser and server: a core each"),
        every={"choices": registered, "help": "each bench of this lesson"},
        cpu=(False, "processor time of presses"),
        texts=(False, "fresh sentences at once"),
        lesson={"choices": TEXT_BENCHES, "default": "transformer", "help": "of the sentences"},
        students=(10, "who send sentences"),
        rounds=(12, "of sentences"),
    )
    if given.texts:
        measure_texts(given.lesson, given.students, given.rounds)
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
