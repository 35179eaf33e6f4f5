"""Who draws next: one bench at a time, a student's press before everything else.

Python runs one thread at a time and lets them take turns of a millisecond. Of ten benches that are
drawn so at once, each is ready when almost all are. Drawn one after the other, half of the students
have theirs in half the time, and the thread that sends the messages shares with one other, not ten.

What always holds:

* One draws; where somebody has waited for PATIENCE, PLACES of them do.
* A press goes before a page, a page before what follows, and that before a picture under a hand
  that moves on; each kind in the order in which it came. But nobody is passed over for ever: a page
  that waits goes after PASSES others at the latest (and after kinds before it whose turn is due as
  well), the one behind it after as many more.
* One that has drawn for HANGS seconds has lost its place and draws beside: a computation that hangs
  stops nobody. Never more than MOST draw in all: if so many hang at once, others wait for the first
  of them to end.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache


class Rank(IntEnum):
    """Who comes first where several wait: whoever has nothing to look at before who has."""

    PRESS = 0
    PAGE = 1
    FOLLOWING = 2  # a bench that builds on one that has been moved
    MOVING = 3  # under a hand that will want another one soon, or that only may want it


# Seconds after which somebody may draw beside the one that takes so long, such as a model that
# reads a text for a second.
PATIENCE = {Rank.PRESS: 0.25, Rank.PAGE: 1.0, Rank.FOLLOWING: 2.0, Rank.MOVING: 4.0}
PASSES = {Rank.PAGE: 3, Rank.FOLLOWING: 15, Rank.MOVING: 15}  # turns of others, then it is theirs
PLACES = 2
HANGS = 3.0  # seconds
MOST = 8
LOOK = 0.25  # seconds between two looks at whether one hangs, by those who have lost patience


@dataclass(eq=False)
class Waiting:
    """Somebody who wants to draw; came: seconds. turn: set when it may."""

    rank: Rank
    number: int
    came: float
    turn: threading.Event = field(default_factory=threading.Event)


class Order:
    """Who may draw, without threads: times are given. drawing: since when each does."""

    def __init__(self) -> None:
        self.drawing: dict[Waiting, float] = {}
        self._queues: dict[Rank, deque[Waiting]] = {rank: deque() for rank in Rank}
        self._passed = dict.fromkeys(PASSES, 0)
        self._came = 0

    @property
    def waiting(self) -> int:
        """How many wait."""
        return sum(map(len, self._queues.values()))

    def come(self, rank: Rank, now: float) -> Waiting:
        """One more wants to draw."""
        self._came += 1
        self._queues[rank].append(one := Waiting(rank, self._came, now))
        return one

    def leave(self, one: Waiting) -> None:
        """It has drawn."""
        del self.drawing[one]

    def admit(self, now: float) -> list[Waiting]:
        """Those that may draw from now on."""
        admitted = []
        while self.waiting and len(self.drawing) < MOST and self._has_room(now):
            admitted.append(one := self._next())
            self.drawing[one] = now
        return admitted

    def _has_room(self, now: float) -> bool:
        counted = sum(now - since < HANGS for since in self.drawing.values())
        heads = [queue[0] for queue in self._queues.values() if queue]
        impatient = any(now - head.came >= PATIENCE[head.rank] for head in heads)
        return counted < (PLACES if impatient else 1)

    def _next(self) -> Waiting:
        ranks = [rank for rank in Rank if self._queues[rank]]
        due = [r for r in ranks if r in PASSES and self._passed[r] >= PASSES[r]]
        chosen = (due or ranks)[0]
        for rank in PASSES:
            self._passed[rank] += rank in ranks
        if chosen in PASSES:
            self._passed[chosen] = 0
        return self._queues[chosen].popleft()


class DrawQueue:
    """The places to draw; who finds them taken waits."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._order = Order()

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
    def turn(self, rank: Rank) -> Iterator[None]:
        """Within, this thread draws."""
        with self._lock:
            me = self._order.come(rank, time.monotonic())
            self._admit()
        wait = PATIENCE[rank]
        while not me.turn.wait(wait):
            with self._lock:
                self._admit()
            wait = LOOK
        try:
            yield
        finally:
            with self._lock:
                self._order.leave(me)
                self._admit()

    def _admit(self) -> None:
        for one in self._order.admit(time.monotonic()):
            one.turn.set()


@cache
def draw_queue() -> DrawQueue:
    """The one of this process."""
    return DrawQueue()
