"""What makes two requests the same, and how a large result is told without being read."""

from __future__ import annotations

import gc
from dataclasses import dataclass

import numpy as np
import pytest

from seqviz import fingerprint
from seqviz.fingerprint import digest, name


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


def test_the_large_parts_of_a_named_result_are_told_by_its_name(monkeypatch):
    one, again, other = found(), found(), found()
    name(one, b"key")
    name(again, b"key")
    name(other, b"other")
    assert digest(one.small) == digest(other.small)  # quickly read
    monkeypatch.setattr(fingerprint, "memoryview", lambda _: pytest.fail("read"), raising=False)
    assert digest(one) == digest(again) != digest(other)
    assert digest(one.large) == digest(again.large) != digest(other.large)
    assert digest(one.inner) == digest(again.inner) != digest(one.large)


def work(values: np.ndarray, report=None) -> float:
    return float(values.sum())


def test_equal_work_is_equal_however_its_numbers_were_made():
    named, fresh = found(), found()
    name(named, b"key")
    of_call = fingerprint.of_call
    assert of_call(work, (named.large,), {}) == of_call(work, (), {"values": fresh.large})


def test_what_can_be_changed_is_read():
    one = found(writeable=True)
    name(one, b"key")
    before = digest(one.large)
    assert before == digest(found().large)
    one.large[0] = 7.0
    assert digest(one.large) != before


def test_a_result_in_another_result_keeps_its_name():
    inner, alone = found(), found()
    name(inner, b"key")
    name(alone.large, b"array")
    before = digest(inner), digest(inner.large), digest(alone.large)
    name((inner, Found(alone.large, inner.small, ())), b"what was computed from it")
    assert (digest(inner), digest(inner.large), digest(alone.large)) == before


def test_a_name_ends_with_what_it_names():
    one = found()
    name(one, b"key")
    held = {id(one), id(one.large), id(one.inner[0])}
    assert held <= fingerprint._named.keys()
    assert id(one.small) not in fingerprint._named
    del one
    gc.collect()
    assert not held & fingerprint._named.keys()
