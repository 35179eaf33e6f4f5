"""Ray cluster on this machine against local computation: cost and fault tolerance.

    python -m benchmarks.engine [--parts overhead sent batches faults] [--students 10000] [--write]

Starts a cluster of two processors with one replica of MiniLM, and sends requests as the app does
(`seqviz.integrations.ray.client`).

* Overhead: a forward pass and a training, on the cluster and locally.
* Sent: bytes and milliseconds of the data that figures request.
* Batches: concurrent texts, on the cluster and one by one.
* Faults: while ten students request fresh texts every 0.3 s, the replica's process is killed, then
  the head; errors, and the longest wait.
* Course: a simulation whose law of a pass is fitted to 2, 5, 20 and 50 concurrent texts. Its median
  and 95th percentile are compared with those measured for 1, 10 and 100 concurrent texts and for
  the ten students, which were not used in the fit. The table of machines comes from that
  simulation, for replicas as fast as this machine's: it is an extrapolation, not a measurement.

`--write` puts both tables into docs/operations.md and everything into benchmarks/results.
"""

from __future__ import annotations

import heapq
import math
import os
import statistics
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from functools import partial
from itertools import count as counter
from pathlib import Path
from random import Random
from textwrap import fill
from typing import Any

import numpy as np

from benchmarks.report import Report, options, timed
from seqviz.core import atomic_write
from seqviz.experiments import attention
from seqviz.integrations.ray import client
from seqviz.models import device, forward_cache, pretrained, texts
from seqviz.models.forward_cache import OWN
from seqviz.models.texts import Tokens
from testing.cluster import NO_RAY, Cluster, cluster
from testing.server import ROOT

MODEL = "minilm"
WORDS = (
    "a", "film", "that", "is", "neither", "funny", "nor", "sad", "but", "was", "worth", "it", "in",
    "the", "end",
)  # fmt: skip
AT_ONCE = (1, 10, 100)
FITTED = (2, 5, 20, 50)  # numbers of concurrent texts used in the fit
ROUNDS = 5
SIZES = (100, 1_000)  # students of simulated courses, besides `--students`
LONG = 512  # tokens
FAULTY = 12.0  # seconds of load around a fault
RESTS = 0.3  # seconds from an answer to the student's next text
TEN = "ten students, 0.3 s between an answer and the next text"
GOAL_MS = 15.0
MOST = 32  # maximum number of texts in a batch
THINK = 6.0  # mean seconds between two interactions of a student
FRESH = 0.1  # share of interactions that request an uncached text
SEATS = 180  # clients of one app process (SEQVIZ_MAX_CLIENTS)
MACHINE = 8  # processors per machine
LOAD = 0.7  # utilization of a processor that trains
BETWEEN = 600.0  # seconds between two trainings of a student
GOAL = 0.2  # seconds, 95th percentile of the wait for a text
BEGIN, END = "<!-- written by benchmarks.engine -->", "<!-- up to here -->"


def fresh(count: int, start: int) -> list[Tokens]:
    """Return unread texts of one length."""
    model = pretrained.load(MODEL)
    built = []
    for n in range(start, start + count):
        order = np.random.RandomState(n).permutation(len(WORDS))
        built.append(texts.tokens(model, " ".join(WORDS[i] for i in order)))
    return built


def ask(engine: client.Engine, tokens: Tokens) -> Any:
    result = engine.forward(MODEL, tokens, OWN, None)
    assert result is not None
    return result


def told(results: Sequence[float]) -> dict[str, float]:
    median, p95 = percentiles(results)
    return {"median_ms": round(median, 1), "p95_ms": round(p95, 1)}


def overhead(engine: client.Engine, passes: int) -> dict[str, Any]:
    """Measure fresh texts alternately on the cluster and locally; then a small training."""
    model = pretrained.load(MODEL)
    items = fresh(2 * passes + 20, 0)
    there, here = partial(ask, engine), partial(forward_cache.forward, model)
    ray, local = [], []
    for index in range(0, len(items), 2):  # alternating; the first ten of each are warm-up
        ray.append(1e3 * timed(partial(there, items[index])))
        local.append(1e3 * timed(partial(here, items[index + 1])))
    ray, local = ray[10:], local[10:]
    more = statistics.median(ray) - statistics.median(local)
    forward = {"ray": told(ray), "local": told(local), "more_ms": round(more, 1)}
    return {"forward": forward, "training": trainings(engine)}


def trainings(engine: client.Engine) -> dict[str, Any]:
    """Run the same small training through the queue, on the cluster and locally.

    Each run has a fresh seed.
    """
    from seqviz.compute.gates.tiny import train_tiny
    from seqviz.compute.gates.tiny_results import TinySettings
    from seqviz.jobs import JobQueue, queue

    result: dict[str, Any] = {}
    queues = {"ray": JobQueue(), "local": JobQueue()}
    seeds = {"ray": range(1, 9), "local": range(11, 19)}
    for name, jobs in queues.items():
        queue.remote_executor = engine.train if name == "ray" else None
        seconds = []
        for seed in seeds[name]:

            def train(seed: int = seed, jobs: JobQueue = jobs) -> None:
                settings = TinySettings(seed=seed, updates=150)
                job = jobs.submit(train_tiny, settings=settings, owner="a", device="cpu")
                assert job.wait(120)
                assert job.state == "done", job.error

            seconds.append(1e3 * timed(train))
        result[name] = told(seconds[1:])  # the first run imports modules
        jobs.close()
    queue.remote_executor = None
    return result


def sent(engine: client.Engine) -> dict[str, dict[str, float]]:
    """Measure bytes of the answer and milliseconds until the arrays, by kind of figure."""
    asks: dict[str, Callable[[str], object]] = {
        "a text, first": partial(forward_cache.read, MODEL),
        "one head": partial(attention.head, MODEL, layer=3, head=2),
        "mean of a layer": partial(attention.average, MODEL, over="layer"),
        "mean of all": partial(attention.average, MODEL, over="all"),
        "rollout": partial(attention.average, MODEL, over="rollout", layer=5),
        "all heads": partial(attention.mosaic, MODEL),
        "the file of all weights": partial(attention.tensor, MODEL),
    }
    forward_cache.remote_forward = engine.forward
    result = {}
    for words in (25, LONG - 2):
        text = " ".join(WORDS[n % len(WORDS)] for n in range(words))
        for name, ask_for in asks.items():
            before, ms = engine.bytes["forward"], 1e3 * timed(partial(ask_for, text))
            result[f"{words + 2} tokens: {name}"] = {
                "bytes": engine.bytes["forward"] - before, "ms": round(ms, 1),
            }  # fmt: skip
    forward_cache.remote_forward = None
    return result


Batches = dict[int, dict[str, list[float]]]


def batches(engine: client.Engine) -> Batches:
    """Return the seconds to each answer by number of concurrent texts, over all rounds."""
    model = pretrained.load(MODEL)
    methods = {"ray": partial(ask, engine), "local": partial(forward_cache.forward, model)}
    batches: Batches = {}
    start = 10_000
    with ThreadPoolExecutor(max(AT_ONCE)) as pool:
        for count in sorted({*AT_ONCE, *FITTED}):
            batches[count] = {"ray": [], "local": []}
            for _ in range(ROUNDS):
                for method in methods if count in AT_ONCE else ["ray"]:
                    items = fresh(count, start)
                    start += count
                    began = time.perf_counter()

                    def one(tokens: Tokens, strategy: str = method, began: float = began) -> float:
                        methods[strategy](tokens)
                        return time.perf_counter() - began

                    batches[count][method] += pool.map(one, items)
    return batches


def gains(batches: Batches) -> dict[int, dict[str, Any]]:
    """Return the time of the last answer by number of concurrent texts, median of the rounds."""
    payload = {}
    for count in AT_ONCE:
        ray, local = (
            statistics.median(max(item[n : n + count]) for n in range(0, len(item), count))
            for item in (batches[count]["ray"], batches[count]["local"])
        )
        payload[count] = {
            "ray_s": round(ray, 3), "local_s": round(local, 3), "gain": round(local / ray, 2),
        }  # fmt: skip
    return payload


def faults(engine: client.Engine, cluster: Cluster) -> tuple[dict[str, Any], list[float]]:
    """Run ten students while processes are killed; return the faults and undisturbed waits.

    The first part has for each fault the errors and the longest wait; the second the seconds of all
    requests that no fault affected.
    """
    model = pretrained.load(MODEL)
    result = {}
    calm: list[float] = []
    kills: dict[str, Callable[[], object]] = {
        "nothing": lambda: None,
        "replica": lambda: [worker.kill() for worker in cluster.workers("ServeReplica")],
        "head": lambda: cluster.kill(0),
    }
    for number, (name, kill) in enumerate(kills.items()):
        before = dict(engine.counts)
        seconds, errors = ask_while(engine, model, kill, 50_000 * (number + 1))
        calm = calm or seconds
        new = {how: engine.counts["forward", how] - before.get(("forward", how), 0)
               for how in client.OUTCOMES}  # fmt: skip
        result[name] = {
            "passes": len(seconds),
            "errors": errors,
            "longest_s": round(max(seconds), 2),
            **told([1e3 * second for second in seconds]),
            "how": {k: v for k, v in new.items() if v},
        }
    return result, calm


def ask_while(
    engine: client.Engine, model: Any, kill: Callable[[], object], start: int
) -> tuple[list[float], int]:
    seconds: list[float] = []
    errors = 0
    requests = [iter(fresh(60, start + 1000 * number)) for number in range(10)]
    until = time.monotonic() + FAULTY

    def student(number: int) -> None:
        nonlocal errors
        items = requests[number]
        while time.monotonic() < until:
            tokens = next(items)
            began = time.monotonic()
            try:
                if engine.forward(MODEL, tokens, OWN, None) is None:
                    forward_cache.forward(model, tokens)
            except Exception:
                errors += 1
            seconds.append(time.monotonic() - began)
            time.sleep(RESTS)

    students = [threading.Thread(target=student, args=(n,)) for n in range(10)]
    for item in students:
        item.start()
    time.sleep(FAULTY / 4)
    kill()
    for item in students:
        item.join()
    return seconds, errors


# --- simulation of a course of any size on a cluster, with a virtual clock ------------------------
# Students send fresh texts to replicas. A free replica reads all texts in its queue, at most
# `MOST`, in one batch; later texts wait for its end. Ray routes each text to the less loaded one of
# two random replicas.

Asked = tuple[tuple[float, int], ...]  # time and student of each request


@dataclass(frozen=True)
class Law:
    """Duration model of forward passes, in seconds.

    A pass of n texts occupies a replica for `fixed + each * n`; `way` is the time of a text between
    student and replica without a queue.
    """

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
    """Return the simulated seconds of each text, in the order of the answers.

    Args:
        law: duration of a pass.
        replicas: number of replicas.
        first: time of each student's first request.
        pause: seconds from an answer to that student's next text.
        until: time after which no text is requested.
        seed: random seed.
    """
    draw, number = Random(seed), counter()
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
    """Return the median and the 95th percentile."""
    return float(np.median(seconds)), float(np.percentile(seconds, 95))


def fitted(measured: Mapping[int, tuple[float, float]]) -> Law:
    """Return the law whose percentiles are nearest to the measured ones.

    Least squares of the logarithms of the ratios of median and 95th percentile.

    Args:
        measured: seconds, by number of concurrent texts.
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
    """Draw the seconds until a student's next fresh text.

    They are those of several interactions, each of half to one and a half `THINK`; the last one
    requests the text.
    """
    seconds = 0.0
    while True:
        seconds += THINK * (0.5 + draw.random())
        if draw.random() < FRESH:
            return seconds


def needed(law: Law, students: int) -> tuple[int, tuple[float, float]]:
    """Return the smallest number of replicas that meets `GOAL`, with median and 95th percentile.

    The goal is for the 95th percentile in three simulated minutes.
    """
    draw = Random(2)
    first = [draw.random() * THINK / FRESH for _ in range(students)]
    replicas = max(1, math.floor(students * FRESH / THINK * law.each))
    while True:
        results = percentiles(waits(law, replicas, first, pause, 180.0))
        if results[1] <= GOAL or replicas > 10_000:
            return replicas, results
        replicas += 1


def machines(law: Law, training: float, students: int) -> dict[str, float]:
    """Extrapolate the machines that a course needs.

    Args:
        law: duration of a pass.
        training: seconds of one training.
        students: number of students.
    """
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


def checks(law: Law, batches: Batches, calm: Sequence[float]) -> list[dict[str, Any]]:
    """Compare the simulation with the measurements."""
    pairs: dict[str, tuple[Sequence[float], np.ndarray]] = {
        f"{n} at once": (batches[n]["ray"], waits(law, 1, [0.0] * n))
        for n in AT_ONCE
        if n in batches
    }
    if calm:
        pairs[TEN] = calm, waits(law, 1, [0.0] * 10, lambda draw: RESTS, FAULTY)
    messages = []
    for name, (measured, simulated) in pairs.items():
        for part, item, other in zip(
            ("median", "95th percentile"),
            percentiles(measured),
            percentiles(simulated),
            strict=True,
        ):
            messages.append({
                "what": name, "part": part, "measured_ms": round(1e3 * item, 1),
                "simulated_ms": round(1e3 * other, 1), "error": round(other / item - 1, 2),
            })  # fmt: skip
    return messages


def rows(lines: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table; the first line is its head."""
    lines = [lines[0], ["---"] * len(lines[0]), *lines[1:]]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def course_said(payload: dict[str, Any]) -> str:
    """Return the report of the simulation, its errors, and the table of machines."""
    course = payload["course"]
    fixed, each, method = (f"{1e3 * item:.1f}" for item in course["law_s"])
    worst = max(abs(item["error"]) for item in course["checked"])
    checked = [["of a text, from press to answer", "measured", "simulated", "error"]]
    checked += (
        [f"{item['what']}: {item['part']}", f"{item['measured_ms']:.1f} ms",
         f"{item['simulated_ms']:.1f} ms", f"{item['error']:+.0%}"] for item in course["checked"]
    )  # fmt: skip
    table: list[list[object]] = [[
        "students", "processes of the app", "replicas", "processors that train", "processors",
        f"machines of {MACHINE}", "processor hours for 100 students and an hour",
        "a text: median (p95)",
    ]]  # fmt: skip
    for entry in course["extrapolated"]:
        wait = f"{entry['median_ms']:.0f} ms ({entry['p95_ms']:.0f})"
        keys = ("students", "apps", "replicas", "trainers", "processors", "machines", "hours_100")
        table.append([*(f"{entry[key]:,}" for key in keys), wait])
    points = f"{', '.join(map(str, FITTED[:-1]))} and {FITTED[-1]}"
    law = fill(
        f"Simulated, {payload['date']}, {payload['machine']}: a pass of n texts takes a replica "
        f"{fixed} ms + {each} ms n, a text {method} ms besides; fitted to {points} texts at once. "
        f"Beside what was measured, to which nothing was fitted (largest error {worst:.0%}):",
        110,
    )
    needs = fill(
        "**Extrapolated, no measurement**: machines against students, for processors as fast as "
        f"these, MiniLM, texts of {len(WORDS)} words, a press every {THINK:.0f} s and one in "
        f"{1 / FRESH:.0f} with a fresh text, a training of {course['training_s']:.2f} s every "
        f"{BETWEEN / 60:.0f} minutes; {SEATS} students for a process of the app, at most {MOST} "
        "texts in a pass, as many replicas as keep the 95th percentile at "
        f"{1e3 * GOAL:.0f} ms:", 110,
    )  # fmt: skip
    return f"{law}\n\n{rows(checked)}\n\n{needs}\n\n{rows(table)}"


def results_said(payload: dict[str, Any]) -> str:
    """Return the report of all measurements."""
    forward, training = payload["overhead"]["forward"], payload["overhead"]["training"]

    def two(item: dict[str, float]) -> str:
        return f"{item['median_ms']} ms ({item['p95_ms']})"

    costs = [["median (p95)", "through Ray", "this machine"],
             ["forward pass", two(forward["ray"]), two(forward["local"])],
             ["training of 150 updates", two(training["ray"]), two(training["local"])],
             *([f"{n} at once, the last", f"{item['ray_s']} s", f"{item['local_s']} s"]
               for n, item in payload["batches"].items())]  # fmt: skip
    sizes: list[list[object]] = [["what is asked for", "bytes", "ms"]]
    sizes += ([name, f"{item['bytes']:,}", item["ms"]] for name, item in payload["sent"].items())
    killed = [["killed", "texts", "errors", "longest wait", "median (p95)", "answered"]]
    for name, entry in payload["faults"].items():
        how = ", ".join(f"{how} {count}" for how, count in entry["how"].items())
        killed.append(
            [name, entry["passes"], entry["errors"], f"{entry['longest_s']} s", two(entry), how]
        )
    command = "`python -m benchmarks.engine --write`"
    head = f"## {payload['date']}, a Ray cluster on the same {payload['machine']} ({command})"
    more = (
        f"{forward['more_ms']} ms more through Ray (goal: at most {GOAL_MS:.0f}); load of the "
        f"machine before: {payload['load']}"
    )
    tables = (rows(costs), rows(sizes), rows(killed), course_said(payload))
    return "\n\n".join((head, f"A forward pass takes {more}.", *tables))


def put(path: Path, text: str) -> None:
    """Write text between the marks of a file, or at its end."""
    path.touch()
    before, mark, rest = path.read_text("utf-8").partition(BEGIN)
    after = rest.partition(END)[2] if mark else "\n"
    path.write_text(f"{before.rstrip()}\n\n{BEGIN}\n\n{text}\n\n{END}{after}", "utf-8")


def main() -> None:
    parts = ["overhead", "sent", "batches", "faults"]
    given = options(
        __doc__,
        passes=(100, "number of forward passes on each side"),
        parts={"nargs": "+", "choices": parts, "default": parts},
        students=(10_000, "number of students of a simulated course"),
        write=(False, "write the tables to docs and results; needs all parts"),
    )
    if NO_RAY:
        raise SystemExit(NO_RAY)
    report = Report("engine", date=f"{date.today()}", load=round(os.getloadavg()[0], 1),
                    machine=f"{os.cpu_count()} x {device.cpu_name()}")  # fmt: skip
    values = report.values
    result: Batches = {}
    calm: list[float] = []
    with cluster(2) as there:
        os.environ.update(there.environment)
        there.deploy(MODEL, "--most", "1", "--processors", "0.5")
        engine = client.Engine(there.address, 10.0)
        assert engine.wait(60), engine.state
        pretrained.load(MODEL)
        if "overhead" in given.parts:
            values["overhead"] = overhead(engine, given.passes)
        if "sent" in given.parts:
            values["sent"] = sent(engine)
        if "batches" in given.parts:
            result = batches(engine)
            values["batches"] = gains(result)
        if "faults" in given.parts:
            values["faults"], calm = faults(engine, there)
        engine.close()
    if result:
        law = fitted({n: percentiles(result[n]["ray"]) for n in FITTED})
        training = values.get("overhead", {}).get("training", {}).get("ray", {}).get("median_ms", 0)
        values["course"] = {
            "law_s": [law.fixed, law.each, law.way], "training_s": training / 1e3,
            "checked": checks(law, result, calm),
            "extrapolated": [machines(law, training / 1e3, n) for n in (*SIZES, given.students)],
        }  # fmt: skip
        print(course_said(values))
    report.finish({"more_ms": GOAL_MS} if "overhead" in values else {})
    if given.write:
        results = ROOT / "benchmarks" / "results" / f"{date.today():%Y-%m}.md"
        for path, text in (
            (ROOT / "docs" / "operations.md", course_said(values)),
            (results, results_said(values)),
        ):
            with atomic_write.or_exit(path):
                put(path, text)


if __name__ == "__main__":
    main()
