"""A room whose DNS does not answer: the server starts, and a page of another site stops nobody."""

from __future__ import annotations

import http.client
import time
from urllib.parse import urlsplit

import pytest

from driver.server import DEAF, serve


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    return tmp_path_factory.mktemp("deaf") / "asked.txt"


@pytest.fixture(scope="module")
def server(asked):
    deaf = {"ASKED": str(asked), "HF_HUB_OFFLINE": "1"}
    with serve(environment=deaf, options={"server.address": "0.0.0.0"}, before=DEAF) as running:
        yield running


def status(server, origin: str) -> int:
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=30)
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "c2VxdmlzIHNlcXZpeiBzZQ==",
        "Origin": origin,
    }
    connection.request("GET", "/_stcore/stream", headers=upgrade)
    found = connection.getresponse().status
    connection.close()
    return found


def test_a_page_of_another_site_is_refused_at_once_and_nobody_is_asked(server, asked):
    assert "SeqViz is at http://localhost:" in server.log.read_text("utf-8")
    started = time.monotonic()
    for origin in ("https://evil.example", "http://[bad", "null"):
        assert status(server, origin) == 403
    assert status(server, server.url) == 101
    assert time.monotonic() - started < 1.0
    assert not asked.exists(), asked.read_text("utf-8")
