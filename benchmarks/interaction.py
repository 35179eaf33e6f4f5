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

`python -m benchmarks.interaction [LESSON ...] [--presses 40] [--apart]`
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from urllib.parse import urlencode

import numpy as np
from playwright.sync_api import Browser, Error, Page

from benchmarks.classroom import INSTEAD, pressed
from seqviz import lessons
from seqviz.content import catalog
from seqviz.lessons.framework.controls import SelectSlider, Slider, controls, encoded
from seqviz.lessons.framework.host import PendingError
from seqviz.ui.live import handler
from seqviz.ui.runtime.run_context import Session
from testing.chromium import GEOMETRY, chromium, css_class, draw_whole, slider_input
from testing.server import serve, serve_empty_page

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


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Slider press to changed picture, in a browser.")
    parser.add_argument("lessons", nargs="*", metavar="LESSON", help="only these, by their slugs")
    parser.add_argument("--presses", type=int, default=40, help="measured presses per page")
    parser.add_argument("--apart", action="store_true", help="browser and server: a core each")
    given = parser.parse_args(arguments)
    presses, registered = given.presses, {lesson.slug: lesson for lesson in catalog.LESSONS}
    if unknown := [slug for slug in given.lessons if slug not in registered]:
        parser.error(f"There is no lesson {unknown[0]!r}; there are {', '.join(registered)}.")
    chosen = [registered[slug] for slug in given.lessons or registered]
    floor, opened, drags, broken = measure(presses, given.apart, chosen)
    print(f"slider press to changed picture, {presses} fresh values each, milliseconds")
    print(f"{'':20}{'median':>9}{'p95':>9}{'ratio':>8}{'settled':>9}{'far':>9}   values")
    for name, subject in {"empty page": floor, **opened}.items():
        print(
            f"{name:20}{subject.median():9.1f}{subject.p95():9.1f}"
            f"{subject.median() / floor.median():8.2f}{subject.median(1):9.1f}"
            f"{np.median(subject.leaps or [np.nan]):9.1f}"
            f"   {subject.values[0]} ... {subject.values[-1]}"
        )
    print(f"goal: ratio <= {GOAL}")
    print(f"a drag of {DRAG_MS / 1000:.0f} s, 60 moves a second")
    print(f"{'':34}{'pictures/s':>12}{'age p95, ms':>13}   * all that the hand came by")
    for slug, drag in drags.items():
        for bench, item in drag.items():
            every = " *" if item.every else ""
            print(f"{f'{slug} {bench}':34}{item.per_s:12.1f}{item.p95_ms:13.0f}{every}")
    line: dict[str, object] = {}
    for slug, subject in opened.items():
        bench, worst = min(drags[slug].items(), key=lambda entry: (entry[1].every, entry[1].per_s))
        line[slug] = {
            "ms": round(subject.median(), 1),
            "ratio": round(subject.median() / floor.median(), 3),
            "settled_ms": round(subject.median(1), 1),
            "far_ms": round(float(np.median(subject.leaps)), 1),
            "far_ratio": round(float(np.median(subject.leaps)) / floor.median(), 3),
            "drag_per_s": round(worst.per_s, 1),
            "drag_every": worst.every,
            "drag_p95_ms": round(max(entry.p95_ms for entry in drags[slug].values())),
            "bench": bench,
        }
    print(
        json.dumps({"name": "interaction", "floor_ms": round(floor.median(), 1), "lessons": line})
    )
    if broken:
        sys.exit(1)


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


if __name__ == "__main__":
    main()
