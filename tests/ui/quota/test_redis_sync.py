"""What app processes count together, in a real Redis of their own: a device has its limits once."""

from __future__ import annotations

import time

import pytest

from seqviz import jobs
from seqviz.ui.quota import charging
from seqviz.ui.runtime import clients
from seqviz.ui.runtime.scheduler import Priority
from testing.redis import NO_REDIS, store

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(bool(NO_REDIS), reason=NO_REDIS),
    pytest.mark.timeout(300),
]


@pytest.fixture
def there():
    with store() as result:
        yield result


@pytest.fixture
def two(there):
    """Two replicas, as they are while nobody asks by itself."""
    from seqviz.ui.quota.redis_sync import Replicas

    built = [Replicas(there.address) for _ in range(2)]
    for item in built:
        assert until(lambda entry=item: entry.state == "connected")
    yield built
    for item in built:
        item.close()


def until(what, seconds: float = 10.0) -> bool:
    last = time.monotonic() + seconds
    while not (result := what()) and time.monotonic() < last:
        time.sleep(0.02)
    return bool(result)


def device(key: str = "d") -> clients.ClientQuota:
    return clients.ClientQuota(key=key)


def test_replicas_share_cpu_budget_of_device(two, monkeypatch):
    monkeypatch.setenv("SEQVIZ_SESSION_SECONDS", "10")
    (a, b), (here, there) = two, (device(), device())
    limit = charging.seconds_of(here)
    for item, account in ((a, here), (b, there)):
        account.seconds.consume(6.0, *limit)
        assert not account.seconds.retry_after(*limit)
        assert item.exchange([account])
    assert there.seconds.retry_after(*limit) == pytest.approx((12 - 9) / limit[1], abs=0.5)
    a.exchange([here])
    assert here.seconds.retry_after(*limit) > 0
    assert here.seconds.used == pytest.approx(there.seconds.used, abs=0.1)


def test_replicas_report_usage_once_and_drain_by_store_clock(two, monkeypatch):
    monkeypatch.setenv("SEQVIZ_CPU_REFILL", "1")
    item, account = two[0], device()
    account.seconds.consume(5.0, *charging.seconds_of(account))
    for _ in range(5):
        item.exchange([account])
    assert account.seconds.used == pytest.approx(5.0, abs=0.2)
    time.sleep(1.0)
    item.exchange([account])
    assert account.seconds.used == pytest.approx(4.0, abs=0.3)


def test_replicas_count_remote_jobs_and_tabs(two, monkeypatch):
    (a, b), (here, there) = two, (device(), device())
    monkeypatch.setattr(jobs, "all_queues", lambda: {"cpu": Waiting(here.name)})
    a.exchange([here])
    b.exchange([there])
    assert there.jobs_elsewhere == 2
    here.shared = there.shared = True
    tabs = [Tab() for _ in range(3)]
    for tab in tabs:
        here.tabs.add(tab)
    a.exchange([here])
    b.exchange([there])
    assert there.students == 3
    for _ in range(3):
        time.sleep(2.0)
        b.exchange([there])
    assert (there.students, there.jobs_elsewhere) == (1, 0)  # who says nothing any more has none


@pytest.mark.parametrize("damage", ["nan", "inf", "-1", "1e300", "words", ""])
def test_replicas_ignore_corrupt_value_and_sync_other_accounts(two, there, damage, monkeypatch):
    import redis

    item, bad, good = two[0], device("bad"), device("good")
    assert item.exchange([bad, good])
    client = redis.Redis.from_url(there.address)
    client.hset("seqviz:bad", "seconds", damage)
    for account in (bad, good):
        account.seconds.consume(1.0, *charging.seconds_of(account))
    item.exchange([bad, good])
    assert good.seconds.used == pytest.approx(1.0, abs=0.3)
    assert 0 <= bad.seconds.used < 10
    client.delete("seqviz:bad")
    client.set("seqviz:bad", "x")  # of another type: the script fails for this key
    good.seconds.consume(1.0, *charging.seconds_of(good))
    item.exchange([bad, good])
    assert good.seconds.used == pytest.approx(2.0, abs=0.5)
    assert item.state == "connected"
    assert item._thread.is_alive()


def test_replicas_log_missing_store_once(caplog):
    from seqviz.ui.quota.redis_sync import Replicas

    replicas = Replicas("redis://127.0.0.1:1")
    assert until(lambda: replicas.exchanges["disconnected"] >= 2)
    replicas.close()
    assert (
        len([line for line in caplog.records if "replicas: Redis is disconnected" in line.message])
        == 1
    )


class Tab:
    is_open = True


class Waiting:
    """A queue in which a student has two runs."""

    def __init__(self, name: str) -> None:
        self.name = name

    def by_group(self):
        from collections import Counter

        return Counter({self.name: 2})


def test_replicas_share_registered_cookies_only(two, monkeypatch):
    existing = [clients.ClientRegistry(), clients.ClientRegistry()]
    cookie = existing[0].register("10.0.0.1")
    monkeypatch.setattr(clients, "sync_accounts", two[0].exchange)
    mine = existing[0].get("10.0.0.1", cookie)
    mine.tokens.consume(77.0, *charging.tokens_of(mine))
    two[0].exchange([mine])
    monkeypatch.setattr(clients, "sync_accounts", two[1].exchange)
    existing[1].adopt(cookie)
    existing[1].adopt("x" * 22)
    assert existing[1].is_known(cookie)
    assert existing[1].get("10.0.0.9", cookie).tokens.used > 70
    assert not existing[1].is_known("x" * 22)


def test_replicas_limit_new_devices_per_address_jointly(two):
    existing = [clients.ClientRegistry(), clients.ClientRegistry()]
    for item, by in zip(existing, two, strict=True):
        for _ in range(clients.NEW_DEVICES // 2 + 1):
            assert item.register("10.0.0.1")
        by.exchange([item.get("10.0.0.1", None)])
    assert existing[1].register("10.0.0.1") is None


def test_replicas_store_no_cookie_or_address(there, two):
    client_registry = clients.ClientRegistry()
    cookie = client_registry.register("10.0.0.1")
    two[0].exchange([client_registry.get("", cookie), client_registry.get("10.0.0.1", None)])
    retained = " ".join(
        [str(key) + str(there.client.hgetall(key)) for key in there.client.scan_iter("*")]
    )
    assert retained.count("seqviz:") == 2
    assert cookie not in retained
    assert "10.0.0.1" not in retained


@pytest.mark.parametrize(("does", "state"), [("kill", "disconnected"), ("pause", "degraded")])
def test_replicas_count_locally_during_outage_and_sync_later(there, two, monkeypatch, does, state):
    item, account = two[0], device()
    monkeypatch.setenv("SEQVIZ_CPU_REFILL", "0.01")
    limit = charging.seconds_of(account)
    item.exchange([account])
    getattr(there, does)()
    account.seconds.consume(3.0, *limit)
    began = time.monotonic()
    item.exchange([account])
    assert time.monotonic() - began < 1.0
    assert until(lambda: item.state == state)
    began = time.monotonic()
    assert not item.exchange([account])  # nobody is asked until it is found again
    assert time.monotonic() - began < 0.05
    assert account.seconds.used > 2
    there.again()
    assert until(lambda: item.state == "connected", 30)
    other = device()
    item.exchange([account])
    assert until(lambda: two[1].state == "connected", 30)
    two[1].exchange([other])
    assert other.seconds.used == pytest.approx(3.0, abs=1.0)


def test_replicas_sync_usage_outside_pages_automatically(there, monkeypatch):
    monkeypatch.setenv("SEQVIZ_REDIS_URL", there.address)
    monkeypatch.setenv("SEQVIZ_CPU_REFILL", "0.01")
    from seqviz.ui.quota import redis_sync

    account, other = device(), device()
    redis_sync.begin()
    try:
        assert until(lambda: redis_sync.replicas().state == "connected")
        with charging.charge_cpu(account, Priority.PAGE):
            sum(range(3_000_000))
        assert account in clients.spent
        assert until(lambda: account not in clients.spent)
        assert account.seconds.synced == account.seconds.total > 0
        assert redis_sync.replicas().exchange([other])
        assert 0 < other.seconds.used <= account.seconds.total
    finally:
        redis_sync.end()


def test_replicas_reject_malformed_store_levels(there, two):
    there.client.hset("seqviz:d", mapping={"seconds": "junk", "of:x": "a b c"})
    account = device()
    assert not two[0].exchange([account])
    assert account.seconds.used < 1
