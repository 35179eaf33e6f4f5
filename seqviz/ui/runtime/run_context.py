"""Context of a run: the session, lesson and bench that the current thread works for.

`session()` is the public entry. `page`, `bench_run` and `acting_as` set the context and time the
run.
"""

from __future__ import annotations

import logging
import secrets
import time
import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import streamlit as st

from seqviz.ui.runtime import metrics
from seqviz.ui.runtime.clients import COOKIE, ClientQuota, Sessions, address, client_registry
from seqviz.ui.streamlit_patches import connection

log = logging.getLogger(__name__)
_lesson: ContextVar[str | None] = ContextVar("lesson", default=None)
_bench: ContextVar[str] = ContextVar("bench", default="")
KEY = "_visit"  # in the session state
_acting: ContextVar[Session | None] = ContextVar("acting", default=None)
_alive = Sessions()
_by_token: weakref.WeakValueDictionary[str, Session] = weakref.WeakValueDictionary()
_by_owner: weakref.WeakValueDictionary[str, Session] = weakref.WeakValueDictionary()
_left: deque[tuple[str, float]] = deque()  # name and opening time of freed sessions, until logged


@dataclass(frozen=True)
class UploadedFile:
    """A file that a student has uploaded."""

    name: str
    content: bytes = field(repr=False)


@dataclass(eq=False)
class Session:
    """One browser tab.

    Attributes:
        name: random identifier that groups the session's log lines.
        opened: `time.monotonic()` at the first run.
        lesson: slug of the page that ran last; benches that rerun as fragments belong to it.
        token: names the session in requests outside its page; never logged.
        owner: name of the session in the queues of `seqviz.jobs`.
        connection: Streamlit's id of the session.
        texts: what the student has written, by bench prefix and parameter.
        files: the last uploaded file of each uploader, by widget key.
        picks: the choice made within each file, by widget key.
        page: the page that was rendered last.
        links: query parameters of each lesson, current or when it was left, by control key.
        n_pending: requests of the session that wait for a response.
        answered: keys of the predictions that the student has answered or skipped.
        seen: `time.monotonic()` of the last request for a page, a bench or a live response.
        account: quota of the session's device.
    """

    name: str
    opened: float
    lesson: str = metrics.ELSEWHERE
    token: str = field(default_factory=partial(secrets.token_urlsafe, 16), repr=False)
    owner: str = field(default_factory=partial(secrets.token_hex, 16), repr=False)
    connection: str = field(default="", repr=False)
    texts: dict[str, dict[str, str]] = field(default_factory=dict, repr=False)
    files: dict[str, UploadedFile] = field(default_factory=dict, repr=False)
    picks: dict[str, str] = field(default_factory=dict, repr=False)
    page: str = ""
    links: dict[str, str] = field(default_factory=dict, repr=False)
    n_pending: int = 0
    answered: set[str] = field(default_factory=set, repr=False)
    seen: float = 0.0
    account: ClientQuota = field(default_factory=ClientQuota, repr=False)

    @property
    def is_open(self) -> bool:
        """True where the page of the session is connected."""
        return connection.is_open(self.connection)


S = TypeVar("S", bound=Session)


def lesson() -> str:
    """Return the slug of the lesson that this thread renders; "none" outside a lesson."""
    return _lesson.get() or metrics.ELSEWHERE


def bench() -> str:
    """Return the name of the bench that this thread renders; empty outside a bench."""
    return _bench.get()


@contextmanager
def page(slug: str) -> Iterator[None]:
    """Set the lesson while a full page runs, and record the run's duration.

    Args:
        slug: last part of the page's path.
    """
    result = slug if slug in metrics.LESSONS else metrics.ELSEWHERE
    session = _session()
    session.seen, session.lesson = time.monotonic(), result
    token = _lesson.set(result)
    started = time.perf_counter()
    try:
        yield
    finally:
        _lesson.reset(token)
        metrics.observe_run(result, "page", time.perf_counter() - started)


@contextmanager
def bench_run(name: str, new: bool = False) -> Iterator[bool]:
    """Set the bench while it is rendered; yield True where it reruns as a fragment.

    The duration of a fragment run is recorded here; a bench that renders with its page counts in
    the page's run. The time includes waiting for a slot (`ui.runtime.scheduler`).

    Args:
        name: of the bench.
        new: the fragment runs for the first time, because the reader has scrolled near it;
            otherwise it is an interaction.
    """
    page_s = _lesson.get()
    alone = page_s is None  # a fragment reruns without its page
    _session().seen = time.monotonic()
    of = _lesson.set(_session().lesson if page_s is None else page_s)
    token = _bench.set(name)
    started = time.perf_counter()
    try:
        yield alone
    finally:
        if alone:
            metrics.observe_run(lesson(), "new" if new else "bench", time.perf_counter() - started)
        _bench.reset(token)
        _lesson.reset(of)


@contextmanager
def acting_as(session: Session, slug: str, name: str) -> Iterator[None]:
    """Set session, lesson and bench while a bench is rendered outside its page."""
    session.seen = time.monotonic()
    acting, of, at = _acting.set(session), _lesson.set(slug), _bench.set(name)
    try:
        yield
    finally:
        _acting.reset(acting)
        _lesson.reset(of)
        _bench.reset(at)


def session() -> Session:
    """Return the session that this thread renders for."""
    return _acting.get() or _session()


def by_connection(name: str) -> Session | None:
    """Return the session with this Streamlit session id."""
    return next((item for item in _alive.listed() if item.connection == name), None)


def devices() -> set[ClientQuota]:
    """Return the quotas of all live sessions."""
    alive = (reference() for reference in _by_owner.valuerefs())
    return {item.account for item in alive if item is not None}


def count_active(since: float) -> int:
    """Return the number of devices used since a time; tabs count singly in a shared quota."""
    used = [item for item in _alive.listed() if item.seen >= since]
    return len({id(item if item.account.shared else item.account) for item in used})


def by_token(token: str) -> Session | None:
    """Return the session of this process with this token."""
    return _by_token.get(token)


def register(session: S) -> S:
    """Index a session by token and owner; the index holds weak references."""
    _by_token[session.token] = _by_owner[session.owner] = session
    return session


def connected(owner: str) -> bool:
    """Return True where the page of this job owner is connected, or where no server runs."""
    existing = _by_owner.get(owner)
    return existing.is_open if existing else connection.is_open("")


@contextmanager
def lesson_scope() -> Iterator[None]:
    """Set the lesson while a fragment that is no bench (such as a question) runs."""
    of = _lesson.set(_lesson.get() or _session().lesson)
    try:
        yield
    finally:
        _lesson.reset(of)


def flush_closed(everyone: bool = False) -> None:
    """Count and log sessions freed since the last call; all remaining ones if `everyone`."""
    if everyone:
        _left.extend((session.name, session.opened) for session in _alive.listed())
    while _left:
        name, opened = _left.popleft()
        metrics.closed()
        seconds = round(time.monotonic() - opened)
        log.info("session closed", extra={"session": name, "seconds": seconds})


def _session() -> Session:
    """Return the session of this run, created at the first one.

    The object lives in Streamlit's session state, so both are freed together, and a reader who
    reconnects gets the same one. (`st.cache_resource` with session scope is released at a
    disconnect.)
    """
    session: Session | None = st.session_state.get(KEY)
    if session is not None:
        return session
    created = Session(
        secrets.token_hex(4), time.monotonic(), connection=connection.name(), account=_account()
    )
    st.session_state[KEY] = created
    created.account.tabs.add(created)
    _alive.add(register(created))
    # Garbage collection may run in a thread that counts or logs, so the finalizer only takes a
    # note.
    weakref.finalize(created, _left.append, (created.name, created.opened)).atexit = False
    metrics.opened()
    log.info("session opened", extra={"session": created.name})
    return created


def _account() -> ClientQuota:
    """Return the quota of the page's device; without a browser, a new one for each session."""
    if not (headers := st.context.headers):
        return ClientQuota()
    at = address(st.context.ip_address or "127.0.0.1", headers.get("X-Forwarded-For", ""))
    return client_registry().get(at, st.context.cookies.get(COOKIE))
