"""What tests have a cluster do; its workers import this by name."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np

from seqviz.core.errors import UserError
from seqviz.models.forward_cache import ForwardPass


def count(n: int, mark: str, seconds: float = 0.01, *, report, device: str) -> np.ndarray:
    """Steps that report; a line in the file `mark` for each run."""
    _note(mark)
    for i in range(n):
        time.sleep(seconds)
        report(i, (i + 1) / n)
    return np.arange(n)


def silent(mark: str, *, report, device: str) -> str:
    """Reports nothing for a minute."""
    _note(mark)
    time.sleep(60)
    _note(mark)
    return "never"


def dies(times: int, mark: str, *, report, device: str) -> int:
    """Its process is gone at the first so many runs."""
    runs = _note(mark)
    report(runs, 0.5)
    time.sleep(0.5)
    if runs <= times:
        os._exit(7)
    return runs


def refuses(word: str, *, report, device: str) -> None:
    raise UserError("no_word", "There is no such word.", word=word)


refuses.__annotations__["return"] = "int"


def _note(mark: str) -> int:
    with Path(mark).open("a") as file:
        file.write("begun\n")
    return len(Path(mark).read_text().splitlines())


def leaves(mark: str, *, report, device: str) -> None:
    """What it is for stays in its process."""
    _note(mark)


def process(forward_pass: ForwardPass) -> tuple[int, np.ndarray]:
    """Whose reading it is, and one of its heads."""
    return os.getpid(), forward_pass.weights[0, 0]
