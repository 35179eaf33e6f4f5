"""Comparison of the same figure and slider in Dash, Panel, Gradio and SeqViz.

Each draws the first bench of *AR fitting* by SeqViz's computation and figure
(`benchmarks.peers.apps`), with the framework's own slider, which reports while it is dragged. The
pages take turns, each visit in a new browser profile, and one probe measures all of them:

* first: from the navigation to the painted figure;
* touch: from the navigation until the slider is present and any placeholder of the page is gone;
* press: from the `keydown` of a right arrow to the second frame after the figure has changed;
* drag: a real mouse moves from one end of the slider to the other in three seconds, at 60 moves per
  second; different figures per second.

SeqViz shares results between visitors, so presses and drags use a new seed each time: no value
occurs twice. The other frameworks run in a virtual environment, created from `requirements.txt` in
the user's cache folder, which also sees this environment's packages.

Usage: `python -m benchmarks.peers [--rounds 3] [--presses 8] [--apart]`.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import statistics
import subprocess
import sys
import sysconfig
import time
import urllib.request
import venv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, Page

from benchmarks.report import Report, options
from seqviz.models.store import cache
from testing.chromium import MARKS, chromium, css_class, slider_input, watched
from testing.server import HOST, ROOT, free_port, serve

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
# Selectors of the figure, from shadow root to shadow root.
PEERS = {
    "dash": ["#figure"],
    "panel": [".bk-panel-models-layout-Column", ".figure"],
    "gradio": ["#figure"],
}
HANDLE = "[role=slider], input[type=range]"
KEY = "ar.process.phi"
FIRST = "#seqviz-shell"  # the prerendered figure
WARM_UP = 2  # unmeasured first presses of each visit
MOVES_PER_S = 60
QUIET_MS = 500
DRAG_S = 3.0
PATIENCE_MS = 20_000

# `pressed()` resolves to the milliseconds of one press, `quiet()` once nothing has changed for a
# while. After `count()`, `drawn` is the number of figures.
PROBE = """([path, marks, rest, patience]) => {
  const inside = (root, [selector, ...inner]) => {
    const found = root.querySelector(selector);
    return inner.length ? inside(found.shadowRoot ?? found, inner) : found.shadowRoot ?? found;
  };
  const content = () => [...inside(document, path).querySelectorAll(marks)]
    .map((mark) => mark.getAttribute("d") ?? mark.getAttribute("href")).join();
  const frame = () => new Promise(requestAnimationFrame);
  const running = () => document.querySelector('[data-test-script-state="running"]');
  window.probe = {
    pressed: () => new Promise((resolve, reject) => {
      setTimeout(() => reject(new Error("nothing happened")), patience);
      const before = content();
      document.addEventListener("keydown", async () => {
        const began = performance.now();
        while (["", before].includes(content())) await frame();
        await frame();
        resolve(performance.now() - began);
      }, {capture: true, once: true});
    }),
    async quiet() {
      let seen, since = performance.now();
      while (performance.now() - since < rest) {
        const now = content();
        if (now !== seen || running()) since = performance.now();
        seen = now;
        await frame();
      }
    },
    count() {
      let seen = content();
      this.drawn = 0;
      const look = () => {
        const now = content();
        if (now !== "" && now !== seen) {
          this.drawn += 1;
          seen = now;
        }
        requestAnimationFrame(look);
      };
      look();
    },
  };
}"""


@dataclass
class Subject:
    """One framework.

    Attributes:
        place: selectors of its figure.
        seeded: URL parameters for another seed.
        early: selector of the figure before the page is ready.
    """

    url: str
    place: list[str]
    slider: str = HANDLE
    early: str = ""
    seeded: str = ""
    first_s: list[float] = field(default_factory=list)
    press_ms: list[float] = field(default_factory=list)
    drag_per_s: list[float] = field(default_factory=list)
    touch_s: list[float] = field(default_factory=list)

    def arrive(self, browser: Browser) -> None:
        """Make a first visit."""
        with self._visit(browser, self.url) as page:
            taken = page.evaluate("painted.then((when) => when - performance.timeOrigin)")
            self.first_s.append(taken / 1000)
            self._touchable(page)
            self.touch_s.append(page.evaluate("performance.now()") / 1000)

    def move(self, browser: Browser, presses: int, seed: int) -> None:
        """Press several times, and drag once."""
        with self._visit(browser, self.url + self.seeded.format(seed)) as page:
            self._touchable(page)
            page.evaluate(PROBE, [self.place, MARKS, QUIET_MS, PATIENCE_MS])
            taken = [press(page, self.slider) for _ in range(WARM_UP + presses)]
            self.press_ms += taken[WARM_UP:]
            self.drag_per_s.append(drag(page, self.slider))

    @contextlib.contextmanager
    def _visit(self, browser: Browser, url: str) -> Iterator[Page]:
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        *shadows, last = self.place
        early = [f":is({last}, {self.early})"] if self.early else [last]
        page = watched(context, *shadows, *early, MARKS)
        page.goto(url, wait_until="commit")
        page.evaluate("painted")
        yield page
        context.close()

    def _touchable(self, page: Page) -> None:
        """Wait until the slider is present and the figure follows it."""
        if self.early:
            page.locator(self.early).wait_for(state="detached")
        page.locator(self.slider).first.wait_for()


def press(page: Page, slider: str) -> float:
    """Press the right arrow on the slider; return the milliseconds to the changed figure."""
    page.evaluate("probe.quiet()")
    page.locator(slider).first.focus()
    page.evaluate("() => { window.pressed = probe.pressed(); }")
    page.keyboard.press("ArrowRight")
    return float(page.evaluate("pressed"))


def drag(page: Page, slider: str) -> float:
    """Drag the slider from its left end to its right; return figures per second."""
    left, right, y = _track(page, slider)
    page.mouse.move(left, y)
    page.mouse.down()
    page.evaluate("probe.quiet()")
    page.evaluate("probe.count()")
    began = time.perf_counter()
    while (gone := time.perf_counter() - began) < DRAG_S:
        page.mouse.move(left + (right - left) * gone / DRAG_S, y)
        time.sleep(1 / MOVES_PER_S - (time.perf_counter() - began) % (1 / MOVES_PER_S))
    rendered = page.evaluate("probe.drawn")
    seconds = time.perf_counter() - began
    page.mouse.up()
    return float(rendered / seconds)


def _track(page: Page, slider: str) -> tuple[float, float, float]:
    """Return x of the handle at the left end and at the right end, and its y."""
    handle = page.locator(slider).first
    ends = []
    for key in ("End", "Home"):  # the drag starts at the last position
        handle.press(key)
        page.wait_for_timeout(QUIET_MS)
        ends.append(handle.evaluate("(one) => one.getBoundingClientRect().toJSON()"))
    right, left = (end["x"] + end["width"] / 2 for end in ends)
    height = ends[0]["height"]
    if right == left:  # a native input: its box is the whole track
        half = (ends[0]["width"] - height) / 2
        left, right = left - half, right + half
    return left, right, ends[0]["y"] + height / 2


def environment() -> Path:
    """Return the Python of the environment with the other frameworks; create it if missing."""
    requested = REQUIREMENTS.read_bytes() + sys.prefix.encode()
    folder = cache() / f"peers-{hashlib.blake2b(requested, digest_size=6).hexdigest()}"
    python, complete = folder / "bin" / "python", folder / "complete"
    if not complete.exists():
        venv.create(folder, clear=True, with_pip=True)
        position = sysconfig.get_path("purelib", "venv", {"base": str(folder)})
        Path(position, "running.pth").write_text(sysconfig.get_path("purelib"), "utf-8")
        install = [str(python), "-m", "pip", "install", "--quiet", "-r", str(REQUIREMENTS)]
        subprocess.run(install, check=True)
        complete.touch()
    return python


@contextlib.contextmanager
def peer(python: Path, name: str) -> Iterator[str]:
    """Serve one of the other frameworks within the context; yield its URL."""
    port = free_port()
    process = subprocess.Popen(
        [python, "-m", "benchmarks.peers.apps", name, str(port)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "GRADIO_ANALYTICS_ENABLED": "False"},
        stdout=subprocess.DEVNULL,
    )
    url = f"http://{HOST}:{port}"
    try:
        while True:
            if process.poll() is not None:
                raise RuntimeError(f"{name} did not start")
            with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=60):
                break
            time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait()


def measure(rounds: int, presses: int, differences: bool = False) -> dict[str, Subject]:
    """Measure SeqViz ("seqviz") and the others, in turn.

    differences: True for servers on one core and the browser on another.
    """
    python, cores = environment(), sorted(os.sched_getaffinity(0))
    with contextlib.ExitStack() as stack:
        if differences:
            os.sched_setaffinity(0, cores[-1:])
        browser = stack.enter_context(chromium())
        if differences:
            os.sched_setaffinity(0, cores[:1])
        ours = f"{stack.enter_context(serve()).url}/ar_fitting"
        position = [css_class("ar.process.figure")]
        subjects = {
            "seqviz": Subject(ours, position, slider_input(KEY), FIRST, "?ar.process.seed={}")
        }
        for name, position in PEERS.items():
            subjects[name] = Subject(stack.enter_context(peer(python, name)), position)
        if differences:
            os.sched_setaffinity(0, cores[-1:])  # this process shares the browser's core
        for turn in range(rounds + 1):
            for subject in subjects.values():
                subject.arrive(browser)
            for subject in subjects.values() if turn else ():
                subject.move(browser, presses, 100 + turn)
    for subject in subjects.values():
        del subject.first_s[0], subject.touch_s[0]
    return subjects


def ratios(medians: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return SeqViz over Dash: of a press, of the figures per second, of the first visit.

    medians: by measurement and framework.
    """
    return {
        f"{name.rpartition('_')[0].removesuffix('_per')}_ratio": of["seqviz"] / of["dash"]
        for name, of in medians.items()
    }


def main() -> None:
    given = options(
        __doc__,
        rounds=(3, "number of visits of each kind"),
        presses=(8, "number of measured presses per visit"),
        apart=(False, "run browser and servers on one core each"),
    )
    subjects = measure(given.rounds, given.presses, given.apart)
    medians = {
        number: {
            name: round(statistics.median(getattr(subject, number)), 3)
            for name, subject in subjects.items()
        }
        for number in ("press_ms", "drag_per_s", "first_s", "touch_s")
    }
    print(
        f"the figure of AR fitting, medians of {given.rounds} visits, {given.presses} presses each"
    )
    report = Report("peers", **{name: round(value, 3) for name, value in ratios(medians).items()})
    for name in subjects:
        report.row(name, **{number: of[name] for number, of in medians.items()})
    report.values |= medians
    report.finish()


if __name__ == "__main__":
    main()
