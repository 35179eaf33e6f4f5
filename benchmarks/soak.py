"""An hour of classes: do memory and latency stay where they are while students come and go?

Every student opens a lesson drawn by lot, moves its first slider to fresh values for some minutes
and leaves; another takes the seat. Every few seconds the server's memory and sessions are read, and
what students have waited since then. After the warm-up (every lesson has been opened, most of the
store of results is full) a straight line is fitted through the memory and through the median
latency: flat means that over the whole time it moves by less than 5% of its mean.

A machine that is lent out by the core is not equally fast from one minute to the next. So a second
server, the control, stands beside with one seat for each lesson: it sees six students
and shares every fast and slow minute. `server_drift` and `control_drift` are the lines through the
two, minute by minute, each the mean over lessons of the lesson's median (the median of all presses
moves with the lessons that the lot has drawn), `beside_control_drift` through their quotient. What
moves with the control is the machine's, what moves away from it the app's. The same small piece of
work, timed at every sample, and the server's processor time per press (visits included) stand
beside it.

A line a minute is printed on the way; the figure and the samples, as JSON, go to
`benchmarks/results/`.

`python -m benchmarks.soak --minutes 60 --students 50`
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import json
import math
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from benchmarks.classroom import BESIDE, MODELS, SEED, fresh, look_around, pressed, warm_up
from seqviz.content import catalog
from seqviz.core import atomic_write
from testing.protocol import ProtocolClient
from testing.server import Server, serve

RESULTS = Path(__file__).parent / "results"
EVERY = 10.0  # seconds between two samples
STAY = (120.0, 300.0)  # seconds that a student stays
WARM_UP = 0.2  # share of the time
FLAT = 0.05
SQUARES = 20_000  # the piece of work that tells how fast the machine is just now
BLUE, GRAY = "#0B6BAF", "#8A93A0"


@dataclass
class Class:
    """The students of one server: what they have waited and what went wrong.

    started: `time.monotonic()`; presses: minutes since then, the lesson, milliseconds.
    """

    started: float
    presses: list[tuple[float, str, float]] = field(default_factory=list)
    visits: int = 0
    errors: list[str] = field(default_factory=list)

    def waited(self, slug: str, seconds: float) -> None:
        self.presses.append(((time.monotonic() - self.started) / 60, slug, 1e3 * seconds))

    def by_minute(self) -> pd.Series:
        """The wait in ms for each minute: the mean over lessons of the lesson's median.

        It is nan in a minute in which some lesson had no press.
        """
        table = pd.DataFrame(self.presses, columns=["minute", "lesson", "ms"])
        table["minute"] = table["minute"].astype(int)
        medians = table.groupby(["minute", "lesson"])["ms"].median().unstack()
        every = [lesson.slug for lesson in catalog.LESSONS]
        full = medians.reindex(index=range(table["minute"].max() + 1), columns=every)
        return full.mean(axis=1, skipna=False)


@dataclass
class Log:
    """What was seen of the server, one entry per sample.

    minutes since the start; megabytes resident; sessions that the server holds; median_ms and
    p95_ms of the presses since the last sample (nan without any); cpu_ms, the processor time of the
    server per press since then; machine_ms of the same small piece of work, timed beside the
    server.
    """

    minutes: list[float] = field(default_factory=list)
    megabytes: list[float] = field(default_factory=list)
    sessions: list[float] = field(default_factory=list)
    median_ms: list[float] = field(default_factory=list)
    p95_ms: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)
    machine_ms: list[float] = field(default_factory=list)
    _presses: int = 0
    _cpu_seconds: float = math.nan

    def sample(self, server: Server, seats: Class, sessions: float) -> None:
        """Keep what is so now, and what was waited since the last sample."""
        waits = np.array([ms for _, _, ms in seats.presses[self._presses :]] or [np.nan])
        cpu_seconds = server.cpu_seconds()
        self.minutes.append((time.monotonic() - seats.started) / 60)
        self.megabytes.append(server.megabytes())
        self.sessions.append(sessions)
        self.median_ms.append(float(np.median(waits)))
        self.p95_ms.append(float(np.percentile(waits, 95)))
        self.cpu_ms.append(1e3 * (cpu_seconds - self._cpu_seconds) / len(waits))
        self.machine_ms.append(machine_ms())
        self._presses, self._cpu_seconds = len(seats.presses), cpu_seconds

    def samples(self) -> dict[str, list[float | None]]:
        """All samples by name, rounded; null where nobody pressed."""
        return {
            name: [rounded(value, 3) for value in values]
            for name, values in vars(self).items()
            if not name.startswith("_")
        }

    def line(self) -> str:
        """The last sample, to be read on the way."""
        return (
            f"{self.minutes[-1]:5.1f} min  {self.megabytes[-1]:7.1f} MB  "
            f"{self.sessions[-1]:3.0f} sessions  median {self.median_ms[-1]:5.1f} ms  "
            f"p95 {self.p95_ms[-1]:6.1f} ms  cpu {self.cpu_ms[-1]:5.1f} ms  "
            f"machine {self.machine_ms[-1]:4.2f} ms  {self._presses} presses"
        )


def rounded(value: float, digits: int) -> float | None:
    """For JSON, which has no nan."""
    return round(value, digits) if math.isfinite(value) else None


def machine_ms() -> float:
    """How long a fixed piece of work takes on this machine now: the best of five, in ms."""
    times = []
    for _ in range(5):
        started = time.perf_counter()
        sum(number * number for number in range(SQUARES))
        times.append(time.perf_counter() - started)
    return 1e3 * min(times)


def drift(minutes: ArrayLike, values: ArrayLike) -> float:
    """How far a straight line fitted after the warm-up moves, as a share of the mean.

    minutes, values: [samples]; a value of nan is passed over; nan where less than two are left.
    """
    when, value = np.asarray(minutes, float), np.asarray(values, float)
    finite = np.isfinite(value) & (when >= WARM_UP * when.max(initial=0.0))
    when, value = when[finite], value[finite]
    if len(when) < 2:
        return math.nan
    slope, _ = np.polyfit(when, value, 1)
    return float(slope * (when[-1] - when[0]) / value.mean())


async def seat(
    url: str,
    name: str,
    lessons: Sequence[catalog.LessonRecord],
    think: float,
    minutes: float,
    seats: Class,
) -> None:
    """One seat: student after student until the end, each in one of the lessons."""
    draw = random.Random(f"{SEED}.{name}")
    end = seats.started + 60 * minutes
    while (now := time.monotonic()) < end:
        lesson = draw.choice(lessons)
        leave = min(end, now + draw.uniform(*STAY))
        bench, slider = pressed(lesson)
        key = f"{lesson.code}.{bench}.{slider}"
        await asyncio.sleep(draw.random() * think)
        student = ProtocolClient(url, lesson.slug)
        try:
            async with student:
                await student.open()
                seats.visits += 1
                await student.scroll(bench)
                if other := BESIDE.get(lesson.slug):
                    await student.move(other, next(fresh(student, other, draw)))
                values = fresh(student, key, draw)
                while time.monotonic() < leave:
                    await asyncio.sleep(think * (0.5 + draw.random()))
                    seats.waited(lesson.slug, await student.move(key, next(values)))
                    await look_around(student, draw)
        except (TimeoutError, OSError, KeyError) as error:
            seats.errors.append(f"{lesson.slug}: {type(error).__name__}: {error}")
            await asyncio.sleep(1)
        seats.errors += student.errors


async def watch(server: Server, minutes: float, seats: Class, log: Log) -> None:
    """Read the server every few seconds."""
    while time.monotonic() < seats.started + 60 * minutes:
        await asyncio.sleep(EVERY)
        opened = await asyncio.to_thread(server.counter, "seqviz_sessions_total")
        closed = await asyncio.to_thread(server.counter, "seqviz_sessions_closed_total")
        log.sample(server, seats, opened - closed)
        if len(log.minutes) % 6 == 0:
            print(f"{log.line()}  {len(seats.errors)} errors", file=sys.stderr, flush=True)


async def soak(
    server: Server, control: Server, students: int, think: float, minutes: float
) -> tuple[Log, Class, Class]:
    """All of it: what was seen of the server, its students and those of the control."""
    log, started = Log(), time.monotonic()
    many, few = Class(started), Class(started)
    every = catalog.LESSONS
    url, beside = server.url, control.url
    await asyncio.gather(
        watch(server, minutes, many, log),
        *(seat(url, str(n), every, think, minutes, many) for n in range(students)),
        *(seat(beside, item.slug, [item], think, minutes, few) for item in every),
    )
    return log, many, few


def picture(log: Log, waits: dict[str, pd.Series], path: Path) -> None:
    """Memory, sessions and latency over time, one above the other."""
    table = pd.DataFrame(
        {
            "minutes": log.minutes,
            "memory (MB)": log.megabytes,
            "sessions": log.sessions,
            "median wait (ms)": log.median_ms,
            "95th percentile of the wait (ms)": log.p95_ms,
            "processor time per press (ms)": log.cpu_ms,
            "the same work, timed (ms)": log.machine_ms,
        }
    )
    both = pd.concat(
        pd.DataFrame({"minutes": its.index + 0.5, "ms": its.to_numpy(), "server": name})
        for name, its in waits.items()
    )
    shade = alt.Scale(domain=list(waits), range=[BLUE, GRAY])
    line: dict[str, Any] = {"strokeWidth": 1.5}
    panels = [
        alt.Chart(table, width=640, height=120)
        .mark_line(color=BLUE, **line)
        .encode(alt.X("minutes:Q", title=None), alt.Y(f"{name}:Q", title=name))
        for name in table.columns[1:]
    ] + [
        alt.Chart(both, width=640, height=160)
        .mark_line(**line)
        .encode(
            alt.X("minutes:Q", title="minutes"),
            alt.Y("ms:Q", title="wait, mean over lessons (ms)"),
            alt.Color("server:N", title=None, scale=shade),
        )
    ]
    alt.vconcat(*panels).configure_axis(titleFontWeight="normal", gridColor="#DFE4EA").save(path)


def middle(log: Log, values: Sequence[float]) -> float:
    """The median of the samples after the warm-up."""
    after = np.array(log.minutes) >= WARM_UP * log.minutes[-1]
    return round(float(np.nanmedian(np.array(values)[after])), 1)


def main() -> None:
    parser = argparse.ArgumentParser(description="Memory and latency over a long time.")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--students", type=int, default=50)
    parser.add_argument("--think", type=float, default=6.0, help="mean seconds between presses")
    request = parser.parse_args()
    with serve(environment=MODELS) as server, serve(environment=MODELS) as control:
        for lesson in catalog.LESSONS:
            asyncio.run(warm_up(server.url, lesson))
            asyncio.run(warm_up(control.url, lesson))
        log, many, few = asyncio.run(
            soak(server, control, request.students, request.think, request.minutes)
        )
        cache_mb = server.counter("seqviz_cache_bytes") / 1e6
    path = RESULTS / f"{datetime.datetime.now():%Y-%m-%d-soak-%H%M}.svg"
    waits = {"server": many.by_minute(), "control": few.by_minute()}
    retained = log.samples() | {
        f"{name}_by_minute_ms": [rounded(value, 2) for value in its] for name, its in waits.items()
    }
    quotient = (waits["server"] / waits["control"]).dropna()
    drifts = {
        "rss_drift": drift(log.minutes, log.megabytes),
        "latency_drift": drift(log.minutes, log.median_ms),
        "server_drift": drift(waits["server"].index, waits["server"]),
        "control_drift": drift(waits["control"].index, waits["control"]),
        "beside_control_drift": drift(quotient.index, quotient),
        "cpu_drift": drift(log.minutes, log.cpu_ms),
        "machine_drift": drift(log.minutes, log.machine_ms),
    }
    line = {
        "name": "soak",
        "minutes": request.minutes,
        "students": request.students,
        "presses": len(many.presses),
        "visits": many.visits,
        "errors": len(many.errors) + len(few.errors),
        "control": {"presses": len(few.presses), "visits": few.visits},
        "rss_mb": {"median": middle(log, log.megabytes), "last": round(log.megabytes[-1], 1)},
        "median_ms": middle(log, log.median_ms),
        "p95_ms": middle(log, log.p95_ms),
        "cpu_ms": middle(log, log.cpu_ms),
        **{name: rounded(value, 4) for name, value in drifts.items()},
        "most_sessions": max(log.sessions),
        "cache_mb": round(cache_mb, 1),
        "memory_flat": abs(drifts["rss_drift"]) < FLAT,
        "latency_flat": abs(drifts["latency_drift"]) < FLAT,
        "latency_flat_beside_control": abs(drifts["beside_control_drift"]) < FLAT,
        "figure": path.name,
    }
    for error in sorted({*many.errors, *few.errors})[:5]:
        print(f"  {error}")
    print(json.dumps(line))
    with atomic_write.or_exit(path):
        RESULTS.mkdir(exist_ok=True)
        picture(log, waits, path)
        path.with_suffix(".json").write_text(json.dumps(retained) + "\n")


if __name__ == "__main__":
    main()
