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
    path = path.resolve()  # what a link leads to is replaced, not the link
    folder = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=path.parent))
    try:
        for left in path.parent.glob(f"{_UNFINISHED}*"):
            with suppress(OSError):  # somebody else has removed it
                if folder.stat().st_mtime - left.stat().st_mtime > _LEFT_SECONDS:
                    shutil.rmtree(left)
        made = folder / path.name
        yield made
        with made.open("rb+") as file:
            os.fsync(file.fileno())
        os.replace(made, path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
