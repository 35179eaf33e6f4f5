"""A browser's side of the route that answers moving hands."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from seqviz.ui.app import router
from seqviz.ui.runtime import run_context
from seqviz.ui.runtime.run_context import Session


@pytest.fixture(scope="module")
def client():
    with TestClient(Starlette(middleware=[Middleware(router.LiveMiddleware)])) as client:
        yield client


@pytest.fixture
def session():
    made = Session("test", 0.0)
    run_context._by_token[made.token] = made
    return made
