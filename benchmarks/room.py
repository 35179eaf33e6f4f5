"""Load test of a room: from a teacher's interaction to the last follower's figure.

    python -m benchmarks.room [--students 100] [--presses 20] [--dragging 10]

A real server, a teacher and many students with their own protocol clients: each has opened the
page, has a seat and receives the room's event stream. Once per second the teacher moves a slider of
the lesson and announces it. Each student takes the picture that is broadcast, or requests a missing
one, as `bench/live.js` does, and has followed when it is unpacked. At the end, the page of one
student requests each picture; those that the others received must be equal except for the clock in
the badge. Ten other students drag that slider all the while, each over different values. Then the
class votes, twice.

Prints the wait of the last student for each interaction (median and 95th percentile), the wait of
one student, the time until a vote is counted, the memory of the room (beyond the same class without
one), the number of broadcast pictures, how many of them were computed again when the page requested
them, and the errors. Libraries are loaded beforehand, as in an image: a server without
`SEQVIZ_PRELOAD` loads 200 MB of them during its first class, which the room does not cause.
"""

from __future__ import annotations

import asyncio
import base64
import gzip
import hashlib
import json
import random
import re
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
EVERY = 1.0  # seconds between two interactions
PATIENCE = 5.0
RESTED, EACH = 0.4, 0.05  # seconds, as in assets/static/classroom/room.js
LONGEST = 1_000_000  # maximum bytes of a line of the room's stream
QUESTION = {"kind": "ask", "key": "vg.predict.order", "options": 3}


@dataclass
class Found:
    """Results in seconds, and errors.

    Attributes:
        last: wait of the last student, per interaction.
        each: wait of every student.
        votes: time until a vote is counted.
        recomputed: pictures whose clock differs when they are requested again.
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
    """Send a request on a new connection; return reader, writer, and the head of the response."""
    position = urlsplit(url)
    reader, writer = await asyncio.open_connection(position.hostname, position.port, limit=LONGEST)
    lines = f"Host: {position.netloc}\r\n{OURS}: 1\r\nContent-Length: {len(body)}\r\n"
    writer.write(f"{head[:-2]}{lines}\r\n".encode() + body)
    return reader, writer, await reader.readuntil(b"\r\n\r\n")


async def said(url: str, path: str, words: Any, *headers: str) -> Any:
    """Send a message to the room and return the response."""
    body = json.dumps(words).encode()
    extra = "".join(f"{item}\r\n" for item in (*headers, "Connection: close"))
    reader, writer, head = await line(url, f"POST {path} HTTP/1.1\r\n{extra}\r\n", body)
    answer = await reader.read()
    writer.close()
    if int(head.split()[1]) >= 400:
        raise ConnectionRefusedError(f"{path}: {head.split()[1].decode()} {answer!r}")
    return json.loads(answer) if answer else None


async def events(url: str, path: str, *headers: str) -> AsyncIterator[tuple[bytes, bytes]]:
    """Yield the events of a room's stream: query and body of a picture; without query, the room."""
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


def _array_name(match: re.Match[bytes]) -> bytes:
    """Return the name of an array, as `plotting.figure` gives it."""
    return b"#" + hashlib.sha256(match[0]).hexdigest()[:16].encode()


@dataclass(frozen=True)
class Digest:
    """Content of a picture: everything but its badge, and the badge, which has the clock."""

    rest: bytes
    badge: str

    @classmethod
    def of(cls, body: bytes) -> Digest:
        """Return the digest of a response of two lines.

        A response names the arrays that its receiver has and sends the others; both forms have one
        digest.
        """
        head, _, figure = body.partition(b"\n")
        figure = re.sub(rb'(?<="bdata":")[^"#]+(?=")', _array_name, figure)
        around = json.loads(head)
        badge = around.pop("badge")
        payload = json.dumps(around, sort_keys=True).encode()
        return cls(hashlib.sha256(payload + b"\n" + figure).digest(), badge)


@dataclass
class Follower:
    """A student who follows the teacher.

    Attributes:
        arrived: time when the picture of each value arrived.
        got: the pictures.
    """

    student: ProtocolClient
    code: str
    key: str
    seat: str = ""
    wanted: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    arrived: dict[str, float] = field(default_factory=dict)
    got: dict[str, Digest] = field(default_factory=dict)
    sent: tuple[str, bytes] | None = None  # query and body of the last broadcast picture
    beats: int = 0

    @property
    def device(self) -> str:
        """Return its cookie as a header."""
        return "; ".join(f"Cookie: {k}={v}" for k, v in (self.student.cookies or {}).items())

    async def sit(self) -> None:
        """Take a seat."""
        result = await said(self.student.url, f"/room/{self.code}/seat", {}, self.device)
        self.seat = result["seat"]

    async def stand(self) -> None:
        """Report location and view of the page, as `assets/static/classroom/room.js` does."""
        query = self.student.live(self.key)["query"]
        view = [query["lang"], "present" in query, "dark" in query]
        bench = f"{LESSON}/{self.key.split('.')[1]}"
        words = {"kind": "presence", "bench": bench, "detached": False, "goals": [], "view": view}
        seat = f"{SEAT}: {self.seat}"
        await said(self.student.url, f"/room/{self.code}/messages", words, seat, self.device)

    async def hear(self) -> None:
        """Receive the room's stream: the teacher's location, preceded by its picture."""
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
        """Request the picture of the last announced value."""
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
        """Commit the teacher's value to the page once stable, with the delay of `room.js`."""
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
        """Check that the received pictures equal those that this page requests."""
        for value in {value for item in others for value in item.got}:
            await self.student.picture(self.key, float(value))
            own = Digest.of(self.student.body)
            theirs = [item.got[value] for item in others if value in item.got]
            wrong = sum(their.rest != own.rest for their in theirs)
            result.errors += [f"another picture at {value}"] * wrong
            result.recomputed += any(their.badge != own.badge for their in theirs)

    async def vote(self, result: Found, turn: int, option: int) -> None:
        """Vote on the room's first question; a response means that the vote is counted."""
        started = time.perf_counter()
        words = {"kind": "vote", "number": 1, "round": turn, "option": option}
        try:
            seat = f"{SEAT}: {self.seat}"
            await said(self.student.url, f"/room/{self.code}/messages", words, seat, self.device)
            result.votes.append(time.perf_counter() - started)
        except (OSError, ConnectionRefusedError) as error:
            result.errors.append(str(error))


async def drag(student: ProtocolClient, key: str, values: Any, result: Found) -> None:
    """Drag independently of the teacher, ten times per second."""
    while True:
        status = await student.picture(key, next(values), moving=True)
        if status not in (200, 204, 408):
            result.errors.append(f"drag: {status}")
        await asyncio.sleep(0.1)


async def attend(server: Server, students: int, presses: int, dragging: int, rests: bool) -> Found:
    """Run a whole class."""
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
        students=(100, "number of students"),
        presses=(20, "number of the teacher's interactions"),
        dragging=(10, "number of students who drag"),
        rests=(False, "commit the teacher's values to the followers' pages"),
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
