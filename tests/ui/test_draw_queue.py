"""The floor: one bench is drawn at a time, a press first; nobody waits for ever."""

from __future__ import annotations

import threading
import time

import pytest

from seqviz.ui.shared import draw_queue as module
from seqviz.ui.shared.draw_queue import DrawQueue, Rank


class Class:
    """Threads that come to one floor, and the order in which they had it."""

    def __init__(self) -> None:
        self.floor = DrawQueue()
        self.order: list[str] = []
        self.together = self.most = 0
        self.threads: list[threading.Thread] = []
        self.open = threading.Event()

    def come(self, name: str, rank: Rank, hold: bool = False) -> None:
        """Another thread; the call returns when it draws or waits."""

        def draw() -> None:
            with self.floor.turn(rank):
                self.together += 1
                self.most = max(self.most, self.together)
                self.order.append(name)
                if hold:
                    self.open.wait(10)
                self.together -= 1

        before = len(self.order) + self.floor.waiting
        self.threads.append(threading.Thread(target=draw))
        self.threads[-1].start()
        until(lambda: len(self.order) + self.floor.waiting > before)

    def end(self) -> None:
        self.open.set()
        for thread in self.threads:
            thread.join(10)


def until(condition) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


@pytest.fixture
def patient(monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", dict.fromkeys(Rank, 30.0))


def test_one_at_a_time_a_press_before_a_page_before_what_follows(patient):
    room = Class()
    room.come("first", Rank.PAGE, hold=True)
    for number in range(3):
        room.come(f"following {number}", Rank.FOLLOWING)
        room.come(f"page {number}", Rank.PAGE)
        room.come(f"press {number}", Rank.PRESS)
    room.end()
    ranked = [f"{kind} {number}" for kind in ("press", "page", "following") for number in range(3)]
    assert room.order == ["first", *ranked]
    assert room.most == 1


def test_the_floor_is_free_again_after_an_exception():
    floor = DrawQueue()
    with pytest.raises(KeyError), floor.turn(Rank.PRESS):
        raise KeyError("a bench that fails")
    started = time.monotonic()
    with floor.turn(Rank.PRESS):
        pass
    assert time.monotonic() - started < module.PATIENCE[Rank.PRESS] / 2


def test_who_has_waited_long_enough_draws_beside_the_one_that_hangs(monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", {**dict.fromkeys(Rank, 30.0), Rank.PRESS: 0.05})
    room = Class()
    room.come("hangs", Rank.PRESS, hold=True)
    room.come("page", Rank.PAGE)
    room.come("press", Rank.PRESS)
    until(lambda: room.order == ["hangs", "press"])
    assert room.floor.waiting == 1  # the page has more patience, and its turn does not come so
    room.end()
    assert room.order == ["hangs", "press", "page"]
    assert room.floor.waiting == 0
    with room.floor.turn(Rank.PRESS):  # nothing is owed
        assert room.floor.waiting == 0


def test_many_threads_all_have_their_turn_and_never_two(patient):
    floor, inside, seen = DrawQueue(), [0], []

    def draw(rank: Rank) -> None:
        for _ in range(50):
            with floor.turn(rank):
                inside[0] += 1
                seen.append(inside[0])
                time.sleep(0)
                inside[0] -= 1

    threads = [threading.Thread(target=draw, args=(rank,)) for rank in Rank for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(seen) == 12 * 50
    assert set(seen) == {1}
