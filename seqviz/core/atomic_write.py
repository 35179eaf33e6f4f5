"""Atomic file writes (temporary file, fsync, rename): `atomic_write`, `atomic_write_many`.

A process that is killed, or a power failure, leaves the old file or the new one, never a part.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_UNFINISHED = ".unfinished-"
_LEFT_SECONDS = 3600.0  # older temporary folders were left by killed processes


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary path and rename it to `path` at the end of the block.

    The temporary file has the same name in another folder. `path` is unchanged where the block
    raises or the disk is full. A symbolic link is followed: its target is replaced.

    Args:
        path: file to replace or create; its folder must exist.

    Yields:
        The temporary path, which the block must create.
    """
    with atomic_write_many(path) as (created,):
        yield created


@contextmanager
def atomic_write_many(*paths: Path) -> Iterator[list[Path]]:
    """Yield temporary paths for files of one folder and rename them at the end of the block.

    The files are renamed one after the other once all of them are on the disk. No system call
    renames two files, so a process that is killed in between leaves one new file and one old one.

    Args:
        *paths: files of one folder that belong together.

    Yields:
        The temporary paths, in the order of `paths`.
    """
    # Replaces the target of a link, not the link (`Path.resolve` raises for a link to itself).
    paths = tuple(Path(os.path.realpath(path)) for path in paths)
    parent = paths[0].parent
    folder = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=parent))
    try:
        for left in parent.glob(f"{_UNFINISHED}*"):
            with suppress(OSError):  # another process has removed it
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
    """Return one sentence on why `path` cannot be written; "" where no obstacle is known.

    Args:
        path: file to write.
        error: exception that writing raised; without it, only the folders are checked.
    """
    if os.path.isdir(path):
        return f"{path} is a folder; add the name of a file to it."
    if not os.path.isdir(path.parent):
        return f"There is no folder {path.parent}; create it, or choose another for {path.name}."
    return f"{path} cannot be written: {error.strerror or error}." if error else ""


@contextmanager
def or_exit(path: Path) -> Iterator[None]:
    """Exit the command with one sentence where the block cannot write `path`."""
    if os.path.isdir(path):
        sys.exit(unwritable(path))
    try:
        yield
    except OSError as error:
        sys.exit(unwritable(path, error))
