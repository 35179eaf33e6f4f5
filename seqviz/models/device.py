"""The device that models run on, chosen once per process; where it is lost the CPU goes on.

`SEQVIZ_DEVICE` is `auto` (the default), `cpu`, `cuda` or `mps`; `SEQVIZ_THREADS` is the number of
threads of one torch operation. One by default: with many students at once two were no faster.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Literal

from seqviz.core import settings

Kind = Literal["cpu", "cuda", "mps"]
Trouble = Literal["", "memory", "lost"]
NOTES: dict[Trouble, str] = {"memory": "out_of_gpu_memory", "lost": "gpu_lost"}
_LOST = ("CUDA error", "CUDNN_STATUS_", "CUBLAS_STATUS_", "MPS backend")
_lost = threading.Event()
log = logging.getLogger(__name__)

yield_slot: Callable[[], AbstractContextManager[None]] = nullcontext
"""Within, this thread waits for the device, and others may have the processor."""


@dataclass(frozen=True)
class Device:
    """Where tensors live: `kind` is the torch device name, `name` is for people.

    note: "missing" where the device named by `preference` is not there, "lost" where it was there
    and has failed; else empty.
    """

    kind: Kind
    name: str
    preference: str = "auto"
    note: str = ""


@cache
def choose() -> Device:
    """The device wished for in `SEQVIZ_DEVICE`, or the CPU when that one is not there.

    `auto` takes CUDA, then Apple's MPS, then the CPU, which also takes over from a device that is
    `lost`. Torch is not imported when the wish is `cpu`.
    Raises ValueError when `SEQVIZ_DEVICE` is none of `settings.DEVICES`.
    """
    requested = settings.value("SEQVIZ_DEVICE")
    if _lost.is_set():
        return Device("cpu", cpu_name(), requested, "lost")
    if requested != "cpu" and importlib.util.find_spec("torch"):
        import torch

        if requested in ("auto", "cuda") and torch.cuda.is_available():
            return Device("cuda", torch.cuda.get_device_name(0), requested)
        if requested in ("auto", "mps") and torch.backends.mps.is_available():
            return Device("mps", "Apple GPU", requested)
    return Device("cpu", cpu_name(), requested, "missing" if requested in ("cuda", "mps") else "")


def classify_error(error: BaseException) -> Trouble:
    """What an error says of a device: "memory", its memory has ended; "lost", it answers no more.

    After an error of the second kind the driver refuses this process everything.
    """
    torch = sys.modules.get("torch")
    if torch is None:  # who has not asked it has no trouble with it, and it may not be installed
        return ""
    if isinstance(error, torch.OutOfMemoryError) or "CUBLAS_STATUS_ALLOC_FAILED" in str(error):
        return "memory"
    gone = isinstance(error, torch.AcceleratorError) or (
        isinstance(error, RuntimeError) and any(word in str(error) for word in _LOST)
    )
    return "lost" if gone else ""


def mark_lost(error: BaseException) -> None:
    """From now on `choose` gives the CPU, for the rest of this process."""
    if not _lost.is_set():
        log.error("the device is lost, the CPU goes on: %s", error)
        _lost.set()
    choose.cache_clear()


def release() -> None:
    """Give back what torch keeps of a device's memory for later; nothing on a CPU."""
    import torch

    if torch.accelerator.is_available() and not _lost.is_set():
        torch.accelerator.empty_cache()


@cache
def prepare_torch() -> int:
    """Import torch and set its number of threads, once per process; returns that number.

    Products on a GPU are those of float32: its recurrent networks would take TF32, with 10 bits of
    mantissa, and their figures would not be the CPU's.
    Raises ValueError when `SEQVIZ_THREADS` is not a whole number of at least 1.
    """
    threads: int = settings.value("SEQVIZ_THREADS")
    import torch

    torch.set_num_threads(threads)
    torch.backends.cudnn.allow_tf32 = False
    return threads


def cpu_name() -> str:
    """The CPU, with its cores, for people."""
    # cores this process may use, which in a container are fewer than the machine has
    allowed = getattr(os, "sched_getaffinity", None)
    cores = len(allowed(0)) if allowed else os.cpu_count() or 1
    return f"CPU, {cores} {'core' if cores == 1 else 'cores'}"
