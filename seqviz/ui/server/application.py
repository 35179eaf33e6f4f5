"""The app as it is served: what `app.py` hands to Streamlit besides its pages."""

from __future__ import annotations

import asyncio
import logging
import platform
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib import metadata
from typing import TYPE_CHECKING, Any

from seqviz import garbage, jobs, settings
from seqviz.models import registry
from seqviz.refusal import Refusal
from seqviz.ui.bench import lazy
from seqviz.ui.server import files, gauges, logs, metrics, origins, policy, run_context
from seqviz.ui.shared import startup
from seqviz.ui.streamlit_internals import component_state, config_cache, widget_lookup

if TYPE_CHECKING:
    from starlette.middleware import Middleware
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute
    from starlette.types import ASGIApp, Receive, Scope, Send

STREAM = "/_stcore/stream"  # the websocket of a page
CLOSING_SECONDS = 5.0
FORGETTING_SECONDS = 5.0
BREATH_SECONDS = 0.02  # for others, between two sessions that are let go
YOUNG_SECONDS = 30.0  # between two collections of what has just come, while somebody is here
RECENT_SECONDS = 120.0  # between two of all that has come since the last one
FREEZING_SECONDS = 1_800.0  # between two that look at everything, which stop a class for up to 2 s
EMPTY_SECONDS = 8.0  # without anybody, before everything is frozen anew, which takes up to 2 s
log = logging.getLogger(__name__)


def begin() -> None:
    """Before anything is served: settings are checked, the log is set up.

    Ends the process with one sentence where a setting cannot be.
    """
    try:
        settings.check()
        registry.check()
    except ValueError as refusal:
        sys.exit(f"SeqViz does not start: {refusal}")
    logs.begin(settings.value("SEQVIZ_LOG_LEVEL"), settings.value("SEQVIZ_LOG_FORMAT"))
    gauges.install()


def routes() -> list[BaseRoute]:
    """What is served besides the pages."""
    from starlette.routing import Route

    return [Route("/metrics", _metrics)] if settings.value("SEQVIZ_METRICS") else []


def middleware() -> list[Middleware]:
    """What every request and answer passes through, first to last."""
    from starlette.middleware import Middleware

    return [
        Middleware(policy.Headers, frame_ancestors=settings.value("SEQVIZ_FRAME_ANCESTORS")),
        Middleware(Counting),
    ]


@asynccontextmanager
async def lifespan(_app: Any) -> AsyncIterator[None]:
    """From before the first visitor to after the last."""
    started = time.perf_counter()
    startup.prepare()
    config_cache.install()
    origins.install()
    files.install()
    widget_lookup.install()
    component_state.install()
    lazy.LAZY.on = True
    wanted = settings.value("SEQVIZ_PRELOAD")
    loaded = await asyncio.to_thread(_preload, wanted) if wanted else []
    log.info(
        "start",
        extra={
            "version": _version(),
            "python": platform.python_version(),
            "device": settings.value("SEQVIZ_DEVICE"),
            "preloaded": ",".join(loaded) or "none",
            "preload_seconds": round(time.perf_counter() - started, 1),
        },
    )
    origins.welcome()
    tidying = asyncio.create_task(_forget())
    try:
        yield
    finally:
        tidying.cancel()
        await asyncio.to_thread(_close)
        run_context.forgotten(everyone=True)
        log.info("stop")


def on_script_error(error: Exception) -> bool:
    """Streamlit has logged what a page raised, and shows its own sentence."""
    return False


class Counting:
    """Middleware that counts the pages that are connected."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on; a page is connected as long as its websocket is."""
        if scope["type"] != "websocket" or not scope["path"].endswith(STREAM):
            await self.app(scope, receive, send)
            return
        gauges.connections.open += 1
        try:
            await self.app(scope, receive, send)
        finally:
            gauges.connections.open -= 1


def _preload(names: tuple[str, ...]) -> list[str]:
    """The named models in memory, with the libraries that lessons need and what they have read.

    One that is not here is logged and left out: the lesson offers to fetch it.
    """
    from seqviz.experiments.accuracy import features
    from seqviz.models import pretrained

    startup.load_libraries()
    loaded = []
    for name in names:
        try:
            pretrained.load(name)
            features.recall(name)
        except Refusal:
            log.exception("a model could not be preloaded", extra={"model": name})
        else:
            loaded.append(name)
    garbage.freeze()
    return loaded


async def _forget() -> None:
    """Let go of the sessions whose time is over, while nobody else comes or goes.

    Streamlit looks for them only when another session ends: after a class the last hundred would
    stay in memory until the next one. Presses leave garbage as well (Streamlit makes classes for
    each component of a page), without a collection a sixth of the memory in ten minutes with fifty
    students. The longer it gathers the longer everything stops for it, so it is collected often.
    """
    from seqviz.ui.streamlit_internals import session_release

    remembered = session_release.remember()
    occupied = time.monotonic()
    plan = [  # the longest first: it does what the others would
        _Chore(garbage.freeze, FREEZING_SECONDS),
        _Chore(garbage.collect_recent, RECENT_SECONDS),
        _Chore(garbage.collect_young, YOUNG_SECONDS),
    ]
    tidy = True
    while True:
        await asyncio.sleep(FORGETTING_SECONDS)
        remembered.expire()
        while remembered.let_go():  # perhaps one that came and left while this slept
            occupied, tidy = time.monotonic(), False
            await asyncio.sleep(BREATH_SECONDS)
        run_context.forgotten()
        if gauges.connections.open or remembered:
            occupied, tidy = time.monotonic(), False
            due = next((chore for chore in plan if occupied > chore.last + chore.every), None)
        elif not tidy and time.monotonic() > occupied + EMPTY_SECONDS:
            due, tidy = plan[0], True
        else:
            due = None
        if due is not None:
            await asyncio.to_thread(due.work)
            for chore in plan[plan.index(due) :]:
                chore.last = time.monotonic()


@dataclass
class _Chore:
    """work: done every so many seconds. last: when it was done, or one that does more."""

    work: Callable[[], None]
    every: float
    last: float = field(default_factory=time.monotonic)


def _close() -> None:
    """No job goes on: each is told to stop, and waited for a few seconds in all."""
    deadline = time.monotonic() + CLOSING_SECONDS
    for queue in jobs.queues().values():
        queue.close(timeout=max(0.1, deadline - time.monotonic()))


async def _metrics(_request: Request) -> Response:
    from starlette.responses import Response

    return Response(await asyncio.to_thread(metrics.text), media_type=metrics.TYPE)


def _version() -> str:
    try:
        return metadata.version("seqviz")
    except metadata.PackageNotFoundError:  # run from its folder
        return "unpackaged"
