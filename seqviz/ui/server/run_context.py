"""Who is where: the lesson of the page that runs, the session it runs for, how long it takes."""

from __future__ import annotations

import logging
import secrets
import time
import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import streamlit as st

from seqviz.ui.server import metrics

log = logging.getLogger(__name__)
_lesson: ContextVar[str | None] = ContextVar("lesson", default=None)
_bench: ContextVar[str] = ContextVar("bench", default="")
KEY = "_visit"  # in the session's state
_alive: weakref.WeakSet[Session] = weakref.WeakSet()
_left: deque[tuple[str, float]] = deque()  # name and opening of sessions that are no more


@dataclass(eq=False)
class Session:
    """One tab of a browser. name: made up, so that lines of the log belong together.

    lesson: of the page that ran last, to which the benches belong that run by themselves.
    """

    name: str
    opened: float
    lesson: str = metrics.ELSEWHERE


def lesson() -> str:
    """The lesson whose page or bench is drawn in this thread; "none" elsewhere."""
    return _lesson.get() or metrics.ELSEWHERE


def bench() -> str:
    """The bench that is drawn in this thread; empty elsewhere."""
    return _bench.get()


@contextmanager
def page(slug: str) -> Iterator[None]:
    """A run of a whole page; slug: the last part of its address."""
    found = slug if slug in metrics.LESSONS else metrics.ELSEWHERE
    _session().lesson = found
    token = _lesson.set(found)
    started = time.perf_counter()
    try:
        yield
    finally:
        _lesson.reset(token)
        metrics.ran(found, "page", time.perf_counter() - started)


@contextmanager
def drawing(name: str, new: bool = False) -> Iterator[bool]:
    """A bench is drawn: by itself (True), which is counted, or with its page, which counts that.

    new: by itself for the first time, as the reader has come near; else it is a press. Both are
    timed from here, so waiting for a turn (`ui.shared.draw_queue`) is in it.
    """
    page_s = _lesson.get()
    alone = page_s is None  # no page runs around it
    of = _lesson.set(_session().lesson if page_s is None else page_s)
    token = _bench.set(name)
    started = time.perf_counter()
    try:
        yield alone
    finally:
        if alone:
            metrics.ran(lesson(), "new" if new else "bench", time.perf_counter() - started)
        _bench.reset(token)
        _lesson.reset(of)


def forgotten(everyone: bool = False) -> None:
    """Count and log the sessions that have left memory since the last call, or all at the end."""
    if everyone:
        _left.extend((session.name, session.opened) for session in tuple(_alive))
    while _left:
        name, opened = _left.popleft()
        metrics.closed()
        seconds = round(time.monotonic() - opened)
        log.info("session closed", extra={"session": name, "seconds": seconds})


def _session() -> Session:
    """Made at the first run of a session; it lives in its state, so the two are freed together.

    A reader whose line was cut comes back to the same one. (What `st.cache_resource` keeps for a
    session is released when the line is cut.)
    """
    known: Session | None = st.session_state.get(KEY)
    if known is not None:
        return known
    made = st.session_state[KEY] = Session(secrets.token_hex(4), time.monotonic())
    _alive.add(made)
    # Garbage is collected in any thread, perhaps in one that counts or logs: only noted then.
    weakref.finalize(made, _left.append, (made.name, made.opened)).atexit = False
    metrics.opened()
    log.info("session opened", extra={"session": made.name})
    return made
