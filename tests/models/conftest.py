"""A cache of one's own and a hub on this machine."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from seqviz.models import device, pretrained, registry, store
from tests.models.hub import Hub, make_bert, record, sha256
from tests.models.reference_model import cut_off, in_place


@pytest.fixture(scope="session")
def tiny_files(tmp_path_factory):
    """Name -> content of the files of the tiny BERT."""
    folder = make_bert(tmp_path_factory.mktemp("tiny"))
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def head(minilm):
    """The classifier that the lesson starts from."""
    from seqviz.experiments.bert_accuracy import heads

    return heads.standard_head("minilm", "mean")


@pytest.fixture(scope="session")
def few_layers(smollm2):
    """SmolLM2 of its first layers alone."""
    return cut_off(smollm2, 4)


@pytest.fixture
def shallow(few_layers):
    """The same in place of the whole one."""
    with in_place(few_layers):
        yield few_layers


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache; no package source and no hub until a test brings one. Nothing is loaded."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("SEQVIZ_CACHE", str(folder))
    monkeypatch.setenv("SEQVIZ_DEVICE", "cpu")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.setattr(registry, "MODELS", (record(),))
    monkeypatch.setattr(pretrained, "_loaded", {})
    device.choose.cache_clear()
    yield folder
    device.choose.cache_clear()


@pytest.fixture
def hub(cache, tiny_files, monkeypatch):
    """A hub on this machine that has the tiny BERT."""
    from huggingface_hub import constants

    server = Hub(dict(tiny_files))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)  # read once, when first imported
    monkeypatch.setenv("HF_ENDPOINT", server.address)
    monkeypatch.delenv("HF_HUB_OFFLINE")
    yield server
    server.close()


@pytest.fixture
def small_disk(tmp_path, monkeypatch) -> Iterator[Path]:
    """A disk of 1 MB with the cache on it: a real file system of the kernel."""
    position = tmp_path / "disk"
    position.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(position)]
    if not shutil.which("mount") or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("only root can make a small file system, and not on every machine")
    monkeypatch.setenv("SEQVIZ_CACHE", str(position))
    yield position
    subprocess.run(["umount", "-l", str(position)], check=True)


@pytest.fixture
def put(cache, tiny_files):
    """Put a model into the cache, its manifest in order, with some files changed or (None) gone."""

    def into(name="tiny", **changes):
        folder = cache / "models" / name
        folder.mkdir(parents=True)
        files = {**tiny_files, **{key.replace("__", "."): data for key, data in changes.items()}}
        files = {key: data for key, data in files.items() if data is not None}
        for key, data in files.items():
            (folder / key).write_bytes(data)
        checksums = {key: sha256(data) for key, data in files.items()}
        manifest = {"origin": "hub", "version": "1", "date": "2026-01-01", "files": checksums}
        (folder / store.MANIFEST).write_text(json.dumps(manifest))
        return folder

    return into


@pytest.fixture
def config(tiny_files):
    """The configuration with something changed."""
    return lambda **changes: json.dumps(
        {**json.loads(tiny_files["config.json"]), **changes}
    ).encode()
