"""What moves to an accelerator and what stays on the CPU: one table, decided by measured crossover.

`python -m benchmarks.gpu` measures each row on both and writes, on a GPU, from which size on it was
the faster one (`assets/data/crossover.json`). Where a row has not been measured its rule stands:
small networks, recurrences above all, stay on the CPU, as thousands of tiny kernels one after
another wait for the launch and not for the arithmetic. Pretrained models go to the accelerator.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from seqviz.core.i18n import number
from seqviz.core.paths import ASSETS
from seqviz.jobs import queue
from seqviz.models import device

FILE = ASSETS / "data" / "crossover.json"


@dataclass(frozen=True)
class Work:
    """A kind of work. row: of `benchmarks.gpu.speed`; size: of a call, in the unit of that row."""

    row: str
    size: Callable[[Mapping[str, Any]], int]


@dataclass(frozen=True)
class MeasuredCrossover:
    """What a GPU has shown. crossover: by row, None where the CPU was always the faster one.

    largest: relative difference from the CPU's results in float32. name, date: of which GPU, when.
    """

    name: str = ""
    date: str = ""
    crossover: Mapping[str, int | None] | None = None
    largest: float | None = None


def _hidden(keywords: Mapping[str, Any]) -> int:
    return int(keywords["settings"].hidden)


_AR, _POSITIONS = "seqviz.compute.ar_fitting", "seqviz.compute.positions.tiny"
TABLE: dict[str, Work] = {
    f"{_AR}.networks.fit_network": Work("fit: AR, LSTM", _hidden),
    f"{_AR}.windows.fit_windows": Work("fit: AR, LSTM", _hidden),
    "seqviz.compute.vanishing_gradients.recall.comparison.compare": Work("fit: recall", _hidden),
    "seqviz.compute.vanishing_gradients.recall.longest_delay.find_longest_delay": Work(
        "fit: longest delay", lambda keywords: int(keywords["settings"].delay)
    ),
    "seqviz.compute.gates.tiny.train_tiny": Work("fit: gates, LSTM", _hidden),
    f"{_POSITIONS}.training.train": Work(
        "fit: order, rotary", lambda keywords: int(keywords["settings"].runs)
    ),
}
# Texts of a class in one pass at the most, by device. On two cores thirty texts of 24 words that
# came at once were all read in 0.4 to 0.5 s together and in 0.7 s one by one, but half of them in
# 0.4 s and 0.3 s: who came first would wait for the others. A GPU is hardly busy with one text;
# what it gains has not been measured.
TOGETHER = {"cpu": 1, "cuda": 32, "mps": 32}


elsewhere: Callable[[], str] | None = None
"""How the cluster is that computes (`seqviz.integrations.ray`): here, away, version, slow."""


@cache
def measured() -> MeasuredCrossover:
    """What `benchmarks.gpu` has left; nothing where it has not run on a GPU."""
    return (
        MeasuredCrossover(**json.loads(FILE.read_text("utf-8")))
        if FILE.is_file()
        else MeasuredCrossover()
    )


def of(function: Callable[..., Any], keywords: Mapping[str, Any]) -> device.Device:
    """Where a job with these arguments computes: what is in no row, where models are."""
    chosen = device.choose()
    work = TABLE.get(f"{function.__module__}.{function.__qualname__}")
    if chosen.kind == "cpu" or work is None:
        return chosen
    minimum = (measured().crossover or {}).get(work.row)
    if minimum is not None and work.size(keywords) >= minimum:
        return chosen
    return device.Device("cpu", device.cpu_name(), chosen.preference)


def named(kind: str, note: str = "") -> str:
    """A device, by torch's name, for people; a note of `device.NOTES` stands in brackets."""
    chosen = device.choose()
    name = chosen.name if kind == chosen.kind else device.cpu_name()
    return f"{name} [{note}]" if note else name


def device_messages() -> tuple[str, ...]:
    """What there is to say of the device: "device_missing" or "device_lost"; on an accelerator
    "device_measured", or "device_rule" where nobody has measured one. Of a cluster that is to
    compute "engine_connected" before it, or which other of the cluster's states it is in.
    """
    if elsewhere is not None:
        return (f"engine_{elsewhere()}", *_said_here())
    return _said_here()


def _said_here() -> tuple[str, ...]:
    chosen = device.choose()
    if chosen.note:
        return (f"device_{chosen.note}",)
    if chosen.kind == "cpu":
        return ()
    return ("device_rule" if measured().crossover is None else "device_measured",)


def facts() -> dict[str, str]:
    """The figures in that sentence."""
    result = measured()
    largest = math.nan if result.largest is None else result.largest
    return {"name": result.name, "date": result.date, "largest": number(largest, 1)}


def on_the_cpu(
    error: BaseException, keywords: Mapping[str, Any]
) -> tuple[dict[str, Any], str] | None:
    """A job's arguments for another try where a device has failed it, and the note; else None."""
    if keywords.get("device", "cpu") == "cpu" or not (trouble := device.classify_error(error)):
        return None
    if trouble == "lost":
        device.mark_lost(error)
    device.release()
    return {**keywords, "device": "cpu"}, device.NOTES[trouble]


queue.retry_hook = on_the_cpu
