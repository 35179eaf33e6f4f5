"""Bounded job queue with one worker thread per device: `JobQueue`, `queue_for`.

A page submits a job and polls it. Equal requests share one run, and a run without owners is
cancelled. A job that stops reporting times out: its thread is abandoned and a new one takes the
next job.

Groups of owners (the tabs of one visitor) are scheduled round-robin. The group that has waited
longest starts its first job and rejoins the line when that run ends, after all groups waiting then.
Thirty jobs of one group therefore delay another by at most one run per round, and no group starves.
`_queue` is always in the order of execution.
"""

from __future__ import annotations

import copy
import itertools
import logging
import threading
import time
import traceback
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from seqviz.core import content_hash, settings
from seqviz.core.errors import UserError
from seqviz.jobs.job import (
    CancelledError,
    Job,
    QueueFullError,
    Report,
    State,
    Subscription,
    T,
    Tally,
    explained,
    on_device,
)

STALL_SECONDS = 120.0
MOST_LEFT_BEHIND = 3
log = logging.getLogger(__name__)

Rescue = Callable[[BaseException, Mapping[str, Any]], tuple[dict[str, Any], str] | None]
retry_hook: Rescue | None = None
"""Maps an error and a job's keyword arguments to (those of a retry, its reason), or None.

None lets the job fail. Both have the key "device", the device of the run. Positional arguments are
not passed and stay the same.
"""


RemoteExecutor = Callable[[Job[Any], Report], "tuple[Any] | None"]
remote_executor: RemoteExecutor | None = None
"""Runs a job remotely (`seqviz.integrations.ray`); returns (result,), or None to run it locally."""


class JobQueue:
    """Bounded queue with one worker thread.

    Browsers throttle a hidden tab to about one poll per minute, hence the long `abandon_after`; for
    a closed tab the server calls `leave` at once. A Python thread cannot be stopped from outside,
    so the thread of a job that timed out goes on and its result is discarded.

    Args:
        capacity: maximum number of queued jobs.
        retained: maximum number of ended jobs kept, least recently requested dropped first. Failed
            jobs are kept for `find` only: `submit` runs them again.
        abandon_after: seconds without a heartbeat of any owner after which a job is cancelled.
        clock: source of time in seconds, for tests.
        stall_after: seconds without a report after which a job times out.
        most_left: number of abandoned threads from which all new jobs fail at once.

    Attributes:
        tally: counts of ended jobs; may be read at any time.
    """

    def __init__(
        self,
        capacity: int = 16,
        retained: int = 64,
        abandon_after: float = 90.0,
        clock: Callable[[], float] = time.monotonic,
        stall_after: float = STALL_SECONDS,
        most_left: int = MOST_LEFT_BEHIND,
    ):
        self._capacity, self._keep, self._abandon_after = capacity, retained, abandon_after
        self._stall_after, self._most_left = stall_after, most_left
        self._clock = clock
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._queue: list[Job[Any]] = []
        self._numbers = itertools.count(1)
        self._in_line: dict[str, int] = {}  # waiting groups; the smallest number starts next
        self._running: Job[Any] | None = None
        self._kept: OrderedDict[bytes, Job[Any]] = OrderedDict()
        self._worker: threading.Thread | None = None
        self._abandoned: set[threading.Thread] = set()
        self._closed = False
        self.tally = Tally()

    @property
    def waiting(self) -> int:
        """Number of queued jobs."""
        return len(self._queue)

    @property
    def running(self) -> int:
        """Number of running jobs: 0 or 1."""
        return int(self._running is not None)

    @property
    def left_behind(self) -> int:
        """Number of abandoned threads that are still running."""
        return len(self._abandoned)

    def submit(
        self,
        function: Callable[..., T],
        /,
        *args: Any,
        owner: str,
        group: str = "",
        device: str = "cpu",
        **parameters: Any,
    ) -> Job[T]:
        """Submit `function(*args, report=report, **parameters)`; see `Report` and `on_device`.

        A request equal to a queued or running job, or to a kept one that has not failed (the same
        function with equal arguments), returns that job. An owner waits for one job per function: a
        new request removes the owner from the former one. Arguments are copied, so the caller may
        modify its arrays afterwards. With too many abandoned threads the returned job has already
        failed with UserError("queue_stuck").

        A full queue still accepts a job if its group, with this job, has fewer queued jobs than
        another group. The last queued job of a group with more is cancelled instead, with
        UserError("queue_full") as its `error`.

        Args:
            function: top-level function of a module.
            *args: its positional arguments.
            owner: identifies the waiting client.
            group: group for fair scheduling; by default the owner.
            device: device of this queue.
            **parameters: keyword arguments of the function.

        Raises:
            QueueFullError: the queue is full; the owner's former job is kept.
            TypeError: the arguments do not fit the function or have no hash by value, or the
                function is nested or a lambda, so its name does not identify it.
            RuntimeError: the queue is closed.
        """
        name = content_hash.hash_function(function)
        parameters = on_device(function, parameters, device)
        key = content_hash.hash_call(function, args, parameters)
        with self._lock:
            if self._closed:
                raise RuntimeError("The queue is closed.")
            self._sweep()
            former = [
                j for j in self._active() if j._function == name and owner in j._subscriptions
            ]
            job: Job[T] | None = self._known(key)
            if job is None or job._state == "failed":
                freed = sum(j._state == "queued" and len(j._subscriptions) == 1 for j in former)
                full = len(self._queue) - freed >= self._capacity
                if full and not self._make_room(group or owner):
                    raise QueueFullError(len(self._queue))
                args, parameters = copy.deepcopy((args, parameters))
                call = partial(function, *args, **parameters)
                number = next(self._numbers)
                job = Job(self, key, name, call, function.__qualname__, number, device)
                if self._stuck():
                    self._refuse(job)
                else:
                    self._queue.append(job)
                    self._start()
            elif job._state == "done":
                self._kept.move_to_end(key)
            if job._ended is None:
                self._add(job, owner, group or owner)
            for other in former:
                if other is not job:
                    self._take_back(other, owner)
            self._changed.notify_all()
            return job

    def find(
        self, function: Callable[..., T], /, *args: Any, device: str = "cpu", **parameters: Any
    ) -> Job[T] | None:
        """Return the equal job that is queued, running or kept (done or failed); None for none.

        The caller does not become an owner.

        Args:
            function: as in `submit`.
            *args: as in `submit`.
            device: as in `submit`.
            **parameters: as in `submit`.

        Raises:
            TypeError: as in `submit`.
        """
        key = content_hash.hash_call(function, args, on_device(function, parameters, device))
        with self._lock:
            self._sweep()
            return self._known(key)

    def held(self, owner: str, besides: Callable[..., Any], group: str = "") -> int:
        """Return the number of queued and running jobs of an owner's group.

        Args:
            owner: identifies the client.
            besides: function whose job of this owner does not count, as a new one would replace it.
            group: group of the owner; by default the owner.
        """
        name = content_hash.hash_function(besides)
        with self._lock:
            self._sweep()
            return sum(
                any(
                    subscription.group == (group or owner)
                    and (item != owner or job._function != name)
                    for item, subscription in job._subscriptions.items()
                )
                for job in self._active()
            )

    def by_group(self) -> Counter[str]:
        """Return the number of queued and running jobs by group."""
        with self._lock:
            return Counter(group for job in self._active() for group in job.groups)

    def owners(self) -> set[str]:
        """Return all owners of queued and running jobs."""
        with self._lock:
            return {owner for job in self._active() for owner in job._subscriptions}

    def leave(self, owner: str) -> None:
        """Remove an owner from all jobs, when its client has disconnected."""
        with self._lock:
            for job in self._active():
                self._take_back(job, owner)

    def close(self, timeout: float = 10.0) -> None:
        """Cancel all jobs and wait for the worker thread to stop.

        Args:
            timeout: maximum seconds to wait.
        """
        with self._lock:
            self._closed = True
            for job in self._active():
                self._drop(job)
            self._changed.notify_all()
            worker = self._worker
        if worker is not None:
            worker.join(timeout)

    def _active(self) -> list[Job[Any]]:
        return [*([self._running] if self._running else []), *self._queue]

    def _known(self, key: bytes) -> Job[Any] | None:
        active = [job for job in self._active() if job._key == key and not job._unwanted]
        return active[0] if active else self._kept.get(key)

    def _add(self, job: Job[Any], owner: str, group: str) -> None:
        job._subscriptions[owner] = Subscription(group, self._clock())
        self._line_up()

    def _take_back(self, job: Job[Any], owner: str) -> None:
        subscription = job._subscriptions.pop(owner, None)
        if subscription is None:
            return
        if job is self._running and subscription.group not in job.groups:
            self._behind([subscription.group])  # cancelling a run must not earn the next turn
        if job._subscriptions:
            self._line_up()
        else:
            self._drop(job)

    def _line_up(self) -> None:
        """Sort the queued jobs into their order of execution.

        A group with a running job rejoins the line when that ends, so it comes after all waiting
        groups.
        """
        jobs = sorted(self._queue, key=lambda job: job._number)
        groups = {group for job in jobs for group in job.groups}  # at most one of them is new
        self._in_line = {group: self._in_line.get(group) or next(self._numbers) for group in groups}
        at_work = self._running.groups if self._running else set()
        line = sorted(groups, key=lambda group: (group in at_work, self._in_line[group]))
        self._queue = []
        while jobs:
            job = next(job for job in jobs if line[0] in job.groups)
            jobs.remove(job)
            self._queue.append(job)
            line.sort(key=lambda group: group in job.groups)  # stable: others keep their order
            still = {group for job in jobs for group in job.groups}
            line = [group for group in line if group in still]

    def _behind(self, groups: Iterable[str]) -> None:
        """Move groups that have had their turn to the end of the line, if they have queued jobs."""
        for group in sorted(self._in_line.keys() & groups, key=lambda item: self._in_line[item]):
            self._in_line[group] = next(self._numbers)
        self._line_up()

    def _make_room(self, group: str) -> bool:
        """Cancel the last queued job whose groups all keep more queued jobs than `group` has.

        The new job of `group` is not counted. Returns False if there is no such job.
        """
        waiting = Counter(group for job in self._queue for group in job.groups)
        for job in reversed(self._queue):
            if min(waiting[group] for group in job.groups) > waiting[group] + 1:
                job._error = UserError(
                    "queue_full", str(QueueFullError(len(self._queue))), waiting=len(self._queue)
                )
                self._drop(job)
                return True
        return False

    def _start(self) -> None:
        if self._worker is None:
            self._worker = threading.Thread(target=self._work, name="seqviz-jobs", daemon=True)
            self._worker.start()

    def _work(self) -> None:
        me = threading.current_thread()
        while True:
            with self._lock:
                self._changed.wait_for(lambda: self._queue or self._closed)
                self._sweep()
                if self._closed:
                    return
                if not self._queue:
                    continue
                job = self._running = self._queue.pop(0)
                job._state, job._started = "running", self._clock()
                job._heard = job._started
                self._line_up()
            log.info("jobs: run started", extra={"job": job._name})
            self._run(job)
            with self._lock:
                if me in self._abandoned:  # a new worker thread has replaced this one
                    self._abandoned.discard(me)
                    return

    def _run(self, job: Job[Any]) -> None:
        def report(record: object, fraction: float | None = None) -> None:
            with self._lock:
                job._heard = self._clock()
                self._sweep()
                if job._unwanted or job._ended is not None:
                    raise CancelledError
                job._keep(record)
                share = getattr(record, "fraction", None) if fraction is None else fraction
                if share is not None:
                    job._fraction = min(max(float(share), 0.0), 1.0)

        result, failure = None, None
        try:
            result = _run_with_retry(job, report)
            state: State = "done"
        except CancelledError:
            state = "cancelled"
        except BaseException as error:  # the worker survives any exception of a job
            failure = explained(error)
            traceback.clear_frames(error.__traceback__)  # releases the data of the failed job
            state = "failed"
        with self._lock:
            if job._ended is not None:  # timed out: the result is discarded
                return
            if failure is not None and not isinstance(failure, ValueError):
                log.error("jobs: run failed: %s", job._name, exc_info=failure)
            job._result, job._error = result, failure
            self._running = None
            self._end(job, "cancelled" if job._unwanted else state)
            self._remember(job)

    def _remember(self, job: Job[Any]) -> None:
        if job._state != "cancelled":
            self._kept[job._key] = job
            self._kept.move_to_end(job._key)
            while len(self._kept) > self._keep:
                self._kept.popitem(last=False)

    def _sweep(self) -> None:
        """Cancel jobs without live owners, and time out a job that has stopped reporting."""
        now = self._clock()
        oldest = now - self._abandon_after
        for job in self._active():
            if (
                max(
                    (subscription.seen for subscription in job._subscriptions.values()),
                    default=oldest,
                )
                < oldest
            ):
                self._drop(job)
        if self._running is not None and now - self._running._heard > self._stall_after:
            self._give_up(self._running)

    def _give_up(self, job: Job[Any]) -> None:
        """Abandon the thread of a job that timed out; the next job gets a new one."""
        log.error(
            "jobs: run timed out after %.0f s without a report: %s", self._stall_after, job._name
        )
        assert self._worker is not None
        self._abandoned.add(self._worker)
        self._worker = self._running = None
        job._error = UserError(
            "job_hung",
            f"This run has not moved for {self._stall_after:.0f} s and was given up.",
            seconds=f"{self._stall_after:.0f}",
        )
        self._end(job, "cancelled" if job._unwanted else "failed", given_up=True)
        self._remember(job)
        if self._stuck():
            for other in [*self._queue]:
                self._queue.remove(other)
                self._refuse(other)
        elif self._queue:
            self._start()

    def _stuck(self) -> bool:
        return len(self._abandoned) >= self._most_left

    def _refuse(self, job: Job[Any]) -> None:
        """Fail a job for which no thread can be started."""
        job._error = UserError(
            "queue_stuck",
            f"No run can start: {len(self._abandoned)} earlier ones never came to an end. Restart "
            "the app.",
            count=len(self._abandoned),
        )
        self._end(job, "failed")
        self._remember(job)

    def _drop(self, job: Job[Any]) -> None:
        """Cancel a job: at once where it is queued, at its next report where it runs."""
        job._unwanted = True
        if job in self._queue:
            self._queue.remove(job)
            self._end(job, "cancelled")

    def _end(self, job: Job[Any], state: State, given_up: bool = False) -> None:
        job._ended = self._clock()
        job._state = state
        job._call = None  # releases the arguments
        had_their_turn = job.groups if job._started is not None else ()
        job._subscriptions.clear()
        self._behind(had_their_turn)
        how = "timed_out" if given_up else state
        setattr(self.tally, how, getattr(self.tally, how) + 1)
        self.tally.seconds += job.seconds
        log.info(
            "jobs: run ended",
            extra={"job": job._name, "how": how, "seconds": round(job.seconds, 1)},
        )
        self._changed.notify_all()


_defaults: dict[str, JobQueue] = {}
_defaults_lock = threading.Lock()


def queue_for(device: str = "cpu") -> JobQueue:
    """Return the process-wide queue of a device."""
    with _defaults_lock:
        if device not in _defaults:
            _defaults[device] = JobQueue(
                capacity=settings.value("SEQVIZ_QUEUE"),
                stall_after=settings.value("SEQVIZ_STALL_SECONDS"),
            )
        return _defaults[device]


def all_queues() -> dict[str, JobQueue]:
    """Return the queues created so far, by device."""
    with _defaults_lock:
        return dict(_defaults)


def _run_with_retry(job: Job[T], report: Report) -> T:
    """Return the result of the job, with one retry where `retry_hook` provides other arguments."""
    call = job.call
    if remote_executor is not None and (outcome := remote_executor(job, report)) is not None:
        result: T = outcome[0]
        return result
    try:
        return call(report=report)
    except Exception as error:
        keywords = {**call.keywords, "device": job.device}
        again = retry_hook(error, keywords) if retry_hook else None
        if again is None:
            raise
        traceback.clear_frames(error.__traceback__)  # frees the tensors on the device
    arguments, job.note = again
    job.device = str(arguments.pop("device"))
    log.warning("jobs: run restarted on %s: %s", job.device, job._name)
    return call.func(*call.args, report=report, **on_device(call.func, arguments, job.device))
