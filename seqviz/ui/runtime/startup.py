"""Start of a process: limits, thread settings, and imports before the first request."""

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

from seqviz.content import catalog, search_index
from seqviz.core import gc_tuning
from seqviz.core.i18n import LANGUAGES

# Imported by lessons on demand; an image imports them at its start, where time does not matter.
LIBRARIES = (
    "scipy.signal", "scipy.stats", "statsmodels.tsa.api", "pandas", "altair", "orjson",
    "nbformat.v4",
)  # fmt: skip

PAGE = "seqviz.ui.page.page_lesson"  # the module that all lesson pages share
ARRIVING_SECONDS = 5.0  # for a page opened at the start, which needs all cores
READING_SECONDS = 20.0  # of the first student, before the libraries are imported in the background

TURN = 0.0005  # seconds of the switch interval; Python's default is 0.005
M_ARENA_MAX, ARENAS = -8, 2  # from malloc.h; the default is eight arenas per core

# Descriptors. A page: its socket and the event loop that Streamlit creates for its session. A
# former page: its loop, retained for two minutes after a reload. A loading page: further
# connections of the browser.
PAGE_FILES, FORMER_FILES, LOADING_FILES = 4, 3, 6
STUDENTS = 300
OPEN_FILES = STUDENTS * (PAGE_FILES + FORMER_FILES + LOADING_FILES) + 100
MACOS_FILES = 10_240  # the largest soft limit that macOS accepts under an unlimited hard limit
log = logging.getLogger(__name__)


def raise_fd_limit() -> None:
    """Raise the soft limit of open files as far as allowed, where it is too low for a class."""
    try:
        import resource
    except ImportError:  # Windows, where sockets are not files
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
            "startup: at most %d files and sockets can be open; %d students need %d (ulimit -n)",
            soft, STUDENTS, OPEN_FILES,
        )  # fmt: skip


def look_for_torch() -> None:
    """Log a warning if torch is missing; the app starts without it."""
    if importlib.util.find_spec("torch") is None:
        log.warning(
            "startup: PyTorch is not installed; benches that need it say so, all others work "
            "(pip install torch)"
        )


@cache
def configure_process() -> None:
    """Set one thread per computation and exclude loaded modules from garbage collection.

    Streamlit's own collection after every run is disabled in `.streamlit/config.toml`.
    """
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    # If numpy is loaded, it has already read the variables. Its second thread saves nothing on
    # small matrices and spins for a tenth of a second after each product.
    threadpool_limits(int(os.environ["OMP_NUM_THREADS"].split(",")[0] or 1), user_api="blas")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    # With a hundred runs, short switches let a quick interaction overtake a page that is opening.
    sys.setswitchinterval(TURN)
    if "MALLOC_ARENA_MAX" not in os.environ:
        # Each run is a new thread; with more arenas the memory of sessions would spread over
        # sixteen heaps.
        with suppress(AttributeError, OSError, TypeError):  # a C library without mallopt
            ctypes.CDLL(None).mallopt(M_ARENA_MAX, ARENAS)
    gc_tuning.freeze_now()


async def preload_in_background(occupied: Callable[[], bool]) -> None:
    """Import the modules of the first page and all lessons, build the search, import libraries.

    At the end the functions are called that lessons have declared (`Lesson.warm_up`).

    They run one at a time, so the task can be cancelled between them.

    Args:
        occupied: returns True once a client is there; until then no library is imported, and the
            first client's page comes first.
    """
    first, *others = (f"seqviz.lessons.{lesson.slug}" for lesson in catalog.LESSONS)
    for name in (PAGE, first):
        await asyncio.to_thread(importlib.import_module, name)
    await asyncio.sleep(ARRIVING_SECONDS)
    for name in others:
        await asyncio.to_thread(importlib.import_module, name)
    for lang in LANGUAGES:
        await asyncio.to_thread(search_index.rows, lang)
    while not occupied():
        await asyncio.sleep(1.0)
    await asyncio.sleep(READING_SECONDS)
    for name in (*LIBRARIES, "torch"):
        with suppress(ImportError):  # the benches that need it say so
            await asyncio.to_thread(importlib.import_module, name)
    for name in (first, *others):
        for function in getattr(getattr(sys.modules.get(name), "lesson", None), "warm_up", ()):
            await asyncio.to_thread(function)


def load_libraries() -> None:
    """Import the slow libraries in advance."""
    for name in LIBRARIES:
        importlib.import_module(name)
