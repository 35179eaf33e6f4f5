"""A cache of one's own and a hub on this machine; the two real models where they can be had."""

from __future__ import annotations

import os

import pytest
from hub import Hub, make_bert, record

from seqviz.models import device, pretrained, registry, store
from seqviz.refusal import Refusal


@pytest.fixture(scope="session")
def tiny_files(tmp_path_factory):
    """Name -> content of the files of the tiny BERT."""
    folder = make_bert(tmp_path_factory.mktemp("tiny"))
    return {path.name: path.read_bytes() for path in folder.iterdir()}


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
    server = Hub(dict(tiny_files))
    monkeypatch.setenv("HF_ENDPOINT", server.address)
    monkeypatch.delenv("HF_HUB_OFFLINE")
    yield server
    server.close()


def real(name: str):
    """A real model, fetched if need be; with SEQVIZ_REQUIRE_MODELS=1 a skip is an error."""
    try:
        store.fetch(name)
    except Refusal as refusal:
        if refusal.code == "unreachable" and os.environ.get("SEQVIZ_REQUIRE_MODELS") != "1":
            pytest.skip(f"{name} is not on this machine and cannot be fetched")
        raise
    return pretrained.load(name)


@pytest.fixture(scope="session")
def minilm():
    return real("minilm")


@pytest.fixture(scope="session")
def smollm2():
    return real("smollm2")
