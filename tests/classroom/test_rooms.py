"""Rooms, seats and votes: what is counted once, what is not told, and what ends."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from random import Random

import pytest

from seqviz import lessons
from seqviz.classroom import codes, rooms, shared_texts
from seqviz.classroom import room as one_room
from seqviz.classroom.credentials import Credentials
from seqviz.classroom.poll import Poll
from seqviz.classroom.room import InvalidMessageError, Room
from seqviz.classroom.rooms import Rooms
from seqviz.classroom.storage import ClosedRooms, load_credentials
from seqviz.content import catalog
from seqviz.core.errors import UserError
from seqviz.lessons.framework import room_validation
from seqviz.lessons.framework.controls import controls
from tests.fakes import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(0.0)


@pytest.fixture
def all_rooms(clock) -> Rooms:
    return Rooms(clock)


@pytest.fixture
def room(all_rooms) -> Room:
    return all_rooms.open()


def told(room: Room, teacher: bool = False) -> dict:
    return json.loads(room.snapshot(teacher))


def code_of(refused) -> str:
    return refused.value.code


# ---- codes


def test_code_alphabet_has_no_lookalikes():
    alike = ("0OQD", "1IL", "2Z", "5S", "8B", "UV", "GC6", "MN")
    for group in alike[:-2]:
        assert not set(group) & set(codes.ALPHABET), group
    assert "G" not in codes.ALPHABET


def test_code_checksum_detects_typos_and_swaps():
    """Nor do they where a letter is read as any other: a slip is no guess."""
    code = codes.new(rooms.LETTERS)
    assert len(code) == rooms.LETTERS + 1
    assert codes.is_valid(code)
    for position, letter in product(range(len(code)), codes.ALPHABET):
        other = code[:position] + letter + code[position + 1 :]
        assert codes.is_valid(other) == (other == code), other
    for position in range(len(code) - 1):
        a, b = code[position : position + 2]
        swapped = code[:position] + b + a + code[position + 2 :]
        assert codes.is_valid(swapped) == (a == b), swapped
    assert not codes.is_valid("")


def test_code_checksum_accepts_one_word_in_twenty():
    draws = Random(3)
    words = ["".join(draws.choices(codes.ALPHABET, k=8)) for _ in range(20_000)]
    assert sum(map(codes.is_valid, words)) == pytest.approx(1000, abs=4 * 31)


def test_code_length_meets_guessing_risk():
    guesses, risk = rooms.GUESSES, 1e-3

    def found(letters: int) -> float:  # exactly: that no guess is one of the rooms' codes
        return 1 - (1 - rooms.ROOMS / len(codes.ALPHABET) ** letters) ** guesses

    assert found(rooms.LETTERS) <= risk < found(rooms.LETTERS - 1)


@pytest.mark.parametrize(("typed", "read"), [
    ("kmt rax", "KMTRAX"), ("KMT-RAX ", "KMTRAX"), ("km\u2013tr\u00b7ax", "KMTRAX"), ("", ""),
    ("KMTRA0", ""), ("<b>", ""), ("K" * 1000, "K" * 40), ("\u0000", ""), ("ｋｍｔ　ｒ", "KMTR"),
])  # fmt: skip
def test_code_read_normalizes_input(typed, read):
    assert codes.read(typed) == read


# ---- rooms


def test_rooms_find_room_by_its_code_only(all_rooms, room):
    assert all_rooms.find(codes.format_code(room.code).lower()) is room
    with pytest.raises(UserError) as refused:
        all_rooms.find("A" * (rooms.LETTERS + 1))
    assert code_of(refused) == "no_room"


def test_rooms_reject_room_beyond_limit(all_rooms):
    opened = {all_rooms.open().code for _ in range(rooms.ROOMS)}
    assert len(opened) == rooms.ROOMS
    with pytest.raises(UserError) as refused:
        all_rooms.open()
    assert code_of(refused) == "too_many_rooms"


def test_rooms_evict_only_idle_room(all_rooms, clock):
    built = [all_rooms.open() for _ in range(rooms.ROOMS)]
    built[0].teachers = 1
    built[1].join()[0].streams = 1
    clock.now = one_room.GRACE_S + 5
    built[2].taught = 3.0  # later than all others that nobody uses
    new = all_rooms.open()
    assert [room.ended for room in built[:4]] == [False, False, False, True]
    assert all_rooms.find(new.code) is new
    for room in built[4:]:
        room.teachers = 1
    all_rooms.open()
    assert built[2].ended
    with pytest.raises(UserError):
        all_rooms.open()


def test_rooms_reserve_idle_room_for_time_used_up_to_ten_minutes(all_rooms, clock):
    """A laptop that sleeps in a break; whoever fills the server's rooms meanwhile gets no room."""
    short, long = all_rooms.open(), all_rooms.open()
    short.taught, long.taught = 120.0, 1500.0  # the last pages of both have gone then
    for _ in range(rooms.ROOMS - 2):
        all_rooms.open().teachers = 1
    clock.now = short.taught + 119
    with pytest.raises(UserError):
        all_rooms.open()
    clock.now = short.taught + 121
    all_rooms.open().teachers = 1
    assert short.ended
    clock.now = long.taught + one_room.LONG_GRACE_S - 1
    with pytest.raises(UserError):
        all_rooms.open()
    clock.now = long.taught + one_room.LONG_GRACE_S + 1
    all_rooms.open()
    assert long.ended


def test_rooms_full_after_restart_still_restore_old_rooms(all_rooms, clock):
    before = [all_rooms.open() for _ in range(rooms.ROOMS)]
    tokens = [room.credentials.issue_teacher(room.code, room.opened_at) for room in before]
    _, secret = before[0].join()
    again = restarted(all_rooms, clock)
    for _ in range(rooms.ROOMS):
        again.open().teachers = 1
    again.find_by_seat(before[0].code, secret).teachers = 1
    for room, token in zip(before, tokens, strict=True):
        again.find_by_teacher(room.code, token).teachers = 1
    assert len(again) == 2 * rooms.ROOMS
    with pytest.raises(UserError) as refused:
        again.open()
    assert code_of(refused) == "too_many_rooms"


@pytest.mark.parametrize(("n_addresses", "taken"), [(1, rooms.ROOMS), (2, rooms.ROOMS * 9 // 10)])
def test_rooms_reserve_last_tenth_for_new_addresses(clock, n_addresses, taken):
    """Where the server sees one address alone, all rooms are for it."""
    all_rooms = Rooms(clock, count_addresses=lambda: n_addresses)
    for _ in range(taken):
        all_rooms.open("192.0.2.1")
    with pytest.raises(UserError):
        all_rooms.open("192.0.2.1")
    left = rooms.ROOMS - taken
    opened = [all_rooms.open(f"192.0.2.{k + 2}") for k in range(left)]
    assert len(opened) == left
    if opened:
        with pytest.raises(UserError):
            all_rooms.open("192.0.2.2")


def test_rooms_end_deserted_and_expired_room(all_rooms, clock):
    gone, there = all_rooms.open(), all_rooms.open()
    there.teachers = 1
    clock.now = one_room.DESERTED + 1
    all_rooms.tidy()
    assert (gone.ended, there.ended, len(all_rooms)) == (True, False, 1)
    assert told(gone)["ended"]
    clock.now = rooms.LIFE + 1
    all_rooms.tidy()
    assert there.ended


def test_room_ends_on_teacher_message(all_rooms, room):
    room.apply_teacher_message({"kind": "end"})
    with pytest.raises(UserError):
        all_rooms.find(room.code)


def token_of(room: Room) -> str:
    """Its teacher's."""
    return room.credentials.issue_teacher(room.code, room.opened_at)


def restarted(all_rooms: Rooms, clock: FakeClock, disk: bool = True) -> Rooms:
    """What a process of the same key that has just begun knows, with the same disk or none."""
    return Rooms(clock, all_rooms.credentials, all_rooms.closed if disk else None)


@pytest.mark.parametrize("disk", [True, False])
def test_seat_of_removed_device_is_refused_after_restart(all_rooms, room, clock, disk):
    """Where no disk lasts the teacher's page tells it, as a mark that says nothing of a device."""
    room.join(device="a")
    _, other = room.join(device="b")
    room.apply_teacher_message({"kind": "remove", "seat": 1})
    existing = told(room, teacher=True)
    assert len(existing["devices"]) == 1
    again = restarted(all_rooms, clock, disk).find_by_seat(room.code, other)
    retained, _ = again.join(other, device="b")
    if not disk:  # the door is open until the teacher's page is back
        taken, _ = again.join(device="a")
        again.apply_teacher_message(
            {**RESTORE, "removed": existing["removed"], "devices": existing["devices"]}
        )
        assert taken.number not in again.seats
    with pytest.raises(UserError) as refused:
        again.join(device="a")
    assert code_of(refused) == "sent_out"
    assert again.join(device="c")[0].number > 1
    assert again.seats[retained.number] is retained
    assert told(again, teacher=True)["devices"] == existing["devices"]


def test_seat_with_removed_number_after_restart_can_rejoin(all_rooms, room, clock):
    """Where no disk lasts a newcomer can have it before the teacher's page is back."""
    room.join(device="a")
    _, other = room.join(device="b")
    room.apply_teacher_message({"kind": "remove", "seat": 1})
    existing = told(room, teacher=True)
    again = restarted(all_rooms, clock, disk=False).find_by_seat(room.code, other)
    assert again.join(device="c")[0].number == 1
    again.apply_teacher_message(
        {**RESTORE, "removed": existing["removed"], "devices": existing["devices"]}
    )
    assert 1 not in again.seats
    assert again.join(device="c")[0].number > 1
    with pytest.raises(UserError):
        again.join(device="a")


def test_device_mark_differs_between_rooms(all_rooms):
    marks = set()
    for _ in range(2):
        room = all_rooms.open()
        room.join(device="a")
        room.apply_teacher_message({"kind": "remove", "seat": 1})
        marks |= room.removed_devices
    assert len(marks) == 2
    assert all(len(mark) == 24 for mark in marks)


def test_room_is_restored_by_teacher_token(all_rooms, room, clock):
    token, other = token_of(room), restarted(all_rooms, clock)
    again = other.find_by_teacher(room.code, token)
    assert (again.code, again.is_teachers(token)) == (room.code, True)
    assert again.epoch != room.epoch
    assert other.find_by_teacher(codes.format_code(room.code).lower(), token) is again


def test_room_restored_by_student_still_belongs_to_teacher(all_rooms, room, clock):
    seat, secret = room.join()
    token, other = token_of(room), restarted(all_rooms, clock)
    again = other.find_by_seat(room.code, secret)
    assert again.join(secret)[0].number == seat.number
    assert not again.is_teachers(secret)
    assert other.find_by_teacher(room.code, token) is again


@pytest.mark.parametrize("case", [
    "", "x", "é", "\ud800", "0" * 10_000, "another room's", "a seat's", "another key's", "changed",
    "expired", "ended", "from the future",
])  # fmt: skip
def test_room_rejects_invalid_teacher_token(all_rooms, room, clock, case):
    """Neither of the room that is there nor of one that a server has lost."""
    issue = all_rooms.credentials.issue_teacher
    token, code = token_of(room), room.code
    now = room.opened_at
    if case == "ended":
        room.apply_teacher_message({"kind": "end"})
    claimed = {
        "another room's": issue(all_rooms.open().code, now),
        "a seat's": room.join()[1].partition(".")[2],
        "another key's": Credentials().issue_teacher(code, now),
        "changed": token[:-1] + ("A" if token[-1] != "A" else "B"),
        "expired": issue(code, now - int(rooms.LIFE) - 2),
        "from the future": issue(code, now + 4000),
        "ended": token,
    }.get(case, case)
    for those in (all_rooms, restarted(all_rooms, clock)):
        with pytest.raises(UserError) as refused:
            those.find_by_teacher(code, claimed)
        assert code_of(refused) == "no_room"
        assert len(those) <= 2
    if case != "ended":
        assert not room.is_teachers(claimed)
        assert room.is_teachers(token)


def test_room_rejects_teacher_token_of_earlier_room(all_rooms, room, clock):
    """A code that now has another room does not belong to the old room's teacher."""
    old = all_rooms.credentials.issue_teacher(room.code, room.opened_at - 60)
    with pytest.raises(UserError):
        all_rooms.find_by_teacher(room.code, old)
    assert not room.is_teachers(old)


def test_room_ended_by_other_process_stays_ended(tmp_path, clock):
    """A proxy may have led a class to and fro, so that both have the room."""
    here, there = (
        Rooms(clock, Credentials(b"k" * 32), ClosedRooms(tmp_path, rooms.LIFE)) for _ in range(2)
    )
    room = here.open()
    _, secret = room.join()
    left = there.find_by_seat(room.code, secret)
    room.apply_teacher_message({"kind": "end"})
    for request in (
        lambda: there.get(room.code, room.opened_at),
        lambda: there.find(room.code),
        lambda: there.find_by_seat(room.code, secret),
    ):
        with pytest.raises(UserError) as refused:
            request()
        assert code_of(refused) == "no_room"
    assert (left.ended, told(left)["ended"], len(there)) == (True, True, 0)


def test_room_end_persists_on_disk(tmp_path, clock):
    key = load_credentials(tmp_path)
    assert key.is_lasting

    def process() -> Rooms:
        return Rooms(clock, load_credentials(tmp_path), ClosedRooms(tmp_path, rooms.LIFE))

    first, beside = process(), process()
    room = first.open()
    token, (_, secret) = token_of(room), room.join()
    assert beside.find_by_teacher(room.code, token).code == room.code
    room.apply_teacher_message({"kind": "end"})
    for those in (first, beside, process()):
        those.tidy()
        those._open.clear()
        for find, proof in ((those.find_by_teacher, token), (those.find_by_seat, secret)):
            with pytest.raises(UserError):
                find(room.code, proof)


def test_credentials_key_is_created_once_with_private_mode(tmp_path):
    folder = tmp_path / "cache"
    keys = {load_credentials(folder).key for _ in range(3)}
    assert len(keys) == 1
    assert (folder / "room.key").stat().st_mode & 0o777 == 0o600
    assert len(next(iter(keys))) == 32
    assert [path.name for path in folder.iterdir()] == ["room.key"]
    assert "key=" not in repr(load_credentials(folder))


def test_credentials_key_is_shared_by_concurrent_starts(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        keys = {result.key for result in pool.map(lambda _: load_credentials(tmp_path), range(40))}
    assert len(keys) == 1


@pytest.mark.parametrize("damage", ["", "xyz", "00" * 31, "\u00e9"])
def test_credentials_ignore_damaged_key(tmp_path, damage, caplog):
    (tmp_path / "room.key").write_text(damage, "utf-8")
    credentials = load_credentials(tmp_path)
    assert (credentials.is_lasting, len(credentials.key)) == (False, 32)
    assert "room.key" in caplog.text


def test_credentials_prefer_operator_key(tmp_path):
    item, other = (load_credentials(tmp_path, "k" * 43) for _ in range(2))
    assert item.key == other.key
    assert not [*tmp_path.iterdir()]
    assert load_credentials(None).key != load_credentials(None).key


def test_closed_rooms_forget_expired_entries(tmp_path, clock):
    closed = ClosedRooms(tmp_path, 100.0, clock)
    for number in range(300):
        closed.add("KMTRAX", number)
    clock.now = 350.0
    beside = ClosedRooms(tmp_path, 100.0, clock)
    assert not beside.has_ended("KMTRAX", 249)
    assert beside.has_ended("KMTRAX", 299)
    assert len((tmp_path / "room.closed").read_text("ascii").splitlines()) == 49
    (tmp_path / "room.closed").write_text('x\n["KMTRAX", 320, 0]\n[1]\n{}\n', "ascii")
    assert beside.has_ended("KMTRAX", 320)


# ---- seats


def test_seat_has_ascending_number_and_secret(room):
    first, second = room.join(), room.join()
    assert (first[0].number, second[0].number) == (1, 2)
    assert room.seat(first[1]) is first[0]
    assert room.join(first[1]) == first
    assert room.seat(f"1.{second[0].secret}") is None
    for wrong in ("", "1", "1.", "x.y", "99999999.x", "\u0661.x"):
        assert room.seat(wrong) is None


def test_seat_limits_hold_per_room_and_server(all_rooms, room, monkeypatch):
    monkeypatch.setattr(one_room, "SEATS", 3)
    seats = [room.join() for _ in range(3)]
    with pytest.raises(UserError) as refused:
        room.join()
    assert code_of(refused) == "room_full"
    assert room.join(seats[1][1]) == seats[1]  # who has one comes back to it
    monkeypatch.setattr(rooms, "FOLLOWERS", 3)
    with pytest.raises(UserError) as refused:
        all_rooms.join(all_rooms.open())
    assert code_of(refused) == "too_many_followers"


def test_seat_is_freed_when_deserted_and_keeps_its_vote(room, clock):
    (_, gone), (voter, retained) = room.join(), room.join()
    room.apply_teacher_message(ASK)
    vote(room, voter, 2)
    clock.now = one_room.DESERTED + 1
    assert room.join()[0].number == 1
    assert room.seat(gone) is room.seat(retained) is None
    assert room.join()[0].number == 3  # nobody gets the number under which a vote is counted
    assert room.join(retained)[0].number == 2
    room.apply_teacher_message({"kind": "reveal"})
    assert told(room)["ballot"]["counts"] == [[0, 0, 1]]


def test_seat_of_absent_student_is_reused_in_full_room(room, clock, monkeypatch):
    monkeypatch.setattr(one_room, "SEATS", 3)
    here, gone, lost = (room.join()[0] for _ in range(3))
    here.streams = 1
    clock.now = one_room.GRACE_S + 1
    lost.seen = clock.now - 1  # its line may be back in a moment
    assert room.join()[0].number == gone.number
    with pytest.raises(UserError) as refused:
        room.join()
    assert code_of(refused) == "room_full"
    assert room.seats[here.number] is here
    assert room.seats[lost.number] is lost


def test_seat_is_reserved_for_time_used_up_to_ten_minutes(room, clock, monkeypatch):
    """A phone that sleeps in a lecture, while somebody fills the room."""
    monkeypatch.setattr(one_room, "SEATS", 3)
    short, long, here = (room.join()[0] for _ in range(3))
    here.streams = 1
    short.seen, long.seen = 120.0, 1500.0
    clock.now = short.seen + 119
    with pytest.raises(UserError):
        room.join()
    clock.now = short.seen + 121
    room.join()[0].streams = 1
    assert room.seats[short.number] is not short
    clock.now = long.seen + one_room.LONG_GRACE_S - 1
    with pytest.raises(UserError):
        room.join()
    clock.now = long.seen + one_room.LONG_GRACE_S + 1
    room.join()
    assert long not in room.seats.values()


@pytest.mark.parametrize("of", ["room", "server"])
def test_seat_is_restored_in_full_room_after_restart(all_rooms, room, clock, monkeypatch, of):
    """Neither from a seat, with the numbers of the class taken, nor many times with one secret."""
    monkeypatch.setattr(*((one_room, "SEATS", 20) if of == "room" else (rooms, "FOLLOWERS", 20)))
    secrets = [room.join()[1] for _ in range(5)]
    again = restarted(all_rooms, clock)
    lost = again.find_by_seat(room.code, secrets[0])
    for _ in range(20):
        again.join(lost)[0].streams = 1
    with pytest.raises(UserError) as refused:
        again.join(lost)
    assert code_of(refused) == ("room_full" if of == "room" else "too_many_followers")
    back = [again.join(lost, secret) for secret in secrets]
    assert [seat.number for seat, _ in back] == [21, 22, 23, 24, 25]
    assert [again.join(lost, secret) for secret in secrets] == back
    assert [again.join(lost, secret) for _, secret in back] == back
    assert all(map(lost.can_return, secrets))
    assert len(lost.seats) == 25


def test_seat_limit_reserves_last_tenth_for_new_addresses(room, monkeypatch):
    monkeypatch.setattr(one_room, "SEATS", 20)
    for _ in range(18):
        room.join(address="192.0.2.1", n_addresses=2)
    with pytest.raises(UserError):
        room.join(address="192.0.2.1", n_addresses=2)
    assert room.join(address="192.0.2.2", n_addresses=2)[0].number == 19


def test_seat_is_restored_after_restart(all_rooms, room, clock):
    seat, secret = room.join()
    (second, other) = room.join()
    again = restarted(all_rooms, clock).find_by_seat(room.code, secret)
    assert again.join()[0].number == 1
    assert again.join(secret)[0].number == 2  # somebody has its own now
    assert again.join(other)[0].number == 3
    fresh = restarted(all_rooms, clock).find_by_seat(room.code, secret)
    assert fresh.join(other)[0].number == second.number
    assert fresh.join(secret) == (fresh.seats[seat.number], secret)
    assert fresh.seat(secret) is not None


def test_seat_removal_removes_all_seats_of_device(room):
    """Otherwise a browser that has taken twenty goes on with nineteen."""
    others = [room.join()[1], room.join()[1], room.join(device="b")[1]]
    taken = [room.join(device="a") for _ in range(3)]
    for seat, _ in taken:
        room.apply_student_message(seat, {**TEXT, "text": f"text {seat.number}"})
    room.apply_teacher_message({"kind": "remove", "seat": taken[1][0].number})
    assert [room.seat(secret) for _, secret in taken] == [None] * 3
    assert all(room.seat(secret) for secret in others)
    assert not room.board.pending
    for _, secret in taken:
        with pytest.raises(UserError) as refused:
            room.join(secret)
        assert code_of(refused) == "sent_out"
    room.apply_teacher_message(
        {"kind": "remove", "seat": 1}
    )  # of devices that are not told apart, it alone goes
    assert [bool(room.seat(secret)) for secret in others] == [False, True, True]


def test_seat_removals_are_capped_in_teacher_snapshot(all_rooms, room, clock):
    token = token_of(room)
    for device in range(one_room.SEATS // 20 + 2):
        seats = [room.join(device=f"{device}")[0] for _ in range(20)]
        room.apply_teacher_message({"kind": "remove", "seat": seats[0].number})
    remembered = told(room, teacher=True)["removed"]
    assert (len(room.removed), len(remembered)) == (one_room.SEATS + 40, one_room.SEATS)
    again = restarted(all_rooms, clock).find_by_teacher(room.code, token)
    again.apply_teacher_message({**RESTORE, "removed": remembered})
    assert told(again)["restored"]


def test_seat_removal_deletes_its_vote_and_sent_items(room):
    seats = [room.join()[0] for _ in range(2)]
    room.apply_teacher_message(ASK)
    for seat in seats:
        vote(room, seat, 1)
        send(room, seat, 3)
        for text in ("a", "b"):
            room.apply_student_message(seat, {**TEXT, "text": text})
    room.apply_teacher_message({"kind": "approve", "number": 1})
    room.apply_teacher_message({"kind": "remove", "seat": 1})
    room.apply_teacher_message({"kind": "reveal"})
    assert told(room)["ballot"]["counts"] == [[0, 1, 0]]
    assert [item.seat for item in room.sent.values()] == [2]
    assert [line.seat for line in room.board.pending.values()] == [2, 2]
    assert room.texts() == []


def test_seat_removal_is_permanent(all_rooms, room, clock):
    """Its device gets no other; where devices are not told apart, the door is what helps."""
    (_, secret), (other, _) = room.join(device="a"), room.join(device="b")
    room.apply_teacher_message({"kind": "remove", "seat": 1})
    for caller in ({"claimed": secret}, {"device": "a"}, {"claimed": secret, "device": "c"}):
        with pytest.raises(UserError) as refused:
            room.join(**caller)
        assert code_of(refused) == "sent_out"
    assert room.join(device="c")[0].number == 3
    assert room.seats[2] is other
    again = restarted(all_rooms, clock).find_by_seat(room.code, secret)
    with pytest.raises(UserError):
        again.join(secret)
    with pytest.raises(InvalidMessageError):
        room.apply_teacher_message({"kind": "remove", "seat": 1})


def test_door_closed_rejects_only_newcomers(room):
    _, secret = room.join()
    room.apply_teacher_message({"kind": "door", "open": False})
    assert told(room)["door"] is False
    with pytest.raises(UserError) as refused:
        room.join()
    assert code_of(refused) == "door_closed"
    assert room.join(secret)[0].number == 1
    room.apply_teacher_message({"kind": "door", "open": True})
    assert room.join()[0].number == 2


@pytest.mark.parametrize("claimed", ["7.short", "0.aaaaaaaaaaaaaaaa", "301.aaaaaaaaaaaaaaaa", "x"])
def test_seat_claim_falls_back_to_new_seat_if_invalid(room, claimed):
    assert room.join(claimed)[0].number == 1


# ---- what a teacher says

PLACE = {"kind": "navigate", "lesson": "gates", "bench": "watch", "values": {"ga.watch.step": "20"}}


def test_room_broadcasts_teacher_place_and_pause(room):
    room.apply_teacher_message(PLACE)
    assert told(room)["place"] == {key: PLACE[key] for key in ("lesson", "bench", "values")}
    room.apply_teacher_message({"kind": "pause", "on": True})
    assert told(room)["paused"]


def test_allowed_figure_follows_teacher_and_range_ends_with_lesson(room):
    room.apply_teacher_message(PLACE)
    room.apply_teacher_message({"kind": "allow", "benches": ["gates/watch"]})
    room.apply_teacher_message({**PLACE, "bench": "force"})
    assert told(room)["allowed"] == ["gates/force"]
    both = ["gates/watch", "gates/force"]
    room.apply_teacher_message({"kind": "allow", "benches": both})
    for bench in ("learn", ""):  # "": between two figures, or while a page comes
        room.apply_teacher_message({**PLACE, "bench": bench})
        assert told(room)["allowed"] == both
    room.apply_teacher_message({**PLACE, "lesson": "attention", "bench": "real"})
    assert told(room)["allowed"] == []


def test_place_accepts_every_control_and_home(room):
    for record in catalog.LESSONS:
        for name, bench in getattr(lessons, record.slug).lesson.benches.items():
            values = {
                f"{bench.prefix}.{control}": "1" for control, _ in controls(bench.declaration)
            }
            anchor = {"lesson": record.slug, "bench": name, "values": values}
            room.apply_teacher_message({"kind": "navigate", **anchor})
            assert told(room)["place"] == anchor
    room.apply_teacher_message({"kind": "navigate", "lesson": "", "bench": "", "values": {}})
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
def test_room_rejects_invalid_teacher_message(room, said):
    before = told(room)
    with pytest.raises(InvalidMessageError):
        room.apply_teacher_message(said)
    assert told(room) == before


def test_place_rejects_too_long_text(room):
    with pytest.raises(UserError) as refused:
        room.apply_teacher_message({**PLACE, "values": {"at.map.text": "x" * one_room.PLACE}})
    assert code_of(refused) == "long_place"
    assert told(room)["place"] == {}


TEXT = {"kind": "text", "lesson": "gates", "bench": "watch", "values": {"ga.watch.step": "3"},
        "key": "ga.watch.characters", "text": "It rains."}  # fmt: skip

# ---- votes

ASK = {"kind": "ask", "key": "vg.predict.order", "options": 3}


def vote(room, seat, option, round_=1):
    """By a page that is connected."""
    seat.line_seen = room.clock()
    number = room.questions
    room.apply_student_message(
        seat, {"kind": "vote", "number": number, "round": round_, "option": option}
    )


def test_vote_requires_connected_page(room, clock):
    seat, _ = room.join()
    room.apply_teacher_message(ASK)
    payload = {"kind": "vote", "number": 1, "round": 1, "option": 0}
    with pytest.raises(UserError) as refused:
        room.apply_student_message(seat, payload)
    assert code_of(refused) == "no_line"
    seat.line_seen = clock.now
    clock.now += one_room.AWAY - 1  # the line is lost for a moment
    room.apply_student_message(seat, payload)
    clock.now += 2
    with pytest.raises(UserError):
        room.apply_student_message(seat, {**payload, "option": 1})
    room.apply_teacher_message({"kind": "reveal"})
    assert told(room)["ballot"]["counts"] == [[1, 0, 0]]


def test_vote_counts_once_per_device(room):
    mine, again = (room.join(device="a")[0] for _ in range(2))
    others = [room.join()[0] for _ in range(2)]  # not told apart
    room.apply_teacher_message(ASK)
    for seat, option in ((mine, 0), (again, 1), *((item, 2) for item in others)):
        vote(room, seat, option)
    assert told(room)["ballot"]["voted"] == 3
    vote(room, mine, 0)
    room.apply_teacher_message({"kind": "reveal"})
    assert told(room)["ballot"]["counts"] == [[1, 0, 2]]


def test_vote_of_earlier_question_is_rejected(room):
    """The same question put again is another asking: a vote that comes late is none."""
    seat, _ = room.join()
    seat.streams = 1
    late = {"kind": "vote", "number": 1, "round": 1, "option": 0}
    room.apply_teacher_message(ASK)
    room.apply_teacher_message({"kind": "reveal"})
    room.apply_teacher_message(ASK)
    assert told(room)["ballot"]["number"] == 2
    with pytest.raises(UserError) as refused:
        room.apply_student_message(seat, late)
    assert code_of(refused) == "vote_closed"
    room.apply_student_message(seat, {**late, "number": 2})
    assert told(room)["ballot"]["voted"] == 1


def test_room_keeps_limited_number_of_questions(room):
    for _ in range(3 * one_room.QUESTIONS):
        room.apply_teacher_message(ASK)
    assert [item["key"] for item in room.record().to_dict()["questions"]] == \
        [ASK["key"]] * one_room.QUESTIONS  # fmt: skip
    assert told(room)["ballot"]["number"] == 3 * one_room.QUESTIONS


# ---- a server that was started anew


def test_room_is_restored_from_page_messages_with_equal_counts(all_rooms, clock):
    """Votes of both rounds, drawings, pause, the door, who was sent out: counts are equal."""
    room = all_rooms.open()
    draws, token = Random(8), token_of(room)
    class_ = [room.join(device=f"{k}" if k % 2 else "") for k in range(20)]
    memory: dict[int, dict] = {seat.number: {"votes": [], "sketches": []} for seat, _ in class_}
    rendered = {
        "kind": "sketch",
        "action": "ask",
        "key": "vg.sketch.tanh",
        "type": "bar",
        "most": [9] * 3,
    }
    for state in ("revealed", "closed"):
        room.apply_teacher_message(ASK)
        for round_ in (1, 2):
            if round_ == 2:
                room.apply_teacher_message({"kind": "close"})
                room.apply_teacher_message({"kind": "reopen"})
            for seat, _ in class_[: 18 - round_]:
                option = draws.randrange(3)
                vote(room, seat, option, round_)
                memory[seat.number]["votes"].append([room.questions, round_, option])
        room.apply_teacher_message({"kind": {"revealed": "reveal", "closed": "close"}[state]})
    room.apply_teacher_message(rendered)
    for seat, _ in class_[3:]:
        marks = [draws.randrange(10) for _ in range(3)]
        room.apply_student_message(
            seat, {"kind": "sketch", "number": room.questions, "marks": marks}
        )
        memory[seat.number]["sketches"].append([room.questions, marks])
    room.apply_teacher_message({"kind": "sketch", "action": "reveal"})
    room.apply_teacher_message({"kind": "pause", "on": True})
    room.apply_teacher_message({"kind": "remove", "seat": 20})
    room.apply_teacher_message({"kind": "door", "open": False})
    existing = [told(room)["ballot"], told(room)["sketch"]]

    again = restarted(all_rooms, clock).find_by_seat(room.code, class_[0][1])
    assert told(again, teacher=True)["forgotten"]
    ballots = [
        {"number": 1, "key": ASK["key"], "options": 3, "state": "revealed", "round": 2},
        {name: existing[0][name] for name in ("number", "key", "options", "state", "round")},
    ]
    sketches = [{name: existing[1][name] for name in ("number", "key", "type", "most", "state")}]
    again.apply_teacher_message({"kind": "restore", "paused": True, "door": False, "allowed": [],
        "removed": [20],
                "ballots": ballots, "sketches": sketches})  # fmt: skip
    assert again.is_teachers(token)
    for k, (seat, secret) in enumerate(class_[:19]):
        back, _ = again.join(secret, device=f"{k}" if k % 2 else "")
        assert back.number == seat.number
        again.apply_student_message(back, {"kind": "recall", **memory[seat.number]})
        again.apply_student_message(
            back, {"kind": "recall", **memory[seat.number]}
        )  # nothing counts twice
    left, before = again.record().to_dict(), room.record().to_dict()
    assert left["questions"] == before["questions"]
    assert left["sketches"] == before["sketches"]
    result = told(again)
    assert (result["paused"], result["door"], result["restored"]) == (True, False, True)
    with pytest.raises(UserError):
        again.join(class_[19][1])
    with pytest.raises(InvalidMessageError):  # once, and not after anything else of the teacher
        again.apply_teacher_message({"kind": "restore", "paused": False, "door": True,
            "allowed": [], "removed": [],
                    "ballots": [], "sketches": []})  # fmt: skip
    clock.now += one_room.RESTORE_S + 1
    with pytest.raises(UserError):
        again.apply_student_message(again.seats[1], {"kind": "recall", **memory[1]})


def test_vote_is_not_overwritten_by_recall(all_rooms, room, clock):
    _, secret = room.join()
    again = restarted(all_rooms, clock).find_by_seat(room.code, secret)
    seat, _ = again.join(secret)
    request = {"number": 4, "key": ASK["key"], "options": 3, "state": "open", "round": 1}
    again.apply_teacher_message({"kind": "restore", "paused": False, "door": True, "allowed": [],
        "removed": [],
                "ballots": [request], "sketches": []})  # fmt: skip
    vote(again, seat, 2)
    again.apply_student_message(seat, {"kind": "recall", "votes": [[4, 1, 0], [4, 2, 0], [9, 1, 0],
        [4, 1, 7], "x"],
                      "sketches": [[1, [0]], 3]})  # fmt: skip
    again.apply_teacher_message({"kind": "reveal"})
    assert told(again)["ballot"]["counts"] == [[0, 0, 1]]
    again.apply_teacher_message(ASK)
    assert told(again)["ballot"]["number"] == 5


RESTORE = {"kind": "restore", "paused": False, "door": True, "allowed": [], "removed": [],
           "ballots": [], "sketches": []}  # fmt: skip
BALLOT = {"number": 1, "key": "vg.predict.order", "options": 3, "state": "open", "round": 1}
SKETCH = {"number": 1, "key": "vg.sketch.tanh", "type": "bar", "most": [9], "state": "open"}


@pytest.mark.parametrize("wrong", [
    {"paused": 1}, {"allowed": ["<b>"]}, {"removed": ["1"]}, {"removed": [0]}, {"door": None},
    {"removed": [1] * 301}, {"ballots": [3]}, {"ballots": [{**BALLOT, "key": "<b>"}]},
    {"ballots": [{**BALLOT, "round": 3}]}, {"ballots": [{**BALLOT, "options": 9}]},
    {"ballots": [{**BALLOT, "state": "x"}]}, {"sketches": [{**SKETCH, "type": "x"}]},
    {"sketches": [{**SKETCH, "most": ["9"]}]}, {"sketches": [{**SKETCH, "key": 3}]},
    {"devices": "a" * 24}, {"devices": ["<b>"]}, {"devices": [3]}, {"devices": ["a" * 24] * 301},
])  # fmt: skip
def test_room_rejects_invalid_restore_message(all_rooms, room, clock, wrong):
    again = restarted(all_rooms, clock).find_by_teacher(room.code, token_of(room))
    before = told(again)
    with pytest.raises(InvalidMessageError):
        again.apply_teacher_message({**RESTORE, **wrong})
    assert told(again) == before
    again.apply_teacher_message({**RESTORE, "ballots": [BALLOT], "sketches": [SKETCH]})
    assert told(again)["ballot"] == {**BALLOT, "voted": 0}


def test_vote_is_one_per_seat_and_round_and_can_change(room):
    seats = [room.join()[0] for _ in range(3)]
    room.apply_teacher_message(ASK)
    for option in (0, 1, 2):
        vote(room, seats[0], option)
    vote(room, seats[1], 0)
    assert told(room)["ballot"]["voted"] == 2
    room.apply_teacher_message({"kind": "reveal"})
    assert told(room)["ballot"]["counts"] == [[1, 0, 1]]
    with pytest.raises(UserError) as refused:
        vote(room, seats[2], 1)
    assert code_of(refused) == "vote_closed"


def test_vote_counts_stay_hidden_until_revealed(room):
    seat, _ = room.join()
    room.apply_teacher_message(ASK)
    vote(room, seat, 2)
    room.apply_teacher_message({"kind": "close"})
    for teacher in (False, True):
        result = set(told(room, teacher)["ballot"])
        assert result == {"key", "number", "options", "state", "round", "voted"}


def test_snapshot_for_seat_contains_only_own_answers(room):
    """After a reload; an answer to the round or the question before is none to this one."""

    def own(seat) -> dict:
        return json.loads(room.snapshot_for(seat))["answers"]

    seat, other = (room.join()[0] for _ in range(2))
    assert own(seat) == {"vote": None, "sketch": None}
    room.apply_teacher_message(ASK)
    vote(room, seat, 2)
    assert (own(seat)["vote"], own(other)["vote"]) == (2, None)
    assert "answers" not in told(room, teacher=True)
    room.apply_teacher_message({"kind": "reopen"})
    assert own(seat)["vote"] is None
    vote(room, seat, 1, 2)
    room.apply_teacher_message({"kind": "reveal"})
    assert own(seat)["vote"] == 1
    room.apply_teacher_message(ASK)  # the same question, put anew
    assert own(seat)["vote"] is None
    drawing = {
        "kind": "sketch",
        "action": "ask",
        "key": "vg.sketch.tanh",
        "type": "bar",
        "most": [9, 9],
    }
    room.apply_teacher_message(drawing)
    room.apply_student_message(
        seat, {"kind": "sketch", "number": told(room)["sketch"]["number"], "marks": [3, 4]}
    )
    assert (own(seat)["sketch"], own(other)["sketch"]) == ([3, 4], None)
    assert room.snapshot_for(seat).startswith(room.snapshot(False)[:-1])


def test_question_number_orders_votes_and_sketches(room):
    drawing = {
        "kind": "sketch",
        "action": "ask",
        "key": "vg.sketch.tanh",
        "type": "bar",
        "most": [9, 9],
    }
    numbers = []
    for question, name in ((ASK, "ballot"), (drawing, "sketch"), (ASK, "ballot")):
        room.apply_teacher_message(question)
        numbers.append(told(room)[name]["number"])
    assert numbers == [1, 2, 3]


def test_vote_flow_between_rounds_matches_manual_count(room):
    """The flow between two rounds is that of a count by hand."""
    draws = Random(5)
    seats = [room.join()[0] for _ in range(40)]
    room.apply_teacher_message(ASK)
    first = {seat.number: draws.randrange(3) for seat in seats[:30]}
    for seat in seats[:30]:
        vote(room, seat, first[seat.number])
    room.apply_teacher_message({"kind": "close"})
    room.apply_teacher_message({"kind": "reopen"})
    second = {seat.number: draws.randrange(3) for seat in seats[10:]}
    for seat in seats[10:]:
        vote(room, seat, second[seat.number], 2)
    with pytest.raises(UserError):
        vote(room, seats[0], 0, 1)  # that round is over
    room.apply_teacher_message({"kind": "reveal"})
    result = told(room)["ballot"]
    both = [seat.number for seat in seats[10:30]]
    flow = [[sum(first[n] == a and second[n] == b for n in both) for b in range(3)]
            for a in range(3)]  # fmt: skip
    assert result["flow"] == flow
    assert [sum(item) for item in result["counts"]] == [30, 30]


def test_poll_has_two_rounds_and_none_after_reveal():
    ballot = Poll("vg.predict.order", 2)
    assert ballot.reopen()
    assert not ballot.reopen()
    ballot.reveal()
    assert not ballot.vote(1, 0)
    assert not Poll("vg.predict.order", 2).vote(1, 2)


@pytest.mark.parametrize("said", [
    {"kind": "vote", "number": 2, "round": 1, "option": 0},
    {"kind": "vote", "number": 1, "round": 2, "option": 0},
    {"kind": "vote", "number": 1, "round": 1, "option": 3},
    {"kind": "vote", "number": 1, "round": 1, "option": -1},
    {"kind": "vote", "number": 1, "round": 1, "option": "0"},
    {"kind": "recall", "votes": [[1, 1, 0]], "sketches": []}, {"kind": "restore"},
    {"kind": "remove", "seat": 1}, {"kind": "door", "open": False},
    {"kind": "presence", "bench": "<script>", "detached": False, "goals": []},
    {"kind": "presence", "bench": "gates/watch", "detached": False, "goals": ["<b>"]},
    {"kind": "presence", "bench": "gates/watch", "detached": False, "goals": ["gates/a"] * 41},
    {"kind": "send", "lesson": "gates", "bench": "watch", "values": {"<b>": "1"}},
    {"kind": "text", "lesson": "gates", "bench": "watch", "values": {}, "key": "<b>", "text": "x"},
    {"kind": "text", "lesson": "gates", "bench": "watch", "values": {}, "key": TEXT["key"]},
    {"kind": "text", "lesson": "gates", "bench": "<b>", "values": {}, "key": TEXT["key"],
     "text": "x"},
    {"kind": "tell"}, {"kind": "end"}, {"kind": "approve", "number": 1}, {},
])  # fmt: skip
def test_room_rejects_invalid_student_message(room, said):
    seat, _ = room.join()
    seat.streams = 1
    room.apply_teacher_message(ASK)
    before = told(room)
    with pytest.raises((InvalidMessageError, UserError)):
        room.apply_student_message(seat, said)
    assert told(room) == before


# ---- where they are


def test_dots_show_locations_and_stuck_students(room, clock):
    seats = [room.join()[0] for _ in range(4)]
    for seat, bench in zip(seats, ("gates/watch", "gates/watch", "gates/force"), strict=False):
        room.apply_student_message(
            seat,
            {"kind": "presence", "bench": bench, "detached": bench == "gates/force", "goals": []},
        )
        seat.streams = 1
    clock.now = one_room.STUCK + 1
    room.apply_student_message(
        seats[0], {"kind": "presence", "bench": "gates/watch", "detached": False, "goals": []}
    )
    room.apply_student_message(
        seats[1], {"kind": "presence", "bench": "gates/one", "detached": False, "goals": []}
    )
    clock.now += 1
    room.apply_student_message(
        seats[1], {"kind": "presence", "bench": "gates/watch", "detached": False, "goals": []}
    )
    result = told(room, teacher=True)
    assert result["dots"] == {"gates/watch": [2, 1], "gates/force": [1, 1]}
    assert (result["detached"], result["present"]) == (1, 3)  # the fourth has no page any more
    assert "dots" not in told(room)


# ---- what students send, and what is left


def send(room, seat, step):
    room.apply_student_message(
        seat, {**PLACE, "kind": "send", "values": {"ga.watch.step": str(step)}}
    )


def step(room: Room, number: int) -> str:
    """The setting in what was sent under this number."""
    return room.sent[number].location["values"]["ga.watch.step"]


def test_sent_states_are_limited_per_seat_and_ordered_by_teacher(room):
    seats = [room.join()[0] for _ in range(2)]
    for k in range(5):
        send(room, seats[0], k)
    send(room, seats[1], 9)
    sent = told(room, teacher=True)["sent"]
    assert [step(room, item["number"]) for item in sent] == ["2", "3", "4", "9"]
    assert set(sent[0]) == {
        "number",
        "seat",
        "device",
        "has_text",
        "has_note",
        "lesson",
        "bench",
    }  # values may be long
    assert "sent" not in told(room)
    room.apply_teacher_message({"kind": "order", "sent": [sent[3]["number"], sent[0]["number"]]})
    sent = told(room, teacher=True)["sent"]
    assert [step(room, item["number"]) for item in sent] == ["9", "2"]
    for wrong in ([99], ["1"], [None]):
        with pytest.raises(InvalidMessageError):
            room.apply_teacher_message({"kind": "order", "sent": wrong})


def test_sent_states_reject_new_one_when_full(room, monkeypatch):
    """A seat cannot push out what others have sent."""
    monkeypatch.setattr(one_room, "SENT", 2)
    seats = [room.join()[0] for _ in range(3)]
    send(room, seats[0], 1)
    send(room, seats[1], 2)
    with pytest.raises(UserError) as refused:
        send(room, seats[2], 3)
    assert code_of(refused) == "much_sent"
    assert len(room.sent) == 2


def test_record_contains_no_seats(room):
    seats = [room.join()[0] for _ in range(3)]
    room.apply_teacher_message(ASK)
    for seat in seats:
        vote(room, seat, 1)
        goals = ["gates/hold"] if seat.number < 3 else []
        room.apply_student_message(
            seat, {"kind": "presence", "bench": "gates", "detached": False, "goals": goals}
        )
    send(room, seats[0], 7)
    room.apply_teacher_message({"kind": "reveal"})
    assert room.record().to_dict() == {
        "seats": 3,
        "questions": [{"key": ASK["key"], "options": 3, "counts": [[0, 3, 0]], "flow": None}],
        "sketches": [],
        "sent": [{"lesson": "gates", "bench": "watch", "values": {"ga.watch.step": "7"}}],
        "texts": [],
        "goals": {"gates/hold": 2},
        "runs": [],
    }


# ---- texts


def test_text_is_shown_only_after_approval(room):
    seat, _ = room.join()
    room.apply_student_message(seat, TEXT)
    assert told(room)["board"] == [0, 0]
    for teacher in (False, True):  # and even the teacher's page is not told what it says
        assert TEXT["text"] not in room.snapshot(teacher).decode()
    first = {"number": 1, "lesson": "gates", "bench": "watch"}
    assert told(room, teacher=True)["pending"] == {"count": 1, "first": first}
    room.apply_teacher_message({"kind": "approve", "number": 1})
    assert told(room, teacher=True)["pending"] == {"count": 0, "first": None}
    assert told(room)["board"] == [1, 1]
    expected = {name: TEXT[name] for name in ("lesson", "bench", "values", "key", "text")}
    assert room.texts() == [{"number": 1, **expected}] == room.record().to_dict()["texts"]
    room.apply_teacher_message({"kind": "discard", "number": 1})
    assert (told(room)["board"], room.texts()) == ([2, 0], [])


def test_text_is_never_shown_if_discarded(room):
    seat, _ = room.join()
    room.apply_student_message(seat, TEXT)
    room.apply_teacher_message({"kind": "discard", "number": 1})
    assert (told(room)["board"], room.record().to_dict()["texts"]) == ([0, 0], [])
    for kind in ("approve", "discard"):
        with pytest.raises(InvalidMessageError):
            room.apply_teacher_message({"kind": kind, "number": 1})


def test_text_queue_is_limited_per_seat_and_in_total(room, monkeypatch):
    monkeypatch.setattr(shared_texts, "ALL", 5)
    seats = [room.join()[0] for _ in range(3)]
    room.apply_student_message(seats[0], TEXT)
    room.apply_student_message(seats[0], TEXT)  # pressed twice
    assert len(room.board.pending) == 1
    for k in range(2):
        room.apply_student_message(seats[0], {**TEXT, "text": f"{k}"})
    with pytest.raises(UserError) as refused:
        room.apply_student_message(seats[0], {**TEXT, "text": "a fourth"})
    assert code_of(refused) == "texts_wait"
    room.apply_student_message(seats[1], TEXT)
    room.apply_student_message(seats[2], TEXT)
    with pytest.raises(UserError) as refused:
        room.apply_student_message(seats[2], {**TEXT, "text": "no room"})
    assert code_of(refused) == "much_sent"


def test_text_board_is_limited(room, monkeypatch):
    monkeypatch.setattr(shared_texts, "SHOWN", 1)
    for k in range(2):
        room.apply_student_message(room.join()[0], {**TEXT, "text": f"{k}"})
    room.apply_teacher_message({"kind": "approve", "number": 1})
    with pytest.raises(UserError) as refused:
        room.apply_teacher_message({"kind": "approve", "number": 2})
    assert code_of(refused) == "board_full"
    assert len(room.board.pending) == 1
    room.apply_teacher_message({"kind": "discard", "number": 1})
    room.apply_teacher_message({"kind": "approve", "number": 2})


@pytest.mark.parametrize(("typed", "code"), [
    ("", "no_text"), (" \u200b\u202e\n ", "no_text"), ("x" * 501, "long_text"),
])  # fmt: skip
def test_text_rejects_blank_and_too_long_input(room, typed, code):
    with pytest.raises(UserError) as refused:
        room.apply_student_message(room.join()[0], {**TEXT, "text": typed})
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
def test_strip_invisible_removes_control_and_bidi_characters(typed, kept):
    assert shared_texts.strip_invisible(typed) == (typed if kept is None else kept)


# ---- what a lesson has


def test_validate_message_keeps_only_lesson_settings():
    """Anything else could be read in the address bar of the teacher's projector."""
    values = {"ga.watch.step": "3", "ga.watch.view": "you fools", "ga.watch.nothing": "x",
              "at.real.encoder": "y", "ga.watch.characters": "\u202eMine"}  # fmt: skip
    payload = {**PLACE, "kind": "send", "values": values, "text_keys": []}
    result = room_validation.validate_message(payload)
    assert result["values"] == {"ga.watch.step": "3", "ga.watch.characters": "Mine"}
    assert result["text_keys"] == ["ga.watch.characters"]


def test_note_of_submission_is_visible_text_that_the_state_does_not_hold():
    """The state is on the teacher's projector; the note is read on request."""
    payload = {**PLACE, "kind": "send", "values": {}, "note": " \u202eLook at step 3 "}
    message = room_validation.validate_message(payload)
    assert message["note"] == "Look at step 3"
    assert "note" not in room_validation.validate_message({**PLACE, "kind": "send", "values": {}})
    with pytest.raises(UserError) as refused:
        room_validation.validate_message({**payload, "note": "x" * 201})
    assert (code_of(refused), refused.value.details) == ("long_text", {"most": 200})
    room = Rooms().open()
    seat, _ = room.join()
    room.apply_student_message(seat, message)
    room.apply_student_message(seat, {**PLACE, "kind": "send", "values": {}})
    with pytest.raises(InvalidMessageError):
        room.apply_student_message(seat, {**PLACE, "kind": "send", "values": {}, "note": 3})
    assert [item.note for item in room.sent.values()] == ["Look at step 3", ""]


def test_validate_message_accepts_text_only_for_text_field():
    values = {"ga.watch.step": "3", "ga.watch.sentiment": "other", "ga.force.f": "0.5"}
    assert room_validation.validate_message({**TEXT, "bench": "x", "values": values}) == TEXT
    for wrong in ("ga.watch.step", "at.real.encoder", "x", 3):
        with pytest.raises(UserError) as refused:
            room_validation.validate_message({**TEXT, "key": wrong})
        assert code_of(refused) == "bad"
    with pytest.raises(UserError) as refused:
        room_validation.validate_message({**TEXT, "key": "ga.agreement.singular", "text": "x" * 21})
    assert (code_of(refused), refused.value.details) == ("long_text", {"most": 20})


@pytest.mark.parametrize("said", [
    {}, {"kind": "vote"}, {"kind": "send"}, {"kind": "send", "lesson": [], "values": {}},
    {"kind": "text", "lesson": "gates", "values": 3},
])  # fmt: skip
def test_validate_message_passes_other_messages_through(said):
    assert room_validation.validate_message(said) == said


def test_known_goals_drops_unknown_goals():
    payloads = ["gates/constant_gate", "gates/you_fools", "nowhere/constant_gate", "=1+1", 3]
    assert room_validation.known_goals(payloads) == ["gates/constant_gate"]
    assert room_validation.known_goals("x") == "x"
    for record in catalog.LESSONS:
        assert room_validation.targets(record.slug) or record.slug in ("text", "attention"), (
            record.slug
        )


@pytest.mark.parametrize("lesson", ["you_fools", "constructor", "__proto__", "home"])
def test_validate_message_rejects_unknown_lesson(lesson):
    """The teacher's page would go there, and its address bar would show the word."""
    with pytest.raises(UserError) as refused:
        room_validation.validate_message({**PLACE, "kind": "send", "lesson": lesson, "values": {}})
    assert code_of(refused) == "bad"


@pytest.mark.parametrize("lesson", ["gates", ""])
def test_validate_message_clears_unknown_bench(lesson):
    payload = {**PLACE, "kind": "send", "lesson": lesson, "bench": "you_fools", "values": {}}
    assert room_validation.validate_message(payload)["bench"] == ""
    assert (
        room_validation.validate_message({**payload, "bench": []})["bench"] == []
    )  # which `Room.hear` refuses


@pytest.mark.parametrize(("told", "kept"), [
    ("gates/watch", "gates/watch"), ("home/", "home/"), ("gates", "gates"), ("you_fools/x", ""),
    ("constructor/x", ""), ("__proto__", ""), ("", ""), (3, 3), (None, None),
])  # fmt: skip
def test_known_place_clears_unknown_lesson(told, kept):
    """The teacher's page looks for the title of that lesson."""
    assert room_validation.known_place(told) == kept


def test_lesson_controls_is_empty_for_unknown_lesson():
    assert room_validation.lesson_controls("../x") == {}
