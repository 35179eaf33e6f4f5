"""Sessions of embedded benches, which have no websocket.

A session is created when a reader first uses a control, not for one who only looks. It is charged
to the quota of its device, occupies no seat, and holds nothing that its page could not send again:
a forgotten one is recreated unnoticed. So few are retained: MAX_SESSIONS in all, OWN of one device,
SHARED of an address whose devices cannot be distinguished (a class behind one router, in whose
course page no cookie is kept), each for IDLE seconds after its last use. In the quota of such an
address, sessions used within OPEN seconds count as open tabs.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from cachetools import TTLCache

from seqviz.ui.runtime import run_context
from seqviz.ui.runtime.clients import ClientQuota
from seqviz.ui.runtime.run_context import Session

IDLE = 600.0  # seconds
OPEN = 180.0
MAX_SESSIONS = 2_000
OWN, SHARED = 40, 400


@dataclass(eq=False)
class Embedded(Session):
    """Session of an embedded bench."""

    @property
    def is_open(self) -> bool:
        """True where it was used within OPEN seconds."""
        return time.monotonic() - self.seen < OPEN


class Embeds:
    """Sessions of embedded benches, with a time limit and a limit per quota."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._lock = threading.Lock()
        self._kept: TTLCache[str, Embedded] = TTLCache(MAX_SESSIONS, IDLE, clock)

    def of(self, token: str, account: ClientQuota) -> Embedded:
        """Return the session of a token, or a new one charged to the quota."""
        with self._lock:
            embedded = self._kept.pop(token, None) or self._new(account)
            self._kept[embedded.token] = embedded  # renews its IDLE seconds
        embedded.seen = time.monotonic()
        return embedded

    def _new(self, account: ClientQuota) -> Embedded:
        """Create a session; it replaces the least recently used one of a full quota."""
        self._kept.expire()
        same = [item for item in self._kept.values() if item.account is account]
        if len(same) >= (SHARED if account.shared else OWN):
            del self._kept[same[0].token]
        embedded = Embedded(secrets.token_hex(4), time.monotonic(), account=account)
        if account.shared:  # tabs of a known device are those admitted by `admission`
            account.tabs.add(embedded)
        return run_context.register(embedded)

    @property
    def open(self) -> int:
        """Number of sessions in use."""
        with self._lock:
            return sum(item.is_open for item in self._kept.values())


@cache
def embeds() -> Embeds:
    """Return the sessions of this process."""
    return Embeds()
