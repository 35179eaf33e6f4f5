"""A slow network: a proxy in front of a server of this machine, which holds back whatever passes.

The browser's own throttle slows pages and files; this one slows everything, websockets as well.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

CHUNK = 4096  # bytes that one connection sends before another has its turn
AHEAD = 0.02  # seconds of bytes that wait in front of the line: a late timer leaves no gap in it


@dataclass
class Line:
    """One direction of the line, which all connections share.

    rate: bit/s. delay: seconds for one way. free: when its last bytes have left.
    """

    rate: float
    delay: float = 0.0
    free: float = 0.0

    def leaves(self, size: int, now: float) -> float:
        """When the last of these bytes has left, of what is handed over now; seconds.

        >>> line = Line(rate=8000.0)
        >>> line.leaves(500, now=1.0), line.leaves(500, now=1.0)
        (1.5, 2.0)
        """
        self.free = max(now, self.free) + 8 * size / self.rate
        return self.free


@dataclass
class Network:
    """A running proxy. passed: (seconds since the epoch, bytes) of all that came to the browser."""

    port: int
    up: Line
    down: Line
    passed: list[tuple[float, int]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def received(self, until: float) -> int:
        """Bytes that had come to the browser at a moment (seconds since the epoch)."""
        return sum(size for when, size in self.passed if when <= until)


@contextlib.contextmanager
def slow_network(port: int, rate: float, delay: float = 0.0) -> Iterator[Network]:
    """A way to the server on `port` of this machine, in a thread of its own.

    rate: bit/s each way. delay: seconds there and back.
    """
    up, down = (Line(rate, delay / 2) for _ in range(2))
    loop = asyncio.new_event_loop()
    network = Network(0, up, down)

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(delay)  # a connection is made by going there and back once
        try:
            from_server, to_server = await asyncio.open_connection("127.0.0.1", port)
        except OSError:  # the server is gone
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
    """One direction of one connection, until one of its ends is closed."""
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
        await asyncio.sleep(max(0.0, leaves + line.delay - loop.time()))  # for what is on its way
    finally:
        writer.close()
