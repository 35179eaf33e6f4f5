"""What is loaded for good is taken out of Python's garbage collection."""

from __future__ import annotations

import ctypes
import gc
from contextlib import suppress

from seqviz.core import settings

# Young objects are looked at when 2,000 have come; all others almost never by themselves: with a
# hundred sessions that stops the class for 0.4 s, and with Python's own setting it came every eight
# seconds. What sessions hold is given back when they have left
# (`ui.streamlit_patches.session_release`), the rest collected at moments that
# `ui.app.maintenance` chooses.
THRESHOLDS = (2_000, 1_000, 1_000)


class Frozen:
    """count: objects that no collection looks at, as counted at the last `freeze`.

    Python counts them by walking over all: with half a million everything stops for 60 ms, too
    long for each time that somebody reads /metrics.
    """

    count = 0


frozen = Frozen()


def collect_and_freeze() -> None:
    """Call after a heavy library or a model has been loaded.

    Half a million objects that will never be garbage are then looked at no more: a collection of
    everything takes 158 ms with them and a few without (shared/platform.md: 30 students wait 20 ms
    instead of seconds). What was frozen before is looked at once again, since a session that was
    open at that time may have left.
    """
    if settings.value("SEQVIZ_GC_FREEZE"):
        gc.unfreeze()
        gc.collect()
        freeze_now()


def freeze_now() -> None:
    """As `freeze`, without a collection before: at the start that is a twentieth of the time.

    What is garbage by then, next to nothing, waits for `freeze`.
    """
    if settings.value("SEQVIZ_GC_FREEZE"):
        gc.freeze()
        frozen.count = gc.get_freeze_count()
        gc.set_threshold(*THRESHOLDS)


def collect_young() -> None:
    """Collect what has come and gone since the last time, which is most of what presses leave."""
    if settings.value("SEQVIZ_GC_FREEZE"):
        gc.collect(1)


def collect_recent() -> None:
    """Collect all that has become garbage since the last time, and freeze what is left.

    It does not look at what was there before: what is frozen and becomes garbage in cycles
    afterwards waits for `freeze`.
    """
    if settings.value("SEQVIZ_GC_FREEZE"):
        gc.collect()
        gc.freeze()


def trim_heap() -> None:
    """Give memory that nothing uses back to the system: it takes 17 ms after 400 MB were freed.

    The C library keeps what lies between things in use; where it is another one, nothing is done.
    """
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
