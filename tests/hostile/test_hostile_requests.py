"""Requests that no browser sends: refused or answered, and none writes a line of its own."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from seqviz.ui.streamlit_patches import request_head
from testing.server import HOST, Server, serve

PATIENCE = 30.0  # seconds
UPGRADE = (
    b"GET /_stcore/stream HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: c2VxdmlzIHNlcXZpeiBzZQ==\r\n"
)


def sent(server: Server, parts: Iterator[bytes] | list[bytes], last: bool = True) -> bytes:
    """What the server says until it hangs up, or a second long after the last part."""
    answer = b""
    with socket.create_connection((HOST, server.port), timeout=PATIENCE) as line:
        with suppress(BrokenPipeError, ConnectionResetError):
            for part in parts:
                line.sendall(part)
        line.settimeout(1.0 if last else PATIENCE)
        with suppress(TimeoutError, ConnectionResetError):
            while part := line.recv(65536):
                answer += part
    return answer


def health(headers: bytes = b"", path: bytes = b"/_stcore/health") -> bytes:
    return b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\n" + headers + b"\r\n"


def statuses(answer: bytes) -> list[int]:
    return [int(code) for code in re.findall(rb"HTTP/1.1 (\d+)", answer)]


def test_server_rejects_oversized_request_head(server):
    before = len(server.log.read_bytes())
    many = b"".join(b"X-%d: 1\r\n" % number for number in range(10_000))
    assert statuses(sent(server, [health(many)])) == [431]
    assert statuses(sent(server, [health(b"X: " + b"x" * request_head.BYTES + b"\r\n")])) == [431]
    assert statuses(sent(server, [health(path=b"/?" + b"x" * request_head.BYTES)])) == [431]
    long = UPGRADE + b"Host: localhost\r\nOrigin: http://" + b"x" * 9_000 + b"\r\n\r\n"
    assert statuses(sent(server, [long])) == [431]
    assert b"Traceback" not in server.log.read_bytes()[before:]


def test_server_memory_stays_bounded_for_endless_head(server):
    before = server.megabytes()
    with socket.create_connection((HOST, server.port), timeout=PATIENCE) as line:
        with suppress(BrokenPipeError, ConnectionResetError):
            line.sendall(health()[:-2])
            for number in range(1_500):  # 100 MB
                line.sendall(b"X-%d: " % number + b"x" * 65_000 + b"\r\n")
        assert server.megabytes() < before + 30


def test_server_limits_pipelined_requests(server):
    """Pipelined requests do not fill the memory."""
    many = health() * 20_000
    answered = statuses(sent(server, [many]))
    assert len(answered) < 5_000
    assert set(answered) <= {200, 431}


def opened(server: Server) -> socket.socket:
    """A websocket."""
    line = socket.create_connection((HOST, server.port), timeout=PATIENCE)
    line.sendall(UPGRADE + b"Host: localhost\r\n\r\n")
    assert b" 101 " in line.recv(4096)
    return line


def frames(head: bytes, number: int) -> bytes:
    """Frames of a byte or none."""
    return (head + b"\0\0\0\0" + b"x" * (head[1] & 1)) * number


@pytest.mark.parametrize("head", [b"\x00\x80", b"\x00\x81", b"\x89\x81", b"\x8a\x80"])
def test_server_disconnects_flood_of_fragments_or_pings(server, head):
    """Of 37,000 at a time, one connection after another keeps the thread that serves everybody."""
    used = server.cpu_seconds()
    with opened(server) as line:
        line.sendall(frames(b"\x02\x80", 1) if head[0] == 0 else b"")  # a message begins
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            line.sendall(frames(head, 1_000_000))
    assert server.cpu_seconds() - used < 2


@pytest.mark.parametrize("pieces", [1, 8])
def test_server_rejects_oversized_message_before_reading_it(server, pieces):
    """Ten of 31 MB at once took 1 GB, and others waited for a second."""
    before = len(server.log.read_bytes())
    with opened(server) as line:
        for number in range(pieces):
            size = 4_000_000 // pieces + 1
            head = b"\x00\xff" if number else b"\x02\xff"
            line.sendall(head + size.to_bytes(8, "big") + bytes(4))
            if number + 1 < pieces:
                line.sendall(bytes(size))
        line.settimeout(5.0)
        answer = b""
        while part := line.recv(65536):
            answer += part
    assert b"\x03\xf1" in answer  # 1009
    assert b"exceeds" not in server.log.read_bytes()[before:]


def test_server_reads_fragmented_message(server):
    pieces = frames(b"\x02\x80", 1) + frames(b"\x00\x80", 1_000) + frames(b"\x80\x80", 1)
    answer = b""
    with opened(server) as line:
        line.sendall(pieces + b"\x89\x82\0\0\0\0hi")
        while b"\x8a\x02hi" not in answer:
            part = line.recv(65536)
            assert part, answer
            answer += part


def test_server_answers_ordinary_browser_requests(server):
    link = b"/gates?ga.sentence.text=" + b"%E6%88%91" * 10_000
    twice = [health(b"X-1: 1\r\n" * 90), health(path=link)]
    assert statuses(sent(server, twice)) == [200, 200]
    assert statuses(sent(server, [b"".join(twice)])) == [200, 200]
    body = b"x" * 1_000_000
    head = b"PUT /no/such/place HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n"
    assert statuses(sent(server, [head + body]))[0] in (404, 405)
    assert statuses(sent(server, [health()[:20], health()[20:]])) == [200]


@pytest.mark.nightly
def test_server_times_out_incomplete_head(server):
    for parts in ([b"G"], [health()[:-2]], [health(), b"GET / HT"], [health(), b"\r\n"]):
        started = time.monotonic()
        sent(server, parts, last=False)
        assert time.monotonic() - started < request_head.SECONDS + 5
    assert statuses(sent(server, [health()])) == [200]


def test_server_log_escapes_header_text(server):
    before = len(server.log.read_bytes())
    payload = "\u0085\u2028 ERROR seqviz: forged \u202e\x9b31m".encode()
    for origin in (b"https://evil.example/" + payload, b"https://" + b"x" * 7_000):
        answer = sent(
            server, [UPGRADE + b"Host: " + payload + b"\r\nOrigin: " + origin + b"\r\n\r\n"]
        )
        assert statuses(answer) == [403]
    assert statuses(sent(server, [UPGRADE + b"Host: h\r\nOrigin: http://[bad\r\n\r\n"])) == [403]
    new = server.log.read_bytes()[before:].decode("utf-8")
    lines = new.removesuffix("\n").split("\n")
    assert len(lines) == 3, lines
    assert all(line.isprintable() and len(line) < 2_000 for line in lines), lines
    assert "http://[bad" in new


@pytest.mark.parametrize("path", [b"/metrics", b"/_stcore/metrics"])
def test_metrics_reject_foreign_host_header(server, path):
    """As a page whose name leads to this machine."""
    request = b"GET " + path + b" HTTP/1.1\r\nConnection: close\r\nHost: %s\r\n\r\n"
    assert statuses(sent(server, [request % b"localhost:8501"])) == [200]
    assert statuses(sent(server, [request % b"evil.example"])) == [403]
    assert statuses(sent(server, [b"GET " + path + b" HTTP/1.0\r\n\r\n"])) == [403]


def test_metrics_behind_proxy_require_token():
    """One on this machine that adds no header, and asks for 127.0.0.1, as nginx does by itself."""
    token = "a-token-of-this-test"
    environment = {"SEQVIZ_PROXIES": "1", "SEQVIZ_METRICS_TOKEN": token}
    request = b"GET /metrics HTTP/1.1\r\nConnection: close\r\nHost: 127.0.0.1:8501\r\n%s\r\n"
    with serve(environment=environment | {"SEQVIZ_METRICS_TOKEN": ""}) as alone:
        assert statuses(sent(alone, [request % b""])) == [403]
    with serve(environment=environment) as server:
        assert statuses(sent(server, [request % b""])) == [403]
        payload = b"Authorization: Bearer %s\r\n" % token.encode()
        assert statuses(sent(server, [request % payload])) == [200]
        assert server.metrics()  # as benchmarks of several processes read them
