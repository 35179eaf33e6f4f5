"""Pictures that one core of the server draws in a second while hands move; no browser, no socket.

The route (`ui.live.handler`) is asked as by a server, with everything an answer costs it: values
checked, place in the line, account, computing, drawing, JSON, compression. No value comes twice;
what a browser has from the answer before does not travel again. `per_core` is pictures for each
second of processor time, `cpu_ms` its inverse, workers' included: other work on the machine does
not change them much. `per_s` is by the clock, with four browsers that ask at a time.

`python -m benchmarks.pictures [--seconds 5] [--workers 2]`
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import itertools
import json
import os
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import psutil
from starlette.applications import Starlette

from seqviz.ui.app import application
from seqviz.ui.live import handler
from seqviz.ui.runtime import run_context, startup
from seqviz.ui.runtime.run_context import Session

BROWSERS = 4
GOAL = 300  # pictures a second for each core
# Values that a hand would come by; none comes twice within a run.
MOVED: dict[str, Iterator[dict[str, str]]] = {
    "ar_fitting/process": ({"ar.process.phi": f"{-1 + k / 50_000:.6f}"} for k in range(100_000)),
    "gates/watch": (
        {"ga.watch.rank": f"{rank}", "ga.watch.step": f"{step}"}
        for rank, step in itertools.product(range(1, 257), range(1, 151))
    ),
    "vanishing_gradients/reach": (
        {"vg.reach.gain": f"{0.3 + k / 50_000:.6f}"} for k in range(50_000)
    ),
}


async def ask(app: Any, address: str, query: dict[str, str], session: Session, has: str) -> str:
    """One request; what the browser then has. Raises RuntimeError where there is no picture."""
    parts: list[bytes] = []
    statuses: list[int] = []
    headers = {handler.H_SESSION: session.token, handler.H_KNOWN_ARRAYS: has}
    scope = {
        "type": "http", "http_version": "1.1", "method": "GET", "scheme": "http", "root_path": "",
        "path": f"/live/{address}", "raw_path": f"/live/{address}".encode(),
        "query_string": urlencode(query).encode(), "server": ("here", 80), "client": ("here", 1),
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }  # fmt: skip

    async def receive() -> dict[str, Any]:
        await asyncio.Event().wait()  # the browser stays
        raise AssertionError

    async def send(message: dict[str, Any]) -> None:
        statuses.extend([message["status"]] if "status" in message else [])
        parts.append(message.get("body", b""))

    await app(scope, receive, send)
    if statuses != [200]:
        raise RuntimeError(f"{address} {query}: {statuses}")
    body = b"".join(parts)
    text = gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body
    return ",".join(json.loads(text.partition(b"\n")[0])["arrays"])


async def drag(app: Any, address: str, seconds: float) -> tuple[int, float, float]:
    """Pictures, seconds by the clock and of processors, of so many browsers at once."""
    end = time.perf_counter() + seconds
    drawn = 0

    async def browser() -> None:
        nonlocal drawn
        session, has = Session("", 0.0), ""
        run_context._by_token[session.token] = session
        while time.perf_counter() < end:
            has = await ask(app, address, next(MOVED[address]), session, has)
            drawn += 1

    started, before = time.perf_counter(), processors()
    await asyncio.gather(*(browser() for _ in range(BROWSERS)))
    return drawn, time.perf_counter() - started, processors() - before


def processors() -> float:
    """Seconds that this process and its workers have used."""
    me = psutil.Process()
    times = [item.cpu_times() for item in (me, *me.children())]
    return sum(time.user + time.system for time in times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=5.0, help="for each bench")
    parser.add_argument("--workers", type=int, default=0, help="processes that answer")
    chosen = parser.parse_args()
    os.environ |= {"SEQVIZ_WORKERS": str(chosen.workers), "SEQVIZ_SESSION_SECONDS": "0"}
    startup.configure_process()
    app = Starlette(middleware=application.middleware())
    for worker in handler.workers().all:
        worker.ready.wait()
    print(f"{'':28}{'cpu_ms':>8}{'per_core':>10}{'per_s':>8}")
    result = {}
    for address in MOVED:
        asyncio.run(drag(app, address, 1.0))  # what is loaded once
        rendered, seconds, used = asyncio.run(drag(app, address, chosen.seconds))
        item = {
            "cpu_ms": 1e3 * used / rendered,
            "per_core": rendered / used,
            "per_s": rendered / seconds,
        }
        print(f"{address:28}{item['cpu_ms']:8.2f}{item['per_core']:10.0f}{item['per_s']:8.0f}")
        result[address] = {name: round(value, 2) for name, value in item.items()}
    print(f"goal: {GOAL} for each core, AR and gates")
    print(json.dumps({"name": "pictures", "workers": chosen.workers, "benches": result}))
    handler.workers().close()


if __name__ == "__main__":
    main()
