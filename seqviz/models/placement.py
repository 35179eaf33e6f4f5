"""Placement of work on the accelerator or the CPU, by a table of measured crossover sizes.

`python -m benchmarks.gpu` measures each row on both and writes the size from which the GPU is
faster (`assets/data/crossover.json`, a row for each kind of GPU). Unmeasured rows follow a rule:
small networks, above all recurrent ones, run on the CPU, because launching thousands of tiny
sequential kernels takes longer than their arithmetic. Pretrained models run on the accelerator.
Entry point: `of`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from seqviz.compute.training import step
from seqviz.core import settings
from seqviz.core.i18n import number
from seqviz.core.paths import ASSETS
from seqviz.jobs import queue
from seqviz.models import device, store

FILE = ASSETS / "data" / "crossover.json"


@dataclass(frozen=True)
class Work:
    """A kind of work.

    Attributes:
        row: row of `benchmarks.gpu.speed`.
        size: returns the size of a call from its keyword arguments, in the unit of that row.
    """

    row: str
    size: Callable[[Mapping[str, Any]], int]


@dataclass(frozen=True)
class MeasuredCrossover:
    """Measurements on one GPU.

    Attributes:
        name: name of the GPU.
        date: date of the measurement.
        crossover: by row, the smallest size at which the GPU is faster; None where the CPU always
            is.
        largest: largest relative difference from the CPU's float32 results.
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
# Maximum number of texts in a batch, by device. On two cores, thirty concurrent texts of 24 words
# took 0.4 to 0.5 s as one batch and 0.7 s one by one, but half of them were done after 0.4 s and
# 0.3 s respectively: a batch makes the first requests wait for the others. A GPU is hardly busy
# with one text; its gain has not been measured.
TOGETHER = {"cpu": 1, "cuda": 32, "mps": 32}


remote_state: Callable[[], str] | None = None
"""Hook of `seqviz.integrations.ray`: returns the cluster's state, such as "connected"; or None."""


@cache
def table() -> dict[str, MeasuredCrossover]:
    """Return the measurements by name of the GPU: shipped ones, else those of this machine."""
    rows = [*saved_rows(own_file()), *saved_rows(FILE)]
    return {row["name"]: MeasuredCrossover(**row) for row in rows}


def own_file() -> Path:
    """Return the file of the measurements of this machine; see `accelerator_start`."""
    return store.cache() / FILE.name


def saved_rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file of measurements; none where it is missing or damaged."""
    try:
        rows = json.loads(path.read_text("utf-8"))
        return [row for row in rows if MeasuredCrossover(**row).name]
    except (OSError, ValueError, TypeError):
        return []


def crossover(cpu: Mapping[int, float], accelerator: Mapping[int, float]) -> int | None:
    """Return the smallest size from which on a device is faster, of those that both have done.

    Args:
        cpu: seconds by size on the CPU.
        accelerator: seconds by size on the device.
    """
    result = None
    for size in sorted(cpu.keys() & accelerator.keys(), reverse=True):
        if accelerator[size] >= cpu[size]:
            break
        result = size
    return result


def measured() -> MeasuredCrossover:
    """Return the measurements on this kind of GPU; empty where there are none."""
    return table().get(device.choose().name, MeasuredCrossover())


def of(function: Callable[..., Any], keywords: Mapping[str, Any]) -> device.Device:
    """Return the device for a job; work without a row runs where models run.

    Args:
        function: the function of the job.
        keywords: its arguments.
    """
    chosen = device.choose()
    work = TABLE.get(f"{function.__module__}.{function.__qualname__}")
    if chosen.kind == "cpu" or work is None:
        return chosen
    minimum = (measured().crossover or {}).get(work.row)
    if minimum is not None and work.size(keywords) >= minimum:
        return chosen
    return device.Device("cpu", device.cpu_name(), chosen.preference)


def named(kind: str, note: str = "") -> str:
    """Return the display name of a device.

    Args:
        kind: torch device type.
        note: a note of `device.NOTES`, appended in brackets.
    """
    chosen = device.choose()
    name = chosen.name if kind == chosen.kind else device.cpu_name()
    return f"{name} [{note}]" if note else name


def device_messages() -> tuple[str, ...]:
    """Return the message keys that describe the device; empty for a CPU without problems.

    They are "device_missing" or "device_lost"; on an accelerator "device_measured", "device_own"
    where this machine measured it at its start, or "device_rule" without measurements. With a
    cluster, "engine_" and its state come first, such as "engine_connected".
    """
    if remote_state is not None:
        return (f"engine_{remote_state()}", *_said_here())
    return _said_here()


def _said_here() -> tuple[str, ...]:
    chosen = device.choose()
    if chosen.note:
        return (f"device_{chosen.note}",)
    if chosen.kind == "cpu":
        return ()
    if measured().crossover is None:
        return ("device_rule",)
    return ("device_own" if measured().largest is None else "device_measured",)


def facts() -> dict[str, str]:
    """Return the values for "device_measured" and "device_own": name, date, largest difference."""
    result = measured()
    largest = math.nan if result.largest is None else result.largest
    return {"name": result.name, "date": result.date, "largest": number(largest, 1)}


def on_the_cpu(
    error: BaseException, keywords: Mapping[str, Any]
) -> tuple[dict[str, Any], str] | None:
    """Return the arguments of a failed job for a retry on the CPU, and a note; else None.

    Args:
        error: the error that ended the job.
        keywords: the job's arguments.

    Returns:
        None unless the job ran on an accelerator and the error is one of the device.
    """
    if keywords.get("device", "cpu") == "cpu" or not (trouble := device.classify_error(error)):
        return None
    if trouble == "lost":
        device.mark_lost(error)
    device.release()
    return {**keywords, "device": "cpu"}, device.NOTES[trouble]


def captured_update(optimizer: Any, location: Any) -> Callable[..., Any] | None:
    """Return a replayed update for a training on a CUDA device, see `models.cuda_graphs`; or None.

    Args:
        optimizer: a torch optimizer before its first step.
        location: torch device of its weights.
    """
    if not _is_captured(location.type):
        return None
    from seqviz.models import cuda_graphs

    return cuda_graphs.CapturedUpdate(optimizer, location)


def captured_pass(network: Any, kind: str) -> Callable[..., Any] | None:
    """Return the call that replays a network's passes on a CUDA device; or None.

    See `models.cuda_graphs.CapturedCall`. The caller pads its inputs to few shapes.

    Args:
        network: the network.
        kind: torch device type of its weights.
    """
    if not _is_captured(kind):
        return None
    import torch

    from seqviz.models import cuda_graphs

    return cuda_graphs.call_of(network, torch.device(kind))


def _is_captured(kind: str) -> bool:
    return kind == "cuda" and bool(settings.value("SEQVIZ_CUDA_GRAPHS"))


def round_up(number: int, step: int = 0) -> int:
    """Return the next multiple of a step, or the next power of two: one of few shapes to capture.

    Args:
        number: a size of at least 1.
        step: the step; 0 for powers of two.
    """
    return -(-number // step) * step if step else 1 << (number - 1).bit_length()


queue.retry_hook = on_the_cpu
step.capture_hook = captured_update
