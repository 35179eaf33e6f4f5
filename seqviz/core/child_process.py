"""Start a Python process that is spoken with over a pipe."""

from __future__ import annotations

import os
import subprocess
import sys
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from types import TracebackType


class ChildProcess:
    """A Python process at the other end of a pipe.

    Not one of `multiprocessing`: a fork would copy locks that threads hold, and what it spawns runs
    the main module again, in whose place Streamlit has put the page that somebody is looking at.
    With its end of the pipe the process loses its parent, and ends.

    As a context manager it is killed at the end.

    Args:
        code: its program, whose `sys.argv[1]` is the descriptor of the pipe.

    Attributes:
        line: this end of the pipe; EOFError and OSError say that the process has ended.
        process: the process.
    """

    def __init__(self, code: str):
        self.line, other = Pipe()
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, str(other.fileno())],
            pass_fds=[other.fileno()],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        other.close()

    def __enter__(self) -> Connection:
        return self.line

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.process.kill()
        self.process.wait()
        self.line.close()

    def kill(self) -> None:
        """End the process; whoever reads from the line is told so by EOFError."""
        self.process.kill()
