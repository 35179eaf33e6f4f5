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
from pathlib import Path

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from seqviz.ui.server import metrics

log = logging.getLogger(__name__)
_bench: ContextVar[str] = ContextVar("bench", default="")
KEY = "_visit"  # in the session's state
_alive: weakref.WeakSet[Session] = weakref.WeakSet()
_left: deque[tuple[str, float]] = deque()  # name and opening of sessions that are no more
_slugs: dict[str, str] = {}  # Streamlit's hash of a page -> lesson


@dataclass(frozen=True, eq=False)
class Session:
    """One tab of a browser. name: made up, so that lines of the log belong together."""

    name: str
    opened: float


def lesson() -> str:
    """The lesson whose page runs in this thread; "none" elsewhere. Takes about a microsecond."""
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        return metrics.ELSEWHERE
    known = _slugs.get(context.page_script_hash)
    if known is not None:
        return known
    info = context.pages_manager.get_pages().get(context.page_script_hash)
    if info is None:  # the navigation is not known yet
        return metrics.ELSEWHERE
    stem = Path(info["script_path"]).stem
    slug = stem if stem in metrics.LESSONS else metrics.ELSEWHERE
    _slugs[context.page_script_hash] = slug
    return slug


def bench() -> str:
    """The bench that is drawn in this thread; empty elsewhere."""
    return _bench.get()


def session() -> str:
    """The name of the session that this thread runs for; empty elsewhere."""
    context = get_script_run_ctx(suppress_warning=True)
    return "" if context is None else _session().name


@contextmanager
def page() -> Iterator[None]:
    """A run of a whole page."""
    _session()
    started = time.perf_counter()
    try:
        yield
    finally:
        metrics.ran(lesson(), "page", time.perf_counter() - started)


@contextmanager
def drawing(name: str, new: bool = False) -> Iterator[bool]:
    """A bench is drawn: by itself (True), which is counted, or with its page, which counts that.

    new: by itself for the first time, as the reader has come near; else it is a press. Both are
    timed from here, so waiting for a turn (`ui.shared.draw_queue`) is in it.
    """
    context = get_script_run_ctx(suppress_warning=True)
    alone = context is not None and bool(context.fragment_ids_this_run)
    token = _bench.set(name)
    started = time.perf_counter()
    try:
        yield alone
    finally:
        _bench.reset(token)
        if alone:
            metrics.ran(lesson(), "new" if new else "bench", time.perf_counter() - started)


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
