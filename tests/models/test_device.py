"""The choice of a device, with the wish in the environment; torch answers for real."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch

from seqviz.models import device

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _uncached(monkeypatch):
    monkeypatch.delenv("SEQVIZ_DEVICE", raising=False)
    monkeypatch.delenv("SEQVIZ_THREADS", raising=False)
    before = torch.get_num_threads()
    device.choose.cache_clear()
    device.prepare_torch.cache_clear()
    yield
    torch.set_num_threads(before)
    device.choose.cache_clear()
    device.prepare_torch.cache_clear()


def available(kind: str) -> bool:
    return {"cuda": torch.cuda.is_available, "mps": torch.backends.mps.is_available}[kind]()


def test_choose_returns_cpu_on_request(monkeypatch):
    monkeypatch.setenv("SEQVIZ_DEVICE", " CPU ")
    chosen = device.choose()
    assert (chosen.kind, chosen.preference, chosen.note) == ("cpu", "cpu", "")
    assert re.fullmatch(r"CPU, (1 core|\d+ cores)", chosen.name)


def test_choose_returns_best_device_without_note_on_auto():
    best = next((kind for kind in ("cuda", "mps") if available(kind)), "cpu")
    assert device.choose().kind == best
    assert device.choose().note == ""
    torch.zeros(1, device=device.choose().kind)


@pytest.mark.parametrize("wish", ["cuda", "mps"])
def test_choose_falls_back_to_cpu_with_note(monkeypatch, wish):
    monkeypatch.setenv("SEQVIZ_DEVICE", wish)
    chosen = device.choose()
    if available(wish):
        assert (chosen.kind, chosen.note) == (wish, "")
    else:
        assert chosen.kind == "cpu"
        assert (chosen.preference, chosen.note) == (wish, "missing")
        assert chosen.name.startswith("CPU, ")


def test_choose_rejects_unknown_device(monkeypatch):
    monkeypatch.setenv("SEQVIZ_DEVICE", "tpu")
    with pytest.raises(ValueError, match=r"SEQVIZ_DEVICE must be one of .*'tpu'"):
        device.choose()


def test_choose_caches_device(monkeypatch):
    first = device.choose()
    monkeypatch.setenv("SEQVIZ_DEVICE", "tpu")
    assert device.choose() is first


def test_choose_cpu_imports_no_torch():
    code = "import sys, seqviz.models.device as d; d.choose(); print('torch' in sys.modules)"
    environment = {**os.environ, "SEQVIZ_DEVICE": "cpu"}
    command = [sys.executable, "-c", code]
    out = subprocess.check_output(command, text=True, env=environment, cwd=ROOT)
    assert out.strip() == "False"


@pytest.mark.parametrize(("text", "threads"), [(None, 1), ("1", 1), ("2", 2)])
def test_prepare_torch_sets_thread_count_in_worker_threads(monkeypatch, text, threads):
    if text is not None:
        monkeypatch.setenv("SEQVIZ_THREADS", text)
    torch.set_num_threads(3)
    assert device.prepare_torch() == threads
    observed = []
    worker = threading.Thread(target=lambda: observed.append(torch.get_num_threads()))
    worker.start()
    worker.join()
    assert [torch.get_num_threads(), *observed] == [threads, threads]


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5"])
def test_prepare_torch_rejects_bad_thread_count(monkeypatch, text):
    monkeypatch.setenv("SEQVIZ_THREADS", text)
    with pytest.raises(ValueError, match="SEQVIZ_THREADS"):
        device.prepare_torch()
