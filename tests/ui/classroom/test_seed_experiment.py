"""A bench that a class runs: whose seeds, how it grows, who may ask for it, and how often."""

from __future__ import annotations

import asyncio
import base64
import json
import math
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from seqviz import jobs, lessons
from seqviz.classroom import seed_experiment as runs
from seqviz.classroom.room import InvalidMessageError, Room
from seqviz.classroom.rooms import Rooms
from seqviz.classroom.seed_experiment import MIN_SEEDS, SeedExperimentRun, target_seeds
from seqviz.core.errors import UserError
from seqviz.lessons.framework.lesson import SeedExperiment
from seqviz.ui.app import maintenance
from seqviz.ui.classroom import routes, seed_experiment
from seqviz.ui.classroom.routes import SEAT, TEACHER, room_service
from seqviz.ui.runtime import result_cache, run_context
from seqviz.ui.runtime.clients import ClientQuota
from testing.protocol import run_async

RUN = {"kind": "run", "lesson": "ar_fitting", "bench": "fit", "values": {"ar.process.phi": "0.6"}}
FIT = lessons.ar_fitting.lesson.benches["fit"]
PATIENCE = 20.0


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(seed_experiment, "THROTTLE_S", 0.0)


@pytest.fixture
def ours(monkeypatch):
    """The numbers of a bench are these: `ours(seeds) -> numbers`; what was asked for is noted."""
    result_cache.result_cache.cache_clear()
    requests: list[list[int]] = []

    def made(values=lambda seeds: [float(seed) for seed in seeds], at_once=30):
        def noted(seeds):
            requests.append(list(seeds))
            return values(seeds)

        seed_experiment = SeedExperiment(
            noted, "number", "These are our settings.", at_once=at_once
        )
        monkeypatch.setitem(vars(FIT), "replicate", lambda params, show: seed_experiment)
        return requests

    yield made
    result_cache.result_cache.cache_clear()


def join(client, code: str) -> dict:
    return client.post(f"/room/{code}/seat", json={}).json()


def say(client, room: dict, what: dict, seat: str | None = None):
    headers = {TEACHER: room["token"]} if seat is None else {SEAT: seat}
    return client.post(f"/room/{room['code']}/messages", json=what, headers=headers)


def look(client, room: dict, seat: str | None = None, **query: str):
    headers = {TEACHER: room["token"]} if seat is None else {SEAT: seat}
    return client.get(f"/room/{room['code']}/run", headers=headers, params=query)


def until(client, room: dict, target) -> dict:
    """The run as a class is told it, when `there(run)`."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        run = json.loads(
            client.portal.call(room_service().rooms.find(room["code"]).snapshot, False)
        )["run"]
        if run and target(run):
            return run
        time.sleep(0.02)
    raise AssertionError(run)


def done(run: dict) -> bool:
    return run["done"] == run["of"] and run["version"] > 0


def picture(answer) -> tuple[dict, dict]:
    around, figure = answer.text.split("\n", 1)
    return json.loads(around), json.loads(figure)


def named(figure: dict) -> dict[str, list[float]]:
    """Where the marks of each kind stand on the axis of the number."""
    return {
        trace["name"]: np.frombuffer(base64.b64decode(trace["x"]["bdata"])).tolist()
        for trace in figure["data"]
        if isinstance(trace["x"], dict)
    }


# ---- whose seeds


def test_target_seeds_fills_class_up_to_minimum():
    assert target_seeds([]) == list(range(1, MIN_SEEDS + 1))
    assert target_seeds([1, 2, 40]) == [*range(1, MIN_SEEDS), 40]
    assert target_seeds(range(1, 101)) == list(range(1, 101))


def test_run_reuses_filled_seed_for_late_seat():
    run = SeedExperimentRun(1, RUN)
    assert run.missing([3])[0] == 3  # those of seats first
    run.results = dict.fromkeys(target_seeds([3]), 0.5)
    assert run.missing([3, 4, 30]) == []
    assert run.missing([3, 31]) == [31]
    run.of_class = frozenset([3, 4])
    assert run.plotted_seeds() == list(range(1, MIN_SEEDS + 1))


def test_run_estimates_time_left_from_measured_seed():
    run = SeedExperimentRun(1, RUN)
    assert run.snapshot([])["left_s"] == 0  # nothing is measured
    run.results, run.seed_s = {1: 0.5, 2: 0.5}, 1.5
    assert run.snapshot([])["left_s"] == (MIN_SEEDS - 2) * 1.5
    run.training = (10, 50)
    assert run.snapshot([])["left_s"] == math.ceil((MIN_SEEDS - 2 - 5) * 1.5)


def test_room_replaces_run_and_retains_recent_ones(monkeypatch):
    monkeypatch.setattr("seqviz.classroom.room.KEPT", 2)
    room = Rooms().open()
    for number in range(1, 6):
        room.apply_teacher_message(RUN)
        assert room.run.number == number
        room.run.results = {1: float(number), 2: 0.5}
    room.apply_teacher_message({"kind": "stop"})
    assert room.run.stopped
    left = room.record().to_dict()["runs"]
    assert [item["found"][0] for item in left] == [3.0, 4.0, 5.0]
    assert left[0] == {**{k: RUN[k] for k in ("lesson", "bench", "values")},
                       "seeds": [1, 2], "found": [3.0, 0.5]}  # fmt: skip
    assert runs.KEPT == 20


def test_room_rejects_stop_without_run_and_student_commands():
    room = Rooms().open()
    with pytest.raises(InvalidMessageError):
        room.apply_teacher_message({"kind": "stop"})
    seat, _ = room.join()
    for message in (RUN, {"kind": "stop"}):
        with pytest.raises(InvalidMessageError):
            room.apply_student_message(seat, message)
    assert room.run is None


# ---- over the routes


def test_run_marks_result_of_each_seat(client, opened):
    seats = [join(client, opened["code"]) for _ in range(2)]
    assert say(client, opened, RUN).status_code == 204
    until(client, opened, done)
    around, figure = picture(look(client, opened, seats[1]["seat"], lang="en"))
    traces = named(figure)
    assert len(traces["class"]) == 2
    assert len(traces["further seeds"]) == MIN_SEEDS - 2
    mine = FIT.experiment({"process.phi": 0.6}).values([2])[0]
    assert around["marks"]["2"][0] == pytest.approx(mine)
    assert around["marks"]["2"][0] == [traces["class"][1]]
    assert around["alt"].startswith("30 seeds, 2 of the class and 28 further ones.")
    chinese, _ = picture(look(client, opened, lang="zh"))
    assert chinese["marks"] == around["marks"]
    assert chinese["alt"].startswith("共 30 个种子")
    left = client.get(f"/room/{opened['code']}/summary", headers={TEACHER: opened["token"]}).json()
    assert left["runs"][0]["seeds"] == list(range(1, MIN_SEEDS + 1))
    assert left["runs"][0]["values"] == RUN["values"]


def test_run_computes_seeds_in_batches(client, opened, ours):
    request = ours()
    say(client, opened, RUN)
    until(client, opened, done)
    assert request == [list(range(first, first + 5)) for first in range(1, MIN_SEEDS, 5)]


def test_run_measures_time_of_a_seed(client, opened, ours):
    ours(lambda seeds: time.sleep(0.2) or [0.5] * len(seeds))
    say(client, opened, RUN)
    run = until(client, opened, lambda run: 0 < run["done"] < run["of"])
    pause = seed_experiment.THROTTLE_S  # between two portions of five
    expected = (run["of"] - run["done"]) * (0.2 + pause) / 5
    assert run["left_s"] == pytest.approx(expected, rel=0.5, abs=1)
    assert until(client, opened, done)["left_s"] == 0


def test_run_adds_and_marks_late_seats(client, opened, ours):
    request = ours()
    join(client, opened["code"])
    say(client, opened, RUN)
    first = until(client, opened, done)
    late = join(client, opened["code"])
    until(client, opened, lambda run: run["version"] > first["version"])
    assert sum(map(len, request)) == MIN_SEEDS  # it was there already
    around, figure = picture(look(client, opened, late["seat"], lang="en"))
    assert named(figure)["class"] == [1.0, 2.0]
    room = room_service().rooms.find(opened["code"])
    while len(room.seats) <= MIN_SEEDS:  # as many seats as a class that is not filled up
        client.portal.call(room.join)
    until(client, opened, lambda run: done(run) and run["of"] == MIN_SEEDS + 1)
    around, figure = picture(look(client, opened, lang="en"))
    assert "further seeds" not in named(figure)
    assert around["marks"]["31"][0] == [31.0]


def test_run_stops_and_keeps_partial_results(client, opened, ours, monkeypatch):
    monkeypatch.setattr(seed_experiment, "THROTTLE_S", 0.2)
    request = ours()
    say(client, opened, RUN)
    until(client, opened, lambda run: run["done"] > 0)
    assert say(client, opened, {"kind": "stop"}).status_code == 204
    time.sleep(0.6)
    run = until(client, opened, lambda run: run["stopped"])
    assert run["done"] < MIN_SEEDS
    stage = sum(map(len, request))
    join(client, opened["code"])
    time.sleep(0.5)
    assert sum(map(len, request)) == stage
    assert len(picture(look(client, opened))[0]["marks"]) == run["done"]


def test_run_flood_is_throttled_and_last_wins(client, opened, ours):
    ours()
    answers = [
        say(client, opened, {**RUN, "values": {"ar.process.phi": f"0.{k + 1}"}}).status_code
        for k in range(60)
    ]
    let_in = answers.count(204)
    assert let_in <= routes.RUNS[0] + 2
    assert answers.count(429) == 60 - let_in
    run = until(client, opened, done)
    assert run["number"] == let_in
    assert client.post("/room").status_code == 200  # others go on


def test_run_route_throttles_flood_of_reads(client, opened, ours):
    ours()
    seat, other = join(client, opened["code"])["seat"], join(client, opened["code"])["seat"]
    say(client, opened, RUN)
    until(client, opened, done)
    answers = [look(client, opened, seat).status_code for _ in range(100)]
    assert answers[:50] == [200] * 50
    assert answers[-1] == 429
    assert look(client, opened, other).status_code == 200


def test_run_is_separate_per_room_and_shares_cached_seeds(client, opened, ours):
    request = ours()
    second = client.post("/room").json()
    for room in (opened, second):
        join(client, room["code"])
        say(client, room, RUN)
        until(client, room, done)
    assert sum(map(len, request)) == MIN_SEEDS  # the second found all of them
    say(client, second, {**RUN, "values": {"ar.process.phi": "0.5"}})
    until(client, second, lambda run: run["number"] == 2 and done(run))
    assert sum(map(len, request)) == 2 * MIN_SEEDS
    assert until(client, opened, done)["number"] == 1
    assert look(client, {**opened, "token": second["token"]}).status_code == 404


def test_run_route_rejects_caller_outside_room(client, opened, ours):
    ours()
    assert look(client, opened).status_code == 204  # nothing yet
    seat = join(client, opened["code"])["seat"]
    assert say(client, opened, RUN, seat).status_code == 400
    say(client, opened, RUN)
    until(client, opened, done)
    assert client.get(f"/room/{opened['code']}/run").status_code == 404
    assert look(client, opened, "1.x").status_code == 404


@pytest.mark.parametrize("change", [
    {"bench": "process"}, {"bench": "none"}, {"lesson": "none"}, {"lesson": "", "bench": ""},
])  # fmt: skip
def test_run_reports_unsupported_bench(client, opened, change):
    say(client, opened, {**RUN, **change})
    until(client, opened, lambda run: run["failed"])
    english, chinese = (json.loads(look(client, opened, lang=item).text) for item in ("en", "zh"))
    assert "no number per seed" in english["problem"]
    assert "不是每个种子都有一个数" in chinese["problem"]


def test_run_translates_user_error(client, opened):
    say(client, opened, {**RUN, "values": {"ar.process.order": "2"}})
    until(client, opened, lambda run: run["failed"])
    assert "AR(1)" in json.loads(look(client, opened, lang="en").text)["problem"]
    assert "只针对" in json.loads(look(client, opened, lang="zh").text)["problem"]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), ZeroDivisionError])
def test_run_reports_failure_and_ends(client, opened, ours, value):
    def values(seeds):
        if not isinstance(value, float):
            raise value
        return [value] * len(seeds)

    ours(values)
    say(client, opened, RUN)
    until(client, opened, lambda run: run["failed"])
    assert "problem" in json.loads(look(client, opened).text)
    left = client.get(f"/room/{opened['code']}/summary", headers={TEACHER: opened["token"]}).json()
    assert left["runs"][0]["found"] == []


def test_run_does_not_block_event_loop(ours, monkeypatch):
    monkeypatch.setattr(seed_experiment, "THROTTLE_S", 0.0)

    def slow(seeds):
        end = time.perf_counter() + 0.3
        while time.perf_counter() < end:
            np.linalg.svd(np.ones((60, 60)))
        return [0.5] * len(seeds)

    ours(slow)

    async def run(room: Room) -> float:
        # At settings of its own: the last seeds may be kept when this test has ended.
        room.apply_teacher_message({**RUN, "values": {"ar.process.phi": "0.9"}})
        seed_experiment.start(room, ClientQuota())
        turns = []
        while len(room.run.results) < 10:
            before = time.perf_counter()
            await asyncio.sleep(0.005)
            turns.append(time.perf_counter() - before)
        room.apply_teacher_message({"kind": "end"})
        return float(np.median(turns))

    # 0.3 where the loop computes itself. Not the longest: a machine that is busy gives that to any.
    assert run_async(run(Rooms().open())) < 0.1


# ---- what is trained


def trained(seeds: tuple[int, ...], gate: str = "", report=jobs.no_progress) -> np.ndarray:
    """Two numbers of each seed; it goes on when the gate's file is there."""
    for step in range(1000):
        report(step, min(0.5, step / 10))
        if not gate or Path(gate).exists():
            return np.array([[seed, 2.0 * seed] for seed in seeds])
        time.sleep(0.01)
    raise TimeoutError


@pytest.fixture
def long(monkeypatch):
    """The bench trains this, ten seeds a job: `long(gate)`."""
    result_cache.result_cache.cache_clear()

    def made(gate="", function=trained):
        payload = SeedExperiment(partial(function, gate=gate), "number", "These are our settings.",
                          at_once=10, kinds=("A", "B"), long=True)  # fmt: skip
        monkeypatch.setattr(seed_experiment, "LOOK", 0.02)
        monkeypatch.setitem(vars(FIT), "replicate", lambda params, show: payload)

    yield made
    result_cache.result_cache.cache_clear()


def test_training_run_uses_job_queue_and_survives_orphan_reaper(
    client, opened, long, tmp_path, monkeypatch
):
    gate = tmp_path / "open"
    long(str(gate))
    mine = join(client, opened["code"])
    say(client, opened, RUN)
    run = until(client, opened, lambda run: run["training"] and run["percent"] == 50)
    monkeypatch.setattr(run_context.connection, "is_open", lambda name: False)
    leaving = maintenance.OrphanReaper()
    for _ in range(3):  # no page is connected that would wait for it, and it goes on
        run_async(leaving.look())
    assert (run["done"], run["training"]) == (0, 10)
    assert run["left_s"] > 0  # by what has passed for half of ten seeds
    assert look(client, opened).status_code == 204  # nothing to draw yet
    gate.touch()
    until(client, opened, done)
    around, _ = picture(look(client, opened, mine["seat"], lang="en"))
    assert around["kinds"] == ["A", "B"]
    assert around["marks"]["7"][2] == ["7.00", "14.0"]
    xs, ys = around["marks"]["7"][:2]
    assert len(xs) == len(ys) == 2
    assert ys[0] > 1 > ys[1]  # the first kind is the upper row
    assert "A 15.5" in around["alt"]
    assert "B minus A 15.5" in around["alt"]
    left = client.get(f"/room/{opened['code']}/summary", headers={TEACHER: opened["token"]}).json()
    assert left["runs"][0]["found"][:2] == [[1.0, 2.0], [2.0, 4.0]]


@pytest.mark.parametrize("how", ["stop", "other", "end"])
def test_training_run_is_cancelled_on_stop_replacement_or_end(client, opened, long, tmp_path, how):
    long(str(tmp_path / f"{how}, never"))
    before = jobs.queue_for().tally.cancelled
    say(client, opened, RUN)
    until(client, opened, lambda run: run["training"] == 10)
    if how == "other":
        say(client, opened, {**RUN, "bench": "process"})
    else:
        say(client, opened, {"kind": how})
    end = time.monotonic() + PATIENCE
    while jobs.queue_for().tally.cancelled == before:
        assert time.monotonic() < end
        time.sleep(0.02)


def refused(seeds: tuple[int, ...], gate: str, report=jobs.no_progress) -> np.ndarray:
    raise UserError("race_diverged", "It diverged.", cell="RNN", done=7, rate="1")


def test_training_run_reports_user_error(client, opened, long):
    long(function=refused)
    say(client, opened, RUN)
    until(client, opened, lambda run: run["failed"])
    assert (
        "ran off to infinity after 7" in json.loads(look(client, opened, lang="en").text)["problem"]
    )
    assert "7 次更新后" in json.loads(look(client, opened, lang="zh").text)["problem"]
