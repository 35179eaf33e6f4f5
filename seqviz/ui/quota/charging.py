"""Quotas of CPU seconds, model tokens and jobs: checks before work, charges after it.

The limits keep one demanding student from slowing down a class; that student reads in the bench
what to do and when to continue. A limit holds per device, for all its tabs and connections
(`ui.runtime.clients`). Each limit is a setting, and 0 disables it: on a teacher's own machine
nothing is rejected.

Basis of the defaults: an interaction costs 0 to 20 ms of CPU time in most benches, 150 ms in the
heaviest that follows a slider (vanishing gradients, three cells and the dependent benches), 0.2 s
where SmolLM2 reads a new sentence, 0.9 s where it reads 200 tokens, the most that a bench reads per
interaction. Continuous dragging makes two to four requests per second.
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
    32  # texts per student that are not charged again while a slider moves beside them
)


@dataclass
class QuotaScope:
    """One run of a bench: its quota is checked once, at the first computation."""

    let_in: bool = False

    @contextmanager
    def charging(self) -> Iterator[None]:
        """Charge `quota_checked` functions to this scope while the body runs."""
        token = _turn.set(self)
        try:
            yield
        finally:
            _turn.reset(token)

    def check(self) -> None:
        """Raise MessageError("compute_limit") where the device has to wait."""
        if not self.let_in:
            account = run_context.session().account
            if wait := account.seconds.retry_after(*seconds_of(account)):
                _reject("compute", "compute_limit", wait=math.ceil(wait))
            self.let_in = True


_turn: ContextVar[QuotaScope | None] = ContextVar("turn", default=None)
_taken: ContextVar[bool] = ContextVar("taken", default=False)


@cache
def quota_checked(function: Callable[..., R]) -> Callable[..., R]:
    """Return `function` with a quota check, for use behind the result cache.

    Cached results are free. The wrapper raises the errors of `QuotaScope.check` and `read`.
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
    """Charge the CPU time of this thread to a quota; waiting for others is free."""
    started = time.thread_time()
    try:
        yield
    finally:
        _spend(account, time.thread_time() - started, rank)


def _spend(account: ClientQuota, seconds: float, rank: Priority) -> None:
    account.seconds.consume(seconds, *seconds_of(account))
    account.took(seconds, rank)
    if clients.sync_accounts:
        clients.spent.add(account)


@contextmanager
def turn(rank: Priority, notify: Callable[[int], object] | None = None) -> Iterator[None]:
    """Hold a slot of the scheduler for this thread's session while the body runs.

    A page run holds one slot for everything in it.

    Args:
        rank: priority in the scheduler.
        notify: as in `DrawQueue.slot`.
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
    """Run `work` in a thread with an EXPORT slot, charged to a session, and return its result.

    Args:
        connection: Streamlit's id of the session.
        work: creates the file.
    """
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
    """Return a quota for a computation in a worker; None where no tokens are left."""
    if account.tokens.retry_after(*tokens_of(account)):
        return None
    used = account.recent_cpu_s
    return ClientQuota(seconds=replace(account.seconds, used=used, total=0.0))


def settle_lease(account: ClientQuota, used: ClientQuota) -> None:
    """Charge the usage of a leased quota to the account."""
    _spend(account, used.seconds.total, Priority.INTERACTION)
    _read(account, {text: partial(int, size) for text, size in used.texts.items()})


def read(*texts: str, model: str = "") -> None:
    """Charge texts that a model is about to read for this session, each once.

    Raises MessageError("token_limit") where the session has to wait.

    Args:
        *texts: to be read.
        model: its tokenizer counts; without a model, or before it is loaded, the count is
            estimated.
    """
    _count({text: partial(tokens_read, model, text) for text in texts})


def _count(texts: Mapping[str, Callable[[], int]]) -> None:
    """Charge the texts that are new to this device, each with its reader's count."""
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
    """Raise MessageError("job_limit") where the device has its maximum number of jobs.

    A previous job of the owner for the same function does not count: the new one replaces it.
    """
    account = run_context.session().account
    maximum = account.students * settings.value("SEQVIZ_SESSION_JOBS")
    held = sum(queue.held(owner, function, account.name) for queue in jobs.all_queues().values())
    if maximum and held + account.jobs_elsewhere >= maximum:
        _reject("jobs", "job_limit", limit=maximum)


def seconds_of(account: ClientQuota) -> tuple[float, float]:
    """Return capacity in CPU seconds and refill per second."""
    maximum = settings.value("SEQVIZ_SESSION_SECONDS") or math.inf
    return account.students * maximum, account.students * settings.value("SEQVIZ_CPU_REFILL")


def tokens_of(account: ClientQuota) -> tuple[float, float]:
    """Return capacity in tokens and refill per second."""
    maximum = account.students * (settings.value("SEQVIZ_SESSION_TOKENS") or math.inf)
    return maximum, maximum / MINUTE


def _texts(
    function: Callable[..., Any],
    declared: Mapping[str, ReadBy],
    args: tuple[Any, ...],
    keywords: Mapping[str, Any],
) -> dict[str, Callable[[], int]]:
    """Return the texts among the arguments with functions that count their tokens."""
    given = _signature(function).bind(*args, **keywords).arguments
    result: dict[str, Callable[[], int]] = {}
    for name, by in declared.items():
        texts = given.get(name) or ()  # a default is empty
        for text in (texts,) if isinstance(texts, str) else texts:
            result[text] = partial(by.count, given[by.reader], text)
    return result


_signature = cache(inspect.signature)


def _reject(kind: str, code: str, **details: object) -> None:
    metrics.refused(kind)
    raise MessageError(code, **details)
