"""The compute device, chosen once per process, with the CPU as fallback for a lost device.

`SEQVIZ_DEVICE` is `auto` (the default), `cpu`, `cuda` or `mps`; `SEQVIZ_THREADS` is the number of
threads of one torch operation. The default is 1: with many concurrent students, 2 were no faster.
Entry point: `choose`.
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
from typing import Any, Literal

from seqviz.core import settings

Kind = Literal["cpu", "cuda", "mps"]
Trouble = Literal["", "memory", "lost"]
NOTES: dict[Trouble, str] = {"memory": "out_of_gpu_memory", "lost": "gpu_lost"}
_LOST = ("CUDA error", "CUDNN_STATUS_", "CUBLAS_STATUS_", "MPS backend")
_lost = threading.Event()
log = logging.getLogger(__name__)

yield_slot: Callable[[], AbstractContextManager[None]] = nullcontext
"""Hook: context in which this thread waits for the device and yields its scheduler slot."""


@dataclass(frozen=True)
class Device:
    """The device that holds the tensors.

    Attributes:
        kind: torch device type.
        name: name for display.
        preference: value of `SEQVIZ_DEVICE`.
        note: "missing" if the preferred device is not available, "lost" if it failed; else empty.
    """

    kind: Kind
    name: str
    preference: str = "auto"
    note: str = ""


@cache
def choose() -> Device:
    """Return the device of `SEQVIZ_DEVICE`, or the CPU if that device is not available.

    `auto` takes CUDA, then Apple's MPS, then the CPU. The CPU also replaces a lost device. For
    `cpu`, torch is not imported.

    Raises:
        ValueError: if `SEQVIZ_DEVICE` is not one of `settings.DEVICES`.
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
    """Return the kind of a device error: "memory" (out of memory), "lost", or "" for others.

    After a "lost" error the driver rejects every call of this process. A call that is not permitted
    while kernels are captured (`cuda_graphs`) ends that capture, and nothing else.
    """
    torch = sys.modules.get("torch")
    if torch is None:  # no device error without torch, which may not be installed
        return ""
    if isinstance(error, torch.OutOfMemoryError) or "CUBLAS_STATUS_ALLOC_FAILED" in str(error):
        return "memory"
    if "captur" in str(error):
        return ""
    gone = isinstance(error, torch.AcceleratorError) or (
        isinstance(error, RuntimeError) and any(word in str(error) for word in _LOST)
    )
    return "lost" if gone else ""


def mark_lost(error: BaseException) -> None:
    """Make `choose` return the CPU for the rest of this process."""
    if not _lost.is_set():
        log.error("device: lost, falling back to the CPU: %s", error)
        _lost.set()
    choose.cache_clear()


def release() -> None:
    """Release the device memory that torch has cached; no effect on a CPU."""
    import torch

    if torch.accelerator.is_available() and not _lost.is_set():
        torch.accelerator.empty_cache()


def memory() -> int:
    """Return the memory of the CUDA device in bytes; 0 without one."""
    if choose().kind != "cuda":
        return 0
    import torch

    return int(torch.cuda.mem_get_info()[1])


def to_host(*tensors: Any) -> list[Any]:
    """Return tensors as float32 arrays of main memory.

    From a CUDA device they are copied on a side stream to page-locked memory, several times as fast
    as to ordinary memory, with one wait for all. An array keeps its page-locked memory.

    Args:
        *tensors: torch tensors of one device.
    """
    import torch

    if not tensors or tensors[0].device.type != "cuda":
        return [tensor.float().cpu().numpy() for tensor in tensors]
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    copies = []
    with torch.cuda.stream(side):
        for tensor in tensors:
            tensor.record_stream(side)
            there = tensor.float().contiguous()
            here = torch.empty(there.shape, dtype=there.dtype, pin_memory=True)
            copies.append(here.copy_(there, non_blocking=True))
    side.synchronize()
    return [copied.numpy() for copied in copies]


@cache
def prepare_torch() -> int:
    """Import torch, set its number of threads, once per process, and return that number.

    TF32 is disabled: it is the default of recurrent networks on a GPU and has a 10-bit mantissa, so
    that results would differ from the CPU's.

    Raises:
        ValueError: if `SEQVIZ_THREADS` is not an integer of at least 1.
    """
    threads: int = settings.value("SEQVIZ_THREADS")
    import torch

    torch.set_num_threads(threads)
    torch.backends.cudnn.allow_tf32 = False
    return threads


def cpu_name() -> str:
    """Return "CPU" and the number of usable cores, for display."""
    # A container may restrict the process to fewer cores than the machine has.
    allowed = getattr(os, "sched_getaffinity", None)
    cores = len(allowed(0)) if allowed else os.cpu_count() or 1
    return f"CPU, {cores} {'core' if cores == 1 else 'cores'}"
