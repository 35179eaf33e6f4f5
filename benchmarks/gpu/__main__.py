"""GPU benchmark: agreement with the CPU, speed and faults, in minutes.

Requires torch, numpy and, for rows that run a network, transformers and MiniLM: fetched (`python -m
seqviz.models fetch minilm`) or unpacked from the bundle (`python -m tools.gpu_bundle`). No
Streamlit, no network; a row without its requirements is skipped with a message. Three parts, a
table each: agreement with the CPU in float32 (`agreement`), speed (`speed`), faults (`faults`). No
row is started when the time is nearly over.

Without a GPU, the same rows run with small sizes, at most a minute, and the first line says so:
that shows that the command works, and nothing about a GPU. With a GPU, or with `--write`, table and
figure are written to `benchmarks/results/<date>-gpu-<name>.json` and `.svg` after each part.

Usage: `python -m benchmarks.gpu [--minutes 8] [--write]`.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: one core, as in a shared classroom
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import dataclasses
import datetime
import itertools
import json
import math
import platform
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.gpu import agreement, faults, speed
from benchmarks.gpu.machine import Machine, described, find_model
from benchmarks.gpu.picture import svg
from benchmarks.report import Report, options
from seqviz.content import catalog
from seqviz.core.i18n import duration
from seqviz.models import device, placement

RESULTS = Path(__file__).resolve().parents[1] / "results"
NOTHING = "not met: nothing was measured"
TITLES = {
    "agreement": "agreement with the CPU in float32, by precision: largest and median relative "
    "difference, share of numbers printed with other digits",
    "speed": "speed: CPU | device, medians",
    "faults": "faults",
}
_SMALL = 45.0  # seconds in which rows may start without a GPU; the last one may take ten
_LAST = 30.0  # seconds before the end in which no row starts


def machine(minutes: float, started: float) -> Machine:
    """Return the device under test, with its time: `--minutes`, or less without a GPU."""
    chosen = device.choose()
    small = chosen.kind == "cpu"
    seconds = min(_SMALL, 60 * minutes) if small else max(60 * minutes - _LAST, 0.0)
    return Machine(chosen.kind, chosen.name, small, started, seconds)


def plain(result: Any) -> Any:
    """Convert a result to JSON values: no dataclasses, numbers with four digits, nan as a word."""
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        result = dataclasses.asdict(result)
    if isinstance(result, dict):
        return {str(key): plain(value) for key, value in result.items()}
    if isinstance(result, (list, tuple)):
        return [plain(value) for value in result]
    if isinstance(result, float):
        return float(f"{result:.4g}") if math.isfinite(result) else str(result)
    return result


def to_line(result: Any) -> str:
    """Return the printed line of a row: its values by name, the seconds on both devices by size."""
    if isinstance(result, speed.Times):
        sizes = sorted(result.cpu.keys() | result.device.keys())
        both = {
            size: " | ".join(duration(item[size]) if size in item else "-"
                             for item in (result.cpu, result.device)) for size in sizes
        }  # fmt: skip
        wins = {"device wins from": result.crossover, **result.stopped}
        return f"{result.what}; {result.unit}:  {to_line(both)}  {to_line(wins)}"
    if isinstance(result, agreement.Difference):
        return f"{result.largest:.1e} {result.median:.0e} {100 * result.printed:.0f}%"
    if dataclasses.is_dataclass(result):
        result = plain(result)
    if isinstance(result, dict):
        return "  ".join(f"{key}: {to_line(value)}" for key, value in result.items())
    return str(plain(result))


def part(title: str, rows: Iterator[tuple[str, Any]]) -> dict[str, Any]:
    """Print the rows of one table as they arrive."""
    print(f"\n{title}", flush=True)
    result: dict[str, Any] = {}
    for name, row in rows:
        result[name] = row
        print(f"{name:34} {to_line(row)}", flush=True)
    return result


def goals(result: dict[str, dict[str, Any]]) -> Iterator[tuple[str, float, float, str]]:
    """Yield name, value, goal and success for each goal measured on a GPU in this run.

    A row that should be compared and failed does not meet its goal.
    """
    times = result["speed"]

    def seconds(name: str, size: int) -> float:
        item = times.get(name)
        return item.device.get(size, math.nan) if isinstance(item, speed.Times) else math.nan

    def rate(name: str) -> float:
        item = times.get(name)
        return item.get("device", math.nan) if isinstance(item, dict) else math.nan

    best = rate("epoch: bfloat16, by length")
    rows, pages = compared(result)
    apart, observed = (
        apart_in_float32(result),
        [page.pixels for page in pages.values() if page.benches],
    )
    wrong = [name for name, row in rows.items() if str(row).startswith("failed")]
    unseen = [
        n for page in pages.values() for n, why in page.skipped.items() if why[:6] == "failed"
    ]
    failures = {
        "float32, largest difference": [name for name in wrong if not name.startswith("page: ")],
        "figures, pixels": [*unseen, *(name for name in wrong if name.startswith("page: "))],
    }
    entry, many = (seconds("SmolLM2's shape", size) for size in (1, 32))
    for name, value, goal, sense in (
        ("epoch, s", 7272 / best, 5.0, -1),
        ("epoch, times the padded recipe", best / rate("epoch: float32, padded to 512"), 15.0, 1),
        (f"seconds to {speed.GOAL}", rate(f"seconds to {speed.GOAL}"), 10.0, -1),
        ("all pairs, T = 500, s", seconds("all pairs of Jacobians", 500), 1.0, -1),
        ("100 texts of 32 tokens, s", seconds("texts in one batch", 100), 0.02, -1),
        ("32 prompts, times one prompt's rate", 32 * entry / many, 10.0, 1),
        ("float32, largest difference", max(apart, default=math.nan), agreement.TOLERANCE, -1),
        ("figures, pixels", max(observed, default=math.nan), agreement.PIXEL, -1),
    ):
        failed = failures.get(name, [])
        if math.isnan(value):
            state = NOTHING
        elif failed:
            state = f"missed: failed were {', '.join(failed)}"
        else:
            state = "met" if sense * (value - goal) >= 0 else "missed"
        yield name, value, goal, state


def write(machine: Machine, result: dict[str, Any]) -> None:
    """Write results and figure; replace those of an earlier run of the same day."""
    name = re.sub(r"\W+", "-", machine.name.lower()).strip("-")
    path = RESULTS / f"{datetime.date.today()}-gpu-{name}.json"
    path.write_text(json.dumps(plain(result), indent=1) + "\n", "utf-8")
    path.with_suffix(".svg").write_text(svg(machine, result["speed"]), "utf-8")
    if not machine.small:
        placement.FILE.write_text(json.dumps(kept(machine, result), indent=1) + "\n", "utf-8")


def kept(machine: Machine, result: dict[str, Any]) -> dict[str, Any]:
    """Return the data of a GPU run for the app (`seqviz.models.placement.MeasuredCrossover`)."""
    times = {name: item for name, item in result["speed"].items() if isinstance(item, speed.Times)}
    full = {name: time.crossover for name, time in times.items() if time.cpu and time.device}
    largest = max(apart_in_float32(result), default=None)
    return plain(
        {"name": machine.name, "date": str(datetime.date.today()), "crossover": full,
         "largest": largest}
    )  # fmt: skip


def compared(
    result: dict[str, Any],
) -> tuple[dict[str, Any], dict[str, agreement.VisibleDifference]]:
    """Return the float32 result of each row of the agreement, or the error, and the pages."""
    every = result["agreement"].items()
    pages = {name: item for name, item in every if isinstance(item, agreement.VisibleDifference)}
    rows = {name: item["float32"] if isinstance(item, dict) else item for name, item in every}
    return {name: row for name, row in rows.items() if name not in pages}, pages


def apart_in_float32(result: dict[str, Any]) -> list[float]:
    """Return the largest relative difference of each measured row of the agreement."""
    rows = [item for item in compared(result)[0].values() if not isinstance(item, str)]
    return [row.largest for row in rows if not math.isnan(row.largest)]


def pages(machine: Machine) -> Iterator[tuple[str, agreement.VisibleDifference | str]]:
    """Yield a row for each lesson with the visible differences, or why there is no comparison."""
    try:
        from benchmarks.gpu import visible_differences

        yield from visible_differences.rows(machine)
    except ModuleNotFoundError as error:
        for record in catalog.LESSONS:
            yield f"page: {record.slug}", described(error)


def main() -> None:
    started = time.monotonic()
    given = options(
        __doc__,
        minutes=(8.0, "time limit; no row starts shortly before it"),
        write=(False, "write results and figure even without a GPU"),
    )
    find_model()
    threads = device.prepare_torch()
    here = machine(given.minutes, started)
    print(
        f"small: {str(here.small).lower()}; {here.name}"
        + ("; no GPU here: small sizes, the device is the CPU" if here.small else "")
    )
    print(
        f"torch {torch.__version__}, numpy {np.__version__}, Python {platform.python_version()}; "
        f"threads of the CPU: {threads}"
    )
    report = Report("gpu", device=here.name, small=here.small)
    result = report.values
    tables = {
        "agreement": itertools.chain(agreement.rows(here), pages(here)),
        "speed": speed.rows(here),
        "faults": faults.rows(here),
    }
    result |= {key: {} for key in tables}
    for key, rows in tables.items():
        result[key] = part(TITLES[key], rows)
        if given.write or not here.small:
            write(here, result)
    if not here.small:
        print("\ngoals")
        for name, value, goal, state in goals(result):
            print(f"  {name}: {value:.3g}, goal {goal:g}, {state}")
    print(f"\n{time.monotonic() - started:.0f} s")
    report.values = plain(result)
    report.finish()


if __name__ == "__main__":
    main()
