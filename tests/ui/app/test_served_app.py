"""The served app: what it counts, what it logs from start to stop, what is in force meanwhile."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time
import types
import urllib.request
from urllib.parse import urlsplit

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from seqviz.content import catalog
from seqviz.core.i18n import ASSETS
from seqviz.models import device
from seqviz.ui.app import application, collectors, maintenance
from seqviz.ui.runtime import metrics, run_context
from testing import server as driver_server
from testing.protocol import ProtocolClient, run_async
from testing.server import serve

ROOT = ASSETS.parent
PRESSES = 12
LESSON = "ar_fitting"


class Class:
    """One student opens a lesson, presses and scrolls, a second opens it; figures in between."""

    def __init__(self, server) -> None:
        self.server = server
        self.before = server.metrics()
        run_async(self._attend())
        self.after = self._settled()

    async def _attend(self) -> None:
        async with ProtocolClient(self.server.url, LESSON) as student:
            await student.open()
            self.opened = self.server.metrics()
            for step in range(PRESSES):
                await student.move("ar.process.phi", round(-0.9 + 0.13 * step, 2))
            self.pressed = self.server.metrics()
            await student.scroll("fit")
            self.scrolled = self.server.metrics()
            assert not student.errors
        async with ProtocolClient(self.server.url, LESSON) as student:
            await student.open()
            self.second = self.server.metrics()

    def _settled(self) -> dict[tuple[str, str], float]:
        deadline = time.monotonic() + 20
        while (result := self.server.metrics())["seqviz_sessions_connected", ""]:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        return result


@pytest.fixture(scope="module")
def server():
    with serve(environment={"SEQVIZ_LOG_FORMAT": "json", "HF_HUB_OFFLINE": "1"}) as running:
        yield running


@pytest.fixture(scope="module")
def attended(server):
    return Class(server)


def of(name: str, *labels: str) -> tuple[str, str]:
    return f"seqviz_{name}", ",".join(labels)


def test_metrics_count_sessions(attended):
    assert attended.before[of("sessions_connected")] == 0
    assert attended.opened[of("sessions_total")] == attended.opened[of("sessions_connected")] == 1
    assert attended.second[of("sessions_total")] == 2
    assert attended.after[of("sessions_connected")] == 0
    assert attended.after[of("sessions_closed_total")] == 0  # they may come back


def test_metrics_time_page_runs_by_lesson(attended):
    page = of("run_seconds_count", "kind=page", f"lesson={LESSON}")
    assert attended.before[page] == 0
    assert attended.opened[page] >= 1
    assert attended.pressed[page] == attended.opened[page]  # a press runs a bench, not the page
    assert attended.second[page] > attended.pressed[page]
    total = of("run_seconds_sum", "kind=page", f"lesson={LESSON}")
    assert 0 < attended.opened[total] < 60


def test_metrics_time_bench_runs_by_lesson(attended):
    bench = of("run_seconds_count", "kind=bench", f"lesson={LESSON}")
    assert attended.opened[bench] == 0
    assert attended.pressed[bench] == PRESSES
    new = of("run_seconds_count", "kind=new", f"lesson={LESSON}")
    assert attended.pressed[new] == 0
    assert attended.scrolled[new] == 1  # the third bench; the second came with the first
    assert attended.scrolled[bench] == PRESSES


def test_metrics_count_computations_and_cache_hits(attended):
    label = f"lesson={LESSON}"
    misses, hits = of("cache_misses_total", label), of("cache_hits_total", label)
    computed = of("compute_seconds_count", label)
    assert attended.pressed[misses] >= attended.opened[misses] + PRESSES  # a new value each time
    assert attended.pressed[computed] == attended.pressed[misses]
    # The second student sees what the first one's page computed.
    assert attended.second[misses] == attended.scrolled[misses]
    assert attended.second[hits] > attended.scrolled[hits]
    assert attended.pressed[of("compute_seconds_sum", label)] > 0
    assert 0 == attended.before[of("cache_bytes")] < attended.opened[of("cache_bytes")] < 64e6


def test_gc_avoids_full_collection_during_interactions(attended):
    everything = of("gc_pauses_total", "generation=2")
    assert attended.before[of("gc_frozen")] > 50_000
    # Streamlit's own setting would collect everything after each of them.
    assert attended.pressed[everything] - attended.opened[everything] <= PRESSES / 4


def test_metrics_report_process_resources(attended):
    assert 50e6 < attended.after[of("memory_bytes")] < 4e9
    assert attended.after[of("open_files")] > 5
    assert attended.after[of("threads")] > 1
    assert attended.after[of("cpu_seconds_total")] > 0.1
    assert attended.after[of("models_loaded")] == 0


def test_metrics_limit_lesson_labels_to_known_slugs(attended):
    slugs = {lesson.slug for lesson in catalog.LESSONS} | {"none"}
    for _, labels in attended.after:
        for name, value in (label.split("=") for label in labels.split(",") if label):
            if name == "lesson":
                assert value in slugs


def test_metrics_ignore_unknown_refusal_kind():
    metrics.refused("what a student wrote")
    assert b"wrote" not in metrics.text()
    before = metrics.text()
    metrics.refused("compute")
    assert metrics.text() != before


def test_metrics_read_without_walking_frozen_objects(monkeypatch):
    # With half a million objects that stopped every student for 60 ms.
    collectors.install()
    monkeypatch.setattr(gc, "get_freeze_count", lambda: pytest.fail("counted"))
    assert b"seqviz_gc_frozen" in metrics.text()


def test_metrics_record_within_50_microseconds():
    started = time.thread_time()
    for _ in range(1000):
        metrics.observe_cache(run_context.lesson(), 0.001)
        metrics.observe_cache(run_context.lesson(), None)
        metrics.observe_run("gates", "bench", 0.01)
    # Of the processor; measured: 7 us; the goal is 50 us for a press.
    assert (time.thread_time() - started) / 1000 < 50e-6


def test_metrics_return_plain_text(server):
    with urllib.request.urlopen(f"{server.url}/metrics") as answer:
        assert answer.headers["content-type"].startswith("text/plain")


TOKEN = "a-token-of-some-length"


@pytest.mark.parametrize(("token", "peer", "headers", "status"), [
    ("", "127.0.0.1", {}, 200),
    ("", "::1", {}, 200),
    ("", "10.0.0.7", {}, 403),
    ("", "127.0.0.1", {"X-Forwarded-For": "10.0.0.7"}, 403),
    ("", "somewhere", {}, 403),
    (TOKEN, "10.0.0.7", {"Authorization": f"Bearer {TOKEN}"}, 200),
    (TOKEN, "127.0.0.1", {}, 403),
    (TOKEN, "127.0.0.1", {"Authorization": "Bearer tökén"}, 403),
])  # fmt: skip
def test_metrics_require_token_or_local_client(monkeypatch, token, peer, headers, status):
    monkeypatch.setenv("SEQVIZ_METRICS_TOKEN", token)
    coded = {name: value.encode() for name, value in headers.items()}
    here = "http://localhost"
    guarded = Starlette(
        routes=application.routes(), middleware=[Middleware(application.MetricsAuthMiddleware)]
    )
    client = TestClient(guarded, here, client=(peer, 1))
    assert client.get("/metrics", headers=coded).status_code == status


def test_metrics_can_be_turned_off(monkeypatch):
    assert [route.path for route in application.routes()] == ["/robots.txt", "/metrics"]
    monkeypatch.setenv("SEQVIZ_METRICS", "0")
    assert [route.path for route in application.routes()] == ["/robots.txt"]


def test_log_covers_start_to_stop(attended, server):
    # Last in this module: it ends the server.
    server.stop(15)
    printed = server.log.read_text("utf-8").splitlines()
    events = [json.loads(line) for line in printed if line.startswith("{")]
    messages = [event["message"] for event in events]
    assert messages[0] == "start"
    assert messages[-1] == "stop"
    assert messages.count("session opened") == messages.count("session closed") == 2
    assert events[0]["preloaded"] == "none"
    names = {event["session"] for event in events if "session" in event}
    assert len(names) == 2
    assert "127.0.0.1" not in " ".join(line for line in printed if line.startswith("{"))


def test_serve_retries_when_port_is_taken(monkeypatch):
    import socket

    free = driver_server.free_port
    with socket.socket() as taken:
        taken.bind((driver_server.HOST, 0))
        taken.listen()
        ports = [taken.getsockname()[1]]
        monkeypatch.setattr(driver_server, "free_port", lambda: ports.pop() if ports else free())
        with driver_server.serve_empty_page() as server:
            assert urlsplit(server.url).port != taken.getsockname()[1]
    assert not ports


LIFE = """
import asyncio, sys, threading, time
from seqviz import jobs
from seqviz.ui.app import application

async def live():
    application.configure()
    async with application.lifespan(None):
        job = jobs.queue_for("cpu").submit(long_work.until_told, owner="a")
        while job.state != "running":
            await asyncio.sleep(0.01)
        started = time.monotonic()
    seconds = time.monotonic() - started
    print(job.state, seconds < 6, any(t.name == "seqviz-jobs" for t in threading.enumerate()))

asyncio.run(live())
"""


def test_lifespan_cancels_jobs_and_tolerates_missing_model(tmp_path):
    (tmp_path / "long_work.py").write_text(
        "import time\ndef until_told(report):\n"
        "    while True:\n        report(0, 0.1)\n        time.sleep(0.05)\n",
        "utf-8",
    )
    script = LIFE
    done = subprocess.run(
        [sys.executable, "-c", f"import long_work\n{script}"], cwd=ROOT, capture_output=True,
        text=True, timeout=120,
        env={
            **os.environ, "PYTHONPATH": f"{ROOT}:{tmp_path}", "SEQVIZ_CACHE": str(tmp_path / "no"),
            "SEQVIZ_PRELOAD": "minilm", "HF_HUB_OFFLINE": "1",
        },
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    # After the welcome.
    assert done.stdout.splitlines()[-1].split() == [
        "cancelled",
        "True",
        "False",
    ]  # after the welcome
    assert "could not be preloaded" in done.stderr
    assert "model=minilm" in done.stderr
    assert "UserError[not_fetched]" in done.stderr
    assert "preloaded=none" in done.stderr


def test_metrics_tolerate_half_imported_models(monkeypatch):
    """Another thread imports what a lesson needs beside the first answers."""
    half = types.ModuleType("seqviz.models.pretrained")
    monkeypatch.setitem(sys.modules, half.__name__, half)
    (result,) = (model for model in collectors._models() if model.name == "seqviz_models_loaded")
    assert [sample.value for sample in result.samples] == [0]
    monkeypatch.setitem(sys.modules, "seqviz.models.forward_cache", half)
    run_async(maintenance.evict_forward_cache())


def test_metrics_name_chosen_device_and_fallback_reason(
    monkeypatch,
):
    monkeypatch.setenv("SEQVIZ_DEVICE", "cuda")
    device.choose.cache_clear()
    try:
        (result,) = collectors._device()
        assert result.samples == []  # nobody has asked: torch may not be imported yet
        chosen = device.choose()
        (result,) = collectors._device()
        (sample,) = result.samples
        assert sample.value == 1
        assert sample.labels == {"kind": chosen.kind, "name": chosen.name, "note": chosen.note}
        assert (chosen.note == "missing") == (chosen.kind == "cpu")
    finally:
        device.choose.cache_clear()


ASCII = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONPATH": str(ROOT)}


def test_startup_rejects_path_beyond_locale_encoding(tmp_path):
    folder = tmp_path / "Käse 课"
    folder.mkdir()
    for name in ("app.py", "pages", "static", ".streamlit"):
        (folder / name).symlink_to(ROOT / name)
    with (
        pytest.raises(RuntimeError) as refused,
        serve(folder, environment=ASCII | {"PYTHONUTF8": "0"}),
    ):
        pass
    payload = str(refused.value).splitlines()[1:]
    assert len(payload) == 1
    assert payload[0].startswith("SeqViz does not start: its path ")
    assert payload[0].endswith(" has letters beyond this locale; set PYTHONUTF8=1.")
    with serve(folder, environment=ASCII | {"PYTHONUTF8": "1"}) as server:

        async def visit() -> list[str]:
            async with ProtocolClient(server.url, LESSON) as student:
                await student.open()
                return student.errors

        assert not run_async(visit())
