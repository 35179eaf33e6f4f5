"""A browser's side of the live route, and the app as `streamlit run app.py` serves it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from seqviz.ui.app import router
from seqviz.ui.runtime import run_context
from seqviz.ui.runtime.run_context import Session
from testing.server import Server, serve


@pytest.fixture(scope="module")
def client():
    with TestClient(Starlette(middleware=[Middleware(router.LiveMiddleware)])) as client:
        yield client


@pytest.fixture
def session():
    session = Session("test", 0.0)
    run_context._by_token[session.token] = session
    return session


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """One for all tests that ask for no settings."""
    with serve(environment={"HF_HUB_OFFLINE": "1"}) as running:
        yield running
