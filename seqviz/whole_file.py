"""Files that are whole or not there, whenever the process is killed or the machine goes out."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_UNFINISHED = ".unfinished-"
_LEFT_SECONDS = 3600.0  # what is this much older than ours was left by a process that was killed


@contextmanager
def written(path: Path) -> Iterator[Path]:
    """A place to write to, of the same name, which is moved to `path` at the end.

    Where the block raises, or the disk fills up, `path` is as it was.
    """
    with written_together(path) as (made,):
        yield made


@contextmanager
def written_together(*paths: Path) -> Iterator[list[Path]]:
    """As `written`, for files of one folder that belong together.

    They are moved one right after the other, when all of them are on the disk: no system call
    moves two, so a process that is killed between them leaves one new and one old.
    """
    paths = tuple(path.resolve() for path in paths)  # where a link leads is replaced, not the link
    parent = paths[0].parent
    folder = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=parent))
    try:
        for left in parent.glob(f"{_UNFINISHED}*"):
            with suppress(OSError):  # somebody else has removed it
                if folder.stat().st_mtime - left.stat().st_mtime > _LEFT_SECONDS:
                    shutil.rmtree(left)
        made = [folder / path.name for path in paths]
        yield made
        for one in made:
            with one.open("rb+") as file:
                os.fsync(file.fileno())
        for one, path in zip(made, paths, strict=True):
            os.replace(one, path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
