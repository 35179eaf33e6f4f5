"""An hour of classes: do memory and latency stay where they are while students come and go?

Every student opens a lesson drawn by lot, moves its first slider to fresh values for some minutes
and leaves; another takes the seat. Every few seconds the server's memory and sessions are read, and
what students have waited since then. After the warm-up (every lesson has been opened, the store of
results is full) a straight line is fitted through the memory and through the median latency: flat
means that over the whole time it moves by less than 5 % of its mean. A machine that is lent out by
the core is not equally fast from one minute to the next, so the same small piece of work is timed
at every sample and stands beside the latency: what moves with it is the machine's and not the
app's. So does the server's processor time per press (visits included), which no queue lengthens.
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
from dataclasses import dataclass, field
from pathlib import Path

import altair as alt
import numpy as np
import pandas as pd

from benchmarks.browser import serve
from benchmarks.classroom import BESIDE, MODELS, SEED, Watched, fresh, look_around, warm_up
from benchmarks.client import Student
from seqviz import catalog

RESULTS = Path(__file__).parent / "results"
EVERY = 10.0  # seconds between two samples
STAY = (120.0, 300.0)  # seconds that a student stays
WARM_UP = 0.2  # share of the time
FLAT = 0.05
SQUARES = 20_000  # the piece of work that tells how fast the machine is just now


@dataclass
class Log:
    """What was seen: one entry per sample; waits and errors since the last one.

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
    errors: list[str] = field(default_factory=list)
    presses: int = 0
    visits: int = 0
    _waits: list[float] = field(default_factory=list)
    _cpu_seconds: float = field(default=math.nan)

    def waited(self, seconds: float) -> None:
        self.presses += 1
        self._waits.append(seconds)

    def sample(self, minutes: float, megabytes: float, sessions: float, cpu_seconds: float) -> None:
        """Keep what is so at a moment; cpu_seconds is the server's processor time so far."""
        waits = 1e3 * np.array(self._waits or [np.nan])
        self.cpu_ms.append(1e3 * (cpu_seconds - self._cpu_seconds) / len(waits))
        self._cpu_seconds = cpu_seconds
        self._waits.clear()
        self.minutes.append(minutes)
        self.megabytes.append(megabytes)
        self.sessions.append(sessions)
        self.median_ms.append(float(np.median(waits)))
        self.p95_ms.append(float(np.percentile(waits, 95)))
        self.machine_ms.append(machine_ms())

    def samples(self) -> dict[str, list[float | None]]:
        """All samples by name, rounded; null where nobody pressed."""
        return {
            name: [round(value, 3) if math.isfinite(value) else None for value in values]
            for name, values in vars(self).items()
            if name.endswith(("_ms", "minutes", "megabytes", "sessions"))
        }

    def line(self) -> str:
        """The last sample, to be read on the way."""
        return (
            f"{self.minutes[-1]:5.1f} min  {self.megabytes[-1]:7.1f} MB  "
            f"{self.sessions[-1]:3.0f} sessions  median {self.median_ms[-1]:5.1f} ms  "
            f"p95 {self.p95_ms[-1]:6.1f} ms  cpu {self.cpu_ms[-1]:5.1f} ms  "
            f"machine {self.machine_ms[-1]:4.2f} ms  "
            f"{self.presses} presses  {len(self.errors)} errors"
        )


def machine_ms() -> float:
    """How long a fixed piece of work takes on this machine now: the best of five, in ms."""
    times = []
    for _ in range(5):
        started = time.perf_counter()
        sum(number * number for number in range(SQUARES))
        times.append(time.perf_counter() - started)
    return 1e3 * min(times)


def drift(minutes: np.ndarray, values: np.ndarray) -> float:
    """How far a fitted straight line moves over the whole time, as a share of the mean."""
    known = np.isfinite(values)
    slope, _ = np.polyfit(minutes[known], values[known], 1)
    return float(slope * (minutes[-1] - minutes[0]) / values[known].mean())


async def seat(url: str, number: int, think: float, end: float, log: Log) -> None:
    """One seat: student after student until the end."""
    draw = random.Random(f"{SEED}.{number}")
    while (now := time.monotonic()) < end:
        lesson = draw.choice(catalog.LESSONS)
        leave = min(end, now + draw.uniform(*STAY))
        key = f"{lesson.code}.{lesson.first[0]}.{lesson.first[1]}"
        await asyncio.sleep(draw.random() * think)
        student = Student(url, lesson.slug)
        try:
            async with student:
                await student.open()
                log.visits += 1
                await student.scroll(lesson.first[0])
                if other := BESIDE.get(lesson.slug):
                    await student.move(other, next(fresh(student, other, draw)))
                values = fresh(student, key, draw)
                while time.monotonic() < leave:
                    await asyncio.sleep(think * (0.5 + draw.random()))
                    log.waited(await student.move(key, next(values)))
                    await look_around(student, draw)
        except (TimeoutError, OSError, KeyError) as error:
            log.errors.append(f"{lesson.slug}: {type(error).__name__}: {error}")
            await asyncio.sleep(1)
        log.errors += student.errors


async def watch(watched: Watched, started: float, end: float, log: Log) -> None:
    """Read the server every few seconds."""
    while time.monotonic() < end:
        await asyncio.sleep(EVERY)
        opened = await asyncio.to_thread(watched.counter, "seqviz_sessions_total")
        closed = await asyncio.to_thread(watched.counter, "seqviz_sessions_closed_total")
        log.sample(
            (time.monotonic() - started) / 60,
            watched.megabytes(),
            opened - closed,
            watched.cpu_seconds(),
        )
        if len(log.minutes) % 6 == 0:
            print(log.line(), file=sys.stderr, flush=True)


async def soak(url: str, watched: Watched, students: int, think: float, minutes: float) -> Log:
    log = Log()
    started = time.monotonic()
    end = started + 60 * minutes
    seats = [seat(url, number, think, end, log) for number in range(students)]
    await asyncio.gather(watch(watched, started, end, log), *seats)
    return log


def picture(log: Log, path: Path) -> None:
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
    panels = [
        alt.Chart(table, width=640, height=120)
        .mark_line(color="#0B6BAF", strokeWidth=1.5)
        .encode(
            alt.X("minutes:Q", title="minutes" if name == table.columns[-1] else None),
            alt.Y(f"{name}:Q", title=name),
        )
        for name in table.columns[1:]
    ]
    alt.vconcat(*panels).configure_axis(titleFontWeight="normal", gridColor="#DFE4EA").save(path)


def main() -> None:
    parser = argparse.ArgumentParser(description="Memory and latency over a long time.")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--students", type=int, default=50)
    parser.add_argument("--think", type=float, default=6.0, help="mean seconds between presses")
    asked = parser.parse_args()
    with serve(environment=MODELS) as server:
        watched = Watched(server)
        for lesson in catalog.LESSONS:
            asyncio.run(warm_up(server.url, lesson))
        log = asyncio.run(soak(server.url, watched, asked.students, asked.think, asked.minutes))
        cache_mb = watched.counter("seqviz_cache_bytes") / 1e6
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{datetime.datetime.now():%Y-%m-%d-soak-%H%M}.svg"
    picture(log, path)
    path.with_suffix(".json").write_text(json.dumps(log.samples()) + "\n")
    after = np.array(log.minutes) >= WARM_UP * asked.minutes
    minutes = np.array(log.minutes)[after]
    memory, waits = np.array(log.megabytes)[after], np.array(log.median_ms)[after]
    line = {
        "name": "soak",
        "minutes": asked.minutes,
        "students": asked.students,
        "presses": log.presses,
        "visits": log.visits,
        "errors": len(log.errors),
        "rss_mb": {"first": round(memory[0], 1), "last": round(memory[-1], 1)},
        "rss_drift": round(drift(minutes, memory), 4),
        "median_ms": round(float(np.nanmedian(waits)), 1),
        "p95_ms": round(float(np.nanmedian(np.array(log.p95_ms)[after])), 1),
        "latency_drift": round(drift(minutes, waits), 4),
        "cpu_ms": round(float(np.nanmedian(np.array(log.cpu_ms)[after])), 1),
        "cpu_drift": round(drift(minutes, np.array(log.cpu_ms)[after]), 4),
        "machine_drift": round(drift(minutes, np.array(log.machine_ms)[after]), 4),
        "most_sessions": max(log.sessions),
        "cache_mb": round(cache_mb, 1),
        "memory_flat": abs(drift(minutes, memory)) < FLAT,
        "latency_flat": abs(drift(minutes, waits)) < FLAT,
        "figure": path.name,
    }
    for error in sorted(set(log.errors))[:5]:
        print(f"  {error}")
    print(json.dumps(line))


if __name__ == "__main__":
    main()
