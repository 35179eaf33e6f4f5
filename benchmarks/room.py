"""A class in a room: from a teacher's press to the last follower's picture.

    python -m benchmarks.room [--students 100] [--presses 20] [--dragging 10]

A real server, a teacher and so many students over their own protocols: each has opened the page,
has a seat and hears the room's stream. The teacher presses a slider of the lesson once a second and
says so; each student takes the picture that comes with it, or asks for one that does not, as
`bench/live.js` does, and has followed when it is unpacked. In the end the page of one asks
for each picture, and what the others have got has to be the same but for the clock in its badge.
Ten others move that slider themselves all the while, each to values of its own. Then the class
votes, twice. Prints how long the last student waited for each press, as median and 95th percentile,
how long one did, how long a vote took to be counted, what the room takes in memory (beyond the same
class without one), how many pictures came by themselves, how many of them were computed again when
the page asked, and the errors. Libraries are loaded before anybody comes, as in an image: a server
without `SEQVIZ_PRELOAD` loads 200 MB of them beside its first class, which is no room's.
"""

from __future__ import annotations

import asyncio
import base64
import gzip
import hashlib
import json
import random
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

from benchmarks.classroom import MODELS, fresh, pressed
from benchmarks.report import Report, milliseconds, options
from seqviz.content import catalog
from seqviz.lessons.framework.controls import encoded
from seqviz.ui.classroom.routes import OURS, SEAT, TEACHER
from testing.protocol import ProtocolClient
from testing.server import Server, serve

LESSON = catalog.SHOWN
EVERY = 1.0  # seconds between two presses
PATIENCE = 5.0
RESTED, EACH = 0.4, 0.05  # seconds, as in assets/static/classroom/room.js
LONGEST = 1_000_000  # bytes of a line of the room's stream
QUESTION = {"kind": "ask", "key": "vg.predict.order", "options": 3}


@dataclass
class Found:
    """Seconds: `last` and `each` of the presses, `votes`; what went wrong.

    recomputed: pictures whose clock is another one when they are asked for again.
    """

    last: list[float] = field(default_factory=list)
    each: list[float] = field(default_factory=list)
    votes: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    memory: float = 0.0
    pushed: int = 0
    recomputed: int = 0
    rests: int = 0


async def line(url: str, head: str, body: bytes = b"") -> tuple[Any, Any, bytes]:
    """Ask on a connection of its own: reader, writer, and the head of the answer."""
    position = urlsplit(url)
    reader, writer = await asyncio.open_connection(position.hostname, position.port, limit=LONGEST)
    lines = f"Host: {position.netloc}\r\n{OURS}: 1\r\nContent-Length: {len(body)}\r\n"
    writer.write(f"{head[:-2]}{lines}\r\n".encode() + body)
    return reader, writer, await reader.readuntil(b"\r\n\r\n")


async def said(url: str, path: str, words: Any, *headers: str) -> Any:
    """Say something; what is answered."""
    body = json.dumps(words).encode()
    extra = "".join(f"{item}\r\n" for item in (*headers, "Connection: close"))
    reader, writer, head = await line(url, f"POST {path} HTTP/1.1\r\n{extra}\r\n", body)
    answer = await reader.read()
    writer.close()
    if int(head.split()[1]) >= 400:
        raise ConnectionRefusedError(f"{path}: {head.split()[1].decode()} {answer!r}")
    return json.loads(answer) if answer else None


async def events(url: str, path: str, *headers: str) -> AsyncIterator[tuple[bytes, bytes]]:
    """Yield what a room's stream tells: a picture's query and body; with no query, the room."""
    extra = "".join(f"{item}\r\n" for item in headers)
    reader, writer, _ = await line(url, f"GET {path}/events HTTP/1.1\r\n{extra}\r\n")
    try:
        while text := await reader.readline():
            if text.endswith(b"event: picture\n"):
                query = await reader.readline()
                yield query[6:], (await reader.readline())[6:]
            elif text.startswith(b"data: "):
                yield b"", text[6:]
    finally:
        writer.close()


@dataclass(frozen=True)
class Digest:
    """What a picture says: all of it but its badge, and the badge, in which the clock is."""

    rest: bytes
    badge: str

    @classmethod
    def of(cls, body: bytes) -> Digest:
        """Of an answer of two lines."""
        head, _, figure = body.partition(b"\n")
        around = json.loads(head)
        badge = around.pop("badge")
        payload = json.dumps(around, sort_keys=True).encode()
        return cls(hashlib.sha256(payload + b"\n" + figure).digest(), badge)


@dataclass
class Follower:
    """A student who follows. arrived: when the picture of each value was there; got: it."""

    student: ProtocolClient
    code: str
    key: str
    seat: str = ""
    wanted: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    arrived: dict[str, float] = field(default_factory=dict)
    got: dict[str, Digest] = field(default_factory=dict)
    sent: tuple[str, bytes] | None = None  # the last picture that came by itself, and of what
    beats: int = 0

    @property
    def device(self) -> str:
        """Its cookie, as a header."""
        return "; ".join(f"Cookie: {k}={v}" for k, v in (self.student.cookies or {}).items())

    async def sit(self) -> None:
        """Take a seat."""
        result = await said(self.student.url, f"/room/{self.code}/seat", {}, self.device)
        self.seat = result["seat"]

    async def stand(self) -> None:
        """Say where the page is and how it looks, as `assets/static/classroom/room.js` does."""
        query = self.student.live(self.key)["query"]
        view = [query["lang"], "present" in query, "dark" in query]
        bench = f"{LESSON}/{self.key.split('.')[1]}"
        words = {"kind": "presence", "bench": bench, "detached": False, "goals": [], "view": view}
        seat = f"{SEAT}: {self.seat}"
        await said(self.student.url, f"/room/{self.code}/messages", words, seat, self.device)

    async def hear(self) -> None:
        """The room's stream: what the teacher shows, and its picture before it."""
        stream = events(self.student.url, f"/room/{self.code}", f"{SEAT}: {self.seat}")
        async for query, data in stream:
            if query:
                self.sent = urlencode(sorted(json.loads(query)["query"].items())), data
                continue
            self.beats += 1
            values = json.loads(data)["place"].get("values", {})
            if self.key in values:
                self.wanted.put_nowait(values[self.key])

    async def follow(self, result: Found) -> None:
        """Ask for the picture of the last value that was heard."""
        while True:
            value = await self.wanted.get()
            while not self.wanted.empty():
                value = self.wanted.get_nowait()
            if value in self.arrived:
                continue
            requested = {**self.student.live(self.key)["query"], self.key: value}
            if self.sent and self.sent[0] == urlencode(sorted(requested.items())):
                body = gzip.decompress(base64.b64decode(self.sent[1]))
                self.student.show(self.key, float(value), body)
                result.pushed += 1
            else:
                status = await self.student.picture(self.key, float(value))
                body = self.student.body
                if status != 200:
                    result.errors.append(f"picture: {status}")
            self.arrived[value] = time.perf_counter()
            self.got[value] = Digest.of(body)

    async def rest(self, result: Found, present: int, draw: random.Random) -> None:
        """Tell the page where the teacher's hand rests, when it does; spread as in `room.js`."""
        message = ""
        while True:
            value = next(reversed(self.arrived), "")
            await asyncio.sleep(
                RESTED + draw.random() * EACH * present if value != message else 0.05
            )
            if value == message or value != next(reversed(self.arrived), ""):
                continue
            message = value
            await self.student.move(self.key, float(value))
            result.rests += 1

    async def compare(self, others: list[Follower], result: Found) -> None:
        """What all have got is what this page asks for."""
        for value in {value for item in others for value in item.got}:
            await self.student.picture(self.key, float(value))
            own = Digest.of(self.student.body)
            theirs = [item.got[value] for item in others if value in item.got]
            wrong = sum(their.rest != own.rest for their in theirs)
            result.errors += [f"another picture at {value}"] * wrong
            result.recomputed += any(their.badge != own.badge for their in theirs)

    async def vote(self, result: Found, turn: int, option: int) -> None:
        """Vote on the room's first question; counted when it is answered."""
        started = time.perf_counter()
        words = {"kind": "vote", "number": 1, "round": turn, "option": option}
        try:
            seat = f"{SEAT}: {self.seat}"
            await said(self.student.url, f"/room/{self.code}/messages", words, seat, self.device)
            result.votes.append(time.perf_counter() - started)
        except (OSError, ConnectionRefusedError) as error:
            result.errors.append(str(error))


async def drag(student: ProtocolClient, key: str, values: Any, result: Found) -> None:
    """A hand that goes its own way, ten times a second."""
    while True:
        status = await student.picture(key, next(values), moving=True)
        if status not in (200, 204, 408):
            result.errors.append(f"drag: {status}")
        await asyncio.sleep(0.1)


async def attend(server: Server, students: int, presses: int, dragging: int, rests: bool) -> Found:
    """A whole class."""
    result = Found()
    lesson = catalog.lesson(LESSON)
    bench, name = pressed(lesson)
    key = f"{lesson.code}.{bench}.{name}"
    draw = random.Random(0)
    opened = await said(server.url, "/room", {})
    code, teacher = opened["code"], f"{TEACHER}: {opened['token']}"
    path = f"/room/{code}/messages"
    followers: list[Follower] = []
    tasks: list[asyncio.Task[None]] = []
    for _ in range(students):
        student = ProtocolClient(server.url, LESSON, cookies={})
        await student.__aenter__()
        await student.open()
        while f"{key}.slider" not in student.widgets:
            await student.scroll(bench)
        followers.append(Follower(student, code, key))
    before = server.megabytes()
    for follower in followers:
        await follower.sit()
        tasks += [
            asyncio.create_task(follower.hear()),
            asyncio.create_task(follower.follow(result)),
        ]
    values = fresh(followers[0].student, key, draw)
    await asyncio.sleep(1.0)  # all streams are open
    for follower in followers:
        await follower.stand()
    drags = [
        asyncio.create_task(
            drag(item.student, key, fresh(item.student, key, random.Random(k)), result)
        )
        for k, item in enumerate(followers[:dragging], 1)
    ]
    following = followers[dragging:]
    if rests:
        tasks += [asyncio.create_task(item.rest(result, students, draw)) for item in following]
    await asyncio.sleep(1.0)
    before_all = {"kind": "navigate", "lesson": LESSON, "bench": bench, "values": {}}
    await said(server.url, path, before_all, teacher)
    for _ in range(presses):
        value = encoded(next(values))
        anchor = {"kind": "navigate", "lesson": LESSON, "bench": bench, "values": {key: value}}
        started = time.perf_counter()
        await said(server.url, path, anchor, teacher)
        deadline = started + PATIENCE
        while time.perf_counter() < deadline and not all(value in f.arrived for f in following):
            await asyncio.sleep(0.005)
        waits = [item.arrived.get(value, deadline) - started for item in following]
        result.last.append(max(waits))
        result.each += waits
        await asyncio.sleep(max(0.0, started + EVERY - time.perf_counter()))
    for task in drags:
        task.cancel()
    await said(server.url, path, QUESTION, teacher)
    for turn in (1, 2):
        await asyncio.gather(*(item.vote(result, turn, draw.randrange(3)) for item in followers))
        await said(server.url, path, {"kind": "reopen" if turn == 1 else "reveal"}, teacher)
    result.memory = server.megabytes() - before
    for task in tasks:
        task.cancel()
    await following[0].compare(following, result)
    for follower in followers:
        result.errors += follower.student.errors
        with suppress(OSError):
            await follower.student.socket.close()
    return result


def main() -> None:
    given = options(
        __doc__,
        students=(100, ""),
        presses=(20, "of the teacher"),
        dragging=(10, "of the students"),
        rests=(False, "pages hear where the hand rests"),
    )
    with serve(environment=MODELS, patience=120.0) as server:
        result = asyncio.run(
            attend(server, given.students, given.presses, given.dragging, given.rests)
        )
    for error in result.errors[:5]:
        print(error)
    report = Report(
        "room",
        students=given.students,
        follow_p50_ms=milliseconds(result.last, 50),
        follow_p95_ms=milliseconds(result.last, 95),
        one_p50_ms=milliseconds(result.each, 50),
        vote_p95_ms=milliseconds(result.votes, 95),
        votes=len(result.votes),
        pushed=result.pushed,
        recomputed=result.recomputed,
        rests=result.rests,
        memory_mb=round(result.memory, 1),
        errors=len(result.errors),
    )
    report.finish()


if __name__ == "__main__":
    main()
