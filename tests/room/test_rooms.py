"""Rooms, seats and votes: what is counted once, what is not told, and what ends."""

from __future__ import annotations

import json
from random import Random

import pytest

from seqviz import catalog, lessons
from seqviz.lessons import in_room
from seqviz.lessons.bench.controls import controls
from seqviz.refusal import Refusal
from seqviz.room import board, codes, rooms
from seqviz.room import room as one_room
from seqviz.room.ballot import Ballot
from seqviz.room.room import Room, Unsaid
from seqviz.room.rooms import Rooms


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def all_rooms(clock) -> Rooms:
    return Rooms(clock)


@pytest.fixture
def room(all_rooms) -> Room:
    return all_rooms.open()


def told(room: Room, teacher: bool = False) -> dict:
    return json.loads(room.told(teacher))


def code_of(refused) -> str:
    return refused.value.code


# ---- codes


def test_no_letter_is_taken_for_another():
    alike = ("0OQD", "1IL", "2Z", "5S", "8B", "UV", "GC6", "MN")
    for group in alike[:-2]:
        assert not set(group) & set(codes.ALPHABET), group
    assert "G" not in codes.ALPHABET


def test_a_code_is_as_long_as_the_risk_asks():
    guesses, risk = rooms.GUESSES, 1e-3

    def found(letters: int) -> float:  # exactly: that no guess is one of the rooms' codes
        return 1 - (1 - rooms.ROOMS / len(codes.ALPHABET) ** letters) ** guesses

    assert found(rooms.LETTERS) <= risk < found(rooms.LETTERS - 1)


@pytest.mark.parametrize(("typed", "read"), [
    ("kmt rax", "KMTRAX"), ("KMT-RAX ", "KMTRAX"), ("km\u2013tr\u00b7ax", "KMTRAX"), ("", ""),
    ("KMTRA0", ""), ("<b>", ""), ("K" * 1000, "K" * 40), ("\u0000", ""), ("ｋｍｔ", ""),
])  # fmt: skip
def test_a_code_is_read_as_it_is_typed(typed, read):
    assert codes.read(typed) == read


# ---- rooms


def test_a_room_is_found_by_its_code_and_no_other(all_rooms, room):
    assert all_rooms.find(codes.shown(room.code).lower()) is room
    with pytest.raises(Refusal) as refused:
        all_rooms.find("A" * rooms.LETTERS)
    assert code_of(refused) == "no_room"


def test_there_are_so_many_rooms_and_no_more(all_rooms):
    opened = {all_rooms.open().code for _ in range(rooms.ROOMS)}
    assert len(opened) == rooms.ROOMS
    with pytest.raises(Refusal) as refused:
        all_rooms.open()
    assert code_of(refused) == "too_many_rooms"


def test_a_room_ends_when_its_teacher_is_gone_or_its_time_is_over(all_rooms, clock):
    gone, there = all_rooms.open(), all_rooms.open()
    there.teachers = 1
    clock.now = one_room.DESERTED + 1
    all_rooms.tidy()
    assert (gone.ended, there.ended, len(all_rooms)) == (True, False, 1)
    assert told(gone)["ended"]
    clock.now = rooms.LIFE + 1
    all_rooms.tidy()
    assert there.ended


def test_a_teacher_ends_a_room(all_rooms, room):
    room.tell({"kind": "end"})
    with pytest.raises(Refusal):
        all_rooms.find(room.code)


def test_a_teachers_page_opens_its_room_again_on_another_server(room):
    other = Rooms()
    again = other.open(room.code, room.token)
    assert (again.code, again.is_teachers(room.token)) == (room.code, True)
    assert other.open(room.code, room.token) is again
    with pytest.raises(Refusal) as refused:
        other.open(room.code, "x" * 32)
    assert code_of(refused) == "no_room"


@pytest.mark.parametrize("token", ["", "x", "é", "\ud800", "0" * 10_000])
def test_no_other_token_is_the_teachers(room, token):
    assert not room.is_teachers(token)


# ---- seats


def test_seats_have_numbers_from_one_up_and_secrets(room):
    first, second = room.join(), room.join()
    assert (first[0].number, second[0].number) == (1, 2)
    assert room.seat(first[1]) is first[0]
    assert room.join(first[1]) == first
    assert room.seat(f"1.{second[0].secret}") is None
    for wrong in ("", "1", "1.", "x.y", "99999999.x", "\u0661.x"):
        assert room.seat(wrong) is None


def test_a_room_and_a_server_have_so_many_seats(all_rooms, room, monkeypatch):
    monkeypatch.setattr(one_room, "SEATS", 3)
    seats = [room.join() for _ in range(3)]
    with pytest.raises(Refusal) as refused:
        room.join()
    assert code_of(refused) == "room_full"
    assert room.join(seats[1][1]) == seats[1]  # who has one comes back to it
    monkeypatch.setattr(rooms, "FOLLOWERS", 3)
    with pytest.raises(Refusal) as refused:
        all_rooms.join(all_rooms.open())
    assert code_of(refused) == "too_many_followers"


def test_a_seat_left_for_long_is_free_unless_it_has_voted(room, clock):
    (_, gone), (voter, kept) = room.join(), room.join()
    room.tell({"kind": "ask", "key": "vg.predict.order", "options": 3})
    room.hear(voter, {"kind": "vote", "key": "vg.predict.order", "round": 1, "option": 2})
    clock.now = one_room.DESERTED + 1
    assert room.join()[0].number == 1
    assert room.seat(kept) is voter
    assert room.seat(gone) is None


def test_a_server_that_forgot_gives_a_seat_back(all_rooms, room):
    seat, secret = room.join()
    room.join()
    again = Rooms().open(room.code, room.token)
    assert again.join()[0].number == 1
    assert again.join(secret)[0].number != 1  # somebody has it now
    fresh = Rooms().open(room.code, room.token)
    assert fresh.join(secret)[0].number == seat.number
    assert fresh.seat(secret) is not None


@pytest.mark.parametrize("claimed", ["7.short", "0.aaaaaaaaaaaaaaaa", "301.aaaaaaaaaaaaaaaa", "x"])
def test_a_claim_that_cannot_be_is_a_new_seat(room, claimed):
    assert room.join(claimed)[0].number == 1


# ---- what a teacher says

PLACE = {"kind": "place", "lesson": "gates", "bench": "watch", "values": {"ga.watch.step": "20"}}


def test_what_a_teacher_shows_is_told_to_all(room):
    room.tell(PLACE)
    assert told(room)["place"] == {key: PLACE[key] for key in ("lesson", "bench", "values")}
    room.tell({"kind": "pause", "on": True})
    assert told(room)["paused"]


def test_one_figure_alone_goes_along_and_a_range_ends_with_its_lesson(room):
    room.tell(PLACE)
    room.tell({"kind": "allow", "benches": ["gates/watch"]})
    room.tell({**PLACE, "bench": "force"})
    assert told(room)["allowed"] == ["gates/force"]
    both = ["gates/watch", "gates/force"]
    room.tell({"kind": "allow", "benches": both})
    for bench in ("learn", ""):  # "": between two figures, or while a page comes
        room.tell({**PLACE, "bench": bench})
        assert told(room)["allowed"] == both
    room.tell({**PLACE, "lesson": "attention", "bench": "real"})
    assert told(room)["allowed"] == []


def test_every_control_of_every_bench_can_be_shown_and_so_can_home(room):
    for record in catalog.LESSONS:
        for name, bench in getattr(lessons, record.slug).lesson.benches.items():
            values = {
                f"{bench.prefix}.{control}": "1" for control, _ in controls(bench.declaration)
            }
            place = {"lesson": record.slug, "bench": name, "values": values}
            room.tell({"kind": "place", **place})
            assert told(room)["place"] == place
    room.tell({"kind": "place", "lesson": "", "bench": "", "values": {}})
    assert told(room)["place"]["lesson"] == ""


@pytest.mark.parametrize("said", [
    {}, {"kind": "x"}, {"kind": 3}, {**PLACE, "lesson": "../x"}, {**PLACE, "bench": None},
    {**PLACE, "values": {"<b>": "1"}}, {**PLACE, "values": {"ga.watch.step": 3}},
    {"kind": "pause"}, {"kind": "allow", "benches": ["<b>"]},
    {"kind": "allow", "benches": [3]}, {"kind": "allow", "benches": ["gates/watch"] * 81},
    {"kind": "approve", "number": 1}, {"kind": "discard", "number": "1"},
    {"kind": "ask", "key": "x", "options": 3}, {"kind": "ask", "key": "vg.predict.a", "options": 9},
    {"kind": "reveal"},
])  # fmt: skip
def test_what_cannot_be_said_changes_nothing(room, said):
    before = told(room)
    with pytest.raises(Unsaid):
        room.tell(said)
    assert told(room) == before


def test_a_text_too_long_for_all_screens_is_refused(room):
    with pytest.raises(Refusal) as refused:
        room.tell({**PLACE, "values": {"at.map.text": "x" * one_room.PLACE}})
    assert code_of(refused) == "long_place"
    assert told(room)["place"] == {}


TEXT = {"kind": "text", "lesson": "gates", "bench": "watch", "values": {"ga.watch.step": "3"},
        "key": "ga.watch.characters", "text": "It rains."}  # fmt: skip

# ---- votes

ASK = {"kind": "ask", "key": "vg.predict.order", "options": 3}


def vote(room, seat, option, round_=1):
    room.hear(seat, {"kind": "vote", "key": ASK["key"], "round": round_, "option": option})


def test_a_seat_has_one_vote_a_round_and_may_change_it(room):
    seats = [room.join()[0] for _ in range(3)]
    room.tell(ASK)
    for option in (0, 1, 2):
        vote(room, seats[0], option)
    vote(room, seats[1], 0)
    assert told(room)["ballot"]["voted"] == 2
    room.tell({"kind": "reveal"})
    assert told(room)["ballot"]["counts"] == [[1, 0, 1]]
    with pytest.raises(Refusal) as refused:
        vote(room, seats[2], 1)
    assert code_of(refused) == "vote_closed"


def test_nobody_is_told_a_count_before_it_is_revealed(room):
    seat, _ = room.join()
    room.tell(ASK)
    vote(room, seat, 2)
    room.tell({"kind": "close"})
    for teacher in (False, True):
        assert set(told(room, teacher)["ballot"]) == {
            "key", "number", "options", "state", "round", "voted",
        }  # fmt: skip


def test_a_seat_is_reminded_of_its_own_answer_and_of_nobody_elses(room):
    """After a reload; an answer to the round or the question before is none to this one."""

    def own(seat) -> dict:
        return json.loads(room.told_to(seat))["own"]

    seat, other = (room.join()[0] for _ in range(2))
    assert own(seat) == {"vote": None, "sketch": None}
    room.tell(ASK)
    vote(room, seat, 2)
    assert (own(seat)["vote"], own(other)["vote"]) == (2, None)
    assert "own" not in told(room, teacher=True)
    room.tell({"kind": "again"})
    assert own(seat)["vote"] is None
    vote(room, seat, 1, 2)
    room.tell({"kind": "reveal"})
    assert own(seat)["vote"] == 1
    room.tell(ASK)  # the same question, put anew
    assert own(seat)["vote"] is None
    drawing = {"kind": "sketch", "do": "ask", "key": "vg.sketch.tanh", "as": "bar", "most": [9, 9]}
    room.tell(drawing)
    room.hear(seat, {"kind": "sketch", "number": told(room)["sketch"]["number"], "marks": [3, 4]})
    assert (own(seat)["sketch"], own(other)["sketch"]) == ([3, 4], None)
    assert room.told_to(seat).startswith(room.told(False)[:-1])


def test_of_a_vote_and_a_drawing_the_number_tells_which_was_put_last(room):
    drawing = {"kind": "sketch", "do": "ask", "key": "vg.sketch.tanh", "as": "bar", "most": [9, 9]}
    numbers = []
    for question, name in ((ASK, "ballot"), (drawing, "sketch"), (ASK, "ballot")):
        room.tell(question)
        numbers.append(told(room)[name]["number"])
    assert numbers == [1, 2, 3]


def test_vote_talk_vote_again(room):
    """The flow between two rounds is that of a count by hand."""
    draws = Random(5)
    seats = [room.join()[0] for _ in range(40)]
    room.tell(ASK)
    first = {seat.number: draws.randrange(3) for seat in seats[:30]}
    for seat in seats[:30]:
        vote(room, seat, first[seat.number])
    room.tell({"kind": "close"})
    room.tell({"kind": "again"})
    second = {seat.number: draws.randrange(3) for seat in seats[10:]}
    for seat in seats[10:]:
        vote(room, seat, second[seat.number], 2)
    with pytest.raises(Refusal):
        vote(room, seats[0], 0, 1)  # that round is over
    room.tell({"kind": "reveal"})
    found = told(room)["ballot"]
    both = [seat.number for seat in seats[10:30]]
    flow = [[sum(first[n] == a and second[n] == b for n in both) for b in range(3)]
            for a in range(3)]  # fmt: skip
    assert found["flow"] == flow
    assert [sum(one) for one in found["counts"]] == [30, 30]


def test_there_are_two_rounds_and_none_behind_the_reveal():
    ballot = Ballot("vg.predict.order", 2)
    assert ballot.again()
    assert not ballot.again()
    ballot.reveal()
    assert not ballot.vote(1, 0)
    assert not Ballot("vg.predict.order", 2).vote(1, 2)


@pytest.mark.parametrize("said", [
    {"kind": "vote", "key": "vg.predict.other", "round": 1, "option": 0},
    {"kind": "vote", "key": ASK["key"], "round": 2, "option": 0},
    {"kind": "vote", "key": ASK["key"], "round": 1, "option": 3},
    {"kind": "vote", "key": ASK["key"], "round": 1, "option": -1},
    {"kind": "vote", "key": ASK["key"], "round": 1, "option": "0"},
    {"kind": "where", "bench": "<script>", "left": False, "goals": []},
    {"kind": "where", "bench": "gates/watch", "left": False, "goals": ["<b>"]},
    {"kind": "where", "bench": "gates/watch", "left": False, "goals": ["gates/a"] * 41},
    {"kind": "send", "lesson": "gates", "bench": "watch", "values": {"<b>": "1"}},
    {"kind": "text", "lesson": "gates", "bench": "watch", "values": {}, "key": "<b>", "text": "x"},
    {"kind": "text", "lesson": "gates", "bench": "watch", "values": {}, "key": TEXT["key"]},
    {"kind": "text", "lesson": "gates", "bench": "<b>", "values": {}, "key": TEXT["key"],
     "text": "x"},
    {"kind": "tell"}, {"kind": "end"}, {"kind": "approve", "number": 1}, {},
])  # fmt: skip
def test_what_a_student_cannot_say_changes_nothing(room, said):
    seat, _ = room.join()
    room.tell(ASK)
    before = told(room)
    with pytest.raises((Unsaid, Refusal)):
        room.hear(seat, said)
    assert told(room) == before


# ---- where they are


def test_dots_say_where_a_class_is_and_who_is_stuck(room, clock):
    seats = [room.join()[0] for _ in range(4)]
    for seat, bench in zip(seats, ("gates/watch", "gates/watch", "gates/force"), strict=False):
        room.hear(
            seat, {"kind": "where", "bench": bench, "left": bench == "gates/force", "goals": []}
        )
        seat.streams = 1
    clock.now = one_room.STUCK + 1
    room.hear(seats[0], {"kind": "where", "bench": "gates/watch", "left": False, "goals": []})
    room.hear(seats[1], {"kind": "where", "bench": "gates/one", "left": False, "goals": []})
    clock.now += 1
    room.hear(seats[1], {"kind": "where", "bench": "gates/watch", "left": False, "goals": []})
    found = told(room, teacher=True)
    assert found["dots"] == {"gates/watch": [2, 1], "gates/force": [1, 1]}
    assert (found["left"], found["present"]) == (1, 3)  # the fourth has no page any more
    assert "dots" not in told(room)


# ---- what students send, and what is left


def send(room, seat, step):
    room.hear(seat, {**PLACE, "kind": "send", "values": {"ga.watch.step": str(step)}})


def test_a_seat_sends_what_it_sees_and_the_teacher_puts_it_in_order(room):
    seats = [room.join()[0] for _ in range(2)]
    for step in range(5):
        send(room, seats[0], step)
    send(room, seats[1], 9)
    sent = told(room, teacher=True)["sent"]
    assert [one["values"]["ga.watch.step"] for one in sent] == ["2", "3", "4", "9"]
    assert "sent" not in told(room)
    room.tell({"kind": "order", "sent": [sent[3]["number"], sent[0]["number"]]})
    sent = told(room, teacher=True)["sent"]
    assert [one["values"]["ga.watch.step"] for one in sent] == ["9", "2"]
    for wrong in ([99], ["1"], [None]):
        with pytest.raises(Unsaid):
            room.tell({"kind": "order", "sent": wrong})


def test_nobody_pushes_out_what_others_have_sent(room, monkeypatch):
    monkeypatch.setattr(one_room, "SENT", 2)
    seats = [room.join()[0] for _ in range(3)]
    send(room, seats[0], 1)
    send(room, seats[1], 2)
    with pytest.raises(Refusal) as refused:
        send(room, seats[2], 3)
    assert code_of(refused) == "much_sent"
    assert len(room.sent) == 2


def test_what_is_left_of_a_lecture_has_no_seats_in_it(room):
    seats = [room.join()[0] for _ in range(3)]
    room.tell(ASK)
    for seat in seats:
        vote(room, seat, 1)
        goals = ["gates/hold"] if seat.number < 3 else []
        room.hear(seat, {"kind": "where", "bench": "gates", "left": False, "goals": goals})
    send(room, seats[0], 7)
    room.tell({"kind": "reveal"})
    assert room.afterwards() == {
        "seats": 3,
        "questions": [{"key": ASK["key"], "options": 3, "counts": [[0, 3, 0]], "flow": None}],
        "sketches": [],
        "sent": [{"lesson": "gates", "bench": "watch", "values": {"ga.watch.step": "7"}}],
        "texts": [],
        "goals": {"gates/hold": 2},
        "runs": [],
    }


# ---- texts


def test_a_text_is_shown_when_the_teacher_has_approved_it(room):
    seat, _ = room.join()
    room.hear(seat, TEXT)
    assert told(room)["board"] == [0, 0]
    for teacher in (False, True):  # and even the teacher's page is not told what it says
        assert TEXT["text"] not in room.told(teacher).decode()
    first = {"number": 1, "lesson": "gates", "bench": "watch"}
    assert told(room, teacher=True)["waiting"] == {"count": 1, "first": first}
    room.tell({"kind": "approve", "number": 1})
    assert told(room, teacher=True)["waiting"] == {"count": 0, "first": None}
    assert told(room)["board"] == [1, 1]
    wanted = {name: TEXT[name] for name in ("lesson", "bench", "values", "key", "text")}
    assert room.texts() == [{"number": 1, **wanted}] == room.afterwards()["texts"]
    room.tell({"kind": "discard", "number": 1})
    assert (told(room)["board"], room.texts()) == ([2, 0], [])


def test_a_text_thrown_away_was_never_shown(room):
    seat, _ = room.join()
    room.hear(seat, TEXT)
    room.tell({"kind": "discard", "number": 1})
    assert (told(room)["board"], room.afterwards()["texts"]) == ([0, 0], [])
    for kind in ("approve", "discard"):
        with pytest.raises(Unsaid):
            room.tell({"kind": kind, "number": 1})


def test_of_one_seat_and_of_all_so_many_texts_wait(room, monkeypatch):
    monkeypatch.setattr(board, "ALL", 5)
    seats = [room.join()[0] for _ in range(3)]
    room.hear(seats[0], TEXT)
    room.hear(seats[0], TEXT)  # pressed twice
    assert len(room.board.waiting) == 1
    for k in range(2):
        room.hear(seats[0], {**TEXT, "text": f"{k}"})
    with pytest.raises(Refusal) as refused:
        room.hear(seats[0], {**TEXT, "text": "a fourth"})
    assert code_of(refused) == "texts_wait"
    room.hear(seats[1], TEXT)
    room.hear(seats[2], TEXT)
    with pytest.raises(Refusal) as refused:
        room.hear(seats[2], {**TEXT, "text": "no room"})
    assert code_of(refused) == "much_sent"


def test_a_board_holds_so_many(room, monkeypatch):
    monkeypatch.setattr(board, "SHOWN", 1)
    for k in range(2):
        room.hear(room.join()[0], {**TEXT, "text": f"{k}"})
    room.tell({"kind": "approve", "number": 1})
    with pytest.raises(Refusal) as refused:
        room.tell({"kind": "approve", "number": 2})
    assert code_of(refused) == "board_full"
    assert len(room.board.waiting) == 1
    room.tell({"kind": "discard", "number": 1})
    room.tell({"kind": "approve", "number": 2})


@pytest.mark.parametrize(("typed", "code"), [
    ("", "no_text"), (" \u200b\u202e\n ", "no_text"), ("x" * 501, "long_text"),
])  # fmt: skip
def test_what_is_no_text_or_too_long_is_said(room, typed, code):
    with pytest.raises(Refusal) as refused:
        room.hear(room.join()[0], {**TEXT, "text": typed})
    assert code_of(refused) == code


@pytest.mark.parametrize(("typed", "kept"), [
    ("<img src=x onerror=alert(1)> & **x**", "<img src=x onerror=alert(1)> & **x**"),
    ("a\u202eb\u2066c\u200fd\ufeff", "abcd"),  # turned around, invisible
    (" a\u0000b\x1b[31m\r\n\u2028c\td", "a b [31m c d"),
    ("Z" + "\u0301" * 40 + "!", "\u0179\u0301\u0301\u0301!"),
    ("\ue000\U000e0041x", "x"),  # private, and a tag
    ("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u4f60\u597d", None),  # Persian, Chinese
    ("\U0001f469\u200d\U0001f52c", None),
])  # fmt: skip
def test_a_text_turns_and_hides_nothing(typed, kept):
    assert board.plain(typed) == (typed if kept is None else kept)


# ---- what a lesson has


def test_what_is_sent_has_the_lessons_settings_alone():
    """Anything else could be read in the address bar of the teacher's projector."""
    values = {"ga.watch.step": "3", "ga.watch.view": "you fools", "ga.watch.nothing": "x",
              "at.real.encoder": "y", "ga.watch.characters": "\u202eMine"}  # fmt: skip
    said = {**PLACE, "kind": "send", "values": values, "own": []}
    found = in_room.meant(said)
    assert found["values"] == {"ga.watch.step": "3", "ga.watch.characters": "Mine"}
    assert found["own"] == ["ga.watch.characters"]


def test_a_text_goes_to_a_text_field_of_its_lesson_with_its_benchs_settings():
    values = {"ga.watch.step": "3", "ga.watch.sentiment": "other", "ga.force.f": "0.5"}
    assert in_room.meant({**TEXT, "bench": "x", "values": values}) == TEXT
    for wrong in ("ga.watch.step", "at.real.encoder", "x", 3):
        with pytest.raises(Refusal) as refused:
            in_room.meant({**TEXT, "key": wrong})
        assert code_of(refused) == "bad"
    with pytest.raises(Refusal) as refused:
        in_room.meant({**TEXT, "key": "ga.agreement.singular", "text": "x" * 21})
    assert (code_of(refused), refused.value.details) == ("long_text", {"most": 20})


@pytest.mark.parametrize("said", [
    {}, {"kind": "vote"}, {"kind": "send"}, {"kind": "send", "lesson": [], "values": {}},
    {"kind": "text", "lesson": "gates", "values": 3},
])  # fmt: skip
def test_what_is_neither_goes_on_as_it_is(said):
    assert in_room.meant(said) == said


def test_no_lesson_has_no_settings():
    assert in_room.known("../x") == {}
