"""The app as it is served with SEQVIZ_WORKERS: who draws, a worker that dies, and the end."""

from __future__ import annotations

import asyncio
import time

import psutil
import pytest

from testing.protocol import ProtocolClient, run_async
from testing.server import serve

READY = 120  # seconds that a worker may take to load what it needs
KEY = "ar.process.phi"


@pytest.mark.nightly  # by day the route alone is asked, with one worker for all questions
def test_worker_draws_drag_requests_and_exits_with_server():
    with serve(environment={"SEQVIZ_WORKERS": "1"}) as server:
        (worker,) = psutil.Process(server.process.pid).children()

        def used() -> float:
            return sum(worker.cpu_times()[:2])

        async def drags() -> tuple[bool, int, int]:
            async with ProtocolClient(server.url, "ar_fitting") as student:
                await student.open()
                end, value, rendered = time.monotonic() + READY, 0.0, False
                while not rendered and time.monotonic() < end:
                    before = used()
                    for _ in range(20):  # 5 ms each; what loads libraries uses more, and ends
                        value += 0.001
                        assert await student.picture(KEY, value, moving=True) == 200
                    await asyncio.sleep(0.5)
                    rendered = 0.02 < used() - before < 0.3
                worker.kill()
                statuses = [await student.picture(KEY, value + 0.1 + step / 100) for step in (1, 2)]
                return rendered, *statuses

        assert run_async(drags()) == (True, 200, 200)
        children = psutil.Process(server.process.pid).children()
        assert psutil.wait_procs([worker], timeout=10)[0]
    psutil.wait_procs(children, timeout=10)
    assert not any(child.is_running() for child in children)
