"""Slow work that can be left at any moment: in a thread of its own, or in a program of its own."""

from __future__ import annotations

import errno
import os
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from seqviz.core.paths import PACKAGE

Progress = Callable[[float], None]
R = TypeVar("R")
_POLL = 0.1  # seconds
_LAST_WORDS = 5.0  # seconds for what a program that has ended still has to say


class AbandonedError(Exception):
    """Raised in the thread when nobody waits for its work any more."""


def run_cancellable(work: Callable[[Progress], R], report: Progress) -> R:
    """`work(note)` in a thread of its own; `report` is given what it noted, now and then.

    A server that has fallen silent holds up nobody: what `report` raises is raised here at once,
    and in the thread when it next notes something.
    """
    latest, left = [0.0], threading.Event()
    results: list[R] = []
    errors: list[BaseException] = []

    def note(fraction: float) -> None:
        if left.is_set():
            raise AbandonedError
        latest[0] = fraction

    def body() -> None:
        try:
            results.append(work(note))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=body, name="download", daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            report(latest[0])
            thread.join(_POLL)
    except BaseException:  # cancelled
        left.set()
        thread.join(_POLL)  # so that it starts no file in a folder that is being removed
        raise
    if errors:
        raise errors[0]
    report(latest[0])
    return results[0]


def program(command: list[str], folder: Path, check: Callable[[], None]) -> str:
    """Run a program, calling `check` now and then; what it complained of. Killed if `check` raises.

    Its temporary files go into the folder: to see how far it is, and so that nothing is left
    elsewhere when it is stopped. Raises OSError and MemoryError where it ran out of disk or memory.
    """
    temporary = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))
    with subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **temporary},
        cwd=PACKAGE.parent,
    ) as running:
        messages: list[str] = []
        assert running.stderr is not None
        listener = threading.Thread(
            target=lambda: messages.extend(running.stderr or ()), daemon=True
        )
        listener.start()
        try:
            while running.poll() is None:
                check()
                time.sleep(_POLL)
        except BaseException:  # cancelled
            running.kill()
            raise
        listener.join(_LAST_WORDS)
    words = "".join(messages).strip()
    if not running.returncode:
        return ""
    if "No space left on device" in words:
        raise OSError(errno.ENOSPC, "No space left on device")
    killed = running.returncode == -9  # by the system, when its memory ends
    if killed or out_of_memory(words):
        raise MemoryError(words)
    return words or f"exit status {running.returncode}"


def full(error: BaseException) -> bool:
    """Whether an error says that there is no room on the disk."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def out_of_memory(words: str) -> bool:
    """Whether an error message is about memory; torch raises RuntimeError, and mmap OSError.

    The loader of libraries and OpenBLAS have words of their own.
    """
    hints = ("MemoryError", "allocate memory", "out of memory", "not enough memory",
             "failed to map segment", "Memory allocation still failed")  # fmt: skip
    return any(hint in words for hint in hints)
