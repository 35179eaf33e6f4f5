"""Load test of a class in a room while a visitor attacks from the class's own address.

The rows belong to `benchmarks.hostile`. Each has its own server. A teacher and 20 students, each
with its own device, are in a room; a question is asked every 2.5 seconds, and each student answers
after a random delay. Once per second the teacher moves a figure that all of them show. Before each
question, one student and the teacher reload their pages. The counts are those that the teacher's
page receives when the question is revealed. First there is no attack (the baseline), then one with
1, 10 and 100 connections for some seconds each, all from the address of the class. The row has the
worst of the three for each name, `each` has all:

* `lost`: votes that were sent and are missing from the count, rejected ones included;
* `p95_ms`: time until a vote is answered; `place_p95_ms`: from the teacher's move until a student's
  page has received it with its picture;
* `errors`: of the class: rejected or failed messages, pages and streams;
* `control_p95_ms`: round trip of a line to a small separate process, which is not attacked: that
  part of a vote's time is due to other load on the machine;
* `log_lines`: number of lines that the server logged; `memory_before`, `memory_after`: MB of the
  server; `load`: of the machine, which runs server, class and attacker on two cores.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import psutil

from benchmarks.classroom import FAILURES, MODELS, collector_paused, pressed
from benchmarks.hostile import attacks, room_attacks
from benchmarks.hostile.attacks import Attacker, or_endless
from benchmarks.hostile.room_attacks import RoomAttack, Target, Visitor
from benchmarks.report import Report, milliseconds
from benchmarks.room import LESSON, SEAT, TEACHER, events
from seqviz import lessons
from seqviz.classroom.room import QUESTIONS
from seqviz.content import catalog
from seqviz.lessons.framework.controls import Slider, controls, encoded
from testing.cluster import NO_RAY, Cluster, cluster
from testing.server import HOST, Server, serve

STUDENTS = 20
CONNECTIONS = (1, 10, 100)
EVERY, THINK = 2.5, 2.0  # seconds between two questions; in which the class answers one
MOVES = 1.0  # seconds between two moves of the teacher
LEAD = 2.0  # seconds of attack before the class is measured
PATIENCE = 10.0  # timeout of a message, and of its arrival at a page, in seconds
STARTS = 120.0  # timeout of a server start, and of its connection to a cluster, in seconds
GOAL_MS = 250.0
OPTIONS = 4
ASK = {"kind": "ask", "key": "vg.predict.order", "options": OPTIONS}

CONTROL = """
import asyncio
async def answer(reader, writer):
    while line := await reader.readline():
        writer.write(line)
async def main():
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""


@dataclass
class Found:
    """Observations of a class.

    Attributes:
        votes: seconds until each vote was answered.
        places: seconds until each move of the teacher was received.
        control: seconds of each round trip to the control process.
        refused: number of lost votes.
    """

    votes: list[float] = field(default_factory=list)
    places: list[float] = field(default_factory=list)
    control: list[float] = field(default_factory=list)
    lost: int = 0
    refused: int = 0
    errors: list[str] = field(default_factory=list)

    def figures(self) -> dict[str, float]:
        """Return the values of the table."""
        return {
            "lost": self.lost,
            "refused": self.refused,
            "votes": len(self.votes),
            "p95_ms": milliseconds(self.votes, 95),
            "place_p95_ms": milliseconds(self.places, 95),
            "control_p95_ms": milliseconds(self.control, 95),
            "errors": len(self.errors),
        }


class Page:
    """A page in a room, a student's or the teacher's: it sends messages and receives snapshots.

    Attributes:
        proof: header that authenticates it.
        told: last snapshot of the room.
        moved: time when each value of the teacher's figure arrived.
    """

    def __init__(self, url: str, path: str, proof: tuple[str, str], result: Found):
        self.visitor, self.path, self.proof, self.found = Visitor(url), path, proof, result
        self.told: dict[str, Any] = {}
        self.moved: dict[str, float] = {}
        self._changed = asyncio.Event()
        self._listening: asyncio.Task[None] | None = None

    async def say(self, words: Mapping[str, Any]) -> bool:
        """Send a message; return True if it was accepted."""
        return await self._ask("messages", words)

    async def load(self) -> None:
        """Reload the page: return to the seat and open a new stream."""
        if self._listening:
            self._listening.cancel()
        secret = {"seat": self.proof[1]} if self.proof[0] == SEAT else {}
        await self._ask("seat" if secret else "teacher", secret)
        self._listening = asyncio.create_task(self._listen())

    async def until(self, ready: Callable[[dict[str, Any]], bool]) -> bool:
        """Wait for a condition of the snapshot; return True if it was met in time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                while not (self.told and ready(self.told)):
                    await self._changed.wait()
                return True
        return False

    async def sees(self, value: str) -> bool:
        """Wait for a value of the teacher; return True if it arrived in time."""
        return await self.until(lambda _: value in self.moved)

    def close(self) -> None:
        """Close the stream."""
        if self._listening:
            self._listening.cancel()
        self.visitor.close()

    async def _ask(self, what: str, words: Mapping[str, Any]) -> bool:
        try:
            async with asyncio.timeout(PATIENCE):
                request = self.visitor.ask("POST", f"{self.path}/{what}", words, self.proof)
                status, answer = await request
        except FAILURES as error:
            self.found.errors.append(f"{what}: {type(error).__name__}")
            return False
        if status >= 300:
            self.found.errors.append(f"{what} {words.get('kind', '')}: {status} {answer!r}")
        return status < 300

    async def _listen(self) -> None:
        while True:
            try:
                await self._hear()
                self.found.errors.append("the line has ended")
            except FAILURES as error:
                self.found.errors.append(f"the line: {type(error).__name__}")
            await asyncio.sleep(1.0)  # as a page does

    async def _hear(self) -> None:
        proofs = [": ".join(self.proof)]
        if self.visitor.cookie:
            proofs.append(f"Cookie: {self.visitor.cookie}")
        async for query, data in events(self.visitor.url, self.path, *proofs):
            if not query:
                self._hears(json.loads(data))

    def _hears(self, payload: dict[str, Any]) -> None:
        self.told = payload
        for value in payload.get("place", {}).get("values", {}).values():
            self.moved.setdefault(value, time.perf_counter())
        self._changed.set()
        self._changed = asyncio.Event()


class Classroom:
    """A teacher and students in a room; `async with Classroom(url) as classroom`.

    Attributes:
        control: port of the process that echoes lines.
    """

    def __init__(self, url: str, control: int = 0):
        self.url, self.control, self.found = url, control, Found()
        self.code = ""
        self.students: list[Page] = []
        self._draw = random.Random(0)
        bench, name = pressed(catalog.lesson(LESSON))
        self._place = {"kind": "navigate", "lesson": LESSON, "bench": bench}
        declared = getattr(lessons, LESSON).lesson.benches[bench]
        slider = dict(controls(declared.declaration))[name]
        assert isinstance(slider, Slider)
        self._ends, self._key = (slider.low, slider.high), f"{declared.prefix}.{name}"

    async def __aenter__(self) -> Classroom:
        visitor = Visitor(self.url)
        await visitor.arrive()
        _, answer = await visitor.ask("POST", "/room", {})
        opened = json.loads(answer)
        self.code, path = opened["code"], f"/room/{opened['code']}"
        self.teacher = Page(self.url, path, (TEACHER, opened["token"]), self.found)
        self.teacher.visitor = visitor
        await self.teacher.load()
        await self.teacher.say({**self._place, "values": {}})
        where = f"{LESSON}/{self._place['bench']}"
        stands = {"kind": "presence", "bench": where, "detached": False, "goals": [],
                  "view": ["en", False, False]}  # fmt: skip
        for _ in range(STUDENTS):
            visitor = Visitor(self.url)
            await visitor.arrive()
            _, answer = await visitor.ask("POST", f"{path}/seat", {})
            page = Page(self.url, path, (SEAT, json.loads(answer)["seat"]), self.found)
            page.visitor = visitor
            await page.load()
            await page.until(bool)
            await page.say(stands)
            self.students.append(page)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        for page in (self.teacher, *self.students):
            page.close()

    async def attend(self, seconds: float) -> Found:
        """Hold a lesson of this duration; return the observations."""
        result = self.found = Found()
        for page in (self.teacher, *self.students):
            page.found = result
        with collector_paused():  # a garbage collection could take a second itself
            end = asyncio.get_running_loop().time() + seconds
            await asyncio.gather(self._vote(end), self._move(end), self._look_at_control(end))
        return result

    async def _vote(self, end: float) -> None:
        """Ask one question after another."""
        for turn in itertools.count():
            if (began := asyncio.get_running_loop().time()) + EVERY > end:
                break
            await asyncio.gather(self.teacher.load(), self.students[turn % STUDENTS].load())
            last = (self.teacher.told.get("ballot") or {}).get("number", 0)
            if await self.teacher.say(ASK):
                await self._answered(last)
            await asyncio.sleep(began + EVERY - asyncio.get_running_loop().time())

    async def _answered(self, last: int) -> None:
        """Let all students answer the next question; then reveal its count."""

        def is_put(payload: Mapping[str, Any]) -> bool:
            return bool(payload.get("ballot")) and payload["ballot"]["number"] > last

        async def answer(page: Page) -> int:
            option = self._draw.randrange(OPTIONS)
            in_time = await page.until(is_put)
            await asyncio.sleep(self._draw.random() * THINK)
            number = page.told["ballot"]["number"] if in_time else last + 1
            vote = {"kind": "vote", "number": number, "round": 1, "option": option}
            started = time.perf_counter()
            is_heard = await page.say(vote)
            self.found.refused += not is_heard  # after the wait, since others count meanwhile
            self.found.votes.append(time.perf_counter() - started)
            return option

        sent = Counter(await asyncio.gather(*map(answer, self.students)))
        await self.teacher.say({"kind": "reveal"})
        revealed = await self.teacher.until(
            lambda payload: is_put(payload) and payload["ballot"]["state"] == "revealed"
        )
        counts = self.teacher.told["ballot"]["counts"][-1] if revealed else []
        self.found.lost += (sent - Counter(dict(enumerate(counts)))).total()

    async def _move(self, end: float) -> None:
        """Move the figure that all pages show."""
        while (began := asyncio.get_running_loop().time()) + MOVES < end:
            value = encoded(round(self._draw.uniform(*self._ends), 4))
            started = time.perf_counter()
            await self.teacher.say({**self._place, "values": {self._key: value}})
            observed = await asyncio.gather(*(page.sees(value) for page in self.students))
            self.found.errors += ["a place was not told"] * observed.count(False)
            late = started + PATIENCE
            self.found.places += [page.moved.get(value, late) - started for page in self.students]
            for page in self.students:
                page.moved.clear()
            await asyncio.sleep(began + MOVES - asyncio.get_running_loop().time())

    async def _look_at_control(self, end: float) -> None:
        """Time the control process as often as votes."""
        if not self.control:
            return
        reader, writer = await asyncio.open_connection(HOST, self.control)
        while asyncio.get_running_loop().time() < end:
            started = time.perf_counter()
            writer.write(b"here\n")
            await reader.readline()
            self.found.control.append(time.perf_counter() - started)
            await asyncio.sleep(EVERY / STUDENTS)
        writer.close()


@dataclass(frozen=True)
class RoomRow:
    """An attack on a room.

    Attributes:
        full: True where the attacker first creates a room with all its seats.
        questions: number of questions that all of these seats have drawn.
        cluster: True where the server uses a cluster, which stops responding.
    """

    attack: RoomAttack
    full: bool = False
    questions: int = 0
    cluster: bool = False


ROWS = {
    "room_codes": RoomRow(room_attacks.guess_codes),
    "room_seats": RoomRow(room_attacks.take_seats),
    "room_rooms": RoomRow(room_attacks.open_rooms),
    "room_left": RoomRow(room_attacks.ask_what_is_left, full=True, questions=QUESTIONS),
    "room_notebook": RoomRow(room_attacks.ask_for_notebooks, full=True, questions=QUESTIONS),
    "room_cut": RoomRow(room_attacks.cut_bodies, full=True),
    "room_questions": RoomRow(room_attacks.put_questions, full=True),
    "embed_class": RoomRow(room_attacks.open_course),
    "big_frames": RoomRow(room_attacks.send_big_frames),
    "silent_cluster": RoomRow(room_attacks.read_texts, cluster=True),
}


def measure(name: str, pool: ProcessPoolExecutor, seconds: float) -> dict[str, Any]:
    """Measure one row at a separate server."""
    row = ROWS[name]
    if row.cluster and NO_RAY:
        return {"absent": NO_RAY, "goal_ms": GOAL_MS, "met": False}
    with ExitStack() as stack:
        there = stack.enter_context(cluster(2)) if row.cluster else None
        environment = dict(MODELS)
        if there is not None:
            there.deploy("minilm", "--most", "1", "--processors", "0.5")
            environment |= there.environment
            environment |= {"SEQVIZ_ENGINE": "ray", "SEQVIZ_RAY_ADDRESS": there.address}
        server = stack.enter_context(serve(environment=environment, patience=STARTS))
        each = asyncio.run(_stages(row, server, pool, seconds, there))
    return worst(each)


async def _stages(
    row: RoomRow, server: Server, pool: ProcessPoolExecutor, seconds: float, cluster: Cluster | None
) -> dict[str, dict[str, Any]]:
    """Return the figures of one class by the attacker's connections; "0" is the baseline."""
    result = {}
    with _control() as control:
        async with Classroom(server.url, control) as classroom:
            await classroom.attend(2 * EVERY)  # warm-up: the server loads modules lazily
            at = Target(classroom.code)
            if row.full:
                at = await room_attacks.fill(server.url, classroom.code, row.questions)
            for connections in (0, *CONNECTIONS):
                await asyncio.to_thread(server.until_idle)
                with _silenced(server, cluster if connections else None):
                    lasts = seconds if connections else seconds / 2
                    result[f"{connections}"] = await _stage(
                        row, server, pool, lasts, classroom, at, connections
                    )
    return result


async def _stage(
    row: RoomRow, server: Server, pool: ProcessPoolExecutor, seconds: float,
    classroom: Classroom, at: Target, connections: int,
) -> dict[str, Any]:  # fmt: skip
    """Hold a lesson during an attack with this number of connections."""
    before, lines = server.megabytes(), _lines(server)
    attacking = None
    if connections:
        attacker = Attacker(server.url, [""], "fresh", seconds + LEAD)
        attacking = asyncio.get_running_loop().run_in_executor(
            pool, begin, row.attack, attacker, at, connections
        )
        await asyncio.sleep(LEAD)
    result = await classroom.attend(seconds)
    did = await attacking if attacking else {}
    for error, count in Counter(result.errors).most_common(3):
        print(f"  {connections} connections: {count} x {error}")
    return result.figures() | {
        "log_lines": _lines(server) - lines,
        "memory_before": round(before),
        "memory_after": round(server.megabytes()),
        "load": round(os.getloadavg()[0], 1),
        "did": did,
    }


def begin(
    attack: RoomAttack, attacker: Attacker, at: Target, connections: int
) -> Mapping[str, int]:
    """Run an attack in the attacker's process; return its outcomes."""
    return attacks.begin(lambda item: attack(item, at, connections), attacker)


@contextmanager
def _control() -> Iterator[int]:
    """Start a process that echoes lines; yield its port."""
    with subprocess.Popen([sys.executable, "-c", CONTROL], stdout=subprocess.PIPE) as process:
        assert process.stdout
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


def _lines(server: Server) -> int:
    return server.log.read_bytes().count(b"\n")


@contextmanager
def _silenced(server: Server, cluster: Cluster | None) -> Iterator[None]:
    """Make the cluster accept requests without answering within the context."""
    if cluster is None:
        yield
        return
    last = time.monotonic() + STARTS
    while not server.counter("seqviz_engine", state="connected") and time.monotonic() < last:
        time.sleep(0.5)
    if not (replicas := cluster.workers("ServeReplica")):
        raise RuntimeError("The cluster has no replica that could fall silent.")
    for replica in replicas:
        replica.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        for replica in replicas:
            with suppress(psutil.NoSuchProcess):
                replica.send_signal(signal.SIGCONT)


WORST = ("p95_ms", "place_p95_ms", "control_p95_ms", "lost", "refused", "errors", "log_lines",
         "memory_after", "load")  # fmt: skip
COLUMNS = ("baseline_p95_ms", *WORST, "votes", "memory_before", "met")


def worst(each: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the worst value of each name under attack; a class without a vote is the worst."""
    attacked = [result for connections, result in each.items() if connections != "0"]
    worst = {name: max((item[name] for item in attacked), key=or_endless) for name in WORST}
    return {
        "baseline_p95_ms": each["0"]["p95_ms"],
        "baseline_place_p95_ms": each["0"]["place_p95_ms"],
        **worst,
        "votes": sum(item["votes"] for item in attacked),
        "memory_before": attacked[0]["memory_before"],
        "goal_ms": GOAL_MS,
        "met": not worst["lost"] and worst["p95_ms"] <= GOAL_MS,
        "each": each,
    }


def print_row(report: Report, name: str, result: Mapping[str, Any]) -> None:
    """Print a line of the table, and below it what the attacker did."""
    if "absent" in result:
        print(f"{name}: {result['absent']}")
        return
    report.row(name, **{key: value for key, value in result.items() if key in COLUMNS})
    for connections, item in result["each"].items():
        did = ", ".join(f"{what} {count}" for what, count in item["did"].items())
        print(f"  {connections}: {item['p95_ms']} ms (control {item['control_p95_ms']}); {did}")
