"""The proxy that stands for a slow network: what passes takes its time, and comes whole."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import closing

import pytest

from testing.slow_network import Line, slow_network

RATE = 2e6  # bit/s
DELAY = 0.1  # s, there and back


def test_line_shares_rate_without_banking_idle_time():
    line = Line(rate=8e6)
    item = [line.leaves(1000, now=0.0) for _ in range(3)]
    assert item == pytest.approx([0.001, 0.002, 0.003])
    assert line.leaves(1000, now=5.0) == pytest.approx(5.001)  # what was free is not made up for


@pytest.fixture
def echo():
    """The port of a server that sends back what it is sent."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                while chunk := connection.recv(65536):
                    connection.sendall(chunk)

    thread = threading.Thread(target=serve)
    thread.start()
    yield listening.getsockname()[1]
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()
    thread.join()


def exchange(port: int, sent: bytes) -> tuple[bytes, float]:
    """What comes back, and the seconds to its end, with those that the connection took."""
    started = time.perf_counter()
    with closing(socket.create_connection(("127.0.0.1", port))) as connection:
        threading.Thread(target=connection.sendall, args=(sent,)).start()
        back = b""
        while len(back) < len(sent):
            back += connection.recv(65536)
    return back, time.perf_counter() - started


@pytest.mark.timing
def test_slow_network_delivers_all_bytes_at_rate_and_delay(echo):
    sent = bytes(range(256)) * 200  # 51 kB: 0.205 s at this rate
    with slow_network(echo, RATE, DELAY) as network:
        back, small = exchange(network.port, b"?")
        assert back == b"?"
        full, seconds = exchange(network.port, sent)
        assert network.received(time.time()) == len(sent) + 1
        assert network.received(0.0) == 0
    assert full == sent
    assert 2 * DELAY <= small < 2 * DELAY + 0.1  # once for the connection, once for the byte
    wire = 8 * len(sent) / RATE
    assert wire + 2 * DELAY <= seconds < 1.2 * wire + 2 * DELAY + 0.1


def test_slow_network_closes_connection_when_server_is_down():
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
    with (
        slow_network(port, RATE) as network,
        closing(socket.create_connection(("127.0.0.1", network.port))) as connection,
    ):
        assert connection.recv(1) == b""


def test_slow_network_exits_with_open_connection(echo):
    with slow_network(echo, RATE) as network:
        connection = socket.create_connection(("127.0.0.1", network.port))
        connection.sendall(b"?")
        assert connection.recv(1) == b"?"
    with closing(connection):
        connection.settimeout(5)
        assert connection.recv(1) == b""
