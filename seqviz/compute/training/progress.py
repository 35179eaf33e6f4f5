"""How often a long run says where it is."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

_REPORTS = 50
_PATIENCE = 0.4  # seconds


def moments(updates: int) -> list[int]:
    """The updates after which to measure: 0, about fifty evenly spaced ones, and the last."""
    stride = -(-updates // _REPORTS)
    return [*range(0, updates, stride), updates]


class Pulse(Generic[T]):
    """Hands on records, and the latest one again when 0.4 s have passed since.

    A report is where a run hears that nobody wants it any more. Where updates are slow the records
    are seconds apart, and repeating one keeps a cancel from waiting for the next.
    """

    def __init__(self, report: Callable[[T], None] | None):
        self._report = report
        self._latest: T | None = None
        self._told = time.monotonic()

    def report(self, record: T) -> None:
        """Report a new record; whatever the report raises goes through."""
        self._latest = record
        if self._report is not None:
            self._report(record)
        self._told = time.monotonic()

    def beat(self) -> None:
        """Report the latest record again if it is time."""
        if self._latest is not None and time.monotonic() - self._told > _PATIENCE:
            self.report(self._latest)
