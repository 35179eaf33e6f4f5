"""Files that are made when somebody asks for them: one who asks for many delays nobody else."""

from __future__ import annotations

import asyncio
import http.client
import time
from urllib.parse import urlsplit

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from testing.protocol import ProtocolClient, run_async

ASKED = 12
MANY = 60.0


async def answers(student: ProtocolClient, times: int) -> list:
    """What the server says to so many requests."""
    found = []
    async with asyncio.timeout(MANY):
        while len(found) < times:
            message = ForwardMsg.FromString(await student.socket.recv())
            if message.WhichOneof("type") == "backend_operation_response":
                found.append(message.backend_operation_response)
    return found


def metrics(url: str) -> float:
    started = time.monotonic()
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=MANY)
    connection.request("GET", "/metrics")
    assert connection.getresponse().read()
    connection.close()
    return time.monotonic() - started


@pytest.mark.nightly
def test_notebooks_of_lessons_that_are_not_drawn_delay_nobody(server):
    async def attended() -> list[float]:
        async with ProtocolClient(server.url, "ar_fitting") as one:
            await one.open()
            async with ProtocolClient(server.url, "gates") as other:
                await other.open()
                while await other.scroll():
                    pass
                for number in range(ASKED):
                    await one.socket.send(one.file_request("ar.notebook", f"{number}"))
                await asyncio.sleep(0.5)
                seconds = [await asyncio.to_thread(metrics, server.url)]
                started = time.monotonic()
                await other.socket.send(other.file_request("ga.notebook"))
                (made,) = await answers(other, 1)
                assert made.deferred_file.url
                return [*seconds, time.monotonic() - started]

    seconds = run_async(attended())
    assert max(seconds) < 3.0, seconds
