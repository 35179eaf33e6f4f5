"""A class at one server: how long does a student wait while a hundred move their sliders?

The students speak Streamlit's protocol over the websocket (`testing.protocol`); the server is the
app as it is served, in a process of its own, on the same two cores. Each student opens the lesson
at a moment of its own within `--arrive` seconds, then moves the lesson's first slider and thinks,
on average, for `--think` seconds. No value comes twice in a class: where the slider has too few,
each student first moves another one (`BESIDE`), or presses one of another bench (`INSTEAD`). How
many results the server really had to compute is printed, so that a cache cannot flatter the numbers
(bert_accuracy shows results that came with the app: there it is 0). After one press in five a
student scrolls on to another bench (`SCROLLS`) and back: the next that has not been drawn yet,
later the first that builds on the slider, which is then redrawn. That counts as load; the time
reported is the press. First load is the page as it opens, with its first bench.

With `--live` a press is what a browser makes of it: the picture first, on the way of a moving hand,
then the page hears of the value. `rest_p95_ms` is how long the picture takes, the others are the
page's.

With `--drag` each of them drags the slider for two seconds before it rests: as the browser does,
one request for a picture at a time. `pictures_s` is what one dragging student gets in a second,
`rest_p95_ms` how long after the hand has stopped its picture is there, `cpu_ms` what the server
works for a press or a picture, openings and all.

A second class has one training in the server all the while. A third, with `--collector both`, is
the same class at a server with Streamlit's own setting of the garbage collector.

`python -m benchmarks.classroom --students 100 --think 6 --lesson all`
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from websockets.exceptions import WebSocketException

from benchmarks.report import Report, milliseconds, options
from seqviz.content import catalog
from testing.protocol import ProtocolClient
from testing.server import Server, serve

SEED = 8
GOALS = {"p95_ms": 100, "first_p95_ms": 300, "training_p95_ms": 250, "rss_growth_mb": 50}
# Where the first slider has too few values for a class, each student first moves another control:
# a slider to one of its values, a menu to one of its options.
BESIDE = {"bert_accuracy": "ba.knife.order"}
# Where it has only a handful, a class presses another slider of the lesson.
INSTEAD = {"gates": ("force", "f")}
DRAG = 2.0  # seconds
STOPPED = 0.04  # seconds, as in assets/static/bench/live.js
# How often a student who has moved the slider scrolls on to the next bench.
SCROLLS = 0.2
# A training that lasts for a while; the next one has another seed.
TRAINER = "ar_fitting"
START = "ar.networks.start"
TRAINING = {
    "ar.networks.preset": "own",
    "ar.networks.cell": "lstm",
    "ar.networks.epochs": "1000",
    "ar.networks.hidden": "64",
    "ar.process.n": "2000",
}
# As in an image: models are on the disk, and in memory before the first student comes.
MODELS = {"HF_HUB_OFFLINE": "1", "SEQVIZ_PRELOAD": "minilm,smollm2"}
# What ends a student's lesson: no answer, a connection cut or refused, a control that is not there.
FAILURES = (TimeoutError, OSError, KeyError, asyncio.IncompleteReadError, WebSocketException)
SEEDS = itertools.count(5001)
# What Streamlit does by itself: collect after every run, with nothing frozen.
PLAIN = {"runner.postScriptGC": "true"}


@dataclass
class Times:
    """What a class has waited, in seconds, and what went wrong.

    rests: after a drag or a live press, until the picture was that of the value at which the hand
    stopped. pictures: drawn while hands moved.
    """

    presses: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    rests: list[float] = field(default_factory=list)
    pictures: int = 0
    errors: list[str] = field(default_factory=list)

    def drew(self, status: int) -> None:
        """A picture has come, or none."""
        self.pictures += status == 200


@dataclass(frozen=True)
class Plan:
    """A class: how many, how long they think on average, over how long they arrive and press.

    drag: before each press the slider is dragged for `DRAG` seconds. live: a press asks for the
    picture before the page hears of it, as in a browser. devices: the students' cookies, by their
    number: the same class goes on to the next lesson, where another would wait for its seats.
    """

    students: int
    think: float
    arrive: float
    seconds: float
    drag: bool = False
    live: bool = False
    devices: dict[int, dict[str, str]] = field(default_factory=dict, repr=False)


def pressed(lesson: catalog.LessonRecord) -> tuple[str, str]:
    """The bench and the slider of it that a class presses: no value comes twice."""
    return INSTEAD.get(lesson.slug, lesson.first)


def fresh(student: ProtocolClient, key: str, draw: random.Random) -> Iterator[Any]:
    """Values of a slider (or a menu) in random order, none twice until all have been used."""
    slider = student.slider(key)
    if slider is None or "stops" in slider:
        options = (list(student.widgets[key].message.options) if slider is None
                   else [float(stop["value"]) for stop in slider["stops"]])  # fmt: skip
        yield from draw.sample(options, len(options))
        return
    low, high, step = slider["low"], slider["high"], slider["step"]
    count = round((high - low) / step)
    while True:
        for position in draw.sample(range(count + 1), count + 1):
            value = low + position * step
            if not slider["whole"]:  # between the stops there are more, as fresh
                value = min(high, value + draw.random() * step)
            yield value


async def approach(
    student: ProtocolClient, lesson: catalog.LessonRecord, draw: random.Random
) -> tuple[str, Iterator[Any]]:
    """Scroll to the slider that a class presses; its key, and values that the student has fresh."""
    bench, slider = pressed(lesson)
    key = f"{lesson.code}.{bench}.{slider}"
    await student.scroll(bench)
    while student.polls and student.slider(key) is None:  # it waits for a model, or for its turn
        await student.poll()
    if other := BESIDE.get(lesson.slug):
        await student.move(other, next(fresh(student, other, draw)))
    return key, fresh(student, key, draw)


async def drag(student: ProtocolClient, key: str, values: Iterator[Any], times: Times) -> Any:
    """A hand moves for `DRAG` seconds: the latest value only, one request at a time.

    One that is under way when the hand stops is given up soon after, as in the browser. Returns
    where it stops. Noted are the pictures, and how long after the stop the last one came.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + DRAG
    with suppress(TimeoutError):
        async with asyncio.timeout_at(end + STOPPED):
            while loop.time() < end:
                times.drew(await student.picture(key, next(values), moving=True))
    last = next(values)
    times.drew(await student.picture(key, last))
    times.rests.append(loop.time() - end)
    return last


async def press(student: ProtocolClient, key: str, value: Any, times: Times) -> None:
    """What a browser does where a slider is pressed: ask for the picture, then tell the page.

    Where there is no picture, the student waits for the page. One that never comes took as long.
    """
    loop = asyncio.get_running_loop()
    started = loop.time()
    there = False
    try:
        there = await student.picture(key, value) == 200
        if there:
            times.pictures += 1
            times.rests.append(loop.time() - started)
        times.presses.append(await student.move(key, value))
    finally:
        if not there:
            times.rests.append(loop.time() - started)


async def look_around(student: ProtocolClient, draw: random.Random) -> None:
    """After a press: some scroll on to another bench, which is drawn, or redrawn if it builds on
    the slider, and back."""
    scrolls = draw.random() < SCROLLS
    new = scrolls and await student.scroll() > 0
    await student.rest(visible=scrolls and not new)


async def sit(
    url: str, lesson: catalog.LessonRecord, number: int, plan: Plan, times: Times
) -> None:
    """One student's lesson, from the first load to the end of the class."""
    draw = random.Random(f"{SEED}.{lesson.slug}.{number}.{plan.students}")
    loop = asyncio.get_running_loop()
    end = loop.time() + plan.arrive + plan.seconds
    await asyncio.sleep(draw.random() * plan.arrive)
    student = ProtocolClient(url, lesson.slug, cookies=plan.devices.setdefault(number, {}))
    started = loop.time()
    with noted(student, times):
        async with student:
            await student.open()
            times.first.append(loop.time() - started)
            await work(student, lesson, draw, plan, end, times)


@contextmanager
def noted(student: ProtocolClient, times: Times) -> Iterator[None]:
    """Within: what goes wrong for a student ends its lesson, and is noted."""
    try:
        yield
    except FAILURES as error:
        times.errors.append(f"{type(error).__name__}: {error}")
    times.errors += student.errors
    student.errors.clear()


async def work(
    student: ProtocolClient,
    lesson: catalog.LessonRecord,
    draw: random.Random,
    plan: Plan,
    end: float,
    times: Times,
) -> None:
    """A student presses the lesson's first slider, thinks, looks around, until the end."""
    loop = asyncio.get_running_loop()
    key, values = await approach(student, lesson, draw)
    while True:
        pause = plan.think * (0.5 + draw.random())
        if loop.time() + pause > end:
            break
        await asyncio.sleep(pause)
        if plan.live:
            await press(student, key, next(values), times)
        else:
            value = await drag(student, key, values, times) if plan.drag else next(values)
            times.presses.append(await student.move(key, value))
        await look_around(student, draw)


async def train(url: str, running: asyncio.Event) -> None:
    """Keep one training going, and poll it as its page does."""
    for seed in SEEDS:  # the server knows the result of a former one
        async with ProtocolClient(url, TRAINER, training_link(seed)) as student:
            await begin_training(student)
            running.set()
            while student.polls:
                await student.poll()


def training_link(seed: int) -> dict[str, str]:
    """The link of a training that nobody else has with another seed."""
    return {**TRAINING, "ar.process.seed": str(seed)}


async def begin_training(student: ProtocolClient) -> None:
    """Open the lesson, come to its training, start it."""
    await student.open()
    await student.scroll("networks")
    await student.press(START)


@contextmanager
def collector_paused() -> Iterator[None]:
    """Within, no garbage is collected here: it would be taken for a pause of the server."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


async def attend(
    url: str, lesson: catalog.LessonRecord, plan: Plan, training: bool = False
) -> Times:
    """A whole class."""
    times = Times()
    trainer = None
    if training:
        running = asyncio.Event()
        trainer = asyncio.create_task(train(url, running))
        await asyncio.wait(
            [trainer, asyncio.create_task(running.wait())], return_when=asyncio.FIRST_COMPLETED
        )
        if trainer.done():
            trainer.result()  # raises what went wrong
    with collector_paused():
        await asyncio.gather(*(sit(url, lesson, n, plan, times) for n in range(plan.students)))
    if trainer is not None:
        if trainer.done():
            trainer.result()
        trainer.cancel()
        with suppress(asyncio.CancelledError):
            await trainer
    return times


async def warm_up(url: str, lesson: catalog.LessonRecord) -> None:
    """One student before the class: libraries are imported, models loaded."""
    plan = Plan(students=1, think=0.2, arrive=0.0, seconds=3.0, live=True)
    times = Times()
    await sit(url, lesson, -1, plan, times)
    if times.errors:
        raise RuntimeError(f"{lesson.slug}: {times.errors[0]}")


def measure(
    server: Server, lesson: catalog.LessonRecord, plan: Plan, training: bool
) -> dict[str, float]:
    """One lesson, without and with a training."""
    asyncio.run(warm_up(server.url, lesson))
    before, cpu = server.megabytes(), server.cpu_seconds()
    computed = server.counter("seqviz_cache_misses_total", lesson=lesson.slug)
    times = asyncio.run(attend(server.url, lesson, plan))
    result = {
        "p50_ms": milliseconds(times.presses, 50),
        "p95_ms": milliseconds(times.presses, 95),
        "first_p95_ms": milliseconds(times.first, 95),
        "errors": len(times.errors),
        "presses": len(times.presses),
        "computed": server.counter("seqviz_cache_misses_total", lesson=lesson.slug) - computed,
        "rest_p95_ms": milliseconds(times.rests, 95),
        "pictures_s": round(times.pictures / max(1.0, DRAG * len(times.rests)), 1),
        "cpu_ms": round(
            1e3 * (server.cpu_seconds() - cpu) / max(1, len(times.presses) + times.pictures), 1
        ),
        "cpu_share": round((server.cpu_seconds() - cpu) / (plan.arrive + plan.seconds), 2),
        "rss_growth_mb": round(server.megabytes() - before, 1),
    }
    for error in sorted(set(times.errors))[:3]:
        print(f"  {error}")
    if training:
        busy = asyncio.run(attend(server.url, lesson, plan, training=True))
        result |= {
            "training_p95_ms": milliseconds(busy.presses, 95),
            "training_errors": len(busy.errors),
        }
    return result


def visit(
    lessons: Sequence[catalog.LessonRecord], plan: Plan, training: bool, report: Report,
    environment: Mapping[str, str] = MODELS, settings: Mapping[str, str] | None = None,
) -> tuple[dict[str, dict[str, float]], float]:  # fmt: skip
    """All lessons at one server, which is then as warm as on the day; and its memory at the end."""
    result = {}
    with serve(environment=environment, options=settings) as server:
        for lesson in lessons:
            result[lesson.slug] = measure(server, lesson, plan, training)
            report.row(lesson.slug, **result[lesson.slug])
        return result, round(server.megabytes(), 1)


def main() -> None:
    given = options(
        __doc__,
        students=(100, ""),
        think=(6.0, "mean seconds between presses"),
        lesson=("all", "a lesson's slug, or all"),
        arrive=(30.0, "seconds in which they open it"),
        seconds=(30.0, "of pressing after that"),
        drag=(False, "they drag before each press"),
        live=(False, "they press as a browser does"),
        no_training=(False, "leave the second class out"),
        collector={"choices": ("ours", "both"), "default": "both"},
    )
    lessons = catalog.LESSONS if given.lesson == "all" else [catalog.lesson(given.lesson)]
    plan = Plan(given.students, given.think, given.arrive, given.seconds, given.drag, given.live)
    print(plan)
    report = Report("classroom", students=plan.students)
    is_trained = not given.no_training
    lesson_values, memory = visit(lessons, plan, is_trained, report)
    report.values |= {"lessons": lesson_values, "rss_mb": memory}
    if given.collector == "both":
        print("the same with Streamlit's own setting of the garbage collector")
        environment = {**MODELS, "SEQVIZ_GC_FREEZE": "0"}
        default, _ = visit(lessons, plan, False, report, environment, PLAIN)
        report.values["default_collector"] = default
    goals = {key: GOALS[key] for key in GOALS if is_trained or key != "training_p95_ms"}
    report.finish(goals, within="lessons")


if __name__ == "__main__":
    main()
