"""Who computes next: everything that takes time in this process waits here for its turn.

Python runs one thread at a time and lets them take turns of a millisecond. Of ten benches that are
drawn so at once, each is ready when almost all are. Drawn one after the other, half of the students
have theirs in half the time, and the thread that sends the messages shares with one other, not ten.

What always holds (docs/scheduler.md says why; `benchmarks.scheduler` compares it with classes):

* One computes. Where it has done so for OVERLAP_AFTER_S another begins beside it, up to SLOTS
  of the kind that begins: there is a place for a press beside two long pages, none for a file
  beside them, and never are two files made at a time.
* Slow are pages, files, who is a step behind, and whose turns of this kind usually take
  OVERLAP_AFTER_S. Beside them another of their kind, or one before it, that is not slow begins at
  once; the last place of a press is not for them.
* A press goes before a page, a page before what follows, that before a picture under a hand that
  moves on, and a file comes last. But no kind is passed over for ever: one that waits goes after
  MAX_SKIPS others at the latest (and after kinds before it whose turn is due as well).
* Within a kind whoever has used least of late goes first, counted in steps of USAGE_STEP_S: who has
  just come and who presses now and then are equal. Of equals, whoever has waited longest for its
  length goes first: for each second that a turn of theirs of this kind usually takes, others may go
  before who come AGING_FACTOR seconds later.
* One client computes MAX_PER_CLIENT things at a time, one where it is a step behind: nobody
  fills all places.
* Who has used HEAVY_USAGE_S of late comes after everybody else, and only alone. Whoever has waited
  MAX_WAIT_S comes as if nothing had been used.
* One that has computed for STUCK_AFTER_S has lost its place and goes on beside: a computation that
  hangs stops nobody. Never more than MAX_CONCURRENT compute in all: if so many hang at once,
  others wait for the first of them to end. The last RESERVED_SLOTS of these are not for who is
  slow: where many slow ones slow each other down they all hang, and a press of 10 ms would stand
  behind them.
* Who gives up while it waits is not begun.
* Who waits longer than NOTIFY_EVERY_S is told how many are before it, and again and again.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache
from typing import Protocol

from seqviz.models import device


class Priority(IntEnum):
    """Who comes first where several wait: whoever has nothing to look at before who has."""

    INTERACTION = 0
    PAGE = 1
    DEPENDENT = 2  # a bench that builds on one that has been moved
    DRAG = 3  # under a hand that will want another one soon, or that only may want it
    EXPORT = 4


SLOTS = {
    Priority.INTERACTION: 3,
    Priority.PAGE: 2,
    Priority.DEPENDENT: 2,
    Priority.DRAG: 2,
    Priority.EXPORT: 1,
}
# Turns of others, then it is theirs.
MAX_SKIPS = {Priority.PAGE: 3, Priority.DEPENDENT: 15, Priority.DRAG: 15, Priority.EXPORT: 30}
OVERLAP_AFTER_S = 0.1  # seconds; most benches are drawn in less
USAGE_STEP_S = 1.0  # seconds of the processor
HEAVY_USAGE_S = 4.0
AGING_FACTOR = 20.0
MAX_WAIT_S = 10.0  # seconds
STUCK_AFTER_S = 3.0
MAX_CONCURRENT = 8
RESERVED_SLOTS = 3
MAX_PER_CLIENT = 2
NOTIFY_EVERY_S = 3.0
TICK_S = 0.02  # seconds between two looks at whether another may begin, while anybody waits
log = logging.getLogger(__name__)
_mine: ContextVar[Ticket | None] = ContextVar("mine", default=None)


class SchedulerClient(Protocol):
    """For whom something is computed."""

    @property
    def recent_cpu_s(self) -> float:
        """Seconds of the processor that it has used of late."""

    def expected_cpu_s(self, rank: Priority, /) -> float:
        """Seconds of the processor that one of its turns takes, as the last of this kind did."""


@dataclass(frozen=True)
class SystemClient:
    """What the server does by itself."""

    recent_cpu_s: float = 0.0

    def expected_cpu_s(self, _rank: Priority, /) -> float:
        """Nothing that others would have to wait for."""
        return 0.0


@dataclass(eq=False)
class Ticket:
    """A request to compute; enqueued_at: seconds. begin: called, under a lock, when it may."""

    rank: Priority
    enqueued_at: float
    user: SchedulerClient = field(default_factory=SystemClient)
    begin: Callable[[], object] = field(default=lambda: None, repr=False)

    def step(self, now: float) -> int:
        """How far behind others of its kind."""
        return (
            0
            if now - self.enqueued_at >= MAX_WAIT_S
            else int(self.user.recent_cpu_s // USAGE_STEP_S)
        )

    def deadline(self) -> float:
        """When it has waited long enough for its length: of equals the earliest goes first."""
        return self.enqueued_at + min(
            MAX_WAIT_S, AGING_FACTOR * self.user.expected_cpu_s(self.rank)
        )

    def slow(self, now: float) -> bool:
        """Whether it takes long, or its user has used much."""
        long = (
            self.rank in (Priority.PAGE, Priority.EXPORT)
            or self.user.expected_cpu_s(self.rank) >= OVERLAP_AFTER_S
        )
        return long or self.step(now) > 0

    def heavy(self, now: float) -> bool:
        """Whether it comes after everybody else."""
        return self.step(now) * USAGE_STEP_S >= HEAVY_USAGE_S


class Scheduler:
    """Who may compute, without threads: times are given. drawing: since when each does."""

    def __init__(self) -> None:
        self.drawing: dict[Ticket, float] = {}
        self._queues: dict[Priority, list[Ticket]] = {rank: [] for rank in Priority}
        self._passed = dict.fromkeys(MAX_SKIPS, 0)

    @property
    def waiting(self) -> int:
        """How many wait."""
        return sum(map(len, self._queues.values()))

    def enqueue(self, ticket: Ticket) -> None:
        """One more wants to compute."""
        self._queues[ticket.rank].append(ticket)

    def queue_position(self, ticket: Ticket, now: float) -> int:
        """How many of those that wait go first, as things stand; passed over is nobody here."""

        def sort_key(subset: Ticket) -> tuple[bool, Priority, int, float]:
            return subset.heavy(now), subset.rank, subset.step(now), subset.deadline()

        mine = sort_key(ticket)
        return sum(sort_key(some) < mine for queue in self._queues.values() for some in queue)

    def release(self, ticket: Ticket) -> None:
        """It has computed, or waits no more."""
        if ticket in self.drawing:
            del self.drawing[ticket]
        else:
            self._queues[ticket.rank].remove(ticket)

    def dispatch(self, now: float) -> list[Ticket]:
        """Those that may compute from now on."""
        admitted: list[Ticket] = []
        while self.waiting and (ticket := self._next(now)) is not None:
            self._queues[ticket.rank].remove(ticket)
            for rank in MAX_SKIPS:
                self._passed[rank] += bool(self._queues[rank])
            if ticket.rank in MAX_SKIPS:
                self._passed[ticket.rank] = 0
            admitted.append(ticket)
            self.drawing[ticket] = now
        return admitted

    def _next(self, now: float) -> Ticket | None:
        """The first that there is a place for; none beside one that has only just begun."""
        counted = sum(now - since < STUCK_AFTER_S for since in self.drawing.values())
        young = [item for item, since in self.drawing.items() if now - since < OVERLAP_AFTER_S]
        if len(self.drawing) >= MAX_CONCURRENT or not all(item.slow(now) for item in young):
            return None
        heads = []
        for rank, queue in self._queues.items():
            before = all(rank <= item.rank for item in young)
            able = [item for item in queue if before and self._has_place(item, now, counted, young)]
            if able:
                head = min(able, key=lambda item: (item.step(now), item.deadline()))
                due = self._passed.get(rank, 0) >= MAX_SKIPS.get(rank, 1)
                heads.append((head.heavy(now), not due, rank, head))
        return min(heads, key=lambda result: result[:3])[3] if heads else None

    def _has_place(self, ticket: Ticket, now: float, counted: int, young: list[Ticket]) -> bool:
        """counted: places that are taken. young: those that have only just begun."""
        slow = ticket.slow(now)
        positions = (
            1
            if ticket.heavy(now)
            else SLOTS[ticket.rank] - (slow and ticket.rank == Priority.INTERACTION)
        )
        if counted >= positions or (
            slow and (young or len(self.drawing) >= MAX_CONCURRENT - RESERVED_SLOTS)
        ):
            return False
        if ticket.rank == Priority.EXPORT and any(
            other.rank == Priority.EXPORT for other in self.drawing
        ):
            return False  # however long that one takes
        own = sum(other.user is ticket.user for other in self.drawing)
        return own < (1 if ticket.step(now) else MAX_PER_CLIENT)


class DrawQueue:
    """The places to compute; who finds them taken waits."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._order = Scheduler()
        self._somebody = threading.Event()
        self._watch: threading.Thread | None = None

    @property
    def waiting(self) -> int:
        """How many wait."""
        with self._lock:
            return self._order.waiting

    @property
    def busy(self) -> bool:
        """Whether whoever comes now has to wait."""
        with self._lock:
            return bool(self._order.drawing or self._order.waiting)

    @contextmanager
    def slot(
        self,
        rank: Priority,
        user: SchedulerClient | None = None,
        notify: Callable[[int], object] | None = None,
    ) -> Iterator[None]:
        """Within, this thread computes.

        notify: is given how many are before it, each `TELL` seconds; what it raises ends the wait.
        """
        turn = threading.Event()
        me = self.enqueue(rank, turn.set, user)
        try:
            while not turn.wait(NOTIFY_EVERY_S if notify else None):
                with self._lock:
                    before = self._order.queue_position(me, time.monotonic())
                if notify and not turn.is_set():
                    notify(before)
            with holding(me):
                yield
        finally:
            self.release(me)

    @contextmanager
    def yield_slot(self) -> Iterator[None]:
        """Within, this thread waits for another device: its place is for others until it is back.

        Nothing changes for a thread without a place.
        """
        me = _mine.get()
        if me is None:
            yield
            return
        self.release(me)
        try:
            yield
        finally:
            back = threading.Event()
            me.begin = back.set
            with self._lock:
                self._order.enqueue(me)
                self._dispatch()
            back.wait()

    async def acquire(self, rank: Priority, user: SchedulerClient) -> Ticket:
        """Returns when a thread may compute; who asked calls `leave` when it has."""
        loop = asyncio.get_running_loop()
        turn = loop.create_future()

        here = threading.get_ident()

        def reach() -> None:
            if not turn.done():
                turn.set_result(None)

        def begin() -> None:
            if threading.get_ident() == here:
                reach()
            else:
                loop.call_soon_threadsafe(reach)

        me = self.enqueue(rank, begin, user)
        try:
            await turn
        except asyncio.CancelledError:
            self.release(me)
            raise
        return me

    def enqueue(
        self, rank: Priority, begin: Callable[[], object], user: SchedulerClient | None = None
    ) -> Ticket:
        """One more wants to compute; `begin` is called when it may, in any thread."""
        ticket = Ticket(rank, time.monotonic(), user or SystemClient(), begin)
        with self._lock:
            self._order.enqueue(ticket)
            self._dispatch()
        return ticket

    def release(self, ticket: Ticket) -> None:
        """It has computed, or waits no more."""
        with self._lock:
            self._order.release(ticket)
            self._dispatch()

    def _dispatch(self) -> None:
        for ticket in self._order.dispatch(time.monotonic()):
            ticket.begin()
        if not self._order.waiting:
            self._somebody.clear()
        elif not self._somebody.is_set():
            self._somebody.set()
            if self._watch is None:
                self._watch = threading.Thread(target=self._look, daemon=True, name="draw-queue")
                self._watch.start()

    def _look(self) -> None:
        """Places come free by time, too."""
        while self._somebody.wait():
            time.sleep(TICK_S)
            try:
                with self._lock:
                    self._dispatch()
            except Exception:  # else nobody would look any more
                log.exception("nobody could be let in")


@contextmanager
def holding(ticket: Ticket) -> Iterator[None]:
    """Within, this thread computes in this place."""
    token = _mine.set(ticket)
    try:
        yield
    finally:
        _mine.reset(token)


@cache
def draw_queue() -> DrawQueue:
    """The one of this process."""
    return DrawQueue()


device.yield_slot = lambda: draw_queue().yield_slot()
