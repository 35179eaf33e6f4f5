"""Who asks, and what they have used: one account for a device, whatever tabs and lines it opens.

A device is known by a cookie that comes with a page: a random word, which this process keeps in
memory and forgets after a day, and which says nothing else; after a restart it keeps the one that
it brings. A browser that refuses it (the app in
another site's frame) shares an account with all others at its address that do; there is room in it
for each tab that is open. So who reconnects finds the same account, a class behind one router has
as many as it has devices, and who throws cookies away spoils it for others that do, not for those
that keep them. An address gets NEW_DEVICES at once, enough for a class, and then one in
ANOTHER seconds.

The address is that of the connection. Behind proxies of one's own (SEQVIZ_PROXIES says how many) it
is the one that the outermost of them has seen; what a visitor claims is not looked at.
"""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
import math
import re
import secrets
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from cachetools import TTLCache

from seqviz.core import settings

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "seqviz_device"
DAY = 24 * 3600.0
MAX_CLIENTS = 20_000  # devices, and as many addresses, that are remembered
NEW_DEVICES = 400
ANOTHER = 5.0  # seconds
COUNTED = 1.0  # seconds
LAST_TURN = 0.3  # of what a turn usually takes
SHARE_BACK = 0.1  # of the capacity is back before a student who was stopped goes on

Elsewhere = Callable[[Sequence["ClientQuota"], bool], bool]
elsewhere: Elsewhere | None = None
"""Brings accounts up to date with what their devices have used at other replicas of the app
(`ui.quota.redis_sync`); waits for that. make: also where none of them has heard of one; else False
comes back. None: there are no others."""
spent: set[ClientQuota] = (
    set()
)  # of these the others have not heard everything, where there are any


@dataclass
class LeakyBucket:
    """A leaky bucket: what is used fills it, and it drains at a steady rate.

    `wait` says how long a user whose bucket has run over has to wait: until a tenth of it is free
    again, so that the next press is not refused at once. A use is let in whole, however large: its
    size is known only afterwards. Capacity and rate are those of the call, as settings may change.
    total: all that was ever used here. synced: how much of it the other replicas have heard of.
    """

    clock: Callable[[], float] = time.monotonic
    used: float = 0.0
    over: bool = False
    total: float = 0.0
    synced: float = 0.0
    _at: float | None = None

    def consume(self, amount: float, capacity: float, rate: float) -> None:
        """Use so much."""
        self.leak(rate)
        self.total += amount
        self.used += amount
        self.over = self.over or self.used > capacity

    def retry_after(self, capacity: float, rate: float) -> float:
        """Seconds until the next use is let in; 0: now."""
        self.leak(rate)
        if self.over and self.used > (1 - SHARE_BACK) * capacity:
            return (self.used - (1 - SHARE_BACK) * capacity) / rate
        self.over = False
        return 0.0

    def sync(self, used: float, capacity: float) -> None:
        """What is in it now by all replicas, besides what they have not heard of."""
        self.used, self._at = used + self.total - self.synced, self.clock()
        self.over = self.over or self.used > capacity

    def leak(self, rate: float) -> float:
        """What is in it now."""
        now = self.clock()
        if self._at is not None:
            self.used = max(0.0, self.used - rate * (now - self._at))
        self._at = now
        return self.used


class Sessions(weakref.WeakSet[Any]):
    """Those that live. Threads add some while others list or count them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock, self._lock = clock, threading.Lock()
        self._open, self._counted = 0, -math.inf

    def add(self, tab: Any) -> None:
        with self._lock:
            super().add(tab)
            self._counted = -math.inf

    def listed(self) -> tuple[Any, ...]:
        """All of them."""
        with self._lock:
            return tuple(self)

    def __reduce__(self) -> tuple[type[Sessions], tuple[()]]:
        return Sessions, ()  # another process has no sessions

    @property
    def open(self) -> int:
        """How many are open; who has closed one is counted for COUNTED seconds more.

        Whoever waits in the draw queue is asked for it at each turn of anybody.
        """
        with self._lock:
            if (now := self._clock()) - self._counted >= COUNTED:
                self._open, self._counted = sum(tab.is_open for tab in self), now
            return self._open


@dataclass(eq=False)
class ClientQuota:
    """What one device has used. texts: those last read, with their tokens. messages: of its
    pages, sizes: of the large ones among them.

    turns: seconds of the processor that a turn of each kind takes, of the last ones more than of
    those before.
    shared: of all at one address that are not told apart. name: in the queues of `seqviz.jobs`.
    tabs: its sessions, of which those that are open count. key: its name among the app's replicas.
    given: devices that were new at this address. tabs_elsewhere, jobs_elsewhere: at other replicas.
    """

    seconds: LeakyBucket = field(default_factory=LeakyBucket)
    tokens: LeakyBucket = field(default_factory=LeakyBucket)
    messages: LeakyBucket = field(default_factory=LeakyBucket)
    sizes: LeakyBucket = field(default_factory=LeakyBucket)
    texts: OrderedDict[str, int] = field(default_factory=OrderedDict)
    turns: dict[int, float] = field(default_factory=dict)
    shared: bool = False
    name: str = field(default_factory=partial(secrets.token_hex, 8))
    tabs: Sessions = field(default_factory=Sessions, repr=False)
    key: str = ""
    given: LeakyBucket = field(default_factory=LeakyBucket)
    tabs_elsewhere: int = 0
    jobs_elsewhere: int = 0

    def took(self, seconds: float, rank: int) -> None:
        """One turn of this kind (a `draw_queue.Rank`) has taken so long."""
        usual = self.turns.get(rank, seconds)
        self.turns[rank] = usual + LAST_TURN * (seconds - usual)

    def expected_cpu_s(self, rank: int, /) -> float:
        """Seconds of the processor that a turn of this kind usually takes; the longest of others
        where there was none of it.
        """
        return self.turns.get(rank) or max(self.turns.values(), default=0.0)

    @property
    def students(self) -> int:
        """How many it is for."""
        return max(1, self.tabs.open + self.tabs_elsewhere) if self.shared else 1

    @property
    def recent_cpu_s(self) -> float:
        """Seconds of the processor used of late, for each student."""
        students = self.students
        rate: float = settings.value("SEQVIZ_CPU_REFILL")
        return self.seconds.leak(students * rate) / students


class ClientRegistry:
    """Those that this process knows."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._devices: TTLCache[str, ClientQuota] = TTLCache(MAX_CLIENTS, DAY, clock)
        self._addresses: TTLCache[str, ClientQuota] = TTLCache(MAX_CLIENTS, DAY, clock)

    def get(self, address: str, device: str | None) -> ClientQuota:
        """The account of a device, or what those share at this address that have none."""
        with self._lock:
            existing = self._devices.get(device or "")
            if existing is None:
                return self._at(address)
            self._devices[device or ""] = existing  # from now on for another day
            return existing

    def is_known(self, device: str | None) -> bool:
        """Whether this cookie is one of ours."""
        with self._lock:
            return device in self._devices

    @property
    def n_addresses(self) -> int:
        """How many addresses have come to this server within a day."""
        with self._lock:
            return len(self._addresses)

    def register(self, address: str, device: str | None = None) -> str | None:
        """A cookie for a new device; None where this address has had too many of late.

        device: the one that it brings, perhaps of a process before this one: it keeps that.
        """
        with self._lock:
            given = self._at(address).given
            if given.retry_after(NEW_DEVICES, 1 / ANOTHER):
                return None
            given.consume(1.0, NEW_DEVICES, 1 / ANOTHER)
            device = device or secrets.token_urlsafe(16)
            self._devices[device] = ClientQuota(key=key_of(device))
            return device

    def adopt(self, device: str) -> None:
        """Know this cookie where another replica has given it. Waits for who knows."""
        account = ClientQuota(key=key_of(device))
        if elsewhere and elsewhere([account], False):
            with self._lock:
                self._devices.setdefault(device, account)

    def _at(self, address: str) -> ClientQuota:
        client_quota = self._addresses.get(address) or ClientQuota(
            shared=True, key=key_of(address), given=LeakyBucket(self._clock)
        )
        self._addresses[address] = client_quota
        return client_quota


def key_of(of: str) -> str:
    """Of a cookie or an address, neither of which is to be read from it."""
    return hashlib.sha256(of.encode()).hexdigest()[:32]


@cache
def client_registry() -> ClientRegistry:
    """Those of this process."""
    return ClientRegistry()


def address(peer: str | None, forwarded: str) -> str:
    """Whom an account at this address is for; of IPv6 the first half, as a house has all of it.

    peer: who has connected. forwarded: the header X-Forwarded-For.
    """
    chain = [part.strip() for part in forwarded.split(",") if part.strip()]
    proxies: int = settings.value("SEQVIZ_PROXIES")
    observed = chain[-proxies] if 0 < proxies <= len(chain) else peer or ""
    try:
        result = ipaddress.ip_address(observed.removeprefix("[").split("]")[0])
    except ValueError:
        return "elsewhere"
    if result.version == 4:
        return str(result)
    inner = result.ipv4_mapped
    return str(inner or ipaddress.ip_network((result, 64), strict=False).network_address)


def cookie(headers: Mapping[bytes, bytes]) -> str | None:
    """The device's cookie among the headers of a request."""
    text = headers.get(b"cookie", b"").decode("latin-1")
    result = re.search(rf"(?:^|;)\s*{COOKIE}=([\w-]{{22}})(?:;|$)", text)
    return result[1] if result else None


def by_scope(scope: Scope) -> tuple[str, str | None]:
    """Address and device of a request; of a new device, what the answer brings it."""
    headers = dict(scope["headers"])
    forwarded = headers.get(b"x-forwarded-for", b"").decode("latin-1")
    device = scope.get(COOKIE) or cookie(headers)
    return address((scope.get("client") or [None])[0], forwarded), device


class PageMiddleware:
    """Middleware that passes on what does not ask for a page."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, or `page`."""
        await (self.page if is_page_request(scope) else self.app)(scope, receive, send)

    async def page(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A reader looks at a page."""
        raise NotImplementedError


class DeviceCookieMiddleware(PageMiddleware):
    """Gives a page's browser its cookie."""

    async def page(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on; the answer brings a new browser its cookie."""
        at, device = by_scope(scope)
        registry = client_registry()
        if registry.is_known(device) or (device := registry.register(at, device)) is None:
            await self.app(scope, receive, send)
            return
        if elsewhere:
            both = [client_registry().get(at, device), client_registry().get(at, None)]
            await asyncio.to_thread(elsewhere, both, True)

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                header = (b"set-cookie", _set(device, scope).encode())
                message = {**message, "headers": [*message.get("headers", ()), header]}
            await send(message)

        await self.app({**scope, COOKIE: device}, receive, answer)


class PeerCookieMiddleware:
    """Middleware that looks whether an unknown cookie is one that another replica has given."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, a moment later where it has to be asked for."""
        device = cookie(dict(scope["headers"])) if scope["type"] in ("http", "websocket") else None
        if device and not client_registry().is_known(device):
            await asyncio.to_thread(client_registry().adopt, device)
        await self.app(scope, receive, send)


def is_page_request(scope: Scope) -> bool:
    """Whether a browser opens an address to show it."""
    if scope["type"] != "http" or scope["method"] != "GET":
        return False
    return b"text/html" in dict(scope["headers"]).get(b"accept", b"")


def _set(device: str, scope: Scope) -> str:
    """Partitioned, so that a frame in another site's page may keep it, where there is TLS."""
    proto = dict(scope["headers"]).get(b"x-forwarded-proto", scope["scheme"].encode())
    framed = "SameSite=None; Secure; Partitioned" if proto == b"https" else "SameSite=Lax"
    return f"{COOKIE}={device}; Path=/; HttpOnly; {framed}"
