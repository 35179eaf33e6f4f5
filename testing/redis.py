"""A Redis on this machine, for tests and benchmarks: in memory, with a password, and stoppable."""

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
    """address: as `SEQVIZ_REDIS_URL` takes it. client: of its own, to look into it."""

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
        return f"redis://:{self.password}@{HOST}:{self.port}"

    def again(self) -> None:
        """Begin, also after `kill` or `pause`; until it answers."""
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
        """It answers nobody any more, and hangs up on nobody."""
        self.process.send_signal(signal.SIGSTOP)

    def kill(self) -> None:
        """At once; what it had is gone."""
        self.process.kill()
        self.process.wait()


@contextmanager
def store() -> Iterator[Store]:
    """From when it answers to the end."""
    store = Store(free_port(), secrets.token_hex(16))
    try:
        yield store
    finally:
        store.kill()
