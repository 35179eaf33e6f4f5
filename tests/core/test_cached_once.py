"""Results that threads share are computed once, also where all ask before the first is there."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from seqviz.core.cached_once import cached_once


def test_threads_that_ask_at_once_wait_for_one_computation():
    begun, go = threading.Event(), threading.Event()
    computed = []

    @cached_once
    def slow(number: int) -> list[int]:
        computed.append(number)
        begun.set()
        assert go.wait(10)
        return [number]

    with ThreadPoolExecutor(8) as pool:
        results = [pool.submit(slow, 1) for _ in range(6)]
        assert begun.wait(10)
        pool.submit(slow, 2)  # another key does not wait for the first
        while 2 not in computed:
            time.sleep(0.001)
        go.set()
        assert all(result.result(10) is results[0].result(10) for result in results)
    assert computed == [1, 2]
    assert slow(1) is results[0].result()
    assert slow.__name__ == "slow"


def test_failed_computation_is_tried_again():
    tries = []

    @cached_once
    def moody(name: str, *, loud: bool = False) -> str:
        tries.append(name)
        if len(tries) == 1:
            raise OSError(name)
        return name.upper() if loud else name

    with pytest.raises(OSError, match="a"):
        moody("a")
    assert moody("a") == moody("a") == "a"
    assert moody("a", loud=True) == "A"
    assert tries == ["a", "a", "a"]
