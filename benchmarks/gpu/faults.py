"""Real GPU faults: out of memory, a lost device, two processes.

Nothing is simulated on a CPU. One allocation takes all memory but a little, so that the error comes
from the driver, in the middle of the work. The device is lost in a separate process, by an index
out of range in a kernel: the driver then rejects every call of that process, as after a hardware
fault.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import multiprocessing
import os
import queue
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import torch

from benchmarks.gpu.agreement import TOLERANCE, difference
from benchmarks.gpu.machine import CPU, Machine, SkipRowError, described, find_model, ids, model
from seqviz.jobs import JobQueue, Report

_TEXTS, _TOKENS, _LAYERS, _HEADS = 8, 512, 6, 12
_LAYER = 4 * _TEXTS * _HEADS * _TOKENS**2  # bytes of the attention weights of one layer
_ROOMS = range(5, 14)  # free memory in such layers, tried until it ends within the layers
_TOGETHER = 3.0  # duration of the two-process measurement, in seconds
_WAIT = 120.0  # timeout of a process, in seconds


@contextlib.contextmanager
def nearly_full(location: str, room: int) -> Iterator[None]:
    """Allocate all memory of the device but `room` bytes within the context."""
    there = getattr(torch, location)
    there.empty_cache()
    free, _ = there.mem_get_info()
    if free <= room:
        raise SkipRowError("others have taken the device's memory")
    taken = torch.empty(free - room, dtype=torch.uint8, device=location)
    try:
        yield
    finally:
        del taken
        there.empty_cache()


def in_a_forward(location: str) -> dict[str, Any]:
    """Run out of memory in a pass that records all attention; check the CPU fallback."""
    from seqviz.models import attention_hook as taps

    item = model("minilm", location)
    rows = ids(item.network, _TEXTS, _TOKENS)
    passed: list[tuple[str, int]] = []

    def work(network: Any, where: str) -> np.ndarray:
        with taps.hooked(taps.AttentionHook(each=lambda layer: passed.append((where, layer)))):
            values: np.ndarray = network(rows.to(where)).last_hidden_state.cpu().numpy()
        return values

    requested = item.run(work)
    for room in _ROOMS:
        passed.clear()
        # A copy, because `run` moves the object for good, and later rows use the original.
        own = dataclasses.replace(item, network=copy.deepcopy(item.network))
        with nearly_full(location, room * _LAYER):
            result = own.run(work)
        layers = sum(where == location for where, _ in passed)
        if own.device == CPU and layers:
            break
    else:
        raise SkipRowError("the memory did not end within the layers")
    return {
        "layers_done": layers,
        "same_answer": difference(result, requested).largest < TOLERANCE,
        "computes_on": difference(item.run(work), requested).largest < TOLERANCE,
    }


def train_a_little(location: str, room: int, report: Report) -> int:
    """Job: run steps on growing batches of 512-token sentences in little memory.

    Returns the number of steps.
    """
    from benchmarks.gpu.speed import _run, _sentences

    some = _sentences(512)
    run, progress = _run(location, "all", some, _TOKENS)
    run.network.train()
    with nearly_full(location, room) if room else contextlib.nullcontext():
        for done, size in enumerate((2, 4, 8, 16, 32, 64, 128, 256, 512) if room else (2, 4)):
            report(done, 0.0)
            run.step(some, np.arange(size), 1.0, progress)
    return done + 1


def in_a_training(location: str) -> dict[str, Any]:
    """Run out of memory in a training of the app's queue; then run the next job."""
    line, jobs = JobQueue(), []
    try:
        for room in (40 * _LAYER, 0):
            job = line.submit(train_a_little, location, room, owner="benchmark")
            job.wait(_WAIT)
            jobs.append(job)
    finally:
        line.close()
    first, second = jobs
    return {
        "state": first.state,
        "steps_before": first.trail[-1] if first.trail else 0,
        "said": str(first.error),
        "next_job": second.state,
    }


def lose_the_device(ready: Any, location: str) -> dict[str, Any]:
    """In a subprocess: break the device's context, then record what still works.

    The app's model continues on the CPU: there, the invalid row raises an error of its own type,
    and the valid one after it is answered. note: text of the badge.
    """
    item = model("minilm", location)
    rows = ids(item.network, 1, 8)

    def work(row: torch.Tensor, network: Any, where: str) -> Any:
        return network(row.to(where)).last_hidden_state.cpu().numpy()

    requested = item.run(partial(work, rows))
    _silence()
    broken = torch.full((1, 8), item.network.config.vocab_size + 1)
    raised = ["", ""]
    for number, row in enumerate((broken, rows)):  # the second is valid, but the device is lost
        try:
            item.run(partial(work, row))
        except Exception as error:  # of any kind; its type is the result
            raised[number] = type(error).__name__
    again = model("minilm", CPU).run(partial(work, rows))
    return {
        "note": item.note,
        "raised": raised[0],
        "raised_afterwards": raised[1],
        "computes_on_with_the_cpu": difference(again, requested).largest < TOLERANCE,
    }


def _silence() -> None:
    """Suppress output of this process: the driver itself prints a line for each thread."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)


def passes(ready: Any, location: str, seconds: float) -> float:
    """In a subprocess: return the passes per second of a text of 32 tokens."""
    item = model("minilm", location)
    rows = ids(item.network, 1, 32)

    def work(network: Any, where: str) -> Any:
        return network(rows.to(where)).last_hidden_state.cpu()

    item.run(work)
    ready.wait(_WAIT)
    done, started = 0, time.perf_counter()
    while time.perf_counter() - started < seconds:
        item.run(work)
        done += 1
    return done / (time.perf_counter() - started)


def processes(count: int, work: Callable[..., Any], *arguments: Any) -> list[Any]:
    """Return the result, or the error message, of each of several concurrent new processes.

    work: a module-level function; it also receives a barrier, for a simultaneous start. Raises
    TimeoutError for a process without an answer. No process is left running.
    """
    fresh = multiprocessing.get_context("spawn")  # a forked process cannot use the device
    ready, answers = fresh.Barrier(count), fresh.Queue()
    payload = (ready, answers, work, arguments)
    running = [fresh.Process(target=_answer, args=payload, daemon=True) for _ in range(count)]
    for item in running:
        item.start()
    try:
        return [answers.get(timeout=_WAIT) for _ in running]
    except queue.Empty:
        raise TimeoutError(f"a process said nothing for {_WAIT:.0f} s") from None
    finally:
        for item in running:
            item.kill()


def _answer(ready: Any, answers: Any, work: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    find_model()
    try:
        answers.put(work(ready, *arguments))
    except Exception as error:  # of any kind; sent to the parent process
        answers.put(described(error))


def lost(location: str) -> dict[str, Any]:
    """Lose the device in another process; check that this one is unaffected."""
    (result,) = processes(1, lose_the_device, location)
    two = torch.ones(2, device=location).sum().item()
    return {"there": result, "others_unharmed": two == 2.0}


def shared(location: str) -> dict[str, Any]:
    """Return the passes per second of two concurrent processes and of one."""
    (alone,) = processes(1, passes, location, _TOGETHER)
    return {"alone_per_s": alone, "together_per_s": processes(2, passes, location, _TOGETHER)}


ROWS: dict[str, Callable[[str], dict[str, Any]]] = {
    "out of memory in a forward": in_a_forward,
    "out of memory in a training": in_a_training,
    "device lost": lost,
    "two processes": shared,
}


def tasks(machine: Machine) -> dict[str, Callable[[], dict[str, Any]]]:
    """Return the observation of each fault by name."""
    return {name: partial(row, name, machine) for name in ROWS}


def row(name: str, machine: Machine) -> dict[str, Any]:
    """Return the observations of a fault; raise SkipRowError on a CPU."""
    if machine.place == CPU:
        raise SkipRowError("not on a CPU")
    return ROWS[name](machine.place)
