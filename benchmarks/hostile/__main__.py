"""Load test of a class while one visitor attacks the server.

Each row is one attack. Six ordinary students press the first slider of Gates at human pace, no
value twice, as a browser does (`benchmarks.classroom.press`): first without an attack, which is the
baseline of the row, then during it. The reported time is that until the figure; `page` is the time
that the page then takes for the committed value. Any failure for an ordinary student is an error. A
row with several attacks (permalinks of six lessons) runs them one after another and reports the
worst, with its name. After each, the benchmark waits until the server is idle (`calm_s`). The
server's memory is read before all attacks and a minute after the last.

The attacker is a separate process with a lower priority than server and students. It speaks the
protocol of a browser, from another address of this machine than the students and a new one for each
attack; `--addresses` is the number of its concurrent addresses, `--same-address` puts it behind the
students' router. Its tabs share the cookies of one device per address (`--cookies kept`), have one
device each (`fresh`), or none.

`events` also reports the server's processor time for one message of 368 kB and for one of a single
event (`cpu_ms`), `notebooks` the wait of a student for a CSV (`csv`), `trainings` the queue
position of an ordinary student's own training (`place`, two at most; -1: rejected), `origin` the
response time of `/_stcore/health` in a room whose DNS does not answer (`health`, a server of its
own).

Rows whose names begin with `room`, and four more, have a class in a room instead, see
`benchmarks.hostile.rooms`; their attacker always sits behind the class's router.

Classes of 300 and of 1,000 take long and run only if requested by `--only`. Students who must wait
for admission (`turned_away`) are not dropped.

Usage: `python -m benchmarks.hostile --only links exports "class 300" --seconds 20`.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import multiprocessing
import os
import random
import re
import tempfile
import time
import urllib.request
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks.classroom import (
    MODELS,
    TRAINER,
    Plan,
    Times,
    begin_training,
    collector_paused,
    fresh,
    noted,
    pressed,
    training_link,
    warm_up,
    work,
)
from benchmarks.classroom import attend as attend_class
from benchmarks.hostile import attacks, rooms
from benchmarks.hostile.attacks import (
    AGAIN,
    COSTLY,
    EVENTS_BYTES,
    Attack,
    Attacker,
    click,
    or_endless,
)
from benchmarks.report import Report, milliseconds, options
from seqviz.content import catalog
from testing.protocol import ProtocolClient
from testing.server import NO_DNS, Server, serve

GATES = catalog.lesson("gates")
BENCH, F = pressed(GATES)
SLIDER = f"{GATES.code}.{BENCH}.{F}"
STUDENTS, THINK = 6, 1.5  # number of ordinary students; mean seconds between interactions
PATIENCE = 120.0  # timeout of a server start, in seconds
AFTER = 60.0  # seconds from the last attack to the reading of memory
# (URL of the server, end of the class, record of errors) -> values of the row.
Beside = Callable[[str, float, Times], Awaitable[dict[str, float]]]


def turns(end: float) -> Iterator[None]:
    """Yield until the end of a class, by the clock of its event loop."""
    while asyncio.get_running_loop().time() < end:
        yield


async def downloads(url: str, end: float, times: Times) -> dict[str, float]:
    """Let a student request the CSV of a figure repeatedly."""
    waits = []
    async with ProtocolClient(url, GATES.slug, cookies={}) as student:
        await student.open()
        await student.scroll(BENCH)
        values = fresh(student, SLIDER, random.Random(end))
        for _ in turns(end):
            await student.move(SLIDER, next(values))
            await student.press("ga.force.export")
            started = time.perf_counter()
            if (status := await student.download("ga.force.csv")) != 200:
                times.errors.append(f"a CSV: {status}")
            waits.append(time.perf_counter() - started)
            await asyncio.sleep(THINK)
    return {"csv_p50_ms": milliseconds(waits, 50), "csv_p95_ms": milliseconds(waits, 95)}


async def health(url: str, end: float, times: Times) -> dict[str, float]:
    """Poll the health route like a proxy, which drops a server without a response."""
    waits = []
    for _ in turns(end):
        started = time.perf_counter()
        with await asyncio.to_thread(urllib.request.urlopen, f"{url}/_stcore/health"):
            waits.append(time.perf_counter() - started)
        await asyncio.sleep(AGAIN)
    return {"health_p50_ms": milliseconds(waits, 50), "health_p95_ms": milliseconds(waits, 95)}


async def own_training(url: str, end: float, times: Times) -> dict[str, float]:
    """Let an ordinary student start a training halfway, read its queue position, and cancel it."""
    await asyncio.sleep((end - asyncio.get_running_loop().time()) / 2)
    seed = random.Random(end).randrange(10_000)
    async with ProtocolClient(url, TRAINER, training_link(seed), cookies={}) as student:
        await begin_training(student)
        if not student.polls:
            return {"place": -1}
        position = re.search(r"place (\d+)", student.progress)
        await student.press("ar.networks.cancel")
    return {"place": int(position[1]) if position else 0}


def events_cost(url: str, server: Server) -> dict[str, float]:
    """Return an idle server's processor time for one message of many clicks, and of one click."""

    async def cost(size: int, first: int) -> float:
        async with ProtocolClient(url, "vanishing_gradients", cookies={}, patience=300) as tab:
            await tab.open()
            await tab.scroll("pairs")
            await click(tab, first, 0)
            before = server.cpu_seconds()
            for turn in (1, 2, 3):
                await click(tab, first + turn, size)
            return round(1e3 * (server.cpu_seconds() - before) / 3, 1)

    item, many = asyncio.run(cost(0, 0)), asyncio.run(cost(EVENTS_BYTES, 10))
    return {"baseline_cpu_ms": item, "cpu_ms": round(many - item, 1)}


@dataclass(frozen=True)
class Row:
    """A row: attacks by name, and the goal `goal_ms` for the figure `goal_of`.

    Attributes:
        above: True where the goal is relative to the baseline.
        lead: seconds of attack before the class is measured.
        beside: further measurements during the class.
        alone: measurement of the server without a class.
    """

    attacks: Mapping[str, Attack]
    goal_ms: float = 250.0
    goal_of: str = "p95_ms"
    above: bool = False
    lead: float = 2.0
    beside: Beside | None = None
    alone: Callable[[str, Server], dict[str, float]] | None = None


def _every_lesson(tabs: int, rerun: bool = False) -> Row:
    return Row({slug: partial(attacks.links, slug=slug, tabs=tabs, rerun=rerun) for slug in COSTLY})


ROWS = {
    "links 1": _every_lesson(1),
    "links 10": _every_lesson(10),
    "links 10 anew": _every_lesson(10, rerun=True),
    "exports": Row({"exports": attacks.exports}),
    "notebooks": Row({"notebooks": attacks.notebooks}, 1000, "csv_p95_ms", beside=downloads),
    "origin": Row({"origin": attacks.origins}, 50, "health_p95_ms", above=True, beside=health),
    "events": Row({"events": attacks.events}, 100, "cpu_ms", alone=events_cost),
    "trainings": Row({"trainings": attacks.trainings}, lead=15.0, beside=own_training),
    "texts": Row({"texts": attacks.texts}),
    "embeds": Row({"embeds": attacks.embeds}),
    "sockets": Row({"sockets": attacks.sockets}),
    "unread": Row({"unread": attacks.unread}),
}
CLASSES = {"class 150": 150, "class 300": 300, "class 1000": 1000}
CLASS_GOAL, LARGE_GOAL = 150.0, 2000.0
LONG = ("class 300", "class 1000")


class Bench:
    """Test bench of one server: an attacking process, addresses, ordinary students."""

    def __init__(self, server: Server, pool: ProcessPoolExecutor, namespace: argparse.Namespace):
        self.server, self._pool, self._asked = server, pool, namespace
        self._room = itertools.count(1)

    def attacker(self, lead: float) -> Attacker:
        """Return an attacker with new addresses."""
        room, request = next(self._room), self._asked
        count = range(1, 2 if request.same_address else request.addresses + 1)
        results = ["" if request.same_address else f"127.0.{room}.{n}" for n in count]
        return Attacker(self.server.url, results, request.cookies, request.seconds + lead)

    async def pressed(self, row: Row, attack: Attack | None = None) -> dict[str, Any]:
        """Run an ordinary class and further measurements, with or without an attack."""
        times, loop = Times(), asyncio.get_running_loop()
        seconds = self._asked.seconds
        result: dict[str, Any] = {}
        plan = Plan(STUDENTS, THINK, 0.0, seconds, live=True)
        async with AsyncExitStack() as room:
            students = [
                await room.enter_async_context(
                    ProtocolClient(self.server.url, GATES.slug, cookies={})
                )
                for _ in range(STUDENTS)
            ]
            for student in students:
                await student.open()
                await student.scroll(BENCH)
            attacking = None
            if attack is not None:
                attacking = loop.run_in_executor(
                    self._pool, attacks.begin, attack, self.attacker(row.lead)
                )
                await asyncio.sleep(row.lead)
            end = loop.time() + seconds

            async def sit(student: ProtocolClient) -> None:
                with noted(student, times):
                    await work(student, GATES, random.Random(), plan, end, times)

            async def see() -> None:
                with noted(students[0], times):
                    result.update(
                        await row.beside(self.server.url, end, times) if row.beside else {}
                    )

            with collector_paused():
                await asyncio.gather(see(), *map(sit, students))
            if attacking is not None:
                result["did"] = await attacking
        for error in sorted(set(times.errors))[:3]:
            print(f"  {error}")
        return result | figures(times)

    def row(self, row: Row) -> dict[str, Any]:
        """Measure one row of the table."""
        before = asyncio.run(self.pressed(row))
        attacked = {}
        for name, attack in row.attacks.items():
            attacked[name] = asyncio.run(self.pressed(row, attack))
            attacked[name]["calm_s"] = self.server.until_idle()
        # An attack under which no student got a figure is the worst; it has no percentile.
        worst = max(attacked, key=lambda name: or_endless(attacked[name]["p95_ms"]))
        result = {f"baseline_{name}": value for name, value in before.items()} | attacked[worst]
        result["errors"] = sum(item["errors"] for item in attacked.values())
        if len(attacked) > 1:
            result |= {"worst": worst, "each": attacked}
        if row.alone is not None:
            result |= row.alone(self.server.url, self.server)
        goal = row.goal_ms + (result[f"baseline_{row.goal_of}"] if row.above else 0.0)
        return result | {"goal_ms": goal, "goal_of": row.goal_of}

    def large_class(self, students: int) -> dict[str, Any]:
        """Run a large class without an attack; the baseline is a small one."""
        before = asyncio.run(self.pressed(Row({})))
        cpu, seconds = self.server.cpu_seconds(), max(30.0, self._asked.seconds)
        plan = Plan(students, 6.0, 30.0, seconds, live=True)
        times = asyncio.run(attend_class(self.server.url, GATES, plan))
        away = sum("ConnectionRefusedError" in error for error in times.errors)
        result = {f"baseline_{name}": value for name, value in before.items()} | figures(times)
        return result | {
            "errors": len(times.errors) - away,
            "turned_away": away,
            "dropped": sum("ConnectionClosed" in error for error in times.errors),
            "first_p95_ms": milliseconds(times.first, 95),
            "cpu_share": round((self.server.cpu_seconds() - cpu) / (30.0 + seconds), 2),
            "calm_s": self.server.until_idle(),
            "goal_ms": LARGE_GOAL if students > 300 else CLASS_GOAL,
            "goal_of": "p95_ms",
        }


def figures(times: Times) -> dict[str, float]:
    """Return the waiting times of ordinary students, in milliseconds."""
    return {
        "p50_ms": milliseconds(times.rests, 50),
        "p95_ms": milliseconds(times.rests, 95),
        "page_p95_ms": milliseconds(times.presses, 95),
        "presses": len(times.rests),
        "without_picture": len(times.rests) - times.pictures,
        "errors": len(times.errors),
    }


COLUMNS = ("baseline_p50_ms", "baseline_p95_ms", "p50_ms", "p95_ms", "page_p95_ms", "presses",
           "errors", "calm_s", "goal_ms")  # fmt: skip
HIDDEN = ("each", "baseline_errors", "baseline_presses", "baseline_without_picture")


def print_row(report: Report, name: str, result: Mapping[str, Any]) -> None:
    """Print a line of the table, and below it the values that only this row has."""
    report.row(name, **{column: result[column] for column in COLUMNS})
    rest = (f"{k} {v}" for k, v in result.items() if k not in (*COLUMNS, *HIDDEN))
    print("  " + ", ".join(rest), flush=True)


def chosen(only: Sequence[str]) -> list[str]:
    """Return the requested rows, by their names or the first words of them.

    >>> chosen(["links", "class 300"])
    ['links 1', 'links 10', 'links 10 anew', 'class 300']
    """
    every = [*ROWS, *CLASSES, *rooms.ROWS]
    if not only:
        return [name for name in every if name not in LONG]
    if unknown := [o for o in only if not any(f"{name} ".startswith(f"{o} ") for name in every)]:
        raise SystemExit(f"There is no {', '.join(unknown)}; there are {', '.join(every)}.")
    return [name for name in every if any(f"{name} ".startswith(f"{o} ") for o in only)]


def main() -> None:
    given = options(
        __doc__,
        only={"nargs": "+", "default": [], "help": f"rows: {[*ROWS, *CLASSES, *rooms.ROWS]}"},
        seconds=(20.0, "duration of each attack in seconds"),
        addresses=(1, "number of the attacker's addresses"),
        same_address=(False, "attack from the students' address"),
        cookies={"choices": ("kept", "fresh", "none"), "default": "kept"},
    )
    names = chosen(given.only)
    rows: dict[str, Any] = {}
    report = Report("hostile", rows=rows)
    process = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, process, os.nice, (5,)) as pool:
        if on_pages := [name for name in names if name not in rooms.ROWS]:
            report.values["memory_ratio"] = beside_a_class(on_pages, report, pool, given)
        for name in names:
            if name in rooms.ROWS:
                rows[name] = rooms.measure(name, pool, given.seconds)
                rooms.print_row(report, name, rows[name])
    report.finish()


def beside_a_class(
    names: Sequence[str], report: Report, pool: ProcessPoolExecutor, given: argparse.Namespace
) -> float:
    """Measure rows of students on a page, at one server; return its memory, after / before."""
    rows = report.values["rows"]
    with serve(environment=MODELS, patience=PATIENCE) as server:
        for lesson in catalog.LESSONS:
            asyncio.run(warm_up(server.url, lesson))
        before, bench = server.megabytes(), Bench(server, pool, given)
        for name in names:
            if name == "origin":
                rows[name] = in_a_deaf_room(pool, given, ROWS[name])
            elif name in CLASSES:
                rows[name] = bench.large_class(CLASSES[name])
            else:
                rows[name] = bench.row(ROWS[name])
            print_row(report, name, rows[name])
        time.sleep(AFTER)  # one minute, as defined by the goal
        ratio = round(server.megabytes() / before, 2)
    print(f"memory: {before:.0f} MB before, {ratio} times as much after (goal: <= 1.3)")
    return ratio


def in_a_deaf_room(
    pool: ProcessPoolExecutor, namespace: argparse.Namespace, row: Row
) -> dict[str, Any]:
    """Measure a row at a separate server that cannot resolve other hosts."""
    with tempfile.NamedTemporaryFile() as message:
        environment = {**MODELS, "ASKED": message.name}
        address = {"server.address": "0.0.0.0"}
        with serve(
            environment=environment, options=address, before=NO_DNS, patience=PATIENCE
        ) as server:
            asyncio.run(warm_up(server.url, GATES))
            return Bench(server, pool, namespace).row(row)


if __name__ == "__main__":
    main()
