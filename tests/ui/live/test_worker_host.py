"""What workers answer for the route: the same, and what happens where one cannot."""

from __future__ import annotations

import gzip
import os
import re
import sys
import time
from types import ModuleType

import psutil
import pytest
from threadpoolctl import threadpool_limits

from seqviz import lessons
from seqviz.content import catalog
from seqviz.ui.app import collectors
from seqviz.ui.live import handler
from seqviz.ui.runtime import metrics, result_cache
from seqviz.ui.runtime.workers import Workers

READY = 120  # seconds that a process may take to start
GATES = "/live/gates/watch"
# One of each lesson, without a pretrained model.
# The benches of gpt read one, or what came with the app: a worker leaves both to the parent.
MOVED = {
    "/live/ar_fitting/process": ("ar.process.phi", "0.31"),
    GATES: ("ga.watch.step", "20"),
    "/live/attention/scale": ("at.scale.temperature", "0.7"),
    "/live/positions/distance": ("po.distance.d_model", "32"),
    "/live/vanishing_gradients/reach": ("vg.reach.gain", "0.7"),
    "/live/transformer/norms": ("tr.norms.added", "2"),
    "/live/recurrent/collapse": ("rn.collapse.amplitude", "3"),
    "/live/text/windows": ("tx.windows.batch", "3"),
    "/live/language_models/product": ("lm.product.n", "3"),
    "/live/bert_accuracy/compare": ("ba.compare.sentences", "500"),
}


def counted(name: str, **labels: str) -> float:
    return metrics.registry.get_sample_value(name, labels) or 0.0


@pytest.fixture(scope="module")
def pool():
    workers = Workers(1, handler._prepare_worker, handler._worker_main)
    yield workers
    workers.close()


@pytest.fixture
def worker(pool, monkeypatch):
    """One worker that can be asked, and a parent that answers nothing."""
    (item,) = pool.all
    assert item.ready.wait(READY)
    monkeypatch.setattr(handler, "workers", lambda: pool)

    async def here(*_) -> tuple[int, bytes]:
        return 418, b""

    monkeypatch.setattr(handler, "_render_scheduled", here)
    handler._main_process_only.clear()
    return item


def ask(client, session, address, **query):
    return client.get(address, params=query, headers={handler.H_SESSION: session.token})


def home(session, address, **query) -> tuple[int, bytes]:
    """The parent's own answer, with as many threads as the app has."""
    _, _, slug, name = address.split("/")
    bench = getattr(handler.lessons, slug).lesson.benches[name]
    result_cache.result_cache.cache_clear()
    with threadpool_limits(1, user_api="blas"):
        return handler._render_response(bench, query, session, frozenset())


def timeless(answer: bytes) -> bytes:
    """An answer without how long it took to compute."""
    timed, without = re.compile(rb'"badge": "[^"]+", '), b""
    assert timed.search(answer)
    return timed.sub(without, answer, count=1)


def test_worker_cases_cover_every_lesson_but_gpt():
    slugs = {lesson.slug for lesson in catalog.LESSONS} - {"gpt"}
    assert {address.split("/")[2] for address in MOVED} == slugs


@pytest.mark.parametrize("address", MOVED)
def test_worker_matches_parent_response(client, session, worker, address):
    key, value = MOVED[address]
    query = {"lang": "zh", "dark": "true", key: value}
    answer = ask(client, session, address, **query)
    status, body = home(session, address, **query)
    assert answer.status_code == status == 200
    assert answer.headers["content-encoding"] == "gzip"
    assert timeless(answer.content) == timeless(gzip.decompress(body))


def test_worker_usage_is_charged_and_counted_in_parent(client, session, worker):
    lesson = {"lesson": "ar_fitting"}
    names = ("seqviz_cache_misses_total", "seqviz_compute_seconds_count")
    before = [counted(name, **lesson) for name in names]
    runs = counted("seqviz_run_seconds_count", **lesson, kind="live")
    query = {"ar.process.phi": "0.417"}
    assert ask(client, session, "/live/ar_fitting/process", **query).status_code == 200
    assert [counted(name, **lesson) for name in names] == [item + 2 for item in before]
    assert counted("seqviz_run_seconds_count", **lesson, kind="live") == runs + 1
    used = session.account.seconds.total
    assert 0 < used < 1
    hits = counted("seqviz_cache_hits_total", **lesson)
    query |= {"ar.process.view": "roots"}  # of another figure, with the same path
    assert ask(client, session, "/live/ar_fitting/process", **query).status_code == 200
    assert counted("seqviz_cache_hits_total", **lesson) > hits


def test_worker_serves_no_session_over_cpu_quota(client, session, worker):
    account = session.account
    account.seconds.consume(1000.0, 60.0, 0.25)
    refused = counted("seqviz_refusals_total", kind="compute")
    answer = ask(client, session, "/live/ar_fitting/process", **{"ar.process.phi": "0.5213"})
    assert answer.status_code == 204
    assert counted("seqviz_refusals_total", kind="compute") == refused + 1


def test_worker_skips_prefetch_while_requests_wait(client, session, worker):
    ahead = {handler.H_SESSION: session.token, handler.H_PREFETCH: "1"}
    bench = lessons.gates.lesson.benches["watch"]
    sent = [
        handler._dispatch_to_worker(bench, {"ga.watch.step": str(step)}, session, frozenset())
        for step in range(20, 60)
    ]
    assert client.get(GATES, headers=ahead).status_code == 204
    for item in sent:
        item.result(READY)
    assert client.get(GATES, headers=ahead).status_code == 200


def test_worker_receives_session_text(client, session, worker):
    session.texts["ga.watch"] = {"characters": "A sentence of my own."}
    query = {"own": "true", "ga.watch.step": "3"}
    answer = ask(client, session, GATES, **query)
    own = gzip.decompress(home(session, GATES, **query)[1])
    assert timeless(answer.content) == timeless(own)
    counted = session.account
    assert list(counted.texts) == ["A sentence of my own."]
    assert counted.tokens.total == 21
    ask(client, session, GATES, **query | {"ga.watch.step": "4"})
    assert counted.tokens.total == 21


def test_worker_defers_to_parent_over_token_quota(client, session, worker):
    account = session.account
    account.tokens.consume(1e6, 20_000, 333.0)
    assert ask(client, session, GATES, **{"ga.watch.step": "5"}).status_code == 418


def test_worker_remembers_parent_only_settings(client, session, worker):
    """A result of a training; the same bench in another language is asked for anew."""
    address, query = "/live/bert_accuracy/heads", {"lang": "en", "ba.heads.epochs": "3"}
    assert ask(client, session, address, **query).status_code == 418
    (fixed,) = handler._main_process_only
    assert fixed == ("ba.heads", ("lang", "en"))
    assert handler._dispatch_to_worker(
        handler.lessons.bert_accuracy.lesson.benches["heads"],
        {"lang": "en", "ba.heads.epochs": "4"}, session, frozenset(),
    ) is None  # fmt: skip


def test_worker_restarts_after_crash_with_parent_fallback(client, session, worker):
    dead = worker.process
    os.kill(dead.pid, 9)
    dead.wait()
    query = {"ar.process.phi": "0.617"}
    assert ask(client, session, "/live/ar_fitting/process", **query).status_code == 418
    end = time.monotonic() + READY
    while worker.process.pid == dead.pid:  # it is noticed in a thread of its own
        assert time.monotonic() < end
        time.sleep(0.01)
    assert worker.ready.wait(READY)
    assert ask(client, session, "/live/ar_fitting/process", **query).status_code == 200


def test_worker_does_not_execute_main_module(monkeypatch, tmp_path):
    """Streamlit puts it there while it runs; here it has gone since."""
    page = ModuleType("__main__")
    page.__file__ = str(tmp_path / "gone.py")
    monkeypatch.setitem(sys.modules, "__main__", page)
    workers = Workers(1, handler._prepare_worker, handler._worker_main)
    assert workers.all[0].ready.wait(READY)
    workers.close()


def test_metrics_include_worker_memory_and_cpu(worker):
    collectors.install()
    child, parent = psutil.Process(worker.process.pid), psutil.Process()
    assert counted("seqviz_memory_bytes") > parent.memory_info().rss + child.memory_info().rss / 2
    times = parent.cpu_times(), child.cpu_times()
    assert counted("seqviz_cpu_seconds_total") >= sum(time.user for time in times)


def test_worker_count_zero_starts_no_process(monkeypatch, client, session):
    monkeypatch.setenv("SEQVIZ_WORKERS", "0")
    before = set(psutil.Process().children())
    handler.workers.cache_clear()
    assert handler.workers().all == []
    answer = ask(client, session, "/live/ar_fitting/process", **{"ar.process.phi": "0.717"})
    assert answer.status_code == 200
    assert set(psutil.Process().children()) <= before
