"""How many connections the server accepts in one turn of its event loop."""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing

import pytest
import uvicorn

from seqviz.ui.streamlit_patches import accepting

uvloop = pytest.importorskip("uvloop")  # Windows has none
CONNECTIONS = 64


async def nothing(*_: object) -> None:
    """An app that nobody asks."""


async def accepted(turns: int) -> int:
    """Of so many connections that wait, those that are accepted after some turns."""
    server = uvicorn.Server(uvicorn.Config(nothing, port=0, lifespan="off", log_level="error"))
    server.config.load()
    server.lifespan = server.config.lifespan_class(server.config)
    await server.startup()
    (port,) = {one.getsockname()[1] for each in server.servers for one in each.sockets}
    with ExitStack() as lines:
        for _ in range(CONNECTIONS):
            lines.enter_context(closing(socket.create_connection(("127.0.0.1", port))))
        for _ in range(turns):
            await asyncio.sleep(0)
        found = len(server.server_state.connections)
        await server.shutdown()
    with closing(socket.create_server(("127.0.0.1", port))):  # nobody has it any more
        return found


def test_connections_are_accepted_several_at_a_time(monkeypatch):
    start = uvicorn.Server.startup
    monkeypatch.setattr(uvicorn.Server, "startup", start)  # put back after the test
    accepting.apply()
    with ThreadPoolExecutor(1) as thread:  # a browser of other tests has a loop in this one
        assert thread.submit(uvloop.run, accepted(8)).result() == CONNECTIONS
