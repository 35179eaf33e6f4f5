"""A file is replaced when its new content is whole and on the disk, or not at all."""

from __future__ import annotations

import os

import pytest

from seqviz.core.atomic_write import atomic_write
from tools import build_teaching, gpu_bundle, supply_chain_audit


@pytest.fixture
def path(tmp_path):
    position = tmp_path / "f.json"
    position.write_text("before")
    return position


def test_atomic_write_replaces_file_only_on_exit(path):
    with atomic_write(path) as created:
        assert created.name == path.name  # what writes may look at its ending
        created.write_text("after")
        assert path.read_text() == "before"
    assert path.read_text() == "after"
    assert [*path.parent.iterdir()] == [path]
    assert path.stat().st_mode & 0o777 == 0o666 & ~umask()


def umask() -> int:
    now = os.umask(0o022)
    os.umask(now)
    return now


def half(path, error):
    with atomic_write(path) as created:
        if error is not FileNotFoundError:
            created.write_text("ha")
            raise error


@pytest.mark.parametrize("error", [OSError, SystemExit, FileNotFoundError])
def test_atomic_write_keeps_old_content_on_error(path, error):
    with pytest.raises(error):
        half(path, error)
    assert path.read_text() == "before"
    assert [*path.parent.iterdir()] == [path]


def test_atomic_write_replaces_symlink_target(path):
    link = path.with_name("link.json")
    link.symlink_to(path)
    with atomic_write(link) as created:
        created.write_text("after")
    assert link.is_symlink()
    assert path.read_text() == "after"


def test_atomic_write_removes_stale_unfinished_folders(path):
    old, new = (path.with_name(f".unfinished-{name}") for name in ("old", "new"))
    for folder in (old, new):
        folder.mkdir()
        (folder / "f.json").write_text("ha")
    seconds = old.stat().st_mtime - 4000
    os.utime(old, (seconds, seconds))
    with atomic_write(path) as created:
        created.write_text("after")
    assert {*path.parent.iterdir()} == {path, new}  # somebody may be at work on that one


COMMANDS = {
    "teaching": lambda out: build_teaching.main(["gates", "en", "-o", str(out)]),
    "audit": lambda out: supply_chain_audit.main(["--sbom", str(out)]),
    "gpu_bundle": lambda out: gpu_bundle.main([str(out)]),
}


@pytest.mark.parametrize(
    ("command", "place"),
    [(name, position) for name in COMMANDS for position in ("folder", "nosuch/x")]
    + [("teaching", "/proc/x.json"), ("gpu_bundle", "/proc/x.json")],
)
def test_tool_reports_unwritable_output_in_one_line(command, place, tmp_path, monkeypatch):
    monkeypatch.setattr(gpu_bundle, "put_model", lambda name, folder, **_: folder.mkdir())
    monkeypatch.setattr(supply_chain_audit, "loose", lambda _: [])
    monkeypatch.setattr(supply_chain_audit, "mismatches", lambda _: [])
    (tmp_path / "folder").mkdir()
    if command == "audit" and place == "nosuch/x":
        (tmp_path / "nosuch").write_text("")  # it makes the folders that are not there
    with pytest.raises(SystemExit) as refused:
        COMMANDS[command](tmp_path / place)
    assert str(tmp_path / place) in str(refused.value) or "There is no folder" in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1
