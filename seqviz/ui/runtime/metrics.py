"""Prometheus metrics of the server: sessions, runs, computations, rejections, failures.

The registry is separate from the default one. Labels come from fixed sets (lessons of the catalog,
kinds of rejections, devices) and identify no user. Gauges that are read on demand (queues, models,
memory) are in `ui.app.collectors`. `text()` renders `/metrics`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Any

import prometheus_client as prometheus

from seqviz.content import catalog

TYPE = prometheus.CONTENT_TYPE_LATEST
ELSEWHERE = "none"  # home, a notebook, a job: no page of the catalog
LESSONS = (*(lesson.slug for lesson in catalog.LESSONS), ELSEWHERE)
RUNS = ("page", "new", "bench", "live", "embed")
# Fixed kinds: nothing that a student has written becomes a label.
REFUSALS = ("compute", "tokens", "jobs", "queue", "upload", "seat", "room", "other")
SECONDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)

prometheus.disable_created_metrics()  # the creation times would double the page
registry = prometheus.CollectorRegistry()
_counter = partial(prometheus.Counter, registry=registry)
_seconds = partial(prometheus.Histogram, buckets=SECONDS, registry=registry)
_sessions = _counter("seqviz_sessions", "Sessions (browser tabs) opened since the start")
_closed = _counter("seqviz_sessions_closed", "Sessions released since the start")
_runs = _seconds(
    "seqviz_run_seconds",
    "Duration of script runs (pages, benches after an interaction) and live responses (drags)",
    ("lesson", "kind"),
)
_computing = _seconds(
    "seqviz_compute_seconds", "Duration of computations that were not in the cache", ("lesson",)
)
_hits = _counter("seqviz_cache_hits", "Results found in the cache", ("lesson",))
_misses = _counter("seqviz_cache_misses", "Results not found in the cache", ("lesson",))
_errors = _counter("seqviz_errors", "Failures that a page reported to a student", ("lesson",))
cache_bytes = prometheus.Gauge(
    "seqviz_cache_bytes", "Bytes of the shared cache of results and figures", registry=registry
)
_refusals = _counter("seqviz_refusals", "Requests rejected by a limit", ("kind",))

# Created once: finding a labeled child takes longer than counting.
_run = {(lesson, kind): _runs.labels(lesson, kind) for lesson in LESSONS for kind in RUNS}
_compute = {lesson: _computing.labels(lesson) for lesson in LESSONS}
_hit = {lesson: _hits.labels(lesson) for lesson in LESSONS}
_miss = {lesson: _misses.labels(lesson) for lesson in LESSONS}
_error = {lesson: _errors.labels(lesson) for lesson in LESSONS}
_refusal = {kind: _refusals.labels(kind) for kind in REFUSALS}


# In a worker: the recorded calls with their arguments, which the parent repeats. Else None.
_noted: list[tuple[str, tuple[Any, ...]]] | None = None
_counts: dict[str, Callable[..., None]] = {}


def _counted(function: Callable[..., None]) -> Callable[..., None]:
    """Wrap a counting function; in a worker its calls are recorded for the parent."""

    @wraps(function)
    def counting(*args: Any) -> None:
        if _noted is None:
            function(*args)
        else:
            _noted.append((function.__name__, args))

    _counts[function.__name__] = function
    return counting


def drain_buffer() -> list[tuple[str, tuple[Any, ...]]]:
    """Return the calls recorded in this worker since the last call, and start to record."""
    global _noted
    taken, _noted = _noted or [], []
    return taken


def recount(notes: Sequence[tuple[str, tuple[Any, ...]]]) -> None:
    """Repeat the counting calls that a worker has recorded."""
    for name, args in notes:
        _counts[name](*args)


def opened() -> None:
    """Count an opened session."""
    _sessions.inc()


def closed() -> None:
    """Count a session that was released with all its state."""
    _closed.inc()


def observe_run(lesson: str, kind: str, seconds: float) -> None:
    """Record the duration of a run.

    Args:
        lesson: slug, or "none".
        kind: "page", "new" (first run of a bench), "bench" (interaction), "live" (drag) or "embed".
        seconds: its duration.
    """
    _run[lesson, kind].observe(seconds)


@_counted
def observe_cache(lesson: str, seconds: float | None) -> None:
    """Count a look-up in the result cache.

    Args:
        lesson: slug, or "none".
        seconds: compute time of a miss; None for a hit.
    """
    if seconds is None:
        _hit[lesson].inc()
    else:
        _miss[lesson].inc()
        _compute[lesson].observe(seconds)


@_counted
def failed(lesson: str) -> None:
    """Count a failure that the page has reported."""
    _error[lesson].inc()


@_counted
def refused(kind: str) -> None:
    """Count a rejection by a limit; a kind that is not in `REFUSALS` counts as "other"."""
    _refusal.get(kind, _refusal["other"]).inc()


def text() -> bytes:
    """Return all metrics in Prometheus text format."""
    return prometheus.generate_latest(registry)
