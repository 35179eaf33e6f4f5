"""Child Python process with a pipe to its parent: `ChildProcess`."""

from __future__ import annotations

import os
import subprocess
import sys
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from types import TracebackType


class ChildProcess:
    """Python process connected by a pipe; a context manager that kills it at the end.

    `multiprocessing` does not fit: a fork copies locks that other threads hold, and a spawned
    process runs the main module again, which Streamlit has replaced by the page being viewed. When
    the parent exits, its end of the pipe closes: the child's next `recv` raises EOFError, which
    ends a program that does not catch it.

    Args:
        code: program of the process; its `sys.argv[1]` is the file descriptor of the pipe.

    Attributes:
        line: the parent's end of the pipe; raises EOFError or OSError once the process has ended.
        process: handle of the process.
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
        """Kill the process; a reader of `line` then gets EOFError."""
        self.process.kill()
