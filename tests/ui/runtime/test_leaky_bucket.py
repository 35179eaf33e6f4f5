"""The arithmetic of a limit: a leaky bucket with a clock that the test turns."""

from __future__ import annotations

import numpy as np
import pytest

from seqviz.models import texts
from seqviz.ui.runtime.clients import SHARE_BACK, LeakyBucket

CAPACITY, RATE = 20.0, 0.25


@pytest.fixture
def bucket(clock) -> LeakyBucket:
    return LeakyBucket(clock)


def test_bucket_admits_up_to_capacity(bucket):
    for _ in range(20):
        assert bucket.retry_after(CAPACITY, RATE) == 0
        bucket.consume(1.0, CAPACITY, RATE)
    assert bucket.retry_after(CAPACITY, RATE) == 0  # full to the brim is not over


def test_bucket_sync_adds_unsynced_usage_to_remote_usage(bucket, clock):
    bucket.consume(5.0, CAPACITY, RATE)
    bucket.synced = bucket.total
    bucket.consume(2.0, CAPACITY, RATE)
    bucket.sync(17.0, CAPACITY)
    assert bucket.used == 19.0
    assert bucket.retry_after(CAPACITY, RATE) == 0
    bucket.sync(19.0, CAPACITY)
    assert bucket.retry_after(CAPACITY, RATE) == pytest.approx(
        (21.0 - (1 - SHARE_BACK) * CAPACITY) / RATE
    )
    clock.now += 60
    assert bucket.retry_after(CAPACITY, RATE) == 0


def test_bucket_over_capacity_waits_until_tenth_is_free(bucket, clock):
    bucket.consume(23.0, CAPACITY, RATE)
    expected = (23.0 - (1 - SHARE_BACK) * CAPACITY) / RATE
    assert bucket.retry_after(CAPACITY, RATE) == pytest.approx(expected) == pytest.approx(20.0)
    clock.now += 19.9
    assert 0 < bucket.retry_after(CAPACITY, RATE) < 0.2
    clock.now += 0.2
    assert bucket.retry_after(CAPACITY, RATE) == 0
    bucket.consume(1.9, CAPACITY, RATE)  # the tenth that came back can be used
    assert bucket.retry_after(CAPACITY, RATE) == 0


def test_bucket_drains_no_further_than_empty(bucket, clock):
    bucket.consume(5.0, CAPACITY, RATE)
    clock.now += 8.0
    assert bucket.retry_after(CAPACITY, RATE) == 0
    assert bucket.used == pytest.approx(3.0)
    clock.now += 1e9  # a week off is no store of seconds
    bucket.consume(20.5, CAPACITY, RATE)
    assert bucket.retry_after(CAPACITY, RATE) > 0


def test_bucket_bounds_long_run_rate(bucket, clock):
    """A user who asks ten times a second for 40 ms, all day, whatever the order of the sizes."""
    random = np.random.RandomState(0)
    let_in, began = 0.0, clock.now
    for _ in range(36_000):
        clock.now += 0.1
        if bucket.retry_after(CAPACITY, RATE) == 0:
            size = 0.08 * random.uniform()
            bucket.consume(size, CAPACITY, RATE)
            let_in += size
    hour = clock.now - began
    assert RATE * hour <= let_in <= RATE * hour + CAPACITY + 0.08


def test_bucket_applies_changed_settings_immediately(bucket):
    bucket.consume(10.0, CAPACITY, RATE)
    assert bucket.retry_after(CAPACITY, RATE) == 0
    bucket.consume(0.0, 5.0, RATE)
    assert bucket.retry_after(5.0, RATE) == pytest.approx((10.0 - 4.5) / RATE)


def test_estimate_approximates_tokenizer_count(minilm):
    english = "The animal didn't cross the street because it was too tired, and nobody minded. " * 3
    chinese = "这只动物没有过马路，因为它太累了。" * 3
    for text in (english, chinese):
        counted = int((~texts.tokens(minilm, text).special).sum())
        assert 0.6 * counted <= texts.estimate(text) <= 1.6 * counted
    assert texts.estimate("x" * 1_000_000) == texts.MAX_TEXT_TOKENS  # what is beyond is not read
    assert texts.estimate("") == 0
