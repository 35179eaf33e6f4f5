"""While the server runs: who has left waits in no queue and is let go, and garbage is collected.

Presses leave garbage (Streamlit makes classes for each component of a page), without a collection a
sixth of the memory in ten minutes with fifty students. The longer it gathers the longer everything
stops for it, so it is collected often. What fails is logged, and keeps nothing else from its turn.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from seqviz import jobs
from seqviz.core import gc_tuning
from seqviz.ui.app import collectors
from seqviz.ui.embed.sessions import embeds
from seqviz.ui.runtime import logs, run_context
from seqviz.ui.streamlit_patches import session_release

LOOKING_SECONDS = 5.0
BREATH_SECONDS = 0.02  # for others, between two sessions that are let go
YOUNG_SECONDS = 30.0  # between two collections of what has just come, while somebody is here
RECENT_SECONDS = 120.0  # between two of all that has come since the last one
FREEZING_SECONDS = 1_800.0  # between two that look at everything, which stop a class for up to 2 s
EMPTY_SECONDS = 8.0  # without anybody, before everything is frozen anew, which takes up to 2 s
log = logging.getLogger(__name__)


@dataclass
class Collection:
    """work: done every so many seconds. last: when it was done, or one that does more."""

    work: Callable[[], None]
    every: float
    last: float = field(default_factory=time.monotonic)


class GcScheduler:
    """Collects garbage, each kind in its time, and everything when nobody is here any more."""

    def __init__(self) -> None:
        self.occupied = time.monotonic()  # when somebody was here last
        self.tidy = True
        self.plan = [  # the longest first: it does what the others would
            Collection(gc_tuning.collect_and_freeze, FREEZING_SECONDS),
            Collection(gc_tuning.collect_recent, RECENT_SECONDS),
            Collection(gc_tuning.collect_young, YOUNG_SECONDS),
        ]

    def seen(self) -> None:
        """Somebody is here, or has left garbage just now."""
        self.occupied, self.tidy = time.monotonic(), False

    async def sweep(self) -> None:
        """Do what is due."""
        if collectors.connections.open or embeds().open or session_release.remembered():
            self.seen()
            due = next((item for item in self.plan if self.occupied > item.last + item.every), None)
        elif not self.tidy and time.monotonic() > self.occupied + EMPTY_SECONDS:
            due, self.tidy = self.plan[0], True
        else:
            due = None
        if due is not None:
            for entry in self.plan[self.plan.index(due) :]:
                entry.last = time.monotonic()
            await asyncio.to_thread(due.work)
            if not collectors.connections.open:
                await asyncio.to_thread(gc_tuning.trim_heap)


class OrphanReaper:
    """Takes those out of the queues of `seqviz.jobs` whose page is no longer connected.

    At the second look: a reader whose line was cut comes back within a second or two.
    """

    def __init__(self) -> None:
        self.away: set[str] = set()

    async def look(self) -> None:
        """Look who is there."""
        queues = jobs.all_queues().values()
        owners = {owner for queue in queues for owner in queue.owners()}
        away = {owner for owner in owners if not run_context.connected(owner)}
        for owner in away & self.away:
            for queue in queues:
                queue.leave(owner)
        self.away = away


async def release_session(sweeper: GcScheduler) -> None:
    """Let go of the sessions whose time is over, while nobody else comes or goes.

    Streamlit looks for them only when another session ends: after a class the last hundred would
    stay in memory until the next one.
    """
    while session_release.let_go():  # perhaps one that came and left since the last look
        sweeper.seen()
        await asyncio.sleep(BREATH_SECONDS)


async def evict_forward_cache() -> None:
    """Long texts that nobody reads any more: a model that was never loaded has none."""
    cache = sys.modules.get("seqviz.models.forward_cache")
    if getattr(cache, "evict_idle", bool)():  # bool: it is not there, or half there by now
        await asyncio.to_thread(gc_tuning.trim_heap)


async def report_closed_sessions() -> None:
    """Count and log the sessions that have left memory."""
    run_context.flush_closed()


async def summarize_log() -> None:
    """Log how often was held back what has flooded the log."""
    logs.summarize()


async def run_maintenance() -> None:
    """Look every few seconds what is to be done, until this is cancelled."""
    sweeper = GcScheduler()
    tasks: dict[str, Callable[[], Awaitable[None]]] = {
        "cancel_orphaned_jobs": OrphanReaper().look,
        "release_sessions": lambda: release_session(sweeper),
        "report_closed_sessions": report_closed_sessions,
        "summarize_log": summarize_log,
        "evict_forward_cache": evict_forward_cache,
        "collect_garbage": sweeper.sweep,
    }
    failing: set[str] = set()
    while True:
        await asyncio.sleep(LOOKING_SECONDS)
        for name, task in tasks.items():
            try:
                await task()
                failing.discard(name)
            except Exception:
                if name not in failing:  # once, else the log would be full of it
                    failing.add(name)
                    log.exception("a maintenance task failed", extra={"task": name})
