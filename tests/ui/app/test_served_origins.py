"""A room whose DNS does not answer: the server starts, and a page of another site stops nobody."""

from __future__ import annotations

import http.client
import time
from contextlib import closing
from urllib.parse import urlsplit

import pytest

from testing.server import NO_DNS, serve


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    return tmp_path_factory.mktemp("deaf") / "asked.txt"


@pytest.fixture(scope="module")
def server(asked):
    deaf = {"ASKED": str(asked), "HF_HUB_OFFLINE": "1"}
    with serve(environment=deaf, options={"server.address": "0.0.0.0"}, before=NO_DNS) as running:
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
    result = connection.getresponse().status
    connection.close()
    return result


def test_origin_check_rejects_foreign_site_without_dns(server, asked):
    assert "SeqViz is at http://localhost:" in server.log.read_text("utf-8")
    started = time.monotonic()
    for origin in ("https://evil.example", "http://[bad", "null"):
        assert status(server, origin) == 403
    assert status(server, server.url) == 101
    assert time.monotonic() - started < 1.0
    assert not asked.exists(), asked.read_text("utf-8")


def test_allowed_hosts_apply_to_every_route_except_health():
    """A site whose name leads here (DNS rebinding) reads no page, figure, room or file."""
    with serve(options={"server.allowedHosts": "school.example"}) as server:

        def status(path: str, host: str, method: str = "GET") -> int:
            with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)) as line:
                line.request(method, path, headers={"Host": host, "X-SeqViz-Room": "1"})
                return line.getresponse().status

        paths = [("/", "GET"), ("/ar_fitting", "GET"), ("/embed/ar_fitting/process", "GET"),
                 ("/print/ar_fitting/process", "GET"), ("/room", "POST"),
                 ("/app/static/bench/live.js", "GET")]  # fmt: skip
        for path, method in paths:
            assert status(path, "evil.example", method) == 403, path
            assert status(path, "school.example", method) == 200, path
        assert status("/_stcore/health", "evil.example") == 200
