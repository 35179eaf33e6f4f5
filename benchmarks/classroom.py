"""Load test of one server: response times while a class of a hundred students moves sliders.

The students speak Streamlit's protocol over the websocket (`testing.protocol`); the server is the
app as served, in a separate process, on the same two cores. Each student opens the lesson at a
random time within `--arrive` seconds, then moves the lesson's first slider and thinks, on average,
for `--think` seconds. No value occurs twice in a class: where the slider has too few, each student
first moves another one (`BESIDE`), or uses one of another bench (`INSTEAD`). The number of results
that the server had to compute is printed, so that cache hits cannot flatter the numbers
(bert_accuracy shows shipped results: there it is 0). After one interaction in five, a student
scrolls to another bench (`SCROLLS`) and back: the next that has not been drawn yet, later the first
that depends on the slider, which is then redrawn. That counts as load; the reported time is that of
the interaction. First load is the opening of the page, with its first bench.

With `--live`, an interaction is what a browser makes of it: a drag request for the figure, then the
commit to the page. `rest_p95_ms` is the time until the figure, the other times are the page's.

With `--drag`, each student drags the slider for two seconds before the commit: like the browser,
with one request at a time. `pictures_s` is the number of figures that one dragging student gets per
second, `rest_p95_ms` the time from the end of the drag to its figure, `cpu_ms` the server's
processor time per interaction or figure, page loads included.

A second class runs while the server trains. A third, with `--collector both`, is the same class at
a server with Streamlit's own setting of the garbage collector.

Usage: `python -m benchmarks.classroom --students 100 --think 6 --lesson all`.
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
# Where the first slider has only a few values, a class uses another slider of the lesson.
INSTEAD = {"gates": ("force", "f"), "bert_accuracy": ("knife", "share")}
DRAG = 2.0  # seconds
STOPPED = 0.04  # seconds, as in assets/static/bench/live.js
# Probability that a student scrolls to the next bench after moving the slider.
SCROLLS = 0.2
# A long training; each one has another seed.
TRAINER = "ar_fitting"
START = "ar.networks.start"
TRAINING = {
    "ar.networks.preset": "own",
    "ar.networks.cell": "lstm",
    "ar.networks.epochs": "1000",
    "ar.networks.hidden": "64",
    "ar.process.n": "2000",
}
# As in an image: models are stored, and loaded before the first student arrives.
MODELS = {"HF_HUB_OFFLINE": "1", "SEQVIZ_PRELOAD": "minilm,smollm2"}
# Errors that end a student's lesson: timeout, lost or refused connection, missing control.
FAILURES = (TimeoutError, OSError, KeyError, asyncio.IncompleteReadError, WebSocketException)
SEEDS = itertools.count(5001)
# Streamlit's default: collect garbage after every run, with nothing frozen.
PLAIN = {"runner.postScriptGC": "true"}


@dataclass
class Times:
    """Waiting times of a class in seconds, and errors.

    Attributes:
        rests: from the end of a drag or a live interaction until the figure of the final value.
        pictures: number of figures drawn during drags.
    """

    presses: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    rests: list[float] = field(default_factory=list)
    pictures: int = 0
    errors: list[str] = field(default_factory=list)

    def drew(self, status: int) -> None:
        """Record that a request has returned a figure, or none."""
        self.pictures += status == 200


@dataclass(frozen=True)
class Plan:
    """Parameters of a class: size, mean thinking time, time of arrival, duration.

    Attributes:
        drag: True to drag the slider for `DRAG` seconds before each interaction.
        live: True to request the figure before the commit, like a browser.
        devices: cookies of the students by number, so that the same class continues with the next
            lesson; a new class would wait for admission.
    """

    students: int
    think: float
    arrive: float
    seconds: float
    drag: bool = False
    live: bool = False
    devices: dict[int, dict[str, str]] = field(default_factory=dict, repr=False)


def pressed(lesson: catalog.LessonRecord) -> tuple[str, str]:
    """Return the bench and the slider that the class uses; no value occurs twice."""
    return INSTEAD.get(lesson.slug, lesson.first)


def fresh(student: ProtocolClient, key: str, draw: random.Random) -> Iterator[Any]:
    """Yield values of a slider or menu in random order; none repeats until all were used."""
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
            if not slider["whole"]:  # values between the steps are fresh as well
                value = min(high, value + draw.random() * step)
            yield value


async def approach(
    student: ProtocolClient, lesson: catalog.LessonRecord, draw: random.Random
) -> tuple[str, Iterator[Any]]:
    """Scroll to the slider that the class uses; return its key and the student's fresh values."""
    bench, slider = pressed(lesson)
    key = f"{lesson.code}.{bench}.{slider}"
    await student.scroll(bench)
    while student.polls and student.slider(key) is None:  # waits for model or queue
        await student.poll()
    if other := BESIDE.get(lesson.slug):
        await student.move(other, next(fresh(student, other, draw)))
    return key, fresh(student, key, draw)


async def drag(student: ProtocolClient, key: str, values: Iterator[Any], times: Times) -> Any:
    """Drag for `DRAG` seconds: request the latest value only, one request at a time.

    A request in flight at the end of the drag is soon cancelled, as in the browser. Returns the
    final value, and records the figures and the time from the end of the drag to the last one.
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
    """Act like a browser on an interaction: request the figure, then commit the value.

    Without a figure, the student waits for the page. A figure that never arrives counts with that
    time.
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
    """After an interaction, sometimes scroll to another bench, which is (re)drawn, and back."""
    scrolls = draw.random() < SCROLLS
    new = scrolls and await student.scroll() > 0
    await student.rest(visible=scrolls and not new)


async def sit(
    url: str, lesson: catalog.LessonRecord, number: int, plan: Plan, times: Times
) -> None:
    """Run one student's lesson, from the first load to the end of the class."""
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
    """Record an error of a student and end its lesson."""
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
    """Use the lesson's first slider, think, look around, until the end."""
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
    """Keep one training running, and poll it as its page does."""
    for seed in SEEDS:  # the server has cached the result of a former seed
        async with ProtocolClient(url, TRAINER, training_link(seed)) as student:
            await begin_training(student)
            running.set()
            while student.polls:
                await student.poll()


def training_link(seed: int) -> dict[str, str]:
    """Return the permalink of a training that no other seed has."""
    return {**TRAINING, "ar.process.seed": str(seed)}


async def begin_training(student: ProtocolClient) -> None:
    """Open the lesson, scroll to its training, start it."""
    await student.open()
    await student.scroll("networks")
    await student.press(START)


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause garbage collection here, since it would look like a pause of the server."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


async def attend(
    url: str, lesson: catalog.LessonRecord, plan: Plan, training: bool = False
) -> Times:
    """Run a whole class."""
    times = Times()
    trainer = None
    if training:
        running = asyncio.Event()
        trainer = asyncio.create_task(train(url, running))
        await asyncio.wait(
            [trainer, asyncio.create_task(running.wait())], return_when=asyncio.FIRST_COMPLETED
        )
        if trainer.done():
            trainer.result()  # raises an error of the training
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
    """Run one student before the class, so that libraries are imported and models loaded."""
    plan = Plan(students=1, think=0.2, arrive=0.0, seconds=3.0, live=True)
    times = Times()
    await sit(url, lesson, -1, plan, times)
    if times.errors:
        raise RuntimeError(f"{lesson.slug}: {times.errors[0]}")


def measure(
    server: Server, lesson: catalog.LessonRecord, plan: Plan, training: bool
) -> dict[str, float]:
    """Measure one lesson, without and with a training."""
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
    """Measure all lessons at one server, which stays warm between them, and its final memory."""
    result = {}
    with serve(environment=environment, options=settings) as server:
        for lesson in lessons:
            result[lesson.slug] = measure(server, lesson, plan, training)
            report.row(lesson.slug, **result[lesson.slug])
        return result, round(server.megabytes(), 1)


def main() -> None:
    given = options(
        __doc__,
        students=(100, "number of students"),
        think=(6.0, "mean seconds between interactions"),
        lesson=("all", "slug of a lesson, or all"),
        arrive=(30.0, "seconds in which the students open the lesson"),
        seconds=(30.0, "seconds of interactions after that"),
        drag=(False, "drag before each interaction"),
        live=(False, "request the figure before the commit, like a browser"),
        no_training=(False, "leave out the second class, with a training"),
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
