"""Device and precision of a row, timing, and the time limit of the run."""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch

from benchmarks.report import timed
from seqviz.core import atomic_write
from seqviz.core.paths import ROOT
from seqviz.models import device, forward_cache, pretrained, sources, store

CARRIED = ROOT / "gpu_bundle"  # folder of the model in the bundle of tools/gpu_bundle.py
COARSE = "coarse.safetensors"  # weights of a bundled model, until `expand` writes the usual file
STEP_SUFFIX = ".step"
CPU = "cpu"
HALVES = {"bfloat16": torch.bfloat16, "float16": torch.float16}
PRECISIONS = ("float32", "tf32", *HALVES)
_ENOUGH, _MOST = 0.4, 20  # target seconds, maximum number of runs
_SLOW = 0.4  # seconds; a longer first call is the measurement, since warm-up is negligible
NO_TIME = "no time left for it"


class SkipRowError(Exception):
    """A row that cannot be measured on this machine; the message says why."""


@dataclass(frozen=True)
class Machine:
    """The device under test; `small` where it is the CPU itself.

    Attributes:
        place: torch device type.
        name: name for display.
        started: `time.monotonic()` of the first line.
        seconds: time in which rows may be started.
    """

    place: str
    name: str
    small: bool
    started: float
    seconds: float

    def over(self) -> bool:
        """Return True where no further row may be started."""
        return time.monotonic() - self.started > self.seconds

    def check(self) -> None:
        """Raise SkipRowError where no further row may be started."""
        if self.over():
            raise SkipRowError(NO_TIME)

    def sizes(self, small: tuple[int, ...], full: tuple[int, ...]) -> tuple[int, ...]:
        """Return the sizes of a row that fit this machine."""
        return small if self.small else full


def find_model() -> None:
    """Let the store use the unpacked bundle, if there is one; SEQVIZ_CACHE has priority."""
    if (CARRIED / "models").is_dir():
        os.environ.setdefault("SEQVIZ_CACHE", str(CARRIED))
    for file in sorted(CARRIED.glob(f"models/*/{COARSE}")):
        expand(file.parent)


def expand(folder: Path) -> None:
    """Replace coarse weights (`tools.gpu_bundle.coarse`) by a file of half-precision weights."""
    from safetensors.torch import load_file, save_file

    parts = load_file(folder / COARSE)
    weights = {}
    for name, item in parts.items():
        step = parts.get(name + STEP_SUFFIX)
        if not name.endswith(STEP_SUFFIX):
            weights[name] = item if step is None else (item.float() * step[:, None]).half()
    save_file(weights, folder / sources.WEIGHTS, {"format": "pt"})
    manifest = json.loads((folder / store.MANIFEST).read_text("utf-8"))
    del manifest["files"][COARSE]
    manifest["files"][sources.WEIGHTS] = sources.digest(folder / sources.WEIGHTS)
    with atomic_write.atomic_write(folder / store.MANIFEST) as created:
        created.write_text(json.dumps(manifest, indent=1), "utf-8")
    (folder / COARSE).unlink()


def need(name: str) -> None:
    """Raise SkipRowError if a pretrained model is not stored; nothing is fetched."""
    if store.stored(name) is None:
        raise SkipRowError(f"{name} is not on this machine")


@cache
def model(name: str, location: str) -> pretrained.Pretrained:
    """Load a pretrained model onto a device as the app does.

    Raises SkipRowError if it is not stored.
    """
    need(name)
    before = os.environ.get("SEQVIZ_DEVICE")
    os.environ["SEQVIZ_DEVICE"] = location
    device.choose.cache_clear()
    pretrained._loaded.pop(name, None)
    try:
        result = pretrained.load(name)
        if (
            result.device != location
        ):  # the app falls back to the CPU, which would be a different row here
            raise SkipRowError(f"{name} did not get onto {location}")
        return result
    finally:
        device.choose.cache_clear()
        del os.environ["SEQVIZ_DEVICE"]
        if before is not None:
            os.environ["SEQVIZ_DEVICE"] = before


def models_at(location: str, names: tuple[str, ...]) -> None:
    """Make experiments, which request models by name, get those on this device from now on.

    Forward passes of another device or precision are not reused.
    """
    for name in names:
        pretrained._loaded[name] = model(name, location)
    forward_cache._shelf = forward_cache.ForwardCache()
    forward_cache._passes.clear()


@contextlib.contextmanager
def precision(name: str, location: str) -> Iterator[None]:
    """Compute matrix products in one of `PRECISIONS`, by PyTorch's own switches.

    "float32": IEEE single precision. "tf32": products with the mantissa rounded to 10 bits, in
    cuBLAS and cuDNN. "bfloat16", "float16": torch.autocast, with float32 weights. Raises
    SkipRowError for "tf32" on a CPU, which has no such mode, and for "bfloat16" on a card without.
    """
    if name == "tf32" and location == CPU:
        raise SkipRowError("no TF32 on a CPU")
    if name == "bfloat16" and location == "cuda" and torch.cuda.get_device_capability() < (8, 0):
        raise SkipRowError("this card computes no bfloat16 (compute capability below 8.0)")
    before = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    torch.set_float32_matmul_precision("high" if name == "tf32" else "highest")
    torch.backends.cudnn.allow_tf32 = name == "tf32"
    try:
        if name in HALVES:
            # Without autocast's cache, which would keep the weights as first cast during training.
            with torch.autocast(location, HALVES[name], cache_enabled=False):
                yield
        else:
            yield
    finally:
        torch.set_float32_matmul_precision(before[0])
        torch.backends.cudnn.allow_tf32 = before[1]


def synchronize(location: str) -> None:
    """Wait for all pending work of the device; a CPU has none."""
    if location != CPU:
        getattr(torch, location).synchronize()


def median(work: Callable[[], object], location: str) -> float:
    """Return the median seconds of up to 20 synchronized calls within 0.4 s, after one warm-up.

    On a CPU, a first call of 0.4 s or more is the only one.
    """

    def once() -> None:
        work()
        synchronize(location)

    first = timed(once)
    if location == CPU and first > _SLOW:
        return first
    results: list[float] = []
    while sum(results) < _ENOUGH and len(results) < _MOST:
        results.append(timed(once))
    return statistics.median(results)


def described(error: Exception) -> str:
    """Return why a row has no result: what is missing, or how it failed."""
    if isinstance(error, SkipRowError):
        return f"skipped: {error}"
    if isinstance(error, ModuleNotFoundError):
        return f"skipped: {str(error.name).partition('.')[0]} is not installed"
    if "primitive descriptor" in str(error):  # oneDNN has no float16 LSTM on most CPUs
        return "skipped: this CPU cannot do it in this precision"
    return f"failed: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"


def attempt(task: Callable[[], Any], machine: Machine) -> Any:
    """Return the result of a task, or why there is none (`described`)."""
    try:
        machine.check()
        return task()
    except Exception as error:  # of any kind, since other rows can still be measured
        return described(error)


def ids(model: Any, sentences: int, tokens: int) -> Any:
    """Return random token ids [sentence, token], the same in every call; on the CPU."""
    source = torch.Generator().manual_seed(0)
    maximum = model.config.vocab_size
    return torch.randint(1000, maximum, (sentences, tokens), generator=source)
