"""Cache of a function's results that threads share: equal calls wait for one computation."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def cached_once(function: Callable[P, R]) -> Callable[P, R]:
    """Return the function with a cache, as `functools.cache`, whose results are computed once.

    `functools.cache` lets threads that call a function before its first result all compute it.

    Args:
        function: its arguments must be hashable.
    """
    results: dict[Hashable, R] = {}
    turns: dict[Hashable, threading.Lock] = {}

    @wraps(function)
    def call(*args: P.args, **keywords: P.kwargs) -> R:
        key = args, *sorted(keywords.items())
        with turns.setdefault(key, threading.Lock()):
            if key not in results:
                results[key] = function(*args, **keywords)
            return results[key]

    return call
