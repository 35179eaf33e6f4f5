"""Who asks: a device keeps its account, whatever it opens; an address has many devices."""

from __future__ import annotations

import threading
from collections import deque

import pytest

from seqviz.ui.quota.admission import EXPIRE_S, GRACE_S, IDLE_S, AdmissionControl
from seqviz.ui.runtime import clients as module
from seqviz.ui.runtime.clients import (
    COOKIE,
    ClientQuota,
    ClientRegistry,
    DeviceCookieMiddleware,
    address,
    cookie,
)
from tests.fakes import FakeClock


@pytest.fixture
def known(clock) -> ClientRegistry:
    return ClientRegistry(clock)


class Tab:
    """Something that an account can hold weakly."""

    is_open = True


def test_registry_returns_one_account_per_device(known):
    item, other = known.register("10.0.0.1"), known.register("10.0.0.1")
    assert known.get("10.0.0.1", item) is known.get("10.0.0.9", item)
    assert known.get("10.0.0.1", item) is not known.get("10.0.0.1", other)


@pytest.mark.parametrize("claim", [None, "", "x" * 22])
def test_registry_shares_account_per_address_without_cookie(known, claim):
    shared = known.get("10.0.0.1", claim)
    assert shared.shared
    assert known.get("10.0.0.1", None) is shared  # also when it reconnects
    assert known.get("10.0.0.2", claim) is not shared


def test_registry_rejects_foreign_cookie_without_replicas(known):
    known.adopt("x" * 22)
    assert not known.is_known("x" * 22)


def test_shared_account_counts_tabs_at_other_replicas(known):
    shared = known.get("10.0.0.1", None)
    shared.tabs_elsewhere = 3
    assert shared.students == 3


def test_shared_account_counts_open_tabs(known, monkeypatch):
    monkeypatch.setattr(module, "COUNTED", 0.0)
    shared, tabs = known.get("10.0.0.1", None), [Tab() for _ in range(30)]
    assert shared.students == 1
    for tab in tabs:
        shared.tabs.add(tab)
    assert shared.students == 30
    for tab in tabs[:10]:
        tab.is_open = False  # Streamlit keeps them for a while
    assert shared.students == 20
    for tab in tabs:
        tab.is_open = True
    shared.seconds.consume(30.0, 1e9, 0.0)
    assert shared.recent_cpu_s == pytest.approx(1.0, abs=0.01)
    tabs.clear()
    del tab
    assert shared.students == 1
    device = known.get("10.0.0.1", known.register("10.0.0.1"))
    retained = [Tab(), Tab()]
    for tab in retained:
        device.tabs.add(tab)
    assert device.students == 1  # tabs are no students


def test_shared_account_counts_tabs_during_concurrent_opens(known):
    """A class without cookies that opened a page at once ended in RuntimeError, and then waited."""
    shared, retained = (
        known.get("10.0.0.1", None),
        deque(maxlen=5_000),
    )  # others have left meanwhile
    done = threading.Event()

    def come() -> None:
        while not done.is_set():
            retained.append(Tab())
            shared.tabs.add(retained[-1])

    coming = threading.Thread(target=come)
    coming.start()
    try:
        for _ in range(300):
            assert shared.students >= 1
            shared.tabs._counted = -1.0
            assert shared.recent_cpu_s >= 0.0
    finally:
        done.set()
        coming.join()
    shared.tabs.add(Tab())
    assert shared.students in (len(retained), len(retained) + 1)


def test_registry_limits_new_devices_per_address(known, clock):
    built = [known.register("10.0.0.1") for _ in range(module.NEW_DEVICES + 50)]
    assert None not in built[:300]
    assert built[-1] is None
    assert known.register("10.0.0.2") is not None
    clock.now += module.NEW_DEVICES * module.ANOTHER
    assert known.register("10.0.0.1") is not None


def test_registry_forgets_device_after_idle_day(known, clock):
    device = known.register("10.0.0.1")
    clock.now += module.DAY / 2
    known.get("10.0.0.1", device)
    clock.now += 0.9 * module.DAY
    assert known.is_known(device)
    clock.now += 1.1 * module.DAY
    assert not known.is_known(device)


@pytest.mark.parametrize(
    ("proxies", "peer", "forwarded", "expected"),
    [
        ("0", "10.0.0.1", "1.2.3.4", "10.0.0.1"),  # what a visitor claims
        ("1", "10.0.0.1", "9.9.9.9, 1.2.3.4", "1.2.3.4"),  # what the proxy has seen
        ("2", "10.0.0.1", "9.9.9.9, 1.2.3.4, 10.0.0.2", "1.2.3.4"),
        ("2", "10.0.0.1", "1.2.3.4", "10.0.0.1"),  # not through both of them
        ("1", "10.0.0.1", "", "10.0.0.1"),
        ("1", "10.0.0.1", "<script>", "elsewhere"),
        ("0", "2001:db8:1:2:3:4:5:6", "", "2001:db8:1:2::"),
        ("0", "::ffff:10.0.0.1", "", "10.0.0.1"),
        ("0", None, "", "elsewhere"),
    ],
)
def test_address_trusts_only_configured_proxies(monkeypatch, proxies, peer, forwarded, expected):
    monkeypatch.setenv("SEQVIZ_PROXIES", proxies)
    assert address(peer, forwarded) == expected


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (f"a=b; {COOKIE}={'x' * 22}; c=d", "x" * 22),
        (f"{COOKIE}={'x' * 22}", "x" * 22),
        (f"{COOKIE}={'x' * 23}", None),
        (f"not{COOKIE}={'x' * 22}", None),
        ("", None),
    ],
)
def test_cookie_extracts_valid_device_id(header, expected):
    assert cookie({b"cookie": header.encode()}) == expected


async def serve(scope: dict, **headers: str) -> list[str]:
    """The cookies that come with the answer."""
    sent = []

    async def app(scope, receive, send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message) -> None:
        sent.append(message)

    given = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    full = {"type": "http", "method": "GET", "scheme": "http", "client": ("10.0.0.1", 1),
             "headers": given, **scope}  # fmt: skip
    await DeviceCookieMiddleware(app)(full, None, send)
    return [value.decode() for name, value in sent[0]["headers"] if name == b"set-cookie"]


@pytest.fixture
def fresh(monkeypatch, known):
    monkeypatch.setattr(module, "client_registry", lambda: known)


def test_cookie_middleware_sets_cookie_once_on_pages_only(fresh):
    from testing.protocol import run_async

    (created,) = run_async(serve({}, accept="text/html,*/*"))
    assert "HttpOnly; SameSite=Lax" in created
    again = run_async(serve({}, accept="text/html", cookie=created.split(";")[0]))
    assert again == []
    assert run_async(serve({}, accept="*/*")) == []
    before = "seqviz_device=" + "x" * 22  # of a process that has ended
    assert run_async(serve({}, accept="text/html", cookie=before))[0].startswith(before + ";")
    assert run_async(serve({}, accept="text/html", cookie=before)) == []
    (framed,) = run_async(serve({}, accept="text/html", x_forwarded_proto="https"))
    assert framed.endswith("SameSite=None; Secure; Partitioned")


class Room:
    """Seats on a clock that the test turns; who moved what, when."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock, self.moved = clock, {}
        self.seats = AdmissionControl(
            lambda since: sum(t >= since for t in self.moved.values()), clock
        )

    def comes(self, account: ClientQuota, maximum: int = 3) -> int:
        index = self.seats.admit(account, maximum)
        if not index:
            tab = self.moved.setdefault(account, self.clock.now) and Tab()
            account.tabs.add(tab)
            account.kept = tab
            self.moved[account] = self.clock.now
        return index


def test_admission_queues_clients_until_seat_is_free(clock):
    clock.now = 1000.0
    room, class_ = Room(clock), [ClientQuota() for _ in range(6)]
    assert [room.comes(item) for item in class_] == [0, 0, 0, 1, 2, 3]
    clock.now += 10
    assert [room.comes(item) for item in class_[3:]] == [1, 2, 3]  # each keeps its place
    assert room.comes(class_[0]) == 0  # who is in stays in
    clock.now += IDLE_S - 10 + 0.1  # two have moved nothing since
    waiting = [room.seats.admit(item, 3) for item in class_[3:]]
    assert waiting == [0, 0, 1]


def test_admission_forgets_expired_and_is_unlimited_at_zero(clock):
    clock.now = 1000.0
    room, class_ = Room(clock), [ClientQuota() for _ in range(6)]
    assert [room.comes(item) for item in class_[:5]] == [0, 0, 0, 1, 2]
    clock.now += EXPIRE_S + 1
    assert room.comes(class_[5]) == 1
    assert room.comes(ClientQuota(), maximum=0) == 0


def test_admission_holds_seat_during_grace_period(clock):
    seats = AdmissionControl(lambda since: 0, clock)
    item, other = ClientQuota(), ClientQuota()
    assert seats.admit(item, 1) == 0
    assert seats.admit(other, 1) == 1
    assert seats.admit(item, 1) == 0  # it looks again
    clock.now += GRACE_S + 0.1  # its page has never come
    assert seats.admit(other, 1) == 0


def test_admission_releases_seat_of_client_that_opens_no_page(clock):
    """Sixty cookies of one visitor kept five seats for as long as they liked."""
    seats, item, other = AdmissionControl(lambda since: 0, clock), ClientQuota(), ClientQuota()
    assert seats.admit(item, 1) == 0
    positions = []
    for _ in range(3):
        clock.now += GRACE_S / 2.5
        positions += [seats.admit(item, 1), seats.admit(other, 1)]
    assert positions == [0, 1, 0, 1, 2, 0]


def test_admission_ranks_clients_without_cookie_last(clock):
    """So does everybody with the first request, which has none yet; the answer brings it."""
    seats, other, item = AdmissionControl(lambda since: 1, clock), ClientQuota(), ClientQuota()
    assert seats.admit(other, 1, new=True) == 1
    assert seats.admit(item, 1) == 1
    assert seats.admit(other, 1, new=True) == 2
    assert seats.admit(item, 1) == 1
    assert seats.admit(other, 2, new=True) == 2
    assert seats.admit(item, 2) == 0
