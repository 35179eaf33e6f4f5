"""What the benchmarks see in a page: a first figure, presses, a drag; and their arithmetic."""

from __future__ import annotations

import contextlib
import json
import logging
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Error

from benchmarks import arrival, attention_payload, interaction
from benchmarks.peers.__main__ import PROBE, drag, press, ratios
from seqviz.content import catalog
from testing.chromium import watched
from tests.tiers import first_only

PATH = ["#outer", ".figure"]
# A figure in a shadow, which follows its slider, some other things that move, and one that hides.
PAGE = """
<div class="seqviz-chart" style="display: none">
  <svg class="main-svg"><g class="mlayer"><path d="M0,0L9,9"/></g></svg></div>
<input type="range" min="0" max="1000" style="width: 1000px; height: 20px"><p></p>
<div id="outer"></div>
<script>
  const slider = document.querySelector("input");
  const root = document.querySelector("#outer").attachShadow({mode: "open"});
  root.innerHTML = '<div class="figure"></div>';
  const figure = root.querySelector(".figure").attachShadow({mode: "open"});
  figure.innerHTML =
    '<svg class="main-svg"><g class="mlayer"><path d="M0,0L9,500"/></g></svg>';
  const stepped = (value) => value - (value % STEP);
  slider.oninput = () => {
    document.querySelector("p").textContent = slider.value;
    figure.querySelector("path").setAttribute("d", `M0,0L9,${stepped(slider.value)}`);
  };
</script>
"""


class Handler(BaseHTTPRequestHandler):
    """A page whose figure is there at once, and which loads an empty file first."""

    def do_GET(self):
        page = b"" if self.path == "/first.js" else PAGE.replace("display: none", "").encode()
        head = b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n"
        self.wfile.write(head + b"<script src=/first.js></script>" * bool(page) + page)

    def log_message(self, *_):
        pass


@pytest.fixture
def port():
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


@pytest.fixture
def opened(browser):
    def with_figures_for_every(values: int, *path: str):
        page = watched(context, *path)
        page.route("**/*", lambda route: route.fulfill(body=html, content_type="text/html"))
        html = PAGE.replace("STEP", str(values))
        page.goto("http://127.0.0.1/")
        page.evaluate(PROBE, [PATH, "path", 100, 5000])
        return page

    context = browser.new_context()
    yield with_figures_for_every
    context.close()


def test_arrival_probe_resolves_once_figure_is_visible(opened):
    page = opened(1, arrival.FIGURE)
    n_requests = page.evaluate("Date.now()")
    page.evaluate("document.querySelector('.seqviz-chart').style.display = ''")
    assert page.evaluate("painted") >= n_requests


def test_arrival_probe_finds_figure_in_shadow_root(opened):
    page = opened(1, *PATH, "path")
    taken = page.evaluate("painted.then((when) => when - performance.timeOrigin)")
    assert 0 < taken < 60_000


def test_slow_visit_counts_bytes_requests_and_latency(browser, port):
    (visit,) = arrival.slow_visit(browser, port, "page", 1e9)
    assert len(PAGE) < visit.bytes < len(PAGE) + 1000
    assert visit.requests == 2
    assert visit.seconds > 3 * arrival.DELAY  # a connection, and two files, one after the other


def test_press_measures_time_until_figure_changes(opened):
    page = opened(1)
    assert 0 < press(page, "input") < 5000
    assert page.evaluate("figure.querySelector('path').getAttribute('d')") == "M0,0L9,501"


@pytest.mark.nightly
@pytest.mark.timing
def test_drag_counts_only_distinct_figures(opened):
    page = opened(1000)  # one picture from end to end, and another at the very end
    assert drag(page, "input") <= 1 / 3
    page = opened(100)  # ten pictures in three seconds
    assert 2 <= drag(page, "input") <= 11 / 3


@pytest.mark.nightly
def test_drag_moves_slider_across_full_range(opened):
    page = opened(1)
    drag(page, "input")
    assert page.evaluate("Number(slider.value)") > 950


@pytest.mark.nightly
def test_attention_payload_paints_every_view(browser, monkeypatch):
    monkeypatch.setattr(attention_payload, "LENGTHS", (32,))
    monkeypatch.setattr(attention_payload, "LIMIT_S", 60.0)
    with attention_payload.prepared() as (server, views):
        for view in views[32]:
            view.load(server.url)
            assert not view.failed, view.name


def test_worst_window_splits_layout_shifts_by_gap_and_five_seconds():
    assert arrival.worst_window([]) == 0.0
    assert arrival.worst_window([(0.0, 0.2), (0.9, 0.1), (2.0, 0.25)]) == pytest.approx(0.3)
    steady = [(0.8 * i, 0.1) for i in range(10)]  # no pause: a window ends after five seconds
    assert arrival.worst_window(steady) == pytest.approx(0.7)


def test_worst_takes_maximum_of_each_metric():
    lessons = {"one": {"bytes": 3.0, "ratio": 1.0}, "two": {"bytes": 2.0, "ratio": 4.0}}
    assert arrival.worst(lessons) == {"bytes": 3.0, "ratio": 4.0}


class Pressed(interaction.Subject):
    """A page that is not there: `fails` is what goes wrong in it."""

    fails = ""

    def press(self, key: str = "ArrowRight") -> None:
        self._do("press")
        self.milliseconds.append((10.0, 20.0))
        self.values.append(str(len(self.values)))

    def leap(self, value: float) -> None:
        self._do("leap")
        self.leaps.append(30.0)

    def drag(self) -> interaction.Drag:
        self._do("drag")
        return interaction.Drag(20.0, 50.0, True)

    def _do(self, what: str) -> None:
        if self.fails == what:
            raise Error("Page.evaluate: TypeError: x is null\n    at drag (<anonymous>:1:1)")


class Closed:
    context = type("Context", (), {"close": lambda self: None})()


@pytest.mark.parametrize(
    "fails", first_only(["twice", "open", "press", "leap", "drag", "second drag"])
)
def test_interaction_main_names_failing_page_and_measures_others(fails, monkeypatch, capsys):
    broken = catalog.LESSONS[1]

    def open_lesson(browser, url, lesson, presses, position=None, fewer=False):
        second = position is not None and not fewer
        if fails == "open" and lesson is broken:
            raise Error("Timeout 30000ms exceeded.")
        key = ".".join((lesson.code, *(position or lesson.first)))
        pressed = Pressed(Closed(), "input", ["0"], key, presses)
        if lesson is broken:
            pressed.fails = ("drag" if second else "") if fails == "second drag" else fails
        if fails == "twice" and lesson is broken:
            pressed.values = ["1"]
        return pressed

    for name in ("serve", "serve_empty_page", "chromium"):
        server = type("Server", (), {"url": ""})()
        monkeypatch.setattr(interaction, name, lambda s=server: contextlib.nullcontext(s))
    floor = Pressed(Closed(), "input", ["0"], "value")
    monkeypatch.setattr(interaction, "open_floor", lambda *_: floor)
    monkeypatch.setattr(interaction, "open_lesson", open_lesson)
    monkeypatch.setattr(interaction, "ends", lambda *_: (0.0, 1.0, 0.1))
    monkeypatch.setattr(interaction, "slowest", lambda *_: ("other", "parameter"))
    with pytest.raises(SystemExit) as ended:
        interaction.main(["--presses", "2"])
    assert ended.value.code == 1
    payload = capsys.readouterr()
    name, parameter = interaction.INSTEAD.get(broken.slug, broken.first)
    slider = "other.parameter" if fails == "second drag" else f"{name}.{parameter}"
    (line,) = [line for line in payload.err.splitlines() if line.startswith(broken.slug)]
    assert f"{broken.code}.{slider}" in line
    measured = json.loads(payload.out.splitlines()[-1])["lessons"]
    assert measured.keys() == {lesson.slug for lesson in catalog.LESSONS} - {broken.slug}
    assert logging.root.manager.disable == logging.NOTSET  # or later tests would see no warning


def test_noted_records_script_error_with_slider_key(opened):
    page = opened(1)
    page.evaluate("window.seqviz = {idle: async () => {}, drag: () => null.value}")
    page.evaluate("document.querySelector('input').step = 100")
    broken: dict[str, str] = {}
    with interaction.noted(broken, "gates", "ga.watch.step"):
        interaction.Subject(page, "input", ["0"], "ga.watch.step").drag()
    assert list(broken) == ["gates"]
    assert broken["gates"].startswith("ga.watch.step: ")
    assert "TypeError" in broken["gates"]


def test_ratios_compare_seqviz_with_dash():
    medians = {
        "press_ms": {"seqviz": 100.0, "dash": 200.0, "panel": 1.0},
        "drag_per_s": {"seqviz": 20.0, "dash": 5.0, "panel": 1.0},
        "first_s": {"seqviz": 3.0, "dash": 2.0, "panel": 1.0},
    }
    assert ratios(medians) == {"press_ratio": 0.5, "drag_ratio": 4.0, "first_ratio": 1.5}
