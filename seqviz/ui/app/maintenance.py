"""Background maintenance: cancel jobs of closed sessions, release sessions, collect garbage.

Interactions leave garbage (Streamlit creates classes for each component of a page): without a
collection a sixth of the memory in ten minutes with fifty students. Pauses grow with the amount, so
collections are frequent. A failing task is logged and does not stop the others. `run_maintenance`
is the public entry.
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

LOOKING_SECONDS = 5.0  # between two rounds
BREATH_SECONDS = 0.02  # pause between two released sessions
YOUNG_SECONDS = 30.0  # between two collections of young objects, while clients are connected
RECENT_SECONDS = 120.0  # between two collections of objects created since the last one
FREEZING_SECONDS = 1_800.0  # between two full collections, which pause the process for up to 2 s
EMPTY_SECONDS = 8.0  # without clients, before a full collection, which takes up to 2 s
log = logging.getLogger(__name__)


@dataclass
class Collection:
    """A periodic kind of garbage collection.

    Attributes:
        work: runs it.
        every: seconds between two runs.
        last: time of the last run of this kind or a more thorough one.
    """

    work: Callable[[], None]
    every: float
    last: float = field(default_factory=time.monotonic)


class GcScheduler:
    """Schedule of garbage collections: periodic ones, and a full one when all clients have left."""

    def __init__(self) -> None:
        self.occupied = time.monotonic()  # last time that a client was connected
        self.tidy = True
        self.plan = [  # most thorough first: it replaces the others
            Collection(gc_tuning.collect_and_freeze, FREEZING_SECONDS),
            Collection(gc_tuning.collect_recent, RECENT_SECONDS),
            Collection(gc_tuning.collect_young, YOUNG_SECONDS),
        ]

    def seen(self) -> None:
        """Record that a client is connected or has just left garbage."""
        self.occupied, self.tidy = time.monotonic(), False

    async def sweep(self) -> None:
        """Run the collection that is due."""
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
    """Removes job subscriptions of disconnected pages, at the second check.

    A reader whose connection was lost returns within a second or two.
    """

    def __init__(self) -> None:
        self.away: set[str] = set()

    async def look(self) -> None:
        """Check which subscribers are connected."""
        queues = jobs.all_queues().values()
        owners = {owner for queue in queues for owner in queue.owners()}
        away = {owner for owner in owners if not run_context.connected(owner)}
        for owner in away & self.away:
            for queue in queues:
                queue.leave(owner)
        self.away = away


async def release_session(sweeper: GcScheduler) -> None:
    """Release expired sessions one at a time, with a pause after each.

    Streamlit checks for them only when another session ends: after a class the last hundred would
    stay in memory until the next one.
    """
    while session_release.let_go():  # it may have come and left since the last round
        sweeper.seen()
        await asyncio.sleep(BREATH_SECONDS)


async def evict_forward_cache() -> None:
    """Evict unused long texts from the forward cache, where one is loaded."""
    cache = sys.modules.get("seqviz.models.forward_cache")
    if getattr(cache, "evict_idle", bool)():  # bool() is False: absent, or still importing
        await asyncio.to_thread(gc_tuning.trim_heap)


async def report_closed_sessions() -> None:
    """Count and log freed sessions."""
    run_context.flush_closed()


async def summarize_log() -> None:
    """Log how many records the flood filter has suppressed."""
    logs.summarize()


async def run_maintenance() -> None:
    """Run the maintenance tasks every LOOKING_SECONDS until cancelled."""
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
                if name not in failing:  # logged once per series of failures
                    failing.add(name)
                    log.exception("maintenance: a task failed", extra={"task": name})
