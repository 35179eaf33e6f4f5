"""Soak test: drift of memory and latency during an hour of classes.

Every student opens a random lesson, moves its first slider to fresh values for some minutes and
leaves; another takes the seat. Every few seconds, the server's memory and sessions are sampled, and
the students' waits since the last sample. After the warm-up (every lesson was opened, most of the
result cache is full), a straight line is fitted to memory and to median latency: flat means that
over the whole time it changes by less than 5% of its mean.

The speed of a machine that is rented by the core varies from minute to minute. So a second server,
the control, runs in parallel with one seat for each lesson and shares all fast and slow minutes.
`server_drift` and `control_drift` are the lines fitted to the two, minute by minute, each the mean
over lessons of the lesson's median (the median of all interactions depends on the lessons drawn),
`beside_control_drift` that of their quotient. Changes shared with the control are the machine's,
the others the app's. The same small piece of work, timed at every sample, and the server's
processor time per interaction (visits included) are reported as well.

One line per minute is printed during the run; the figure and the samples, as JSON, are written to
`benchmarks/results/`.

`--aging`: two servers in parallel, one after many visits; the same interactions go to both in turn,
so that only their age differs. While one ages, its memory, threads and open files are sampled:
`drift` is the change of a straight line fitted to them after the warm-up, as a share of the mean;
`grows` lists those above 5 %; `left` is what remains when all its visitors were released. With
`--abrupt` they disconnect without closing.

Usage: `python -m benchmarks.soak --minutes 60 --students 50`, `python -m benchmarks.soak --aging
--visits 800`, `python -m benchmarks.soak --aging --visits 10000 --abrupt`.
"""

from __future__ import annotations

import asyncio
import datetime
import json
import math
import random
import statistics
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from benchmarks.classroom import MODELS, SEED, approach, look_around, warm_up
from benchmarks.report import Report, options, timed
from seqviz.content import catalog
from seqviz.core import atomic_write
from testing.protocol import ProtocolClient
from testing.server import Server, serve

RESULTS = Path(__file__).parent / "results"
EVERY = 10.0  # seconds between two samples
STAY = (120.0, 300.0)  # seconds that a student stays
WARM_UP = 0.2  # share of the time
FLAT = 0.05
SQUARES = 20_000  # size of the piece of work that measures the machine's current speed
BLUE, GRAY = "#0B6BAF", "#8A93A0"
SEATS = 8  # number of concurrent students of an aging server
ROUNDS, PRESSES, FIRST = 6, 9, 2  # of a comparison; the first interactions are not counted
FORGOTTEN = 150.0  # seconds after which Streamlit has released disconnected sessions
START: dict[str, Any] = {"environment": MODELS, "patience": 120.0}  # two servers start at once
UNLIMITED = {"SEQVIZ_SESSION_SECONDS": "0", "SEQVIZ_SESSION_TOKENS": "0"}


@dataclass
class Seats:
    """The students of one server: their waiting times and errors.

    Attributes:
        started: start in seconds of `time.monotonic()`.
        presses: per interaction: minutes since the start, the lesson, milliseconds.
    """

    started: float
    presses: list[tuple[float, str, float]] = field(default_factory=list)
    visits: int = 0
    errors: list[str] = field(default_factory=list)

    def by_minute(self) -> pd.Series:
        """Return the wait in ms for each minute: the mean over lessons of the lesson's median.

        It is nan in a minute in which some lesson had no interaction.
        """
        table = pd.DataFrame(self.presses, columns=["minute", "lesson", "ms"])
        table["minute"] = table["minute"].astype(int)
        medians = table.groupby(["minute", "lesson"])["ms"].median().unstack()
        every = [lesson.slug for lesson in catalog.LESSONS]
        full = medians.reindex(index=range(table["minute"].max() + 1), columns=every)
        return full.mean(axis=1, skipna=False)


def rounded(value: float, digits: int) -> float | None:
    """Round a value for JSON, which has no nan."""
    return round(value, digits) if math.isfinite(value) else None


def machine_ms() -> float:
    """Return the time of a fixed piece of work on this machine now: the best of five, in ms."""
    return 1e3 * min(timed(lambda: sum(n * n for n in range(SQUARES))) for _ in range(5))


def drift(minutes: ArrayLike, values: ArrayLike) -> float:
    """Return the change of a line fitted after the warm-up, as a share of the mean.

    Returns nan if fewer than two values are left.

    Args:
        minutes: times of the samples.
        values: the samples; nan is ignored.
    """
    when, value = np.asarray(minutes, float), np.asarray(values, float)
    finite = np.isfinite(value) & (when >= WARM_UP * when.max(initial=0.0))
    when, value = when[finite], value[finite]
    if len(when) < 2:
        return math.nan
    slope, _ = np.polyfit(when, value, 1)
    return float(slope * (when[-1] - when[0]) / value.mean())


async def occupy(
    url: str, name: str, lessons: Sequence[catalog.LessonRecord], think: float, minutes: float,
    seats: Seats,
) -> None:  # fmt: skip
    """Run one seat: student after student until the end, each in one of the lessons."""
    draw = random.Random(f"{SEED}.{name}")
    end = seats.started + 60 * minutes
    while (now := time.monotonic()) < end:
        lesson = draw.choice(lessons)
        leave = min(end, now + draw.uniform(*STAY))
        await asyncio.sleep(draw.random() * think)
        student = ProtocolClient(url, lesson.slug)
        try:
            async with student:
                await student.open()
                seats.visits += 1
                key, values = await approach(student, lesson, draw)
                while time.monotonic() < leave:
                    await asyncio.sleep(think * (0.5 + draw.random()))
                    ms = 1e3 * await student.move(key, next(values))
                    seats.presses.append(((time.monotonic() - seats.started) / 60, lesson.slug, ms))
                    await look_around(student, draw)
        except (TimeoutError, OSError, KeyError) as error:
            seats.errors.append(f"{lesson.slug}: {type(error).__name__}: {error}")
            await asyncio.sleep(1)
        seats.errors += student.errors


async def watch(server: Server, minutes: float, seats: Seats, report: Report) -> pd.DataFrame:
    """Sample the server every few seconds; add one row per sample.

    The columns: minutes since the start; resident megabytes; sessions of the server; median_ms and
    p95_ms of the interactions since the last sample (nan without any); cpu_ms, the server's
    processor time per interaction since then; machine_ms of the fixed piece of work.
    """
    samples: list[dict[str, float]] = []
    n_presses, cpu_seconds = 0, math.nan
    while time.monotonic() < seats.started + 60 * minutes:
        await asyncio.sleep(EVERY)
        opened = await asyncio.to_thread(server.counter, "seqviz_sessions_total")
        closed = await asyncio.to_thread(server.counter, "seqviz_sessions_closed_total")
        waits = [ms for _, _, ms in seats.presses[n_presses:]] or [math.nan]
        before, cpu_seconds = cpu_seconds, server.cpu_seconds()
        samples.append({
            "minutes": (time.monotonic() - seats.started) / 60,
            "megabytes": server.megabytes(),
            "sessions": opened - closed,
            "median_ms": float(np.median(waits)),
            "p95_ms": float(np.percentile(waits, 95)),
            "cpu_ms": 1e3 * (cpu_seconds - before) / len(waits),
            "machine_ms": machine_ms(),
        })  # fmt: skip
        n_presses = len(seats.presses)
        if len(samples) % 6 == 0:
            report.row("", **samples[-1], presses=n_presses, errors=len(seats.errors))
    return pd.DataFrame(samples)


async def attend(
    server: Server, control: Server, students: int, think: float, minutes: float, report: Report
) -> tuple[pd.DataFrame, Seats, Seats]:
    """Run the test; return the samples, the students of the server and those of the control."""
    many, few = (Seats(time.monotonic()) for _ in range(2))
    every = catalog.LESSONS
    watching = asyncio.create_task(watch(server, minutes, many, report))
    await asyncio.gather(
        *(occupy(server.url, str(n), every, think, minutes, many) for n in range(students)),
        *(occupy(control.url, item.slug, [item], think, minutes, few) for item in every),
    )
    return await watching, many, few


def plot(samples: pd.DataFrame, waits: dict[str, pd.Series], path: Path) -> None:
    """Plot memory, sessions and latency over time, one above the other."""
    both = pd.concat(
        pd.DataFrame({"minutes": its.index + 0.5, "ms": its.to_numpy(), "server": name})
        for name, its in waits.items()
    )
    shade = alt.Scale(domain=list(waits), range=[BLUE, GRAY])
    line: dict[str, Any] = {"strokeWidth": 1.5}
    panels = [
        alt.Chart(samples, width=640, height=120)
        .mark_line(color=BLUE, **line)
        .encode(alt.X("minutes:Q", title=None), alt.Y(f"{name}:Q", title=name))
        for name in samples.columns[1:]
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


def soak(students: int, think: float, minutes: float) -> None:
    """Run the classes; save their figure and samples, and report the drifts."""
    report = Report("soak", minutes=minutes, students=students)
    with serve(**START) as server, serve(**START) as control:
        for lesson in catalog.LESSONS:
            asyncio.run(warm_up(server.url, lesson))
            asyncio.run(warm_up(control.url, lesson))
        samples, many, few = asyncio.run(attend(server, control, students, think, minutes, report))
        cache_mb = server.counter("seqviz_cache_bytes") / 1e6
    path = RESULTS / f"{datetime.datetime.now():%Y-%m-%d-soak-%H%M}.svg"
    waits = {"server": many.by_minute(), "control": few.by_minute()}
    quotient = (waits["server"] / waits["control"]).dropna()
    warm = samples[samples["minutes"] >= WARM_UP * samples["minutes"].iloc[-1]]
    median = {name: round(float(warm[name].median()), 1) for name in samples}
    drifts = {
        "rss_drift": drift(samples["minutes"], samples["megabytes"]),
        "latency_drift": drift(samples["minutes"], samples["median_ms"]),
        "server_drift": drift(waits["server"].index, waits["server"]),
        "control_drift": drift(waits["control"].index, waits["control"]),
        "beside_control_drift": drift(quotient.index, quotient),
        "cpu_drift": drift(samples["minutes"], samples["cpu_ms"]),
        "machine_drift": drift(samples["minutes"], samples["machine_ms"]),
    }
    report.values |= {
        "presses": len(many.presses),
        "visits": many.visits,
        "errors": len(many.errors) + len(few.errors),
        "control": {"presses": len(few.presses), "visits": few.visits},
        "rss_mb": {"median": median["megabytes"], "last": round(samples["megabytes"].iloc[-1], 1)},
        "median_ms": median["median_ms"],
        "p95_ms": median["p95_ms"],
        "cpu_ms": median["cpu_ms"],
        **{name: rounded(value, 4) for name, value in drifts.items()},
        "most_sessions": samples["sessions"].max(),
        "cache_mb": round(cache_mb, 1),
        "memory_flat": abs(drifts["rss_drift"]) < FLAT,
        "latency_flat": abs(drifts["latency_drift"]) < FLAT,
        "latency_flat_beside_control": abs(drifts["beside_control_drift"]) < FLAT,
        "figure": path.name,
    }
    for error in sorted({*many.errors, *few.errors})[:5]:
        print(f"  {error}")
    existing = {name: [rounded(x, 3) for x in samples[name]] for name in samples}
    existing |= {
        f"{name}_by_minute_ms": [rounded(x, 2) for x in its] for name, its in waits.items()
    }
    with atomic_write.or_exit(path):
        RESULTS.mkdir(exist_ok=True)
        plot(samples, waits, path)
        path.with_suffix(".json").write_text(json.dumps(existing) + "\n")
    report.finish()


# --- an aged server beside a fresh one ------------------------------------------------------------


async def visit(
    server: Server, lesson: catalog.LessonRecord, number: int, presses: int, abrupt: bool = False
) -> list[float]:
    """Run one student who moves the first slider to fresh values; return the seconds of each."""
    draw = random.Random(f"{number}.{lesson.slug}")
    async with ProtocolClient(server.url, lesson.slug) as student:
        await student.open()
        key, values = await approach(student, lesson, draw)
        waits = [await student.move(key, next(values)) for _ in range(presses)]
        if abrupt:
            student.socket.transport.abort()
        return waits


async def age(server: Server, visits: int, abrupt: bool) -> pd.DataFrame:
    """Run visits of four interactions to random lessons; return samples of resources."""
    numbers = iter(range(visits))
    samples: list[dict[str, float]] = []
    started = time.monotonic()

    async def come_and_go() -> None:
        for number in numbers:
            lesson = random.Random(number).choice(catalog.LESSONS)
            await visit(server, lesson, number, 4, abrupt)

    async def sample() -> None:
        while True:
            await asyncio.sleep(EVERY)
            now = await asyncio.to_thread(resources, server)
            samples.append({"minutes": (time.monotonic() - started) / 60, **now})

    sampling = asyncio.create_task(sample())
    await asyncio.gather(*(come_and_go() for _ in range(SEATS)))
    sampling.cancel()
    return pd.DataFrame(samples, columns=["minutes", "megabytes", "open_files", "threads"])


def resources(server: Server) -> dict[str, float]:
    """Return the resources that a server holds now."""
    counts = {name: server.counter(f"seqviz_{name}") for name in ("open_files", "threads")}
    return {"megabytes": round(server.megabytes(), 1), **counts}


def compare(servers: dict[str, Server], lesson: catalog.LessonRecord) -> dict[str, Any]:
    """Visit one lesson at all servers in turn; return median wait and processor ms by server."""
    waits: dict[str, list[float]] = {name: [] for name in servers}
    cpu = dict.fromkeys(servers, 0.0)
    for turn in range(ROUNDS):
        for index, name in enumerate(sorted(servers, reverse=bool(turn % 2))):
            before = servers[name].cpu_seconds()
            number = 10_000 + 2 * turn + index  # values that no server has computed
            waits[name] += asyncio.run(visit(servers[name], lesson, number, PRESSES))[FIRST:]
            cpu[name] += servers[name].cpu_seconds() - before
    return {
        name: {
            "wait_ms": round(1e3 * statistics.median(waits[name]), 1),
            "cpu_ms": round(1e3 * cpu[name] / (ROUNDS * PRESSES), 1),
        }
        for name in servers
    }


def aging(visits: int, abrupt: bool) -> None:
    """Run the comparison and report it with the resources of the aged server."""
    report = Report("aging", visits=visits, abrupt=abrupt)
    with ExitStack() as stack:
        start = {**START, "environment": {**MODELS, **UNLIMITED}}
        servers = {name: stack.enter_context(serve(**start)) for name in ("aged", "fresh")}
        before = resources(servers["aged"])
        samples = asyncio.run(age(servers["aged"], visits, abrupt))
        names = samples.columns[1:]
        drifts = {name: rounded(drift(samples["minutes"], samples[name]), 4) for name in names}
        time.sleep(FORGOTTEN)
        report.values["held"] = {
            "start": before,
            "most": {name: samples[name].max() for name in names},
            "left": resources(servers["aged"]),
            "drift": drifts,
            "grows": sorted(name for name, item in drifts.items() if (item or 0.0) > FLAT),
        }
        print(report.values["held"])
        lessons: dict[str, Any] = {}
        for lesson in catalog.LESSONS:
            asyncio.run(visit(servers["fresh"], lesson, -1, 1))  # warm-up
            lessons[lesson.slug] = both = compare(servers, lesson)
            report.row(lesson.slug, **{f"{server}_{name}": value for server in both
                                       for name, value in both[server].items()})  # fmt: skip
        report.values["rss_mb"] = {name: round(item.megabytes()) for name, item in servers.items()}
    report.values["lessons"] = lessons
    for name in ("wait_ms", "cpu_ms"):
        ratios = [both["aged"][name] / both["fresh"][name] - 1 for both in lessons.values()]
        report.values[f"more_{name.removesuffix('_ms')}"] = round(statistics.mean(ratios), 4)
    report.finish()


def main() -> None:
    given = options(
        __doc__,
        minutes=(60.0, "duration in minutes"),
        students=(50, "number of students"),
        think=(6.0, "mean seconds between interactions"),
        aging=(False, "compare a fresh server with one after many visits"),
        visits=(800, "number of visits to the aging server"),
        abrupt=(False, "visitors disconnect without closing"),
    )
    if given.aging:
        aging(given.visits, given.abrupt)
    else:
        soak(given.students, given.think, given.minutes)


if __name__ == "__main__":
    main()
