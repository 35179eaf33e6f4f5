"""What makes two requests the same, and how a large result is told without being read."""

from __future__ import annotations

import gc
from dataclasses import dataclass

import numpy as np
import pytest

from seqviz.core import content_hash
from seqviz.core.content_hash import hash_value, name_value


@dataclass(frozen=True)
class Found:
    large: np.ndarray
    small: np.ndarray
    inner: tuple[np.ndarray, ...] = ()


def found(value: float = 1.0, writeable: bool = False) -> Found:
    arrays = [np.full(1000, value), np.full(3, value), np.full(2000, value)]
    for array in arrays:
        array.flags.writeable = writeable
    return Found(arrays[0], arrays[1], (arrays[2],))


def test_hash_value_uses_result_name_for_large_arrays(monkeypatch):
    item, again, other = found(), found(), found()
    name_value(item, b"key")
    name_value(again, b"key")
    name_value(other, b"other")
    assert hash_value(item.small) == hash_value(other.small)  # quickly read
    monkeypatch.setattr(content_hash, "memoryview", lambda _: pytest.fail("read"), raising=False)
    assert hash_value(item) == hash_value(again) != hash_value(other)
    assert hash_value(item.large) == hash_value(again.large) != hash_value(other.large)
    assert hash_value(item.inner) == hash_value(again.inner) != hash_value(item.large)


def work(values: np.ndarray, report=None) -> float:
    return float(values.sum())


def test_hash_call_matches_for_equal_arguments():
    """A named result and a fresh array of equal content give the same hash."""
    named, fresh = found(), found()
    name_value(named, b"key")
    of_call = content_hash.hash_call
    assert of_call(work, (named.large,), {}) == of_call(work, (), {"values": fresh.large})


def test_hash_value_reads_writeable_arrays():
    item = found(writeable=True)
    name_value(item, b"key")
    before = hash_value(item.large)
    assert before == hash_value(found().large)
    item.large[0] = 7.0
    assert hash_value(item.large) != before


def test_name_value_keeps_name_of_nested_result():
    inner, alone = found(), found()
    name_value(inner, b"key")
    name_value(alone.large, b"array")
    before = hash_value(inner), hash_value(inner.large), hash_value(alone.large)
    name_value((inner, Found(alone.large, inner.small, ())), b"what was computed from it")
    assert (hash_value(inner), hash_value(inner.large), hash_value(alone.large)) == before


def test_name_value_forgets_collected_result():
    item = found()
    name_value(item, b"key")
    held = {id(item), id(item.large), id(item.inner[0])}
    assert held <= content_hash._named.keys()
    assert id(item.small) not in content_hash._named
    del item
    gc.collect()
    assert not held & content_hash._named.keys()
