"""GPU benchmark: agreement with the CPU, speed and faults, in minutes.

Requires torch, numpy and, for rows that run a network, transformers and MiniLM: fetched (`python -m
seqviz.models fetch minilm`) or unpacked from the bundle (`python -m tools.gpu_bundle`). No
Streamlit, no network; a row without its requirements is skipped with a message. Five tables: speed
(`speed`), agreement with the CPU in float32 (`agreement`), the app's pictures (`app_speed`),
trainings over seeds (`seeds`), faults (`faults`). Their rows come in order of worth (`stages`):
what the goals name, the lessons' pages, the app's pictures, float32, trainings, faults, and last
the other precisions. No row is started when the time is nearly over; those left are named, and
`--resume` measures them.

Without a GPU, the same rows run with small sizes, at most a minute, and the first line says so:
that shows that the command works, and nothing about a GPU. With a GPU, or with `--write`, table and
figure are written to `benchmarks/results/<date>-gpu-<name>.json` and `.svg` after each stage.

Exit status 1: nothing was measured for one of the goals.

Usage: `python -m benchmarks.gpu [--minutes 5] [--only WORDS] [--resume] [--write]`.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: one core, as in a shared classroom
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import dataclasses
import datetime
import json
import math
import platform
import re
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from benchmarks.gpu import agreement, faults, seeds, speed
from benchmarks.gpu.goals import GOALS, NOTHING, apart_in_float32, goals
from benchmarks.gpu.machine import NO_TIME, PRECISIONS, Machine, attempt, find_model
from benchmarks.gpu.picture import svg
from benchmarks.report import Report, options
from seqviz.content import catalog
from seqviz.core.i18n import duration
from seqviz.models import device, placement

RESULTS = Path(__file__).resolve().parents[1] / "results"
TABLES = ("agreement", "speed", "app", "seeds", "faults")
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
        guessed = {size: f"{duration(s)} (extrapolated)" for size, s in result.extrapolated.items()}
        here, there = (
            {size: duration(seconds) for size, seconds in item.items()}
            for item in (result.cpu, result.device)
        )
        here |= guessed
        both = {
            size: f"{here.get(size, '-')} | {there.get(size, '-')}"
            for size in sorted(here.keys() | there.keys())
        }
        wins = {"device wins from": result.crossover, **result.stopped}
        return f"{result.what}; {result.unit}:  {to_line(both)}  {to_line(wins)}"
    if isinstance(result, seeds.SeedDifference):
        apart = f"{result.same_seed:.1e} apart at one seed, {result.seeds:.1e} over seeds (sd)"
        return f"{result.result}, {len(result.cpu)} seeds: {apart}, p = {result.p:.2f}"
    if isinstance(result, agreement.Difference):
        return f"{result.largest:.1e} {result.median:.0e} {100 * result.printed:.0f}%"
    if dataclasses.is_dataclass(result):
        result = plain(result)
    if isinstance(result, dict):
        return "  ".join(f"{key}: {to_line(value)}" for key, value in result.items())
    return str(plain(result))


class Stage(NamedTuple):
    """Rows of one table that are measured together.

    Attributes:
        table: one of `TABLES`.
        title: heading for the terminal.
        tasks: the measurement of each row, by name.
        columns: precisions that a row of the agreement has afterwards.
    """

    table: str
    title: str
    tasks: dict[str, Callable[[], Any]]
    columns: tuple[str, ...] = ()


def stages(here: Machine) -> tuple[Stage, ...]:
    """Return all rows, the most worthwhile first."""
    apart = "largest and median relative difference from the CPU in float32, share of other digits"
    first, others = PRECISIONS[:1], PRECISIONS[1:]
    return (
        Stage("speed", "speed: CPU | device, medians", speed.tasks(here)),
        Stage("agreement", "pages: what a student would see", pages(here)),
        Stage("app", "the app: seconds a picture on the device", pictures(here)),
        Stage(
            "agreement", f"float32: {apart}", agreement.tasks(here, first), first
        ),
        Stage("seeds", "trainings over seeds: CPU and device", seeds.tasks(here)),
        Stage("faults", "faults", faults.tasks(here)),
        Stage("agreement", f"other precisions: {apart}", agreement.tasks(here, others), others),
    )  # fmt: skip


def pages(here: Machine) -> dict[str, Callable[[], agreement.VisibleDifference]]:
    """Return the comparison of each lesson's pages, by name of the row."""

    def compare(slug: str) -> agreement.VisibleDifference:
        from benchmarks.gpu import visible_differences
        from seqviz import lessons

        return visible_differences.lesson(getattr(lessons, slug).lesson, here)

    return {f"page: {record.slug}": partial(compare, record.slug) for record in catalog.LESSONS}


def pictures(here: Machine) -> dict[str, Callable[[], dict[str, Any]]]:
    """Return the times of each lesson's pictures, and of a class's, by name of the row."""

    def lesson(slug: str) -> dict[str, Any]:
        from benchmarks.gpu import app_speed
        from seqviz import lessons

        return app_speed.lesson(getattr(lessons, slug).lesson, here)

    def classroom() -> dict[str, Any]:
        from benchmarks.gpu import app_speed

        return app_speed.classroom(here)

    rows = {f"app: {record.slug}": partial(lesson, record.slug) for record in catalog.LESSONS}
    return {**rows, "app: thirty students, two trainings": classroom}


def is_measured(row: Any, columns: Sequence[str]) -> bool:
    """Return True where a row of an earlier run need not be measured again."""
    if row is None or isinstance(row, str):
        return False
    if columns:
        return isinstance(row, dict) and all(
            column in row and not str(row[column]).startswith("failed") for column in columns
        )
    return NO_TIME not in str(row)


def measure(
    stage: Stage, here: Machine, result: dict[str, dict[str, Any]], resume: bool, only: str = ""
) -> None:
    """Measure and print the rows of one stage, into `result`.

    Args:
        stage: the rows.
        here: the device and the time.
        result: rows by table, which may hold those of an earlier run.
        resume: True to leave out what is measured.
        only: words, separated by semicolons; a row is measured if its table or name contains one.
    """
    print(f"\n{stage.title}", flush=True)
    table = result[stage.table]
    for name, task in stage.tasks.items():
        before = table.get(name)
        if not is_chosen(stage.table, name, only) or (
            resume and is_measured(before, stage.columns)
        ):
            continue
        row = attempt(task, here)
        if stage.columns and isinstance(before, dict):  # further columns of the same row
            row = before | (row if isinstance(row, dict) else dict.fromkeys(stage.columns, row))
        table[name] = row
        print(f"{name:34} {to_line(row)}", flush=True)


def is_chosen(table: str, name: str, only: str) -> bool:
    """Return True where a row's table or name contains one of the words; no word: all rows."""
    return any(word.strip() in f"{table}: {name}" for word in only.split(";"))


def results_file(here: Machine) -> Path:
    """Return the file of today's results on this device."""
    name = re.sub(r"\W+", "-", here.name.lower()).strip("-")
    return RESULTS / f"{datetime.date.today()}-gpu-{name}.json"


def earlier(path: Path) -> dict[str, dict[str, Any]]:
    """Read the tables of an earlier run; empty ones where there is none."""
    saved = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return {table: {name: restored(row) for name, row in saved.get(table, {}).items()}
            for table in TABLES}  # fmt: skip


def restored(row: Any) -> Any:
    """Convert a row of a file back to the objects that `plain` has written."""
    if not isinstance(row, dict):
        return float(row) if row in ("nan", "inf") else row
    if "refused" in row:
        return agreement.VisibleDifference(**{key: restored(value) for key, value in row.items()})
    if "same_seed" in row:
        return seeds.SeedDifference(**row)
    if "printed" in row:
        return agreement.Difference(**{key: restored(value) for key, value in row.items()})
    if "extrapolated" in row:
        sized = {key: {int(size): s for size, s in row[key].items()}
                 for key in ("cpu", "device", "extrapolated")}  # fmt: skip
        return speed.Times(**{**row, **sized})
    return {key: restored(value) for key, value in row.items()}


def write(machine: Machine, result: dict[str, Any]) -> None:
    """Write results and figure; replace those of an earlier run of the same day."""
    path = results_file(machine)
    path.write_text(json.dumps(plain(result), indent=1) + "\n", "utf-8")
    path.with_suffix(".svg").write_text(svg(machine, result["speed"]), "utf-8")
    if not machine.small:
        rows = {row["name"]: row for row in placement.saved_rows(placement.FILE)}
        rows[machine.name] = kept(machine, result)
        placement.FILE.write_text(json.dumps([*rows.values()], indent=1) + "\n", "utf-8")
        placement.table.cache_clear()


def kept(machine: Machine, result: dict[str, Any]) -> dict[str, Any]:
    """Return the data of a GPU run for the app (`seqviz.models.placement.MeasuredCrossover`)."""
    times = {name: item for name, item in result["speed"].items() if isinstance(item, speed.Times)}
    full = {
        name: time.crossover
        for name, time in times.items()
        if time.device and (time.cpu or time.extrapolated)
    }
    largest = max(apart_in_float32(result), default=None)
    return plain(
        {"name": machine.name, "date": str(datetime.date.today()), "crossover": full,
         "largest": largest}
    )  # fmt: skip


def run(
    here: Machine, result: dict[str, Any], only: str, resume: bool, is_written: bool
) -> list[str]:
    """Measure all stages into `result`; return the rows for which there was no time."""
    wanted = []
    for stage in stages(here):
        measure(stage, here, result, resume, only)
        wanted += [name for name in stage.tasks if is_chosen(stage.table, name, only)
                   and NO_TIME in str(result[stage.table].get(name))]  # fmt: skip
        if is_written:
            write(here, result)
    return list(dict.fromkeys(wanted))


def print_goals(result: dict[str, Any], only: str) -> bool:
    """Print the goals whose rows were chosen; return True where one was not measured."""
    missing = False
    print("\ngoals")
    for goal, (name, value, limit, state) in zip(GOALS, goals(result), strict=True):
        if any(is_chosen("", row, only) for row in goal.rows):
            print(f"  {name}: {value:.3g}, goal {limit:.3g}, {state}")
            missing |= state == NOTHING
    return missing


def main() -> None:
    started = time.monotonic()
    given = options(
        __doc__,
        minutes=(5.0, "time limit; no row starts shortly before it"),
        only=("", "rows whose table or name contains one of these words (';' between)"),
        resume=(False, "keep the rows of today's earlier run and measure what it lacks"),
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
    is_continued = given.resume or bool(given.only)
    result |= earlier(results_file(here)) if is_continued else {table: {} for table in TABLES}
    late = run(here, result, given.only, given.resume, given.write or not here.small)
    is_unmeasured = not here.small and print_goals(result, given.only)
    if late:
        print(f"\nno time was left for {len(late)} rows (--resume): {', '.join(late)}")
    print(f"\n{time.monotonic() - started:.0f} s")
    report.values = plain(result)
    report.finish(is_broken=is_unmeasured)


if __name__ == "__main__":
    main()
