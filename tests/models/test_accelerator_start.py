"""Start of a card that is not in the table: what is measured, kept and captured.

There is no GPU here: its name, its memory and its seconds are pretended; the trainings are real.
"""

from __future__ import annotations

import json
import logging

import pytest

from seqviz.models import (
    accelerator_start,
    cuda_graphs,
    device,
    forward_cache,
    placement,
    pretrained,
    texts,
)
from seqviz.models.accelerator_start import TRIALS

NAME = "Pretended T4"


@pytest.fixture
def card(monkeypatch, tmp_path):
    """A CUDA card with 16 GB that nobody has measured, and an empty cache folder."""
    monkeypatch.setenv("SEQVIZ_CACHE", str(tmp_path))
    monkeypatch.setattr(device, "choose", lambda: device.Device("cuda", NAME))
    placement.table.cache_clear()
    yield tmp_path
    placement.table.cache_clear()


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_crossovers_follow_the_measured_seconds():
    def seconds(trial, size, location):
        return 1.0 if location == "cuda" else size / 20

    result = accelerator_start.measure("cuda", seconds)
    assert result == {
        "fit: gates, LSTM": 32, "fit: order, rotary": None, "fit: AR, LSTM": 64, "fit: recall": 32,
    }  # fmt: skip


def test_measuring_ends_in_time_and_keeps_whole_rows_only():
    clock, calls = Clock(), []

    def seconds(trial, size, location):
        calls.append(size)
        clock.now += 1.4
        return 1.0

    result = accelerator_start.measure("cuda", seconds, clock)
    assert list(result) == ["fit: gates, LSTM"]
    assert clock.now - 100 <= accelerator_start.MAX_SECONDS + 2 * 1.4


@pytest.mark.parametrize("trial", TRIALS, ids=lambda trial: trial.function.rsplit(".", 1)[1])
def test_trials_are_trainings_of_the_table(trial, monkeypatch):
    """Each trains in earnest at its smallest size, and has the size that the table reads."""
    monkeypatch.setattr(accelerator_start, "FEW_UPDATES", 1)
    monkeypatch.setattr(accelerator_start, "MANY_UPDATES", 3)
    size = trial.sizes[0]
    work = placement.TABLE[trial.function]
    assert work.size(trial.keywords(size, 1)) == size
    assert accelerator_start.seconds_per_update(trial, size, "cpu") < 1


def test_card_is_measured_once_and_kept(card, monkeypatch):
    measured = []
    sizes = {"fit: recall": 32, "fit: order, rotary": None}
    monkeypatch.setattr(accelerator_start, "measure", lambda place: measured.append(place) or sizes)
    assert placement.device_messages() == ("device_rule",)
    for _ in range(2):
        accelerator_start.prepare([])
        placement.table.cache_clear()  # as in a new process
    assert measured == ["cuda"]
    assert placement.measured().crossover == sizes
    assert placement.device_messages() == ("device_own",)
    (row,) = json.loads((card / "crossover.json").read_text())
    assert (row["name"], row["largest"]) == (NAME, None)


def test_another_card_keeps_the_rows_of_the_first(card):
    accelerator_start.write_crossovers("First", {"fit: recall": 16})
    accelerator_start.write_crossovers("Second", {})
    accelerator_start.write_crossovers("First", {"fit: recall": 32})
    rows = placement.saved_rows(placement.own_file())
    assert {row["name"]: row["crossover"] for row in rows} == {
        "First": {"fit: recall": 32}, "Second": {},
    }  # fmt: skip


@pytest.mark.parametrize("content", ["", "{", "[1]", '[{"name": "H"}]', "null"])
def test_damaged_measurements_are_as_none(card, content):
    (card / "crossover.json").write_text(content)
    assert placement.measured() == placement.MeasuredCrossover()


def test_failure_does_not_keep_the_app_from_starting(card, monkeypatch, caplog):
    def fail(place):
        raise RuntimeError("CUDA error: no kernel image is available for execution on the device")

    monkeypatch.setattr(accelerator_start, "measure", fail)
    with caplog.at_level(logging.ERROR):
        accelerator_start.prepare([])
    assert "accelerator_start: not measured" in caplog.text


def test_nothing_happens_on_a_cpu(monkeypatch, tmp_path):
    monkeypatch.setenv("SEQVIZ_CACHE", str(tmp_path))
    monkeypatch.setattr(accelerator_start, "measure", lambda place: pytest.fail("measured"))
    accelerator_start.prepare(["minilm"])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["minilm", "smollm2"])
def test_passes_of_a_model_are_captured_before_the_first_visitor(name, monkeypatch):
    """On the CPU: only the device's name, and `capture`, are pretended."""
    captured = []

    def capture(work, inputs):
        captured.append(tuple(inputs[0].shape))
        return cuda_graphs.CapturedGraph(inputs, lambda: work(*inputs), 1)

    model = pretrained.load(name)
    call = cuda_graphs.CapturedCall(model.network.device, cuda_graphs.GraphPool(max_bytes=100))
    monkeypatch.setattr(cuda_graphs, "capture", capture)
    monkeypatch.setattr(placement, "captured_pass", lambda *_: call)
    monkeypatch.setattr(accelerator_start, "GRAPH_DEVICE", model.device)
    accelerator_start.capture(name)
    assert captured
    before = len(captured)
    forward_cache.forward(model, texts.tokens(model, "Hello, you!"))
    assert len(captured) == before  # a visitor's short text is replayed


def test_batches_fit_into_a_small_card(monkeypatch):
    """Thirty long texts on 16 GB, beside two trainings; on 80 GB in fewer batches."""
    model = pretrained.load("smollm2")
    counts = []
    for memory in (16e9, 80e9):
        monkeypatch.setattr(device, "memory", lambda memory=memory: int(memory))
        counts.append(forward_cache.max_texts(model, 512))
        assert counts[-1] * forward_cache.returned_numbers(model.network, 1, 512) * 4 < memory / 8
    assert 1 <= counts[0] < counts[1]
    monkeypatch.setattr(device, "memory", lambda: 0)
    assert forward_cache.max_texts(model, 512) == 0


def test_forwards_of_a_small_card_equal_those_at_once(monkeypatch):
    model = pretrained.load("minilm")

    requests = [(texts.tokens(model, "word " * k), forward_cache.OWN) for k in (1, 2, 3, 4, 5)]
    expected = forward_cache.forwards(model, requests)
    monkeypatch.setattr(forward_cache, "max_texts", lambda *_: 2)
    result = forward_cache.forwards(model, requests)
    assert len(result) == len(expected)
    for a, b in zip(result, expected, strict=True):
        assert abs(a.weights - b.weights).max() < 1e-5
