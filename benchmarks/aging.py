"""Does a server get slower by what it has served? Two of them side by side, one after many visits.

A soak compares an hour's end with its beginning, and a machine that is lent out by the core may be
slower by then. Here the same presses go to both servers in turn, so that only their age differs.
Their calls are counted as well: does the older one do more, or the same with more effort?

While the one ages its memory, threads and open files are read: `drift` is how far a straight line
through them moves after the warm-up, as a share of the mean; `grows` those that do by more than 5
%; `left` what is there when all its visitors have been forgotten. With --abrupt they go without a
goodbye.

`python -m benchmarks.aging --visits 800`, `python -m benchmarks.aging --visits 10000 --abrupt`
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import signal
import statistics
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.classroom import BESIDE, MODELS, fresh, pressed
from benchmarks.soak import EVERY, FLAT, drift, rounded
from seqviz.content import catalog
from testing.protocol import ProtocolClient
from testing.server import ROOT, Server, serve

COUNTING = (ROOT / "benchmarks" / "counting.py").read_text("utf-8")
SEATS = 8  # visits at a time
ROUNDS, PRESSES, FIRST = 6, 9, 2  # of a comparison; the first presses of a visit do not count
COUNTED = (20_001, 20_002, 20_003)  # visits whose calls are counted, the same at every server
FORGOTTEN = 150.0  # seconds after which Streamlit keeps no session that has left
UNLIMITED = {"SEQVIZ_SESSION_SECONDS": "0", "SEQVIZ_SESSION_TOKENS": "0"}


async def visit(
    url: str, lesson: catalog.LessonRecord, number: int, presses: int, abrupt: bool = False
) -> list[float]:
    """One student, who moves the first slider to fresh values; seconds of each press."""
    draw = random.Random(f"{number}.{lesson.slug}")
    bench, slider = pressed(lesson)
    key = f"{lesson.code}.{bench}.{slider}"
    async with ProtocolClient(url, lesson.slug) as student:
        await student.open()
        await student.scroll(bench)
        if other := BESIDE.get(lesson.slug):
            await student.move(other, next(fresh(student, other, draw)))
        values = fresh(student, key, draw)
        waits = [await student.move(key, next(values)) for _ in range(presses)]
        if abrupt:
            student.socket.transport.abort()
        return waits


async def age(server: Server, visits: int, abrupt: bool) -> dict[str, list[float]]:
    """So many visits of four presses, each to a lesson drawn by lot; what the server held."""
    numbers = iter(range(visits))
    samples: dict[str, list[float]] = {"minutes": []}
    started = time.monotonic()

    async def seat() -> None:
        for number in numbers:
            lesson = random.Random(number).choice(catalog.LESSONS)
            await visit(server.url, lesson, number, 4, abrupt)

    async def watch() -> None:
        while True:
            await asyncio.sleep(EVERY)
            for name, value in (await asyncio.to_thread(held, server)).items():
                samples.setdefault(name, []).append(value)
            samples["minutes"].append((time.monotonic() - started) / 60)

    watching = asyncio.create_task(watch())
    await asyncio.gather(*(seat() for _ in range(SEATS)))
    watching.cancel()
    return samples


def held(server: Server) -> dict[str, float]:
    """What a server holds now."""
    names = ("open_files", "threads")
    counts = {name: server.counter(f"seqviz_{name}") for name in names}
    return {"megabytes": round(server.megabytes(), 1), **counts}


@dataclass
class Aged:
    """A server, and what the presses at it took. waits: seconds of each; cpu: seconds in all."""

    server: Server
    count: Path
    waits: list[float] = field(default_factory=list)
    cpu: float = 0.0

    def press(self, lesson: catalog.LessonRecord, number: int) -> None:
        """One visit."""
        before = self.server.cpu_seconds()
        self.waits += asyncio.run(visit(self.server.url, lesson, number, PRESSES))[FIRST:]
        self.cpu += self.server.cpu_seconds() - before

    def calls(self, lesson: catalog.LessonRecord) -> int:
        """Of a visit; the least of three, as a session may be let go in one."""
        return min(self._calls(lesson, number) for number in COUNTED)

    def _calls(self, lesson: catalog.LessonRecord, number: int) -> int:
        self.count.unlink(missing_ok=True)
        self.server.process.send_signal(signal.SIGUSR1)
        asyncio.run(visit(self.server.url, lesson, number, PRESSES))
        self.server.process.send_signal(signal.SIGUSR2)
        end = time.monotonic() + 10
        while not self.count.exists() and time.monotonic() < end:
            time.sleep(0.05)
        return int(self.count.read_text("ascii"))


def compare(servers: dict[str, Aged], lesson: catalog.LessonRecord) -> dict[str, dict[str, float]]:
    """Visits to one lesson at all servers in turn: what a press takes, in milliseconds."""
    for server in servers.values():
        server.waits, server.cpu = [], 0.0
    for turn in range(ROUNDS):
        for index, name in enumerate(sorted(servers, reverse=bool(turn % 2))):
            servers[name].press(lesson, 10_000 + 2 * turn + index)  # values that neither has had
    return {
        name: {
            "wait_ms": round(1e3 * statistics.median(server.waits), 1),
            "cpu_ms": round(1e3 * server.cpu / (ROUNDS * PRESSES), 1),
            "calls": server.calls(lesson),
        }
        for name, server in servers.items()
    }


def begin(stack: ExitStack, folder: Path, name: str) -> Aged:
    """A server that counts its calls when it is told to."""
    count = folder / name
    environment = {**MODELS, **UNLIMITED, "SEQVIZ_COUNT": str(count)}
    server = stack.enter_context(serve(environment=environment, before=COUNTING))
    return Aged(server, count)


def main() -> None:
    parser = argparse.ArgumentParser(description="A fresh server beside one after many visits.")
    parser.add_argument("--visits", type=int, default=800)
    parser.add_argument("--abrupt", action="store_true", help="visitors go without a goodbye")
    request = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        servers = {name: begin(stack, folder, name) for name in ("aged", "fresh")}
        aged = servers["aged"].server
        start = held(aged)
        samples = asyncio.run(age(aged, request.visits, request.abrupt))
        minutes = samples.pop("minutes")
        drifts = {name: rounded(drift(minutes, sample), 4) for name, sample in samples.items()}
        time.sleep(FORGOTTEN)
        lasting = {
            "start": start,
            "most": {name: max(sample) for name, sample in samples.items()},
            "left": held(aged),
            "drift": drifts,
            "grows": sorted(
                name for name, drift in drifts.items() if drift is not None and drift > FLAT
            ),
        }
        print(lasting)
        for lesson in catalog.LESSONS:  # the first visit loads what all need
            asyncio.run(visit(servers["fresh"].server.url, lesson, -1, 1))
        result = {lesson.slug: compare(servers, lesson) for lesson in catalog.LESSONS}
        memory = {name: round(server.server.megabytes()) for name, server in servers.items()}
    for slug, both in result.items():
        print(f"{slug:20}" + "".join(f"  {name} {both[name]}" for name in both))
    line = {"name": "aging", "visits": request.visits, "abrupt": request.abrupt, "held": lasting,
            "lessons": result, "rss_mb": memory}  # fmt: skip
    for name in ("wait_ms", "cpu_ms", "calls"):
        ratios = [both["aged"][name] / both["fresh"][name] - 1 for both in result.values()]
        line[f"more_{name.removesuffix('_ms')}"] = round(statistics.mean(ratios), 4)
        print(f"{name}: {100 * statistics.mean(ratios):+.1f}% in the mean")
    print(json.dumps(line))


if __name__ == "__main__":
    main()
