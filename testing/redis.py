"""Local Redis server with a password, in memory, for tests and benchmarks."""

from __future__ import annotations

import importlib.util
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from testing.server import HOST, free_port

NO_REDIS = (
    ""
    if shutil.which("redis-server") and importlib.util.find_spec("redis")
    else "redis-server or its client is not installed (apt redis-server, requirements-ray.txt)"
)


@dataclass
class Store:
    """Redis server that can be paused and killed.

    Attributes:
        port: its port.
        password: its password.
        client: a client for inspection.
        process: the server process.
    """

    port: int
    password: str
    client: Any = field(init=False)
    process: subprocess.Popen[bytes] = field(init=False)

    def __post_init__(self) -> None:
        import redis

        self.client = redis.Redis.from_url(self.address, decode_responses=True)
        self.again()

    @property
    def address(self) -> str:
        """Address in the form of `SEQVIZ_REDIS_URL`."""
        return f"redis://:{self.password}@{HOST}:{self.port}"

    def again(self) -> None:
        """Start the server, also after `kill` or `pause`, and wait until it responds."""
        if hasattr(self, "process") and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
        else:
            messages = [
                "--bind",
                HOST,
                "--port",
                str(self.port),
                "--save",
                "",
                "--appendonly",
                "no",
            ]
            self.process = subprocess.Popen(
                ["redis-server", *messages, "--requirepass", self.password],
                stdout=subprocess.DEVNULL,
            )
        last = time.monotonic() + 20
        while True:
            try:
                self.client.ping()
                return
            except Exception:
                if time.monotonic() > last:
                    raise
                time.sleep(0.05)

    def pause(self) -> None:
        """Suspend the server: it does not respond, and connections stay open."""
        self.process.send_signal(signal.SIGSTOP)

    def kill(self) -> None:
        """Kill the server; its data are lost."""
        self.process.kill()
        self.process.wait()


@contextmanager
def store() -> Iterator[Store]:
    """Yield a running server."""
    store = Store(free_port(), secrets.token_hex(16))
    try:
        yield store
    finally:
        store.kill()
