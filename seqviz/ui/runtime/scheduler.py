"""Priority scheduler for everything that takes CPU time in this process.

Python switches between threads every millisecond. Ten benches that are rendered concurrently all
finish at the end; rendered one after the other, half of the students have theirs in half the time,
and the thread that sends messages competes with one thread instead of ten.

Invariants (reasons in docs/scheduler.md; `benchmarks.scheduler` compares them with simpler rules):

* One ticket computes. Once it has run for OVERLAP_AFTER_S another starts beside it, up to SLOTS of
  the starting ticket's priority: an interaction has a slot beside two long pages, an export does
  not, and two exports never run at once.
* A ticket is *slow* if it is a page or an export, if its client has used at least USAGE_STEP_S, or
  if its turns of this priority usually take OVERLAP_AFTER_S. Beside a slow ticket one that is not
  slow, of the same or a higher priority, starts at once. Slow interactions do not get the last
  INTERACTION slot.
* Order of priorities: interaction, page, dependent bench, drag, export. No priority starves: its
  first ticket is due after MAX_SKIPS others (and after due tickets of higher priorities).
* Within a priority the client with the lowest recent usage goes first, in steps of USAGE_STEP_S:
  a client that has just arrived equals one that interacts now and then. Among equals the earliest
  deadline goes first: time of arrival plus AGING_FACTOR times the usual CPU time of such a turn,
  at most MAX_WAIT_S.
* One client has MAX_PER_CLIENT slots, or one where its usage is a step or more: no client fills
  all.
* A client whose recent usage exceeds HEAVY_USAGE_S goes last and never concurrently. After
  MAX_WAIT_S in the queue its usage is ignored (aging).
* A ticket that has computed for STUCK_AFTER_S frees its slot and runs on: a computation that hangs
  blocks none. At most MAX_CONCURRENT tickets compute in all; if so many hang at once, others wait
  for the first to end. The last RESERVED_SLOTS of these are not for slow tickets: many slow ones
  that slow each other down would all appear stuck, and an interaction of 10 ms would wait for them.
* A ticket that is released while it waits never starts.
* A waiting caller learns its queue position every NOTIFY_EVERY_S.

`draw_queue()` is the public entry.
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
    """Priority of a ticket; those without a figure on the screen come before updates."""

    INTERACTION = 0
    PAGE = 1
    DEPENDENT = 2  # a bench that depends on one whose settings changed
    DRAG = 3  # a value that the drag will soon replace, or a prefetch
    EXPORT = 4


SLOTS = {
    Priority.INTERACTION: 3,
    Priority.PAGE: 2,
    Priority.DEPENDENT: 2,
    Priority.DRAG: 2,
    Priority.EXPORT: 1,
}
# Tickets of other priorities that start before a waiting one is due.
MAX_SKIPS = {Priority.PAGE: 3, Priority.DEPENDENT: 15, Priority.DRAG: 15, Priority.EXPORT: 30}
OVERLAP_AFTER_S = 0.1  # most benches render in less
USAGE_STEP_S = 1.0  # CPU seconds
HEAVY_USAGE_S = 4.0  # CPU seconds
AGING_FACTOR = 20.0  # seconds of deadline per expected CPU second
MAX_WAIT_S = 10.0
STUCK_AFTER_S = 3.0
MAX_CONCURRENT = 8
RESERVED_SLOTS = 3
MAX_PER_CLIENT = 2
NOTIFY_EVERY_S = 3.0
TICK_S = 0.02  # seconds between two dispatches while tickets wait
log = logging.getLogger(__name__)
_mine: ContextVar[Ticket | None] = ContextVar("mine", default=None)


class SchedulerClient(Protocol):
    """A client that computations are scheduled and charged for."""

    @property
    def recent_cpu_s(self) -> float:
        """Recently used CPU seconds."""

    def expected_cpu_s(self, rank: Priority, /) -> float:
        """Return the usual CPU seconds of a turn of this priority."""


@dataclass(frozen=True)
class SystemClient:
    """The server itself: it has used nothing."""

    recent_cpu_s: float = 0.0

    def expected_cpu_s(self, _rank: Priority, /) -> float:
        """Return 0: work of the server has no backlog to age by."""
        return 0.0


@dataclass(eq=False)
class Ticket:
    """A request to compute.

    Attributes:
        rank: its priority.
        enqueued_at: `time.monotonic()` in seconds.
        user: client that it is scheduled for.
        begin: called under the scheduler's lock when the ticket gets a slot.
    """

    rank: Priority
    enqueued_at: float
    user: SchedulerClient = field(default_factory=SystemClient)
    begin: Callable[[], object] = field(default=lambda: None, repr=False)

    def step(self, now: float) -> int:
        """Return the client's recent usage in steps of USAGE_STEP_S; 0 after MAX_WAIT_S."""
        return (
            0
            if now - self.enqueued_at >= MAX_WAIT_S
            else int(self.user.recent_cpu_s // USAGE_STEP_S)
        )

    def deadline(self) -> float:
        """Return the time by which tickets of equal usage are ordered, earliest first."""
        return self.enqueued_at + min(
            MAX_WAIT_S, AGING_FACTOR * self.user.expected_cpu_s(self.rank)
        )

    def slow(self, now: float) -> bool:
        """Return True where the ticket takes long or its client has used much."""
        long = (
            self.rank in (Priority.PAGE, Priority.EXPORT)
            or self.user.expected_cpu_s(self.rank) >= OVERLAP_AFTER_S
        )
        return long or self.step(now) > 0

    def heavy(self, now: float) -> bool:
        """Return True where the ticket goes after all others."""
        return self.step(now) * USAGE_STEP_S >= HEAVY_USAGE_S


class Scheduler:
    """The scheduling rules without threads; callers pass the time.

    Attributes:
        drawing: start time of each ticket that computes.
    """

    def __init__(self) -> None:
        self.drawing: dict[Ticket, float] = {}
        self._queues: dict[Priority, list[Ticket]] = {rank: [] for rank in Priority}
        self._passed = dict.fromkeys(MAX_SKIPS, 0)

    @property
    def waiting(self) -> int:
        """Number of waiting tickets."""
        return sum(map(len, self._queues.values()))

    def enqueue(self, ticket: Ticket) -> None:
        """Add a waiting ticket."""
        self._queues[ticket.rank].append(ticket)

    def queue_position(self, ticket: Ticket, now: float) -> int:
        """Return the number of waiting tickets before this one; MAX_SKIPS is not considered."""

        def sort_key(other: Ticket) -> tuple[bool, Priority, int, float]:
            return other.heavy(now), other.rank, other.step(now), other.deadline()

        mine = sort_key(ticket)
        return sum(sort_key(other) < mine for queue in self._queues.values() for other in queue)

    def release(self, ticket: Ticket) -> None:
        """Remove a ticket that has computed or no longer waits."""
        if ticket in self.drawing:
            del self.drawing[ticket]
        else:
            self._queues[ticket.rank].remove(ticket)

    def dispatch(self, now: float) -> list[Ticket]:
        """Start all tickets that may start now and return them."""
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
        """Return the next ticket that may start; None beside a fast one that has just started."""
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
        """Return True where a ticket may start.

        Args:
            ticket: the waiting ticket.
            now: time in seconds.
            counted: occupied slots.
            young: tickets that started less than OVERLAP_AFTER_S ago.
        """
        slow = ticket.slow(now)
        limit = (
            1
            if ticket.heavy(now)
            else SLOTS[ticket.rank] - (slow and ticket.rank == Priority.INTERACTION)
        )
        if counted >= limit or (
            slow and (young or len(self.drawing) >= MAX_CONCURRENT - RESERVED_SLOTS)
        ):
            return False
        if ticket.rank == Priority.EXPORT and any(
            other.rank == Priority.EXPORT for other in self.drawing
        ):
            return False  # even where that one has lost its slot as stuck
        own = sum(other.user is ticket.user for other in self.drawing)
        return own < (1 if ticket.step(now) else MAX_PER_CLIENT)


class DrawQueue:
    """Thread-safe scheduler: callers block or await until they get a slot."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._order = Scheduler()
        self._somebody = threading.Event()
        self._watch: threading.Thread | None = None

    @property
    def waiting(self) -> int:
        """Number of waiting tickets."""
        with self._lock:
            return self._order.waiting

    @property
    def busy(self) -> bool:
        """True where a ticket computes or waits."""
        with self._lock:
            return bool(self._order.drawing or self._order.waiting)

    @contextmanager
    def slot(
        self,
        rank: Priority,
        user: SchedulerClient | None = None,
        notify: Callable[[int], object] | None = None,
    ) -> Iterator[None]:
        """Wait for a slot and hold it while the body runs.

        Args:
            rank: priority of the ticket.
            user: client that it is scheduled for; default: the server.
            notify: called with the queue position every NOTIFY_EVERY_S; an exception ends the wait.
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
        """Release this thread's slot while the body waits for another device, then wait for a slot.

        No effect in a thread without a slot.
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
        """Await a slot; the caller calls `release` when its thread has computed."""
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
        """Add a ticket; `begin` is called, in any thread, when it gets a slot."""
        ticket = Ticket(rank, time.monotonic(), user or SystemClient(), begin)
        with self._lock:
            self._order.enqueue(ticket)
            self._dispatch()
        return ticket

    def release(self, ticket: Ticket) -> None:
        """Free the slot of a ticket, or remove it from the queue."""
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
        """Dispatch every TICK_S while tickets wait, because slots also become free with time."""
        while self._somebody.wait():
            time.sleep(TICK_S)
            try:
                with self._lock:
                    self._dispatch()
            except Exception:  # the thread must go on, or the queue stops
                log.exception("scheduler: a dispatch failed")


@contextmanager
def holding(ticket: Ticket) -> Iterator[None]:
    """Make a ticket's slot that of this thread while the body runs."""
    token = _mine.set(ticket)
    try:
        yield
    finally:
        _mine.reset(token)


@cache
def draw_queue() -> DrawQueue:
    """Return the queue of this process."""
    return DrawQueue()


device.yield_slot = lambda: draw_queue().yield_slot()
