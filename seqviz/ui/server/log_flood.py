"""Log filter that limits repeated records: a few per minute are written, the rest counted."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass

MINUTE_S = 60.0
MAX_LINES = 5  # per minute and message; an exception has one line per traceback
MAX_KINDS = 1000  # kinds of records that are distinguished


@dataclass
class _Kind:
    """One kind of record.

    Attributes:
        began: start of its minute.
        lines: records written in that minute.
        held: records suppressed.
        last: the last suppressed record.
    """

    began: float
    lines: int = 0
    held: int = 0
    last: logging.LogRecord | None = None


class FloodFilter(logging.Filter):
    """Logging filter that suppresses frequent records of level WARNING and above.

    Args:
        clock: in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock, self._lock = clock, threading.Lock()
        self._kinds: OrderedDict[tuple[str, ...], _Kind] = OrderedDict()

    def filter(self, record: logging.LogRecord) -> bool:
        """Return True where the record is written."""
        if record.levelno < logging.WARNING or hasattr(record, "repeated"):
            return True
        # An exception is identified by its frames alone, which hold no message (`logs.frames`).
        key = (record.name, str(record.msg), record.exc_text or "")
        with self._lock:
            now = self._clock()
            kind = self._kinds.get(key)
            if kind is None or (now > kind.began + MINUTE_S and not kind.held):
                kind = self._kinds[key] = _Kind(now)
                self._kinds.move_to_end(key)
                while len(self._kinds) > MAX_KINDS:
                    self._kinds.popitem(last=False)
            if kind.lines < (1 if record.exc_text else MAX_LINES):
                kind.lines += 1
                return True
            kind.held, kind.last = kind.held + 1, record
            return False

    def summaries(self) -> list[logging.LogRecord]:
        """Return a record with the number suppressed for each kind whose minute is over."""
        results = []
        with self._lock:
            now = self._clock()
            for key, kind in [*self._kinds.items()]:
                if now <= kind.began + MINUTE_S:
                    continue
                if kind.last is None:
                    del self._kinds[key]
                    continue
                record = copy(kind.last)
                record.exc_text, record.repeated = None, kind.held
                results.append(record)
                self._kinds[key] = _Kind(now, lines=MAX_LINES)
        return results
