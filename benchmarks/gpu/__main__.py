"""Everything that a GPU changes, in minutes: `python -m benchmarks.gpu [--minutes 8] [--write]`.

Needs torch, numpy and, for what runs a network, transformers and MiniLM: fetched (`python -m
seqviz.models fetch minilm`) or unpacked from the bundle (`python -m tools.gpu_bundle`). No
Streamlit, no network; a row that lacks something is skipped and says what. Three parts, a table
each: agreement with the CPU in float32 (`agreement`), speed (`speed`), faults (`faults`). Rows are
no longer begun where the time is nearly over.

Without a GPU the same with small sizes, at most a minute, and the first line says so: that shows
that the command runs, and nothing about a GPU. With one, or with --write, table and figure go to
`benchmarks/results/<date>-gpu-<name>.json` and `.svg`, anew after each part.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: one core, as in a shared classroom
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import argparse
import dataclasses
import datetime
import itertools
import json
import math
import platform
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.gpu import agreement, faults, speed
from benchmarks.gpu.machine import PRECISIONS, Machine, described, find_model
from benchmarks.gpu.picture import svg
from seqviz.content import catalog
from seqviz.core.i18n import duration
from seqviz.models import device, placement

RESULTS = Path(__file__).resolve().parents[1] / "results"
NOTHING = "not met: nothing was measured"
_SMALL = 45.0  # seconds in which rows may be begun without a GPU; the last one may take ten
_LAST = 30.0  # seconds before the end after which no row is begun


def machine(minutes: float, started: float) -> Machine:
    """What this machine has; the time as `--minutes` says, without a GPU a minute at the most."""
    chosen = device.choose()
    small = chosen.kind == "cpu"
    seconds = min(_SMALL, 60 * minutes) if small else max(60 * minutes - _LAST, 0.0)
    return Machine(chosen.kind, chosen.name, small, started, seconds)


def plain(found: Any) -> Any:
    """As JSON has it: no dataclasses, numbers with four digits, what is not finite as a word."""
    if dataclasses.is_dataclass(found) and not isinstance(found, type):
        found = dataclasses.asdict(found)
    if isinstance(found, dict):
        return {str(key): plain(value) for key, value in found.items()}
    if isinstance(found, (list, tuple)):
        return [plain(value) for value in found]
    if isinstance(found, float):
        return float(f"{found:.4g}") if math.isfinite(found) else str(found)
    return found


def said_agreement(found: Any) -> str:
    if isinstance(found, str):
        return found
    if isinstance(found, agreement.VisibleDifference):
        return (
            f"{len(found.benches)} benches: {found.pixels:.2g} pixels, {found.levels:.2g} of 255 "
            f"levels, {100 * found.words:.2g}% of words; {found.refused} of {found.exercises} "
            "exercises refuse the answer"
            + "".join(f"; {name} {why}" for name, why in found.skipped.items())
        )
    cells = []
    for mode in PRECISIONS:
        one = found[mode]
        cells.append(
            f"{one.split(':')[0]:>22}" if isinstance(one, str)
            else f"{one.largest:8.1e} {one.median:7.0e} {100 * one.printed:3.0f}%"
        )  # fmt: skip
    return "".join(f"{cell:>24}" for cell in cells)


def said_speed(found: Any) -> str:
    if isinstance(found, str):
        return found
    if isinstance(found, dict):
        return "  ".join(f"{key} {plain(value)}" for key, value in found.items())
    parts = [f"{found.what}; {found.unit}:"]
    for size in sorted(found.cpu.keys() | found.device.keys()):
        there = [duration(one[size]) if size in one else "-" for one in (found.cpu, found.device)]
        parts.append(f"{size}: {' | '.join(there)}")
    parts.append(f"device wins from {found.crossover if found.crossover is not None else '-'}")
    return "  ".join([*parts, *(f"{at}: {why}" for at, why in found.stopped.items())])


def said_fault(found: Any) -> str:
    return found if isinstance(found, str) else "  ".join(f"{k} {plain(found[k])}" for k in found)


def part(title: str, rows: Iterator[tuple[str, Any]], said: Callable[[Any], str]) -> dict[str, Any]:
    """Print the rows of one table as they come."""
    print(f"\n{title}", flush=True)
    found: dict[str, Any] = {}
    for name, one in rows:
        found[name] = one
        print(f"{name:34} {said(one)}", flush=True)
    return found


def goals(found: dict[str, dict[str, Any]]) -> Iterator[tuple[str, float, float, str]]:
    """Name, value, goal and whether it is met, of what this run has measured on a GPU.

    What was to be compared and has failed there is not like that of the CPU.
    """
    times = found["speed"]

    def seconds(name: str, size: int) -> float:
        one = times.get(name)
        return one.device.get(size, math.nan) if isinstance(one, speed.Times) else math.nan

    def rate(name: str) -> float:
        one = times.get(name)
        return one.get("device", math.nan) if isinstance(one, dict) else math.nan

    best = rate("epoch: bfloat16, by length")
    rows, pages = compared(found)
    apart, seen = apart_in_float32(found), [one.pixels for one in pages.values() if one.benches]
    wrong = [name for name, one in rows.items() if str(one).startswith("failed")]
    unseen = [n for one in pages.values() for n, why in one.skipped.items() if why[:6] == "failed"]
    failures = {
        "float32, largest difference": [name for name in wrong if not name.startswith("page: ")],
        "figures, pixels": [*unseen, *(name for name in wrong if name.startswith("page: "))],
    }
    one, many = (seconds("SmolLM2's shape", size) for size in (1, 32))
    for name, value, goal, sense in (
        ("epoch, s", 7272 / best, 5.0, -1),
        ("epoch, times the padded recipe", best / rate("epoch: float32, padded to 512"), 15.0, 1),
        (f"seconds to {speed.GOAL}", rate(f"seconds to {speed.GOAL}"), 10.0, -1),
        ("all pairs, T = 500, s", seconds("all pairs of Jacobians", 500), 1.0, -1),
        ("100 texts of 32 tokens, s", seconds("texts in one batch", 100), 0.02, -1),
        ("32 prompts, times one prompt's rate", 32 * one / many, 10.0, 1),
        ("float32, largest difference", max(apart, default=math.nan), agreement.TOLERANCE, -1),
        ("figures, pixels", max(seen, default=math.nan), agreement.PIXEL, -1),
    ):
        failed = failures.get(name, [])
        if math.isnan(value):
            state = NOTHING
        elif failed:
            state = f"missed: failed were {', '.join(failed)}"
        else:
            state = "met" if sense * (value - goal) >= 0 else "missed"
        yield name, value, goal, state


def write(here: Machine, found: dict[str, Any]) -> None:
    """The results and the figure, in place of those of an earlier run of the day."""
    name = re.sub(r"\W+", "-", here.name.lower()).strip("-")
    path = RESULTS / f"{datetime.date.today()}-gpu-{name}.json"
    path.write_text(json.dumps(plain(found), indent=1) + "\n", "utf-8")
    path.with_suffix(".svg").write_text(svg(here, found["speed"]), "utf-8")
    if not here.small:
        placement.FILE.write_text(json.dumps(kept(here, found), indent=1) + "\n", "utf-8")


def kept(here: Machine, found: dict[str, Any]) -> dict[str, Any]:
    """What the app reads of a run on a GPU (`seqviz.models.placement.MeasuredCrossover`)."""
    times = {name: one for name, one in found["speed"].items() if isinstance(one, speed.Times)}
    whole = {name: one.crossover for name, one in times.items() if one.cpu and one.device}
    largest = max(apart_in_float32(found), default=None)
    return plain(
        {"name": here.name, "date": str(datetime.date.today()), "crossover": whole,
         "largest": largest}
    )  # fmt: skip


def compared(
    found: dict[str, Any],
) -> tuple[dict[str, Any], dict[str, agreement.VisibleDifference]]:
    """What float32 gave, by row of the agreement (or the sentence why not), and the pages."""
    every = found["agreement"].items()
    pages = {name: one for name, one in every if isinstance(one, agreement.VisibleDifference)}
    rows = {name: one["float32"] if isinstance(one, dict) else one for name, one in every}
    return {name: one for name, one in rows.items() if name not in pages}, pages


def apart_in_float32(found: dict[str, Any]) -> list[float]:
    """The largest relative difference of each row of the agreement that was measured."""
    rows = [one for one in compared(found)[0].values() if not isinstance(one, str)]
    return [one.largest for one in rows if not math.isnan(one.largest)]


def pages(here: Machine) -> Iterator[tuple[str, agreement.VisibleDifference | str]]:
    """A row for each lesson: would a student see it? Named and left where the figures cannot be."""
    try:
        from benchmarks.gpu import visible_differences

        yield from visible_differences.rows(here)
    except ModuleNotFoundError as error:
        for record in catalog.LESSONS:
            yield f"page: {record.slug}", described(error)


def main() -> None:
    started = time.monotonic()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=8.0, help="of which no row begins late")
    parser.add_argument("--write", action="store_true", help="results and figure without a GPU too")
    options = parser.parse_args()
    find_model()
    threads = device.prepare_torch()
    here = machine(options.minutes, started)
    print(
        f"small: {str(here.small).lower()}; {here.name}"
        + ("; no GPU here: small sizes, the device is the CPU" if here.small else "")
    )
    print(
        f"torch {torch.__version__}, numpy {np.__version__}, Python {platform.python_version()}; "
        f"threads of the CPU: {threads}"
    )
    found: dict[str, Any] = {"name": "gpu", "device": here.name, "small": here.small}
    heading = "".join(f"{mode:>24}" for mode in PRECISIONS)
    tables: tuple[tuple[str, str, Iterator[tuple[str, Any]], Callable[[Any], str]], ...] = (
        (
            "agreement",
            "agreement with the CPU in float32: largest and median relative difference, and share "
            f"of numbers printed with other digits\n{'':35}{heading}",
            itertools.chain(agreement.rows(here), pages(here)),
            said_agreement,
        ),
        ("speed", "speed: CPU | device, medians", speed.rows(here), said_speed),
        ("faults", "faults", faults.rows(here), said_fault),
    )
    found |= {key: {} for key, *_ in tables}
    for key, title, rows, said in tables:
        found[key] = part(title, rows, said)
        if options.write or not here.small:
            write(here, found)
    if not here.small:
        print("\ngoals")
        for name, value, goal, state in goals(found):
            print(f"  {name}: {value:.3g}, goal {goal:g}, {state}")
    print(f"\n{time.monotonic() - started:.0f} s")
    print(json.dumps(plain(found)))


if __name__ == "__main__":
    main()
