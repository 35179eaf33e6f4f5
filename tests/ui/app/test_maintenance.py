"""While the server runs memory is looked after: a task that fails keeps no other from its turn."""

from __future__ import annotations

import asyncio
import time
from types import SimpleNamespace

import pytest

from seqviz import jobs
from seqviz.core import gc_tuning
from seqviz.ui.app import collectors, maintenance
from seqviz.ui.runtime import run_context
from seqviz.ui.streamlit_patches import session_release
from seqviz.ui.streamlit_patches.session_release import Remembered
from testing.protocol import run_async

SECONDS = 5.0


@pytest.fixture
def collected(monkeypatch):
    """The names of the collections that were made, with somebody here and all due at once."""
    done: list[str] = []
    for name in ("collect_and_freeze", "collect_recent", "collect_young"):
        monkeypatch.setattr(gc_tuning, name, lambda name=name: done.append(name))
    for name in ("YOUNG", "RECENT", "FREEZING", "LOOKING", "EMPTY"):
        monkeypatch.setattr(maintenance, f"{name}_SECONDS", 0.001)
    monkeypatch.setattr(collectors.connections, "open", 1)
    monkeypatch.setattr(session_release, "_kept", [])
    return done


def until(reached) -> None:
    """Keep tidy until `reached()`; AssertionError where the task ends or it takes too long."""

    async def tidied() -> None:
        task = asyncio.create_task(maintenance.run_maintenance())
        end = time.monotonic() + SECONDS
        while not reached():
            assert not task.done(), task
            assert time.monotonic() < end
            await asyncio.sleep(0.005)
        task.cancel()

    run_async(tidied())


def fails(*_: object) -> bool:
    raise AttributeError("'Runtime' object has no attribute '_session_mgr'")


@pytest.mark.parametrize(
    ("where", "name", "task"),
    [
        (session_release, "let_go", "release_sessions"),
        (run_context, "flush_closed", "report_closed_sessions"),
    ],
)
def test_maintenance_collects_garbage_when_another_task_fails(
    collected, monkeypatch, caplog, where, name, task
):
    """It ended all collections, unheard, and memory grew without end."""
    monkeypatch.setattr(where, name, fails)
    until(lambda: len(collected) >= 3)
    (message,) = [
        record for record in caplog.records if record.message == "maintenance: a task failed"
    ]  # once
    assert message.task == task


def test_maintenance_retries_failed_collection(collected, monkeypatch, caplog):
    tries: list[int] = []

    def first_fails() -> None:
        tries.append(1)
        if len(tries) == 1:
            raise MemoryError

    monkeypatch.setattr(gc_tuning, "collect_and_freeze", first_fails)
    until(lambda: len(tries) >= 2)
    assert "maintenance: a task failed" in caplog.text


def test_maintenance_shuts_down_expired_sessions(collected):
    undone: list[str] = []
    remembered = Remembered(maxsize=10, ttl=0.01)
    for name in "ab":
        session = SimpleNamespace(
            shutdown=lambda name=name: undone.append(name), _fragment_storage={}, _session_state={}
        )
        remembered[name] = SimpleNamespace(session=session)
    assert session_release.remembered()
    until(lambda: len(undone) == 2)
    assert sorted(undone) == ["a", "b"]
    assert not session_release.remembered()


def test_orphan_reaper_removes_owner_absent_at_two_checks(monkeypatch):
    """A line that was cut for a moment costs nobody the run."""
    leaving, queue = maintenance.OrphanReaper(), jobs.JobQueue()
    monkeypatch.setattr(jobs.queue, "_defaults", {"cpu": queue})
    for owner in ("a", "b", "cut"):
        queue.submit(goes_on, owner, owner=owner)
    try:
        for here, left in (("b", "a b cut"), ("b cut", "b cut"), ("cut", "b cut"), ("cut", "cut")):
            monkeypatch.setattr(run_context, "connected", here.split().__contains__)
            run_async(leaving.look())
            assert queue.owners() == {*left.split()}
    finally:
        queue.close()


def goes_on(name: str, report) -> None:
    while True:
        report(name)
        time.sleep(0.01)


def test_gc_scheduler_collects_once_when_server_is_empty(collected, monkeypatch):
    monkeypatch.setattr(collectors.connections, "open", 0)
    sweeper = maintenance.GcScheduler()
    sweeper.seen()
    time.sleep(0.01)
    for _ in range(3):
        run_async(sweeper.sweep())
    assert collected == ["collect_and_freeze"]
