"""Network emulation: a local proxy with limited bandwidth and latency, `slow_network`.

The browser's own throttling slows pages and files; this proxy also slows websockets.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

CHUNK = 4096  # bytes that a connection sends before the next one's turn
AHEAD = 0.02  # seconds of data queued for the line, so that a late timer leaves no gap


@dataclass
class Line:
    """Direction of the emulated line, shared by all connections.

    Attributes:
        rate: bandwidth in bit/s.
        delay: one-way latency in seconds.
        free: time at which its last bytes have left.
    """

    rate: float
    delay: float = 0.0
    free: float = 0.0

    def leaves(self, size: int, now: float) -> float:
        """Return the time at which the last of these bytes leaves the line.

        Args:
            size: bytes handed over.
            now: current time in seconds.

        >>> line = Line(rate=8000.0)
        >>> line.leaves(500, now=1.0), line.leaves(500, now=1.0)
        (1.5, 2.0)
        """
        self.free = max(now, self.free) + 8 * size / self.rate
        return self.free


@dataclass
class Network:
    """Running proxy.

    Attributes:
        port: its port.
        up: line to the server.
        down: line to the browser.
        passed: (seconds since the epoch, bytes) of each chunk that reached the browser.
    """

    port: int
    up: Line
    down: Line
    passed: list[tuple[float, int]] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Address of the proxy."""
        return f"http://127.0.0.1:{self.port}"

    def received(self, until: float) -> int:
        """Return the bytes that had reached the browser at a time in seconds since the epoch."""
        return sum(size for when, size in self.passed if when <= until)


@contextlib.contextmanager
def slow_network(port: int, rate: float, delay: float = 0.0) -> Iterator[Network]:
    """Yield a proxy in front of a local server; it runs in its own thread.

    Args:
        port: port of the server.
        rate: bandwidth of each direction in bit/s.
        delay: round-trip latency in seconds.
    """
    up, down = (Line(rate, delay / 2) for _ in range(2))
    loop = asyncio.new_event_loop()
    network = Network(0, up, down)

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(delay)  # the TCP handshake takes one round trip
        try:
            from_server, to_server = await asyncio.open_connection("127.0.0.1", port)
        except OSError:  # the server has stopped
            writer.close()
            return
        with contextlib.suppress(asyncio.CancelledError):  # at the end of the proxy
            await asyncio.gather(
                _carry(reader, to_server, network.up, []),
                _carry(from_server, writer, network.down, network.passed),
                return_exceptions=True,
            )

    async def listen() -> asyncio.Server:
        return await asyncio.start_server(connect, "127.0.0.1", 0)

    async def end() -> None:
        listening.close()
        running = asyncio.all_tasks() - {asyncio.current_task()}
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    listening = asyncio.run_coroutine_threadsafe(listen(), loop).result()
    network.port = listening.sockets[0].getsockname()[1]
    try:
        yield network
    finally:
        asyncio.run_coroutine_threadsafe(end(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _carry(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    line: Line,
    passed: list[tuple[float, int]],
) -> None:
    """Forward one direction of one connection until either end closes."""
    loop = asyncio.get_running_loop()

    def arrive(chunk: bytes) -> None:
        passed.append((time.time(), len(chunk)))
        writer.write(chunk)

    leaves = 0.0
    try:
        while chunk := await reader.read(CHUNK):
            leaves = line.leaves(len(chunk), loop.time())
            loop.call_at(leaves + line.delay, arrive, chunk)
            await asyncio.sleep(max(0.0, leaves - loop.time() - AHEAD))
            await writer.drain()
        await asyncio.sleep(max(0.0, leaves + line.delay - loop.time()))  # data in transit
    finally:
        writer.close()
