"""The routes of a class: who may say what, how often, and that a stream tells the last state."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import islice, product

import pytest

from seqviz.classroom import codes, drawn_predictions, rooms
from seqviz.classroom.record import RoomSummary
from seqviz.core.errors import UserError
from seqviz.ui.classroom import routes
from seqviz.ui.classroom.routes import OURS, SEAT, TEACHER, room_service
from seqviz.ui.runtime.clients import ClientQuota, LeakyBucket, client_registry
from testing.protocol import run_async
from tests.fakes import FakeClock

HERE = "elsewhere"  # the address of the test's client, which is none


ASK = {"kind": "ask", "key": "vg.predict.order", "options": 3}
VOTE = {"kind": "vote", "number": 1, "round": 1, "option": 1}


def join(client, code: str, seat: str = "") -> dict:
    """A seat whose page has been connected."""
    result = client.post(f"/room/{code}/seat", json={"seat": seat}).json()
    room = room_service().rooms.find(code)
    room.seats[result["number"]].line_seen = room.clock()
    return result


def restart() -> None:
    """The process ends, and one with the same key and disk begins."""
    room_service.cache_clear()
    client_registry.cache_clear()


def come_back(client, room: dict):
    return client.post(f"/room/{room['code']}/teacher", headers={TEACHER: room["token"]})


def devices(client, number: int) -> Iterator[None]:
    """So many browsers, one after another, each with a cookie of its own."""
    for _ in range(number):
        client.cookies.clear()
        client.cookies.set("seqviz_device", client_registry().register(HERE))
        yield


def say(client, code: str, what, **caller):
    headers = {{"teacher": TEACHER, "seat": SEAT}[key]: value for key, value in caller.items()}
    content = what if isinstance(what, bytes) else json.dumps(what).encode()
    return client.post(f"/room/{code}/messages", content=content, headers=headers)


def now(code: str) -> dict:
    return json.loads(room_service().rooms.find(code).snapshot(False))


def test_room_opens_seats_student_and_counts_vote(client, opened):
    code, token = opened["code"], opened["token"]
    seat = join(client, code)
    assert seat["number"] == 1
    assert say(client, code, ASK, teacher=token).status_code == 204
    assert say(client, code, VOTE, seat=seat["seat"]).status_code == 204
    assert say(client, code, {"kind": "reveal"}, teacher=token).status_code == 204
    assert now(code)["ballot"]["counts"] == [[0, 1, 0]]


def test_drawings_stay_hidden_until_reveal(client, opened):
    """Neither a student, nor a teacher of another room, nor who has no seat is told before."""
    code, token = opened["code"], opened["token"]
    seat, other = join(client, code)["seat"], client.post("/room").json()
    caller = {"teacher": {TEACHER: token}, "student": {SEAT: seat}}
    request = {
        "kind": "sketch",
        "action": "ask",
        "key": "vg.sketch.tanh",
        "type": "bar",
        "most": [1000] * 3,
    }
    rendered = {"kind": "sketch", "number": 1, "marks": [1, 2, 3]}

    def told(**headers) -> tuple[int, dict]:
        result = client.get(f"/room/{code}/drawings", headers=headers)
        return result.status_code, result.json()

    assert say(client, code, request, seat=seat).status_code == 400
    assert say(client, code, request, teacher=other["token"]).status_code == 404
    assert say(client, code, request, teacher=token).status_code == 204
    assert say(client, other["code"], rendered, seat=seat).status_code == 404
    assert say(client, code, rendered, seat=seat).status_code == 204
    refused = say(client, code, {**rendered, "marks": [1, 2, 3001]}, seat=seat)
    assert (refused.status_code, refused.json()["problem"]) == (409, "sketch_closed")
    for headers in caller.values():
        assert told(**headers) == (409, {"problem": "not_revealed"})
    say(client, code, {"kind": "sketch", "action": "reveal"}, teacher=token)
    assert told(**caller["teacher"])[1]["sketches"] == [[1, 2, 3]]
    assert "sketches" not in told(**caller["student"])[1]
    assert told(**{TEACHER: other["token"]})[0] == told()[0] == 404


def test_room_rejects_cross_site_posts(client, opened):
    del client.headers[OURS]
    for path in ("/room", f"/room/{opened['code']}/seat", f"/room/{opened['code']}/messages"):
        assert client.post(path, json={}).status_code == 400
    assert len(room_service().rooms) == 1


@pytest.mark.parametrize("who", [
    {}, {"teacher": ""}, {"teacher": "x" * 32}, {"seat": ""}, {"seat": "1.x"}, {"seat": "x" * 999},
])  # fmt: skip
def test_room_rejects_caller_without_valid_seat_or_token(client, opened, who):
    join(client, opened["code"])
    refused = say(client, opened["code"], ASK, **who)
    assert (refused.status_code, refused.json()) == (404, {"problem": "no_room"})
    headers = {{"teacher": TEACHER, "seat": SEAT}[key]: value for key, value in who.items()}
    assert client.get(f"/room/{opened['code']}/events", headers=headers).status_code == 404
    assert now(opened["code"])["ballot"] is None


def test_room_rejects_wrong_role_and_foreign_seat(client, opened):
    seat, other = join(client, opened["code"])["seat"], client.post("/room").json()
    assert say(client, opened["code"], ASK, seat=seat).status_code == 400
    assert say(client, other["code"], VOTE, seat=seat).status_code == 404
    assert say(client, other["code"], ASK, teacher=opened["token"]).status_code == 404


@pytest.mark.parametrize("body", [
    b"", b"x", b"[]", b"3", b'"x"', b"\xff", b"{" * 9000, b"[" * 16_000, b'{"kind": "vote"}',
])  # fmt: skip
def test_messages_reject_malformed_body(client, opened, body):
    seat = join(client, opened["code"])["seat"]
    assert say(client, opened["code"], body, seat=seat).status_code == 400


def test_messages_reject_oversized_body(client, opened):
    seat = join(client, opened["code"])["seat"]
    refused = say(client, opened["code"], b" " * 1_000_000, seat=seat)
    assert (refused.status_code, refused.json()["problem"]) == (413, "large")


def test_vote_flood_counts_once_and_is_throttled(client, opened):
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


def test_seat_route_limits_seats_per_device(client, opened):
    device = client_registry().register(HERE)
    client.cookies.set("seqviz_device", device)
    answers = [client.post(f"/room/{opened['code']}/seat", json={}) for _ in range(100)]
    taken = sum(answer.status_code == 200 for answer in answers)
    assert taken <= routes.SEATS[0] + 1
    assert answers[-1].json()["problem"] == "too_fast"
    client.cookies.set("seqviz_device", client_registry().register(HERE))
    assert client.post(f"/room/{opened['code']}/seat", json={}).status_code == 200


@pytest.fixture
def quick(monkeypatch) -> FakeClock:
    """Look-ups that have to wait do so on a clock that does not keep anybody waiting."""
    clock = FakeClock(0.0)

    async def sleep(seconds: float) -> None:
        clock.now += seconds

    monkeypatch.setattr(routes, "_pause", sleep)
    monkeypatch.setattr(routes, "LeakyBucket", partial(LeakyBucket, clock))
    return clock


def guesses(number: int) -> list[str]:
    """Codes whose letters fit together, and which no room has."""
    words = ("".join(word) for word in product(codes.ALPHABET, repeat=rooms.LETTERS + 1))
    return list(islice((word for word in words if codes.is_valid(word)), number))


def test_room_lookup_throttles_code_guessing(client, opened, quick):
    """From the 31st on one a second is answered: so many that the codes are long enough."""
    statuses = [client.post(f"/room/{code}/seat").status_code for code in guesses(130)]
    assert statuses == [404] * 130
    assert routes.WRONG[0] + (quick.now + 1) * routes.WRONG[1] + 1 >= 130
    assert quick.now >= 98


def test_room_lookup_tolerates_mistyped_codes_of_class(client, opened):
    """Sixty and 400 students, each a letter wrong, with cookies and without; nobody waits."""
    code = opened["code"]
    for number in (60, 400):
        for cookies in (devices(client, number), range(number)):
            for k, _ in enumerate(cookies):
                position, letter = k % len(code), codes.ALPHABET[k % 20]
                wrong = code[:position] + letter + code[position + 1 :]
                status = client.post(f"/room/{wrong}/seat").status_code
                assert status == (200 if wrong == code else 400)
            client.cookies.clear()
    room = room_service().rooms.find(code)
    assert HERE not in room_service().gates or not room_service().gates[HERE].wrong.used
    for _ in devices(client, 1):
        assert join(client, code)["number"] in room.seats
    for _ in range(50):
        assert come_back(client, opened).status_code == 200


def test_room_lookup_queues_fairly_across_devices(client, opened, quick):
    """However many a single device has sent; whoever has a seat or teaches waits for none."""
    seat = join(client, opened["code"])["seat"]
    for code in guesses(40):
        client.post(f"/room/{code}/seat")
    flooding, honest = (client_registry().get(HERE, client_registry().register(HERE)) for _ in "ab")
    order: list[str] = []

    async def look_up(name: str, account, code: str) -> None:
        with suppress(UserError):
            await room_service().find(code, HERE, account)
        order.append(name)

    async def class_() -> None:
        flood = [asyncio.create_task(look_up("flood", flooding, code)) for code in guesses(99)]
        await asyncio.sleep(0)
        await look_up("honest", honest, opened["code"])
        for item in flood:
            item.cancel()

    run_async(class_())
    assert order.index("honest") <= 2
    assert say(client, opened["code"], {"kind": "pause", "on": True}, teacher=opened["token"]) \
        .status_code == 204  # fmt: skip
    assert client.post(f"/room/{opened['code']}/seat", json={"seat": seat}).status_code == 200


def test_room_lookup_rejects_heaviest_client_when_queue_is_full(client, opened, monkeypatch):
    monkeypatch.setattr(routes, "MAX_WAITING", 20)
    gate = routes.Gate()
    gate.wrong.consume(100.0, *routes.WRONG)
    flooding, honest = ClientQuota(), ClientQuota()

    async def wait() -> tuple[int, bool]:
        flood = [asyncio.create_task(gate.pass_through(flooding)) for _ in range(20)]
        await asyncio.sleep(0)
        mine = asyncio.create_task(gate.pass_through(honest))
        await asyncio.sleep(0.05)
        refused = [item for item in flood if item.done()]
        is_refused = mine.done()
        for entry in (*flood, mine):
            entry.cancel()
        assert {type(item.exception()) for item in refused} == {UserError}
        return len(refused), is_refused

    assert run_async(wait()) == (1, False)


def test_room_seats_300_students_behind_one_address(client, opened):
    """With cookies and without."""
    for cookies in (devices(client, 300), range(300)):
        code = client.post("/room").json()["code"]
        taken = [client.post(f"/room/{code}/seat").status_code for _ in cookies]
        assert taken == [200] * 300
        client.cookies.clear()
        client_registry.cache_clear()


def test_seat_route_keeps_seat_on_reload_and_throttles_it_alone(client, opened):
    """Fifty times within a moment; then that page alone has to wait."""
    code, seat = opened["code"], join(client, opened["code"])["seat"]
    other = join(client, code)["seat"]
    for claim in (seat, seat, other):
        statuses = [client.post(f"/room/{code}/seat", json={"seat": claim}).status_code
                    for _ in range(30)]  # fmt: skip
        assert statuses == [200] * 30
    assert [come_back(client, opened).status_code for _ in range(50)] == [200] * 50
    statuses = {client.post(f"/room/{code}/seat", json={"seat": seat}).status_code
                for _ in range(30)}  # fmt: skip
    assert 429 in statuses
    assert client.post(f"/room/{code}/seat", json={"seat": other}).status_code == 200


def test_room_restores_seats_and_teacher_after_restart(client, opened):
    code = opened["code"]
    seats = [join(client, code) for _ in range(20)]
    restart()
    assert client.post(f"/room/{code}/seat").status_code == 404  # a newcomer proves nothing
    again = [
        client.post(f"/room/{code}/seat", json={"seat": seat["seat"]}).json() for seat in seats
    ]
    assert again == seats
    assert come_back(client, opened).json() == {"code": code}
    assert client.post(f"/room/{code}/seat").json()["number"] == 21


@pytest.mark.parametrize("known", [True, False])
def test_teacher_route_rejects_every_foreign_token(client, opened, known):
    """By another room's token, a seat's secret, an ended room's, any words; before it is back too.

    All of them, and who asks for a room that never was, are told the same.
    """
    code, seat = opened["code"], join(client, opened["code"])["seat"]
    other, ended = client.post("/room").json(), client.post("/room").json()
    say(client, ended["code"], {"kind": "end"}, teacher=ended["token"])
    if not known:
        restart()
    tries = [(code, other["token"]), (code, seat), (code, seat.partition(".")[2]), (code, "x" * 48),
             (code, ""), (ended["code"], ended["token"]), (guesses(1)[0], opened["token"]),
             (other["code"], opened["token"]), ("x", opened["token"])]  # fmt: skip
    for where, token in tries:
        result = come_back(client, {"code": where, "token": token})
        assert (result.status_code, result.json()) == (404, {"problem": "no_room"})
        refused = say(client, where, ASK, teacher=token)
        assert (refused.status_code, refused.json()) == (404, {"problem": "no_room"})
    assert come_back(client, opened).status_code == 200


def test_room_ignores_client_supplied_code_and_token(client, opened):
    claimed = {"code": opened["code"], "token": "x" * 48}
    result = client.post("/room", json=claimed).json()
    assert result["code"] != opened["code"]
    assert result["token"] != claimed["token"]


def test_removed_seat_is_notified_and_cannot_rejoin(client, opened):
    code = opened["code"]
    client.cookies.set("seqviz_device", client_registry().register(HERE))
    seat = join(client, code)
    room = room_service().rooms.find(code)

    async def listen() -> list[bytes]:
        events = routes._events(room, room.seats[seat["number"]])
        first = await anext(events)
        room.apply_teacher_message({"kind": "remove", "seat": seat["number"]})
        return [first, *[event async for event in events]]

    assert run_async(listen())[1:] == [b'data: {"sent_out": true}\n\n']
    for claim in (seat["seat"], ""):
        refused = client.post(f"/room/{code}/seat", json={"seat": claim})
        assert (refused.status_code, refused.json()["problem"]) == (403, "sent_out")
    assert say(client, code, VOTE, seat=seat["seat"]).status_code == 403
    restart()
    assert come_back(client, opened).status_code == 200
    for claim in (seat["seat"], ""):
        refused = client.post(f"/room/{code}/seat", json={"seat": claim})
        assert (refused.status_code, refused.json()["problem"]) == (403, "sent_out")
    for _ in devices(client, 1):
        join(client, code)


def test_device_keeps_single_vote_after_restart(client, opened):
    """Its second tab voted last; both pages tell what they remember."""
    code = opened["code"]
    client.cookies.set("seqviz_device", client_registry().register(HERE))
    seats = [join(client, code) for _ in range(2)]
    say(
        client,
        code,
        {"kind": "ask", "key": "vg.predict.order", "options": 3},
        teacher=opened["token"],
    )
    for option, seat in enumerate(seats):
        payload = {**VOTE, "option": option}
        assert say(client, code, payload, seat=seat["seat"]).status_code == 204
    request = {name: now(code)["ballot"][name]
             for name in ("number", "key", "options", "state", "round")}  # fmt: skip
    assert now(code)["ballot"]["voted"] == 1
    restart()
    come_back(client, opened)
    existing = {"kind": "restore", "paused": False, "door": True, "allowed": [], "removed": [],
             "ballots": [request], "sketches": []}  # fmt: skip
    assert say(client, code, existing, teacher=opened["token"]).status_code == 204
    for option, seat in enumerate(seats):
        join(client, code, seat["seat"])
        recall = {"kind": "recall", "votes": [[1, 1, option]], "sketches": []}
        assert say(client, code, recall, seat=seat["seat"]).status_code == 204
    assert now(code)["ballot"]["voted"] == 1


def test_stream_displaces_oldest_tabs_of_seat(client, opened):
    """Five tabs of one browser: three are connected, the first two are told so and are quiet."""
    room = room_service().rooms.find(opened["code"])
    seat, _ = room.join()

    async def tabs() -> tuple[list[bytes], int]:
        lines = [routes._events(room, seat) for _ in range(5)]
        for line in lines:
            await anext(line)
        ends = [[item async for item in line][-1] for line in lines[:2]]
        still = [asyncio.ensure_future(anext(line)) for line in lines[2:]]
        await asyncio.sleep(0.2)
        room.apply_teacher_message({"kind": "pause", "on": True})
        payload = await asyncio.gather(*still)
        return ends, sum(b'"paused":true' in item for item in payload)

    assert run_async(tabs()) == ([b'data: {"displaced": true}\n\n'] * 2, 3)


def test_stream_throttles_only_seat_that_reconnects_rapidly(client, opened):
    code, seat = opened["code"], join(client, opened["code"])["seat"]
    room, other = room_service().rooms.find(code), join(client, code)["seat"]
    room.ended = False

    def connect(secret: str) -> int:
        with client.stream("HEAD", f"/room/{code}/events", headers={SEAT: secret}) as answer:
            return answer.status_code

    statuses = [connect(seat) for _ in range(100)]
    assert statuses[:40] == [200] * 40
    assert statuses[-1] == 429
    assert connect(other) == 200


def test_submission_is_readable_by_teacher_only(client, opened):
    code, seat = opened["code"], join(client, opened["code"])["seat"]
    values = {"ga.watch.step": "3"}
    place = {"lesson": "gates", "bench": "watch", "values": values}
    payload = {"kind": "send", **place, "note": "Why?"}
    assert say(client, code, payload, seat=seat).status_code == 204
    path = f"/room/{code}/submissions/1"
    assert client.get(path, headers={SEAT: seat}).status_code == 403
    result = client.get(path, headers={TEACHER: opened["token"]})
    assert result.json() == {**place, "text_keys": [], "note": "Why?"}
    missing = client.get(f"/room/{code}/submissions/2", headers={TEACHER: opened["token"]})
    assert missing.status_code == 400


def test_room_response_carries_code_header_for_proxy(client):
    answer = client.post("/room")
    assert answer.headers[OURS] == answer.json()["code"]


def test_stream_sends_state_now_and_after_each_change(client, opened):
    room = room_service().rooms.find(opened["code"])
    seat, _ = room.join()

    async def listen() -> list[dict]:
        events, received = routes._events(room, seat), []
        for step in range(4):
            received.append(json.loads((await anext(events)).removeprefix(b"data: ")))
            if step == 0:
                room.apply_teacher_message(ASK)
                room.apply_teacher_message(
                    {"kind": "pause", "on": True}
                )  # of two at once the last state
            if step == 1:
                room.apply_student_message(seat, VOTE)
            if step == 2:
                room.apply_teacher_message({"kind": "end"})
        with pytest.raises(StopAsyncIteration):
            await anext(events)
        return received

    received_value = run_async(listen())
    assert [item["paused"] for item in received_value] == [False, True, True, True]
    assert [bool(item["ballot"]) for item in received_value] == [False, True, True, True]
    assert [item["ended"] for item in received_value] == [False, False, False, True]
    assert (seat.streams, received_value[0]["present"]) == (0, 1)


def test_stream_sends_changed_vote_to_seat(client, opened):
    """The count stays the same, so nothing else is new; its other windows show it as well."""
    room = room_service().rooms.find(opened["code"])
    seat, _ = room.join()

    async def listen() -> list[int | None]:
        events, own = routes._events(room, seat), []
        room.apply_teacher_message(ASK)
        for option in (None, 1, 2):
            if option is not None:
                room.apply_student_message(seat, {**VOTE, "option": option})
            payload = await asyncio.wait_for(anext(events), 5)
            own.append(json.loads(payload.removeprefix(b"data: "))["answers"]["vote"])
        return own

    assert run_async(listen()) == [None, 1, 2]


def test_stream_sends_heartbeat_when_idle(client, opened, monkeypatch):
    monkeypatch.setattr(routes, "HEARTBEAT", 0.01)
    room = room_service().rooms.find(opened["code"])

    async def listen() -> list[bytes]:
        events = routes._events(room, None)
        return [await anext(events) for _ in range(3)]

    first, *others = run_async(listen())
    assert first.startswith(b"data: ")
    assert others == [b": here\n\n"] * 2


def test_snapshot_is_shared_per_role(opened):
    room = room_service().rooms.find(opened["code"])
    assert room.snapshot(False) is room.snapshot(False)
    assert room.snapshot(False) != room.snapshot(True)


def test_summary_is_readable_by_teacher_only(client, opened):
    seat = join(client, opened["code"])["seat"]
    path = f"/room/{opened['code']}/summary"
    assert client.get(path, headers={SEAT: seat}).status_code == 403
    assert client.get(path).status_code == 404
    result = client.get(path, headers={TEACHER: opened["token"]}).json()
    nothing = {name: [] for name in ("questions", "sketches", "sent", "texts", "runs")}
    assert result == {"seats": 1, "goals": {}, **nothing}


TEXT = {"kind": "text", "lesson": "gates", "bench": "watch", "values": {},
        "key": "ga.watch.characters", "text": "It \U0001f327 rains."}  # fmt: skip


def test_text_is_readable_by_teacher_only_until_approved(client, opened):
    code, token, seat = opened["code"], opened["token"], join(client, opened["code"])["seat"]
    other = client.post("/room").json()["token"]
    assert say(client, code, TEXT, seat=seat).status_code == 204
    for caller, status in (({SEAT: seat}, 403), ({TEACHER: other}, 404), ({}, 404)):
        assert client.get(f"/room/{code}/pending", headers=caller).status_code == status
    assert client.get(f"/room/{code}/board", headers={SEAT: seat}).json() == {"texts": []}
    assert client.get(f"/room/{code}/board").status_code == 404
    result = client.get(f"/room/{code}/pending", headers={TEACHER: token}).json()
    assert result == {"number": 1, "text": TEXT["text"], "seat": 1, "device": False}
    assert say(client, code, {"kind": "approve", "number": 1}, seat=seat).status_code == 400
    assert say(client, code, {"kind": "approve", "number": 1}, teacher=token).status_code == 204
    (line,) = client.get(f"/room/{code}/board", headers={SEAT: seat}).json()["texts"]
    assert (line["text"], line["key"], "seat" in line) == (TEXT["text"], TEXT["key"], False)
    assert client.get(f"/room/{code}/pending", headers={TEACHER: token}).json() == {}


def test_text_flood_queues_three_and_is_throttled(client, opened):
    seat = join(client, opened["code"])["seat"]
    answers = [say(client, opened["code"], {**TEXT, "text": f"{k}"}, seat=seat) for k in range(60)]
    assert [answer.status_code for answer in answers[:4]] == [204, 204, 204, 409]
    assert answers[3].json() == {"problem": "texts_wait", "most": 3}
    assert answers[-1].status_code == 429
    other = join(client, opened["code"])["seat"]
    assert say(client, opened["code"], TEXT, seat=other).status_code == 204


@pytest.mark.parametrize("said", [
    {**TEXT, "key": "ga.watch.step"}, {**TEXT, "lesson": "nowhere"}, {**TEXT, "text": 3},
    {**TEXT, "text": "\ud800"}, {"kind": "send", "lesson": "gates", "bench": "watch",
                                 "values": {"ga.watch.characters": "\udfff"}},
])  # fmt: skip
def test_messages_reject_invalid_or_unencodable_text(client, opened, said):
    """Half a pair cannot be written as UTF-8: the stream of all would end with it."""
    seat = join(client, opened["code"])["seat"]
    assert say(client, opened["code"], json.dumps(said).encode(), seat=seat).status_code == 400
    room_service().rooms.find(opened["code"]).snapshot(True)


@pytest.mark.parametrize("write", [
    str.lower, lambda code: f"{code[:4]}-{code[4:]}", lambda code: f"{code[:4]}%20{code[4:]}",
    lambda code: f"%{ord(code[0]):x}{code[1:]}",
])  # fmt: skip
def test_room_rejects_noncanonical_code_spelling(client, opened, write):
    """Written otherwise it would lead elsewhere, where any seat brings the room up as well."""
    seat = join(client, opened["code"])["seat"]
    code = write(opened["code"])
    for answer in (
        client.post(f"/room/{code}/seat", json={"seat": seat}),
        client.post(f"/room/{code}/seat", json={}),
        client.post(f"/room/{code}/teacher", headers={TEACHER: opened["token"]}),
        client.get(f"/room/{code}/board", headers={SEAT: seat}),
        say(client, code, VOTE, seat=seat),
    ):
        assert (answer.status_code, answer.json()) == (404, {"problem": "no_room"})
        assert OURS not in answer.headers


def test_room_rejects_percent_encoded_path(client, opened):
    """A proxy that does not see that it is a room's would lead it anywhere."""
    answer = client.post(f"/%72oom/{opened['code']}/seat", json={})
    assert (answer.status_code, OURS in answer.headers) == (404, False)


def test_returning_seat_bypasses_newcomer_limit(client, opened, monkeypatch):
    """After a restart, where all of an address look like one device."""
    for limit in ("SEATS", "SHARED_SEATS"):
        monkeypatch.setattr(routes, limit, (12, 1e-9))
    client.cookies.clear()
    code, secrets = opened["code"], [join(client, opened["code"])["seat"] for _ in range(4)]
    restart()
    assert come_back(client, opened).status_code == 200
    newcomers = [client.post(f"/room/{code}/seat", json={}).status_code for _ in range(20)]
    assert newcomers[:12] + newcomers[-3:] == [200] * 12 + [429] * 3
    back = [client.post(f"/room/{code}/seat", json={"seat": secret}) for secret in secrets]
    assert [item.status_code for item in back] == [200] * 4
    assert min(item.json()["number"] for item in back) > 12  # others have theirs


@pytest.mark.parametrize("said", [
    {"kind": "send", "lesson": "you_fools", "bench": "", "values": {}},
    {"kind": "presence", "bench": "constructor/x", "detached": True, "goals": [], "view": None},
])  # fmt: skip
def test_messages_reject_unknown_lesson(client, opened, said):
    seat = join(client, opened["code"])["seat"]
    assert say(client, opened["code"], said, seat=seat).status_code == 400
    visible = room_service().rooms.find(opened["code"]).snapshot(True)
    assert said.get("lesson", "constructor").encode() not in visible


def test_notebook_requires_teacher_and_valid_app_address(client, opened):
    path, seat = f"/room/{opened['code']}/notebook", join(client, opened["code"])["seat"]
    request = {"language": "zh", "address": "http://127.0.0.1:8501/app/"}
    assert client.post(path, json=request, headers={SEAT: seat}).status_code == 403
    caller = {TEACHER: opened["token"]}
    for wrong in ({}, {"language": "xx"}, {"address": "javascript:alert(1)"}, {"address": 3},
                  {"address": "http://x/)[a](http://y/"}):  # fmt: skip
        assert client.post(path, json={**request, **wrong} if wrong else {}, headers=caller) \
            .status_code == 400  # fmt: skip
    results = client.post(path, json=request, headers=caller)
    assert results.status_code == 200
    assert results.json()["nbformat"] == 4
    tagged = client.post(path, json={**request, "language": "zh-CN"}, headers=caller)
    assert tagged.json()["cells"][0]["source"] == results.json()["cells"][0]["source"]


# ---- what grows with seats is not made on the event loop


def filled(room, seats: int = 300, questions: int = 40) -> None:
    """So many drawings of 64 numbers and votes as a room can hold."""
    class_ = [room.join()[0] for _ in range(seats)]
    maximum = [1000] * 64
    for number in range(1, questions + 1):
        room.apply_teacher_message({"kind": "sketch", "action": "ask", "key": "vg.sketch.tanh",
            "type": "curve",
                   "most": maximum})  # fmt: skip
        room.apply_teacher_message(ASK)
        for seat in class_:
            room.sketched[-1].draw(seat.number, [(seat.number * k) % 1001 for k in range(64)])
            room.ballot.vote(seat.number, seat.number % 3)
        assert room.ballot.number == 2 * number
    room.apply_teacher_message({"kind": "sketch", "action": "reveal"})


def test_summary_is_serialized_off_event_loop(client, opened):
    room = room_service().rooms.find(opened["code"])
    filled(room)
    took = []
    for _ in range(5):
        started = time.perf_counter()
        room.record()
        took.append(time.perf_counter() - started)
    assert min(took) < 0.02
    threads = []

    def seen(record) -> dict:
        threads.append(threading.current_thread())
        return {"seats": record.seats}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RoomSummary, "to_dict", seen)
        result = client.get(f"/room/{opened['code']}/summary", headers={TEACHER: opened["token"]})
    assert result.json() == {"seats": 300}
    (thread,) = threads
    assert "asyncio" in thread.name  # a pool's


def test_summary_is_encoded_in_small_chunks(client, opened, monkeypatch):
    """No other thread goes on during a call of the encoder, the event loop's neither."""
    room = room_service().rooms.find(opened["code"])
    filled(room)
    sizes, dumps = [], json.dumps

    def measured(*what, **options) -> str:
        text = dumps(*what, **options)
        sizes.append(len(text))
        return text

    monkeypatch.setattr(json, "dumps", measured)
    result = client.get(f"/room/{opened['code']}/summary", headers={TEACHER: opened["token"]})
    assert result.json() == room.record().to_dict()
    assert sum(sizes) > 0.9 * len(result.content)
    assert max(sizes) < 0.05 * len(result.content)


def test_drawings_are_summarized_once_for_class(client, opened, monkeypatch):
    """300 pages ask for the drawings at one reveal; the teacher's page for its own."""
    room = room_service().rooms.find(opened["code"])
    filled(room, questions=1)
    summaries = []
    summary = drawn_predictions.summary

    def counted(*args):
        summaries.append(args)
        return summary(*args)

    monkeypatch.setattr(drawn_predictions, "summary", counted)
    path = f"/room/{opened['code']}/drawings"
    seats = [room.seats[number].secret for number in range(1, 301)]
    result = {client.get(path, headers={SEAT: seat}).content for seat in seats}
    assert len(result) == 1
    assert json.loads(result.pop())["count"] == 300
    assert len(client.get(path, headers={TEACHER: opened["token"]}).json()["sketches"]) == 300
    assert len(summaries) == 1


def test_summary_coalesces_requests_during_write(client, opened, monkeypatch):
    """A room that changes all the time, and many who ask: one is written, and one waits."""
    room = room_service().rooms.find(opened["code"])
    begun, release = [], threading.Event()

    def slow(record) -> dict:
        begun.append(record.seats)
        release.wait(10)
        return {"seats": record.seats}

    monkeypatch.setattr(RoomSummary, "to_dict", slow)
    headers = {TEACHER: opened["token"]}
    path = f"/room/{opened['code']}/summary"
    with ThreadPoolExecutor(12) as pool:
        requests = [pool.submit(client.get, path, headers=headers)]
        while not begun:
            time.sleep(0.01)
        for _ in range(10):
            client.portal.call(room.notify)
            requests.append(pool.submit(client.get, path, headers=headers))
        seat = client.post(f"/room/{opened['code']}/seat").json()
        time.sleep(0.3)
        release.set()
        results = [item.result().json()["seats"] for item in requests]
    assert seat["number"] == 1
    assert results == [0] + [1] * 10
    assert len(begun) == 2


def test_summary_is_charged_to_cpu_quota_of_caller(client, opened, monkeypatch):
    monkeypatch.setenv("SEQVIZ_SESSION_SECONDS", "0.05")
    client.cookies.set("seqviz_device", client_registry().register(HERE))
    room = room_service().rooms.find(opened["code"])
    filled(room)
    headers, statuses = {TEACHER: opened["token"]}, []
    for _ in range(20):
        client.portal.call(room.notify)
        result = client.get(f"/room/{opened['code']}/summary", headers=headers)
        statuses.append(result.status_code)
    assert statuses[0] == 200
    assert 429 in statuses


async def _rest(line) -> list[bytes]:
    return [item async for item in line]


def test_stream_ends_on_shutdown(client, opened):
    room = room_service().rooms.find(opened["code"])

    async def listen() -> int:
        lines = [routes._events(room, room.join()[0]) for _ in range(20)]
        for line in lines:
            await anext(line)
        ends = asyncio.gather(*(_rest(line) for line in lines))
        await asyncio.sleep(0)
        room_service().close()
        await asyncio.wait_for(ends, 1)
        return sum(seat.streams for seat in room.seats.values())

    assert run_async(listen()) == 0
