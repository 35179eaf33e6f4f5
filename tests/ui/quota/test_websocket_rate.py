"""How fast a page may talk."""

from __future__ import annotations

import asyncio
import time

import pytest

from seqviz.ui.quota import websocket_rate
from seqviz.ui.runtime import clients
from testing.protocol import run_async


@pytest.fixture
def fresh(monkeypatch):
    client_registry = clients.ClientRegistry()
    monkeypatch.setattr(websocket_rate, "client_registry", lambda: client_registry)


async def heard(messages: int, size: int, seconds: float) -> int:
    """How many messages of a flood are read in some seconds."""
    count = 0

    async def receive():
        return {"type": "websocket.receive", "bytes": b"x" * size}

    async def app(scope, receive, send):
        nonlocal count
        for _ in range(messages):
            await receive()
            count += 1

    scope = {"type": "websocket", "headers": [], "client": ("127.0.0.9", 1)}
    try:
        async with asyncio.timeout(seconds):
            await websocket_rate.WebSocketRateMiddleware(app)(scope, receive, None)
    except TimeoutError:
        pass
    return count


def test_websocket_rate_reads_initial_burst_immediately(fresh):
    began = time.monotonic()
    assert run_async(heard(100, 500, 5.0)) == 100
    assert time.monotonic() - began < 0.5


@pytest.mark.parametrize(("size", "most"), [(10, 300), (4_000_000, 3)])
def test_websocket_rate_throttles_flood(fresh, size, most):
    assert run_async(heard(100_000, size, 1.0)) <= most


def test_websocket_rate_large_message_delays_no_other_client(fresh):
    """Neither where it is read nor where it is refused: a class shares that account."""

    async def both() -> int:
        await heard(1, 31_000_000, 5.0)
        return await heard(50, 500, 0.5)

    assert run_async(both()) == 50


def test_websocket_rate_yields_between_messages(fresh):
    async def both() -> int:
        steps = 0
        flood = asyncio.create_task(heard(150, 10, 5.0))
        while not flood.done():
            await asyncio.sleep(0)
            steps += 1
        return steps

    assert run_async(both()) >= 150
