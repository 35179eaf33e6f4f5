"""Admission control: a limit on concurrent clients, and the waiting page for the next one.

A seat is occupied by a device that was active within IDLE_S seconds, and for GRACE_S seconds by one
that was just admitted. An admitted device stays in: after IDLE_S it occupies no seat, but continues
and opens further pages as before. A waiting client has a position in the line; its page reloads
every REFRESH_S seconds, and a client that does not reload for EXPIRE_S seconds is dropped. A
browser that does not keep the device cookie (`ui.runtime.clients`) comes after all that wait.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from seqviz.core import settings
from seqviz.core.i18n import Text
from seqviz.ui.runtime import metrics, run_context
from seqviz.ui.runtime.clients import COOKIE, ClientQuota, PageMiddleware, by_scope, client_registry

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

IDLE_S = 180.0  # seconds
GRACE_S = 20.0
REFRESH_S = 5
EXPIRE_S = 20.0
PAGE = """<!doctype html><html lang="{lang}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><meta http-equiv="refresh" content="{again}">
<title>SeqViz</title><style>
:root {{color-scheme: light dark}}
body {{font: 1.15rem/1.6 system-ui, sans-serif; max-width: 34rem; margin: 18vh auto;
  padding: 0 1rem}}
b {{font-size: 2.6rem; display: block}}
</style></head><body><h1>{title}</h1><p>{full}</p><p><b>{place}</b>{line}</p><p>{when}</p>
</body></html>"""


@dataclass
class AdmissionControl:
    """Seats and the waiting line.

    Attributes:
        active: returns the number of students active since a time.
        clock: time in seconds.
        entered: time of admission of devices admitted within GRACE_S.
        line: time of the last request of each waiting client, in order.
    """

    active: Callable[[float], int]
    clock: Callable[[], float] = time.monotonic
    entered: dict[ClientQuota, float] = field(default_factory=dict)
    line: dict[ClientQuota, float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def admit(self, account: ClientQuota, max_clients: int, new: bool = False) -> int:
        """Return 0 to admit a client, else its position in the line.

        Args:
            account: quota of the client.
            max_clients: number of seats; 0: unlimited.
            new: the client has not sent its cookie back yet; it comes after those that have.
        """
        now = self.clock()
        with self._lock:
            self.entered = {a: t for a, t in self.entered.items() if now - t < GRACE_S}
            self.line = {a: t for a, t in self.line.items() if now - t < EXPIRE_S}
            existing = not account.shared and (account in self.entered or bool(account.tabs))
            line = [*self.line]
            index = line.index(account) if account in self.line else len(line)
            if existing or not max_clients or index < max_clients - self.count_occupied(now):
                self.line.pop(account, None)
                self.entered.setdefault(account, now)  # a reload does not renew the grace period
                return 0
            if not new:
                self.line[account] = now  # renews the entry; the position stays
            return index + 1

    def count_occupied(self, now: float) -> int:
        """Return the number of occupied seats."""
        return self.active(now - IDLE_S) + sum(not account.tabs for account in self.entered)


seats = AdmissionControl(run_context.count_active)


class AdmissionMiddleware(PageMiddleware):
    """ASGI middleware that admits page requests while a seat is free."""

    async def page(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or respond with the waiting page and status 503."""
        maximum = settings.value("SEQVIZ_MAX_CLIENTS")
        account = client_registry().get(*by_scope(scope))
        if not (index := seats.admit(account, maximum, new=COOKIE in scope or account.shared)):
            await self.app(scope, receive, send)
            return
        metrics.refused("seat")
        body = waiting_page(scope, index, maximum).encode()
        headers = [
            (b"content-type", b"text/html; charset=utf-8"),
            (b"content-length", str(len(body)).encode()),
            (b"cache-control", b"no-store"),
            (b"retry-after", str(REFRESH_S).encode()),
        ]
        await send({"type": "http.response.start", "status": 503, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def waiting_page(scope: Scope, index: int, max_clients: int) -> str:
    """Return the waiting page in the language of the link, else of the browser."""
    headers = dict(scope["headers"])
    query = dict(parse_qsl(scope["query_string"].decode("latin-1")))
    preferred = headers.get(b"accept-language", b"").decode("latin-1")
    text = Text(settings.language(query.get("lang"), preferred))
    minutes = math.ceil(IDLE_S / 60)
    return PAGE.format(
        lang=text("frame.language_tag"),
        again=REFRESH_S,
        title=escape(text("seats.title")),
        full=escape(text("seats.full", seats=max_clients)),
        place=index,
        line=escape(text("seats.line")),
        when=escape(text("seats.when", minutes=minutes, again=REFRESH_S)),
    )
