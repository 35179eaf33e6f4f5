"""Who uses benches in other sites' pages (`ui.page.embed`): sessions without a websocket.

One is made when somebody first touches a control there, not for who only looks. It is charged to
the account of its device, takes no seat, and holds nothing that its page could not send again: one
that has been forgotten is made anew, and nobody notices. So few have to be kept: MOST in all,
OWN of one device, SHARED of those at one address that cannot be told apart (a class behind one
router, in whose course page no cookie of ours is kept), and each for IDLE seconds after its last
use. For what such an address may use, those count as tabs that were used within OPEN seconds.
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
    """A bench in another site's page."""

    @property
    def is_open(self) -> bool:
        """Whether it has been used of late."""
        return time.monotonic() - self.seen < OPEN


class Embeds:
    """Those of this process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._lock = threading.Lock()
        self._kept: TTLCache[str, Embedded] = TTLCache(MAX_SESSIONS, IDLE, clock)

    def of(self, token: str, account: ClientQuota) -> Embedded:
        """The session of this token, else a new one for the account."""
        with self._lock:
            embedded = self._kept.pop(token, None) or self._new(account)
            self._kept[embedded.token] = embedded  # from now on for IDLE seconds
        embedded.seen = time.monotonic()
        return embedded

    def _new(self, account: ClientQuota) -> Embedded:
        """The one that was used longest ago goes where an account has too many."""
        self._kept.expire()
        same = [item for item in self._kept.values() if item.account is account]
        if len(same) >= (SHARED if account.shared else OWN):
            del self._kept[same[0].token]
        embedded = Embedded(secrets.token_hex(4), time.monotonic(), account=account)
        if account.shared:  # of a device told apart, tabs are what has come past the line (`seats`)
            account.tabs.add(embedded)
        return run_context.register(embedded)

    @property
    def open(self) -> int:
        """How many have been used of late."""
        with self._lock:
            return sum(item.is_open for item in self._kept.values())


@cache
def embeds() -> Embeds:
    """Those of this process."""
    return Embeds()
