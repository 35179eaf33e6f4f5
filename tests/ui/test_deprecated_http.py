"""Deprecated routes, headers and messages are answered as the current ones are."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from seqviz.ui.app import router
from seqviz.ui.classroom.routes import OURS, SEAT, TEACHER, room_service
from seqviz.ui.runtime import run_context
from seqviz.ui.runtime.clients import client_registry
from seqviz.ui.runtime.run_context import Session
from seqviz.ui.runtime.scheduler import Priority, draw_queue
from seqviz.ui.server import deprecated_http
from seqviz.ui.server.deprecated_http import HEADERS, MESSAGE_FIELDS, MESSAGE_KINDS, ROOM_ROUTES
from testing.protocol import run_async

LIVE = "/live/gates/watch"
PLACE = {"lesson": "gates", "bench": "watch", "values": {"ga.watch.step": "20"}}
SKETCH = {"kind": "sketch", "action": "ask", "key": "vg.sketch.tanh", "type": "bar", "most": [9, 9]}
OLD_HEADER = {current: old for old, current in HEADERS.items()}
OLD_ROUTE = {current: old for old, current in ROOM_ROUTES.items()}
OLD_KIND = {current: old for old, current in MESSAGE_KINDS.items()}
OLD_FIELD = {current: old for old, current in MESSAGE_FIELDS.items()}


@pytest.fixture
def app(tmp_path, monkeypatch) -> Iterator[Starlette]:
    """The app's own routes, with rooms of its own."""
    monkeypatch.setenv("SEQVIZ_CACHE", str(tmp_path / "cache"))
    room_service.cache_clear()
    client_registry.cache_clear()
    yield Starlette(middleware=[Middleware(router.LiveMiddleware)])
    room_service.cache_clear()
    client_registry.cache_clear()


@pytest.fixture
def client(app) -> Iterator[TestClient]:
    with TestClient(app, headers={OURS: "1"}) as client:
        yield client


@pytest.fixture
def session() -> Session:
    session = Session("test", 0.0)
    run_context._by_token[session.token] = session
    return session


def with_old_names(headers: dict[str, str]) -> dict[str, str]:
    """Headers as a page from before the update sends them."""
    return {OLD_HEADER[name.encode()].decode(): value for name, value in headers.items()}


def in_old_words(message: dict) -> dict:
    """A message of a room as a page from before the update sends it."""
    old = {OLD_FIELD.get(name, name): value for name, value in message.items()}
    old["kind"] = OLD_KIND.get(message["kind"], message["kind"])
    if message["kind"] == "restore":
        old["sketches"] = [
            {OLD_FIELD.get(name, name): value for name, value in sketch.items()}
            for sketch in message["sketches"]
        ]
    return old


def test_deprecated_names_differ_from_current_names():
    for table in (HEADERS, ROOM_ROUTES, MESSAGE_KINDS, MESSAGE_FIELDS):
        assert len({*table, *table.values()}) == 2 * len(table)


def ask(client, session: Session, query: dict[str, str], headers: dict[str, str], path=LIVE):
    """The answer to current headers, which is also that to the deprecated ones."""
    headers = {"x-seqviz-session": session.token, **headers}
    query = {"lang": "en", **query}
    answer, old = (
        client.get(path, params=query, headers=each) for each in (headers, with_old_names(headers))
    )
    assert (old.status_code, old.content) == (answer.status_code, answer.content)
    return answer


def test_deprecated_session_and_arrays_headers_match_current(client, session):
    full = ask(client, session, {"ga.watch.step": "20"}, {})
    assert full.status_code == 200
    names = json.loads(full.text.partition("\n")[0])["arrays"]
    short = ask(client, session, {"ga.watch.step": "21"}, {"x-seqviz-known-arrays": names[0]})
    assert len(short.text) < len(full.text) / 5


def test_deprecated_live_text_header_matches_current(client, session, minilm, smollm2):
    path, text = "/live/text/cutters", quote(json.dumps({"tx.cutters.text": "Typed."}))
    plain = ask(client, session, {}, {}, path)
    typed = ask(client, session, {}, {"x-seqviz-live-text": text}, path)
    assert typed.status_code == plain.status_code == 200
    assert typed.content != plain.content
    assert ask(client, session, {}, {"x-seqviz-live-text": "{"}, path).status_code == 400


def test_deprecated_payload_header_matches_current(client, session, smollm2):
    path = "/live/gpt/scores"
    assert ask(client, session, {}, {"x-seqviz-payload": ""}, path).json()["half"]
    assert ask(client, session, {}, {"x-seqviz-payload": "none"}, path).status_code == 404


@pytest.mark.parametrize("header", ["x-seqviz-dragging", "x-seqviz-prefetch"])
def test_deprecated_drag_header_keeps_drag_priority(client, session, monkeypatch, header):
    ranks, queue = [], draw_queue()
    enqueue = queue.enqueue
    monkeypatch.setattr(
        queue, "enqueue", lambda rank, *more: ranks.append(rank) or enqueue(rank, *more)
    )
    assert ask(client, session, {}, {header: "1"}).status_code == 200
    assert ranks == [Priority.DRAG] * 2


def test_deprecated_print_route_matches_current(client):
    current, old = (client.get(f"/{name}/gates/size?lang=en") for name in ("print", "still"))
    assert current.status_code == 200
    assert (old.status_code, old.text) == (200, current.text)


def test_current_request_renames_paths_only_below_base():
    scope = {"type": "http", "headers": []}

    def path(path: str, base: str) -> str:
        return deprecated_http.current_request({**scope, "path": path}, base)["path"]

    assert path("/app/still/gates/size", "/app") == "/app/print/gates/size"
    assert path("/app/room/ABC/sent/3", "/app") == "/app/room/ABC/submissions/3"
    for other in ("/still/gates/size", "/appstill/a/b", "/app/room/said", "/app/room/said/seat",
                  "/app/room/ABC/messages", "/app", "", "*"):  # fmt: skip
        assert path(other, "/app") == other


# ---- rooms


@pytest.fixture
def room(client) -> dict:
    """A room with a student: {"code", "token", "seat"}."""
    opened = client.post("/room").json()
    seat = client.post(f"/room/{opened['code']}/seat", json={}).json()["seat"]
    room_service().rooms.find(opened["code"]).seats[1].streams = 1  # as a page that is connected
    return {**opened, "seat": seat}


def tell(client, room: dict, message: dict, old: bool, caller: str = "teacher") -> int:
    """Send a message to the room; the status."""
    route, sent = ("said", in_old_words(message)) if old else ("messages", message)
    headers = {TEACHER: room["token"]} if caller == "teacher" else {SEAT: room["seat"]}
    return client.post(f"/room/{room['code']}/{route}", json=sent, headers=headers).status_code


SENT = (
    ("teacher", {"kind": "navigate", **PLACE}),
    ("student", {"kind": "presence", "bench": "gates/watch", "detached": True, "goals": []}),
    ("teacher", {"kind": "ask", "key": "vg.predict.order", "options": 3}),
    ("student", {"kind": "vote", "number": 1, "round": 1, "option": 1}),
    ("teacher", {"kind": "close"}),
    ("teacher", {"kind": "reopen"}),
    ("teacher", SKETCH),
    ("student", {"kind": "sketch", "number": 2, "marks": [3, 4]}),
    ("student", {"kind": "send", **PLACE, "values": {"ga.watch.characters": "My text."}}),
    ("student", {"kind": "text", **PLACE, "key": "ga.watch.characters", "text": "For the board."}),
    ("teacher", {"kind": "sketch", "action": "reveal"}),
)  # fmt: skip


def first_event(app, path: str, headers: dict[str, str]) -> dict:
    """What a stream of the room says first."""

    async def listen() -> bytes:
        sent: asyncio.Queue[bytes] = asyncio.Queue()
        scope = {"type": "http", "method": "GET", "path": path, "query_string": b"",
                 "headers": [(k.encode(), v.encode()) for k, v in headers.items()],
                 "client": ("testclient", 1), "root_path": "", "http_version": "1.1",
                 "scheme": "http", "server": ("testserver", 80)}  # fmt: skip

        async def send(message) -> None:
            if body := message.get("body"):
                sent.put_nowait(body)

        async def receive() -> dict:
            await asyncio.sleep(9)
            return {"type": "http.disconnect"}

        serving = asyncio.ensure_future(app(scope, receive, send))
        try:
            return await asyncio.wait_for(sent.get(), 5)
        finally:
            serving.cancel()

    return json.loads(run_async(listen()).removeprefix(b"data: "))


@pytest.mark.parametrize("old", [False, True])
def test_room_applies_deprecated_messages_as_current(client, app, room, old):
    """The current routes show what the messages have done, whichever words they were in."""
    for caller, message in SENT:
        assert tell(client, room, message, old, caller) == 204, message
    teacher = first_event(app, f"/room/{room['code']}/events", {TEACHER: room["token"]})
    assert teacher["place"] == PLACE
    assert teacher["detached"] == 1
    assert teacher["dots"] == {"gates/watch": [1, 0]}
    assert (teacher["ballot"]["round"], teacher["ballot"]["state"]) == (2, "open")
    assert (teacher["sketch"]["type"], teacher["sketch"]["state"]) == ("bar", "revealed")
    assert [item["has_text"] for item in teacher["sent"]] == [True]
    assert teacher["pending"]["count"] == 1


def test_deprecated_routes_return_deprecated_fields(client, app, room):
    for caller, message in SENT:
        assert tell(client, room, message, False, caller) == 204, message
    path, teaches = f"/room/{room['code']}", {TEACHER: room["token"]}
    for name in ("summary", "pending", "drawings"):
        answer, old = (client.get(f"{path}/{n}", headers=teaches) for n in (name, OLD_ROUTE[name]))
        assert answer.status_code == 200
        assert old.content == answer.content
    current, old = (client.get(f"{path}/{name}/1", headers=teaches).json()
                    for name in ("submissions", "sent"))  # fmt: skip
    assert current.pop("text_keys") == old.pop("own") == ["ga.watch.characters"]
    assert old == current
    current, old = (first_event(app, f"{path}/{name}", teaches) for name in ("events", "heard"))
    assert {"left": 1, "waiting": current["pending"]}.items() <= old.items()
    assert [item["own"] for item in old["sent"]] == [True]
    assert (old["sketch"]["as"], "type" in old["sketch"]) == ("bar", False)
    assert old["place"] == current["place"] == PLACE
    current, old = (first_event(app, f"{path}/{name}", {SEAT: room["seat"]})
                    for name in ("events", "heard"))  # fmt: skip
    assert old["own"] == current["answers"] == {"vote": None, "sketch": [3, 4]}


@pytest.mark.parametrize("old", [False, True])
def test_room_restores_state_saved_with_deprecated_names(client, room, old):
    """Its questions are in deprecated words, by whichever route they come."""
    retained = {"kind": "restore", "paused": True, "door": False, "allowed": [], "removed": [],
            "ballots": [], "sketches": [{"number": 1, "key": "vg.sketch.tanh", "as": "bar",
                                         "most": [9], "state": "closed"}]}  # fmt: skip
    inside = room_service().rooms.find(room["code"])
    inside.is_forgotten = True
    assert tell(client, room, retained, old) == 204
    assert (inside.paused, inside.sketched[0].kind) == (True, "bar")


def test_room_rejects_malformed_deprecated_message(client, room):
    for message in ({"kind": ["where"]}, {"kind": "where", "left": "no"}, {"kind": None},
                    {"kind": "restore", "sketches": 3}, {"kind": "restore", "sketches": [[3]]},
                    {"kind": "sketch", "do": ["ask"]}):  # fmt: skip
        for caller in ("teacher", "student"):
            assert tell(client, room, message, False, caller) == 400, message
