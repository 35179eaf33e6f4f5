"""What the server counts, for `/metrics`: sessions, runs of pages, computing, refusals, failures.

In the format of Prometheus, in a registry of our own. Labels come from fixed sets (lessons of the
catalogue, kinds of refusals, devices); nothing here says who did what. What can be read when it is
asked for (queues, models, memory) is in `gauges`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Any

import prometheus_client as prometheus

from seqviz.content import catalog

TYPE = prometheus.CONTENT_TYPE_LATEST
ELSEWHERE = "none"  # the map, a notebook, a job: not a page of the catalogue
LESSONS = (*(lesson.slug for lesson in catalog.LESSONS), ELSEWHERE)
RUNS = ("page", "new", "bench", "live", "embed")
# Fixed kinds, so that nothing that a student wrote becomes a label.
REFUSALS = ("compute", "tokens", "jobs", "queue", "upload", "seat", "room", "other")
SECONDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)

prometheus.disable_created_metrics()  # when a series began doubles the page and helps nobody
registry = prometheus.CollectorRegistry()
_counter = partial(prometheus.Counter, registry=registry)
_seconds = partial(prometheus.Histogram, buckets=SECONDS, registry=registry)
_sessions = _counter("seqviz_sessions", "Sessions (tabs of browsers) since the start")
_closed = _counter("seqviz_sessions_closed", "Sessions that have left and been forgotten")
_runs = _seconds(
    "seqviz_run_seconds",
    "Runs of a page's script: whole pages, and benches after a press; answers to a moving hand",
    ("lesson", "kind"),
)
_computing = _seconds(
    "seqviz_compute_seconds", "Computations that were not in the cache", ("lesson",)
)
_hits = _counter("seqviz_cache_hits", "Results that were in the cache", ("lesson",))
_misses = _counter("seqviz_cache_misses", "Results that had to be computed", ("lesson",))
_errors = _counter("seqviz_errors", "Failures of the app that a student was told of", ("lesson",))
cache_bytes = prometheus.Gauge(
    "seqviz_cache_bytes", "Results and figures that the class shares", registry=registry
)
_refusals = _counter("seqviz_refusals", "Wishes beyond a limit", ("kind",))

# Made once: finding a labeled child takes longer than counting.
_run = {(lesson, kind): _runs.labels(lesson, kind) for lesson in LESSONS for kind in RUNS}
_compute = {lesson: _computing.labels(lesson) for lesson in LESSONS}
_hit = {lesson: _hits.labels(lesson) for lesson in LESSONS}
_miss = {lesson: _misses.labels(lesson) for lesson in LESSONS}
_error = {lesson: _errors.labels(lesson) for lesson in LESSONS}
_refusal = {kind: _refusals.labels(kind) for kind in REFUSALS}


# In a worker: what was counted, with its arguments, for its parent to count. Else None.
_noted: list[tuple[str, tuple[Any, ...]]] | None = None
_counts: dict[str, Callable[..., None]] = {}


def _counted(function: Callable[..., None]) -> Callable[..., None]:
    """May be called in a worker (`ui.runtime.workers`), which nobody asks for its figures."""

    @wraps(function)
    def counting(*args: Any) -> None:
        if _noted is None:
            function(*args)
        else:
            _noted.append((function.__name__, args))

    _counts[function.__name__] = function
    return counting


def drain_buffer() -> list[tuple[str, tuple[Any, ...]]]:
    """What this worker has counted since the last call; from the first on it only notes."""
    global _noted
    taken, _noted = _noted or [], []
    return taken


def recount(notes: Sequence[tuple[str, tuple[Any, ...]]]) -> None:
    """Count what a worker has noted."""
    for name, args in notes:
        _counts[name](*args)


def opened() -> None:
    """A session has begun."""
    _sessions.inc()


def closed() -> None:
    """A session has been forgotten, with all that it held."""
    _closed.inc()


def observe_run(lesson: str, kind: str, seconds: float) -> None:
    """A page ("page"), a bench that was not there before ("new") or a press ("bench") has run.

    Or a bench has been answered for while a hand moved ("live"), or shown alone ("embed").
    """
    _run[lesson, kind].observe(seconds)


@_counted
def observe_cache(lesson: str, seconds: float | None) -> None:
    """A page asked for a result. seconds: what computing it took; None: it was in the cache."""
    if seconds is None:
        _hit[lesson].inc()
    else:
        _miss[lesson].inc()
        _compute[lesson].observe(seconds)


@_counted
def failed(lesson: str) -> None:
    """Something failed, and the page said so."""
    _error[lesson].inc()


@_counted
def refused(kind: str) -> None:
    """A limit was reached; kind: one of `REFUSALS`, else it counts as "other"."""
    _refusal.get(kind, _refusal["other"]).inc()


def text() -> bytes:
    """All figures, as Prometheus reads them."""
    return prometheus.generate_latest(registry)
