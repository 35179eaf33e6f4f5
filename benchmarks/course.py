"""A course of any size on a cluster, on a clock of its own.

Students ask for fresh texts at replicas. One that is free reads all that wait for it, at most
`MOST`, in one pass; who comes in between waits for its end. Ray sends each text to the one of two
replicas, drawn at random, that has fewer.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from random import Random

import numpy as np

MOST = 32  # texts of one pass
THINK = 6.0  # seconds between two presses of a student
FRESH = 0.1  # of them ask for a text that nobody has read
SEATS = 180  # of a process of the app (SEQVIZ_MAX_CLIENTS)
MACHINE = 8  # processors
LOAD = 0.7  # of a processor that trains
BETWEEN = 600.0  # seconds between two trainings of a student
GOAL = 0.2  # s, 95th percentile of the wait for a text


Asked = tuple[tuple[float, int], ...]  # when, and which student


@dataclass(frozen=True)
class Law:
    """Seconds: a pass of n texts takes `fixed + each * n` of a replica; `way`: of a text, between
    student and replica, where nobody waits for it."""

    fixed: float
    each: float
    way: float


def waits(
    law: Law,
    replicas: int,
    first: Sequence[float],
    pause: Callable[[Random], float] = lambda draw: math.inf,
    until: float = math.inf,
    seed: int = 1,
) -> np.ndarray:
    """Seconds that each text took, in the order of the answers.

    first: when each student asks first. pause: seconds from an answer to that student's next text,
    of which none is asked for after `until`.
    """
    draw, number = Random(seed), count()
    lines: list[deque[tuple[float, int]]] = [deque() for _ in range(replicas)]
    reading = [0] * replicas
    events: list[tuple[float, int, str, int, Asked]] = [
        (at, next(number), "asks", caller, ()) for caller, at in enumerate(first)
    ]
    heapq.heapify(events)
    results = []

    def begin(now: float, item: int) -> None:
        batch = tuple(lines[item].popleft() for _ in range(min(MOST, len(lines[item]))))
        reading[item] = len(batch)
        if batch:
            seconds = law.fixed + law.each * len(batch)
            heapq.heappush(events, (now + seconds, next(number), "ends", item, batch))

    while events:
        now, _, what, entry, batch = heapq.heappop(events)
        if what == "asks":
            two = draw.sample(range(replicas), min(2, replicas))
            entry, client = (
                min(two, key=lambda position: len(lines[position]) + reading[position]),
                entry,
            )
            lines[entry].append((now, client))
            if not reading[entry]:
                begin(now, entry)
            continue
        for arrivals, client in batch:
            results.append(now - arrivals + law.way)
            again = now + law.way + pause(draw)
            if again < until:
                heapq.heappush(events, (again, next(number), "asks", client, ()))
        begin(now, entry)
    return np.array(results)


def percentiles(seconds: Sequence[float] | np.ndarray) -> tuple[float, float]:
    """Median and 95th percentile."""
    return float(np.median(seconds)), float(np.percentile(seconds, 95))


def fitted(measured: Mapping[int, tuple[float, float]]) -> Law:
    """The law whose median and 95th percentile for so many texts at once are nearest to these.

    measured: seconds, by how many students press at the same moment. Least squares of the
    logarithms of the ratios.
    """
    from scipy.optimize import minimize

    def miss(logs: np.ndarray) -> float:
        law = Law(*np.exp(logs))
        ratios = [
            np.log(np.divide(percentiles(waits(law, 1, [0.0] * n)), result))
            for n, result in measured.items()
        ]
        return float(np.square(ratios).sum())

    starts = ([0.01, 0.01, 0.01], [0.002, 0.02, 0.02], [0.02, 0.005, 0.005])
    ends = [minimize(miss, np.log(start), method="Nelder-Mead") for start in starts]
    return Law(*(float(item) for item in np.exp(min(ends, key=lambda end: end.fun).x)))


def pause(draw: Random) -> float:
    """Seconds until a student's next fresh text: some presses, half to one and a half `THINK` each,
    of which the last one asks for it."""
    seconds = 0.0
    while True:
        seconds += THINK * (0.5 + draw.random())
        if draw.random() < FRESH:
            return seconds


def needed(law: Law, students: int) -> tuple[int, tuple[float, float]]:
    """The fewest replicas with a 95th percentile of `GOAL` in three simulated minutes, and median
    and percentile there."""
    draw = Random(2)
    first = [draw.random() * THINK / FRESH for _ in range(students)]
    replicas = max(1, math.floor(students * FRESH / THINK * law.each))
    while True:
        results = percentiles(waits(law, replicas, first, pause, 180.0))
        if results[1] <= GOAL or replicas > 10_000:
            return replicas, results
        replicas += 1


def machines(law: Law, training: float, students: int) -> dict[str, float]:
    """What a course needs, extrapolated. training: seconds of one."""
    replicas, (median, p95) = needed(law, students)
    apps = -(-students // SEATS)
    trainers = math.ceil(students / BETWEEN * training / LOAD)
    processors = apps + replicas + trainers
    return {
        "students": students, "apps": apps, "replicas": replicas, "trainers": trainers,
        "processors": processors, "machines": -(-processors // MACHINE),
        "hours_100": round(100 * processors / students, 2),
        "median_ms": round(1e3 * median, 1), "p95_ms": round(1e3 * p95, 1),
    }  # fmt: skip
