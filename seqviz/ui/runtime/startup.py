"""Once per process: what has to be settled before the first student comes."""

from __future__ import annotations

import asyncio
import ctypes
import importlib.util
import logging
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache

from threadpoolctl import threadpool_limits

from seqviz.content import catalog
from seqviz.core import gc_tuning

# What lessons import when they need it; in an image, where time to start is no matter, before.
LIBRARIES = (
    "scipy.signal", "scipy.stats", "statsmodels.tsa.api", "pandas", "altair", "orjson",
    "nbformat.v4",
)  # fmt: skip

PAGE = "seqviz.ui.page.page_lesson"  # what is common to all pages of lessons
ARRIVING_SECONDS = 5.0  # of a first page that is opened at once, which takes all cores there are
READING_SECONDS = 20.0  # of the first student, before the libraries are loaded beside

TURN = 0.0005  # seconds, instead of Python's 0.005
M_ARENA_MAX, ARENAS = -8, 2  # from malloc.h; its own limit is eight heaps for each core

# Descriptors: the socket of a page and the event loop that Streamlit makes for its session; the
# loop of the page before, which is kept for two minutes after a reload; what a browser connects
# besides while a page loads.
PAGE_FILES, FORMER_FILES, LOADING_FILES = 4, 3, 6
STUDENTS = 300
OPEN_FILES = STUDENTS * (PAGE_FILES + FORMER_FILES + LOADING_FILES) + 100
MACOS_FILES = 10_240  # the most that it takes where the hard limit says "any number"
log = logging.getLogger(__name__)


def raise_fd_limit() -> None:
    """Let this process open as many files and sockets as it may, where that is few for a class."""
    try:
        import resource
    except ImportError:  # Windows, whose sockets are no files
        return
    kind = resource.RLIMIT_NOFILE

    def enough(limit: int) -> bool:
        return limit == resource.RLIM_INFINITY or limit >= OPEN_FILES

    soft, hard = resource.getrlimit(kind)
    for requested in (hard, MACOS_FILES):
        if not enough(soft):
            with suppress(ValueError, OSError):
                resource.setrlimit(kind, (requested, hard))
            soft = resource.getrlimit(kind)[0]
    if not enough(soft):
        log.warning(
            "at most %d files and sockets can be open; %d students need %d (ulimit -n)",
            soft, STUDENTS, OPEN_FILES,
        )  # fmt: skip


def look_for_torch() -> None:
    """Log where torch is missing: the app starts without it, and what needs it says so."""
    if importlib.util.find_spec("torch") is None:
        log.warning(
            "PyTorch is not installed: benches that need it say so, all others work "
            "(pip install torch)"
        )


@cache
def configure_process() -> None:
    """One thread per computation, and the loaded libraries taken out of garbage collection.

    Streamlit can collect after every run as well: that is off in `.streamlit/config.toml`.
    """
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    # Where numpy is loaded by now, it has read them already. Its second thread saves nothing on
    # small matrices, and spins for a tenth of a second after each product.
    threadpool_limits(int(os.environ["OMP_NUM_THREADS"].split(",")[0] or 1), user_api="blas")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    # A hundred students' runs take turns: short ones let a quick press pass a page that is opened.
    sys.setswitchinterval(TURN)
    if "MALLOC_ARENA_MAX" not in os.environ:
        # Every run is a new thread: what sessions keep would lie scattered over sixteen heaps.
        with suppress(AttributeError, OSError, TypeError):  # another system's library
            ctypes.CDLL(None).mallopt(M_ARENA_MAX, ARENAS)
    gc_tuning.freeze_now()


async def preload_in_background(occupied: Callable[[], bool]) -> None:
    """Load what the first page needs while it is on its way to a browser, then all the rest.

    One after another, so that this can be cancelled. occupied: whether somebody is here; who is
    here reads first, and a server that nobody visits needs no library.
    """
    first, *others = (f"seqviz.lessons.{lesson.slug}" for lesson in catalog.LESSONS)
    for name in (PAGE, first):
        await asyncio.to_thread(importlib.import_module, name)
    await asyncio.sleep(ARRIVING_SECONDS)
    for name in others:
        await asyncio.to_thread(importlib.import_module, name)
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
