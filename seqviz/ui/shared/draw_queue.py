"""Who draws next: one bench at a time, a student's press before everything else.

Python runs one thread at a time and lets them take turns of a millisecond. Of ten benches that are
drawn so at once, each is ready when almost all are. Drawn one after the other, half of the students
have theirs in half the time, and the thread that sends the messages shares with one other, not ten.
"""

from __future__ import annotations

import heapq
import threading
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


# Seconds after which one that waits draws beside the one that takes so long: a model that reads a
# text for a second, or a computation that hangs, stops nobody.
PATIENCE = {Rank.PRESS: 0.25, Rank.PAGE: 1.0, Rank.FOLLOWING: 2.0}


@dataclass(order=True)
class _Waiting:
    rank: Rank
    number: int
    turn: threading.Event = field(default_factory=threading.Event, compare=False)


class DrawQueue:
    """One place to draw; who finds it taken waits, at most for PATIENCE."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._drawing = 0
        self._came = 0
        self._waiting: list[_Waiting] = []

    @property
    def waiting(self) -> int:
        """How many wait."""
        with self._lock:
            return len(self._waiting)

    @contextmanager
    def turn(self, rank: Rank) -> Iterator[None]:
        """Within, this thread draws."""
        self._enter(rank)
        try:
            yield
        finally:
            self._leave()

    def _enter(self, rank: Rank) -> None:
        with self._lock:
            if not self._drawing:
                self._drawing = 1
                return
            self._came += 1
            me = _Waiting(rank, self._came)
            heapq.heappush(self._waiting, me)
        if me.turn.wait(PATIENCE[rank]):
            return
        with self._lock:
            if not me.turn.is_set():  # else the turn came at the last moment
                self._waiting.remove(me)
                heapq.heapify(self._waiting)
                self._drawing += 1

    def _leave(self) -> None:
        with self._lock:
            self._drawing -= 1
            if self._waiting and not self._drawing:
                self._drawing = 1
                heapq.heappop(self._waiting).turn.set()


@cache
def draw_queue() -> DrawQueue:
    """The one of this process."""
    return DrawQueue()
