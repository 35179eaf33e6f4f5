"""Who computes next: what docs/scheduler.md promises, on a clock that the test turns, and live."""

from __future__ import annotations

import asyncio
import random
import threading
import time

import pytest

from seqviz.ui.runtime import scheduler as module
from seqviz.ui.runtime.clients import ClientQuota
from seqviz.ui.runtime.scheduler import DrawQueue, Priority
from testing.protocol import run_async
from tests.fakes import TICK, FakeClient, SchedulerSimulator


def test_scheduler_runs_serially_in_priority_order():
    room = SchedulerSimulator()
    first = room.enqueue(Priority.DEPENDENT)
    for _ in range(3):
        for rank in reversed(Priority):
            room.enqueue(rank)
    room.run()
    assert max(map(len, room.together)) == 1
    assert room.let_in[0] is first
    assert [item.rank for item in room.let_in[1:]] == sorted(item.rank for item in room.let_in[1:])
    for rank in Priority:  # each in the order in which they came
        ranked = [item for item in room.let_in if item.rank == rank]
        assert ranked == [second for second in room.seconds if second.rank == rank]


def test_scheduler_starves_no_priority_under_endless_interactions():
    room = SchedulerSimulator()
    waits = [room.enqueue(rank, TICK) for rank in Priority for _ in range(2)]
    for _ in range(200):
        room.enqueue(Priority.INTERACTION, TICK)
        room.tick()
    for rank, passes in module.MAX_SKIPS.items():
        positions = [n for n, item in enumerate(room.let_in) if item.rank == rank]
        gaps = [b - a for a, b in zip([0, *positions], positions, strict=False)]
        assert len(positions) == 2
        assert max(gaps) <= passes + rank, rank  # kinds before it may be due as well
    assert set(waits) <= set(room.let_in)


def test_scheduler_overlaps_long_pages_with_interaction_not_export():
    room = SchedulerSimulator()
    for _ in range(4):
        room.enqueue(Priority.PAGE, 2.0)
    file = room.enqueue(Priority.EXPORT)
    presses = []
    for _ in range(50):
        room.tick()
        if not round(room.now / TICK) % 10:
            presses.append(room.enqueue(Priority.INTERACTION, 0.02))
    assert max(map(room.waited, presses)) <= module.OVERLAP_AFTER_S + 0.02 + TICK
    assert room.together[-1].count(Priority.PAGE) == module.SLOTS[Priority.PAGE] == 2
    assert file not in room.let_in
    room.run()
    assert [Priority.EXPORT] in room.together


def test_scheduler_runs_high_usage_client_after_others():
    room, greedy = SchedulerSimulator(), FakeClient(3 * module.USAGE_STEP_S)
    room.enqueue(Priority.INTERACTION)
    after = room.enqueue(Priority.INTERACTION, user=greedy)
    before = [room.enqueue(Priority.INTERACTION) for _ in range(5)]
    room.run()
    assert room.let_in[1:] == [*before, after]


def test_scheduler_bounds_short_wait_among_twenty_long_clients():
    """As `benchmarks.hostile exports`: each has used little, as it waits so long for the others."""
    room, many = SchedulerSimulator(), [FakeClient(turn=0.12) for _ in range(20)]
    short = []
    for tick in range(1000):
        for user in many:
            if not any(w.user is user and w not in room.ends for w in room.seconds):
                user.recent_cpu_s = 0.0  # it comes back while they wait
                room.enqueue(Priority.INTERACTION, 0.12, user)
        if not tick % 50:
            short.append(room.enqueue(Priority.INTERACTION, 0.01, FakeClient(turn=0.01)))
        room.tick()
    assert (
        max(map(room.waited, short)) <= module.OVERLAP_AFTER_S + 5 * TICK
    )  # a second and more before


def test_scheduler_leaves_slot_for_short_interactions():
    """As `benchmarks.hostile texts`: each has used less than a step when it begins."""
    room, many = SchedulerSimulator(), [FakeClient(0.9, 1.5) for _ in range(6)]
    for user in many:
        room.enqueue(Priority.INTERACTION, 1.5, user)
    short = []
    for tick in range(500):
        if not tick % 5:
            short.append(room.enqueue(Priority.INTERACTION, 0.01, FakeClient(turn=0.01)))
        room.tick()
    assert max(map(room.waited, short)) <= 2 * TICK
    room.run()
    assert all(any(item.user is user for item in room.let_in) for user in many)


def test_client_quota_estimates_cpu_per_priority():
    account = ClientQuota()
    account.took(0.5, Priority.PAGE)
    assert account.expected_cpu_s(Priority.INTERACTION) == 0.5  # until there was one
    account.took(0.01, Priority.INTERACTION)
    assert (
        account.expected_cpu_s(Priority.INTERACTION) == 0.01 < account.expected_cpu_s(Priority.PAGE)
    )


def test_scheduler_ages_long_interaction_among_short_ones():
    room = SchedulerSimulator()
    for tick in range(1000):
        room.enqueue(Priority.INTERACTION, TICK, FakeClient(turn=TICK))
        if tick == 100:
            long = room.enqueue(Priority.INTERACTION, 0.1, FakeClient(turn=0.1))
        room.tick()
    assert room.waited(long) <= module.AGING_FACTOR * 0.1 + 2 * TICK


def test_scheduler_shares_cpu_per_client_not_per_connection():
    """Both want pages all the time; the one asks for ten at once."""
    room, many, item = SchedulerSimulator(), FakeClient(), FakeClient()
    for _ in range(400):
        for user, maximum in ((many, 10), (item, 1)):
            held = sum(w.user is user and w not in room.let_in for w in room.seconds)
            for _ in range(maximum - held):
                room.enqueue(Priority.PAGE, 0.1, user)
        for _ in range(10):
            room.tick()
    assert item.recent_cpu_s == pytest.approx(many.recent_cpu_s, abs=2 * module.USAGE_STEP_S)


def test_scheduler_overlaps_page_with_interaction_not_second_page():
    room = SchedulerSimulator()
    page, second, following, press = (
        room.enqueue(rank, 0.3)
        for rank in (Priority.PAGE, Priority.PAGE, Priority.DEPENDENT, Priority.INTERACTION)
    )
    assert room.let_in == [page, press]
    room.run()
    assert room.let_in == [page, press, second, following]


def test_scheduler_overlaps_interaction_with_higher_usage_client():
    room = SchedulerSimulator()
    after = room.enqueue(Priority.INTERACTION, 1.0, FakeClient(module.USAGE_STEP_S))
    press = room.enqueue(Priority.INTERACTION, 0.02)
    assert room.let_in == [after, press]
    second = room.enqueue(Priority.INTERACTION, 0.02, FakeClient(module.USAGE_STEP_S))
    assert second not in room.let_in  # but not they among themselves
    room.run()


def test_scheduler_limits_slots_per_client():
    room, many = SchedulerSimulator(), FakeClient()
    for _ in range(5):
        room.enqueue(Priority.INTERACTION, 1.0, many)
    while room.now < 0.5:
        room.tick()
    assert len(room.let_in) == module.MAX_PER_CLIENT
    press = room.enqueue(Priority.INTERACTION, 0.02)
    assert press in room.let_in
    after = [
        room.enqueue(Priority.INTERACTION, 1.0, FakeClient(module.USAGE_STEP_S)) for _ in range(1)
    ]
    room.run()
    assert set(after) <= set(room.let_in)


def test_scheduler_runs_heavy_client_last_within_max_wait():
    room, heavy = SchedulerSimulator(), FakeClient(10 * module.HEAVY_USAGE_S)
    page = room.enqueue(Priority.PAGE, 1.0)
    press = room.enqueue(Priority.INTERACTION, 0.5, heavy)
    second = room.enqueue(Priority.EXPORT, 0.1)
    while room.now < 0.9:
        room.tick()
    assert room.let_in == [page]  # there would be a place for a press
    room.run()
    assert room.let_in == [page, second, press]
    last = room.enqueue(Priority.INTERACTION, 0.5, heavy)
    while last not in room.let_in:
        room.enqueue(Priority.INTERACTION, 5 * TICK)  # a class that never rests
        room.tick()
        assert room.now < 60
    assert room.waited(last) <= module.MAX_WAIT_S + 0.5 + room.order.waiting * TICK


def test_scheduler_frees_slots_of_hanging_tasks_up_to_cap():
    room = SchedulerSimulator()
    for _ in range(module.MAX_CONCURRENT - 1):
        room.enqueue(Priority.INTERACTION, 1e9)
    presses = [room.enqueue(Priority.INTERACTION) for _ in range(40)]
    while set(presses) - set(room.let_in):
        room.tick()
        assert room.now < 100
    assert max(map(len, room.together)) <= module.MAX_CONCURRENT


def test_scheduler_reserves_slot_when_slow_tasks_hang():
    """As where twenty students have texts written, which slow each other down."""
    room = SchedulerSimulator()
    texts = [room.enqueue(Priority.INTERACTION, 30.0, FakeClient(turn=1.0)) for _ in range(20)]
    while room.now < 25.0:
        room.tick()
    assert len(room.order.drawing) == module.MAX_CONCURRENT - module.RESERVED_SLOTS
    press = room.enqueue(Priority.INTERACTION, 0.02)
    assert press in room.let_in
    room.run()
    assert set(texts) <= set(room.let_in)


def test_scheduler_never_overlaps_exports():
    room = SchedulerSimulator()
    room.enqueue(Priority.EXPORT, 30.0)
    second = room.enqueue(Priority.EXPORT)
    press = room.enqueue(Priority.INTERACTION)
    while room.now < 20.0:
        room.tick(0.1)
    assert press in room.let_in
    assert second not in room.let_in
    room.run()
    assert second in room.let_in


def test_scheduler_skips_released_request():
    room = SchedulerSimulator()
    room.enqueue(Priority.INTERACTION)
    gone = room.enqueue(Priority.INTERACTION)
    stays = room.enqueue(Priority.INTERACTION)
    room.order.release(gone)
    room.run()
    assert gone not in room.let_in
    assert stays in room.let_in
    assert room.order.waiting == 0


@pytest.mark.parametrize("seed", range(5))
def test_scheduler_keeps_invariants_under_random_load(seed):
    random.seed(seed)
    room, users = (
        SchedulerSimulator(),
        [FakeClient(random.choice([0.0, 1.0, 5.0, 50.0])) for _ in range(8)],
    )
    for _ in range(300):
        for _ in range(random.choice([0, 0, 1, 3])):
            room.enqueue(random.choice(list(Priority)), random.choice([0.01, 0.03, 0.4, 2.0]),
                      random.choice(users))  # fmt: skip
        room.tick()
    room.run(3000)
    assert len(room.let_in) == len(room.seconds)
    for ranks in room.together:
        assert len(ranks) <= max(module.SLOTS.values())
    began = {item: room.ends[item] - room.seconds[item] for item in room.let_in}
    for entry in room.let_in:  # none beside one that is not slow and has only just begun
        beside = (
            o
            for o in room.let_in
            if not o.slow(began[entry]) and began[o] < began[entry] < room.ends[o] - 1e-6
        )
        ages = [began[entry] - began[o] for o in beside]
        assert min(ages, default=1.0) >= module.OVERLAP_AFTER_S - 1e-9


def until(condition) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


def test_draw_queue_frees_slot_after_exception():
    queue = DrawQueue()
    with pytest.raises(KeyError), queue.slot(Priority.INTERACTION):
        raise KeyError("a bench that fails")
    assert not queue.busy
    with queue.slot(Priority.INTERACTION):
        assert queue.busy


def test_draw_queue_serves_all_threads():
    queue, inside, observed = DrawQueue(), [0], []

    def draw(rank: Priority) -> None:
        for _ in range(50):
            with queue.slot(rank):
                inside[0] += 1
                observed.append(inside[0])
                time.sleep(0)
                inside[0] -= 1

    threads = [threading.Thread(target=draw, args=(rank,)) for rank in Priority for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(observed) == 4 * len(Priority) * 50
    assert max(observed) <= 2  # two where one was held up for long
    assert not queue.busy


def test_draw_queue_admits_waiter_after_overlap_delay(monkeypatch):
    monkeypatch.setattr(module, "OVERLAP_AFTER_S", 0.05)
    queue, rendered, ready = DrawQueue(), [], threading.Event()

    def hold() -> None:
        with queue.slot(Priority.PAGE):
            ready.wait(10)

    def press() -> None:
        with queue.slot(Priority.INTERACTION):
            rendered.append("press")

    threads = [threading.Thread(target=work) for work in (hold, press)]
    for thread in threads:
        thread.start()
        until(lambda: queue.busy)
    until(lambda: rendered)  # nobody comes or goes
    ready.set()
    for thread in threads:
        thread.join(10)


def test_draw_queue_drops_cancelled_request_and_wakes_next():
    queue = DrawQueue()

    async def both() -> bool:
        first = await queue.acquire(Priority.INTERACTION, FakeClient())
        gone = asyncio.ensure_future(queue.acquire(Priority.INTERACTION, FakeClient()))
        waits = asyncio.ensure_future(queue.acquire(Priority.INTERACTION, FakeClient()))
        await asyncio.sleep(0)
        assert queue.waiting == 2
        gone.cancel()
        await asyncio.sleep(0)
        assert queue.waiting == 1
        threading.Thread(target=queue.release, args=(first,)).start()
        queue.release(await waits)
        return queue.busy

    assert run_async(both()) is False


def test_draw_queue_notifies_position_and_allows_abort(monkeypatch):
    monkeypatch.setattr(module, "NOTIFY_EVERY_S", 0.02)
    queue, payload = DrawQueue(), []

    class Changed(Exception):
        pass

    def tell(before: int) -> None:
        payload.append(before)
        if len(payload) == 3:
            raise Changed

    monkeypatch.setattr(module, "OVERLAP_AFTER_S", 60.0)  # nobody begins beside the first
    with queue.slot(Priority.INTERACTION):
        other = queue.enqueue(Priority.INTERACTION, lambda: None)
        late = queue.enqueue(Priority.EXPORT, lambda: None)
        with pytest.raises(Changed), queue.slot(Priority.INTERACTION, notify=tell):
            raise AssertionError("it was not its turn")
        assert payload == [1, 1, 1]  # the press that came before, not the file
        assert queue.waiting == 2
        queue.release(other)
        queue.release(late)
    assert not queue.busy


def test_draw_queue_yield_slot_releases_and_reacquires():
    queue, order = DrawQueue(), []
    aside, other_is_in, done = (threading.Event() for _ in range(3))

    def first() -> None:
        with queue.slot(Priority.INTERACTION):
            order.append("first")
            with queue.yield_slot():
                aside.set()
                assert other_is_in.wait(10)
            order.append("first again")  # only when the other one has left
        done.set()

    def other() -> None:
        with queue.slot(Priority.INTERACTION):
            order.append("other")
            other_is_in.set()
            while not queue.waiting:  # the first one is back and waits
                time.sleep(0.001)
            order.append("other leaves")

    threads = [threading.Thread(target=first)]
    threads[0].start()
    assert aside.wait(10)
    threads.append(threading.Thread(target=other))
    threads[1].start()
    assert done.wait(10)
    for thread in threads:
        thread.join(10)
    assert order == ["first", "other", "other leaves", "first again"]
    assert not queue.busy
    with queue.yield_slot():  # without a place nothing changes
        assert not queue.busy
