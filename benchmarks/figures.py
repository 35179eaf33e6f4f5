"""Cost of figures: all examples, as plain specifications and through Plotly's own objects.

For each example that draws with Plotly: the figure function and its JSON (`Figure.to_json`), and
the same figure through `go.Figure(...).to_json()`, with and without schema validation, in turns.

`--served` measures the figures per second that one core of the server renders for dragged sliders,
without browser or socket: the route (`ui.live.handler`) is called as by a server, with the full
cost of a response: validation, scheduling, quota, computation, drawing, JSON, compression. No value
occurs twice; arrays that the browser has from the previous response are not sent again. `per_core`
is figures per second of processor time, `cpu_ms` its inverse, workers included; other load on the
machine hardly affects them. `per_s` is figures per second of wall time, with four concurrent
browsers.

Usage: `python -m benchmarks.figures`, `python -m benchmarks.figures --served [--seconds 5]
[--workers 2]`.
"""

from __future__ import annotations

import asyncio
import gzip
import itertools
import json
import os
import statistics
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import plotly.graph_objects as go
import psutil
from starlette.applications import Starlette

from benchmarks.report import Report, medians, options
from seqviz.plotting.figure import Figure
from seqviz.plotting.style import LIVE, Style
from seqviz.ui.app import application
from seqviz.ui.live import handler
from seqviz.ui.runtime import run_context, startup
from seqviz.ui.runtime.run_context import Session
from testing.figure_examples import Example, examples

STYLE = Style(LIVE)
BROWSERS = 4
PER_CORE, WITH_GOAL = 300, ("ar_fitting/process", "gates/watch")  # figures per second
# Values of a drag; none occurs twice within a run.
MOVED: dict[str, Iterator[dict[str, str]]] = {
    "ar_fitting/process": ({"ar.process.phi": f"{-1 + k / 50_000:.6f}"} for k in range(100_000)),
    "gates/watch": (
        {"ga.watch.rank": f"{rank}", "ga.watch.step": f"{step}"}
        for rank, step in itertools.product(range(1, 257), range(1, 151))
    ),
    "vanishing_gradients/reach": (
        {"vg.reach.gain": f"{0.3 + k / 50_000:.6f}"} for k in range(50_000)
    ),
}


def measured(example: Example, rounds: int) -> tuple[float, float, float, int]:
    """Return median ms (plain, Plotly's objects unchecked and checked) and bytes of JSON."""

    def through(check: bool) -> None:
        figure = example.figure(STYLE)
        go.Figure({"data": figure.traces, "layout": figure.page}, _validate=check).to_json()

    def plain() -> int:
        return len(str(example.figure(STYLE).to_json()))

    calls = plain, lambda: through(False), lambda: through(True)
    medians(1, *calls)
    seconds = medians(rounds, *calls)
    return 1e3 * seconds[0], 1e3 * seconds[1], 1e3 * seconds[2], plain()


def measure_examples(rounds: int) -> None:
    """Measure all examples, in rows by subject."""
    report = Report("figures")
    subjects: dict[str, list[tuple[float, float, float, int]]] = {}
    for example in examples():
        if isinstance(example.figure(STYLE), Figure):
            subject = example.draw.__module__.split(".")[2]
            subjects.setdefault(subject, []).append(measured(example, rounds))
    for subject, rows in subjects.items():
        plain, unchecked, checked, size = (
            statistics.median(column) for column in zip(*rows, strict=True)
        )
        report.row(subject, figures=len(rows), plain_ms=plain, unchecked_ms=unchecked,
                   checked_ms=checked, kB=size / 1e3)  # fmt: skip
    rows = [*itertools.chain(*subjects.values())]
    plain, unchecked, checked, _ = (statistics.median(column) for column in zip(*rows, strict=True))
    report.values |= {
        "figures": len(rows),
        "median_ms": round(plain, 3),
        "unchecked_ms": round(unchecked, 3),
        "checked_ms": round(checked, 3),
        "ratio": round(statistics.median(row[1] / row[0] for row in rows), 1),
        "ratio_checked": round(statistics.median(row[2] / row[0] for row in rows), 1),
        "slowest_ms": round(max(row[0] for row in rows), 2),
    }
    report.finish({"median_ms": 0.5})


async def request(app: Any, address: str, query: dict[str, str], session: Session, has: str) -> str:
    """Send one request and return the arrays that the browser then has.

    Raises RuntimeError for a response without a figure.
    """
    parts: list[bytes] = []
    statuses: list[int] = []
    headers = {handler.H_SESSION: session.token, handler.H_KNOWN_ARRAYS: has}
    scope = {
        "type": "http", "http_version": "1.1", "method": "GET", "scheme": "http", "root_path": "",
        "path": f"/live/{address}", "raw_path": f"/live/{address}".encode(),
        "query_string": urlencode(query).encode(), "server": ("here", 80), "client": ("here", 1),
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }  # fmt: skip

    async def receive() -> dict[str, Any]:
        await asyncio.Event().wait()  # the browser never disconnects
        raise AssertionError

    async def send(message: dict[str, Any]) -> None:
        statuses.extend([message["status"]] if "status" in message else [])
        parts.append(message.get("body", b""))

    await app(scope, receive, send)
    if statuses != [200]:
        raise RuntimeError(f"{address} {query}: {statuses}")
    body = b"".join(parts)
    text = gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body
    return ",".join(json.loads(text.partition(b"\n")[0])["arrays"])


async def drag(app: Any, address: str, seconds: float) -> dict[str, float]:
    """Return figures by processor time and by wall time, for several concurrent browsers."""
    started, before, n_figures = time.perf_counter(), cpu_seconds(), 0

    async def browse() -> None:
        nonlocal n_figures
        session, has = Session("", 0.0), ""
        run_context._by_token[session.token] = session
        while time.perf_counter() < started + seconds:
            has = await request(app, address, next(MOVED[address]), session, has)
            n_figures += 1

    await asyncio.gather(*(browse() for _ in range(BROWSERS)))
    used = cpu_seconds() - before
    rates = {"cpu_ms": 1e3 * used / n_figures, "per_core": n_figures / used,
             "per_s": n_figures / (time.perf_counter() - started)}  # fmt: skip
    return {name: round(rate, 2) for name, rate in rates.items()}


def cpu_seconds() -> float:
    """Return the processor seconds of this process and its workers."""
    process = psutil.Process()
    times = [item.cpu_times() for item in (process, *process.children())]
    return sum(time.user + time.system for time in times)


def measure_served(seconds: float, workers: int) -> None:
    """Measure the figures of some benches, requested through the route."""
    os.environ |= {"SEQVIZ_WORKERS": str(workers), "SEQVIZ_SESSION_SECONDS": "0"}
    startup.configure_process()
    app = Starlette(middleware=application.middleware())
    for worker in handler.workers().all:
        worker.ready.wait()
    benches: dict[str, dict[str, float]] = {}
    report = Report("pictures", workers=workers, benches=benches)
    for address in MOVED:
        asyncio.run(drag(app, address, 1.0))  # warm-up
        benches[address] = asyncio.run(drag(app, address, seconds))
        report.row(address, **benches[address])
    handler.workers().close()
    report.values["per_core"] = min(benches[address]["per_core"] for address in WITH_GOAL)
    report.finish(at_least={"per_core": PER_CORE})


def main() -> None:
    given = options(
        __doc__,
        rounds=(15, "number of rounds per example"),
        served=(False, "measure the server's route"),
        seconds=(5.0, "seconds per bench with --served"),
        workers=(0, "number of worker processes with --served"),
    )
    if given.served:
        measure_served(given.seconds, given.workers)
    else:
        measure_examples(given.rounds)


if __name__ == "__main__":
    main()
