"""A teacher's drawing on a figure: what it may be, who gets it, and when it is gone."""

from __future__ import annotations

import json

import pytest

from seqviz.classroom.ink import HIGHEST, LOWEST, MAX_NUMBERS, MAX_STROKES, parse_strokes
from seqviz.classroom.room import InvalidMessageError, Room
from seqviz.classroom.rooms import Rooms
from tests.fakes import FakeClock

PLACE = {"lesson": "gates", "bench": "watch"}
STROKE = {"panel": "x2y2", "points": [0, 10, 500, HIGHEST, LOWEST, 3]}


@pytest.fixture
def room() -> Room:
    room = Rooms(FakeClock(0.0)).open()
    room.apply_teacher_message({"kind": "navigate", **PLACE, "values": {"ga.watch.step": "20"}})
    return room


def drawn(room: Room) -> list:
    return json.loads(room.snapshot(False))["ink"]


def draw(room: Room, *strokes, **place) -> None:
    room.apply_teacher_message({"kind": "ink", **PLACE, **place, "strokes": [*strokes]})


def test_every_page_gets_the_present_drawing(room):
    """Also one that joins later: the drawing is part of the room's state."""
    draw(room, STROKE, {"panel": "", "points": [1, 2]})
    seat, _ = room.join()
    assert json.loads(room.snapshot_for(seat))["ink"] == [STROKE, {"panel": "", "points": [1, 2]}]
    draw(room)
    assert drawn(room) == []


def test_drawing_is_gone_with_its_figure(room):
    draw(room, STROKE)
    room.apply_teacher_message({"kind": "navigate", **PLACE, "values": {"ga.watch.step": "20"}})
    assert drawn(room) == [STROKE]  # nothing has changed
    room.apply_teacher_message({"kind": "navigate", **PLACE, "values": {"ga.watch.step": "21"}})
    assert drawn(room) == []
    draw(room, STROKE, bench="one")  # that the teacher has left in the meantime
    assert drawn(room) == []


@pytest.mark.parametrize("strokes", [
    None, "x", [None], [{"points": [1, 2]}], [{"panel": "<b>", "points": [1, 2]}],
    [{"panel": "", "points": [1, 2, 3]}], [{"panel": "", "points": []}],
    [{"panel": "", "points": [1, 2.5]}], [{"panel": "", "points": [True, 2]}],
    [{"panel": "", "points": [1, HIGHEST + 1]}], [{"panel": "", "points": [LOWEST - 1, 1]}],
    [STROKE] * (MAX_STROKES + 1), [{"panel": "", "points": [1] * (MAX_NUMBERS + 2)}],
    [{"panel": "", "points": [1] * MAX_NUMBERS}, {"panel": "", "points": [1, 1]}],
])  # fmt: skip
def test_anything_else_is_rejected_and_changes_nothing(room, strokes):
    draw(room, STROKE)
    with pytest.raises(InvalidMessageError):
        room.apply_teacher_message({"kind": "ink", **PLACE, "strokes": strokes})
    assert drawn(room) == [STROKE]


def test_largest_drawing_is_one_message():
    """And adds to the state that each page gets no more than a location may."""
    points = [LOWEST] * (MAX_NUMBERS // MAX_STROKES)
    strokes = [{"panel": "x10y10", "points": points}] * MAX_STROKES
    assert parse_strokes(strokes) == strokes
    assert len(json.dumps(strokes, separators=(",", ":"))) < 8_192


def test_a_student_cannot_draw(room):
    seat, _ = room.join()
    with pytest.raises(InvalidMessageError):
        room.apply_student_message(seat, {"kind": "ink", **PLACE, "strokes": [STROKE]})
