"""Served as in an image: a model before the first student; what a class held is free again."""

from __future__ import annotations

import asyncio
import time

import pytest

from seqviz.models.registry import model
from seqviz.ui.app import maintenance
from testing.protocol import ProtocolClient, run_async
from testing.server import Server, serve

STUDENTS = 20
KEPT = 1  # second for which a session waits for its student to come back
GROWTH_MB = 6.0  # from the second class to the fourth: measured 11 where sessions stay, else 1 to 3


@pytest.fixture(scope="module")
def server(minilm_on_disk):
    environment = {"HF_HUB_OFFLINE": "1", "SEQVIZ_PRELOAD": "minilm"}
    options = {"server.disconnectedSessionTTL": str(KEPT)}
    with serve(environment=environment, options=options) as running:
        yield running


def test_preload_loads_model_before_first_session(server):
    assert server.counter("seqviz_sessions_total") == 0
    assert server.counter("seqviz_models_loaded") == 1
    bytes_ = 4 * model("minilm").parameters
    assert server.counter("seqviz_model_bytes", model="minilm") == bytes_ > 80e6
    assert "preloaded=minilm" in server.log.read_text("utf-8")


def test_preload_spares_first_student_model_loading(server):
    async def first() -> ProtocolClient:
        async with ProtocolClient(server.url, "attention") as student:
            await student.open()
            await student.scroll("real")
        return student

    student = run_async(first())
    assert student.errors == []
    assert "at.real.chart" in student.widgets
    assert student.polls == {}  # no progress of a download, of loading or of reading
    assert not {"at.real.stop", "at.real.again"} & student.widgets.keys()
    assert server.counter("seqviz_jobs_total", device="models") == 0


def test_page_opens_with_one_bench_and_adds_one_per_scroll(server):
    async def read() -> list[set[str]]:
        charts = []
        async with ProtocolClient(server.url, "gates") as student:
            await student.open()
            charts.append({key for key in student.widgets if key.endswith(".chart")})
            while await student.scroll():
                charts.append({key for key in student.widgets if key.endswith(".chart")})
            assert student.errors == []
        return charts

    # Among them is "learn", with the result that came with the app.
    names = ("one", "watch", "meaning", "force", "learn", "agreement", "conventions", "size")
    charts = [f"ga.{name}.chart" for name in names]
    assert run_async(read()) == [set(charts[: k + 1]) for k in range(len(charts))]


@pytest.mark.nightly
def test_dependent_bench_redraws_only_when_visible(server):
    """What `benchmarks.classroom` counts as load is what a browser would ask for."""

    async def press() -> tuple[list[str], float, float]:
        pictures = []
        async with ProtocolClient(server.url, "vanishing_gradients") as student:
            await student.open()
            await student.scroll("pairs")
            pictures.append(student.widgets["vg.pairs.chart"].message.bytes)
            waits = []
            for gain, sees in ((0.71, False), (0.72, True)):
                await student.move("vg.reach.gain", gain)
                waits.append(await student.rest(sees))
                pictures.append(student.widgets["vg.pairs.chart"].message.bytes)
            assert student.errors == []
        return pictures, *waits

    (before, unseen, observed), no_wait, wait = run_async(press())
    assert unseen == before
    assert no_wait == 0.0
    assert observed != before
    assert wait > 0.0


async def class_(url: str, size: int = STUDENTS) -> None:
    students = [ProtocolClient(url, "gates") for _ in range(size)]
    for student in students:
        await student.__aenter__()
        await student.open()
        while await student.scroll():
            pass
        assert student.errors == []
    await asyncio.gather(*(student.__aexit__() for student in students))


def all_forgotten(server: Server, view: int = 4) -> bool:
    """Whether soon all have gone."""
    end = time.monotonic() + KEPT + view * maintenance.LOOKING_SECONDS
    while time.monotonic() < end:
        opened = server.counter("seqviz_sessions_total")
        if server.counter("seqviz_sessions_closed_total") == opened:
            return True
        time.sleep(0.2)
    return False


def test_sessions_are_released_before_garbage_collection(server):
    run_async(class_(server.url, 2))
    assert all_forgotten(server, view=2)


@pytest.mark.nightly
def test_sessions_are_released_under_load_without_full_gc(server):
    """Without a collection of everything, which would stop a hundred for up to a second."""

    def here() -> float:
        opened = server.counter("seqviz_sessions_total")
        return opened - server.counter("seqviz_sessions_closed_total")

    async def work() -> tuple[float, float]:
        async with ProtocolClient(server.url, "gates") as student:
            await student.open()
            collections = server.counter("seqviz_gc_pauses_total", generation="2")
            await class_(server.url)
            end = time.monotonic() + KEPT + 3 * maintenance.LOOKING_SECONDS
            while here() > 1 and time.monotonic() < end:
                await asyncio.sleep(0.2)
            await student.scroll("force")
            await student.move("ga.force.f", 0.31)
            assert student.errors == []
            after = server.counter("seqviz_gc_pauses_total", generation="2")
            return here(), after - collections

    assert run_async(work()) == (1.0, 0.0)


def settled(server: Server, before: float) -> bool:
    """Whether soon the garbage of an empty server has been collected."""
    end = time.monotonic() + 4 * maintenance.EMPTY_SECONDS
    while time.monotonic() < end:
        if server.counter("seqviz_gc_pauses_total", generation="2") > before:
            return True
        time.sleep(0.2)
    return False


@pytest.mark.nightly
def test_sessions_return_memory_after_repeated_classes(server):
    megabytes = []
    for _ in range(2):
        for _ in range(2):
            run_async(class_(server.url))
        before = server.counter("seqviz_gc_pauses_total", generation="2")
        assert all_forgotten(server)
        assert settled(server, before)  # presses leave garbage in cycles
        megabytes.append(server.megabytes())
    assert server.counter("seqviz_sessions_total") >= 5 * STUDENTS
    second, fourth = megabytes
    assert fourth - second < GROWTH_MB, megabytes
