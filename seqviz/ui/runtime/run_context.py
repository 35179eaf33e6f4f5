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
KEY = "_visit"  # in the session's state
_acting: ContextVar[Session | None] = ContextVar("acting", default=None)
_alive = Sessions()
_by_token: weakref.WeakValueDictionary[str, Session] = weakref.WeakValueDictionary()
_by_owner: weakref.WeakValueDictionary[str, Session] = weakref.WeakValueDictionary()
_left: deque[tuple[str, float]] = deque()  # name and opening of sessions that are no more


@dataclass(frozen=True)
class UploadedFile:
    """A file of a student's own."""

    name: str
    content: bytes = field(repr=False)


@dataclass(eq=False)
class Session:
    """One tab of a browser.

    name: made up, so that lines of the log belong together. lesson: of the page that ran last, to
    which the benches belong that run by themselves. token: with which the browser asks for it
    outside of its page; in no log. owner: its name in the queues of `seqviz.jobs`. connection:
    Streamlit's name for it. texts: what the student has
    written, by prefix of a bench and parameter. files, picks: what was uploaded, and chosen in it,
    by the key of the widget: one file for each at most. page: that was drawn last. links: what
    stands in the address of each lesson, here or when it was left, by the key of the control.
    n_pending: requests of it that wait for an answer. seen: when a
    page, a bench or an answer was last asked for. account: of its device.
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
    seen: float = 0.0
    account: ClientQuota = field(default_factory=ClientQuota, repr=False)

    @property
    def is_open(self) -> bool:
        """Whether its page is connected."""
        return connection.is_open(self.connection)


S = TypeVar("S", bound=Session)


def lesson() -> str:
    """The lesson whose page or bench is drawn in this thread; "none" elsewhere."""
    return _lesson.get() or metrics.ELSEWHERE


def bench() -> str:
    """The bench that is drawn in this thread; empty elsewhere."""
    return _bench.get()


@contextmanager
def page(slug: str) -> Iterator[None]:
    """A run of a whole page; slug: the last part of its address."""
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
    """A bench is drawn: by itself (True), which is counted, or with its page, which counts that.

    new: by itself for the first time, as the reader has come near; else it is a press. Both are
    timed from here, so waiting for a turn (`ui.runtime.scheduler`) is in it.
    """
    page_s = _lesson.get()
    alone = page_s is None  # no page runs around it
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
    """A bench is drawn for a session outside of its page."""
    session.seen = time.monotonic()
    acting, of, at = _acting.set(session), _lesson.set(slug), _bench.set(name)
    try:
        yield
    finally:
        _acting.reset(acting)
        _lesson.reset(of)
        _bench.reset(at)


def session() -> Session:
    """The one for which this thread draws."""
    return _acting.get() or _session()


def by_connection(name: str) -> Session | None:
    """The session that Streamlit calls so."""
    return next((item for item in _alive.listed() if item.connection == name), None)


def devices() -> set[ClientQuota]:
    """The accounts of all sessions that there are."""
    alive = (reference() for reference in _by_owner.valuerefs())
    return {item.account for item in alive if item is not None}


def count_active(since: float) -> int:
    """How many devices have been in use since then; tabs where these are not told apart."""
    used = [item for item in _alive.listed() if item.seen >= since]
    return len({id(item if item.account.shared else item.account) for item in used})


def by_token(token: str) -> Session | None:
    """The session of this process with this token."""
    return _by_token.get(token)


def register(session: S) -> S:
    """Found by its token and by its owner from now on, as long as somebody keeps it."""
    _by_token[session.token] = _by_owner[session.owner] = session
    return session


def connected(owner: str) -> bool:
    """Whether the page of this owner is connected; True where nothing is served."""
    existing = _by_owner.get(owner)
    return existing.is_open if existing else connection.is_open("")


@contextmanager
def lesson_scope() -> Iterator[None]:
    """A fragment of a page that is no bench, such as a question: it counts for its lesson."""
    of = _lesson.set(_lesson.get() or _session().lesson)
    try:
        yield
    finally:
        _lesson.reset(of)


def flush_closed(everyone: bool = False) -> None:
    """Count and log the sessions that have left memory since the last call, or all at the end."""
    if everyone:
        _left.extend((session.name, session.opened) for session in _alive.listed())
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
    session: Session | None = st.session_state.get(KEY)
    if session is not None:
        return session
    created = Session(
        secrets.token_hex(4), time.monotonic(), connection=connection.name(), account=_account()
    )
    st.session_state[KEY] = created
    created.account.tabs.add(created)
    _alive.add(register(created))
    # Garbage is collected in any thread, perhaps in one that counts or logs: only noted then.
    weakref.finalize(created, _left.append, (created.name, created.opened)).atexit = False
    metrics.opened()
    log.info("session opened", extra={"session": created.name})
    return created


def _account() -> ClientQuota:
    """Of the device that this page is shown on; without a browser there is one for each session."""
    if not (headers := st.context.headers):
        return ClientQuota()
    at = address(st.context.ip_address or "127.0.0.1", headers.get("X-Forwarded-For", ""))
    return client_registry().get(at, st.context.cookies.get(COOKIE))
