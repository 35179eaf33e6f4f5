"""Computed once for the whole class: a bounded cache around pure functions.

Only this module caches. What is cached are frozen results of `seqviz.compute`; the clock runs
inside, so a figure can say how long its numbers took when they were computed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

import streamlit as st

R = TypeVar("R")
ENTRIES = 256
SIZE = "128MB"  # of the results of one function


@dataclass(frozen=True)
class Timed(Generic[R]):
    """A result and the seconds that its computation took (not the look-up)."""

    result: R
    seconds: float


@cache
def cached(function: Callable[..., R]) -> Callable[..., Timed[R]]:
    """`function` behind a cache of at most `ENTRIES` results and `SIZE`, keyed by its arguments."""

    def timed(*args: Any, **keywords: Any) -> Timed[R]:
        started = time.perf_counter()
        result = function(*args, **keywords)
        return Timed(result, time.perf_counter() - started)

    # Streamlit keys a cached function by its module and name: give each wrapper its own.
    timed.__module__ = function.__module__
    timed.__qualname__ = f"timed.{function.__qualname__}"
    timed.__name__ = function.__name__
    return st.cache_data(max_entries=ENTRIES, max_size=SIZE, show_spinner=False)(timed)
