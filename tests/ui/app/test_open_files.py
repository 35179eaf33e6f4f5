"""A class opens more files and sockets than many systems let a process have at first."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from seqviz.core.paths import ROOT
from seqviz.ui.runtime import startup
from testing.protocol import ProtocolClient, run_async
from testing.server import serve

resource = pytest.importorskip("resource")
PAGES = 25
BEGIN = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}))
from seqviz.ui.app import application
{before}
application.configure()
print(*resource.getrlimit(resource.RLIMIT_NOFILE))
"""


def begun(soft: int, hard: int, before: str = "") -> tuple[list[int], str]:
    """The limits after the start of a server that has these, and what it has logged."""
    done = subprocess.run(
        [sys.executable, "-c", BEGIN.format(soft=soft, hard=hard, before=before)],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return [int(word) for word in done.stdout.split()], done.stderr


@pytest.fixture
def hard() -> int:
    maximum = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if maximum != resource.RLIM_INFINITY and maximum < startup.OPEN_FILES:
        pytest.skip(f"This machine lets nobody open more than {maximum} files.")
    return startup.OPEN_FILES + 96


def test_file_limit_is_raised_to_hard_maximum(hard):
    limits, message = begun(256, hard)
    assert limits == [hard, hard]
    assert "files" not in message


def test_file_limit_stays_when_sufficient(hard):
    limits, message = begun(hard - 1, hard)
    assert limits == [hard - 1, hard]
    assert "files" not in message


def test_file_limit_logs_warning_when_maximum_is_too_low():
    limits, message = begun(256, 1024)
    assert limits == [1024, 1024]
    (line,) = [line for line in message.splitlines() if "files" in line]
    assert "warning" in line.lower()
    assert "1024" in line
    assert f"{startup.OPEN_FILES}" in line


def test_file_limit_is_skipped_without_resource_module(hard):
    limits, message = begun(256, hard, "sys.modules['resource'] = None")
    assert limits == [256, hard]
    assert "files" not in message


def test_open_page_stays_within_descriptor_budget():
    """Streamlit makes each session an event loop: three descriptors beside the page's socket."""

    async def visit(url: str) -> float:
        students = [ProtocolClient(url, "gates") for _ in range(PAGES)]
        await asyncio.gather(*(student.__aenter__() for student in students))
        for student in students:
            await student.open()
        try:
            return await asyncio.to_thread(server.counter, "seqviz_open_files")
        finally:
            for student in students:
                await student.__aexit__()

    with serve(environment={"HF_HUB_OFFLINE": "1"}) as server:
        before = server.counter("seqviz_open_files")
        maximum = run_async(visit(server.url))
    assert (maximum - before) / PAGES <= startup.PAGE_FILES + 0.5
