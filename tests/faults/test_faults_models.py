"""A pretrained model that is damaged, does not load or does not fit: what its page says."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import threading
from pathlib import Path

import pytest
import torch

from seqviz.core.i18n import LANGUAGES, escape_markdown
from seqviz.models import device, forward_cache, placement, pretrained, sources, store
from tests.pages.attention_page import MODEL_BENCHES, opened
from tests.pages.page_assertions import alerts, bench, figures
from tests.tiers import first_only

pytestmark = pytest.mark.usefixtures("nothing_kept")
EACH = pytest.mark.parametrize("lang", first_only(LANGUAGES))
TITLE = "all-MiniLM-L6-v2"
LITERAL = escape_markdown(TITLE)
LEADS, FOLLOWS = MODEL_BENCHES[0], MODEL_BENCHES[1:]


@pytest.fixture
def copy(minilm, smollm2, on_the_cpu, monkeypatch, tmp_path) -> Path:
    """A cache with a MiniLM of its own, not loaded yet; SmolLM2 is in memory. No source answers."""
    existing = store.stored("minilm").folder
    folder = tmp_path / "cache" / "models" / "minilm"
    folder.mkdir(parents=True)
    for path in existing.iterdir():
        heavy = path.name == sources.WEIGHTS
        (os.link if heavy and same_disk(path, folder) else shutil.copy)(path, folder / path.name)
    monkeypatch.setattr(pretrained, "_loaded", {"smollm2": smollm2})
    monkeypatch.setattr(forward_cache, "_shelf", forward_cache.ForwardCache())
    monkeypatch.setenv("SEQVIZ_CACHE", str(tmp_path / "cache"))
    for name, value in (("HF_HUB_OFFLINE", "1"), ("PIP_NO_INDEX", "1")):
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    return folder


def same_disk(path: Path, folder: Path) -> bool:
    return path.stat().st_dev == folder.stat().st_dev


def rewritten(path: Path, data: bytes) -> None:
    """Other content under the same name; what else is linked to the old one stays as it is."""
    path.unlink()
    path.write_bytes(data)


def says(page, sentence: str) -> None:
    """The bench that leads says why, the others that they wait; what needs no model is whole."""
    assert not page.app.exception
    assert not page.app.error
    assert alerts(bench(page.app, LEADS))["warning"] == [sentence], alerts(page.app)
    for name in FOLLOWS:
        assert alerts(bench(page.app, name))["info"] == [
            page.text("work.model_stopped", model=TITLE)
        ]
    assert not any(figures(bench(page.app, name)) for name in MODEL_BENCHES)
    for name in ("features", "scale"):
        assert len(figures(bench(page.app, name))) == 1
    assert page.app.button(key="at.real.again").label == page.text("work.again")


def again(page) -> None:
    page.app.button(key="at.real.again").click().run()
    page.served()


def answers_with_the_other(page) -> None:
    """Another model, on the same page, answers all the same."""
    page.run(at__real__model="smollm2")
    for name in MODEL_BENCHES:
        assert len(figures(bench(page.app, name))) == 1, name


@EACH
def test_attention_page_reports_and_discards_damaged_weights(visit, copy, lang):
    data = bytearray((copy / sources.WEIGHTS).read_bytes())
    data[len(data) // 2] ^= 1
    rewritten(copy / sources.WEIGHTS, bytes(data))
    page = opened(visit, lang)
    says(
        page,
        page.text("problem.model_damaged", file=escape_markdown(sources.WEIGHTS), model=LITERAL),
    )
    assert not copy.exists()  # nothing of it is left that could be taken for a model
    again(page)  # and nowhere to fetch it from
    (warning,) = alerts(bench(page.app, LEADS))["warning"]
    assert warning == page.text("problem.unreachable", model=LITERAL, name="minilm")
    answers_with_the_other(page)


@EACH
def test_attention_page_reports_model_that_fails_to_load(visit, copy, lang):
    """All files are what the manifest says, but they do not fit together."""
    config = json.loads((copy / "config.json").read_text())
    rewritten(copy / "config.json", json.dumps({**config, "num_hidden_layers": 9}).encode())
    manifest = json.loads((copy / store.MANIFEST).read_text())
    manifest["files"]["config.json"] = sources.digest(copy / "config.json")
    rewritten(copy / store.MANIFEST, json.dumps(manifest).encode())
    page = opened(visit, lang)
    sentence = page.text("problem.model_broken", model=LITERAL, name="minilm")
    says(page, sentence)
    again(page)
    says(page, sentence)
    answers_with_the_other(page)


@EACH
def test_attention_page_reports_full_disk(
    visit, minilm, smollm2, on_the_cpu, monkeypatch, small_disk, lang
):
    monkeypatch.setattr(pretrained, "_loaded", {})
    monkeypatch.setattr(forward_cache, "_shelf", forward_cache.ForwardCache())
    page = opened(visit, lang)
    page.app.run()  # it failed while the page was drawn; a browser asks again
    needed = f"{minilm.card.disk / 1e6:,.0f}"
    says(page, page.text("problem.disk_full", model=LITERAL, needed=needed, free="1"))
    assert {path.suffix for path in small_disk.rglob("*") if path.is_file()} <= {".lock"}


FULL = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB.")
GONE = torch.AcceleratorError("CUDA error: unspecified launch failure")


@pytest.mark.parametrize(("error", "note"), [(FULL, "out_of_gpu_memory"), (GONE, "gpu_lost")])
def test_attention_page_falls_back_to_cpu_after_gpu_failure(
    visit, minilm, monkeypatch, error, note
):
    """There is no GPU here: a second name of the CPU stands for it; the error is the real kind."""
    monkeypatch.setattr(device, "_lost", threading.Event())
    monkeypatch.setitem(placement.TOGETHER, "cpu:0", 32)
    monkeypatch.setattr(forward_cache, "_passes", {})
    pretend = dataclasses.replace(minilm, device="cpu:0")
    monkeypatch.setattr(pretrained, "_loaded", {"minilm": pretend})
    monkeypatch.setattr(forward_cache, "_shelf", forward_cache.ForwardCache())
    there = minilm.network
    full: list[str] = []

    def hook(layer, _inputs) -> None:
        if layer is there.encoder.layer[3]:  # not the copy in main memory
            full.append("full")
            raise error

    handle = there.encoder.layer[3].register_forward_pre_hook(hook)
    try:
        pages = [opened(visit, lang) for lang in LANGUAGES]
    finally:
        handle.remove()
    for page in pages:
        page.healthy()
        assert not page.warned()
        for name in MODEL_BENCHES:
            assert len(figures(bench(page.app, name))) == 1, name
            words = [str(item.value) for item in bench(page.app, name).markdown]
            (badge,) = (word for word in words if "-badge[" in word)
            cpu = device.cpu_name().replace("cores", page.text("frame.cores"))
            assert badge.endswith(f"{cpu} ({page.text(f'frame.{note}')})]"), badge
    assert full == ["full"]  # from then on the CPU computes
    assert (pretend.device, pretend.note) == ("cpu", note)
    assert pretend.network is not there
    device.choose.cache_clear()
