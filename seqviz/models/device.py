"""The device that models run on, chosen once per process.

`SEQVIZ_DEVICE` is `auto` (the default), `cpu`, `cuda` or `mps`; `SEQVIZ_THREADS` is the number of
threads of one torch operation. One by default: with many students at once two were no faster.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from typing import Literal

from seqviz import settings

Kind = Literal["cpu", "cuda", "mps"]


@dataclass(frozen=True)
class Device:
    """Where tensors live: `kind` is the torch device name, `name` is for people.

    `note` is empty unless the device named by `wish` could not be had; then it says so.
    """

    kind: Kind
    name: str
    wish: str = "auto"
    note: str = ""


@cache
def choose() -> Device:
    """The device wished for in `SEQVIZ_DEVICE`, or the CPU when that one is not there.

    `auto` takes CUDA, then Apple's MPS, then the CPU. Torch is not imported when the wish is `cpu`.
    Raises ValueError when `SEQVIZ_DEVICE` is none of `settings.DEVICES`.
    """
    wish = settings.value("SEQVIZ_DEVICE")
    if wish != "cpu":
        import torch

        if wish in ("auto", "cuda") and torch.cuda.is_available():
            return Device("cuda", torch.cuda.get_device_name(0), wish)
        if wish in ("auto", "mps") and torch.backends.mps.is_available():
            return Device("mps", "Apple GPU", wish)
    missed = wish in ("cuda", "mps")
    note = f"SEQVIZ_DEVICE asks for {wish}, which is not available here: using the CPU."
    return Device("cpu", _cpu_name(), wish, note if missed else "")


@cache
def prepare_torch() -> int:
    """Import torch and set its number of threads, once per process; returns that number.

    Raises ValueError when `SEQVIZ_THREADS` is not a whole number of at least 1.
    """
    threads: int = settings.value("SEQVIZ_THREADS")
    import torch

    torch.set_num_threads(threads)
    return threads


def _cpu_name() -> str:
    # cores this process may use, which in a container are fewer than the machine has
    allowed = getattr(os, "sched_getaffinity", None)
    cores = len(allowed(0)) if allowed else os.cpu_count() or 1
    return f"CPU, {cores} {'core' if cores == 1 else 'cores'}"
