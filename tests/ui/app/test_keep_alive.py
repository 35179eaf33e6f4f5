"""How long the server keeps an idle connection open."""

from __future__ import annotations

import http.client
import time

UVICORN_S = 5  # its default


def test_keep_alive_reuses_idle_connection(server):
    """Longer than uvicorn's own default."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    connection.request("GET", "/_stcore/health")
    connection.getresponse().read()
    opened = connection.sock
    time.sleep(UVICORN_S + 0.5)
    connection.request("GET", "/_stcore/health")
    assert connection.getresponse().status == 200
    assert connection.sock is opened  # the client has not connected again
