"""Ten fresh sentences at once: does somebody else notice, and how soon is each figure there?

In each round ten students send at the same moment a sentence that nobody has sent before: to
*Account of a logit* (the Transformer block), or to *From scores to a draw* (GPT), whose next bench
then writes twelve tokens, and twelve with another in one place. Until each has its figures, another
student presses the slider of Gates that a class presses, as a browser does
(`benchmarks.classroom.press`: the picture first). Printed: how long that student's pictures took,
alone beforehand and in the rounds; after how many seconds what a sentence asks for was there.

`python -m benchmarks.fresh [--lesson transformer] [--students 10] [--rounds 12]`
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
from collections.abc import Iterator
from contextlib import AsyncExitStack
from typing import Any

from benchmarks.classroom import MODELS, SEED, Times, fresh, milliseconds, press, pressed
from seqviz.content import catalog
from testing.protocol import ProtocolClient
from testing.server import serve

GATES = catalog.lesson("gates")
BENCH, SLIDER = pressed(GATES)
KEY = f"{GATES.code}.{BENCH}.{SLIDER}"
# The bench whose text is sent, and what is moved then: twelve tokens are written, and twelve with
# another in the place of the second.
SENT = {"transformer": "account", "gpt": "scores"}
THEN = {"gpt": ("steps", "rank", 2)}
GOAL_MS = 250
THINK, ALONE, PAUSE = 0.2, 10.0, 1.0  # seconds: between presses, before the rounds, between them
WORDS = tuple(map(str.split, (
    "The A My Every One This",
    "old young tired quiet clever hungry careful famous",
    "sailor teacher doctor farmer painter lawyer baker pilot",
    "bought sold carried repaired described forgot found borrowed",
    "a the his her",
    "small heavy yellow broken wooden silver cheap strange",
    "boat clock table letter bridge window garden basket",
    "near behind before above",
    "the a",
)))  # fmt: skip


async def write(student: ProtocolClient, draw: random.Random, waits: list[float]) -> None:
    """Send one of 5 million sentences; note the seconds until its figures are there."""
    text = " ".join(map(draw.choice, WORDS))
    lesson = catalog.lesson(student.page)
    moves: list[tuple[str, str, Any]] = [(SENT[lesson.slug], "text", text)]
    moves += [THEN[lesson.slug]] if lesson.slug in THEN else []
    seconds = 0.0
    for bench, name, value in moves:
        seconds += await student.move(f"{lesson.code}.{bench}.{name}", value)
        while student.polls:  # it waits for a model, or for its turn
            seconds += await student.poll()
    if not student.charts or student.errors or student.warnings:
        raise RuntimeError(f"no figure of {text!r}: {student.errors + student.warnings}")
    waits.append(seconds)


async def press_during(
    work: asyncio.Future[Any], student: ProtocolClient, values: Iterator[Any], times: Times
) -> None:
    """Press the slider of Gates again and again until the work is done."""
    while not work.done():
        await press(student, KEY, next(values), times)
        await asyncio.sleep(THINK)
    await work


async def attend(
    url: str, slug: str, students: int, rounds: int
) -> tuple[Times, Times, list[float]]:
    """The other student's presses alone and in the rounds; the seconds of all sentences."""
    draw, alone, busy, waits = random.Random(SEED), Times(), Times(), list[float]()
    async with AsyncExitStack() as stack:
        other, *writers = [
            await stack.enter_async_context(ProtocolClient(url, page, cookies={}))
            for page in (GATES.slug, *[slug] * students)
        ]
        await asyncio.gather(*(item.open() for item in (other, *writers)))
        await other.scroll(BENCH)
        if slug in THEN:
            await asyncio.gather(*(writer.scroll(THEN[slug][0]) for writer in writers))
        values = fresh(other, KEY, draw)
        await press(other, KEY, next(values), Times())
        await write(writers[0], draw, [])  # what is loaded once is loaded now
        await press_during(asyncio.ensure_future(asyncio.sleep(ALONE)), other, values, alone)
        for _ in range(rounds):
            await asyncio.sleep(PAUSE)
            at_once = asyncio.gather(*(write(writer, draw, waits) for writer in writers))
            await press_during(at_once, other, values, busy)
    return alone, busy, waits


def main() -> None:
    parser = argparse.ArgumentParser(description="Fresh sentences at once beside a pressed slider.")
    parser.add_argument("--lesson", choices=SENT, default="transformer")
    parser.add_argument("--students", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=12)
    given = parser.parse_args()
    with serve(environment=MODELS) as server:
        alone, busy, waits = asyncio.run(
            attend(server.url, given.lesson, given.students, given.rounds)
        )
    result: dict[str, float] = {"presses": len(busy.rests), "sentences": len(waits)}
    for name, seconds in (("alone", alone.rests), ("busy", busy.rests), ("sentence", waits)):
        result |= {f"{name}_p{k}_ms": milliseconds(seconds, k) for k in (50, 95, 100)}
    for name, value in result.items():
        print(f"{name:18}{value:>10}")
    print(f"goal: busy_p95_ms <= {GOAL_MS}")
    print(
        json.dumps({"name": "fresh", "lesson": given.lesson, "students": given.students, **result})
    )


if __name__ == "__main__":
    main()
