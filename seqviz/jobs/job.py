"""One piece of long work as a page sees it: its state, its progress, its result, its end."""

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
    """Raised by `report` inside a cancelled job.

    Not an `Exception`, so that a training loop's `except Exception` does not swallow it.
    """


class QueueFullError(RuntimeError):
    """No room in the queue; `waiting` is the number of jobs in it."""

    def __init__(self, waiting: int):
        super().__init__(f"The queue is full: {waiting} runs are waiting, try again in a minute.")
        self.waiting = waiting


@dataclass
class Tally:
    """How the jobs of a queue have ended so far; seconds: how long they ran, all together.

    timed_out: fell silent and were left behind (they count nowhere else).
    """

    done: int = 0
    failed: int = 0
    cancelled: int = 0
    timed_out: int = 0
    seconds: float = 0.0


class Report(Protocol):
    """What a job's function receives as `report`, to be called after every step of its work.

    `record` is anything worth keeping, for instance an epoch's losses; `fraction` is the share of
    the work that is done, by default `record.fraction` where the record has one. Raises
    `CancelledError` when nobody wants the result any more.
    """

    def __call__(self, record: object, fraction: float | None = None) -> None:
        """Report one step."""


def scale_report(report: Report, start: float, stop: float) -> Report:
    """Return the `Report` of a part of the work, which goes from one share of it to another.

    Its records are handed on; a share, reported alone or as a record, is scaled.
    """

    def report_part(record: object, fraction: float | None = None) -> None:
        done = cast(float, record) if fraction is None else fraction
        share = start * (1 - done) + stop * done
        report(share if isinstance(record, float) else record, share)

    return report_part


def on_device(
    function: Callable[..., Any], keywords: Mapping[str, Any], device: str
) -> dict[str, Any]:
    """Return the keywords of a job, with `device` where the function itself computes on it.

    Most functions leave that to a pretrained model, which knows where it is.
    """
    takes_device = "device" in inspect.signature(function).parameters
    return {**keywords, "device": device} if takes_device else dict(keywords)


def no_progress(record: object, fraction: float | None = None) -> None:
    """A `Report` for a notebook, where nobody waits for news."""


@dataclass
class Subscription:
    """That an owner wants a job. group: whose runs count together; seen: when it last asked."""

    group: str
    seen: float


class Keeper(Protocol):
    """What a job needs of the queue that it is in: its lock, its clock, and three answers."""

    _changed: threading.Condition
    _lock: threading.RLock
    _queue: list[Job[Any]]
    _clock: Callable[[], float]

    def _add(self, job: Job[Any], owner: str, group: str) -> None: ...

    def _take_back(self, job: Job[Any], owner: str) -> None: ...

    def _sweep(self) -> None: ...


class Job(Generic[T]):
    """One piece of work in a queue; made by `JobQueue.submit`.

    All attributes may be read at any time. The result is shared by all owners, who must not write
    into it.
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
        self._number = number  # those that came before have smaller ones
        self._call: partial[T] | None = call
        self.device = device  # on which it runs, or has run
        self.note = ""  # why on another than was asked for, or why it began again
        self.where = ""  # the processor of another machine, where that computes
        self._state: State = "queued"
        self._wishes: dict[str, Subscription] = {}  # by owner
        self._unwanted = False
        self._records: list[object] = []
        self._latest: tuple[object, ...] = ()
        self._reported = 0
        self._stride = 1
        self._fraction = 0.0
        self._result: T | None = None
        self._error: BaseException | None = None
        self._started: float | None = None
        self._heard = 0.0  # when it last reported
        self._ended: float | None = None

    @property
    def key(self) -> bytes:
        """What equal work has in common, in any process."""
        return self._key

    @property
    def call(self) -> partial[T]:
        """The work of a job that has not ended, but for its `report`."""
        assert self._call is not None
        return self._call

    @property
    def has_subscribers(self) -> bool:
        """Whether anybody still waits for it."""
        with self._jobs._lock:
            self._jobs._sweep()
            return not self._unwanted and self._ended is None

    def begin_again(self, note: str) -> None:
        """Forget what has been reported: the work begins anew. note: why."""
        with self._jobs._lock:
            self.note, self.where = note, ""
            self._records, self._latest = [], ()
            self._reported, self._stride, self._fraction = 0, 1, 0.0

    @property
    def state(self) -> State:
        """One of queued, running, done, failed, cancelled."""
        return self._state

    @property
    def position(self) -> int | None:
        """Place in the order in which runs begin, 1 is next; None when it is not waiting.

        It may grow: who has no run at work passes who has one.
        """
        with self._jobs._lock:
            return self._jobs._queue.index(self) + 1 if self in self._jobs._queue else None

    @property
    def owners(self) -> int:
        """How many owners share this job while it waits or runs."""
        return len(self._wishes)

    @property
    def groups(self) -> set[str]:
        """The groups of its owners."""
        return {requested.group for requested in self._wishes.values()}

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

    def subscribe(self, owner: str, group: str = "") -> None:
        """Wait for it as well, as if it had been asked for; nothing where it has ended."""
        with self._jobs._lock:
            if self._ended is None and not self._unwanted:
                self._jobs._add(self, owner, group or owner)

    def unsubscribe(self, owner: str) -> None:
        """Take back one owner's wish. The work stops when its last owner has left."""
        with self._jobs._lock:
            self._jobs._take_back(self, owner)

    def heartbeat(self, owner: str) -> None:
        """Say that an owner still waits; a page does so at every poll."""
        with self._jobs._lock:
            if owner in self._wishes:
                self._wishes[owner].seen = self._jobs._clock()
            self._jobs._sweep()  # who waits notices where nothing moves any more

    def wait(self, timeout: float | None = None) -> bool:
        """Block until the job has ended, at most `timeout` seconds; whether it has ended.

        For notebooks and tests: it does not count as a touch.
        """
        last = math.inf if timeout is None else time.monotonic() + timeout
        with self._jobs._changed:
            while self._ended is None and (left := last - time.monotonic()) > 0:
                self._jobs._changed.wait(min(left, _LOOK_SECONDS))
                self._jobs._sweep()
            return self._ended is not None

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


def explained(error: BaseException) -> BaseException:
    """Out of memory of any kind, or no torch, as a refusal that a page can say; else as it is."""
    words = f"{type(error).__name__} {error}"
    kinds = ("MemoryError", "OutOfMemoryError", "allocate memory", "out of memory")  # torch's too
    if isinstance(error, ValueError) or not any(kind in words for kind in kinds):
        return refusal_of(error)
    refusal = UserError("job_no_memory", "This machine has not enough memory for this run.")
    refusal.__cause__ = error
    return refusal
