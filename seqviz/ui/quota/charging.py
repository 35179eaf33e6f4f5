"""What one student may use: seconds of computing, tokens to be read, runs in the queue.

Each limit is there so that a class does not notice one student who asks for too much; such a
student reads what to do and when to go on, in the bench where it happened. A limit holds for one
device, whatever tabs and lines it opens (`ui.runtime.clients`). Each limit is a setting, and 0
means none: on a teacher's own machine nobody is refused.

How the defaults were found: a press costs 0 to 20 ms of the processor in most benches, 150 ms in
the heaviest that follows a slider (vanishing gradients, three cells and what builds on them), 0.2 s
where SmolLM2 reads a sentence anew, 0.9 s where it reads 200 tokens, the most that a bench reads
after each press. A hand that never rests makes two to four presses a second.
"""

from __future__ import annotations

import asyncio
import inspect
import math
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache, partial, wraps
from typing import Any, TypeVar

from seqviz import jobs
from seqviz.core import settings
from seqviz.core.errors import MessageError
from seqviz.models.texts import ReadBy, read_by, tokens_read
from seqviz.ui.runtime import clients, metrics, run_context
from seqviz.ui.runtime.clients import ClientQuota
from seqviz.ui.runtime.scheduler import MAX_CONCURRENT, Priority, draw_queue
from seqviz.ui.streamlit_patches import deferred_files

R = TypeVar("R")
MINUTE = 60.0
MAX_REMEMBERED_TEXTS = (
    32  # texts that an account remembers, so that a slider beside one does not read it again
)


@dataclass
class QuotaScope:
    """One run of a bench: it is let in once, at its first computation, and then drawn whole."""

    let_in: bool = False

    @contextmanager
    def charging(self) -> Iterator[None]:
        """Within: what a `metered` function costs goes to this session's account."""
        token = _turn.set(self)
        try:
            yield
        finally:
            _turn.reset(token)

    def check(self) -> None:
        """Raise Problem("compute_limit") where this device has to wait."""
        if not self.let_in:
            account = run_context.session().account
            if wait := account.seconds.retry_after(*seconds_of(account)):
                _reject("compute", "compute_limit", wait=math.ceil(wait))
            self.let_in = True


_turn: ContextVar[QuotaScope | None] = ContextVar("turn", default=None)
_taken: ContextVar[bool] = ContextVar("taken", default=False)


@cache
def quota_checked(function: Callable[..., R]) -> Callable[..., R]:
    """`function`, to stand behind the cache: what the class has is given to everybody.

    Raises the problems of `Turn.enter` and `read`.
    """

    @wraps(function)
    def counting(*args: Any, **keywords: Any) -> R:
        turn = _turn.get()
        if turn is None:
            return function(*args, **keywords)
        turn.check()
        if declared := read_by(function):
            _count(_texts(function, declared, args, keywords))
        return function(*args, **keywords)

    return counting


@contextmanager
def charge_cpu(account: ClientQuota, rank: Priority) -> Iterator[None]:
    """Within: what this thread computes counts; a student does not pay for waiting for others."""
    started = time.thread_time()
    try:
        yield
    finally:
        _spend(account, time.thread_time() - started, rank)


def _spend(account: ClientQuota, seconds: float, rank: Priority) -> None:
    account.seconds.consume(seconds, *seconds_of(account))
    account.took(seconds, rank)
    if clients.elsewhere:
        clients.spent.add(account)


@contextmanager
def turn(rank: Priority, notify: Callable[[int], object] | None = None) -> Iterator[None]:
    """Within, this thread computes for its session, when it is its turn.

    A page that runs has one turn for all that is in it. notify: as in `DrawQueue.turn`.
    """
    if _taken.get():
        yield
        return
    account, taken = run_context.session().account, _taken.set(True)
    try:
        with draw_queue().slot(rank, account, notify), charge_cpu(account, rank):
            yield
    finally:
        _taken.reset(taken)


async def file(connection: str, work: Callable[[], str]) -> str:
    """Run what makes a file for a session, in a thread, when it is its turn."""
    session = run_context.by_connection(connection)
    account = session.account if session else ClientQuota()
    turn = await draw_queue().acquire(Priority.EXPORT, account)

    def counted() -> str:
        with charge_cpu(account, Priority.EXPORT):
            return work()

    created = asyncio.get_running_loop().run_in_executor(_files(), counted)
    created.add_done_callback(lambda _: draw_queue().release(turn))
    return await asyncio.shield(created)


deferred_files.in_turn = file


@cache
def _files() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(MAX_CONCURRENT, "seqviz-files")


def lease(account: ClientQuota) -> ClientQuota | None:
    """An account for a computation in another process; None where tokens have been used up."""
    if account.tokens.retry_after(*tokens_of(account)):
        return None
    used = account.recent_cpu_s
    return ClientQuota(seconds=replace(account.seconds, used=used, total=0.0))


def settle_lease(account: ClientQuota, used: ClientQuota) -> None:
    """Count what was computed there, on an account that was `lent`."""
    _spend(account, used.seconds.total, Priority.INTERACTION)
    _read(account, {text: partial(int, size) for text, size in used.texts.items()})


def read(*texts: str, model: str = "") -> None:
    """Count texts that a model is about to read for this session, each once.

    Without a model, or while it is not in memory, about as many tokens as there are. Raises
    Problem("token_limit") where this session has to wait.
    """
    _count({text: partial(tokens_read, model, text) for text in texts})


def _count(texts: Mapping[str, Callable[[], int]]) -> None:
    """Count those texts that this device has not had read, each as what its reader says."""
    account = run_context.session().account
    if any(text and text not in account.texts for text in texts):
        if wait := account.tokens.retry_after(*tokens_of(account)):
            _reject("tokens", "token_limit", wait=math.ceil(wait))
        _read(account, texts)


def _read(account: ClientQuota, texts: Mapping[str, Callable[[], int]]) -> None:
    for text, size in texts.items():
        if text and text not in account.texts:
            account.texts[text] = tokens = size()
            account.tokens.consume(tokens, *tokens_of(account))
    while len(account.texts) > MAX_REMEMBERED_TEXTS * account.students:
        account.texts.popitem(last=False)


def check_jobs(owner: str, function: Callable[..., Any]) -> None:
    """Raise Problem("job_limit") where this device has as many runs as one student may have.

    A former run of the owner's of the same function does not count: the new one takes its place.
    """
    account = run_context.session().account
    maximum = account.students * settings.value("SEQVIZ_SESSION_JOBS")
    held = sum(queue.held(owner, function, account.name) for queue in jobs.all_queues().values())
    if maximum and held + account.jobs_elsewhere >= maximum:
        _reject("jobs", "job_limit", limit=maximum)


def seconds_of(account: ClientQuota) -> tuple[float, float]:
    """Capacity in seconds and what comes back in a second."""
    maximum = settings.value("SEQVIZ_SESSION_SECONDS") or math.inf
    return account.students * maximum, account.students * settings.value("SEQVIZ_CPU_REFILL")


def tokens_of(account: ClientQuota) -> tuple[float, float]:
    """Capacity in tokens and what comes back in a second."""
    maximum = account.students * (settings.value("SEQVIZ_SESSION_TOKENS") or math.inf)
    return maximum, maximum / MINUTE


def _texts(
    function: Callable[..., Any],
    declared: Mapping[str, ReadBy],
    args: tuple[Any, ...],
    keywords: Mapping[str, Any],
) -> dict[str, Callable[[], int]]:
    """The texts among the arguments, each with how many tokens its reader reads of it."""
    given = _signature(function).bind(*args, **keywords).arguments
    result: dict[str, Callable[[], int]] = {}
    for name, by in declared.items():
        texts = given.get(name) or ()  # a default is empty, or a word of ours
        for text in (texts,) if isinstance(texts, str) else texts:
            result[text] = partial(by.count, given[by.reader], text)
    return result


_signature = cache(inspect.signature)


def _reject(kind: str, code: str, **details: object) -> None:
    metrics.refused(kind)
    raise MessageError(code, **details)
