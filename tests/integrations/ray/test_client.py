"""The app's side of a cluster, without one and without ray: what is said, and computed here."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from seqviz.core import settings
from seqviz.core.i18n import LANGUAGES, Text
from seqviz.core.paths import ROOT
from seqviz.integrations.ray import client
from seqviz.integrations.ray.version import code
from seqviz.jobs import JobQueue, queue
from seqviz.models import device, forward_cache, placement, pretrained, texts
from seqviz.ui.runtime import scheduler
from tests.integrations.ray import cluster_tasks

TEXT = "A film that is neither funny nor sad."
# A bridge whose cluster is as `{how}` says.
PRETENDED = """
import sys, time
from multiprocessing.connection import Connection
from seqviz.integrations.ray.client import Cluster
line = Connection(int(sys.argv[1]))
address = line.recv()
{how}
line.send((0, "connected", Cluster(1, 2.0, 2.0, 0.0, {{"minilm": 1}}, 0)))
while True:
    if not line.poll(1.0):
        line.send((0, "connected", Cluster(1, 2.0, 2.0, 0.0, {{"minilm": 1}}, 0)))
        continue
    number, what, *words = line.recv()
    {then}
"""


@pytest.fixture
def pretend(monkeypatch):
    """An engine whose cluster is pretended: how it begins, and what it does when it is asked."""
    built = []

    def begin(how: str = "", then: str = "pass", wait: bool = True) -> client.Engine:
        monkeypatch.setattr(client, "_BEGIN", PRETENDED.format(how=how, then=then))
        engine = client.Engine("auto", 1.0)
        built.append(engine)
        monkeypatch.setattr(forward_cache, "remote_forward", engine.forward)
        monkeypatch.setattr(queue, "remote_executor", engine.train)
        monkeypatch.setattr(placement, "remote_state", lambda: engine.state)
        monkeypatch.setattr(forward_cache, "_shelf", forward_cache.ForwardCache())
        assert not wait or engine.wait(20)
        return engine

    yield begin
    for engine in built:
        engine.close()


@pytest.fixture
def jobs():
    queue = JobQueue()
    yield queue
    queue.close()


def counts(engine: client.Engine, kind: str) -> dict[str, int]:
    return {how: engine.counts[kind, how] for how in client.OUTCOMES if engine.counts[kind, how]}


def ended(condition, seconds: float = 10.0) -> bool:
    last = time.monotonic() + seconds
    while not condition() and time.monotonic() < last:
        time.sleep(0.02)
    return bool(condition())


def test_import_of_package_and_app_does_not_load_ray():
    script = """
        import sys
        import seqviz, seqviz.lessons, seqviz.jobs, seqviz.models.forward_cache
        import seqviz.ui.app.application
        assert "ray" not in sys.modules and "seqviz.integrations.ray" not in sys.modules
        seqviz.ui.app.application._replicas("begin")
        assert "redis" not in sys.modules and "seqviz.ui.quota.redis_sync" not in sys.modules
        import seqviz.integrations.ray.client
        assert "ray" not in sys.modules
    """
    code = "\n".join(line.strip() for line in script.splitlines())
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_client_begin_does_nothing_without_setting(monkeypatch):
    monkeypatch.delenv("SEQVIZ_ENGINE", raising=False)
    assert client.begin() is None
    assert forward_cache.remote_forward is queue.remote_executor is placement.remote_state is None


@pytest.mark.parametrize(
    ("name", "value"), [("SEQVIZ_ENGINE", "ray"), ("SEQVIZ_REDIS_URL", "redis://:word@host:6379")]
)
def test_settings_without_packages_name_requirements_file(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"pip install -r requirements-ray\.txt"):
        settings.check()


@pytest.mark.parametrize(
    ("how", "then", "reason"),
    [
        (
            "line.send((0, 'error', ('disconnected', 'nobody there'))); time.sleep(9)",
            "pass",
            "disconnected",
        ),
        (
            "line.send((0, 'error', ('incompatible', 'older'))); time.sleep(9)",
            "pass",
            "incompatible",
        ),
        ("sys.exit(1)", "pass", "disconnected"),
        ("", "pass", "degraded"),
        ("", "line.send((number, 'unavailable', 'full'))", "full"),
        ("", "line.send((number, 'unavailable', 'failed'))", "failed"),
        ("", "sys.exit(1)", "disconnected"),
    ],
)
def test_engine_falls_back_to_local_forward(pretend, how, then, reason):
    engine = pretend(how, then, wait=not how)
    if how:
        assert ended(lambda: engine.state == reason and engine._child)
    model = pretrained.load("minilm")
    began = time.perf_counter()
    result = forward_cache.read("minilm", TEXT)
    assert time.perf_counter() - began < 5.0
    mine = forward_cache.forward(model, texts.tokens(model, TEXT))
    assert np.array_equal(result.weights, mine.weights)
    assert counts(engine, "forward") == {reason: 1}


def test_engine_skips_incompatible_deployment_and_logs_once(pretend, caplog):
    """Of another model it may be this one: that is asked."""
    other = (
        "made = Cluster\nCluster = lambda *known: made(*known[:4], {'gpt2': 1}, 0, {'minilm': 'x'})"
    )
    engine = pretend(other)
    assert engine.state == "incompatible"
    model = pretrained.load("minilm")
    with caplog.at_level("WARNING", client.__name__):
        for text in (TEXT, TEXT + " Again."):
            result = forward_cache.read("minilm", text)
            mine = forward_cache.forward(model, texts.tokens(model, text))
            assert np.array_equal(result.weights, mine.weights)
        time.sleep(2.5)  # two more looks
    assert counts(engine, "forward") == {"incompatible": 2}
    assert engine._ready == "connected"
    (message,) = [
        record.getMessage() for record in caplog.records if "another SeqViz" in record.getMessage()
    ]
    assert message.startswith(
        f"ray: the deployment of minilm runs another SeqViz (x, here {code()})"
    )


def test_engine_logs_incompatible_node_once(pretend, jobs, caplog, tmp_path):
    engine = pretend(then="line.send((number, 'incompatible', 'y'))")
    with caplog.at_level("WARNING", client.__name__):
        for n in (1, 2):
            mark = str(tmp_path / "runs")
            job = jobs.submit(cluster_tasks.count, n=n, mark=mark, owner="a", device="cpu")
            assert job.wait(20)
            assert job.state == "done"
    assert counts(engine, "training") == {"incompatible": 2}
    assert (
        sum("a node of the cluster runs another" in record.message for record in caplog.records)
        == 1
    )


def test_engine_does_not_wait_again_after_slow_answer(pretend):
    engine = pretend()
    forward_cache.read("minilm", TEXT)
    assert engine.state == "degraded"
    began = time.perf_counter()
    forward_cache.read("minilm", TEXT + " Again.")
    assert time.perf_counter() - began < 0.9  # it would be 1 s more
    assert counts(engine, "forward") == {"degraded": 2}


def test_engine_probe_reconnects_silent_cluster(pretend, monkeypatch):
    """No visitor's request is spent on that: what is asked meanwhile is computed here at once."""
    monkeypatch.setattr(client, "REST_SECONDS", 0.3)
    engine = pretend("", "line.send((number, 'done', 'here')) if number > 3 else None")
    assert engine.forward("minilm", None, forward_cache.OWN, None) is None
    assert engine.state == "degraded"
    began = time.perf_counter()
    assert engine.forward("minilm", None, forward_cache.OWN, None) is None
    assert time.perf_counter() - began < 0.1
    assert ended(lambda: engine.state == "connected", 30.0)
    assert counts(engine, "forward") == {"degraded": 2}
    assert engine.forward("minilm", None, forward_cache.OWN, None) == "here"


def test_engine_wait_yields_draw_slot(pretend):
    """Others are drawn meanwhile: as many wait as there are places."""
    pretend()
    queue = scheduler.DrawQueue()
    waited, rendered = [], []

    def reads(k: int) -> None:
        with queue.slot(scheduler.Priority.INTERACTION):
            forward_cache.read("minilm", f"{TEXT} {k}")
        waited.append(time.perf_counter())

    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(4) as pool:
        patch.setattr(device, "yield_slot", queue.yield_slot)
        pretrained.load("minilm")
        began = time.perf_counter()
        requests = [pool.submit(reads, k) for k in range(4)]
        time.sleep(0.2)
        with queue.slot(scheduler.Priority.INTERACTION):
            rendered.append(time.perf_counter())
        for item in requests:
            item.result()
    assert rendered[0] - began < 0.6
    assert min(waited) - began > 0.9


def test_engine_does_not_count_missing_model_as_failure(pretend):
    engine = pretend()
    assert engine.forward("gpt2", None, forward_cache.OWN, None) is None
    assert not engine.counts


def test_engine_reconnects_after_connection_loss(pretend):
    engine = pretend()
    first = engine._child
    first.kill()
    assert ended(lambda: engine.state == "disconnected")
    assert ended(lambda: engine.state == "connected")
    assert engine._child is not first
    assert engine.connections == 2


def test_engine_forward_aborts_without_waiting_for_cluster(pretend):
    class Gone(Exception):
        pass

    def each(layer: int) -> None:
        raise Gone

    pretend()
    began = time.perf_counter()
    with pytest.raises(Gone):
        forward_cache.read("minilm", TEXT, each=each)
    assert time.perf_counter() - began < 0.9


@pytest.mark.parametrize("then", ["line.send((number, 'unavailable', 'failed'))", "sys.exit(1)"])
def test_engine_runs_lost_training_locally_with_note(pretend, jobs, tmp_path, then):
    engine = pretend(then=then)
    job = jobs.submit(
        cluster_tasks.count, n=5, mark=str(tmp_path / "runs"), owner="a", device="cpu"
    )
    assert job.wait(20)
    assert list(job.result) == [0, 1, 2, 3, 4]
    assert (job.note, job.where, job.trail) == ("cluster_away", "", (0, 1, 2, 3, 4))
    assert counts(engine, "training") == {"failed" if "send" in then else "disconnected": 1}


def test_engine_runs_training_locally_when_cluster_is_full(pretend, jobs, tmp_path, monkeypatch):
    monkeypatch.setattr(client, "FULL_SECONDS", 0.5)
    engine = pretend()
    job = jobs.submit(
        cluster_tasks.count, n=5, mark=str(tmp_path / "runs"), owner="a", device="cpu"
    )
    assert job.wait(20)
    assert job.state == "done"
    assert counts(engine, "training") == {"full": 1}


def test_engine_fails_training_after_second_worker_death(pretend, jobs, tmp_path):
    """A training of a lost worker begins again; the second loss is reported as worker_died."""
    news = "import pickle; " + "; ".join(
        f"line.send((number, 'news', ({attempt}, 'CPU', [pickle.dumps(({attempt}, 0.5))])))"
        for attempt in (1, 2)
    )
    pretend(then=f"{news}; line.send((number, 'died', None))")
    job = jobs.submit(
        cluster_tasks.count, n=5, mark=str(tmp_path / "runs"), owner="a", device="cpu"
    )
    assert job.wait(20)
    assert (job.state, job.error.code, job.note) == ("failed", "worker_died", "worker_died")
    assert job.trail == (2,)
    assert not (tmp_path / "runs").exists()


def test_engine_keeps_jobs_with_local_side_effects_local(pretend, jobs, tmp_path):
    engine = pretend(then="sys.exit(1)")
    mark = str(tmp_path / "runs")
    for function, position in ((cluster_tasks.leaves, "cpu"), (cluster_tasks.count, "models")):
        more = {"n": 2} if function is cluster_tasks.count else {}
        job = jobs.submit(function, mark=mark, owner="a", device=position, **more)
        assert job.wait(20)
        assert job.state == "done"
    assert not engine.counts


@pytest.mark.parametrize("lang", LANGUAGES)
def test_engine_states_and_notes_have_messages(pretend, monkeypatch, lang):
    text = Text(lang)
    for state in client.STATES:
        monkeypatch.setattr(placement, "remote_state", lambda state=state: state)
        assert placement.device_messages()[0] == f"engine_{state}"
        assert text(f"frame.engine_{state}")
    for key in ("frame.cluster_away", "frame.worker_died", "problem.worker_died"):
        assert text(key)


def test_engine_metrics_report_state_calls_and_processors(pretend):
    from seqviz.ui.app import collectors

    engine = pretend(then="line.send((number, 'unavailable', 'full'))")
    forward_cache.read("minilm", TEXT)
    client._engine, former = engine, client._engine
    try:
        result = {family.name: family for family in collectors._engine()}
    finally:
        client._engine = former
    states = {item.labels["state"]: item.value for item in result["seqviz_engine"].samples}
    assert states == {"connected": 1, "disconnected": 0, "incompatible": 0, "degraded": 0}
    calls = {
        tuple(item.labels.values()): item.value for item in result["seqviz_engine_calls"].samples
    }
    assert calls["forward", "full"] == 1
    assert sum(calls.values()) == 1
    assert result["seqviz_cluster_processors"].samples[0].value == 2
