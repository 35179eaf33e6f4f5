"""The job queue, with real threads and, where it matters, a real training run.

Waits are on events with generous bounds; only the promise "cancelled within a second" is timed.
"""

from __future__ import annotations

import enum
import threading
import time
from dataclasses import dataclass, replace

import numpy as np
import pytest

from seqviz import jobs as queue
from seqviz.compute.ar_fitting.network_settings import NetworkSettings
from seqviz.compute.ar_fitting.networks import EpochReport, fit_network
from seqviz.core import content_hash
from seqviz.jobs import MAX_TRAIL, CancelledError, JobQueue, QueueFullError

LONG = 30.0  # a bound that is reached only when something hangs


class Bench:
    """What the module-level functions below share with the test that runs."""

    def __init__(self):
        self.runs = []
        self.started = threading.Event()
        self.gate = threading.Event()


bench = Bench()


@pytest.fixture(autouse=True)
def _fresh_bench():
    bench.__init__()
    yield
    bench.gate.set()


@pytest.fixture
def jobs():
    job_queue = JobQueue()
    yield job_queue
    bench.gate.set()
    job_queue.close()


def square(x, report):
    bench.runs.append(x)
    return x * x


def gated(x, report):
    """Reports until the gate opens, so that a cancel can reach it."""
    bench.runs.append(x)
    bench.started.set()
    while not bench.gate.wait(0.01):
        report(x, 0.5)
    return x


def other_gated(x, report):
    return gated(x, report)


def silent(x, report):
    """Waits at the gate without reporting, then reports once."""
    bench.runs.append(x)
    bench.started.set()
    bench.gate.wait(LONG)
    report(x)
    return x


def fails(message, report):
    bench.runs.append(message)
    raise ValueError(message)


def swallows(report):
    bench.started.set()
    while True:
        bench.gate.wait(0.01)
        try:
            report(None)
        except Exception:  # what a careless training loop does
            continue


def counts(n, report):
    for i in range(n):
        report(i, (i + 1) / n)
    return n


def total(values, weight=2.0, *, report):
    bench.runs.append(float(values.sum()))
    return float(values.sum()) * weight


def ar1(seed: int, n: int = 1000) -> np.ndarray:
    random = np.random.RandomState(seed)
    values = np.zeros(n)
    for t in range(1, n):
        values[t] = 0.8 * values[t - 1] + random.normal()
    return values


def has_reported(job) -> None:
    deadline = time.monotonic() + LONG
    while not job.trail:
        assert time.monotonic() < deadline
        time.sleep(0.005)


# --- one run for equal work ---------------------------------------------------------------------


def test_queue_runs_thirty_equal_submits_once(jobs):
    together = threading.Barrier(30)
    got = [None] * 30

    def press(i):
        together.wait(LONG)
        got[i] = jobs.submit(gated, 7, owner=f"student {i}")

    threads = [threading.Thread(target=press, args=(i,)) for i in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert len({id(job) for job in got}) == 1
    assert got[0].owners == 30
    bench.gate.set()
    assert got[0].wait(LONG)
    assert got[0].result == 7
    assert jobs.submit(gated, 7, owner="latecomer") is got[0]
    assert bench.runs == [7]


def test_queue_compares_arguments_by_value(jobs):
    values = np.arange(6.0).reshape(2, 3)
    first = jobs.submit(total, values, owner="a")
    assert jobs.submit(total, values=values.copy(), weight=2.0, owner="b") is first
    assert jobs.submit(total, np.asfortranarray(values), owner="b") is first
    assert jobs.find(total, values) is first
    for different in (values + 1, values.ravel(), values.astype(np.float32)):
        assert jobs.find(total, different) is None
    assert jobs.find(total, values, 3.0) is None


def test_queue_find_does_not_submit(jobs):
    assert jobs.find(square, 3) is None
    job = jobs.submit(square, 3, owner="a")
    assert job.wait(LONG)
    assert jobs.find(square, 3) is job
    assert bench.runs == [3]


class Color(enum.Enum):
    RED = "red"


class Paint(enum.Enum):
    RED = "red"


@dataclass(frozen=True)
class Pair:
    a: object
    b: object


@dataclass(frozen=True)
class Other:
    a: object
    b: object


def test_hash_value_differs_for_different_values():
    nan = float("nan")
    values = [
        None, True, 1, 1.0, 1 + 0j, "1", b"1", 0, False, 0.0, -0.0, nan, "", (), [], {}, set(),
        ("a", "bc"), ("ab", "c"), ("abc",), (("a",), "b"), ("a", ("b",)), ["a", "bc"],
        {"a": 1}, {"a": 2}, {"b": 1}, (("a", 1),), {1, 2}, frozenset({1, 2}),
        Color.RED, Paint.RED, "RED", "red", Pair(1, 2), Pair(2, 1), Other(1, 2), (1, 2),
        np.zeros(4), np.zeros((2, 2)), np.zeros(4, np.float32), np.zeros(4, ">f8"),
        np.zeros(8, np.int32), np.array(["a"]), np.float32(1), NetworkSettings(),
        replace(NetworkSettings(), seed=1),
    ]  # fmt: skip
    digests = [content_hash.hash_value(value) for value in values]
    assert len(set(digests)) == len(values)


def test_hash_value_is_equal_for_equal_values():
    assert content_hash.hash_value({"a": 1, "b": 2}) == content_hash.hash_value({"b": 2, "a": 1})
    assert content_hash.hash_value({3, 1, 2}) == content_hash.hash_value({2, 3, 1})
    assert content_hash.hash_value(float("nan")) == content_hash.hash_value(float("nan"))
    assert content_hash.hash_value(np.arange(10)[::2]) == content_hash.hash_value(
        np.array([0, 2, 4, 6, 8])
    )
    equal = [content_hash.hash_value(NetworkSettings(cell="gru")) for _ in range(2)]
    assert equal[0] == equal[1]


@pytest.mark.parametrize("value", [object(), np.array([object()]), lambda: 0, iter([])])
def test_queue_rejects_values_without_value_equality(jobs, value):
    with pytest.raises(TypeError, match="cannot be compared by value"):
        jobs.submit(square, value, owner="a")


def test_queue_rejects_functions_not_at_top_level(jobs):
    def nested(report):
        return 0

    for function in (nested, lambda report: 0, bench.gate.wait):
        with pytest.raises(TypeError, match="top level"):
            jobs.submit(function, owner="a")


def test_queue_rejects_wrong_signature_at_submit(jobs):
    with pytest.raises(TypeError):
        jobs.submit(square, 1, 2, 3, owner="a")
    with pytest.raises(TypeError):
        jobs.submit(len, owner="a")


def test_queue_copies_array_arguments(jobs):
    jobs.submit(gated, 0, owner="a")
    values = np.ones(5)
    job = jobs.submit(total, values, owner="a")
    values[:] = 100
    bench.gate.set()
    assert job.wait(LONG)
    assert job.result == 10.0


# --- cancel -------------------------------------------------------------------------------------


@pytest.mark.timing
def test_queue_cancels_training_within_one_second(jobs):
    settings = NetworkSettings(epochs=100_000)
    job = jobs.submit(fit_network, ar1(0), settings, owner="a")
    has_reported(job)
    assert isinstance(job.trail[0], EpochReport)
    assert job.fraction > 0
    pressed = time.monotonic()
    job.unsubscribe("a")
    assert job.wait(LONG)
    assert time.monotonic() - pressed < 1.0
    assert job.state == "cancelled"
    with pytest.raises(RuntimeError, match="cancelled"):
        _ = job.result


def test_job_stops_when_last_owner_unsubscribes(jobs):
    job = jobs.submit(gated, 1, owner="a")
    assert jobs.submit(gated, 1, owner="b") is job
    assert bench.started.wait(LONG)
    job.unsubscribe("a")
    job.unsubscribe("a")
    job.unsubscribe("stranger")
    assert not job.wait(0.2)
    assert job.state == "running"
    job.unsubscribe("b")
    assert job.wait(LONG)
    assert job.state == "cancelled"


def test_queue_reruns_cancelled_job_before_it_stops(jobs):
    first = jobs.submit(silent, 1, owner="a")
    assert bench.started.wait(LONG)
    first.unsubscribe("a")
    second = jobs.submit(silent, 1, owner="b")
    assert second is not first
    assert jobs.find(silent, 1) is second
    bench.gate.set()
    assert second.wait(LONG)
    assert (first.state, second.state) == ("cancelled", "done")
    assert bench.runs == [1, 1]


def test_job_unsubscribe_removes_queued_job_at_once(jobs):
    jobs.submit(gated, 1, owner="a")
    assert bench.started.wait(LONG)
    waiting = jobs.submit(square, 2, owner="b")
    assert waiting.position == 1
    waiting.unsubscribe("b")
    assert (waiting.state, waiting.position) == ("cancelled", None)
    assert waiting.seconds == 0
    bench.gate.set()
    jobs.submit(square, 3, owner="c").wait(LONG)
    assert bench.runs == [1, 3]


def test_cancelled_error_passes_except_exception(jobs):
    job = jobs.submit(swallows, owner="a")
    assert bench.started.wait(LONG)
    job.unsubscribe("a")
    assert job.wait(LONG)
    assert job.state == "cancelled"
    assert not issubclass(CancelledError, Exception)


def test_queue_replaces_former_job_of_owner_and_function(jobs):
    first = jobs.submit(gated, 1, owner="a")
    assert bench.started.wait(LONG)
    elsewhere = jobs.submit(other_gated, 1, owner="a")
    second = jobs.submit(gated, 2, owner="a")
    assert first.wait(LONG)
    assert first.state == "cancelled"
    assert elsewhere.state != "cancelled"  # another function: another bench on the page
    assert second.owners == 1


def test_queue_replacement_keeps_shared_job_for_others(jobs):
    shared = jobs.submit(gated, 1, owner="a")
    jobs.submit(gated, 1, owner="b")
    jobs.submit(gated, 2, owner="a")
    assert shared.owners == 1
    bench.gate.set()
    assert shared.wait(LONG)
    assert shared.state == "done"


# --- abandoned ----------------------------------------------------------------------------------


@pytest.fixture
def timed(clock):
    job_queue = JobQueue(abandon_after=20.0, clock=clock)
    yield job_queue
    bench.gate.set()
    job_queue.close()


def test_queue_stops_running_job_without_heartbeat(timed, clock):
    job = timed.submit(gated, 1, owner="a")
    timed.submit(gated, 1, owner="b")
    assert bench.started.wait(LONG)
    clock.now += 15
    job.heartbeat("b")
    clock.now += 15  # a was seen 30 s ago, b 15 s ago
    job.heartbeat("stranger")
    assert not job.wait(0.2)
    clock.now += 6
    assert job.wait(LONG)
    assert job.state == "cancelled"
    assert job.seconds == 36


def test_queue_drops_queued_job_without_heartbeat(timed, clock):
    running = timed.submit(gated, 1, owner="a")
    assert bench.started.wait(LONG)
    waiting = timed.submit(square, 2, owner="b")
    clock.now += 15
    running.heartbeat("a")
    clock.now += 15
    running.heartbeat("a")
    assert waiting.wait(LONG)  # swept by the running job's next report
    assert waiting.state == "cancelled"
    assert running.state == "running"
    bench.gate.set()
    assert running.wait(LONG)
    assert bench.runs == [1]


def test_queue_keeps_finished_result_without_heartbeat(timed, clock):
    job = timed.submit(square, 3, owner="a")
    assert job.wait(LONG)
    clock.now += 1e6
    assert timed.find(square, 3) is job
    assert job.seconds == 0  # this clock stood still while it ran


# --- the queue ----------------------------------------------------------------------------------


def test_queue_reports_positions_and_rejects_when_full():
    jobs = JobQueue(capacity=2)
    running = jobs.submit(gated, 0, owner="a")
    assert bench.started.wait(LONG)
    item = jobs.submit(gated, 1, owner="b")
    two = jobs.submit(gated, 2, owner="c")
    assert (running.position, item.position, two.position) == (None, 1, 2)
    assert (running.state, item.state) == ("running", "queued")
    with pytest.raises(QueueFullError, match="2 runs are waiting") as full:
        jobs.submit(gated, 3, owner="d")
    assert full.value.waiting == 2
    assert jobs.submit(gated, 1, owner="d") is item  # joining needs no room
    with pytest.raises(QueueFullError):
        jobs.submit(gated, 3, owner="a")
    assert (running.state, running.owners) == ("running", 1)  # a keeps what it had
    three = jobs.submit(gated, 3, owner="c")  # c's own place becomes free
    assert (two.state, three.position) == ("cancelled", 2)
    bench.gate.set()
    assert three.wait(LONG)
    assert bench.runs == [0, 1, 3]
    jobs.close()


def test_queue_runs_jobs_serially_in_order(jobs):
    built = [jobs.submit(square, i, owner=f"student {i}") for i in range(10)]
    assert all(job.wait(LONG) for job in built)
    assert [job.result for job in built] == [i * i for i in range(10)]
    assert bench.runs == list(range(10))


def test_queue_continues_after_failed_job(jobs):
    job = jobs.submit(fails, "no such series", owner="a")
    assert job.wait(LONG)
    assert job.state == "failed"
    assert isinstance(job.error, ValueError)
    assert str(job.error) == "no such series"
    with pytest.raises(RuntimeError, match="failed"):
        _ = job.result
    assert jobs.find(fails, "no such series") is job
    again = jobs.submit(fails, "no such series", owner="a")
    assert again is not job
    assert again.wait(LONG)
    assert jobs.find(fails, "no such series") is again
    assert bench.runs == ["no such series"] * 2
    after = jobs.submit(square, 4, owner="a")
    assert after.wait(LONG)
    assert (after.result, after.error) == (16, None)


def test_queue_evicts_least_recently_used_result():
    jobs = JobQueue(retained=2)
    for x in (1, 2):
        assert jobs.submit(square, x, owner="a").wait(LONG)
    jobs.submit(square, 1, owner="a")  # 2 is now the oldest
    assert jobs.submit(square, 3, owner="a").wait(LONG)
    assert jobs.find(square, 2) is None
    assert jobs.submit(square, 1, owner="a").result == 1
    assert jobs.submit(square, 2, owner="a").wait(LONG)
    assert bench.runs == [1, 2, 3, 2]
    jobs.close()


# --- progress -----------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 1999, 2000, 2001, 3999, 4000, 4001, 12_345])
def test_job_trail_is_thinned_evenly_and_ends_with_latest(jobs, n):
    job = jobs.submit(counts, n, owner="a")
    assert job.wait(LONG)
    trail = np.array(job.trail)
    assert len(trail) <= MAX_TRAIL
    assert len(trail) >= min(n, MAX_TRAIL // 2)
    assert trail[0] == 0
    assert trail[-1] == n - 1
    steps = np.diff(trail)
    assert len(set(steps[:-1])) <= 1  # one stride, but for the latest record
    if n < MAX_TRAIL:
        assert trail.tolist() == list(range(n))


def test_job_fraction_and_trail_follow_report(jobs):
    job = jobs.submit(gated, 1, owner="a")
    assert bench.started.wait(LONG)
    has_reported(job)
    assert job.fraction == 0.5
    assert set(job.trail) == {1}
    bench.gate.set()
    assert job.wait(LONG)
    assert job.fraction == 1.0


def test_queue_training_matches_direct_call(jobs):
    settings = NetworkSettings(epochs=5, hidden=4)
    values = ar1(1, 60)
    job = jobs.submit(fit_network, values, settings, owner="a")
    assert job.wait(LONG)
    direct = fit_network(values, settings)
    assert [record.update for record in job.trail] == [1, 2, 3, 4, 5]
    assert [record.train_loss for record in job.trail] == direct.train_loss.tolist()
    np.testing.assert_array_equal(job.result.predictions, direct.predictions)


# --- life ---------------------------------------------------------------------------------------


def test_queue_close_cancels_jobs_and_rejects_submit():
    jobs = JobQueue()
    running = jobs.submit(gated, 1, owner="a")
    assert bench.started.wait(LONG)
    waiting = jobs.submit(square, 2, owner="b")
    jobs.close()
    assert running.wait(0)
    assert (running.state, waiting.state) == ("cancelled", "cancelled")
    with pytest.raises(RuntimeError, match="closed"):
        jobs.submit(square, 3, owner="a")


def on_its_device(x, report, device="cpu"):
    return device


@pytest.mark.parametrize(("function", "result"), [(square, 9), (on_its_device, "cuda")])
def test_queue_passes_device_to_function(jobs, function, result):
    job = jobs.submit(function, owner="a", x=3, device="cuda")
    assert job.wait(LONG)
    assert (job.result, job.device) == (result, "cuda")
    assert jobs.find(function, x=3, device="cuda") is job


def test_scale_report_maps_fraction_to_range():
    reports = []
    report = queue.scale_report(lambda *given: reports.append(given), 0.5, 0.75)
    report("word", 0.0)
    report(0.2, 0.2)
    report(1.0)
    assert reports == [("word", 0.5), (0.55, 0.55), (0.75, 0.75)]


def test_queue_for_returns_one_queue_per_device():
    assert queue.queue_for() is queue.queue_for("cpu")
    assert queue.queue_for("cuda") is not queue.queue_for("cpu")
