"""The routes of classes, without a page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from seqviz.ui.bench import live_route
from seqviz.ui.server.accounts import accounts
from seqviz.ui.shared.room_route import OURS, the_class


@pytest.fixture
def client(tmp_path, monkeypatch) -> Iterator[TestClient]:
    """One that our pages' scripts would be; its rooms end with it."""
    monkeypatch.setenv("SEQVIZ_CACHE", str(tmp_path / "cache"))
    the_class.cache_clear()
    accounts.cache_clear()
    with TestClient(Starlette(middleware=[Middleware(live_route.Straight)])) as client:
        client.headers[OURS] = "1"
        yield client
        for room in list(the_class().rooms._open.values()):
            room.ended = True
            client.portal.call(room.change)
    the_class.cache_clear()
    accounts.cache_clear()


@pytest.fixture
def opened(client) -> dict:
    """A room, as its teacher has it: {"code", "token"}."""
    return client.post("/room").json()
