"""The app as `streamlit run app.py` serves it: one for all tests that ask for no settings."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from borrow import NO_PLAYWRIGHT, reach

from testing.server import Server, serve

reach("browser")  # what a visitor of the browser tests can do
if NO_PLAYWRIGHT:
    collect_ignore = ["test_server_policy.py"]


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with serve(environment={"HF_HUB_OFFLINE": "1"}) as running:
        yield running
