"""With Ray's packages the app has the versions that it was tested with, and serves as before."""

from __future__ import annotations

import socket
from contextlib import closing
from importlib.metadata import version

import pytest

from seqviz.core.paths import ROOT
from testing.cluster import NO_RAY
from testing.server import HOST, serve

SERVING = ("streamlit", "starlette", "uvicorn", "httptools", "websockets")


@pytest.mark.skipif(bool(NO_RAY), reason=NO_RAY)
def test_ray_packages_keep_locked_serving_versions():
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    locked = dict(line.split("==") for line in lines if "==" in line)
    assert {name: version(name) for name in SERVING} == {name: locked[name] for name in SERVING}


def test_ray_requirements_apply_constraints():
    lines = (ROOT / "requirements-ray.txt").read_text("utf-8").splitlines()
    assert "-c constraints.txt" in lines


@pytest.mark.parametrize("header", ["Cookie: name=Jürgen", "Referer: http://x.example/循环"])
def test_server_accepts_websocket_with_non_ascii_header(header, shared_server):
    request = (
        f"GET /_stcore/stream HTTP/1.1\r\nHost: {HOST}:{shared_server.port}\r\n"
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        f"Sec-WebSocket-Key: c2VxdmlzIHNlcXZpeiBzZQ==\r\n{header}\r\n\r\n"
    )
    with closing(socket.create_connection((HOST, shared_server.port), 20)) as line:
        line.sendall(request.encode("utf-8"))
        assert line.recv(12) == b"HTTP/1.1 101"


@pytest.fixture(scope="module")
def shared_server():
    with serve(environment={"HF_HUB_OFFLINE": "1"}) as server:
        yield server
