"""Computed and drawn once for the whole class: a bounded store, shared by all sessions.

Only this module caches. What is kept are results of pure functions (`seqviz.compute`) and figures
made of them. Everybody gets the same object, whose arrays are made read-only, so a hundred students
on one page hold it once and a look-up copies nothing. The clock runs inside, so a figure can say
how long its numbers took when they were computed.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar

import numpy as np
from cachetools import LRUCache

from seqviz.core import content_hash, settings
from seqviz.lessons.framework.host import Computed
from seqviz.lessons.framework.output import RenderedFigure
from seqviz.plotting.figure import Figure
from seqviz.ui.runtime import metrics, run_context

R = TypeVar("R")
MEGABYTE = 1_000_000
NEW = 0.3  # share of the room for what has been asked for once


class ResultCache:
    """At most `room` bytes: one shelf for what was asked for once, one for what was asked again.

    On each, the least recently asked for goes first. So a hundred sliders in motion do not push out
    the page that the whole class has open. What a class is sent counts as asked for again. Threads
    that ask for one thing at once wait for one computation.
    """

    def __init__(self, room: float):
        self._once: LRUCache[bytes, Computed[Any]] = LRUCache(NEW * room, getsizeof=size_of)
        self._again: LRUCache[bytes, Computed[Any]] = LRUCache((1 - NEW) * room, getsizeof=size_of)
        self._lock = threading.Lock()
        self._computing: dict[bytes, threading.Event] = {}

    @property
    def size(self) -> float:
        """Bytes kept."""
        with self._lock:
            return float(self._once.currsize + self._again.currsize)

    def peek(self, key: bytes) -> Any:
        """What is kept under a key; None where nothing is."""
        with self._lock:
            result = self._look(key)
        return None if result is None else result.result

    def get_or_compute(
        self, key: bytes, compute: Callable[[], R], shared: bool = False
    ) -> Computed[R]:
        """What is kept under a key, else what `compute` gives; raises what it raises.

        shared: a whole class is sent it. What is larger than a shelf is given and not kept.
        """
        while True:
            with self._lock:
                if (outcome := self._look(key)) is not None:
                    return dataclasses.replace(outcome, is_cached=True)
                other = self._computing.get(key)
                if other is None:
                    mine = self._computing[key] = threading.Event()
                    break
            other.wait()
        try:
            started = time.perf_counter()
            result = compute()
            computed = Computed(make_read_only(result), time.perf_counter() - started)
            content_hash.name_value(result, key)
            with self._lock, suppress(ValueError):  # too large for the shelf
                (self._again if shared else self._once)[key] = computed
            return computed
        finally:
            with self._lock:
                del self._computing[key]
            mine.set()

    def _look(self, key: bytes) -> Computed[Any] | None:
        if (result := self._again.get(key)) is not None:
            return result
        if (result := self._once.get(key)) is not None:
            with suppress(ValueError):
                self._again[key] = result
                del self._once[key]
        return result


def make_read_only(value: R) -> R:
    """The same object, with all arrays in it read-only."""
    for part in _parts(value):
        if isinstance(part, np.ndarray):
            part.setflags(write=False)
    return value


def size_of(value: object) -> float:
    """Bytes that a result takes: its arrays, and roughly what is around them."""
    return sum(
        part.nbytes if isinstance(part, np.ndarray) else sys.getsizeof(part)
        for part in _parts(value)
    )


_LEAVES = frozenset({str, bytes, bool, int, float, type(None), np.ndarray})


def _parts(value: Any) -> Iterator[Any]:
    """A value and everything in it; of a figure, its JSON and about as much again stand for it."""
    left = [value]
    while left:
        part = left.pop()
        yield part
        if type(part) in _LEAVES:  # most there is: the pieces of a text
            continue
        if isinstance(part, dict):
            left += part.values()
        elif isinstance(part, list | tuple | set | frozenset):
            left += part
        elif isinstance(part, RenderedFigure):
            left += (*part.parts, *part.parts)
        elif hasattr(part, "__dataclass_fields__") and not isinstance(part, type):
            left += getattr(part, "__dict__", {}).values()


@cache
def result_cache() -> ResultCache:
    """What the whole class shares, made when it is first asked for."""
    return ResultCache(MEGABYTE * settings.value("SEQVIZ_CACHE_MB"))


@cache
def files() -> ResultCache:
    """Figures as files: apart, as one of them is as large as a hundred results."""
    return ResultCache(MEGABYTE * settings.value("SEQVIZ_CACHE_MB") / 2)


metrics.cache_bytes.set_function(lambda: result_cache().size)


def cached(function: Callable[..., R]) -> Callable[..., Computed[R]]:
    """`function`, looked up among the results of the whole class first.

    Each call is counted for the lesson whose page asks. Raises TypeError for arguments that cannot
    be compared by value.
    """

    def get(*args: Any, **keywords: Any) -> Computed[R]:
        key = content_hash.hash_value((content_hash.hash_function(function), args, keywords))
        computed = result_cache().get_or_compute(key, lambda: function(*args, **keywords))
        metrics.observe_cache(
            run_context.lesson(), None if computed.is_cached else computed.seconds
        )
        return computed

    return get


def vega(chart: Any) -> str:
    """The specification of an Altair chart, without a size, as the page gives it one.

    It is not compared with the schema, which takes longer than all the rest: the tests do that.
    """
    specification = chart.to_dict(validate=False)
    for size in ("continuousWidth", "continuousHeight"):  # of Altair's default theme
        specification["config"]["view"].pop(size, None)
    return json.dumps(specification)


def render(
    draw: Callable[..., Any], args: tuple[Any, ...], keywords: Mapping[str, Any], shared: bool
) -> RenderedFigure:
    """`draw(*args, **keywords)`; shared: the class has been here, so look whether it is drawn.

    Where a slider moves to a value that nobody has had, looking would cost more than it saves.
    """

    def build() -> RenderedFigure:
        chart = draw(*args, **keywords)
        if not isinstance(chart, Figure):
            return RenderedFigure(chart, (vega(chart).encode(),), str(chart.description))
        return RenderedFigure(chart, chart.parts(), chart.alt)

    if not shared:
        return build()
    try:
        key = content_hash.hash_value(
            ("drawn", content_hash.hash_function(draw), args, dict(keywords))
        )
    except TypeError:  # something that cannot be compared by value
        return build()
    return result_cache().get_or_compute(key, build).result
