"""The routes of a class: who may say what, how often, and that a stream tells the last state."""

from __future__ import annotations

import asyncio
import json
from itertools import islice, product

import pytest

from driver.protocol import attend
from seqviz.room import codes, rooms
from seqviz.ui.server.accounts import accounts
from seqviz.ui.shared import room_route
from seqviz.ui.shared.room_route import OURS, SEAT, TEACHER, the_class

ASK = {"kind": "ask", "key": "vg.predict.order", "options": 3}
VOTE = {"kind": "vote", "key": "vg.predict.order", "round": 1, "option": 1}


def join(client, code: str, seat: str = "") -> dict:
    return client.post(f"/room/{code}/seat", json={"seat": seat}).json()


def say(client, code: str, what, **who):
    headers = {{"teacher": TEACHER, "seat": SEAT}[key]: value for key, value in who.items()}
    content = what if isinstance(what, bytes) else json.dumps(what).encode()
    return client.post(f"/room/{code}/said", content=content, headers=headers)


def now(code: str) -> dict:
    return json.loads(the_class().rooms.find(code).told(False))


def test_a_room_is_opened_joined_and_used(client, opened):
    code, token = opened["code"], opened["token"]
    seat = join(client, code)
    assert seat["number"] == 1
    assert say(client, code, ASK, teacher=token).status_code == 204
    assert say(client, code, VOTE, seat=seat["seat"]).status_code == 204
    assert say(client, code, {"kind": "reveal"}, teacher=token).status_code == 204
    assert now(code)["ballot"]["counts"] == [[0, 1, 0]]


def test_a_class_draws_and_hears_of_it_when_it_is_revealed(client, opened):
    """Neither a student, nor a teacher of another room, nor who has no seat is told before."""
    code, token = opened["code"], opened["token"]
    seat, other = join(client, code)["seat"], client.post("/room").json()
    who = {"teacher": {TEACHER: token}, "student": {SEAT: seat}}
    ask = {"kind": "sketch", "do": "ask", "key": "vg.sketch.tanh", "as": "bar", "most": [1000] * 3}
    drawn = {"kind": "sketch", "number": 1, "marks": [1, 2, 3]}

    def told(**headers) -> tuple[int, dict]:
        found = client.get(f"/room/{code}/drawn", headers=headers)
        return found.status_code, found.json()

    assert say(client, code, ask, seat=seat).status_code == 400
    assert say(client, code, ask, teacher=other["token"]).status_code == 403
    assert say(client, code, ask, teacher=token).status_code == 204
    assert say(client, other["code"], drawn, seat=seat).status_code == 403
    assert say(client, code, drawn, seat=seat).status_code == 204
    refused = say(client, code, {**drawn, "marks": [1, 2, 3001]}, seat=seat)
    assert (refused.status_code, refused.json()["problem"]) == (409, "sketch_closed")
    for headers in who.values():
        assert told(**headers) == (409, {"problem": "not_revealed"})
    say(client, code, {"kind": "sketch", "do": "reveal"}, teacher=token)
    assert told(**who["teacher"])[1]["sketches"] == [[1, 2, 3]]
    assert "sketches" not in told(**who["student"])[1]
    assert told(**{TEACHER: other["token"]})[0] == told()[0] == 403


def test_another_sites_page_can_say_nothing(client, opened):
    del client.headers[OURS]
    for path in ("/room", f"/room/{opened['code']}/seat", f"/room/{opened['code']}/said"):
        assert client.post(path, json={}).status_code == 400
    assert len(the_class().rooms) == 1


@pytest.mark.parametrize("who", [
    {}, {"teacher": ""}, {"teacher": "x" * 32}, {"seat": ""}, {"seat": "1.x"}, {"seat": "x" * 999},
])  # fmt: skip
def test_who_has_no_place_in_a_room_can_say_and_hear_nothing(client, opened, who):
    join(client, opened["code"])
    refused = say(client, opened["code"], ASK, **who)
    assert (refused.status_code, refused.json()["problem"]) == (403, "not_yours")
    headers = {{"teacher": TEACHER, "seat": SEAT}[key]: value for key, value in who.items()}
    assert client.get(f"/room/{opened['code']}/heard", headers=headers).status_code == 403
    assert now(opened["code"])["ballot"] is None


def test_a_student_is_no_teacher_and_a_seat_of_another_room_is_none(client, opened):
    seat, other = join(client, opened["code"])["seat"], client.post("/room").json()
    assert say(client, opened["code"], ASK, seat=seat).status_code == 400
    assert say(client, other["code"], VOTE, seat=seat).status_code == 403
    assert say(client, other["code"], ASK, teacher=opened["token"]).status_code == 403


@pytest.mark.parametrize("body", [
    b"", b"x", b"[]", b"3", b'"x"', b"\xff", b"{" * 9000, b"[" * 16_000, b'{"kind": "vote"}',
])  # fmt: skip
def test_what_is_no_word_of_a_room_is_refused(client, opened, body):
    seat = join(client, opened["code"])["seat"]
    assert say(client, opened["code"], body, seat=seat).status_code == 400


def test_a_megabyte_is_not_read(client, opened):
    seat = join(client, opened["code"])["seat"]
    refused = say(client, opened["code"], b" " * 1_000_000, seat=seat)
    assert (refused.status_code, refused.json()["problem"]) == (413, "large")


def test_a_flood_of_votes_is_one_vote_and_stops(client, opened):
    seat = join(client, opened["code"])["seat"]
    say(client, opened["code"], ASK, teacher=opened["token"])
    answers = [
        say(client, opened["code"], {**VOTE, "option": k % 3}, seat=seat).status_code
        for k in range(200)
    ]
    assert answers[:30] == [204] * 30
    assert answers.count(429) > 100
    assert now(opened["code"])["ballot"]["voted"] == 1
    other = join(client, opened["code"])["seat"]  # the class goes on
    assert say(client, opened["code"], VOTE, seat=other).status_code == 204


def test_a_device_takes_a_few_seats_not_all(client, opened):
    device = accounts().new("testclient")
    client.cookies.set("seqviz_device", device)
    answers = [client.post(f"/room/{opened['code']}/seat", json={}) for _ in range(100)]
    taken = sum(answer.status_code == 200 for answer in answers)
    assert taken <= room_route.SEATS[0] + 1
    assert answers[-1].json()["problem"] == "too_fast"
    client.cookies.set("seqviz_device", accounts().new("testclient"))
    assert client.post(f"/room/{opened['code']}/seat", json={}).status_code == 200


def test_codes_cannot_be_tried_out(client, opened):
    guesses = ["".join(six) for six in islice(product(codes.ALPHABET, repeat=6), 100)]
    wrong = [client.post(f"/room/{guess}/seat", json={}) for guess in guesses]
    assert [one.status_code for one in wrong[:30]] == [404] * 30
    assert wrong[-1].status_code == 429
    tried = sum(one.status_code == 404 for one in wrong)
    assert tried <= rooms.GUESSES
    assert client.post(f"/room/{opened['code']}/seat", json={}).status_code == 429


def test_a_class_that_asks_for_its_lost_room_again_and_again_is_let_in_when_it_is_back(
    client, opened
):
    code = opened["code"]
    the_class().rooms = rooms.Rooms()
    for _ in range(200):
        assert client.post(f"/room/{code}/seat", json={}).status_code == 404
    assert client.post("/room", json=opened).json() == opened
    assert client.post(f"/room/{code}/seat", json={}).status_code == 200


def test_the_answer_to_who_opens_a_room_names_it_for_the_proxy(client):
    answer = client.post("/room")
    assert answer.headers[OURS] == answer.json()["code"]


def test_a_stream_tells_the_state_now_and_after_each_change(client, opened):
    room = the_class().rooms.find(opened["code"])
    seat, _ = room.join()

    async def listen() -> list[dict]:
        events, heard = room_route._events(room, seat), []
        for step in range(4):
            heard.append(json.loads((await anext(events)).removeprefix(b"data: ")))
            if step == 0:
                room.tell(ASK)
                room.tell({"kind": "pause", "on": True})  # of two at once the last state
            if step == 1:
                room.hear(seat, VOTE)
            if step == 2:
                room.tell({"kind": "end"})
        with pytest.raises(StopAsyncIteration):
            await anext(events)
        return heard

    heard = attend(listen())
    assert [one["paused"] for one in heard] == [False, True, True, True]
    assert [bool(one["ballot"]) for one in heard] == [False, True, True, True]
    assert [one["ended"] for one in heard] == [False, False, False, True]
    assert (seat.streams, heard[0]["present"]) == (0, 1)


def test_a_stream_reminds_a_seat_of_a_vote_that_it_changes(client, opened):
    """The count stays the same, so nothing else is new; its other windows show it as well."""
    room = the_class().rooms.find(opened["code"])
    seat, _ = room.join()

    async def listen() -> list[int | None]:
        events, own = room_route._events(room, seat), []
        room.tell(ASK)
        for option in (None, 1, 2):
            if option is not None:
                room.hear(seat, {**VOTE, "option": option})
            told = await asyncio.wait_for(anext(events), 5)
            own.append(json.loads(told.removeprefix(b"data: "))["own"]["vote"])
        return own

    assert attend(listen()) == [None, 1, 2]


def test_a_silent_room_beats(client, opened, monkeypatch):
    monkeypatch.setattr(room_route, "HEARTBEAT", 0.01)
    room = the_class().rooms.find(opened["code"])

    async def listen() -> list[bytes]:
        events = room_route._events(room, None)
        return [await anext(events) for _ in range(3)]

    first, *others = attend(listen())
    assert first.startswith(b"data: ")
    assert others == [b": here\n\n"] * 2


def test_all_of_one_kind_are_told_the_same_bytes(opened):
    room = the_class().rooms.find(opened["code"])
    assert room.told(False) is room.told(False)
    assert room.told(False) != room.told(True)


def test_what_is_left_is_the_teachers_alone(client, opened):
    seat = join(client, opened["code"])["seat"]
    path = f"/room/{opened['code']}/left"
    assert client.get(path, headers={SEAT: seat}).status_code == 403
    assert client.get(path).status_code == 403
    found = client.get(path, headers={TEACHER: opened["token"]}).json()
    nothing = {name: [] for name in ("questions", "sketches", "sent", "texts", "runs")}
    assert found == {"seats": 1, "goals": {}, **nothing}


TEXT = {"kind": "text", "lesson": "gates", "bench": "watch", "values": {},
        "key": "ga.watch.characters", "text": "It \U0001f327 rains."}  # fmt: skip


def test_a_text_is_the_teachers_to_read_until_it_is_approved(client, opened):
    code, token, seat = opened["code"], opened["token"], join(client, opened["code"])["seat"]
    other = client.post("/room").json()["token"]
    assert say(client, code, TEXT, seat=seat).status_code == 204
    for who in ({SEAT: seat}, {TEACHER: other}, {}):
        assert client.get(f"/room/{code}/waiting", headers=who).status_code == 403
    assert client.get(f"/room/{code}/board", headers={SEAT: seat}).json() == {"texts": []}
    assert client.get(f"/room/{code}/board").status_code == 403
    found = client.get(f"/room/{code}/waiting", headers={TEACHER: token}).json()
    assert found == {"number": 1, "text": TEXT["text"]}
    assert say(client, code, {"kind": "approve", "number": 1}, seat=seat).status_code == 400
    assert say(client, code, {"kind": "approve", "number": 1}, teacher=token).status_code == 204
    (line,) = client.get(f"/room/{code}/board", headers={SEAT: seat}).json()["texts"]
    assert (line["text"], line["key"], "seat" in line) == (TEXT["text"], TEXT["key"], False)
    assert client.get(f"/room/{code}/waiting", headers={TEACHER: token}).json() == {}


def test_a_flood_of_texts_waits_as_three(client, opened):
    seat = join(client, opened["code"])["seat"]
    answers = [say(client, opened["code"], {**TEXT, "text": f"{k}"}, seat=seat) for k in range(60)]
    assert [one.status_code for one in answers[:4]] == [204, 204, 204, 409]
    assert answers[3].json() == {"problem": "texts_wait", "most": 3}
    assert answers[-1].status_code == 429
    other = join(client, opened["code"])["seat"]
    assert say(client, opened["code"], TEXT, seat=other).status_code == 204


@pytest.mark.parametrize("said", [
    {**TEXT, "key": "ga.watch.step"}, {**TEXT, "lesson": "nowhere"}, {**TEXT, "text": 3},
    {**TEXT, "text": "\ud800"}, {"kind": "send", "lesson": "gates", "bench": "watch",
                                 "values": {"ga.watch.characters": "\udfff"}},
])  # fmt: skip
def test_a_text_that_none_could_be_told_reaches_nobody(client, opened, said):
    """Half a pair cannot be written as UTF-8: the stream of all would end with it."""
    seat = join(client, opened["code"])["seat"]
    assert say(client, opened["code"], json.dumps(said).encode(), seat=seat).status_code == 400
    the_class().rooms.find(opened["code"]).told(True)


def test_the_notebook_is_the_teachers_and_has_no_links_but_to_this_app(client, opened):
    path, seat = f"/room/{opened['code']}/notebook", join(client, opened["code"])["seat"]
    asked = {"language": "zh", "address": "http://127.0.0.1:8501/app/"}
    assert client.post(path, json=asked, headers={SEAT: seat}).status_code == 403
    who = {TEACHER: opened["token"]}
    for wrong in ({}, {"language": "xx"}, {"address": "javascript:alert(1)"}, {"address": 3},
                  {"address": "http://x/)[a](http://y/"}):  # fmt: skip
        assert client.post(path, json={**asked, **wrong} if wrong else {}, headers=who) \
            .status_code == 400  # fmt: skip
    found = client.post(path, json=asked, headers=who)
    assert found.status_code == 200
    assert found.json()["nbformat"] == 4
    tagged = client.post(path, json={**asked, "language": "zh-CN"}, headers=who)
    assert tagged.json()["cells"][0]["source"] == found.json()["cells"][0]["source"]
