"""Time of a picture of the app on the device: `Bench.run` without Streamlit or browser.

Every bench that uses a pretrained model, or trains a network of `placement.TABLE` (with few
updates), at its default settings, with another text each time where it reads one; and thirty
students at once while two trainings run on the same device.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from benchmarks.gpu.machine import Machine, SkipRowError, described, models_at, synchronize
from benchmarks.gpu.visible_differences import At
from benchmarks.report import timed
from seqviz import lessons
from seqviz.compute.gates.tiny import TinySettings, train_tiny
from seqviz.core.errors import UserError
from seqviz.lessons.framework.host import LocalHost
from seqviz.lessons.framework.lesson import Bench, Lesson

PICTURES = {True: 2, False: 8}  # of each bench, by `small`
STUDENTS = {True: 3, False: 30}
PICTURES_EACH = {True: 2, False: 6}  # of each student
TEXT = "Student {} reads sentence {} of a long list about attention."
_ENDLESS = 100_000  # updates of a training that is ended when the students are done


class EndedError(Exception):
    """The students are done."""


def quantiles(seconds: list[float]) -> dict[str, float]:
    """Return median and 95th percentile, and the number of pictures."""
    p50, p95 = np.percentile(seconds, (50, 95))
    return {"p50": float(p50), "p95": float(p95), "pictures": len(seconds)}


def lesson(given: Lesson, machine: Machine) -> dict[str, Any]:
    """Return seconds a picture of each bench that uses the device."""
    result: dict[str, Any] = {"unit": "s"}
    for name, bench in given.benches.items():
        machine.check()
        host = At(place=machine.place, small=machine.small)
        try:
            seconds = [
                timed(partial(draw, bench, host, machine.place, 0, number))
                for number in range(PICTURES[machine.small] + 1)
                if number == 0 or host.used
            ]
        except Exception as error:  # of any kind, since other benches can still be measured
            if host.used or isinstance(error, SkipRowError):
                result[name] = described(error)
            continue
        if host.used:
            result[name] = quantiles(seconds[1:])  # the first loads the model
    if len(result) == 1:
        raise SkipRowError("no bench uses the device by default")
    return result


def draw(bench: Bench, host: LocalHost, location: str, student: int, number: int) -> None:
    """Draw the picture of a bench, with a text of its own where the bench reads one."""
    try:
        bench.run({"text": TEXT.format(student, number)}, host=host, code=False)
    except (KeyError, ValueError, TypeError, UserError):  # no such input, or another language
        bench.run({}, host=host, code=False)
    synchronize(location)


def classroom(machine: Machine) -> dict[str, Any]:
    """Return seconds a picture of attention, for students who read texts of their own at once.

    Two trainings run on the device from before the first picture until after the last.
    """
    models_at(machine.place, ("minilm",))
    bench = lessons.attention.lesson.benches["real"]
    draw(bench, LocalHost(), machine.place, 0, 0)
    over = threading.Event()

    def report(*_: object) -> None:
        if over.is_set():
            raise EndedError

    def train(seed: int) -> None:
        settings = TinySettings(hidden=64, updates=_ENDLESS, seed=seed)
        try:
            train_tiny(settings, report, device=machine.place)
        except EndedError:
            return
        raise AssertionError("a training ended before the students")

    def student(number: int) -> list[float]:
        host = LocalHost()
        return [timed(partial(draw, bench, host, machine.place, number, picture))
                for picture in range(1, PICTURES_EACH[machine.small] + 1)]  # fmt: skip

    count = STUDENTS[machine.small]
    with ThreadPoolExecutor(count + 2) as pool:
        trainings = [pool.submit(train, seed) for seed in (0, 1)]
        started = time.perf_counter()
        try:
            seconds = [item for each in pool.map(student, range(count)) for item in each]
        finally:
            over.set()
        passed = time.perf_counter() - started
        for training in trainings:
            training.result()
    return {"unit": "s", "students": count, **quantiles(seconds),
            "pictures/s": len(seconds) / passed}  # fmt: skip
