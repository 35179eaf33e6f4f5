"""A child process answers over its pipe, and neither side outlives the other."""

from __future__ import annotations

import time

import psutil
import pytest

from seqviz.core.child_process import ChildProcess

ECHO = """
import sys
from multiprocessing.connection import Connection
line = Connection(int(sys.argv[1]))
while True:
    line.send(line.recv() + 1)
"""


def is_gone(pid: int) -> bool:
    deadline = time.monotonic() + 10
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def test_child_process_answers_and_is_killed_on_exit():
    with (child := ChildProcess(ECHO)) as line:
        line.send(41)
        assert line.recv() == 42
        assert child.process.poll() is None
    assert child.process.returncode is not None
    assert line.closed


def test_child_process_closes_connection_when_killed():
    with (child := ChildProcess(ECHO)) as line:
        child.kill()
        with pytest.raises((EOFError, OSError)):
            line.recv()


def test_child_process_raises_on_recv_after_program_failure():
    with ChildProcess("raise SystemExit(3)") as line, pytest.raises((EOFError, OSError)):
        line.recv()


def test_child_process_exits_when_connection_closes():
    child = ChildProcess(ECHO)
    child.line.close()
    assert is_gone(child.process.pid)
    child.process.wait(10)
