"""Visitors who vanish: the line is cut, nobody says goodbye."""

from __future__ import annotations

import asyncio
import re
import time
import urllib.request

import pytest
from websockets.exceptions import ConnectionClosed

from seqviz import jobs
from seqviz.models import ready, store
from testing.protocol import ProtocolClient, run_async
from testing.server import serve

KEPT = 2  # seconds for which the server of these tests keeps a vanished visitor's session
LONG = 60.0
COUNTING = """
import gc, os, threading, time, weakref
from pathlib import Path
from streamlit.runtime import app_session
alive, made = weakref.WeakSet(), app_session.AppSession.__init__
def init(self, *args, **keywords):
    made(self, *args, **keywords)
    alive.add(self)
app_session.AppSession.__init__ = init
def tell():
    while True:
        gc.collect()
        place = Path(os.environ["SEQVIZ_TEST_COUNT"])
        place.with_suffix(".new").write_text(str(len(alive)))
        place.with_suffix(".new").rename(place)
        time.sleep(0.2)
threading.Thread(target=tell, daemon=True).start()
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("leaving")


@pytest.fixture(scope="module")
def server(place):
    """A server that says how many sessions are in its memory, and forgets vanished ones soon."""
    environment = {"HF_HUB_OFFLINE": "1", "SEQVIZ_TEST_COUNT": str(place / "count")}
    options = {"server.disconnectedSessionTTL": str(KEPT)}
    with serve(environment=environment, options=options, before=COUNTING) as running:
        yield running


def alive(position) -> int:
    return int((position / "count").read_text())


def cut(student: ProtocolClient) -> None:
    """As a lid that is closed: no goodbye, the connection just ends."""
    student.socket.transport.abort()


async def vanish(url: str, slug: str) -> None:
    """Open a page, move nothing, be gone in the middle of the next run."""
    student = await ProtocolClient(url, slug).__aenter__()
    await student.open()
    for wait in (0.02, 0.01, 0.005, 0.002, 0.001):  # on a fast machine a run is over soon
        asking = asyncio.ensure_future(student.open())
        await asyncio.sleep(wait)  # the server is at work
        if not asking.done():
            break
    cut(student)
    with pytest.raises(ConnectionClosed):
        await asking


def test_server_survives_disconnect_during_run(server):
    async def lesson() -> tuple[float, list[str]]:
        async with ProtocolClient(server.url, "ar_fitting") as stays:
            await stays.open()
            await asyncio.gather(*(vanish(server.url, "ar_fitting") for _ in range(8)))
            seconds = await stays.move("ar.process.phi", 0.37)
            return seconds, stays.errors

    seconds, errors = run_async(lesson())
    assert errors == []
    assert seconds < 10  # on a busy machine; not a measurement
    assert "Traceback" not in server.log.read_text("utf-8")


@pytest.mark.nightly
def test_server_frees_session_after_disconnect(server, place):
    """Sessions are objects with all that a visitor had; they leave memory."""

    async def come_and_vanish() -> None:
        async with ProtocolClient(server.url, "ar_fitting") as stays:
            await stays.open()
            await asyncio.gather(*(vanish(server.url, "ar_fitting") for _ in range(6)))

    run_async(come_and_vanish())
    last = time.monotonic() + LONG

    async def look() -> int:
        """Somebody comes now and then, as in a class: the server clears up when it is asked."""
        async with ProtocolClient(server.url, "home") as protocol_client:
            await protocol_client.open()
        return alive(place)

    maximum = run_async(look())
    while (now := run_async(look())) > 3 and time.monotonic() < last:
        maximum = max(maximum, now)
        time.sleep(KEPT / 2)
    assert maximum > 3, "they were never there"
    assert now <= 3


@pytest.mark.nightly
def test_server_survives_aborted_static_download(server):
    """A large file of the app, and the reader leaves after its first bytes."""
    address = f"{server.url}/app/static/plotly.min.js"
    for _ in range(5):
        answer = urllib.request.urlopen(address, timeout=LONG)
        assert len(answer.read(1000)) == 1000
        answer.close()  # a megabyte is left
    with urllib.request.urlopen(address, timeout=LONG) as full:
        assert len(full.read()) == int(full.headers["Content-Length"])
    assert "Traceback" not in server.log.read_text("utf-8")


LONG_RUN = {"ar.networks.preset": "own", "ar.networks.cell": "lstm", "ar.networks.layers": "3",
            "ar.networks.epochs": "1000", "ar.networks.hidden": "64"}  # fmt: skip


@pytest.mark.nightly
def test_server_cancels_jobs_of_closed_tabs(server):
    """Runs of tabs that were closed make room within seconds; who comes back keeps its own."""

    async def there(server, link) -> ProtocolClient:
        student = await ProtocolClient(server.url, "ar_fitting", {**LONG_RUN, **link}).__aenter__()
        await student.open()
        await student.scroll("networks")
        return student

    async def until(name: str, count: int) -> float:
        started = time.monotonic()
        while await asyncio.to_thread(server.counter, f"seqviz_jobs_{name}", device="cpu") != count:
            assert time.monotonic() < started + LONG, f"not {count} {name}"
            await asyncio.sleep(0.1)
        return time.monotonic() - started

    async def lesson() -> tuple[float, float]:
        tabs = [await there(server, {"ar.networks.seed": f"{seed}"}) for seed in range(40, 44)]
        for tab in tabs:
            await tab.press("ar.networks.start")
        await until("waiting", 3)
        again = await there(server, {"ar.networks.seed": "40"})  # the page of the run, loaded anew
        for tab in tabs:
            cut(tab)
        waited = await until("waiting", 0)
        await asyncio.sleep(1.0)
        await until("running", 1)
        cut(again)
        return waited, await until("running", 0)

    waited, ran = run_async(lesson())
    assert max(waited, ran) < 20  # two looks of five seconds, on a busy machine
    assert "Traceback" not in server.log.read_text("utf-8")


def test_model_fetch_stops_when_abandoned(cache, hub):
    """The visitor who asked for it has gone: the download stops and nothing of it is left."""
    hub.faults.block, hub.faults.pause = 500, 0.2  # it would take half a minute
    queue, next_queue = jobs.JobQueue(abandon_after=1.5), jobs.JobQueue()
    requested = {"model": "tiny", "text": None, "other": "", "device": "models"}
    job = queue.submit(ready.load_job, owner="gone", **requested)
    assert job.wait(LONG)
    assert job.state == "cancelled"
    assert hub.downloads() == 1
    left = [path.name for path in (cache / "models").iterdir()]
    assert all(re.fullmatch(r"\..*\.lock", name) for name in left), left
    hub.faults.block, hub.faults.pause = 1 << 20, 0.0
    again = next_queue.submit(ready.load_job, owner="next", **requested)  # this one stays
    assert again.wait(LONG)
    assert again.state == "done"
    assert store.verify("tiny")
    queue.close()
    next_queue.close()
