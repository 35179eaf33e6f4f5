"""Who reads nothing is let go when too many bytes wait; who reads slowly has everything."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from types import SimpleNamespace

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.session_manager import SessionClientDisconnectedError
from streamlit.web.server.starlette import starlette_websocket

from seqviz.ui.streamlit_patches import unread_messages
from testing.protocol import run_async

MEGABYTE = 1_000_000


class Socket:
    """Sends when it is let to."""

    headers = SimpleNamespace(items=lambda: ())
    client = None

    def __init__(self) -> None:
        self.cookies = {}
        self.open, self.sent = asyncio.Event(), []

    async def send_bytes(self, payload: bytes) -> None:
        await self.open.wait()
        self.sent.append(len(payload))


@pytest.fixture
def client(monkeypatch):
    client = starlette_websocket.StarletteSessionClient
    monkeypatch.setattr(client, "__init__", client.__init__)  # is put back
    unread_messages.apply()
    return client


def message() -> ForwardMsg:
    created = ForwardMsg()
    created.delta.new_element.markdown.body = "x" * MEGABYTE
    return created


def test_session_client_disconnects_reader_at_byte_limit(client):
    async def lesson() -> int:
        item, written = client(Socket()), 0
        await asyncio.sleep(0)
        with suppress(SessionClientDisconnectedError):
            while written < 500:  # Streamlit's own limit
                item.write_forward_msg(message())
                written += 1
        await item.aclose()
        return written

    assert 40 < run_async(lesson()) < 55


def test_session_client_delivers_all_messages_to_slow_reader(client):
    async def lesson() -> list[int]:
        socket = Socket()
        test_clients = client(socket)
        for part in (30, 60, 90):
            for _ in range(30):
                test_clients.write_forward_msg(message())
            socket.open.set()
            while len(socket.sent) < part:
                await asyncio.sleep(0)
            socket.open.clear()
        await test_clients.aclose()
        return socket.sent

    assert len(run_async(lesson())) == 90
