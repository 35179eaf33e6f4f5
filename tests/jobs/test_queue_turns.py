"""Whose run begins next: groups of owners take turns, and who has left waits no longer."""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from seqviz.jobs import Job, JobQueue, QueueFullError

LONG = 30.0  # a bound that is reached only when something hangs
begun: list[str] = []
gates: dict[str, threading.Event] = {}


def held(name: str, report) -> str:
    """Runs until its gate is open."""
    begun.append(name)
    while not gates.setdefault(name, threading.Event()).wait(0.005):
        report(name)
    return name


def another(name: str, report) -> str:
    return held(name, report)


class Class:
    """A queue whose runs are named `<owner><number>`, and end when they are told to."""

    def __init__(self, **options: int) -> None:
        self.jobs = JobQueue(**options)
        self.asked: dict[str, Job[str]] = {}

    def ask(self, name: str, group: str = "") -> Job[str]:
        """A run of its own; each is another owner's, as in another tab."""
        job = self.jobs.submit(held, name, owner=f"tab of {name}", group=group or name[0])
        self.asked[name] = job
        if len(self.asked) == 1:
            self.until_begun(name)
        return job

    def until(self, reached: Callable[[], bool]) -> None:
        last = time.monotonic() + LONG
        while not reached():
            assert time.monotonic() < last
            time.sleep(0.002)

    def until_begun(self, name: str) -> None:
        self.until(lambda: name in begun)

    def end(self, name: str) -> None:
        gates.setdefault(name, threading.Event()).set()
        assert self.asked[name].wait(LONG)

    def waiting(self) -> list[str]:
        """The names in the order of the places that are read."""
        positions = {job.position: name for name, job in self.asked.items() if job.position}
        assert sorted(positions) == list(range(1, len(positions) + 1))
        return [positions[position] for position in sorted(positions)]

    def leave(self, name: str) -> None:
        self.asked[name].unsubscribe(f"tab of {name}")


@pytest.fixture
def made() -> Iterator[Class]:
    begun.clear()
    gates.clear()
    item = Class()
    yield item
    for name in item.asked:
        gates.setdefault(name, threading.Event()).set()
    item.jobs.close()


def test_queue_puts_other_groups_before_busy_group(made):
    """Nobody waits for more than the run that is at work."""
    for number in range(16):
        made.ask(f"x{number:02}")
    assert made.ask("a1").position == 1
    assert made.ask("b1").position == 2
    made.end("x00")
    made.until_begun("a1")
    assert made.ask("c1").position == 3
    assert made.waiting()[:3] == ["b1", "x01", "c1"]  # x has been in line since its run ended


def test_queue_alternates_groups_and_keeps_order_within_group(made):
    for name in ("a1", "a2", "a3", "b1", "b2", "c1"):
        made.ask(name)
    assert made.waiting() == ["b1", "c1", "a2", "b2", "a3"]


def test_queue_newcomer_passes_only_groups_with_running_job(made):
    """A run that waits is not passed again and again: all come to their end."""
    for name in ("a1", "a2", "b1"):
        made.ask(name)
    made.end("a1")
    made.until_begun("b1")
    for name in ("c1", "d1", "e1"):
        made.ask(name)
    assert made.waiting() == ["a2", "c1", "d1", "e1"]


def test_queue_treats_owner_without_group_as_group(made):
    made.ask("a1")
    for number in range(3):
        made.jobs.submit(held, f"x{number}", owner="x")  # each leaves the one before
        made.jobs.submit(another, f"x{number}", owner="x")
    first = made.jobs.submit(held, "y", owner="y")
    assert made.jobs.waiting == 3
    assert first.position == 2  # x's first, y's, x's second


def test_job_takes_best_position_of_owners(made):
    for name in ("x0", "x1", "x2"):
        made.ask(name)
    last = made.asked["x2"]
    assert last.position == 2
    last.subscribe("tab of b", "b")
    assert last.position == 1
    last.unsubscribe("tab of b")
    assert last.position == 2


def test_queue_cancel_does_not_advance_same_group(made):
    for name in ("x0", "x1", "a1"):
        made.ask(name)
    made.leave("x0")
    assert made.waiting() == ["a1", "x1"]
    made.until_begun("a1")
    assert made.waiting() == ["x1"]


def test_queue_positions_predict_run_order(made):
    """Whoever waits, in any mixture: they begin in the order that was read at the end."""
    lot = random.Random(20)
    names = [f"{lot.choice('abcd')}{number:02}" for number in range(14)]
    for name in ("z00", *names):
        made.ask(name)
    for name in lot.sample(names, 3):
        made.asked[name].subscribe(f"tab beside {name}", "e")
    for name in lot.sample(names, 2):
        made.leave(name)
    order = made.waiting()
    for name in ("z00", *order):
        made.end(name)
    assert begun[1:] == order


def test_queue_evicts_job_of_largest_group_when_full(made):
    made.jobs._capacity = 4
    for number in range(5):
        made.ask(f"x{number}")
    last = made.asked["x4"]
    assert made.ask("a1").position == 1
    assert last.state == "cancelled"
    assert last.error.code == "queue_full"
    assert made.jobs.find(held, "x4") is None  # nobody else reads of it
    assert made.waiting() == ["a1", "x1", "x2", "x3"]
    with pytest.raises(QueueFullError):
        made.ask("x5")
    for name in ("b1", "c1"):
        made.ask(name)
    with pytest.raises(QueueFullError, match="4 runs are waiting"):
        made.ask("d1")  # each has one
    with pytest.raises(QueueFullError):
        made.ask("a2")
    assert made.waiting() == ["a1", "b1", "c1", "x1"]


def test_queue_held_counts_jobs_by_group(made):
    jobs = made.jobs
    made.ask("x0")
    made.ask("x1")
    made.jobs.submit(another, "1", owner="tab of x1", group="x")
    assert jobs.held("tab of x1", besides=JobQueue.close, group="x") == 3
    assert jobs.held("tab of x1", besides=held, group="x") == 2  # a new one takes its place
    assert jobs.held("new tab", besides=held, group="x") == 3
    assert jobs.held("tab of x1", besides=JobQueue.close) == 0  # no group of this name
    assert jobs.held("a", besides=held, group="a") == 0


def test_queue_leave_removes_owner_from_all_jobs(made):
    made.ask("x0")
    made.jobs.submit(another, "1", owner="gone")
    made.jobs.submit(held, "2", owner="gone")
    shared = made.jobs.submit(held, "3", owner="stays")
    shared.subscribe("gone")
    assert made.jobs.owners() == {"tab of x0", "gone", "stays"}
    made.jobs.leave("gone")
    assert made.jobs.owners() == {"tab of x0", "stays"}
    assert made.jobs.waiting == 1
    assert shared.position == 1


def test_job_subscribe_ignores_cancelled_job(made):
    job = made.ask("a1")
    made.leave("a1")
    job.subscribe("late")
    assert job.wait(LONG)
    job.subscribe("late")
    assert job.owners == 0
    assert job.state == "cancelled"


def test_queue_starts_single_job_within_two_positions(made):
    """One group fills the queue again and again; other visitors come one by one."""
    numbers = itertools.count(10)
    for name in "abcdef":
        while made.jobs.waiting < 16:  # all that may wait
            made.ask(f"x{next(numbers)}")
        before = len(begun)
        assert made.ask(f"{name}1").position <= 2
        while f"{name}1" not in begun:
            made.end(at_work := begun[-1])
            made.until(lambda item=at_work: begun[-1] != item)
        assert len(begun) - before <= 2
