"""The clock of the machine is set: nothing that waits, ends or is kept goes by it."""

from __future__ import annotations

import ast
import threading
import time

import pytest

from seqviz.compute.ar_fitting import process
from seqviz.core.i18n import ASSETS
from seqviz.jobs import JobQueue
from seqviz.ui.runtime.result_cache import cached

ROOT = ASSETS.parent
LONG = 30.0
HOURS = (10 * 3600.0, -10 * 3600.0)
# What the date of a day is written into, for people to read: nothing is decided by it.
DATES = {
    "seqviz/models/store.py": {"datetime.date.today"},
    "seqviz/models/accelerator_start.py": {"datetime.date.today"},
}
CLOCKS = ("time.time", "time.time_ns", "time.localtime", "datetime.now", "date.today", "utcnow")
go_on = threading.Event()


def called(source: str) -> set[str]:
    """The names of everything that a file calls."""
    return {ast.unparse(node.func) for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.Call)}  # fmt: skip


def test_source_does_not_read_wall_clock():
    """What measures or waits uses time.monotonic and time.perf_counter, which nobody can set."""
    paths = [ROOT / "app.py", *(ROOT / "pages").glob("*.py"), *(ROOT / "seqviz").rglob("*.py")]
    assert len(paths) > 100
    for path in paths:
        name = path.relative_to(ROOT).as_posix()
        request = {call for call in called(path.read_text("utf-8")) if call.endswith(CLOCKS)}
        assert request <= DATES.get(name, set()), name


def works(report):
    for step in range(1000):
        report(step, step / 1000)
        if go_on.wait(0.01):
            break
    return "done"


@pytest.mark.parametrize("jump", HOURS)
def test_job_survives_clock_jump(monkeypatch, jump):
    go_on.clear()
    jobs = JobQueue(abandon_after=30.0, stall_after=30.0)
    job = jobs.submit(works, owner="a")
    while not job.trail:
        time.sleep(0.01)
    clock = time.time
    monkeypatch.setattr(time, "time", lambda: clock() + jump)
    observed = len(job.trail)
    while len(job.trail) < observed + 5:
        assert job.state == "running"
        job.heartbeat("a")
        time.sleep(0.01)
    go_on.set()
    assert job.wait(LONG)
    assert (job.state, job.result) == ("done", "done")
    assert 0 < job.seconds < LONG
    assert jobs.submit(works, owner="b") is job  # and is kept
    jobs.close()


def test_page_answers_and_keeps_cache_after_clock_jump(visit, monkeypatch):
    page = visit("ar_fitting")
    before, clock = page.readouts(), time.time
    first = cached(process.simulate)((0.31,), n=100, seed=5)
    for jump in HOURS:
        monkeypatch.setattr(time, "time", lambda jump=jump: clock() + jump)
        page.run(ar__process__phi=0.5)
        assert page.readouts() != before
        page.run(ar__process__phi=0.8)
        assert page.readouts() == before
        # computed anew it would have taken another time
        assert cached(process.simulate)((0.31,), n=100, seed=5).seconds == first.seconds
