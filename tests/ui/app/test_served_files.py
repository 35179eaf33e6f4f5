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
    results = []
    async with asyncio.timeout(MANY):
        while len(results) < times:
            message = ForwardMsg.FromString(await student.socket.recv())
            if message.WhichOneof("type") == "backend_operation_response":
                results.append(message.backend_operation_response)
    return results


def metrics(url: str) -> float:
    started = time.monotonic()
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=MANY)
    connection.request("GET", "/metrics")
    assert connection.getresponse().read()
    connection.close()
    return time.monotonic() - started


@pytest.mark.nightly
def test_notebooks_of_undrawn_lesson_delay_no_other_client(server):
    async def attended() -> list[float]:
        async with ProtocolClient(server.url, "ar_fitting") as protocol_client:
            await protocol_client.open()
            async with ProtocolClient(server.url, "gates") as other:
                await other.open()
                while await other.scroll():
                    pass
                for number in range(ASKED):
                    await protocol_client.socket.send(
                        protocol_client.file_request("ar.notebook", f"{number}")
                    )
                await asyncio.sleep(0.5)
                seconds = [await asyncio.to_thread(metrics, server.url)]
                started = time.monotonic()
                await other.socket.send(other.file_request("ga.notebook"))
                (created,) = await answers(other, 1)
                assert created.deferred_file.url
                return [*seconds, time.monotonic() - started]

    seconds = run_async(attended())
    assert max(seconds) < 3.0, seconds
