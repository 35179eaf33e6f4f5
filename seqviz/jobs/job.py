"""`Job`: handle of a long computation, with its state, progress and result."""

from __future__ import annotations

import inspect
import math
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, Literal, Protocol, TypeVar, cast

from seqviz.core.errors import UserError
from seqviz.core.lazy_import import refusal_of

State = Literal["queued", "running", "done", "failed", "cancelled"]
T = TypeVar("T")

MAX_TRAIL = 2000
_LOOK_SECONDS = 1.0


class CancelledError(BaseException):
    """Exception that `report` raises inside a cancelled job.

    It is not an `Exception`, so that `except Exception` in a training loop does not swallow it.
    """


class QueueFullError(RuntimeError):
    """Error raised by `submit` where the queue is full.

    Attributes:
        waiting: number of queued jobs.
    """

    def __init__(self, waiting: int):
        super().__init__(f"The queue is full: {waiting} runs are waiting, try again in a minute.")
        self.waiting = waiting


@dataclass
class Tally:
    """Counts of ended jobs of a queue by outcome.

    Attributes:
        done: succeeded.
        failed: raised an exception, or could not start.
        cancelled: cancelled by their owners or by the queue.
        timed_out: stopped reporting; not counted under another outcome.
        seconds: total run time.
    """

    done: int = 0
    failed: int = 0
    cancelled: int = 0
    timed_out: int = 0
    seconds: float = 0.0


class Report(Protocol):
    """Progress callback of a job's function, to be called after every step."""

    def __call__(self, record: object, fraction: float | None = None) -> None:
        """Report one step.

        Args:
            record: data to keep, such as the losses of an epoch.
            fraction: share of the work done; by default `record.fraction`, if it exists.

        Raises:
            CancelledError: the job has no owner any more.
        """


def scale_report(report: Report, start: float, stop: float) -> Report:
    """Return a progress callback for a part of the work.

    A fraction is mapped from [0, 1] to [start, stop]. A record without a fraction has to be a
    float, the fraction itself. The mapped fraction replaces a record that is a float; other records
    are passed on unchanged.

    Args:
        report: callback of the whole job.
        start: fraction of the whole job at which the part begins.
        stop: fraction at which it ends.
    """

    def report_part(record: object, fraction: float | None = None) -> None:
        done = cast(float, record) if fraction is None else fraction
        share = start * (1 - done) + stop * done
        report(share if isinstance(record, float) else record, share)

    return report_part


def on_device(
    function: Callable[..., Any], keywords: Mapping[str, Any], device: str
) -> dict[str, Any]:
    """Return keyword arguments with `device` added where the function has that parameter.

    Most functions have none: a pretrained model knows its device.

    Args:
        function: function of the job.
        keywords: its keyword arguments.
        device: device of the queue.
    """
    takes_device = "device" in inspect.signature(function).parameters
    return {**keywords, "device": device} if takes_device else dict(keywords)


def no_progress(record: object, fraction: float | None = None) -> None:
    """Ignore progress; the `Report` for notebooks.

    Args:
        record: as in `Report`.
        fraction: as in `Report`.
    """


@dataclass
class Subscription:
    """Interest of one owner in a job.

    Attributes:
        group: group of the owner, for fair scheduling.
        seen: time of the owner's last heartbeat.
    """

    group: str
    seen: float


class Keeper(Protocol):
    """Protocol of the queue as seen by its jobs: lock, clock and three operations."""

    _changed: threading.Condition
    _lock: threading.RLock
    _queue: list[Job[Any]]
    _clock: Callable[[], float]

    def _add(self, job: Job[Any], owner: str, group: str) -> None: ...

    def _take_back(self, job: Job[Any], owner: str) -> None: ...

    def _sweep(self) -> None: ...


class Job(Generic[T]):
    """Handle of one computation in a queue, created by `JobQueue.submit`.

    All attributes may be read at any time. All owners share the result and must not modify it.

    Attributes:
        device: device on which it runs or has run.
        note: reason of a change of device or of a restart; "" for none.
        where: processor of the remote machine that runs it; "" for a local run.
    """

    def __init__(
        self,
        jobs: Keeper,
        key: bytes,
        function: bytes,
        call: partial[T],
        name: str = "",
        number: int = 0,
        device: str = "cpu",
    ):
        self._jobs, self._key, self._function = jobs, key, function
        self._name = name  # for the log
        self._number = number  # order of submission
        self._call: partial[T] | None = call
        self.device = device
        self.note = ""
        self.where = ""
        self._state: State = "queued"
        self._subscriptions: dict[str, Subscription] = {}  # by owner
        self._unwanted = False
        self._records: list[object] = []
        self._latest: tuple[object, ...] = ()
        self._reported = 0
        self._stride = 1
        self._fraction = 0.0
        self._result: T | None = None
        self._error: BaseException | None = None
        self._started: float | None = None
        self._heard = 0.0  # time of the last report
        self._ended: float | None = None

    @property
    def key(self) -> bytes:
        """Hash of the function and its arguments, equal in all processes."""
        return self._key

    @property
    def call(self) -> partial[T]:
        """Call of a job that has not ended, without its `report`."""
        assert self._call is not None
        return self._call

    @property
    def has_subscribers(self) -> bool:
        """True while an owner still waits for the job."""
        with self._jobs._lock:
            self._jobs._sweep()
            return not self._unwanted and self._ended is None

    def begin_again(self, note: str) -> None:
        """Discard all reported progress before a restart.

        Args:
            note: reason of the restart.
        """
        with self._jobs._lock:
            self.note, self.where = note, ""
            self._records, self._latest = [], ()
            self._reported, self._stride, self._fraction = 0, 1, 0.0

    @property
    def state(self) -> State:
        """State: "queued", "running", "done", "failed" or "cancelled"."""
        return self._state

    @property
    def position(self) -> int | None:
        """Rank in the order of execution, 1 for the next job; None where it is not queued.

        It may grow: groups without a running job overtake groups with one.
        """
        with self._jobs._lock:
            return self._jobs._queue.index(self) + 1 if self in self._jobs._queue else None

    @property
    def owners(self) -> int:
        """Number of owners who share the job while it is queued or running."""
        return len(self._subscriptions)

    @property
    def groups(self) -> set[str]:
        """Groups of the owners."""
        return {requested.group for requested in self._subscriptions.values()}

    @property
    def fraction(self) -> float:
        """Reported share of the work done, in [0, 1]; 1 when done."""
        return 1.0 if self._state == "done" else self._fraction

    @property
    def trail(self) -> tuple[object, ...]:
        """Records reported so far, evenly thinned to at most 2,000, with the latest as the last."""
        with self._jobs._lock:
            return (*self._records, *self._latest)

    @property
    def result(self) -> T:
        """Return value of the function; raises RuntimeError unless the state is "done"."""
        if self._state != "done":
            raise RuntimeError(f"The job has no result: it is {self._state}.")
        return self._result  # type: ignore[return-value]

    @property
    def error(self) -> BaseException | None:
        """Exception of a failed job, else None."""
        return self._error

    @property
    def seconds(self) -> float:
        """Run time so far, or in total; 0 before the start."""
        started, ended = self._started, self._ended
        if started is None:
            return 0.0
        return (self._jobs._clock() if ended is None else ended) - started

    def subscribe(self, owner: str, group: str = "") -> None:
        """Add an owner, as `submit` does; without effect on a job that has ended.

        Args:
            owner: identifies the waiting client.
            group: group for fair scheduling; by default the owner.
        """
        with self._jobs._lock:
            if self._ended is None and not self._unwanted:
                self._jobs._add(self, owner, group or owner)

    def unsubscribe(self, owner: str) -> None:
        """Remove an owner; a job without owners is cancelled."""
        with self._jobs._lock:
            self._jobs._take_back(self, owner)

    def heartbeat(self, owner: str) -> None:
        """Record that an owner still waits; pages call it at every poll."""
        with self._jobs._lock:
            if owner in self._subscriptions:
                self._subscriptions[owner].seen = self._jobs._clock()
            self._jobs._sweep()  # polls detect a job that has stopped reporting

    def wait(self, timeout: float | None = None) -> bool:
        """Block until the job has ended, for notebooks and tests.

        It does not count as a heartbeat.

        Args:
            timeout: maximum seconds to wait; None for no limit.

        Returns:
            True where the job has ended.
        """
        last = math.inf if timeout is None else time.monotonic() + timeout
        with self._jobs._changed:
            while self._ended is None and (left := last - time.monotonic()) > 0:
                self._jobs._changed.wait(min(left, _LOOK_SECONDS))
                self._jobs._sweep()
            return self._ended is not None

    def _keep(self, record: object) -> None:
        """Keep every `stride`-th record and the latest; double the stride when full."""
        if self._reported % self._stride == 0:
            self._records.append(record)
            self._latest = ()
        else:
            self._latest = (record,)
        self._reported += 1
        if len(self._records) == MAX_TRAIL:
            self._latest = (record,)  # halving an even number of records drops the last
            self._records = self._records[::2]
            self._stride *= 2


def explained(error: BaseException) -> BaseException:
    """Return a UserError for out-of-memory errors and a missing torch, else `error` itself."""
    words = f"{type(error).__name__} {error}"
    kinds = ("MemoryError", "OutOfMemoryError", "allocate memory", "out of memory")  # and torch's
    if isinstance(error, ValueError) or not any(kind in words for kind in kinds):
        return refusal_of(error)
    refusal = UserError("job_no_memory", "This machine has not enough memory for this run.")
    refusal.__cause__ = error
    return refusal
