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


def test_hands_that_move_on_have_a_turn_now_and_then_while_others_wait(patient):
    room = Class()
    room.come("first", Rank.PAGE, hold=True)
    for number in range(2):
        room.come(f"moving {number}", Rank.MOVING)
    most = module.PASSES[Rank.MOVING]
    presses = [f"press {number}" for number in range(most + 3)]
    for name in presses:
        room.come(name, Rank.PRESS)
    room.end()
    assert room.order == ["first", *presses[:most], "moving 0", *presses[most:], "moving 1"]


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
    assert len(seen) == 4 * len(Rank) * 50
    assert set(seen) == {1}


class Simulated:
    """An order on a clock of its own: each that is let in draws for so many ticks."""

    def __init__(self, ticks: int = 4) -> None:
        self.order, self.ticks, self.now = module.Order(), ticks, 0.0
        self.ends: dict[module.Waiting, float] = {}
        self.let_in: list[module.Waiting] = []
        self.most = 0

    def come(self, rank: Rank, hangs: bool = False) -> None:
        one = self.order.come(rank, self.now)
        self.ends[one] = float("inf") if hangs else 0.0
        self._enter()

    def tick(self) -> None:
        self.now += 0.05
        for one in [o for o in self.order.drawing if self.ends[o] <= self.now]:
            self.order.leave(one)
        self._enter()

    def _enter(self) -> None:
        for one in self.order.admit(self.now):
            self.ends[one] = max(self.ends[one], self.now + 0.05 * self.ticks)
            self.let_in.append(one)
        self.most = max(self.most, len(self.order.drawing))

    def run(self) -> None:
        while self.order.waiting:
            self.tick()
            assert self.now < 1000


def test_150_presses_and_30_pages_are_never_more_than_two_and_no_page_starves():
    class_ = Simulated()
    for number in range(150):
        class_.come(Rank.PRESS)
        if number % 5 == 0:
            class_.come(Rank.PAGE)
        if number % 10 == 0:
            class_.come(Rank.FOLLOWING)
            class_.come(Rank.MOVING)
    class_.run()
    assert len(class_.let_in) == 150 + 30 + 15 + 15
    assert class_.most == module.PLACES == 2
    for rank, passes in module.PASSES.items():
        places = [n for n, one in enumerate(class_.let_in) if one.rank == rank]
        gaps = [b - a for a, b in zip([0, *places], places, strict=False)]
        before = max(2, rank)  # kinds whose turn may be due as well, and come first
        assert max(gaps) <= passes + before, rank
    for rank in Rank:  # each in the order in which they came
        numbers = [one.number for one in class_.let_in if one.rank == rank]
        assert numbers == sorted(numbers)


def test_a_page_has_its_turn_while_presses_come_for_ever():
    class_ = Simulated(ticks=1)
    for _ in range(100):
        class_.come(Rank.PRESS)
    class_.come(Rank.PAGE)
    class_.come(Rank.FOLLOWING)
    before = len(class_.let_in)
    for _ in range(30):
        class_.come(Rank.PRESS)
        class_.tick()
    ranks = [one.rank for one in class_.let_in[before:]]
    assert ranks.index(Rank.PAGE) <= module.PASSES[Rank.PAGE]
    assert ranks.index(Rank.FOLLOWING) <= module.PASSES[Rank.FOLLOWING] + 1


def test_those_that_hang_lose_their_place_and_stop_nobody_within_the_cap():
    class_ = Simulated()
    for _ in range(module.MOST - module.PLACES):
        class_.come(Rank.PRESS, hangs=True)
    for _ in range(40):
        class_.come(Rank.PRESS)
    class_.run()
    assert len(class_.let_in) == module.MOST - module.PLACES + 40
    assert class_.most <= module.MOST


def test_a_press_goes_on_beside_two_that_hang(monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", dict.fromkeys(Rank, 0.02))
    monkeypatch.setattr(module, "HANGS", 0.2)
    monkeypatch.setattr(module, "LOOK", 0.02)
    room = Class()
    room.come("hangs", Rank.PRESS, hold=True)
    room.come("hangs too", Rank.PRESS, hold=True)
    room.come("press", Rank.PRESS)
    until(lambda: "press" in room.order)
    room.end()
    assert room.most == 3
    assert room.floor.waiting == 0


def test_many_that_lose_patience_at_once_are_two_at_a_time(monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", dict.fromkeys(Rank, 0.01))
    room, inside, most, lock = DrawQueue(), [0], [0], threading.Lock()

    def draw() -> None:
        with room.turn(Rank.PRESS):
            with lock:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
            time.sleep(0.02)
            with lock:
                inside[0] -= 1

    threads = [threading.Thread(target=draw) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert most[0] == 2
