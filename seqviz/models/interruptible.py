"""Cancellable long work, in a thread (`run_cancellable`) or in a subprocess (`program`)."""

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
_LAST_WORDS = 5.0  # seconds to wait for the remaining messages of a program that has ended


class AbandonedError(Exception):
    """Signal that ends the worker thread of a cancelled caller."""


def run_cancellable(work: Callable[[Progress], R], report: Progress) -> R:
    """Run `work` in a thread, report its progress, and return its result.

    A server that stops responding blocks nobody: an exception of `report` is raised here at once,
    and the thread ends when it next reports progress.

    Args:
        work: called with a function that takes the fraction of work done, 0 to 1.
        report: called with the latest fraction every 0.1 s; raises to cancel.
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
        thread.join(_POLL)  # else it could create a file in a folder that is being removed
        raise
    if errors:
        raise errors[0]
    report(latest[0])
    return results[0]


def program(command: list[str], folder: Path, check: Callable[[], None]) -> str:
    """Run a program and return its error messages; empty on success.

    Temporary files are created in `folder`, so that progress can be measured there and nothing
    remains elsewhere after a cancellation.

    Args:
        command: the command line.
        folder: folder for temporary files.
        check: called every 0.1 s; an exception kills the program and is passed on.

    Raises:
        OSError: if the disk is full.
        MemoryError: if the program ran out of memory or was killed for it.
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
    killed = running.returncode == -9  # SIGKILL, by the system when memory runs out
    if killed or out_of_memory(words):
        raise MemoryError(words)
    return words or f"exit status {running.returncode}"


def full(error: BaseException) -> bool:
    """Return True for an error that reports a full disk or an exhausted disk quota."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def out_of_memory(words: str) -> bool:
    """Return True for an error message about memory.

    Torch raises RuntimeError and mmap OSError; the dynamic loader and OpenBLAS use their own
    wording.
    """
    hints = ("MemoryError", "allocate memory", "out of memory", "not enough memory",
             "failed to map segment", "Memory allocation still failed")  # fmt: skip
    return any(hint in words for hint in hints)
