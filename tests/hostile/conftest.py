"""A server for messages and browsers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from testing.protocol import ProtocolClient, run_async
from testing.server import Server, serve


@pytest.fixture(scope="session")
def server(minilm_on_disk) -> Iterator[Server]:
    """The app in a process of its own, with its imports done."""

    async def first(url: str) -> None:
        async with ProtocolClient(url, "vanishing_gradients") as student:
            await student.open()

    with serve(environment={"HF_HUB_OFFLINE": "1"}) as running:
        run_async(first(running.url))
        yield running
