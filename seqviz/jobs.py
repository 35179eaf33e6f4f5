"""A bounded queue for long work (training): progress, cancel, one run for equal requests.

One worker thread per device takes one job after another. A page submits, then polls its job; thirty
students who press the same button share one run, and a run whose students have all gone stops.
"""

from __future__ import annotations

import copy
import threading
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, Literal, Protocol, TypeVar

from seqviz import fingerprint

State = Literal["queued", "running", "done", "failed", "cancelled"]
T = TypeVar("T")

MAX_TRAIL = 2000


class Cancelled(BaseException):
    """Raised by `report` inside a cancelled job.

    Not an `Exception`, so that a training loop's `except Exception` does not swallow it.
    """


class QueueFull(RuntimeError):
    """No room in the queue; `waiting` is the number of jobs in it."""

    def __init__(self, waiting: int):
        super().__init__(f"The queue is full: {waiting} runs are waiting, try again in a minute.")
        self.waiting = waiting


class Report(Protocol):
    """What a job's function receives as `report`, to be called after every step of its work.

    `record` is anything worth keeping, for instance an epoch's losses; `fraction` is the share of
    the work that is done, by default `record.fraction` where the record has one. Raises `Cancelled`
    when nobody wants the result any more.
    """

    def __call__(self, record: object, fraction: float | None = None) -> None:
        """Report one step."""


def silent(record: object, fraction: float | None = None) -> None:
    """A `Report` for a notebook, where nobody waits for news."""


class Job(Generic[T]):
    """One piece of work in a queue; made by `Jobs.submit`. All attributes may be read at any time.

    The result is shared by all owners, who must not write into it.
    """

    def __init__(self, jobs: Jobs, key: bytes, function: bytes, call: Callable[..., T]):
        self._jobs, self._key, self._function = jobs, key, function
        self._call: Callable[..., T] | None = call
        self._state: State = "queued"
        self._owners: dict[str, float] = {}  # owner -> when last seen
        self._unwanted = False
        self._records: list[object] = []
        self._latest: tuple[object, ...] = ()
        self._reported = 0
        self._stride = 1
        self._fraction = 0.0
        self._result: T | None = None
        self._error: BaseException | None = None
        self._started: float | None = None
        self._ended: float | None = None

    @property
    def state(self) -> State:
        """One of queued, running, done, failed, cancelled."""
        return self._state

    @property
    def position(self) -> int | None:
        """Place in the queue, 1 is next; None when it is not waiting."""
        with self._jobs._lock:
            return self._jobs._queue.index(self) + 1 if self in self._jobs._queue else None

    @property
    def owners(self) -> int:
        """How many owners share this job while it waits or runs."""
        return len(self._owners)

    @property
    def fraction(self) -> float:
        """Share of the work that is done, in [0, 1], as reported; 1 when done."""
        return 1.0 if self._state == "done" else self._fraction

    @property
    def trail(self) -> tuple[object, ...]:
        """The records reported so far, evenly thinned to at most 2,000; the latest is the last."""
        with self._jobs._lock:
            return (*self._records, *self._latest)

    @property
    def result(self) -> T:
        """What the function returned; raises RuntimeError unless the state is done."""
        if self._state != "done":
            raise RuntimeError(f"The job has no result: it is {self._state}.")
        return self._result  # type: ignore[return-value]

    @property
    def error(self) -> BaseException | None:
        """The exception of a failed job, else None."""
        return self._error

    @property
    def seconds(self) -> float:
        """How long it has been running, or ran; 0 before it starts."""
        started, ended = self._started, self._ended
        if started is None:
            return 0.0
        return (self._jobs._clock() if ended is None else ended) - started

    def leave(self, owner: str) -> None:
        """Take back one owner's wish. The work stops when its last owner has left."""
        with self._jobs._lock:
            if self._owners.pop(owner, None) is not None and not self._owners:
                self._jobs._drop(self)

    def touch(self, owner: str) -> None:
        """Say that an owner still waits; a page does so at every poll."""
        with self._jobs._lock:
            if owner in self._owners:
                self._owners[owner] = self._jobs._clock()

    def wait(self, timeout: float | None = None) -> bool:
        """Block until the job has ended, at most `timeout` seconds; whether it has ended.

        For notebooks and tests: it does not count as a touch.
        """
        with self._jobs._changed:
            return self._jobs._changed.wait_for(lambda: self._ended is not None, timeout)

    def _keep(self, record: object) -> None:
        """Keep every `stride`-th record and the latest; double the stride when space runs out."""
        if self._reported % self._stride == 0:
            self._records.append(record)
            self._latest = ()
        else:
            self._latest = (record,)
        self._reported += 1
        if len(self._records) == MAX_TRAIL:
            self._latest = (record,)  # of an even number of records, halving drops the last
            self._records = self._records[::2]
            self._stride *= 2


class Jobs:
    """A queue with one worker thread.

    `capacity` is how many jobs may wait; `keep` how many ended jobs are kept, the least recently
    asked for going first (failed ones only for `find`: asking again runs anew); a job that no owner
    has touched for `abandon_after` seconds stops (students who closed the browser). `clock` is for
    tests.
    """

    def __init__(
        self,
        capacity: int = 16,
        keep: int = 64,
        abandon_after: float = 90.0,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._capacity, self._keep, self._abandon_after = capacity, keep, abandon_after
        self._clock = clock
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._queue: list[Job[Any]] = []
        self._running: Job[Any] | None = None
        self._kept: OrderedDict[bytes, Job[Any]] = OrderedDict()
        self._worker: threading.Thread | None = None
        self._closed = False

    def submit(
        self, function: Callable[..., T], /, *args: Any, owner: str, **parameters: Any
    ) -> Job[T]:
        """Ask for `function(*args, report=report, **parameters)`; see `Report`.

        Equal work (the same function with equal parameters) that waits, runs or is kept gives the
        same job. An owner waits for one job per function: a new request leaves the former one.
        The parameters are copied, so the caller may go on changing its arrays.

        Raises QueueFull when there is no room, the former job being kept then; TypeError when the
        parameters do not fit the function or cannot be compared by value, or when the function is
        not a module's own (a lambda or a nested function has no lasting name); RuntimeError after
        `close`.
        """
        name = fingerprint.of_function(function)
        key = fingerprint.of_call(function, args, parameters)
        with self._lock:
            if self._closed:
                raise RuntimeError("The queue is closed.")
            self._sweep()
            former = [j for j in self._active() if j._function == name and owner in j._owners]
            job: Job[T] | None = self._known(key)
            if job is None or job._state == "failed":
                freed = sum(j._state == "queued" and len(j._owners) == 1 for j in former)
                if len(self._queue) - freed >= self._capacity:
                    raise QueueFull(len(self._queue))
                args, parameters = copy.deepcopy((args, parameters))
                job = Job(self, key, name, _call(function, args, parameters))
                self._queue.append(job)
                self._start()
            elif job._state == "done":
                self._kept.move_to_end(key)
            if job._ended is None:
                job._owners[owner] = self._clock()
            for other in former:
                if other is not job:
                    other.leave(owner)
            self._changed.notify_all()
            return job

    def find(self, function: Callable[..., T], /, *args: Any, **parameters: Any) -> Job[T] | None:
        """The job of equal work that waits, runs or is kept, done or failed; else None.

        Asking does not make the caller an owner. Raises TypeError as `submit` does.
        """
        key = fingerprint.of_call(function, args, parameters)
        with self._lock:
            self._sweep()
            return self._known(key)

    def close(self, timeout: float = 10.0) -> None:
        """Cancel everything and wait, at most `timeout` seconds, for the worker to stop."""
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
        wanted = [job for job in self._active() if job._key == key and not job._unwanted]
        return wanted[0] if wanted else self._kept.get(key)

    def _start(self) -> None:
        if self._worker is None:
            self._worker = threading.Thread(target=self._work, name="seqviz-jobs", daemon=True)
            self._worker.start()

    def _work(self) -> None:
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
            self._run(job)

    def _run(self, job: Job[Any]) -> None:
        def report(record: object, fraction: float | None = None) -> None:
            with self._lock:
                self._sweep()
                if job._unwanted:
                    raise Cancelled
                job._keep(record)
                share = getattr(record, "fraction", None) if fraction is None else fraction
                if share is not None:
                    job._fraction = min(max(float(share), 0.0), 1.0)

        assert job._call is not None
        try:
            job._result = job._call(report)
            state: State = "done"
        except Cancelled:
            state = "cancelled"
        except BaseException as error:  # whatever the function does, the worker goes on
            job._error = error
            traceback.clear_frames(error.__traceback__)  # a kept failure must not keep the data
            state = "failed"
        with self._lock:
            self._running = None
            self._end(job, "cancelled" if job._unwanted else state)
            if job._state != "cancelled":
                self._kept[job._key] = job
                self._kept.move_to_end(job._key)
                while len(self._kept) > self._keep:
                    self._kept.popitem(last=False)

    def _sweep(self) -> None:
        """Drop the jobs that none of their owners has touched for too long."""
        oldest = self._clock() - self._abandon_after
        for job in self._active():
            if max(job._owners.values(), default=oldest) < oldest:
                self._drop(job)

    def _drop(self, job: Job[Any]) -> None:
        """Cancel: at once when it waits, at its next report when it runs."""
        job._unwanted = True
        if job in self._queue:
            self._queue.remove(job)
            self._end(job, "cancelled")

    def _end(self, job: Job[Any], state: State) -> None:
        job._ended = self._clock()
        job._state = state
        job._call = None  # lets go of the parameters
        job._owners.clear()
        self._changed.notify_all()


_defaults: dict[str, Jobs] = {}
_defaults_lock = threading.Lock()


def default(device: str = "cpu") -> Jobs:
    """The queue of a device, one for the whole process."""
    with _defaults_lock:
        return _defaults.setdefault(device, Jobs())


def _call(
    function: Callable[..., T], args: tuple[Any, ...], parameters: dict[str, Any]
) -> Callable[[Report], T]:
    return lambda report: function(*args, report=report, **parameters)
