"""Turns for tests in several processes: most run side by side, those that measure time alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ModuleNotFoundError:  # Windows: no turns there
    fcntl = None


@contextmanager
def turn(room: str, alone: bool) -> Iterator[None]:
    """Wait for one's turn and hold it. `room` is a folder that all processes know.

    Who wants to be alone shuts the door first, so that nobody comes in while it waits for the
    others to leave.
    """
    if fcntl is None:
        yield
        return
    with (Path(room) / "inside").open("w") as inside:
        with (Path(room) / "door").open("w") as door:
            fcntl.flock(door, fcntl.LOCK_EX)
            fcntl.flock(inside, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        yield
