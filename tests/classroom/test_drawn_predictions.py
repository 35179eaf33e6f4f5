"""What a class draws: one sketch a seat, hidden until it is revealed, and nothing but numbers."""

from __future__ import annotations

import json
from math import inf, nan
from random import Random

import numpy as np
import pytest

from seqviz.classroom.drawn_predictions import LARGEST, MARKS, DrawnPredictions, summary
from seqviz.classroom.room import QUESTIONS, InvalidMessageError, Room
from seqviz.classroom.rooms import Rooms
from seqviz.core.errors import UserError
from seqviz.stats.intervals import median_rank

KEY = "vg.sketch.tanh"
ASK = {"kind": "sketch", "action": "ask", "key": KEY, "type": "curve", "most": [1000] * 5}
CELL = {**ASK, "type": "cell", "most": [20, 2]}
CLOSE, REVEAL = ({"kind": "sketch", "action": what} for what in ("close", "reveal"))


@pytest.fixture
def room() -> Room:
    return Rooms().open()


def told(room: Room, teacher: bool = False) -> dict:
    return json.loads(room.snapshot(teacher))


def draw(room: Room, seat, marks, number: int = 1) -> None:
    room.apply_student_message(seat, {"kind": "sketch", "number": number, "marks": marks})


def code_of(refused) -> str:
    return refused.value.code


def test_sketch_is_one_per_seat_and_editable_until_closed(room):
    seats = [room.join()[0] for _ in range(3)]
    room.apply_teacher_message(ASK)
    draw(room, seats[0], [0] * 5)
    draw(room, seats[0], [1000] * 5)
    draw(room, seats[1], [10, 20, 30, 40, 50])
    assert {"key": KEY, "number": 1, "state": "open", "drawn": 2}.items() <= \
        told(room)["sketch"].items()  # fmt: skip
    room.apply_teacher_message(CLOSE)
    with pytest.raises(UserError) as refused:
        draw(room, seats[2], [1] * 5)
    assert code_of(refused) == "sketch_closed"
    room.apply_teacher_message(REVEAL)
    room.apply_teacher_message(CLOSE)  # what is revealed stays so
    result = room.revealed().snapshot(teacher=True)
    assert result["sketches"] == [[10, 20, 30, 40, 50], [1000] * 5]
    assert (result["count"], result["median"][0]) == (2, 505)


def test_sketch_stays_hidden_until_revealed(room):
    seat, _ = room.join()
    for before in (None, ASK, CLOSE):
        if before:
            room.apply_teacher_message(before)
        if before == ASK:
            draw(room, seat, [1, 2, 3, 4, 5])
        for teacher in (False, True):
            with pytest.raises(UserError) as refused:
                room.revealed().snapshot(teacher)
            assert code_of(refused) == "not_revealed"
            existing = told(room, teacher)["sketch"]
            names = {"key", "number", "type", "most", "state", "drawn"}
            assert existing is None or set(existing) == names
    room.apply_teacher_message(REVEAL)
    assert "sketches" not in room.revealed().snapshot(teacher=False)  # a class is shown as a whole
    assert "median" in room.revealed().snapshot(teacher=False)


def test_sketch_question_can_be_repeated_and_rejects_old_sketch(room):
    seat, _ = room.join()
    room.apply_teacher_message(ASK)
    draw(room, seat, [1] * 5)
    room.apply_teacher_message(ASK)
    request = {"key": KEY, "type": "curve", "most": [1000] * 5}
    assert told(room)["sketch"] == {**request, "number": 2, "state": "open", "drawn": 0}
    with pytest.raises(UserError):
        draw(room, seat, [2] * 5, number=1)
    draw(room, seat, [3] * 5, number=2)
    assert [item["drawn"] for item in room.record().to_dict()["sketches"]] == [[[1] * 5], [[3] * 5]]


def test_sketch_record_contains_no_seats(room):
    seats = [room.join()[0] for _ in range(3)]
    room.apply_teacher_message(CELL)
    for seat, cell in zip(seats, ([20, 2], [3, 0], [3, 1]), strict=True):
        draw(room, seat, cell)
    assert room.record().to_dict()["sketches"] == [
        {"key": KEY, "kind": "cell", "most": [20, 2], "drawn": [[3, 0], [3, 1], [20, 2]]}
    ]


def test_room_keeps_last_sketch_questions(room):
    for _ in range(QUESTIONS + 3):
        room.apply_teacher_message(ASK)
    assert len(room.sketched) == QUESTIONS
    assert told(room)["sketch"]["number"] == QUESTIONS + 3


def test_sketch_survives_freed_seat(room):
    seat, secret = room.join()
    room.apply_teacher_message(ASK)
    draw(room, seat, [1] * 5)
    room.clock = lambda: 1e9
    assert room.join()[0].number == 2  # nobody draws under the number of who has drawn
    assert room.join(secret)[0].number == seat.number
    room.apply_teacher_message(REVEAL)
    assert room.revealed().snapshot(teacher=True)["sketches"] == [[1] * 5]


@pytest.mark.parametrize("marks", [
    [], [1] * 4, [1] * 6, [1] * 100_000, [-1, 0, 0, 0, 0], [1001, 0, 0, 0, 0], [0.5, 0, 0, 0, 0],
    [nan, 0, 0, 0, 0], [inf, 0, 0, 0, 0], ["1", 0, 0, 0, 0], [True, 0, 0, 0, 0], [None] * 5,
    [[1]] * 5, [10**400, 0, 0, 0, 0],
])  # fmt: skip
def test_sketch_with_invalid_marks_is_rejected(room, marks):
    seat, _ = room.join()
    room.apply_teacher_message(ASK)
    draw(room, seat, [7] * 5)
    before = told(room)
    with pytest.raises(UserError) as refused:
        draw(room, seat, marks)
    assert code_of(refused) == "sketch_closed"
    assert told(room) == before
    room.apply_teacher_message(REVEAL)
    assert room.revealed().snapshot(teacher=True)["sketches"] == [[7] * 5]


@pytest.mark.parametrize("said", [
    {**ASK, "key": "x"}, {**ASK, "key": "<b>"}, {**ASK, "key": 3}, {**ASK, "type": "text"},
    {**ASK, "most": []}, {**ASK, "most": [1000] * (MARKS + 1)}, {**ASK, "most": [LARGEST + 1]},
    {**ASK, "most": [0]}, {**ASK, "most": [True]}, {**ASK, "most": ["9"]}, {**ASK, "most": 5},
    {**CELL, "most": [20]}, {**CELL, "most": [20, 2, 2]}, {**ASK, "action": "again"},
    {**ASK, "action": 1},
    {"kind": "sketch"}, CLOSE, REVEAL,
])  # fmt: skip
def test_room_rejects_invalid_teacher_sketch_message(room, said):
    before = told(room)
    with pytest.raises(InvalidMessageError):
        room.apply_teacher_message(said)
    assert told(room) == before


@pytest.mark.parametrize("said", [
    {"kind": "sketch", "number": "1", "marks": [1] * 5}, {"kind": "sketch", "number": 1},
    {"kind": "sketch", "number": 1, "marks": "11111"}, ASK, CLOSE, REVEAL,
])  # fmt: skip
def test_room_rejects_invalid_student_sketch_message(room, said):
    seat, _ = room.join()
    room.apply_teacher_message(ASK)
    before = told(room)
    with pytest.raises(InvalidMessageError):
        room.apply_student_message(seat, said)
    assert told(room) == before


def test_summary_matches_numpy_median_and_quartiles():
    draws = Random(3)
    for count in (1, 2, 3, 4, 7, 30, 300):
        cloud = [[draws.randrange(1001) for _ in range(9)] for _ in range(count)]
        result = summary("curve", cloud)
        for name, percent in (("low", 25), ("median", 50), ("high", 75)):
            np.testing.assert_allclose(result[name], np.percentile(cloud, percent, axis=0))
        if rank := median_rank(count):
            middle, ordered = np.median(cloud, axis=0), np.sort(cloud, axis=0)
            np.testing.assert_allclose(middle - result["below"], ordered[rank - 1])
            np.testing.assert_allclose(middle + result["above"], ordered[count - rank])
        else:
            assert result["below"] == result["above"] == []
    names = ("low", "median", "high", "below", "above")
    assert summary("bar", []) == {"count": 0, **{name: [] for name in names}}


def test_summary_counts_cells():
    cloud = [[3, 0], [3, 1], [3, 0], [0, 2]]
    assert summary("cell", cloud) == {"count": 4, "cells": [[0, 2, 1], [3, 0, 2], [3, 1, 1]]}


def test_room_payload_stays_small_with_longest_sketches():
    """What all are told does not grow with it; what the teacher asks for once is read at once."""
    room = Rooms().open()
    room.apply_teacher_message({**ASK, "most": [LARGEST] * MARKS})
    before = len(room.snapshot(False))
    for _ in range(300):
        draw(room, room.join()[0], [LARGEST] * MARKS)
    room.apply_teacher_message(REVEAL)
    key = json.dumps(ASK["key"])  # of the question, which is then named as revealed
    assert len(room.snapshot(False)) <= before + 20 + len(key)
    assert len(json.dumps(room.revealed().snapshot(teacher=True))) < 150_000
    assert len(json.dumps(room.revealed().snapshot(teacher=False))) < 2_000
    stage = sum(marks.itemsize * len(marks) for marks in room.sketched[-1].sketches.values())
    assert stage == 300 * MARKS * 2


def test_drawn_predictions_reject_invalid_limits():
    with pytest.raises(ValueError, match="number of limits"):
        DrawnPredictions(KEY, "curve", ())
    with pytest.raises(ValueError, match="Limits are integers"):
        DrawnPredictions(KEY, "curve", (0,))
