"""Frequency of measurements and of progress reports in a long run."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

_REPORTS = 50
_PATIENCE = 0.4  # seconds


def moments(updates: int) -> list[int]:
    """Return the numbers of updates at which to measure: 0, about fifty evenly spaced, the last."""
    stride = -(-updates // _REPORTS)
    return [*range(0, updates, stride), updates]


class Pulse(Generic[T]):
    """Progress reporter that repeats the latest record 0.4 s after the last report.

    The callback `report` cancels an unwanted run by raising. Where updates are slow, records are
    seconds apart; repeating one lets a cancel take effect before the next.
    """

    def __init__(self, report: Callable[[T], None] | None):
        self._report = report
        self._latest: T | None = None
        self._told = time.monotonic()

    def report(self, record: T) -> None:
        """Report a new record; an exception of the callback propagates."""
        self._latest = record
        if self._report is not None:
            self._report(record)
        self._told = time.monotonic()

    def beat(self) -> None:
        """Report the latest record again if more than 0.4 s have passed since the last report."""
        if self._latest is not None and time.monotonic() - self._told > _PATIENCE:
            self.report(self._latest)
