"""Simulation of the scheduler with a virtual clock, against measured classes.

The rules are those of docs/scheduler.md.

A simulated class opens its pages, then interacts and thinks as in `benchmarks.classroom --live`:
each interaction requests a figure, then its page reruns, sometimes another bench is drawn. Tasks
admitted by `seqviz.ui.runtime.scheduler.Scheduler` share one core with the server's other work
(messages, addresses, the event loop). The costs are measured with a class so small that nobody
waits (`CALM` students); then larger classes are simulated, and measured at the same server.

Usage: `python -m benchmarks.scheduler --students 100 150`; `--simulate 300 600` only simulates. In
the last line, `ratio` is simulated p95 / measured p95 of the largest measured class, `holds` the
largest measured class whose p95 is at most `GOAL`.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from benchmarks.classroom import MODELS, SCROLLS, Plan, Times, attend, warm_up
from benchmarks.report import Report, milliseconds, options
from seqviz.content import catalog
from seqviz.ui.runtime.scheduler import TICK_S, Priority, Scheduler, Ticket
from testing.server import Server, serve

CALM = 8
GOAL = 150.0  # ms until the figure of an interaction, 95th percentile
SEED = 5


@dataclass(frozen=True)
class Costs:
    """Costs in seconds of one core: a figure, its bench's rerun, another bench, a page.

    The last one is the work for an interaction outside the scheduler.
    """

    picture: float
    run: float
    other: float
    page: float
    besides: float


@dataclass(eq=False)
class Task:
    """A task with its duration in seconds of the core, and its continuation."""

    seconds: float
    came: float
    then: str
    student: int
    waiting: Ticket | None = None
    recent_cpu_s: float = 0.0

    def expected_cpu_s(self, _rank: Priority, /) -> float:
        """Return the duration, since clients repeat similar tasks."""
        return self.seconds


@dataclass
class Simulation:
    """A class on one core.

    Attributes:
        presses: seconds until the figure, per interaction.
        first: seconds until the page, per student.
    """

    costs: Costs
    plan: Plan
    presses: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    now: float = 0.0

    def run(self) -> None:
        """Run until all students have left."""
        draw, order = random.Random(SEED), Scheduler()
        number = itertools.count()
        events: list[tuple[float, int, str, int]] = []
        end = self.plan.arrive + self.plan.seconds
        working: set[Task] = set()
        waiting: dict[Ticket, Task] = {}

        def at(when: float, what: str, student: int) -> None:
            heapq.heappush(events, (when, next(number), what, student))

        def come(rank: Priority | None, seconds: float, then: str, student: int) -> None:
            task = Task(seconds, self.now, then, student)
            if rank is None:
                working.add(task)
            else:
                task.waiting = Ticket(rank, self.now, task)
                waiting[task.waiting] = task
                order.enqueue(task.waiting)

        def think(student: int) -> None:
            when = self.now + self.plan.think * (0.5 + draw.random())
            if when < end:
                at(when, "press", student)

        for student in range(self.plan.students):
            at(draw.random() * self.plan.arrive, "open", student)
        while events or working or waiting:
            for ticket in order.dispatch(self.now):
                working.add(waiting.pop(ticket))
            minimum = min((len(working) * task.seconds for task in working), default=1e9)
            until = min(self.now + minimum, events[0][0] if events else 1e9)
            if waiting:  # a slot may become available by time alone
                until = min(until, self.now + TICK_S)
            share = (until - self.now) / max(1, len(working))
            self.now = until
            done = []
            for task in working:
                task.seconds -= share
                if task.seconds <= 1e-9:
                    done.append(task)
            for task in done:
                working.discard(task)
                if task.waiting is not None:
                    order.release(task.waiting)
                match task.then:
                    case "picture":
                        self.presses.append(self.now - task.came)
                        come(Priority.INTERACTION, self.costs.run, "run", task.student)
                        come(None, self.costs.besides, "", task.student)
                    case "run":
                        if draw.random() < SCROLLS:
                            come(Priority.PAGE, self.costs.other, "", task.student)
                        think(task.student)
                    case "page":
                        self.first.append(self.now - task.came)
                        think(task.student)
            while events and events[0][0] <= self.now:
                _, _, what, student = heapq.heappop(events)
                if what == "open":
                    come(Priority.PAGE, self.costs.page, "page", student)
                else:
                    come(Priority.INTERACTION, self.costs.picture, "picture", student)


KINDS = {"picture": "live", "run": "bench", "other": "new", "page": "page"}


def means(server: Server, slug: str) -> Iterator[tuple[str, float, float]]:
    """Return number and seconds of the runs so far, by kind."""
    for kind in KINDS.values():
        labels = {"lesson": slug, "kind": kind}
        yield (kind, server.counter("seqviz_run_seconds_count", **labels),
               server.counter("seqviz_run_seconds_sum", **labels))  # fmt: skip


def calibrated(server: Server, lesson: catalog.LessonRecord, plan: Plan) -> Costs:
    """Measure the costs with a class that does not wait."""
    before, cpu = list(means(server, lesson.slug)), server.cpu_seconds()
    times = asyncio.run(attend(server.url, lesson, replace(plan, students=CALM)))
    cpu = server.cpu_seconds() - cpu
    each = {}
    for (kind, count, seconds), (_, count_before, seconds_before) in zip(
        means(server, lesson.slug), before, strict=True
    ):
        runs = count - count_before
        each[kind] = (seconds - seconds_before) / max(1.0, runs), runs
    inside = sum(mean * runs for mean, runs in each.values())
    besides = max(0.0, (cpu - inside) / max(1, len(times.presses)))
    return Costs(**{name: each[kind][0] for name, kind in KINDS.items()}, besides=besides)


def figures(presses: list[float], first: list[float]) -> dict[str, float]:
    """Return the waiting times of a class."""
    return {
        "p50_ms": milliseconds(presses, 50),
        "p95_ms": milliseconds(presses, 95),
        "first_p95_ms": milliseconds(first, 95),
    }


def main() -> None:
    given = options(
        __doc__,
        students={"type": int, "nargs": "*", "default": [50, 100, 150], "help": "sizes to measure"},
        simulate={"type": int, "nargs": "*", "default": [], "help": "sizes to simulate"},
        lesson=("gates", "slug of the lesson"),
        think=(6.0, "mean seconds between interactions"),
        seconds=(40.0, "seconds of interactions"),
        arrive=(15.0, "seconds in which the students open the lesson"),
        workers=(0, "SEQVIZ_WORKERS of the server"),
    )
    lesson = catalog.lesson(given.lesson)
    plan = Plan(0, given.think, given.arrive, given.seconds, live=True)
    rows: dict[str, dict[str, float]] = {}
    report = Report("scheduler", ratio=None, holds=0, workers=given.workers)
    environment = {**MODELS, "SEQVIZ_WORKERS": str(given.workers), "SEQVIZ_MAX_CLIENTS": "0"}
    with serve(environment=environment) as server:
        asyncio.run(warm_up(server.url, lesson))
        costs = calibrated(server, lesson, plan)
        report.row("seconds", **vars(costs))
        for students in sorted({*given.students, *given.simulate}):
            simulation = Simulation(costs, replace(plan, students=students))
            simulation.run()
            simulated = rows[f"{students} simulated"] = figures(
                simulation.presses, simulation.first
            )
            report.row(f"{students} simulated", **simulated)
            if students in given.students:
                times: Times = asyncio.run(
                    attend(server.url, lesson, replace(plan, students=students))
                )
                measured = rows[f"{students} measured"] = figures(times.rests, times.first)
                report.row(f"{students} measured", **measured)
                for error in sorted(set(times.errors))[:3]:
                    print(f"  {error}")
                report.values["ratio"] = round(simulated["p95_ms"] / measured["p95_ms"], 2)
                if measured["p95_ms"] <= GOAL and not times.errors:
                    report.values["holds"] = students
    print(f"the largest of these classes that holds a p95 of {GOAL:.0f} ms: "
          f"{report.values['holds']}")  # fmt: skip
    report.values |= {"costs": vars(costs), "rows": rows}
    report.finish()


if __name__ == "__main__":
    main()
