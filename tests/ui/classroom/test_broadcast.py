"""A teacher's move is told with the picture that all who follow would ask for."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware

from seqviz.classroom.room import InvalidMessageError, Room
from seqviz.classroom.rooms import Rooms
from seqviz.lessons.framework.host import PendingError
from seqviz.ui.app import router
from seqviz.ui.classroom import broadcast, routes
from seqviz.ui.classroom.routes import SEAT, TEACHER, room_service
from seqviz.ui.embed.request import bench_of
from seqviz.ui.live import handler
from seqviz.ui.render.encoding import GZIP
from seqviz.ui.runtime import result_cache, run_context
from seqviz.ui.runtime.clients import ClientQuota
from seqviz.ui.runtime.result_cache import MEGABYTE, ResultCache
from seqviz.ui.runtime.run_context import Session
from testing.protocol import run_async

EN, ZH, DARK, HALL = (
    ("en", False, False), ("zh", False, False), ("en", False, True), ("en", True, False)
)  # fmt: skip
START = {"lesson": "ar_fitting", "bench": "process", "values": {}}
MOVED = {**START, "values": {"ar.process.phi": "0.3", "ar.process.seed": "7"}}


def drawn(position, before, *view) -> dict:
    return run_async(broadcast.broadcast_frames(position, before, set(view), ClientQuota()))


def read(event: bytes) -> tuple[dict, bytes]:
    """What an event says is asked for, and the answer."""
    kind, what, body = event.decode().removesuffix("\n\n").split("\n")
    assert kind == "event: picture"
    return json.loads(what[6:]), base64.b64decode(body[6:])


@pytest.mark.parametrize("looks", [EN, ZH, DARK, HALL])
@pytest.mark.parametrize(("lesson", "bench", "values"), [
    ("ar_fitting", "process", MOVED["values"]),
    ("ar_fitting", "process", {"ar.process.view": "roots", "ar.process.phi": "0.2"}),
    ("vanishing_gradients", "pairs", {"vg.pairs.earlier": "2"}),
    ("vanishing_gradients", "gates", {"vg.gates.update": "0.7"}),
])  # fmt: skip
def test_broadcast_matches_live_response_bytes(client, looks, lesson, bench, values):
    asks = Session("a student", 0.0)
    run_context._by_token[asks.token] = asks
    anchor = {"lesson": lesson, "bench": bench, "values": {**values, "ga.watch.step": "2"}}
    payload, body = read(drawn(anchor, {**anchor, "values": {}}, looks)[looks])
    assert payload["query"].keys() <= {"lang", "present", "dark", *values}
    headers = {handler.H_SESSION: asks.token, "accept-encoding": "gzip"}
    with client.stream("GET", f"/live/{lesson}/{bench}", params=payload["query"],
                       headers=headers) as answer:  # fmt: skip
        assert answer.status_code == 200
        assert b"".join(answer.iter_raw()) == body
    text = gzip.decompress(body) if body.startswith(GZIP) else body
    assert payload["bench"].endswith(f".{bench}")
    assert json.loads(text.partition(b"\n")[0])["alt"]


def test_broadcast_figure_stays_cached_under_load(monkeypatch):
    """A figure drawn twice says another time in its badge."""
    store = ResultCache(3 * MEGABYTE)
    monkeypatch.setattr(result_cache, "result_cache", lambda: store)
    payload, body = read(drawn(MOVED, START, EN)[EN])
    for k in range(200):
        store.get_or_compute(b"%d" % k, lambda: np.zeros(10_000))
    bench = bench_of(MOVED["lesson"], MOVED["bench"])

    def never(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(type(bench), "run", never)
    asks = Session("a student", 0.0)
    assert handler.render_bench(bench, payload["query"], asks).encode() == body


def test_broadcast_skips_moves_no_page_would_request(monkeypatch):
    def never(*_: object, **__: object) -> None:
        raise AssertionError

    assert drawn(MOVED, START, ("xx", False, False)) == {}
    monkeypatch.setattr(handler, "render_bench", never)
    assert drawn(MOVED, MOVED, EN) == {}  # the teacher has scrolled, or moved something else
    other = {**MOVED, "values": {**MOVED["values"], "ar.fit.order": "3"}}
    assert drawn(other, MOVED, EN) == {}
    assert drawn(MOVED, {**START, "lesson": "gates"}, EN) == {}  # pages are drawn there
    assert drawn(MOVED, {}, EN) == {}
    assert drawn({**MOVED, "bench": "nothing"}, START, EN) == {}


@pytest.mark.parametrize("problem", [PendingError(), ValueError(), RuntimeError()])
def test_broadcast_returns_nothing_when_render_fails(monkeypatch, problem):
    def fails(*_: object, **__: object) -> None:
        raise problem

    monkeypatch.setattr(handler, "render_bench", fails)
    assert drawn(MOVED, START, EN) == {}


def test_broadcast_skips_per_student_and_oversized_figures(monkeypatch):
    """As of a training, an upload, or something picked in it; and one too large to be sent."""
    anchor = {"lesson": "vanishing_gradients", "bench": "race", "values": {}}
    moved = {**anchor, "values": {"vg.race.delay": "12"}}
    assert drawn(moved, anchor, EN) == {}
    monkeypatch.setattr(broadcast, "LARGEST", 100)
    assert drawn(MOVED, START, EN) == {}


# Who is sent it ----------------------------------------------------------------------------


def where(bench: str = "ar_fitting/process", left: bool = False, looks: object = EN) -> dict:
    return {"kind": "presence", "bench": bench, "detached": left, "goals": [], "view": looks}


@pytest.fixture
def room() -> Room:
    room = Rooms().open()
    room.apply_teacher_message({"kind": "navigate", **START})
    return room


def at(room: Room, **message):
    seat, _ = room.join()
    room.apply_student_message(seat, where(**message))
    return seat


def test_room_picture_reaches_only_followers_with_matching_view(room):
    seats = [at(room), at(room, left=True), at(room, bench="ar_fitting/fit"), at(room, looks=None),
             at(room, looks=list(ZH)), at(room, looks=DARK)]  # fmt: skip
    for seat in seats[:-1]:
        seat.streams = 1
    assert room.view_keys(MOVED) == {EN, ZH}
    room.apply_teacher_message({"kind": "navigate", **MOVED}, {EN: b"en", ZH: b"zh"})
    assert [room.picture(seat) for seat in seats] == [b"en", b"", b"", b"", b"zh", b""]
    assert room.picture(None) == b""
    room.apply_teacher_message({"kind": "navigate", **START})
    assert room.picture(seats[0]) == b""


@pytest.mark.parametrize("looks", ["en", [], ["en", 1, 0], ["en" * 9, True, True], {"a": 1}])
def test_presence_rejects_malformed_view(room, looks):
    with pytest.raises(InvalidMessageError):
        at(room, looks=looks)


def test_stream_sends_picture_once_before_move(room):
    seat, late = at(room), at(room)

    async def listen() -> list[bytes]:
        events = routes._events(room, seat)
        received = [await anext(events)]
        room.apply_teacher_message(
            {"kind": "navigate", **MOVED}, {EN: b"event: picture\ndata: 1\ndata: 2\n\n"}
        )
        received.append(await anext(events))
        room.apply_teacher_message({"kind": "pause", "on": True})
        received.append(await anext(events))
        return [*received, await anext(routes._events(room, late))]

    first, payload, after, joined = run_async(listen())
    assert payload.startswith(b"event: picture\ndata: 1\ndata: 2\n\ndata: {")
    assert payload.endswith(b"}\n\n")
    for item in (first, after, joined):  # who comes later asks for what stands there
        assert item.startswith(b"data: {")
    assert json.loads(payload.rpartition(b"data: ")[2])["place"] == MOVED


def test_stream_omits_teacher_only_changes_for_students(room):
    """A class that scrolls does not wake all its browsers for each of them."""
    seat = at(room)

    async def listen() -> bytes:
        events = routes._events(room, seat)
        await anext(events)
        coming = asyncio.ensure_future(anext(events))
        await asyncio.sleep(2 * routes.PAUSE)
        room.apply_student_message(seat, where(left=True))
        await asyncio.sleep(2 * routes.PAUSE)
        assert not coming.done()
        room.apply_teacher_message({"kind": "pause", "on": True})
        return await coming

    assert json.loads(run_async(listen())[6:])["paused"]


# A flood -----------------------------------------------------------------------------------


class Slow:
    """Draws in a moment, and remembers what."""

    def __init__(self) -> None:
        self.drawn: list[str] = []
        self.at_once = self.most = 0

    async def broadcast_frames(self, location, before, requested, account, answered) -> dict:
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        await asyncio.sleep(0.02)
        self.at_once -= 1
        self.drawn.append(location["values"]["ar.process.phi"])
        return {EN: b"event: picture\ndata: %b\ndata: \n\n" % self.drawn[-1].encode()}


def test_navigate_coalesces_flood_and_sends_last_move(room, monkeypatch):
    slow = Slow()
    monkeypatch.setattr(routes, "runner", lambda: slow, raising=False)
    at(room).streams = 1

    async def flood() -> None:
        await asyncio.gather(*(
            routes._place(room, {**MOVED, "kind": "navigate",
                                     "values": {"ar.process.phi": str(k)}}, ClientQuota())
            for k in range(100)
        ))  # fmt: skip

    run_async(flood())
    assert (slow.most, slow.drawn) == (1, ["0", "99"][-len(slow.drawn) :])
    assert room.location["values"] == {"ar.process.phi": "99"}
    assert b"99" in room.pictures[EN]


def test_navigate_does_not_wait_for_slow_picture(room, monkeypatch):
    slow = Slow()
    monkeypatch.setattr(routes, "runner", lambda: slow, raising=False)
    monkeypatch.setattr(routes, "DRAWN_WITHIN", 0.001)
    at(room).streams = 1
    run_async(routes._place(room, {"kind": "navigate", **MOVED}, ClientQuota()))
    assert (room.location, room.pictures) == (MOVED, {})


def test_stream_sends_only_last_state_to_stalled_reader(client):
    """It holds up nobody, and nothing is kept for it but what it is told next."""
    opened = client.post("/room").json()
    room = room_service().rooms.find(opened["code"])
    room.apply_teacher_message({"kind": "navigate", **START})
    seat, secret = room.join()
    room.apply_student_message(seat, where())
    path = f"/room/{room.code}/events"
    scope = {"type": "http", "method": "GET", "path": path, "query_string": b"",
             "headers": [(SEAT.encode(), secret.encode())], "client": ("testclient", 1),
             "root_path": "", "http_version": "1.1", "scheme": "http",
             "server": ("testserver", 80)}  # fmt: skip

    async def listen() -> tuple[list[bytes], int]:
        sent: list[bytes] = []
        reads, payload = asyncio.Event(), asyncio.Event()

        async def send(message) -> None:
            if body := message.get("body"):
                sent.append(body)
                payload.set()
                if len(sent) == 2:  # its line is full: as a server waits for it
                    await reads.wait()

        async def receive():
            await asyncio.sleep(9)
            return {"type": "http.disconnect"}

        app = Starlette(middleware=[Middleware(router.LiveMiddleware)])
        serving = asyncio.ensure_future(app(scope, receive, send))
        for k in range(200):
            await asyncio.wait_for(payload.wait(), 5) if k == 0 else await asyncio.sleep(0)
            picture = b"event: picture\ndata: %d\ndata: \n\n" % k
            room.apply_teacher_message({"kind": "navigate", **MOVED,
                "values": {"ar.process.phi": str(k)}},
                      {EN: picture})  # fmt: skip
            if k == 5:
                await asyncio.sleep(3 * routes.PAUSE)
        held = len(sent)
        payload.clear()
        reads.set()
        await asyncio.wait_for(payload.wait(), 5)
        serving.cancel()
        return sent, held

    sent, held = run_async(listen())
    assert (held, len(sent)) == (2, 3)
    assert sent[-1].startswith(b"event: picture\ndata: 199\n")


def test_navigate_accepts_hundred_rapid_moves(client):
    """A page tells ten times a second where its hand is."""
    opened = client.post("/room").json()
    for k in range(100):
        payload = {"kind": "navigate", **START, "values": {"ar.process.phi": str(k)}}
        answer = client.post(f"/room/{opened['code']}/messages", json=payload,
                             headers={TEACHER: opened["token"]})  # fmt: skip
        assert answer.status_code == 204
