"""Garbage collector tuning: permanent objects are frozen, full collections are scheduled."""

from __future__ import annotations

import ctypes
import gc
from contextlib import suppress

from seqviz.core import settings

# Generation 0 is collected after 2,000 net allocations, older ones hardly ever automatically.
# With a hundred sessions a full collection stops the server for 0.4 s, and Python's default
# thresholds cause one every eight seconds. `ui.streamlit_patches.session_release` frees the objects
# of closed sessions; `ui.app.maintenance` schedules the other collections.
THRESHOLDS = (2_000, 1_000, 1_000)


class Frozen:
    """Holder of the number of frozen objects.

    Python counts them by walking over all of them. That stops the process for 60 ms with half a
    million objects, too long for every request of /metrics.

    Attributes:
        count: objects excluded from collection, as counted by the last `freeze_now`.
    """

    count = 0


frozen = Frozen()


def collect_and_freeze() -> None:
    """Collect garbage and freeze all remaining objects, after loading a library or a model.

    Freezing excludes about half a million permanent objects from later collections. A full
    collection takes 158 ms with them and a few milliseconds without (shared/platform.md: 30
    students wait 20 ms instead of seconds). Objects frozen earlier are examined once more, as
    sessions of that time may have closed.
    """
    if settings.value("SEQVIZ_GC_FREEZE"):
        gc.unfreeze()
        gc.collect()
        freeze_now()


def freeze_now() -> None:
    """Freeze all objects without a collection, for the server's start.

    It takes a twentieth of the time of `collect_and_freeze`, which later collects the little
    garbage that is frozen here.
    """
    if settings.value("SEQVIZ_GC_FREEZE"):
        gc.freeze()
        frozen.count = gc.get_freeze_count()
        gc.set_threshold(*THRESHOLDS)


def collect_young() -> None:
    """Collect generations 0 and 1, which hold most of the garbage of interactions."""
    if settings.value("SEQVIZ_GC_FREEZE"):
        gc.collect(1)


def collect_recent() -> None:
    """Collect all objects that are not frozen, then freeze the remaining ones.

    Frozen objects that become cyclic garbage later are collected by `collect_and_freeze`.
    """
    if settings.value("SEQVIZ_GC_FREEZE"):
        gc.collect()
        gc.freeze()


def trim_heap() -> None:
    """Return unused heap memory to the system (`malloc_trim`); 17 ms after 400 MB were freed.

    glibc keeps free blocks between used ones. With another C library this does nothing.
    """
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
