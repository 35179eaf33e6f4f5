"""Attacks on rooms (`benchmarks.hostile.rooms`): one function each.

All come from the class's own address. Each connection has its own device, and requests a new one
after a rejection, as far as the server issues any.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any
from urllib.parse import urlencode, urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg

from benchmarks.classroom import SEED
from benchmarks.hostile.attacks import LETTERS, TEXTS, Attacker
from benchmarks.room import OURS, SEAT, TEACHER, line
from seqviz import lessons
from seqviz.classroom import codes
from seqviz.classroom.drawn_predictions import LARGEST, MARKS
from seqviz.classroom.room import SEATS
from seqviz.classroom.rooms import LETTERS as CODE_LETTERS
from seqviz.lessons.framework import controls

PATIENCE = 30.0  # seconds
GUESS_SECONDS = 1.0  # timeout after which a guesser disconnects and guesses again
SLIPS = 20  # mistyped codes per valid one
FILLING = 16  # number of connections that fill a room
SKETCH = {"kind": "sketch", "action": "ask", "key": "vg.predict.order", "type": "curve",
          "most": [LARGEST] * MARKS}  # fmt: skip
ASK = {"kind": "ask", "key": "vg.predict.order", "options": 8}
# Content of a course page: three benches, the same or different ones for each student.
FRAMES = (("ar_fitting", "process"), ("gates", "force"), ("vanishing_gradients", "pairs"))
STUDENTS = 30  # number of students who open that page at once
# Bytes of an oversized frame, of one within the limit, and of a part that is sent at once.
BIG, READ, CHUNK = 31_000_000, 3_900_000, 65_536
HANDSHAKE = (
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: streamlit\r\n"
)


class Visitor:
    """A browser as the routes of rooms see it: one device, one persistent connection."""

    def __init__(self, url: str):
        self.url, self.cookie = url, ""
        self._place = urlsplit(url)
        self._line: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def arrive(self) -> None:
        """Request a page as a new device and store its cookie; none if there are too many."""
        self.close()
        self.cookie = ""
        reader, writer, head = await line(
            self.url, "GET / HTTP/1.1\r\nAccept: text/html\r\nConnection: close\r\n\r\n"
        )
        await reader.read()
        writer.close()
        if result := re.search(rb"^set-cookie: *([^;\r\n]+)", head, re.I | re.M):
            self.cookie = result[1].decode()

    async def ask(
        self, method: str, path: str, words: object = None, proof: tuple[str, str] = ("", "")
    ) -> tuple[int, bytes]:
        """Return status and body of a response.

        proof: the header that authenticates the request.
        """
        body = b"" if words is None else json.dumps(words).encode()
        headers = {"Host": self._place.netloc, OURS: "1", "Content-Length": str(len(body)),
                   "Cookie": self.cookie, proof[0]: proof[1]}  # fmt: skip
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items() if value)
        request = f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode() + body
        retained, self._line = self._line, None
        async with asyncio.timeout(PATIENCE):
            if retained is not None:
                with suppress(OSError, asyncio.IncompleteReadError):  # it was closed while idle
                    return await self._asked(retained, request)
            position = self._place
            return await self._asked(
                await asyncio.open_connection(position.hostname, position.port), request
            )

    async def _asked(
        self, connection: tuple[asyncio.StreamReader, asyncio.StreamWriter], request: bytes
    ) -> tuple[int, bytes]:
        """Return status and body of a response."""
        reader, writer = connection
        try:
            writer.write(request)
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            size = re.search(r"content-length: (\d+)", head, re.I)
            answer = await reader.readexactly(int(size[1]) if size else 0)
            self._line = connection
        finally:
            if self._line is not connection:
                writer.close()
        return int(head.split()[1]), answer

    def close(self) -> None:
        """Close the persistent connection."""
        if self._line is not None:
            self._line[1].close()
            self._line = None


@dataclass(frozen=True)
class Target:
    """The attacker's knowledge of the class, and its own room.

    Attributes:
        code: code of the class's room.
        own: code of the attacker's room.
        token: teacher's token of that room.
        seats: secrets of its seats.
    """

    code: str
    own: str = ""
    token: str = ""
    seats: tuple[str, ...] = ()

    @property
    def teaches(self) -> tuple[str, str]:
        """Return the header that authenticates the teacher of the attacker's room."""
        return TEACHER, self.token


RoomAttack = Callable[[Attacker, Target, int], Awaitable[None]]


async def fill(url: str, code: str, questions: int) -> Target:
    """Create an attacker's room with all its seats, and questions that all of them have drawn."""
    host = Visitor(url)
    status, answer = await host.ask("POST", "/room", {})
    if status != 200:
        raise ConnectionRefusedError(f"a room: {status}")
    room = json.loads(answer)
    own, proof = room["code"], (TEACHER, room["token"])
    seats: list[str] = []
    visitors = [Visitor(url) for _ in range(FILLING)]

    async def sit(visitor: Visitor, _: int) -> None:
        status, answer = await visitor.ask("POST", f"/room/{own}/seat", {})
        if status != 200:
            raise ConnectionRefusedError(f"a seat: {status} {answer!r}")
        seats.append(json.loads(answer)["seat"])

    async def for_all_seats(does: Callable[[Visitor, int], Awaitable[None]]) -> None:
        work = iter(range(SEATS))

        async def share(visitor: Visitor) -> None:
            for seat in work:
                await does(visitor, seat)

        await asyncio.gather(*map(share, visitors))

    async def draw(number: int, visitor: Visitor, seat: int) -> None:
        words = {"kind": "sketch", "number": number, "marks": [seat] * MARKS}
        await visitor.ask("POST", f"/room/{own}/messages", words, (SEAT, seats[seat]))

    await for_all_seats(sit)
    for number in range(1, questions + 1):
        await host.ask("POST", f"/room/{own}/messages", SKETCH, proof)
        await for_all_seats(partial(draw, number))
    for item in (host, *visitors):
        item.close()
    return Target(code, own, room["token"], tuple(seats))


def on_connections(
    work: Callable[[Attacker, Target, Visitor], Awaitable[None]],
) -> RoomAttack:
    """Make an attack of an action, repeated on each connection with its own device."""

    @wraps(work)
    async def attack(attacker: Attacker, at: Target, connections: int) -> None:
        visitors = [Visitor(attacker.url) for _ in range(connections)]

        async def again(number: int) -> None:
            if not visitors[number].cookie:
                await visitors[number].arrive()
            await work(attacker, at, visitors[number])

        await attacker.together(connections, again)

    return attack


async def _note(
    attacker: Attacker, visitor: Visitor, awaitable: Awaitable[tuple[int, bytes]]
) -> bytes:
    """Count a response by its status; get a new device after a rejection for excess."""
    status, answer = await awaitable
    attacker.did[f"{status}"] += 1
    if status == 429:
        await visitor.arrive()
    return answer if status == 200 else b""


@on_connections
async def guess_codes(attacker: Attacker, at: Target, visitor: Visitor) -> None:
    """Try codes with a wrong letter, and valid codes without a room (guessing)."""
    for _ in range(SLIPS):
        position = attacker.draw.randrange(len(at.code))
        wrong = attacker.draw.choice([item for item in codes.ALPHABET if item != at.code[position]])
        slip = at.code[:position] + wrong + at.code[position + 1 :]
        await _note(attacker, visitor, visitor.ask("POST", f"/room/{slip}/seat", {}))
    guessed = visitor.ask("POST", f"/room/{codes.new(CODE_LETTERS)}/seat", {})
    async with asyncio.timeout(GUESS_SECONDS):
        await _note(attacker, visitor, guessed)


@asynccontextmanager
async def _listening(
    url: str, path: str, proof: tuple[str, str]
) -> AsyncIterator[Callable[[], dict[str, Any]]]:
    """Keep an event stream open and read it; yield a function that returns the last snapshot."""
    head = f"GET {path}/events HTTP/1.1\r\n{proof[0]}: {proof[1]}\r\n\r\n"
    reader, writer, _ = await line(url, head)
    last = b"{}"

    async def read() -> None:
        nonlocal last
        while text := await reader.readline():
            last = text[6:] if text.startswith(b"data: {") else last

    task = asyncio.create_task(read())
    try:
        yield lambda: dict(json.loads(last))
    finally:
        task.cancel()
        writer.close()


@on_connections
async def take_seats(attacker: Attacker, at: Target, visitor: Visitor) -> None:
    """Take seats of the class's room; leave each at once, return, and open its streams."""
    path = f"/room/{at.code}"
    answer = await _note(attacker, visitor, visitor.ask("POST", f"{path}/seat", {}))
    if answer:
        seat = json.loads(answer)["seat"]
        for _ in range(3):
            async with _listening(attacker.url, path, (SEAT, seat)):
                again = visitor.ask("POST", f"{path}/seat", {"seat": seat})
                await _note(attacker, visitor, again)


@on_connections
async def open_rooms(attacker: Attacker, at: Target, visitor: Visitor) -> None:
    """Open one room after another, with an event stream of the last."""
    answer = await _note(attacker, visitor, visitor.ask("POST", "/room", {}))
    if answer:
        room = json.loads(answer)
        async with _listening(attacker.url, f"/room/{room['code']}", (TEACHER, room["token"])):
            await asyncio.sleep(0.0)


async def _stir(attacker: Attacker, at: Target, visitor: Visitor) -> int:
    """Change the attacker's room to invalidate cached summaries; return a new number."""
    number = attacker.turn()
    words = {"kind": "presence", "bench": "gates/force", "detached": bool(number % 2), "goals": []}
    seat = at.seats[number % len(at.seats)]
    await visitor.ask("POST", f"/room/{at.own}/messages", words, (SEAT, seat))
    return number


@on_connections
async def ask_what_is_left(attacker: Attacker, at: Target, visitor: Visitor) -> None:
    """Request the summary of a full room, which differs each time."""
    await _stir(attacker, at, visitor)
    request = visitor.ask("GET", f"/room/{at.own}/summary", None, at.teaches)
    await _note(attacker, visitor, request)


@on_connections
async def ask_for_notebooks(attacker: Attacker, at: Target, visitor: Visitor) -> None:
    """Request the notebook of a full room, with links to another address each time."""
    number = await _stir(attacker, at, visitor)
    words = {"language": "en", "address": f"https://{number}.example/"}
    request = visitor.ask("POST", f"/room/{at.own}/notebook", words, at.teaches)
    await _note(attacker, visitor, request)


async def cut_bodies(attacker: Attacker, at: Target, connections: int) -> None:
    """Send requests and disconnect in the middle of the body."""
    paths = ("/room", f"/room/{at.code}/seat", f"/room/{at.own}/messages", "/embed/gates/force")
    position, proof = urlsplit(attacker.url), f"{SEAT}: {at.seats[0]}"

    async def once(number: int) -> None:
        for path in paths:
            _, writer = await asyncio.open_connection(position.hostname, position.port)
            writer.write(
                f"POST {path} HTTP/1.1\r\nHost: {position.netloc}\r\n{OURS}: 1\r\n{proof}\r\n"
                'Content-Type: application/json\r\nContent-Length: 900\r\n\r\n{"kind'.encode()
            )
            await writer.drain()
            writer.close()
            attacker.did["cut"] += 1

    await attacker.together(connections, once)


async def put_questions(attacker: Attacker, at: Target, connections: int) -> None:
    """Ask the largest questions in the attacker's room; all seats draw and vote at once.

    Each connection acts for a share of the seats in turn, and has a stream for one of them.
    """
    path = f"/room/{at.own}"

    async def teach(visitor: Visitor) -> None:
        for words in ({"kind": "reveal"}, {"kind": "sketch", "action": "reveal"}, SKETCH, ASK):
            status, _ = await visitor.ask("POST", f"{path}/messages", words, at.teaches)
            attacker.did[f"taught {status}"] += 1
        await visitor.ask("GET", f"{path}/drawings", None, at.teaches)

    async def answer(
        visitor: Visitor, own_text: str, seat: str, payload: Mapping[str, Any]
    ) -> None:
        sketch, vote = ((payload.get(kind) or {}).get("number", 0) for kind in ("sketch", "ballot"))
        for speaks, words in (
            (seat, {"kind": "sketch", "number": sketch, "marks": [LARGEST] * MARKS}),
            (own_text, {"kind": "vote", "number": vote, "round": 1, "option": 7}),
        ):
            status, _ = await visitor.ask("POST", f"{path}/messages", words, (SEAT, speaks))
            attacker.did[f"{words['kind']} {status}"] += 1

    async def again(number: int) -> None:
        visitor, own = Visitor(attacker.url), at.seats[number::connections]
        async with _listening(attacker.url, path, (SEAT, own[0])) as async_iterator:
            for seat in itertools.cycle(own):
                if not number:
                    await teach(visitor)
                await answer(visitor, own[0], seat, async_iterator())

    await attacker.together(connections, again)


def course_pages(seed: object) -> Iterator[tuple[str, str]]:
    """Yield embed URLs: for a class with equal pages, then for one with different pages."""
    draw = random.Random(f"{SEED}.{seed}")
    while True:
        for own in (False, True):
            for _ in range(STUDENTS):
                for slug, name in FRAMES:
                    query = urlencode(_settings(slug, name, draw) if own else {"lang": "en"})
                    yield f"/embed/{slug}/{name}?{query}", "own" if own else "equal"


def _settings(slug: str, name: str, draw: random.Random) -> dict[str, str]:
    """Return other slider positions of a bench, and another seed."""
    bench, result = getattr(lessons, slug).lesson.benches[name], {}
    for parameter, control in controls.controls(bench.declaration):
        match control:
            case controls.Seed():
                result[f"{bench.prefix}.{parameter}"] = str(draw.randrange(10_000))
            case controls.Slider(low=low, high=high, step=step, default=default):
                position = low + step * draw.randint(0, round((high - low) / step))
                result[f"{bench.prefix}.{parameter}"] = controls.encoded(type(default)(position))
    return result


async def open_course(attacker: Attacker, _: Target, connections: int) -> None:
    """Open the embeds of a course page; retry when told to wait, after the given time."""
    frames = course_pages(connections)

    async def once(_: int) -> None:
        visitor = Visitor(attacker.url)  # frames of another site's page store no cookies
        path, kind = next(frames)
        while (result := await visitor.ask("GET", path))[0] == 429:
            attacker.did["had to wait"] += 1
            await asyncio.sleep(5.0)  # the requested delay
        attacker.did[f"{kind} {result[0]}"] += 1
        visitor.close()

    await attacker.together(connections, once)


def _frame(payload: bytes) -> memoryview:
    """Return a websocket frame; its mask is zero, so that the payload is unchanged."""
    return memoryview(b"\x82\xff" + len(payload).to_bytes(8) + bytes(4) + payload)


async def send_big_frames(attacker: Attacker, _: Target, connections: int) -> None:
    """Send, in turn, an oversized invalid message and one text that is just within the limit."""
    back = BackMsg()
    back.rerun_script.widget_states.widgets.add(id="text", string_value="x" * READ)
    frames = [_frame(bytes(BIG)), _frame(back.SerializeToString())]

    async def once(number: int) -> None:
        visitor = Visitor(attacker.url)
        await visitor.arrive()
        cookie = f"Cookie: {visitor.cookie}\r\n" if visitor.cookie else ""
        head = f"GET /_stcore/stream HTTP/1.1\r\n{HANDSHAKE}{cookie}\r\n"
        _, writer, answer = await line(attacker.url, head)
        try:
            attacker.did[f"opened {answer.split()[1].decode()}"] += 1
            for frame in itertools.islice(itertools.cycle(frames), number % 2, number % 2 + 2):
                for start in range(0, len(frame), CHUNK):
                    writer.write(frame[start : start + CHUNK])
                    await writer.drain()
                attacker.did["frames"] += 1
        finally:
            writer.close()

    await attacker.together(connections, once)


async def read_texts(attacker: Attacker, _: Target, connections: int) -> None:
    """Request fresh texts for a model on the cluster; retry when told to wait."""
    slug, link, key = TEXTS[0]

    async def once(_: int) -> None:
        async with attacker.student(slug, link) as tab:
            await tab.open()
            await tab.scroll(key.split(".")[1])
            while not tab.warnings:
                text = f"{connections} {attacker.turn()} "
                text += attacker.draw.choice(LETTERS) * 16
                with suppress(KeyError):
                    await tab.move(key, text)
                attacker.did["texts"] += 1
                await asyncio.sleep(0.1)
            attacker.did["refused"] += 1

    await attacker.together(connections, once)
