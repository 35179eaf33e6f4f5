"""Once per process: what has to be settled before the first student comes."""

from __future__ import annotations

import asyncio
import ctypes
import importlib
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache

from threadpoolctl import threadpool_limits

from seqviz import catalog, garbage

# What lessons import when they need it; in an image, where time to start is no matter, before.
LIBRARIES = (
    "scipy.signal", "scipy.stats", "statsmodels.tsa.api", "pandas", "altair", "orjson",
    "nbformat.v4",
)  # fmt: skip

READING_SECONDS = 20.0  # of the first student, before the libraries are loaded beside

TURN = 0.0005  # seconds, instead of Python's 0.005
M_ARENA_MAX, ARENAS = -8, 2  # from malloc.h; its own limit is eight heaps for each core


@cache
def prepare() -> None:
    """One thread per computation, and the loaded libraries taken out of garbage collection.

    Streamlit can collect after every run as well: that is off in `.streamlit/config.toml`.
    """
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    # Streamlit has loaded numpy by now, which has read them already. Its second thread saves
    # nothing on small matrices, and spins for a tenth of a second after each product.
    threadpool_limits(int(os.environ["OMP_NUM_THREADS"].split(",")[0] or 1), user_api="blas")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    # A hundred students' runs take turns: short ones let a quick press pass a page that is opened.
    sys.setswitchinterval(TURN)
    if "MALLOC_ARENA_MAX" not in os.environ:
        # Every run is a new thread: what sessions keep would lie scattered over sixteen heaps.
        with suppress(AttributeError, OSError, TypeError):  # another system's library
            ctypes.CDLL(None).mallopt(M_ARENA_MAX, ARENAS)
    garbage.freeze()


async def load_beside(occupied: Callable[[], bool]) -> None:
    """Load the lessons while the first page is on its way to a browser, the libraries after it.

    One after another, so that this can be cancelled. occupied: whether somebody is here; who is
    here reads first, and a server that nobody visits needs none of them.
    """
    for lesson in catalog.LESSONS:
        await asyncio.to_thread(importlib.import_module, f"seqviz.lessons.{lesson.slug}")
    while not occupied():
        await asyncio.sleep(1.0)
    await asyncio.sleep(READING_SECONDS)
    for name in (*LIBRARIES, "torch"):
        with suppress(ImportError):  # who needs it says so
            await asyncio.to_thread(importlib.import_module, name)


def load_libraries() -> None:
    """Import what takes seconds to import, so that no student waits for it."""
    for name in LIBRARIES:
        importlib.import_module(name)
