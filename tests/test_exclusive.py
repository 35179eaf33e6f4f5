"""Workers of the suite: most tests side by side, those that measure time alone."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Comes in, says so, stays until it is told to go, says that it goes.
VISITOR = """
import sys, time
from tests.exclusive import exclusive_run
with exclusive_run(sys.argv[1], exclusive=sys.argv[2] == "alone"):
    print("in", time.time(), flush=True)
    sys.stdin.readline()
    print("out", time.time(), flush=True)
"""


def visitor(lock_dir: Path, how: str) -> subprocess.Popen:
    command = [sys.executable, "-c", VISITOR, str(lock_dir), how]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return subprocess.Popen(command, text=True, cwd=ROOT, **pipes)


def said(process: subprocess.Popen) -> tuple[str, float]:
    """The next that it says, and when."""
    word, moment = process.stdout.readline().split()
    return word, float(moment)


def goes(process: subprocess.Popen) -> float:
    """Tell it to go; when it went."""
    process.stdin.write("go\n")
    process.stdin.flush()
    word, moment = said(process)
    assert word == "out"
    process.communicate(timeout=60)
    return moment


def test_shared_tests_run_concurrently(tmp_path):
    first, second = visitor(tmp_path, "beside"), visitor(tmp_path, "beside")
    assert said(first)[0] == said(second)[0] == "in"  # neither waits for the other to go
    goes(second)
    goes(first)


def test_exclusive_test_never_overlaps_shared_tests(tmp_path):
    first = visitor(tmp_path, "beside")
    assert said(first)[0] == "in"
    alone = visitor(tmp_path, "alone")
    time.sleep(0.5)
    third = visitor(tmp_path, "beside")
    time.sleep(0.5)
    first_left = goes(first)
    # Either the third slipped in before the door was shut, or it waits until the other has left.
    # Told beforehand to go at once, it keeps nobody waiting.
    third.stdin.write("go\n")
    third.stdin.flush()
    alone_came = said(alone)[1]
    alone_left = goes(alone)
    third_came, third_left = said(third)[1], said(third)[1]
    third.communicate(timeout=60)
    assert alone_came >= first_left
    assert third_came >= alone_left or third_left <= alone_came
