"""The class-wide store of results: right ones, told apart, shared, bounded, timed."""

from __future__ import annotations

import gc
import threading
from dataclasses import dataclass

import numpy as np
import pytest

from seqviz.compute import ar_fitting as ar
from seqviz.core import content_hash
from seqviz.core import gc_tuning as collector
from seqviz.plotting.figure import Figure
from seqviz.ui.runtime import result_cache
from seqviz.ui.runtime.result_cache import (
    MEGABYTE,
    ONCE_SHARE,
    ResultCache,
    cached,
    render,
    size_of,
)

calls: list[object] = []


@pytest.fixture(autouse=True)
def _nothing_is_kept():
    calls.clear()
    result_cache.result_cache.cache_clear()
    yield
    result_cache.result_cache.cache_clear()


@dataclass(frozen=True)
class Pair:
    first: np.ndarray
    rest: tuple[np.ndarray, dict[str, np.ndarray]]


def square(value: float) -> float:
    calls.append(value)
    return value * value


def halves(n: int) -> Pair:
    calls.append(n)
    return Pair(np.zeros(n), (np.ones(n), {"one": np.ones(1)}))


def failing(value: float) -> float:
    calls.append(value)
    raise ValueError("no")


def test_cached_computes_equal_arguments_once():
    first, second = cached(square)(3.5), cached(square)(3.5)
    assert first.result == second.result == 12.25
    assert first.seconds == second.seconds > 0
    assert calls == [3.5]


def test_cached_result_is_hashed_by_call_not_content():
    first, other = cached(halves)(3).result, cached(halves)(4).result
    existing = content_hash.hash_value(first)
    assert existing != content_hash.hash_value(other)
    assert existing != content_hash.hash_value(halves(3))  # nobody asked: its arrays are read
    result_cache.result_cache.cache_clear()
    assert content_hash.hash_value(cached(halves)(3).result) == existing  # computed anew, the same
    held = len(content_hash._named)
    del first, other
    result_cache.result_cache.cache_clear()
    gc.collect()
    assert len(content_hash._named) <= held - 3


def test_cached_distinguishes_functions_and_arguments():
    assert cached(square)(2.0).result == 4.0
    assert cached(halves)(2).result.first.shape == (2,)
    assert cached(square)(2).result == 4  # an integer is another question than a float
    assert cached(square)(value=2.0).result == 4.0
    assert calls == [2.0, 2, 2, 2.0]


def test_cached_returns_shared_read_only_object():
    result = cached(halves)(3).result
    assert cached(halves)(3).result is result
    for array in (result.first, result.rest[0], result.rest[1]["one"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 9


def test_size_of_counts_array_bytes():
    assert 8 * 2001 < size_of(halves(1000)) < 8 * 2001 + 2000


def ask(store: ResultCache, n: int) -> bool:
    """Ask for 16 kB; whether they were kept."""
    return store.get_or_compute(str(n).encode(), lambda: halves(n)).is_cached


def test_cache_is_bounded_and_evicts_least_recently_used():
    store = ResultCache(room=50_000 / ONCE_SHARE)
    for n in (1000, 1001, 1002, 1003):
        assert not ask(store, n)
    assert store.size <= 50_000
    assert not ask(store, 1000)  # the oldest had gone
    assert ask(store, 1003)


def test_cache_keeps_reused_entry_during_hundred_drags():
    store = ResultCache(room=200_000)
    ask(store, 1000)
    once = store.size
    assert ask(store, 1000)
    assert store.size == once > 0  # it is on the other shelf
    for n in range(1001, 1101):
        assert not ask(store, n)
    assert ask(store, 1000)
    assert store.size <= 200_000


def test_cache_keeps_shared_entry_during_hundred_drags():
    """It has been asked for once, for all: each of them may ask for it again."""
    store = ResultCache(room=200_000)
    store.get_or_compute(b"sent", lambda: halves(1000), shared=True)
    for n in range(1001, 1101):
        assert not ask(store, n)
    calls.clear()
    assert store.get_or_compute(b"sent", lambda: halves(1000)).is_cached
    assert calls == []
    assert store.size <= 200_000


def test_cache_returns_oversized_result_without_storing():
    store = ResultCache(room=50_000 / ONCE_SHARE)
    ask(store, 1000)
    assert store.get_or_compute(b"large", lambda: halves(10_000)).result.first.shape == (10_000,)
    assert not store.get_or_compute(b"large", lambda: halves(10_000)).is_cached
    assert ask(store, 1000)  # and nothing had to leave for it


def picture(values: np.ndarray, title: str) -> Figure:
    calls.append(title)
    return Figure([{"type": "scatter", "y": values}], {"meta": {"alt": title}})


def test_render_draws_shared_figure_once():
    values = np.arange(3.0)
    first, second = (render(picture, (values,), {"title": "one"}, shared=True) for _ in range(2))
    assert second is first
    assert (calls, first.alt) == (["one"], "one")
    assert first.json.decode() == first.chart.to_json()
    render(picture, (values + 1,), {"title": "one"}, shared=True)
    render(picture, (values,), {"title": "two"}, shared=True)
    assert calls == ["one", "one", "two"]


def test_render_stores_no_unshared_figure():
    before = result_cache.result_cache().size
    render(picture, (np.arange(3.0),), {"title": "one"}, shared=False)
    assert result_cache.result_cache().size == before


def test_cached_retries_after_failure():
    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            cached(failing)(1.0)
    assert calls == [1.0, 1.0]


def test_cache_coalesces_concurrent_computations():
    release, begun = threading.Event(), threading.Event()
    store = ResultCache(room=MEGABYTE)
    slow.wait, slow.begun = release, begun
    answers: list[bool] = []

    def asking() -> None:
        answers.append(store.get_or_compute(b"slow", lambda: slow(1)).is_cached)

    students = [threading.Thread(target=asking) for _ in range(8)]
    for student in students:
        student.start()
    assert begun.wait(10)
    assert answers == []
    release.set()
    for student in students:
        student.join(10)
    assert calls == [1]
    assert sorted(answers) == [False] + [True] * 7


def slow(value: int) -> int:
    calls.append(value)
    slow.begun.set()
    assert slow.wait.wait(10)
    return value


def test_cached_preserves_result_values():
    path = cached(ar.simulate)((0.8,), n=60, seed=2).result
    np.testing.assert_array_equal(path.values, ar.simulate((0.8,), n=60, seed=2).values)
    result = cached(ar.correlogram)(path.values, 5, path.coefficients).result
    np.testing.assert_array_equal(result.acf, ar.correlogram(path.values, 5).acf)


def test_collect_and_freeze_freezes_loaded_objects():
    gc.unfreeze()
    collector.collect_and_freeze()
    assert gc.get_freeze_count() > 10_000
    # Threads of other tests may free some objects between the two counts.
    assert collector.frozen.count == pytest.approx(gc.get_freeze_count(), rel=1e-4)
    assert gc.get_threshold() == collector.THRESHOLDS


def test_collect_and_freeze_reclaims_frozen_garbage():
    class Session:
        def __init__(self):
            self.me = self

    import weakref

    session = Session()
    gone = weakref.ref(session)
    collector.collect_and_freeze()
    del session
    gc.collect()
    assert gone() is not None  # frozen: no collection looks at it
    collector.collect_and_freeze()
    assert gone() is None


def test_collect_recent_reclaims_new_garbage_and_freezes_rest():
    class Press:
        def __init__(self):
            self.me = self

    import weakref

    collector.collect_and_freeze()
    garbage, retained = Press(), Press()
    gone, there = weakref.ref(garbage), weakref.ref(retained)
    del garbage
    before = gc.get_freeze_count()
    collector.collect_recent()
    assert gone() is None
    assert there() is not None
    assert gc.get_freeze_count() > before
    del retained
    collector.collect_recent()
    assert there() is not None  # it waits for everything to be looked at
    collector.collect_and_freeze()
    assert there() is None


def test_collect_and_freeze_is_disabled_by_setting(monkeypatch):
    """Freezing can be turned off for comparison."""
    monkeypatch.setenv("SEQVIZ_GC_FREEZE", "0")
    gc.unfreeze()
    collector.collect_and_freeze()
    collector.collect_recent()
    assert gc.get_freeze_count() == 0
