"""Does a server get slower by what it has served? Two of them side by side, one after many visits.

A soak compares an hour's end with its beginning, and a machine that is lent out by the core may be
slower by then. Here the same presses go to both servers in turn, so that only their age differs.

`python -m benchmarks.aging --visits 800`
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics

from benchmarks.browser import serve
from benchmarks.classroom import BESIDE, MODELS, Watched, fresh
from benchmarks.client import Student
from seqviz import catalog

SEATS = 8  # visits at a time
ROUNDS, PRESSES, FIRST = 6, 9, 2  # of a comparison; the first presses of a visit do not count
UNLIMITED = {"SEQVIZ_SESSION_SECONDS": "0", "SEQVIZ_SESSION_TOKENS": "0"}


async def visit(url: str, lesson: catalog.Lesson, number: int, presses: int) -> list[float]:
    """One student, who moves the first slider to fresh values; seconds of each press."""
    draw = random.Random(f"{number}.{lesson.slug}")
    key = f"{lesson.code}.{lesson.first[0]}.{lesson.first[1]}"
    async with Student(url, lesson.slug) as student:
        await student.open()
        await student.scroll(lesson.first[0])
        if other := BESIDE.get(lesson.slug):
            await student.move(other, next(fresh(student, other, draw)))
        values = fresh(student, key, draw)
        return [await student.move(key, next(values)) for _ in range(presses)]


async def age(url: str, visits: int) -> None:
    """So many visits of four presses, each to a lesson drawn by lot."""
    numbers = iter(range(visits))

    async def seat() -> None:
        for number in numbers:
            await visit(url, random.Random(number).choice(catalog.LESSONS), number, 4)

    await asyncio.gather(*(seat() for _ in range(SEATS)))


async def compare(urls: dict[str, str], lesson: catalog.Lesson) -> dict[str, float]:
    """The median press of each server in milliseconds, visits at both in turn."""
    waits: dict[str, list[float]] = {name: [] for name in urls}
    for turn in range(ROUNDS):
        for place, name in enumerate(sorted(urls, reverse=bool(turn % 2))):
            number = 10_000 + 2 * turn + place  # values that neither has had
            waits[name] += (await visit(urls[name], lesson, number, PRESSES))[FIRST:]
    return {name: round(1e3 * statistics.median(times), 1) for name, times in waits.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description="A fresh server beside one after many visits.")
    parser.add_argument("--visits", type=int, default=800)
    asked = parser.parse_args()
    environment = {**MODELS, **UNLIMITED}
    with serve(environment=environment) as old, serve(environment=environment) as new:
        asyncio.run(age(old.url, asked.visits))
        for lesson in catalog.LESSONS:  # libraries are imported there as well
            asyncio.run(visit(new.url, lesson, -1, 1))
        urls = {"aged": old.url, "fresh": new.url}
        found = {lesson.slug: asyncio.run(compare(urls, lesson)) for lesson in catalog.LESSONS}
        memory = {"aged": Watched(old).megabytes(), "fresh": Watched(new).megabytes()}
    slower = statistics.mean(times["aged"] / times["fresh"] - 1 for times in found.values())
    for slug, times in found.items():
        print(f"{slug:20} fresh {times['fresh']:6.1f} ms   aged {times['aged']:6.1f} ms")
    print(f"aged by {asked.visits} visits: {100 * slower:+.0f} % in the mean")
    line = {"name": "aging", "visits": asked.visits, "lessons": found, "rss_mb": memory}
    print(json.dumps({**line, "slower": round(slower, 3)}))


if __name__ == "__main__":
    main()
