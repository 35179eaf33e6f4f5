"""What moves to an accelerator, and what happens when it is full or fails.

There is no accelerator here: torch is made to say that it has one, and tensors stay on the CPU. The
errors are torch's own kinds, raised where torch would raise them.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import json
import threading
import time

import numpy as np
import pytest
import torch

from benchmarks.gpu import speed
from seqviz.compute.gates.tiny import TinySettings, train_tiny
from seqviz.compute.positions.tiny import train
from seqviz.core.errors import UserError
from seqviz.experiments.bert_accuracy.tuning import tune
from seqviz.jobs import JobQueue
from seqviz.models import device, placement, pretrained

FULL = "CUDA out of memory. Tried to allocate 20.00 MiB."
GONE = "CUDA error: an illegal memory access was encountered"
WAIT = 60.0


@pytest.fixture
def gpu(monkeypatch):
    """`auto` finds a GPU; no tensor ever gets there."""
    monkeypatch.setenv("SEQVIZ_DEVICE", "auto")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda number: "Pretended GPU")
    monkeypatch.setattr(device, "_lost", threading.Event())
    monkeypatch.setattr(device, "release", lambda: None)
    monkeypatch.setattr(placement, "measured", placement.MeasuredCrossover)
    device.choose.cache_clear()
    yield
    device.choose.cache_clear()


@pytest.fixture
def queue():
    job_queue = JobQueue()
    yield job_queue
    job_queue.close()


# ---------------------------------------------------------------------------------- the table
@pytest.mark.parametrize("name", placement.TABLE)
def test_table_entry_takes_device_and_has_speed_row(name):
    module, function = name.rsplit(".", 1)
    result = getattr(importlib.import_module(module), function)
    assert f"{result.__module__}.{result.__qualname__}" == name
    assert "device" in inspect.signature(result).parameters
    assert placement.TABLE[name].row in speed.ROWS


def test_placement_keeps_small_networks_on_cpu_until_gpu_is_faster(gpu, monkeypatch):
    request = {"settings": TinySettings(hidden=64)}
    assert device.choose().name == "Pretended GPU"
    assert placement.of(train_tiny, request).kind == "cpu"
    assert placement.of(tune, {}).kind == "cuda"  # a pretrained model is in no row
    for minimum, kind in ((64, "cuda"), (65, "cpu"), (None, "cpu")):
        measured_crossover = placement.MeasuredCrossover(
            "H", "2026-12-01", {"fit: gates, LSTM": minimum}, 1e-6
        )
        monkeypatch.setattr(placement, "measured", lambda result=measured_crossover: result)
        assert placement.of(train_tiny, request).kind == kind
        assert placement.of(train, {"settings": None}).kind == "cpu"  # its row was not measured


def test_placement_reads_size_from_function_settings(gpu, monkeypatch):
    everything = dict.fromkeys((work.row for work in placement.TABLE.values()), 1)
    monkeypatch.setattr(
        placement, "measured", lambda: placement.MeasuredCrossover(crossover=everything)
    )
    for name in placement.TABLE:
        module, function = name.rsplit(".", 1)
        result = getattr(importlib.import_module(module), function)
        kind = inspect.get_annotations(result, eval_str=True)["settings"]
        given = {"lstm": True, "delay": 4, "cell": "lstm", "length": 6}
        names = {field.name for field in dataclasses.fields(kind)}
        settings = kind(**{key: value for key, value in given.items() if key in names})
        assert placement.of(result, {"settings": settings}).kind == "cuda"


def test_measured_reads_crossover_file(tmp_path, monkeypatch):
    file = tmp_path / "crossover.json"
    monkeypatch.setattr(placement, "FILE", file)
    placement.table.cache_clear()
    assert placement.measured().crossover is None
    placement.table.cache_clear()
    full = {"name": "H", "date": "2026-12-01", "crossover": {"fit: recall": 32}, "largest": 2e-6}
    file.write_text(json.dumps([full, {**full, "name": "T", "crossover": {}}]))
    for name, crossover in (("H", full["crossover"]), ("T", {}), ("another", None)):
        chosen = device.Device("cuda", name)
        monkeypatch.setattr(device, "choose", lambda chosen=chosen: chosen)
        assert placement.measured().crossover == crossover
    placement.table.cache_clear()


def test_shipped_crossovers_are_those_of_rows_of_the_benchmark():
    placement.table.cache_clear()
    for name, row in placement.table().items():
        assert row.name == name
        assert row.crossover
        assert row.crossover.keys() <= speed.ROWS.keys()
        assert {work.row for work in placement.TABLE.values()} <= row.crossover.keys()


def test_device_messages_follow_device_state(gpu, monkeypatch):
    assert placement.device_messages() == ("device_rule",)
    for largest, message in ((None, "device_own"), (1e-6, "device_measured")):
        result = placement.MeasuredCrossover(crossover={}, largest=largest)
        monkeypatch.setattr(placement, "measured", lambda result=result: result)
        assert placement.device_messages() == (message,)
    device.mark_lost(RuntimeError(GONE))
    assert placement.device_messages() == ("device_lost",)
    assert placement.named("cpu", "gpu_lost") == f"{device.cpu_name()} [gpu_lost]"


# ------------------------------------------------------------------------------------- errors
@pytest.mark.parametrize(
    ("error", "said"),
    [
        (torch.OutOfMemoryError(FULL), "memory"),
        (
            RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate"),
            "memory",
        ),
        (torch.AcceleratorError(GONE), "lost"),
        (RuntimeError("cuDNN error: CUDNN_STATUS_EXECUTION_FAILED"), "lost"),
        (RuntimeError("mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"), ""),
        (ValueError(GONE), ""),
    ],
)
def test_classify_error_separates_memory_loss_and_other(error, said):
    assert device.classify_error(error) == said


def works_on_the_cpu(report, device: str, kind: str = "") -> str:
    """A job: what a device that is full, or gone, does to a training."""
    report(0, 0.1)
    if device != "cpu":
        raise torch.OutOfMemoryError(FULL) if kind == "memory" else torch.AcceleratorError(GONE)
    if kind == "neither":
        raise MemoryError
    return device


@pytest.mark.parametrize(("kind", "note"), [("memory", "out_of_gpu_memory"), ("lost", "gpu_lost")])
def test_job_restarts_on_cpu_after_device_failure(gpu, queue, kind, note):
    job = queue.submit(works_on_the_cpu, device="cuda", kind=kind, owner="one")
    assert job.wait(WAIT)
    assert (job.state, job.result, job.device, job.note) == ("done", "cpu", "cpu", note)
    assert device.choose().kind == ("cpu" if kind == "lost" else "cuda")
    # the class finds it under the device that it was asked for
    assert queue.find(works_on_the_cpu, device="cuda", kind=kind) is job


failures: list[BaseException] = []


def fails_outside_its_model(report) -> str:
    """A job that leaves the device to a model, and touches what is on it once more."""
    if failures:
        raise failures.pop()
    return "done"


def test_job_of_model_restarts_after_device_loss(gpu, queue):
    failures.append(torch.AcceleratorError(GONE))
    job = queue.submit(fails_outside_its_model, device="cuda", owner="one")
    assert job.wait(WAIT)
    assert (job.result, job.device, job.note) == ("done", "cpu", "gpu_lost")


def test_job_reports_cpu_oom_and_next_job_runs(gpu, queue):
    job = queue.submit(works_on_the_cpu, device="cuda", kind="neither", owner="one")
    assert job.wait(WAIT)
    assert (job.state, job.error.code) == ("failed", "job_no_memory")
    other = queue.submit(works_on_the_cpu, device="cpu", owner="one")
    assert other.wait(WAIT)
    assert (other.state, other.note) == ("done", "")


# ------------------------------------------------------------------------------------- models
@pytest.fixture
def shared(put, gpu, monkeypatch):
    """The tiny model, which believes that it is on a GPU."""
    monkeypatch.setenv("SEQVIZ_DEVICE", "cpu")
    device.choose.cache_clear()
    put()
    result = pretrained.load("tiny")
    result.device = "cuda"
    return result


def room_for(maximum: int, passes: list[tuple[str, int]]):
    """Work on rows on a GPU that has room for so many; returns their squares."""

    def work(network, device, rows):
        passes.append((device, len(rows)))
        if device != "cpu" and len(rows) > maximum:
            raise torch.OutOfMemoryError(FULL)
        return np.square(rows)

    return work


def test_run_in_parts_halves_batch_until_it_fits(shared):
    passes = []
    results = shared.run_in_parts(room_for(3, passes), list(range(10)))
    assert np.concatenate(results).tolist() == [n * n for n in range(10)]
    assert passes == [("cuda", n) for n in (10, 5, 2, 3, 5, 2, 3)]
    assert (shared.device, shared.note) == ("cuda", "")


def test_run_in_parts_moves_to_cpu_if_one_row_does_not_fit(shared):
    """The rows that follow run on the CPU, too."""
    passes = []
    results = shared.run_in_parts(room_for(0, passes), list(range(4)))
    assert np.concatenate(results).tolist() == [0, 1, 4, 9]
    assert passes == [*(("cuda", n) for n in (4, 2, 1)), *(("cpu", n) for n in (1, 1, 2))]
    assert (shared.device, shared.note) == ("cpu", "out_of_gpu_memory")


def no_copy(network) -> None:
    raise torch.AcceleratorError(GONE)


def test_run_reloads_model_after_device_loss(shared, monkeypatch):
    """The weights there cannot be read any more: they come from the disk."""
    there = shared.network

    def work(network, device, rows=None):
        if network is there:
            raise torch.AcceleratorError(GONE)
        return device, float(next(network.parameters()).sum())

    expected = "cpu", float(next(there.parameters()).sum())
    monkeypatch.setattr(pretrained, "_on_cpu", no_copy)
    assert shared.run(work) == expected
    assert (shared.device, shared.note) == ("cpu", "gpu_lost")
    assert device.choose().note == "lost"
    assert pretrained.load("tiny") is shared


def test_load_moves_idle_model_to_cpu_after_device_loss(shared):
    device.mark_lost(RuntimeError(GONE))
    assert pretrained.load("tiny").device == "cpu"
    assert pretrained.load("tiny").note == "gpu_lost"


def test_run_reports_cpu_oom(shared):
    shared.device = "cpu"
    with pytest.raises(UserError) as caught:
        shared.run(lambda *_: torch.empty(10**15))  # 4 PB
    assert caught.value.code == "no_memory"


# ------------------------------------------------------------------------- one device for all
def test_forwards_finish_while_trainings_share_device(put, queue, monkeypatch):
    """Nobody starves: forwards end long before the trainings do, and these go on meanwhile."""
    from seqviz.models import forward_cache
    from seqviz.models.texts import tokens

    put()
    model = pretrained.load("tiny")
    monkeypatch.setitem(placement.TOGETHER, "cpu", 8)
    monkeypatch.setattr(forward_cache, "_shelf", forward_cache.ForwardCache())
    monkeypatch.setattr(forward_cache, "_passes", {})
    trainings = [
        queue.submit(
            train_tiny, TinySettings(updates=600, seed=seed), device="cpu", owner=str(seed)
        )
        for seed in (1, 2)
    ]
    texts = [" ".join("abcdefghij"[: 1 + n % 10]) + " the" * (n // 10) for n in range(30)]
    while not trainings[0].trail:
        time.sleep(0.01)
    begun, took = trainings[0].fraction, []

    def ask(text: str) -> None:
        started = time.perf_counter()
        result = forward_cache.read("tiny", text)
        took.append(time.perf_counter() - started)
        assert len(result.vectors) == len(tokens(model, text, "").ids)

    students = [threading.Thread(target=ask, args=(text,)) for text in texts]
    for student in students:
        student.start()
    for student in students:
        student.join(WAIT)
    states = [training.state for training in trainings]
    assert len(took) == len(texts)
    assert states == ["running", "queued"]  # thirty texts were read before one training ended
    assert all(training.wait(2 * WAIT) for training in trainings)
    assert [training.state for training in trainings] == ["done", "done"]
    assert trainings[0].fraction > begun
