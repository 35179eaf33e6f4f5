"""The class-wide cache: right results, told apart, bounded, timed."""

from __future__ import annotations

import numpy as np

from seqviz.compute import autoregression as ar
from seqviz.ui import startup
from seqviz.ui.caching import ENTRIES, cached

calls: list[float] = []


def slow_square(value: float) -> float:
    calls.append(value)
    return value * value


def test_equal_arguments_are_computed_once():
    calls.clear()
    first = cached(slow_square)(3.5)
    second = cached(slow_square)(3.5)
    assert first.result == second.result == 12.25
    assert first.seconds == second.seconds > 0
    assert calls == [3.5]


def test_functions_of_one_name_are_told_apart():
    def named(offset):
        def answer(value: float) -> float:
            return value + offset

        answer.__module__ = f"module_{offset}"
        return answer

    one, two = named(1), named(2)
    assert cached(one)(1.0).result == 2.0
    assert cached(two)(1.0).result == 3.0


def test_the_cache_is_bounded():
    calls.clear()
    for value in range(ENTRIES + 10):
        cached(slow_square)(float(value))
    cached(slow_square)(0.0)  # the oldest has gone, and is computed again
    assert calls.count(0.0) == 2
    cached(slow_square)(float(ENTRIES + 9))  # the newest is still there
    assert calls.count(float(ENTRIES + 9)) == 1


def test_a_student_who_writes_into_a_result_harms_nobody():
    def draw() -> np.ndarray:
        return np.zeros(3)

    mine = cached(draw)().result
    mine[:] = 9
    assert cached(draw)().result.tolist() == [0, 0, 0]


def test_results_keep_what_they_hold():
    path = cached(ar.simulate)((0.8,), n=60, seed=2).result
    again = cached(ar.simulate)((0.8,), n=60, seed=2).result
    np.testing.assert_array_equal(path.values, again.values)
    np.testing.assert_array_equal(path.values, ar.simulate((0.8,), n=60, seed=2).values)
    found = cached(ar.correlogram)(path.values, 5, path.coefficients).result
    np.testing.assert_array_equal(found.acf, ar.correlogram(path.values, 5).acf)


def test_start_up_takes_what_is_loaded_out_of_collection():
    import gc

    gc.unfreeze()
    startup.settle()
    assert gc.get_freeze_count() > 10_000
