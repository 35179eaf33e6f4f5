"""Process-wide cache of results and figures, bounded in bytes and shared by all sessions.

No other module of the server caches results. Entries are results of pure functions
(`seqviz.compute`) and figures drawn from them. All callers get the same object with read-only
arrays: a hundred students on one page hold it once, and a look-up copies nothing. An entry carries
its compute time, so a figure can state how long its numbers took. `cached` is the public entry.
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
ONCE_SHARE = 0.3  # share of the bytes for entries that were requested once


class ResultCache:
    """Byte-bounded segmented LRU cache with single-flight computation.

    New entries go to a probation segment, entries requested again to a protected one; each evicts
    its least recently used entry. A hundred sliders in motion therefore do not evict the page that
    the class has open. A broadcast result is protected at once. Threads that request one key at the
    same time wait for one computation.

    Args:
        room: bytes of both segments.
    """

    def __init__(self, room: float):
        self._once: LRUCache[bytes, Computed[Any]] = LRUCache(ONCE_SHARE * room, getsizeof=size_of)
        self._again: LRUCache[bytes, Computed[Any]] = LRUCache(
            (1 - ONCE_SHARE) * room, getsizeof=size_of
        )
        self._lock = threading.Lock()
        self._computing: dict[bytes, threading.Event] = {}

    @property
    def size(self) -> float:
        """Bytes in use."""
        with self._lock:
            return float(self._once.currsize + self._again.currsize)

    def peek(self, key: bytes) -> Any:
        """Return the cached result of a key; None if there is none."""
        with self._lock:
            result = self._look(key)
        return None if result is None else result.result

    def get_or_compute(
        self, key: bytes, compute: Callable[[], R], shared: bool = False
    ) -> Computed[R]:
        """Return the cached result of a key, or compute and cache it.

        A result larger than its segment is returned uncached. Exceptions of `compute` pass through.

        Args:
            key: content hash of function and arguments.
            compute: called once, even for concurrent requests of one key.
            shared: the result is broadcast to a class; it goes to the protected segment.
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
            with self._lock, suppress(ValueError):  # larger than the segment
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
    """Return the same object with all its arrays made read-only."""
    for part in _parts(value):
        if isinstance(part, np.ndarray):
            part.setflags(write=False)
    return value


def size_of(value: object) -> float:
    """Return the bytes of a result: its arrays exactly, the objects around them roughly."""
    return sum(
        part.nbytes if isinstance(part, np.ndarray) else sys.getsizeof(part)
        for part in _parts(value)
    )


_LEAVES = frozenset({str, bytes, bool, int, float, type(None), np.ndarray})


def _parts(value: Any) -> Iterator[Any]:
    """Yield a value and everything in it; a figure counts as twice its JSON."""
    left = [value]
    while left:
        part = left.pop()
        yield part
        if type(part) in _LEAVES:  # the most frequent case: tokens of a text
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
    """Return the cache of results and figures, created at the first call."""
    return ResultCache(MEGABYTE * settings.value("SEQVIZ_CACHE_MB"))


@cache
def files() -> ResultCache:
    """Return the cache of exported figure files.

    It is separate because one file is as large as a hundred results.
    """
    return ResultCache(MEGABYTE * settings.value("SEQVIZ_CACHE_MB") / 2)


metrics.cache_bytes.set_function(lambda: result_cache().size)


def cached(function: Callable[..., R]) -> Callable[..., Computed[R]]:
    """Return `function` behind the result cache; each call counts for the lesson that runs.

    The wrapper raises TypeError for arguments that cannot be compared by value.
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
    """Return the specification of an Altair chart without a size, which the page sets.

    The schema is not validated, which would take longer than all the rest; the tests validate it.
    """
    specification = chart.to_dict(validate=False)
    for size in ("continuousWidth", "continuousHeight"):  # set by Altair's default theme
        specification["config"]["view"].pop(size, None)
    return json.dumps(specification)


def render(
    draw: Callable[..., Any], args: tuple[Any, ...], keywords: Mapping[str, Any], shared: bool
) -> RenderedFigure:
    """Return `draw(*args, **keywords)` as a rendered figure.

    Args:
        draw: function of `seqviz.figures`, or one that returns an Altair chart.
        args: its positional arguments.
        keywords: its keyword arguments.
        shared: look the figure up in the cache first. False where a slider moves to a new value:
            the look-up would cost more than it saves.
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
    except TypeError:  # arguments that cannot be compared by value
        return build()
    return result_cache().get_or_compute(key, build).result
