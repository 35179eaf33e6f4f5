"""Per-device quotas: one `ClientQuota` per device cookie, for all its tabs and sockets.

The cookie is a random word that a page sets. This process remembers it for a day, and adopts one
that a browser brings from before a restart. Browsers that reject the cookie (the app in a frame of
another site) share one quota per address, whose limits grow with the number of open tabs. A client
that reconnects therefore finds its quota, a class behind one router has one quota per device, and a
client that discards cookies affects only others without one. One address gets NEW_DEVICES cookies
at once, enough for a class, then one every ANOTHER seconds.

The address is that of the connection. Behind SEQVIZ_PROXIES proxies of the operator it is the one
that the outermost of them has recorded; entries that a client adds are ignored.
`client_registry()` is the public entry.
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
MAX_CLIENTS = 20_000  # of the registry: devices, and as many addresses
NEW_DEVICES = 400
ANOTHER = 5.0  # seconds between two new devices of one address, after the first NEW_DEVICES
COUNTED = 1.0  # seconds that a count of open tabs is reused
LAST_TURN = 0.3  # weight of the last turn in the moving average of CPU time
SHARE_BACK = 0.1  # share of the capacity that is free again before a rejected client continues

SyncAccounts = Callable[[Sequence["ClientQuota"], bool], bool]
sync_accounts: SyncAccounts | None = None
"""Update quotas, blocking, with the usage of their devices at other replicas of the app
(`ui.quota.redis_sync`). The flag says to create those that no replica knows; without it such a call
returns False. None: there are no other replicas."""
spent: set[ClientQuota] = set()  # quotas with usage that the other replicas have not received


@dataclass
class LeakyBucket:
    """A leaky bucket: usage fills it and drains at a constant rate.

    After an overflow a client waits until SHARE_BACK of the capacity is free again, so that the
    next interaction is not rejected at once. A use is admitted in full, however large: its size is
    known only afterwards. Capacity and rate are arguments of each call because settings may change.

    Attributes:
        clock: time in seconds.
        used: level at the last update.
        over: True from an overflow until enough has drained.
        total: everything that was ever used in this process.
        synced: the part of `total` already reported to the other replicas.
    """

    clock: Callable[[], float] = time.monotonic
    used: float = 0.0
    over: bool = False
    total: float = 0.0
    synced: float = 0.0
    _at: float | None = None

    def consume(self, amount: float, capacity: float, rate: float) -> None:
        """Add an amount."""
        self.leak(rate)
        self.total += amount
        self.used += amount
        self.over = self.over or self.used > capacity

    def retry_after(self, capacity: float, rate: float) -> float:
        """Return seconds until the next use is admitted; 0: now."""
        self.leak(rate)
        if self.over and self.used > (1 - SHARE_BACK) * capacity:
            return (self.used - (1 - SHARE_BACK) * capacity) / rate
        self.over = False
        return 0.0

    def sync(self, used: float, capacity: float) -> None:
        """Set the level to that of all replicas plus what was not reported to them yet."""
        self.used, self._at = used + self.total - self.synced, self.clock()
        self.over = self.over or self.used > capacity

    def leak(self, rate: float) -> float:
        """Drain the bucket up to now and return its level."""
        now = self.clock()
        if self._at is not None:
            self.used = max(0.0, self.used - rate * (now - self._at))
        self._at = now
        return self.used


class Sessions(weakref.WeakSet[Any]):
    """A thread-safe weak set of sessions."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock, self._lock = clock, threading.Lock()
        self._open, self._counted = 0, -math.inf

    def add(self, tab: Any) -> None:
        with self._lock:
            super().add(tab)
            self._counted = -math.inf

    def listed(self) -> tuple[Any, ...]:
        """Return all live sessions."""
        with self._lock:
            return tuple(self)

    def __reduce__(self) -> tuple[type[Sessions], tuple[()]]:
        return Sessions, ()  # another process has no sessions

    @property
    def open(self) -> int:
        """Number of open sessions; recounted after COUNTED seconds.

        The count is cached because the scheduler reads it for every waiting ticket at each
        dispatch.
        """
        with self._lock:
            if (now := self._clock()) - self._counted >= COUNTED:
                self._open, self._counted = sum(tab.is_open for tab in self), now
            return self._open


@dataclass(eq=False)
class ClientQuota:
    """Usage of one device.

    Attributes:
        seconds: CPU seconds.
        tokens: tokens read by models.
        messages: websocket messages of its pages.
        sizes: size of the large ones among them, in units of `websocket_rate.SIZE`.
        texts: texts read last, with their token counts.
        turns: moving average of the CPU seconds of a turn, by priority.
        shared: the quota is that of all clients without a cookie at one address.
        name: group of the device in the queues of `seqviz.jobs`.
        tabs: its sessions; the open ones count.
        key: its name among the replicas of the app.
        given: new devices of this address.
        tabs_elsewhere: open tabs at other replicas.
        jobs_elsewhere: jobs at other replicas.
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
        """Update the moving average of CPU seconds for turns of a `scheduler.Priority`."""
        usual = self.turns.get(rank, seconds)
        self.turns[rank] = usual + LAST_TURN * (seconds - usual)

    def expected_cpu_s(self, rank: int, /) -> float:
        """Return the usual CPU seconds of a turn of this priority.

        Without a turn of this priority: the largest average of the others.
        """
        return self.turns.get(rank) or max(self.turns.values(), default=0.0)

    @property
    def students(self) -> int:
        """Number of students who share the quota."""
        return max(1, self.tabs.open + self.tabs_elsewhere) if self.shared else 1

    @property
    def recent_cpu_s(self) -> float:
        """Recently used CPU seconds per student."""
        students = self.students
        rate: float = settings.value("SEQVIZ_CPU_REFILL")
        return self.seconds.leak(students * rate) / students


class ClientRegistry:
    """Quotas of the devices and addresses that this process remembers."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._devices: TTLCache[str, ClientQuota] = TTLCache(MAX_CLIENTS, DAY, clock)
        self._addresses: TTLCache[str, ClientQuota] = TTLCache(MAX_CLIENTS, DAY, clock)

    def get(self, address: str, device: str | None) -> ClientQuota:
        """Return the quota of a known device, else the shared one of the address."""
        with self._lock:
            existing = self._devices.get(device or "")
            if existing is None:
                return self._at(address)
            self._devices[device or ""] = existing  # renews the day of its entry
            return existing

    def is_known(self, device: str | None) -> bool:
        """Return True where this process remembers the cookie."""
        with self._lock:
            return device in self._devices

    @property
    def n_addresses(self) -> int:
        """Number of addresses seen within a day."""
        with self._lock:
            return len(self._addresses)

    def register(self, address: str, device: str | None = None) -> str | None:
        """Return the cookie of a new device; None where the address has had too many.

        Args:
            address: of the client.
            device: cookie that the client already has, perhaps from before a restart; it is
                adopted.
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
        """Register a cookie that another replica has issued; blocks until the replicas answer."""
        account = ClientQuota(key=key_of(device))
        if sync_accounts and sync_accounts([account], False):
            with self._lock:
                self._devices.setdefault(device, account)

    def _at(self, address: str) -> ClientQuota:
        client_quota = self._addresses.get(address) or ClientQuota(
            shared=True, key=key_of(address), given=LeakyBucket(self._clock)
        )
        self._addresses[address] = client_quota
        return client_quota


def key_of(of: str) -> str:
    """Return a hash of a cookie or an address, from which neither can be read."""
    return hashlib.sha256(of.encode()).hexdigest()[:32]


@cache
def client_registry() -> ClientRegistry:
    """Return the registry of this process."""
    return ClientRegistry()


def address(peer: str | None, forwarded: str) -> str:
    """Return the address that a shared quota belongs to; of IPv6 the /64 network.

    A household usually has a whole /64 network.

    Args:
        peer: address of the connection.
        forwarded: the header X-Forwarded-For.
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
    """Return the device cookie in the headers of a request."""
    text = headers.get(b"cookie", b"").decode("latin-1")
    result = re.search(rf"(?:^|;)\s*{COOKIE}=([\w-]{{22}})(?:;|$)", text)
    return result[1] if result else None


def by_scope(scope: Scope) -> tuple[str, str | None]:
    """Return address and device of a request; for a new device, the cookie being set."""
    headers = dict(scope["headers"])
    forwarded = headers.get(b"x-forwarded-for", b"").decode("latin-1")
    device = scope.get(COOKIE) or cookie(headers)
    return address((scope.get("client") or [None])[0], forwarded), device


class PageMiddleware:
    """Base class of ASGI middleware that handles page requests only."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a page request to `page` and any other to the app."""
        await (self.page if is_page_request(scope) else self.app)(scope, receive, send)

    async def page(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a page request."""
        raise NotImplementedError


class DeviceCookieMiddleware(PageMiddleware):
    """ASGI middleware that sets the device cookie with a page."""

    async def page(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; the response sets the cookie of a new browser."""
        at, device = by_scope(scope)
        registry = client_registry()
        if registry.is_known(device) or (device := registry.register(at, device)) is None:
            await self.app(scope, receive, send)
            return
        if sync_accounts:
            both = [client_registry().get(at, device), client_registry().get(at, None)]
            await asyncio.to_thread(sync_accounts, both, True)

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                header = (b"set-cookie", _set(device, scope).encode())
                message = {**message, "headers": [*message.get("headers", ()), header]}
            await send(message)

        await self.app({**scope, COOKIE: device}, receive, answer)


class PeerCookieMiddleware:
    """ASGI middleware that looks up unknown cookies among the other replicas."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, after the look-up of an unknown cookie."""
        device = cookie(dict(scope["headers"])) if scope["type"] in ("http", "websocket") else None
        if device and not client_registry().is_known(device):
            await asyncio.to_thread(client_registry().adopt, device)
        await self.app(scope, receive, send)


def is_page_request(scope: Scope) -> bool:
    """Return True where a browser opens a URL to display it."""
    if scope["type"] != "http" or scope["method"] != "GET":
        return False
    return b"text/html" in dict(scope["headers"]).get(b"accept", b"")


def _set(device: str, scope: Scope) -> str:
    """Return the cookie header; partitioned under TLS, for a frame in another site's page."""
    proto = dict(scope["headers"]).get(b"x-forwarded-proto", scope["scheme"].encode())
    framed = "SameSite=None; Secure; Partitioned" if proto == b"https" else "SameSite=Lax"
    return f"{COOKIE}={device}; Path=/; HttpOnly; {framed}"
