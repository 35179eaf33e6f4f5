"""Jobs that fall silent: given up, left behind, counted; the queue goes on."""

from __future__ import annotations

import threading

import pytest

from seqviz.core.errors import UserError
from seqviz.jobs import JobQueue, Tally
from tests.fakes import FakeClock

LONG = 30.0  # seconds; a bound that is reached only when something hangs
gates: dict[str, threading.Event] = {}
received: list[str] = []


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def jobs(clock):
    gates.clear()
    received.clear()
    job_queue = JobQueue(clock=clock, stall_after=60.0, abandon_after=1e9, most_left=2)
    yield job_queue
    for gate in gates.values():
        gate.set()
    job_queue.close()
    until(lambda: job_queue.left_behind == 0)  # what they say belongs to this test


def hangs(name, report):
    """Reports once, then waits for its gate; what it still has to say is noted."""
    report(name)
    gates.setdefault(name, threading.Event()).wait(LONG)
    try:
        report(name)
        received.append(f"{name} was heard")
    finally:
        received.append(f"{name} has ended")
    return name


def never_listens(name, report):
    gates.setdefault(name, threading.Event()).wait(LONG)
    received.append(f"{name} has ended")
    return name


def square(x, report):
    return x * x


def began(job) -> None:
    """Wait until a job's function waits at its gate."""
    while job.state == "queued" or not gates:
        threading.Event().wait(0.005)


def until(happened) -> None:
    for _ in range(int(LONG / 0.005)):
        if happened():
            return
        threading.Event().wait(0.005)
    raise AssertionError("it never happened")


def test_queue_abandons_silent_job_and_runs_next(jobs, clock):
    hung = jobs.submit(hangs, "first", owner="a")
    began(hung)
    waiting = jobs.submit(square, 3, owner="b")
    clock.now += 59
    hung.heartbeat("a")
    assert (hung.state, waiting.position) == ("running", 1)
    clock.now += 2
    waiting.heartbeat("b")  # whoever asks notices
    assert hung.state == "failed"
    assert isinstance(hung.error, UserError)
    assert (hung.error.code, hung.error.details) == ("job_hung", {"seconds": "60"})
    assert waiting.wait(LONG)
    assert waiting.result == 9
    assert jobs.left_behind == 1
    assert jobs.tally == Tally(done=1, timed_out=1, seconds=61.0)


@pytest.mark.parametrize("function", [hangs, never_listens])
def test_queue_drops_late_result(jobs, clock, function):
    hung = jobs.submit(function, "first", owner="a")
    began(hung)
    clock.now += 61
    assert jobs.find(function, "first").state == "failed"
    again = jobs.submit(function, "first", owner="a")  # the same work, anew
    assert again is not hung
    until(lambda: again.state == "running")
    gates["first"].set()
    assert again.wait(LONG)
    assert again.state == "done"
    until(lambda: jobs.left_behind == 0)
    assert hung.state == "failed"
    with pytest.raises(RuntimeError, match="no result"):
        _ = hung.result
    assert jobs.find(function, "first") is again
    if function is hangs:  # the late one was told that nobody waits
        assert sorted(received) == ["first has ended", "first has ended", "first was heard"]
    assert jobs.tally == Tally(done=1, timed_out=1, seconds=61.0)


def test_queue_keeps_job_that_reports_progress(jobs, clock):
    slow = jobs.submit(reports_at_its_gates, 5, owner="a")
    for step in range(5):
        until(lambda step=step: len(slow.trail) == step + 1)
        clock.now += 50
        gates.setdefault(str(step), threading.Event()).set()
    assert slow.wait(LONG)
    assert slow.result == 5
    assert jobs.left_behind == 0


def reports_at_its_gates(n, report):
    for step in range(n):
        report(step)
        gates.setdefault(str(step), threading.Event()).wait(LONG)
    return n


def test_queue_abandons_silent_job_without_subscribers(jobs, clock):
    hung = jobs.submit(hangs, "first", owner="a")
    began(hung)
    hung.unsubscribe("a")
    waiting = jobs.submit(square, 4, owner="b")
    clock.now += 61
    assert waiting.wait(LONG)
    assert hung.state == "cancelled"
    assert jobs.find(hangs, "first") is None
    assert jobs.tally.timed_out == 1


def test_job_wait_detects_timeout_without_polling(jobs, clock):
    """A notebook, which does not poll."""
    hung = jobs.submit(hangs, "first", owner="a")
    began(hung)
    threading.Timer(0.2, lambda: setattr(clock, "now", clock.now + 61)).start()
    assert hung.wait(LONG)
    assert hung.state == "failed"


def test_queue_rejects_jobs_while_too_many_hang(jobs, clock):
    for name in ("first", "second"):
        hung = jobs.submit(hangs, name, owner=name)
        until(lambda hung=hung, name=name: hung.state == "running" and name in gates)
        if name == "second":
            waiting = jobs.submit(square, 2, owner="b")
        clock.now += 61
        hung.heartbeat(name)
        assert hung.state == "failed"
    assert jobs.left_behind == 2
    for job in (waiting, jobs.submit(square, 3, owner="c")):
        assert job.wait(0)
        assert job.state == "failed"
        assert (job.error.code, job.error.details) == ("queue_stuck", {"count": 2})
    assert (jobs.waiting, jobs.running) == (0, 0)
    gates["first"].set()
    until(lambda: jobs.left_behind == 1)
    value = jobs.submit(square, 3, owner="c")
    assert value.wait(LONG)
    assert value.result == 9


def test_queue_tally_counts_outcomes(jobs, clock):
    for x in range(3):
        assert jobs.submit(square, x, owner="a").wait(LONG)
    assert jobs.submit(fails, owner="a").wait(LONG)
    left = jobs.submit(hangs, "first", owner="a")
    began(left)
    clock.now += 5
    left.unsubscribe("a")
    gates["first"].set()
    assert left.wait(LONG)
    assert jobs.tally == Tally(done=3, failed=1, cancelled=1, seconds=5.0)


def fails(report):
    raise RuntimeError("broken")
