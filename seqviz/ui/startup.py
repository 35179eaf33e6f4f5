"""Once per process: what has to be settled before the first student comes."""

from __future__ import annotations

import gc
import os
from functools import cache


@cache
def prepare() -> None:
    """One thread per computation, and the loaded libraries taken out of garbage collection.

    Streamlit can collect after every run (off in `.streamlit/config.toml`); freezing what is
    loaded keeps the collections that Python itself starts short (shared/platform.md: 30 students
    wait 20 ms instead of seconds).
    """
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    settle()


def settle() -> None:
    """Call again after a heavy library or a model has been loaded."""
    gc.collect()
    gc.freeze()
