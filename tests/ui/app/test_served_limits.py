"""At a real server: an account outlives the line, a newcomer waits in front, a file is there."""

from __future__ import annotations

import asyncio

import pytest

from testing.protocol import ProtocolClient, run_async
from testing.server import serve

LIMIT = "You have used the computing time"
TIGHT = {"SEQVIZ_SESSION_SECONDS": "1", "SEQVIZ_CPU_REFILL": "0.01"}


async def refused(url: str, cookies: dict[str, str] | None, seed: int) -> bool:
    """Whether a tab of this device that computes something new is told to wait."""
    link = {"vg.reach.seed": str(seed), "vg.reach.cells": "rnn,lstm,gru"}
    async with ProtocolClient(url, "vanishing_gradients", link, cookies=cookies) as tab:
        await tab.open()
        await tab.scroll("reach")
        return any(LIMIT in warning for warning in tab.warnings)


def test_quota_survives_reconnect_and_spares_other_devices():
    with serve(environment=TIGHT) as server:

        async def lesson() -> tuple[bool, list[bool], list[bool]]:
            seeds = iter(range(5001, 6000))
            greedy: dict[str, str] = {}
            while not await refused(server.url, greedy, next(seeds)):
                pass
            again = await refused(server.url, greedy, next(seeds))
            others = [await refused(server.url, {}, next(seeds)) for _ in range(2)]
            while not await refused(server.url, None, next(seeds)):  # no cookies: at its address
                pass
            retained = [await refused(server.url, None, next(seeds)),
                    await refused(server.url, {}, next(seeds))]  # fmt: skip
            return again, others, retained

        again, others, cached = run_async(lesson())
    assert again
    assert others == [False, False]
    assert cached == [True, False]


def test_admission_rejects_extra_client_and_allows_own_tabs():
    with serve(environment={"SEQVIZ_MAX_CLIENTS": "2"}) as server:

        async def lesson() -> list[str]:
            messages = []
            mine, other = {}, {}
            async with ProtocolClient(server.url, "gates", cookies=mine) as protocol_client:
                await protocol_client.open()
                async with ProtocolClient(server.url, "gates", cookies=other) as two:
                    await two.open()
                    with pytest.raises(ConnectionRefusedError, match="503"):
                        await ProtocolClient(server.url, "gates", cookies={}).__aenter__()
                    async with ProtocolClient(server.url, "positions", cookies=mine) as third:
                        await third.open()
                        messages += third.errors
                return messages

        assert run_async(asyncio.wait_for(lesson(), 60)) == []


# Every turn comes three seconds late, and the place in line is said each 0.6 s.
LATE = """
import threading
from seqviz.ui.runtime import scheduler
scheduler.NOTIFY_EVERY_S, come = 0.6, scheduler.DrawQueue.enqueue
def late(queue, rank, begin, *user):
    return come(queue, rank, lambda: threading.Timer(3.0, begin).start(), *user)
scheduler.DrawQueue.enqueue = late
"""


def test_queue_notice_repeats_until_figure_is_drawn():
    """Benches that come one by one while others compute, as in a class that opens a lesson."""
    with serve(before=LATE) as server:

        async def lesson() -> tuple[list[str], list[str]]:
            async with ProtocolClient(server.url, "ar_fitting") as student:
                await student.open()
                student.said.clear()
                await student.scroll("fit")
                assert "ar.fit.data" in student.widgets
                return student.said, student.errors

        payload, errors = run_async(lesson())
    assert errors == []
    assert len(payload) > 1
    assert all("number 1 and" in item for item in payload)
