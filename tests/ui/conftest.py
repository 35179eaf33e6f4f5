"""A browser's side of the route that answers moving hands."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from seqviz.ui.bench import live_route
from seqviz.ui.server import run_context
from seqviz.ui.server.run_context import Session


@pytest.fixture(scope="module")
def client():
    with TestClient(Starlette(middleware=[Middleware(live_route.Straight)])) as client:
        yield client


@pytest.fixture
def session():
    made = Session("test", 0.0)
    run_context._by_token[made.token] = made
    return made
