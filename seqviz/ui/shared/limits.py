"""What one student may use: seconds of computing, tokens to be read, runs in the queue.

Each limit is there so that a class does not notice one student who asks for too much; such a
student reads what to do and when to go on, in the bench where it happened. A limit holds for a
session, that is for one tab of a browser. Against somebody who opens many sessions it is no help:
that is the work of a proxy in front (its limit of requests and connections per address). Each
limit is a setting, and 0 means none: on a teacher's own machine nobody is refused.

How the defaults were found: a press costs 0 to 20 ms of the processor in most benches, 150 ms in
the heaviest that follows a slider (vanishing gradients, three cells and what builds on them), 0.2 s
where SmolLM2 reads a sentence anew, 0.9 s where it reads 200 tokens, the most that a bench reads
after each press. A hand that never rests makes two to four presses a second.
"""

from __future__ import annotations

import inspect
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cache, partial, wraps
from typing import Any, TypeVar

from seqviz import jobs, settings
from seqviz.models.texts import ReadBy, read_by, tokens_read
from seqviz.refusal import Problem
from seqviz.ui.server import metrics, run_context

R = TypeVar("R")
KEY = "limits"  # in what is kept of a session
MINUTE = 60.0
SHARE_BACK = 0.1  # of the capacity is back before a student who was stopped goes on
TEXTS = 32  # texts that a session remembers, so that a slider beside one does not read it again


@dataclass
class Bucket:
    """A leaky bucket: what is used fills it, and it drains at a steady rate.

    `wait` says how long a user whose bucket has run over has to wait: until a tenth of it is free
    again, so that the next press is not refused at once. A use is let in whole, however large: its
    size is known only afterwards. Capacity and rate are those of the call, as settings may change.
    drawn: all that was ever used.
    """

    clock: Callable[[], float] = time.monotonic
    used: float = 0.0
    over: bool = False
    drawn: float = 0.0
    _at: float | None = None

    def draw(self, amount: float, capacity: float, rate: float) -> None:
        """Use so much."""
        self._drain(rate)
        self.drawn += amount
        self.used += amount
        self.over = self.over or self.used > capacity

    def wait(self, capacity: float, rate: float) -> float:
        """Seconds until the next use is let in; 0: now."""
        self._drain(rate)
        if self.over and self.used > (1 - SHARE_BACK) * capacity:
            return (self.used - (1 - SHARE_BACK) * capacity) / rate
        self.over = False
        return 0.0

    def _drain(self, rate: float) -> None:
        now = self.clock()
        if self._at is not None:
            self.used = max(0.0, self.used - rate * (now - self._at))
        self._at = now


@dataclass
class Account:
    """What one session has used. texts: those last read, with their tokens."""

    seconds: Bucket = field(default_factory=Bucket)
    tokens: Bucket = field(default_factory=Bucket)
    texts: OrderedDict[str, int] = field(default_factory=OrderedDict)


@dataclass
class Turn:
    """One run of a bench: it is let in once, at its first computation, and then drawn whole."""

    let_in: bool = False

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Within: what a `metered` function costs goes to this session's account."""
        token = _turn.set(self)
        try:
            yield
        finally:
            _turn.reset(token)

    def enter(self) -> None:
        """Raise Problem("compute_limit") where this session has to wait."""
        limit = _seconds()
        if self.let_in or limit is None:
            return
        if wait := _account().seconds.wait(*limit):
            _refuse("compute", "compute_limit", wait=math.ceil(wait))
        self.let_in = True


_turn: ContextVar[Turn | None] = ContextVar("turn", default=None)


@cache
def metered(function: Callable[..., R]) -> Callable[..., R]:
    """`function`, to stand behind the cache: only what is really computed counts.

    What counts is the processor's time of this thread: a student does not pay for waiting while
    others compute. Raises the problems of `Turn.enter` and `read`.
    """

    @wraps(function)
    def counting(*args: Any, **keywords: Any) -> R:
        turn = _turn.get()
        if turn is None:
            return function(*args, **keywords)
        turn.enter()
        if declared := read_by(function):
            _count(_texts(function, declared, args, keywords))
        started = time.thread_time()
        try:
            return function(*args, **keywords)
        finally:
            if limit := _seconds():
                _account().seconds.draw(time.thread_time() - started, *limit)

    return counting


def lent(session: run_context.Session) -> Account | None:
    """An account for a computation in another process; None where tokens have been used up."""
    account, most = _account(session), settings.value("SEQVIZ_SESSION_TOKENS")
    if most and account.tokens.wait(most, most / MINUTE):
        return None
    return Account(seconds=replace(account.seconds, drawn=0.0))


def charge(session: run_context.Session, used: Account) -> None:
    """Count what was computed there, on an account that was `lent`."""
    with run_context.answering(session, "", ""):
        if limit := _seconds():
            _account().seconds.draw(used.seconds.drawn, *limit)
        _count({text: partial(int, size) for text, size in used.texts.items()})


def read(*texts: str, model: str = "") -> None:
    """Count texts that a model is about to read for this session, each once.

    Without a model, or while it is not in memory, about as many tokens as there are. Raises
    Problem("token_limit") where this session has to wait.
    """
    _count({text: partial(tokens_read, model, text) for text in texts})


def _count(texts: Mapping[str, Callable[[], int]]) -> None:
    """Count those texts that this session has not had read, each as what its reader says."""
    most = settings.value("SEQVIZ_SESSION_TOKENS")
    account = _account()
    new = {text: size for text, size in texts.items() if text and text not in account.texts}
    if not most or not new:
        return
    if wait := account.tokens.wait(most, most / MINUTE):
        _refuse("tokens", "token_limit", wait=math.ceil(wait))
    for text, size in new.items():
        account.texts[text] = size()
        account.tokens.draw(account.texts[text], most, most / MINUTE)
    while len(account.texts) > TEXTS:
        account.texts.popitem(last=False)


def check_jobs(owner: str, function: Callable[..., Any]) -> None:
    """Raise Problem("job_limit") where this owner has as many runs as one student may have.

    A former run of the same function does not count: the new one takes its place.
    """
    most = settings.value("SEQVIZ_SESSION_JOBS")
    held = sum(queue.held(owner, besides=function) for queue in jobs.queues().values())
    if most and held >= most:
        _refuse("jobs", "job_limit", limit=most)


def _seconds() -> tuple[float, float] | None:
    """Capacity in seconds and what comes back in a second; None where there is no limit."""
    most = settings.value("SEQVIZ_SESSION_SECONDS")
    return (most, settings.value("SEQVIZ_SESSION_SHARE")) if most else None


def _account(session: run_context.Session | None = None) -> Account:
    kept = (session or run_context.session()).kept
    account: Account = kept.setdefault(KEY, Account())
    return account


def _texts(
    function: Callable[..., Any],
    declared: Mapping[str, ReadBy],
    args: tuple[Any, ...],
    keywords: Mapping[str, Any],
) -> dict[str, Callable[[], int]]:
    """The texts among the arguments, each with how many tokens its reader reads of it."""
    given = _signature(function).bind(*args, **keywords).arguments
    found: dict[str, Callable[[], int]] = {}
    for name, by in declared.items():
        texts = given.get(name) or ()  # a default is empty, or a word of ours
        for text in (texts,) if isinstance(texts, str) else texts:
            found[text] = partial(by.count, given[by.reader], text)
    return found


_signature = cache(inspect.signature)


def _refuse(kind: str, code: str, **details: object) -> None:
    metrics.refused(kind)
    raise Problem(code, **details)
