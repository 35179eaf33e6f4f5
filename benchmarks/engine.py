"""A Ray cluster on this machine beside the machine alone: what each answer costs, and what fails.

    python -m benchmarks.engine [--passes 100] [--parts overhead batches faults] [--students 10000]

Starts a cluster of two processors with one replica of MiniLM, and asks as the app does
(`seqviz.engine.client`). Overhead: a forward pass and a training, there and here. Batches: 1, 10
and 100 texts at once, there and one by one. Faults: while ten students ask for fresh texts every
0.3 s, the process of the replica is killed, then the head; errors, and the longest wait. Last a
simulation: students who press every `--think` seconds, and with one press in ten ask for a text
that nobody has read (Poisson), at replicas that read what waits in one pass, whose law (`a + b n`
seconds for n texts) is fitted to the batches measured here. `checked` has the law beside the
batches that it was fitted to, and the simulation beside the load of ten students, to which nothing
was fitted. The table of machines is that simulation's, for replicas as fast as this machine's: it
is extrapolated, no measurement.
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from driver.cluster import NO_RAY, Cluster, cluster
from seqviz.engine import client
from seqviz.models import forward_cache, pretrained, texts
from seqviz.models.forward_cache import OWN
from seqviz.models.texts import Tokens

MODEL = "minilm"
WORDS = (
    "a", "film", "that", "is", "neither", "funny", "nor", "sad", "but", "was", "worth", "it", "in",
    "the", "end",
)  # fmt: skip
AT_ONCE = (1, 10, 100)
ROUNDS = 5
FAULTY = 12.0  # seconds of load around a fault
GOAL_MS = 15.0
FRESH = 0.1  # of a student's presses ask for a text that nobody has read
SEATS = 180  # of an app process (SEQVIZ_SEATS)


def fresh(count: int, start: int) -> list[Tokens]:
    """Texts of one length that nobody has read."""
    model = pretrained.load(MODEL)
    made = []
    for n in range(start, start + count):
        order = np.random.RandomState(n).permutation(len(WORDS))
        made.append(texts.tokens(model, " ".join(WORDS[i] for i in order)))
    return made


def timed(work: Callable[[Any], object], items: Sequence[Any]) -> list[float]:
    """Milliseconds of each."""
    found = []
    for one in items:
        began = time.perf_counter()
        assert work(one) is not None
        found.append(1e3 * (time.perf_counter() - began))
    return found


def ask(engine: client.Engine, tokens: Tokens) -> Any:
    return engine.forward(MODEL, tokens, OWN, None)


def told(found: Sequence[float]) -> dict[str, float]:
    return {
        "median_ms": round(statistics.median(found), 1),
        "p95_ms": round(float(np.percentile(found, 95)), 1),
    }


def overhead(engine: client.Engine, passes: int) -> dict[str, Any]:
    """Fresh texts in turns, there and here; then a small training."""
    model = pretrained.load(MODEL)
    items = fresh(2 * passes + 20, 0)
    there, here = partial(ask, engine), partial(forward_cache.forward, model)
    timed(there, items[:10])
    timed(here, items[10:20])
    ray, local = [], []
    for place in range(20, len(items), 2):
        ray += timed(there, items[place : place + 1])
        local += timed(here, items[place + 1 : place + 2])
    more = statistics.median(ray) - statistics.median(local)
    forward = {"ray": told(ray), "local": told(local), "more_ms": round(more, 1)}
    return {"forward": forward, "training": trainings(engine)}


def trainings(engine: client.Engine) -> dict[str, Any]:
    """The same small training, fresh seeds, by the queue there and here."""
    from seqviz.compute.gates.tiny import train_tiny
    from seqviz.compute.gates.tiny_results import TinySettings
    from seqviz.jobs import Jobs, queue

    found: dict[str, Any] = {}
    queues = {"ray": Jobs(), "local": Jobs()}
    seeds = {"ray": range(1, 9), "local": range(11, 19)}
    for name, jobs in queues.items():
        queue.elsewhere = engine.train if name == "ray" else None
        seconds = []
        for seed in seeds[name]:
            began = time.perf_counter()
            settings = TinySettings(seed=seed, updates=150)
            job = jobs.submit(train_tiny, settings=settings, owner="a", device="cpu")
            assert job.wait(120)
            assert job.state == "done", job.error
            seconds.append(1e3 * (time.perf_counter() - began))
        found[name] = told(seconds[1:])  # the first imports what it needs
        jobs.close()
    queue.elsewhere = None
    return found


def batches(engine: client.Engine) -> dict[int, dict[str, float]]:
    """Seconds until all of so many that come at once have their readings."""
    model = pretrained.load(MODEL)
    found: dict[int, dict[str, float]] = {}
    start = 10_000
    with ThreadPoolExecutor(max(AT_ONCE)) as pool:
        for count in AT_ONCE:
            there, here = [], []
            for _ in range(ROUNDS):
                items = fresh(2 * count, start)
                start += 2 * count
                began = time.perf_counter()
                got = list(
                    pool.map(lambda one: engine.forward(MODEL, one, OWN, None), items[:count])
                )
                there.append(time.perf_counter() - began)
                assert None not in got
                began = time.perf_counter()
                list(pool.map(partial(forward_cache.forward, model), items[count:]))
                here.append(time.perf_counter() - began)
            ray, local = statistics.median(there), statistics.median(here)
            found[count] = {
                "ray_s": round(ray, 3), "local_s": round(local, 3), "gain": round(local / ray, 2),
            }  # fmt: skip
    return found


def faults(engine: client.Engine, there: Cluster) -> dict[str, Any]:
    """Ten students ask one text after another; what is killed, errors, longest wait."""
    model = pretrained.load(MODEL)
    found = {}
    kills: dict[str, Callable[[], object]] = {
        "nothing": lambda: None,
        "replica": lambda: [one.kill() for one in there.workers("ServeReplica")],
        "head": lambda: there.kill(0),
    }
    for number, (name, kill) in enumerate(kills.items()):
        before = dict(engine.counts)
        waits, errors = ask_while(engine, model, kill, 50_000 * (number + 1))
        new = {how: engine.counts["forward", how] - before.get(("forward", how), 0)
               for how in client.HOWS}  # fmt: skip
        found[name] = {
            "passes": len(waits), "errors": errors, "longest_s": round(max(waits), 2),
            **told([1e3 * one for one in waits]), "how": {k: v for k, v in new.items() if v},
        }  # fmt: skip
    return found


def ask_while(
    engine: client.Engine, model: Any, kill: Callable[[], object], start: int
) -> tuple[list[float], int]:
    waits: list[float] = []
    errors = 0
    asked = [iter(fresh(60, start + 1000 * number)) for number in range(10)]
    until = time.monotonic() + FAULTY

    def student(number: int) -> None:
        nonlocal errors
        items = asked[number]
        while time.monotonic() < until:
            tokens = next(items)
            began = time.monotonic()
            try:
                if engine.forward(MODEL, tokens, OWN, None) is None:
                    forward_cache.forward(model, tokens)
            except Exception:
                errors += 1
            waits.append(time.monotonic() - began)
            time.sleep(0.3)

    students = [threading.Thread(target=student, args=(n,)) for n in range(10)]
    for one in students:
        one.start()
    time.sleep(FAULTY / 4)
    kill()
    for one in students:
        one.join()
    return waits, errors


def simulate(
    rate: float,
    replicas: int,
    law: tuple[float, float],
    seconds: float,
    most: int = 32,
    seed: int = 1,
) -> tuple[float, float]:
    """Median and 95th percentile of the wait, seconds.

    Requests come with `rate` a second (Poisson) to the replica with the fewest of them, which
    reads at most `most` that wait in one pass.
    """
    draws = np.random.RandomState(1)
    arrivals = np.cumsum(draws.exponential(1 / rate, int(rate * seconds)))
    return waits_of(arrivals, replicas, law, most)


def waits_of(
    arrivals: np.ndarray, replicas: int, law: tuple[float, float], most: int
) -> tuple[float, float]:
    lines: list[list[float]] = [[] for _ in range(replicas)]
    busy = [False] * replicas
    reading: list[list[float]] = [[] for _ in range(replicas)]
    ends: list[tuple[float, int]] = []
    waits: list[float] = []

    def begin(one: int, now: float) -> None:
        reading[one], lines[one] = lines[one][:most], lines[one][most:]
        busy[one] = bool(reading[one])
        if busy[one]:
            heapq.heappush(ends, (now + law[0] + law[1] * len(reading[one]), one))

    def end() -> None:
        now, one = heapq.heappop(ends)
        waits.extend(now - at for at in reading[one])
        begin(one, now)

    for at in arrivals:
        while ends and ends[0][0] <= at:
            end()
        one = min(
            range(replicas), key=lambda place: len(lines[place]) + len(reading[place]) * busy[place]
        )
        lines[one].append(float(at))
        if not busy[one]:
            begin(one, float(at))
    while ends:
        end()
    return float(np.median(waits)), float(np.percentile(waits, 95))


def course(found: dict[int, dict[str, float]], students: int, think: float) -> dict[str, Any]:
    """The law of a batch from what was measured, its error there, and machines for a course."""
    counts = [1, *(n for n in AT_ONCE if n > 1)]
    # All of n at once: one alone first, then passes of at most 32.
    parts = np.array([[-(-max(n - 1, 0) // 32) + 1, n] for n in counts], float)
    seconds = np.array([found[n]["ray_s"] for n in counts])
    a, b = np.linalg.lstsq(parts / seconds[:, None], np.ones(len(counts)), rcond=None)[0]
    law = (max(float(a), 0.0), max(float(b), 1e-4))
    checked: dict[Any, Any] = {}
    for n in counts:
        last = law[0] * (-(-max(n - 1, 0) // 32) + 1) + law[1] * n
        checked[n] = {"measured_s": found[n]["ray_s"], "law_s": round(last, 3)}
    rate = students / think * FRESH
    table = []
    for size in (100, 1000, students):
        need = rate * size / students
        replicas = 1
        while True:
            median, p95 = simulate(need, replicas, law, 60.0)
            if p95 < 0.2 or replicas > 500:
                break
            replicas = max(replicas + 1, int(replicas * 1.2))
        table.append({
            "students": size, "app_processes": -(-size // SEATS), "replicas": replicas,
            "texts_s": round(need, 1), "median_ms": round(1e3 * median), "p95_ms": round(1e3 * p95),
        })  # fmt: skip
    return {"law_s": [round(one, 4) for one in law], "checked": checked, "extrapolated": table}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passes", type=int, default=100)
    parser.add_argument("--parts", nargs="+", default=["overhead", "batches", "faults"])
    parser.add_argument("--students", type=int, default=10_000)
    parser.add_argument("--think", type=float, default=6.0)
    chosen = parser.parse_args()
    if NO_RAY:
        raise SystemExit(NO_RAY)
    said: dict[str, Any] = {"name": "engine"}
    with cluster(2) as there:
        os.environ.update(there.environment)
        there.deploy(MODEL, "--most", "1", "--processors", "0.5")
        engine = client.Engine(there.address, 10.0)
        assert engine.wait(60), engine.state
        pretrained.load(MODEL)
        if "overhead" in chosen.parts:
            said["overhead"] = overhead(engine, chosen.passes)
            print(json.dumps(said["overhead"], indent=1))
        if "batches" in chosen.parts:
            said["batches"] = batches(engine)
            said["course"] = course(said["batches"], chosen.students, chosen.think)
            print(json.dumps([said["batches"], said["course"]], indent=1))
        if "faults" in chosen.parts:
            said["faults"] = faults(engine, there)
            if "course" in said:
                calm = said["faults"]["nothing"]
                rate = calm["passes"] / FAULTY
                wait = simulate(rate, 1, tuple(said["course"]["law_s"]), 600.0)
                said["course"]["checked"]["ten students"] = {
                    "texts_s": round(rate, 1),
                    "measured_ms": [calm["median_ms"], calm["p95_ms"]],
                    "simulated_ms": [round(1e3 * one, 1) for one in wait],
                }
            print(json.dumps(said["faults"], indent=1))
        engine.close()
    print(f"goal: a forward pass at most {GOAL_MS:.0f} ms more")
    print(json.dumps(said))


if __name__ == "__main__":
    main()
