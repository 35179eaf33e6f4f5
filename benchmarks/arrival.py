"""First visit: bytes, requests and seconds until the first figure is painted.

The server is warm (every lesson was opened), the browser is not: each visit uses a new profile. The
clock starts with the navigation and stops when the first SeqViz figure has been painted. Over
loopback, visits alternate with a Streamlit page of a single `st.plotly_chart`: `ratio` is the
lesson's median over that page's. The slow visits go through a proxy (`testing.slow_network`) that
throttles files and websocket, with a round trip of 30 ms; the second slow visit has the browser
cache of the first. Bytes are those that the proxy has passed on when the figure is painted, headers
and websocket included. Layout shift is the worst window of a visit (at most 5 s, gaps below 1 s),
until the page is idle.

Home is measured separately, over the slowest connection: until a correct picture of its bench is
painted, and until it is live, which is when the picture has followed the first slider, pressed as
soon as possible.

With `--embeds`, a first visit to the embed (`ui.embed`) of each lesson's first bench is measured
like the visit to the lesson. Then ten embeds are opened in frames of one page of another origin. An
embed is live when its figure has followed a step of its first slider; the clock stops with the last
one.

Usage: `python -m benchmarks.arrival [--rounds 3] [--lessons ar_fitting,gates] [--embeds]`.
"""

from __future__ import annotations

import contextlib
import statistics
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import Browser, Page, Request

from benchmarks.report import Report, options
from seqviz import lessons as lessons_of
from seqviz.content import catalog
from testing.chromium import chromium, watched
from testing.server import serve, serve_page
from testing.slow_network import Network, slow_network

# A Plotly figure, or one of a client component.
FIGURE = (
    ":is(.seqviz-chart, #seqviz-shell) svg.main-svg .mlayer :is(path, image), "
    "[class*=st-key-][class*=-live] canvas"
)
CHART = ".stPlotlyChart svg.main-svg .mlayer path"
HOME_PICTURE = "#seqviz-shell .home svg path, .seqviz-home-bench svg.main-svg .mlayer path"
HOME_LIVE = ".seqviz-home-bench[data-live] svg.main-svg"
DELAY = 0.03  # s
FAST, MIDDLE, SLOW = 1e9, 10e6, 2e6  # bit/s
WINDOW_S, PAUSE_S = 5.0, 1.0  # maximum length of a window of layout shifts; gap that ends it
QUIET_MS = 500

# The reference: a minimal Streamlit page with a chart.
ONE_CHART = """
import streamlit as st

st.plotly_chart({"data": [{"y": [1, 3, 2]}]})
"""

# Resolves to all layout shifts [seconds, score] without input, once no script runs any more.
SHIFTS = f"""() => new Promise((resolve) => {{
  const shifts = [];
  new PerformanceObserver((list) => {{
    for (const one of list.getEntries())
      if (!one.hadRecentInput) shifts.push([one.startTime / 1000, one.value]);
  }}).observe({{type: "layout-shift", buffered: true}});
  let since = performance.now();
  const timer = setInterval(() => {{
    const app = document.querySelector(".stApp");
    if (app?.dataset.testScriptState !== "notRunning") since = performance.now();
    if (performance.now() - since < {QUIET_MS}) return;
    clearInterval(timer);
    resolve(shifts);
  }}, 20);
}})"""


@dataclass
class Visit:
    """Measurements of one visit.

    Attributes:
        seconds: from the navigation to the figure.
        bytes: received until then, where counted.
        requests: sent until then, where counted.
    """

    seconds: float
    bytes: int = 0
    requests: int = 0
    shift: float = 0.0


def worst_window(shifts: Iterable[Sequence[float]]) -> float:
    """Return the cumulative layout shift of the worst session window of (seconds, score) pairs.

    A window ends with a gap of one second, or after five.

    >>> worst_window([(0.0, 0.2), (0.5, 0.1), (3.0, 0.25)])
    0.30000000000000004
    """
    worst = score = 0.0
    first = last = float("-inf")
    for when, shift in shifts:
        if when - last >= PAUSE_S or when - first >= WINDOW_S:
            first, score = when, 0.0
        last = when
        score += shift
        worst = max(worst, score)
    return worst


def open_page(page: Page, url: str, network: Network | None = None) -> Visit:
    """Navigate to the page and wait for the figure."""
    requests: list[Request] = []
    page.on("request", lambda item: requests.append(item))
    before = len(network.passed) if network else 0
    page.goto(url, wait_until="commit", timeout=120_000)
    began, painted = page.evaluate(
        "window.painted.then((painted) => [performance.timeOrigin / 1000, painted / 1000])"
    )
    arrivals = (
        sum(size for when, size in network.passed[before:] if when <= painted) if network else 0
    )
    # By the browser's clock, since this process is notified later.
    begun = (item.timing["startTime"] / 1000 for item in requests)
    return Visit(painted - began, arrivals, sum(when <= painted for when in begun))


def visit(browser: Browser, url: str, figure: str = FIGURE) -> Visit:
    """Make a first visit over loopback that lasts until the page is idle."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = watched(context, figure)
    result = open_page(page, url)
    result.shift = worst_window(page.evaluate(SHIFTS))
    context.close()
    return result


def slow_visit(browser: Browser, port: int, path: str, rate: float, times: int = 1) -> list[Visit]:
    """Make a first visit through a slow network, and further ones with the same profile."""
    results = []
    with slow_network(port, rate, DELAY) as network:
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        for turn in range(times):
            page = watched(context, FIGURE)
            results.append(open_page(page, f"{network.url}/{path}", network))
            if turn + 1 < times:  # files that arrive after the figure are cached as well
                page.evaluate(SHIFTS)
            page.close()
        context.close()
    return results


def home_visit(browser: Browser, port: int, rate: float = SLOW) -> dict[str, float]:
    """Return the seconds until home has a picture of its bench and until it is live, and bytes."""
    with slow_network(port, rate, DELAY) as network:
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        page = watched(context, HOME_PICTURE)
        result = open_page(page, network.url, network)
        page.locator(HOME_LIVE).first.wait_for(timeout=120_000)
        page.locator("#seqviz-shell").wait_for(state="detached")
        page.locator(".seqviz-home-bench input[type=range]").press("ArrowRight")
        followed = "(bench) => seqvizLiveBench(bench).frames[0]?.at"
        live = page.wait_for_function(followed, arg=home_bench(), timeout=60_000).json_value()
        shift = worst_window(page.evaluate(SHIFTS))
        passed = sum(size for _, size in network.passed)
        context.close()
    return {"picture_s": round(result.seconds, 2), "live_s": round(live / 1000, 2),
            "bytes": passed, "shift": round(shift, 3)}  # fmt: skip


def home_bench() -> str:
    """Return the prefix of the bench on the home page."""
    record = catalog.lesson(catalog.SHOWN)
    return f"{record.code}.{record.first[0]}"


def measure(
    slugs: Sequence[str], rounds: int, report: Report
) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    """Measure each lesson and home."""
    loopback: dict[str, list[Visit]] = {slug: [] for slug in slugs}
    floor: list[Visit] = []
    result: dict[str, dict[str, float]] = {}
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        app = stack.enter_context(serve())
        plain = stack.enter_context(serve_page(Path(folder), ONE_CHART))
        browser = stack.enter_context(chromium())
        visit(browser, plain.url, CHART)
        home_visit(browser, app.port, FAST)
        home = home_visit(browser, app.port)
        report.row("home, at 2 Mbit/s", **home)
        for slug in slugs:
            visit(browser, f"{app.url}/{slug}")
        for _ in range(rounds):
            for slug in slugs:
                floor.append(visit(browser, plain.url, CHART))
                loopback[slug].append(visit(browser, f"{app.url}/{slug}"))
        for slug, visits in loopback.items():
            (counted,) = slow_visit(browser, app.port, slug, FAST)
            (middle,) = slow_visit(browser, app.port, slug, MIDDLE)
            slow, again = slow_visit(browser, app.port, slug, SLOW, times=2)
            seconds = statistics.median(visit.seconds for visit in visits)
            result[slug] = {
                "bytes": counted.bytes,
                "requests": counted.requests,
                "s_loopback": round(seconds, 3),
                "s_2mbit": round(slow.seconds, 2),
                "s_10mbit": round(middle.seconds, 2),
                "ratio": round(seconds / statistics.median(item.seconds for item in floor), 3),
                "again_bytes": again.bytes,
                "again_s_2mbit": round(again.seconds, 2),
                "shift": round(statistics.median(visit.shift for visit in visits), 3),
            }
            report.row(slug, **result[slug])
    return result, home


# Presses the first slider of a frame as soon as its figure is drawn; resolves to the time
# (milliseconds since the epoch) at which the figure had answered as to a drag.
ANSWERED = """() => new Promise((resolve) => {
  const outline = () => [...document.querySelectorAll(".main-svg .mlayer :is(path, image)")]
    .map((one) => one.outerHTML).join();
  let before = "";
  const look = () => {
    const slider = [...document.querySelectorAll("#side input[type=range]")].find(
      (one) => one.getClientRects().length > 0);
    const drawn = outline();
    if (before && drawn !== before)
      return requestAnimationFrame(() => resolve(performance.timeOrigin + performance.now()));
    if (!before && drawn && slider) {
      before = drawn;
      slider.focus();
      const key = Number(slider.value) < Number(slider.max) ? "ArrowRight" : "ArrowLeft";
      slider.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
    }
    requestAnimationFrame(look);
  };
  look();
})"""
# Benches whose figure changes with a step of the first slider, at their defaults.
TEN = (
    "ar_fitting/process", "ar_fitting/forecast", "vanishing_gradients/reach",
    "vanishing_gradients/paths", "vanishing_gradients/gates", "gates/one", "gates/size",
    "attention/scale", "positions/simple", "bert_accuracy/knife",
)  # fmt: skip


@contextlib.contextmanager
def framing(sources: Sequence[str]) -> Iterator[str]:
    """Return the URL of a page of another origin with these sources in eager frames."""
    frames = "".join(
        f'<iframe src="{source}" width="800" height="640"></iframe>' for source in sources
    )

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(f"<!doctype html><title>frames</title>{frames}".encode())

        def log_message(self, format: str, *args: object) -> None:
            """Discard the message."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://localhost:{server.server_port}"
    finally:
        server.shutdown()


def all_live(browser: Browser, sources: Sequence[str]) -> float:
    """Return the seconds from the navigation until every frame has answered its first slider."""
    # All frames are in the viewport: Chromium neither paints the others nor runs their scripts.
    context = browser.new_context(viewport={"width": 1640, "height": 3400})
    with framing(sources) as url:
        page = context.new_page()
        page.goto(url, wait_until="commit")
        began = page.evaluate("performance.timeOrigin")
        page.wait_for_function(f"document.querySelectorAll('iframe').length === {len(sources)}")
        frames = page.main_frame.child_frames
        for frame in frames:  # starts all probes before waiting for any
            frame.evaluate(f"() => {{ window.answered = ({ANSWERED})() }}")
        ended = [frame.evaluate("window.answered") for frame in frames]
    context.close()
    return float(max(ended) - began) / 1000


def measure_embeds(slugs: Sequence[str], rounds: int, report: Report) -> None:
    """Measure each lesson's first bench, as embed and in its lesson; ten embeds on one page."""
    with serve() as app, chromium() as browser:
        for slug in slugs:
            bench = next(iter(getattr(lessons_of, slug).lesson.benches))
            visit(browser, f"{app.url}/{slug}")
            path = f"embed/{slug}/{bench}?lang=en"
            slow_visit(browser, app.port, path, FAST)  # the server caches the page from now on
            (full,) = slow_visit(browser, app.port, slug, FAST)
            (alone,) = slow_visit(browser, app.port, path, FAST)
            (slow,) = slow_visit(browser, app.port, path, SLOW)
            report.values[slug] = {
                "bytes": alone.bytes,
                "requests": alone.requests,
                "lesson_bytes": full.bytes,
                "share": round(alone.bytes / full.bytes, 3),
                "s_2mbit": round(slow.seconds, 2),
            }
            report.row(slug, **report.values[slug])
        sources = [f"{app.url}/embed/{item}?lang=en" for item in TEN]
        all_live(browser, sources)
        seconds = [all_live(browser, sources) for _ in range(rounds)]
        report.values["ten on a page"] = {"seconds": round(statistics.median(seconds), 2)}
        report.row("ten on a page", **report.values["ten on a page"])


def worst(lessons: dict[str, dict[str, float]]) -> dict[str, float]:
    """Return the largest value of each measurement over the lessons."""
    names = next(iter(lessons.values()))
    return {name: max(lesson[name] for lesson in lessons.values()) for name in names}


def main() -> None:
    given = options(
        __doc__,
        rounds=(3, "measured visits over loopback"),
        lessons=(",".join(lesson.slug for lesson in catalog.LESSONS), "comma-separated slugs"),
        embeds=(False, "measure embeds"),
    )
    slugs = [*filter(None, given.lessons.split(","))]
    if given.embeds:
        report = Report("embeds")
        measure_embeds(slugs, given.rounds, report)
        return report.finish()
    report = Report("arrival")
    print(f"first visit to the first figure, {given.rounds} visits over loopback, one slow one")
    lessons, home = measure(slugs, given.rounds, report)
    report.values |= {**(worst(lessons) if lessons else {}), "home": home, "lessons": lessons}
    return report.finish()


if __name__ == "__main__":
    main()
