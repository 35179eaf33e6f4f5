"""A lock for tests in several processes: most run side by side, those that measure time alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ModuleNotFoundError:  # Windows: no lock there
    fcntl = None


@contextmanager
def exclusive_run(lock_dir: str, exclusive: bool) -> Iterator[None]:
    """Hold the lock, shared or exclusive. `lock_dir` is a folder that all processes know.

    An exclusive run takes the file "door" first, so that no shared run enters while it waits for
    those that are inside.
    """
    if fcntl is None:
        yield
        return
    with (Path(lock_dir) / "inside").open("w") as inside:
        with (Path(lock_dir) / "door").open("w") as entry:
            fcntl.flock(entry, fcntl.LOCK_EX)
            fcntl.flock(inside, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
        yield
