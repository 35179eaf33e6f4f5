"""Files that are whole or not there, whenever the process is killed or the machine goes out."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_UNFINISHED = ".unfinished-"
_LEFT_SECONDS = 3600.0  # what is this much older than ours was left by a process that was killed


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """A place to write to, of the same name, which is moved to `path` at the end.

    Where the block raises, or the disk fills up, `path` is as it was.
    """
    with atomic_write_many(path) as (created,):
        yield created


@contextmanager
def atomic_write_many(*paths: Path) -> Iterator[list[Path]]:
    """As `written`, for files of one folder that belong together.

    They are moved one right after the other, when all of them are on the disk: no system call
    moves two, so a process that is killed between them leaves one new and one old.
    """
    # Where a link leads is replaced, not the link (`Path.resolve` raises for one to itself).
    paths = tuple(Path(os.path.realpath(path)) for path in paths)
    parent = paths[0].parent
    folder = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=parent))
    try:
        for left in parent.glob(f"{_UNFINISHED}*"):
            with suppress(OSError):  # somebody else has removed it
                if folder.stat().st_mtime - left.stat().st_mtime > _LEFT_SECONDS:
                    shutil.rmtree(left)
        built = [folder / path.name for path in paths]
        yield built
        for item in built:
            with item.open("rb+") as file:
                os.fsync(file.fileno())
        for item, path in zip(built, paths, strict=True):
            os.replace(item, path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def unwritable(path: Path, error: OSError | None = None) -> str:
    """Say in one sentence why no file can be written to `path`; "" where nothing speaks against it.

    error: what writing has raised; without one only what can be seen beforehand is looked at.
    """
    if os.path.isdir(path):
        return f"{path} is a folder; add the name of a file to it."
    if not os.path.isdir(path.parent):
        return f"There is no folder {path.parent}; create it, or choose another for {path.name}."
    return f"{path} cannot be written: {error.strerror or error}." if error else ""


@contextmanager
def or_exit(path: Path) -> Iterator[None]:
    """End the command with one sentence where `path` cannot be written."""
    if os.path.isdir(path):
        sys.exit(unwritable(path))
    try:
        yield
    except OSError as error:
        sys.exit(unwritable(path, error))
