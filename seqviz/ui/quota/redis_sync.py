"""Synchronization of device quotas across replicas through Redis.

Each process counts locally, so that requests do not wait for Redis. Once per second it reports the
usage of its devices. Redis keeps each leaky bucket for all replicas together, drains it by its own
clock, and returns the level. A device that moves between replicas thus has one limit, and not one
per replica, with a delay of about a second. The exception is a cookie that this process did not
issue: its page waits for one lookup. Without Redis each process continues alone and reports its
usage when the connection is back.

Redis holds only numbers, under hashes of cookies and addresses. `begin` and `end` are the entries.
"""

from __future__ import annotations

import hashlib
import logging
import secrets
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from seqviz import jobs
from seqviz.core import settings
from seqviz.ui.quota import charging
from seqviz.ui.runtime import clients, run_context
from seqviz.ui.runtime.clients import ANOTHER, NEW_DEVICES, ClientQuota, LeakyBucket

EVERY = 1.0  # seconds between two exchanges
PATIENCE = 0.25  # seconds that Redis may take
BACK_OFF = (1.0, 2.0, 5.0, 10.0)  # seconds between two failed attempts
STATES = ("connected", "disconnected", "degraded")
PREFIX = "seqviz:"
FASTEST = 1e9  # rate per second that stands for no limit
LARGEST = 1e15  # plausible level; Redis may hold anything
# KEYS: the account. ARGV: 1 to create a missing account, the replica, its tabs and jobs, then for
# each bucket the replica's total usage at the last response, its total usage now, and the rate.
# Returns the level of each bucket, then the tabs and jobs of other replicas; false for a missing
# account that is not created. Redis keeps the total that each replica last reported, so usage that
# is sent again after a lost response counts once. Tabs and jobs of another replica are valid for
# 5 s, an account for a day.
SYNC_SCRIPT = """
local time = redis.call('TIME')
local now = time[1] + time[2] / 1e6
local flat, kept = redis.call('HGETALL', KEYS[1]), {}
if #flat == 0 and ARGV[1] == '0' then return false end
for i = 1, #flat, 2 do kept[flat[i]] = flat[i + 1] end
local past, told, tabs, jobs = math.max(0, now - (kept.at or now)), {}, 0, 0
local mine, at = {}, string.format('%.6f', now)
for number in (kept['of:' .. ARGV[2]] or ''):gmatch('%S+') do mine[#mine + 1] = number end
for i, name in ipairs({'seconds', 'tokens', 'given'}) do
  local heard, drawn, rate = ARGV[3 * i + 2], ARGV[3 * i + 3], ARGV[3 * i + 4]
  local new = math.max(0, drawn - math.max(heard, mine[i + 3] or 0))
  told[i] = string.format('%.6f', math.max(0, (kept[name] or 0) - past * rate) + new)
end
for name, said in pairs(kept) do
  if name:sub(1, 3) == 'of:' and name ~= 'of:' .. ARGV[2] then
    local since, its_tabs, its_jobs = said:match('(%S+) (%S+) (%S+)')
    if now - since < 5 then tabs, jobs = tabs + its_tabs, jobs + its_jobs
    elseif now - since > 60 then redis.call('HDEL', KEYS[1], name) end
  end
end
redis.call('HSET', KEYS[1], 'at', at, 'seconds', told[1], 'tokens', told[2], 'given', told[3],
  'of:' .. ARGV[2], table.concat({at, ARGV[3], ARGV[4], ARGV[6], ARGV[9], ARGV[12]}, ' '))
redis.call('EXPIRE', KEYS[1], 86400)
return {told[1], told[2], told[3], tostring(tabs), tostring(jobs)}
"""
NAME = hashlib.sha1(SYNC_SCRIPT.encode()).hexdigest()  # Redis' name of a loaded script
log = logging.getLogger(__name__)


class Replicas:
    """Connection of this process to the other replicas, until `close`.

    Args:
        address: URL of Redis.

    Attributes:
        state: one of STATES.
        exchanges: number of exchanges by state.
        seconds: total time of the successful ones.
    """

    def __init__(self, address: str):
        self._store = redis.Redis.from_url(
            address,
            socket_timeout=PATIENCE,
            socket_connect_timeout=PATIENCE,
            retry=Retry(NoBackoff(), 0),
        )
        self._me = secrets.token_hex(4)
        self._closed = threading.Event()
        self._one = threading.Lock()  # one exchange at a time
        self.state = "disconnected"
        self._logged = ""  # the state logged last
        self.exchanges: Counter[str] = Counter()
        self.seconds = 0.0
        self._thread = threading.Thread(target=self._keep, daemon=True, name="seqviz-replicas")
        self._thread.start()

    def close(self) -> None:
        """Report the remaining usage and close the connection."""
        self._closed.set()
        self._thread.join()
        self._store.close()

    def exchange(self, of: Sequence[ClientQuota], make: bool = True) -> bool:
        """Synchronize quotas immediately; return False where Redis does not respond.

        Args:
            of: the quotas.
            make: create those that no replica knows; otherwise such a call returns False.
        """
        with self._one:
            return self.state == "connected" and self._sync(of, make)

    def _sync(self, of: Sequence[ClientQuota], make: bool = True) -> bool:
        began = time.perf_counter()
        at_work = _at_work()
        pipe = self._store.pipeline(transaction=False)
        pipe.script_load(SYNC_SCRIPT)  # Redis may have restarted
        rendered = []
        for account in of:
            messages: list[float] = []
            for bucket, (_, rate) in _buckets(account):
                rendered.append(bucket.total)
                messages += [bucket.synced, bucket.total, min(rate, FASTEST)]
            existing = account.tabs.open if account.shared else 0, at_work[account.name]
            pipe.evalsha(NAME, 1, PREFIX + account.key, int(make), self._me, *existing, *messages)
        try:
            loaded, *answers = pipe.execute(raise_on_error=False)
            if isinstance(loaded, Exception):
                raise loaded
        except (redis.RedisError, ValueError) as error:
            is_slow = isinstance(error, redis.TimeoutError)
            self._set_state("degraded" if is_slow else "disconnected", error)
            return False
        self._set_state("connected")
        self.seconds += time.perf_counter() - began
        totals = iter(rendered)
        # Each account separately: an invalid response for one does not affect the others.
        taken = [
            _take(account, totals, answer) for account, answer in zip(of, answers, strict=True)
        ]
        return all(taken)

    def _set_state(self, state: str, error: object = "") -> None:
        if state != self._logged:
            self._logged = state
            payload = log.info if state == "connected" else log.warning
            payload("replicas: Redis is %s%s", state, f": {error}" if error else "")
        self.state = state
        self.exchanges[state] += 1

    def _keep(self) -> None:
        failures = 0
        while True:
            try:
                with self._one:
                    self._sync(_dirty_accounts())
                    is_connected = self.state == "connected"
            except Exception:  # the process continues alone and tries again
                self.state, is_connected = "disconnected", False
                log.exception("replicas: an exchange failed")
            failures = 0 if is_connected else failures + 1
            wait = BACK_OFF[min(failures, len(BACK_OFF)) - 1] if failures else EVERY
            if self._closed.wait(wait):
                break
        self.exchange(_dirty_accounts())


def _take(account: ClientQuota, totals: Iterator[float], answer: object) -> bool:
    """Update a quota from a response; return False for an invalid one."""
    buckets = _buckets(account)
    rendered = [next(totals) for _ in buckets]
    try:
        numbers = [float(number) for number in answer]  # type: ignore[attr-defined]
    except (TypeError, ValueError):  # an error for this key, a text, or None
        return False
    if len(numbers) != len(buckets) + 2 or not all(0 <= number < LARGEST for number in numbers):
        return False
    for (bucket, (capacity, _)), total, level in zip(buckets, rendered, numbers, strict=False):
        bucket.synced = total
        bucket.sync(level, capacity)
    account.tabs_elsewhere, account.jobs_elsewhere = map(int, numbers[-2:])
    return True


def _buckets(account: ClientQuota) -> list[tuple[LeakyBucket, tuple[float, float]]]:
    """Return each bucket with capacity and rate, in the order of SYNC_SCRIPT."""
    return [
        (account.seconds, charging.seconds_of(account)),
        (account.tokens, charging.tokens_of(account)),
        (account.given, (NEW_DEVICES, 1 / ANOTHER)),
    ]


def _at_work() -> Counter[str]:
    """Return the number of waiting and running jobs by account name."""
    return sum((queue.by_group() for queue in jobs.all_queues().values()), Counter[str]())


def _dirty_accounts() -> list[ClientQuota]:
    """Return the quotas to exchange, and remove all others from `clients.spent`.

    Those are the quotas with unreported usage, with jobs here, with open tabs here if the quota is
    shared, or with tabs or jobs at other replicas.
    """
    at_work = _at_work()
    existing = run_context.devices() | {*clients.spent}
    due = [item for item in existing if item.key and _is_dirty(item, at_work)]
    clients.spent.difference_update(existing.difference(due))
    return due


def _is_dirty(account: ClientQuota, at_work: Iterable[str]) -> bool:
    return bool(
        account.tabs_elsewhere
        or account.jobs_elsewhere
        or (account.shared and account.tabs.open)
        or account.name in at_work
        or any(bucket.total > bucket.synced for bucket, _ in _buckets(account))
    )


_replicas: Replicas | None = None


def begin() -> None:
    """Connect to Redis if SEQVIZ_REDIS_URL is set; once per process."""
    global _replicas
    if _replicas is None and (address := settings.value("SEQVIZ_REDIS_URL")):
        _replicas = Replicas(address)
        clients.sync_accounts = _replicas.exchange


def end() -> None:
    """Disconnect; each process counts alone again."""
    global _replicas
    if _replicas is not None:
        clients.sync_accounts = None
        _replicas.close()
        _replicas = None


def replicas() -> Replicas | None:
    """Return the connection made by `begin`, if any."""
    return _replicas
