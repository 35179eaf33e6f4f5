"""What a clock says of one call."""

from __future__ import annotations

import time
from collections.abc import Callable


def timed(work: Callable[[], object]) -> float:
    """Of one call, on the wall."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
