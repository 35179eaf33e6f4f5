"""The routes of classes, without a page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from seqviz.ui.app import router
from seqviz.ui.classroom.routes import OURS, room_service
from seqviz.ui.runtime.clients import client_registry


@pytest.fixture
def client(tmp_path, monkeypatch) -> Iterator[TestClient]:
    """One that our pages' scripts would be; its rooms end with it."""
    monkeypatch.setenv("SEQVIZ_CACHE", str(tmp_path / "cache"))
    room_service.cache_clear()
    client_registry.cache_clear()
    with TestClient(Starlette(middleware=[Middleware(router.LiveMiddleware)])) as client:
        client.headers[OURS] = "1"
        yield client
        for room in list(room_service().rooms._open.values()):
            room.ended = True
            client.portal.call(room.notify)
    room_service.cache_clear()
    client_registry.cache_clear()


@pytest.fixture
def opened(client) -> dict:
    """A room, as its teacher has it: {"code", "token"}."""
    return client.post("/room").json()
