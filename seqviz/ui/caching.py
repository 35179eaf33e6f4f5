"""Computed once for the whole class: a bounded store of results, shared by all sessions.

Only this module caches. What is kept are results of pure functions (`seqviz.compute`): everybody
gets the same object, whose arrays are made read-only, so a hundred students on one page hold it
once and a look-up copies nothing. The clock runs inside, so a figure can say how long its numbers
took when they were computed.
"""

from __future__ import annotations

import dataclasses
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

import numpy as np
from cachetools import LRUCache

from seqviz import fingerprint, settings
from seqviz.ui.server import metrics, visits

R = TypeVar("R")
MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Timed(Generic[R]):
    """A result and the seconds that its computation took (not the look-up)."""

    result: R
    seconds: float


class Results:
    """At most `room` bytes of results; the least recently asked for go first.

    Threads that ask for the same result at once wait for one computation.
    """

    def __init__(self, room: float):
        self._kept: LRUCache[bytes, Timed[Any]] = LRUCache(room, getsizeof=weight)
        self._lock = threading.Lock()
        self._computing: dict[bytes, threading.Event] = {}

    @property
    def size(self) -> float:
        """Bytes kept."""
        with self._lock:
            return float(self._kept.currsize)

    def ask(self, function: Callable[..., R], *args: Any, **keywords: Any) -> tuple[Timed[R], bool]:
        """`function(*args, **keywords)`, and whether it was kept.

        Raises what the function raises, and TypeError for arguments that cannot be compared by
        value. A result larger than the room is given and not kept.
        """
        key = fingerprint.digest((fingerprint.of_function(function), args, keywords))
        while True:
            with self._lock:
                if (found := self._kept.get(key)) is not None:
                    return found, True
                other = self._computing.get(key)
                if other is None:
                    mine = self._computing[key] = threading.Event()
                    break
            other.wait()
        try:
            started = time.perf_counter()
            result = function(*args, **keywords)
            timed = Timed(frozen(result), time.perf_counter() - started)
            with self._lock, suppress(ValueError):  # too large for the room
                self._kept[key] = timed
            return timed, False
        finally:
            with self._lock:
                del self._computing[key]
            mine.set()

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kept.clear()


def frozen(value: R) -> R:
    """The same object, with all arrays in it read-only."""
    for part in _parts(value):
        if isinstance(part, np.ndarray):
            part.setflags(write=False)
    return value


def weight(value: object) -> float:
    """Bytes that a result takes: its arrays, and roughly what is around them."""
    return sum(
        part.nbytes if isinstance(part, np.ndarray) else sys.getsizeof(part)
        for part in _parts(value)
    )


def _parts(value: Any) -> Iterable[Any]:
    """A value and everything in it."""
    yield value
    inner: Iterable[Any] = ()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        inner = vars(value).values() if hasattr(value, "__dict__") else ()
    elif isinstance(value, dict):
        inner = value.values()
    elif isinstance(value, list | tuple | set | frozenset):
        inner = value
    for part in inner:
        yield from _parts(part)


@cache
def results() -> Results:
    """The results of the whole class, made when they are first asked for."""
    return Results(MEGABYTE * settings.value("SEQVIZ_CACHE_MB"))


def cached(function: Callable[..., R]) -> Callable[..., Timed[R]]:
    """`function`, looked up among the results of the whole class first.

    Each call is counted for the lesson whose page asks.
    """

    def asked(*args: Any, **keywords: Any) -> Timed[R]:
        timed, kept = results().ask(function, *args, **keywords)
        metrics.asked(visits.lesson(), None if kept else timed.seconds)
        return timed

    return asked
