"""Requests of a class in one pass: nobody who is alone waits, and the answers are the same."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from seqviz.models import forward_cache, placement
from seqviz.models.forward_cache import OWN, Masking, forward, forwards
from seqviz.models.micro_batch import MicroBatcher
from seqviz.models.texts import tokens

TEXTS = ("Dull.", "A film that is neither funny nor sad.", "It was, in the end, worth it.")
ROUNDING = 1e-5  # float32, relative to the largest


class Passes:
    """Work that can be held up; notes what it was given."""

    def __init__(self) -> None:
        self.seen: list[list[int]] = []
        self.open, self.begun = threading.Event(), threading.Event()

    def __call__(self, items):
        self.seen.append(list(items))
        self.begun.set()
        assert self.open.wait(10)
        if -1 in items:
            raise RuntimeError("it failed")
        return [n * n for n in items]


def asked(together, items, group=0) -> tuple[list[threading.Thread], dict]:
    result: dict = {}

    def ask(item) -> None:
        try:
            result[item] = together.submit(group, item)
        except RuntimeError as error:
            result[item] = str(error)

    threads = [threading.Thread(target=ask, args=(item,)) for item in items]
    for thread in threads:
        thread.start()
    return threads, result


def test_micro_batcher_runs_single_request_immediately():
    work = Passes()
    work.open.set()
    together = MicroBatcher(work, 8, patience=5.0)
    started = time.perf_counter()
    assert [together.submit(0, n) for n in range(5)] == [0, 1, 4, 9, 16]
    assert time.perf_counter() - started < 1.0  # five times the patience would be 25 s
    assert work.seen == [[0], [1], [2], [3], [4]]


def test_micro_batcher_batches_requests_during_running_pass():
    work = Passes()
    together = MicroBatcher(work, 8, patience=10.0)
    first, result = asked(together, [1])
    assert work.begun.wait(10)
    others, more = asked(together, [2, 3, 4])
    other_group, last = asked(together, [5], group=1)
    while sum(map(len, together._waiting.values())) < 4:
        time.sleep(0.001)
    work.open.set()
    for item in (*first, *others, *other_group):
        item.join(10)
    assert result | more | last == {1: 1, 2: 4, 3: 9, 4: 16, 5: 25}
    assert sorted(map(sorted, work.seen)) == [[1], [2, 3, 4], [5]]


def test_micro_batcher_waits_no_longer_than_patience():
    work = Passes()
    together = MicroBatcher(work, 8)
    first, _ = asked(together, [1])
    assert work.begun.wait(10)
    second, result = asked(together, [2])
    deadline = time.perf_counter() + 10
    while len(work.seen) < 2 and time.perf_counter() < deadline:
        time.sleep(0.001)
    assert work.seen == [[1], [2]]  # the first one is still held up
    work.open.set()
    for item in (*first, *second):
        item.join(10)
    assert result == {2: 4}


def test_micro_batcher_limits_batch_size_and_shares_error():
    work = Passes()
    together = MicroBatcher(work, 2, patience=10.0)
    first, _ = asked(together, [1])
    assert work.begun.wait(10)
    others, result = asked(together, [-1, -1, -1, -1])
    while sum(map(len, together._waiting.values())) < 4:
        time.sleep(0.001)
    work.open.set()
    for item in (*first, *others):
        item.join(10)
    assert [len(entry) for entry in work.seen] == [1, 2, 2]
    assert result == {-1: "it failed"}
    assert together.submit(0, 3) == 9  # and on it goes


def close(a: np.ndarray, b: np.ndarray) -> bool:
    return np.abs(a - b).max() <= ROUNDING * np.abs(b).max()


@pytest.mark.parametrize("name", ["minilm", "smollm2"])
def test_forwards_match_single_forward(name, request):
    model = request.getfixturevalue(name)
    maskings = (OWN, OWN, Masking("causal") if name == "minilm" else Masking("window", reach=2))
    rows = [(tokens(model, text, ""), item) for text, item in zip(TEXTS, maskings, strict=True)]
    assert len({len(row.ids) for row, _ in rows}) == 3
    for result, (entry, masking) in zip(forwards(model, rows), rows, strict=True):
        alone = forward(model, entry, masking)
        assert result.tokens is entry
        for part in ("weights", "norms", "vectors"):
            assert close(getattr(result, part), getattr(alone, part)), part
        if name == "smollm2":
            assert close(result.following, alone.following)
        assert (result.allowed == alone.allowed).all()
        # it holds no more than itself
        assert result.weights.base.untyped_storage().nbytes() == result.weights.nbytes
        assert not result.vectors.flags.writeable


def test_read_batches_concurrent_requests_and_matches_forward(minilm, monkeypatch):
    monkeypatch.setitem(placement.TOGETHER, "cpu", 4)
    monkeypatch.setattr(forward_cache, "_shelf", forward_cache.ForwardCache())
    monkeypatch.setattr(forward_cache, "_passes", {})
    sizes: list[int] = []
    real = forward_cache.forwards

    def noted(pretrained, rows):
        sizes.append(len(rows))
        return real(pretrained, rows)

    monkeypatch.setattr(forward_cache, "forwards", noted)
    texts = [f"It is never {word}." for word in ("dull", "long", "sad", "funny", "old", "new")]
    threads = [threading.Thread(target=forward_cache.read, args=("minilm", t)) for t in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sum(sizes) == len(texts)
    assert max(sizes) > 1
    for text in texts:
        retained = forward_cache.read("minilm", text)  # what the class has
        assert close(retained.vectors, forward(minilm, tokens(minilm, text, "")).vectors)
    assert sum(sizes) == len(texts)
