"""The app as it is served: what `app.py` hands to Streamlit besides its pages."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import logging
import os
import platform
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from importlib import metadata
from typing import TYPE_CHECKING, Any

import streamlit as st

from seqviz import jobs
from seqviz.core import gc_tuning, settings
from seqviz.core.errors import UserError
from seqviz.core.lazy_import import refusing
from seqviz.models import registry
from seqviz.ui import streamlit_patches
from seqviz.ui.app import collectors, maintenance, router
from seqviz.ui.page import lazy_loading
from seqviz.ui.prerender import shell
from seqviz.ui.quota import admission, websocket_rate
from seqviz.ui.runtime import clients, logs, metrics, run_context, startup
from seqviz.ui.server import (
    disconnects,
    hosts,
    index_page,
    loopback,
    policy,
    shutdown,
    static_files,
)
from seqviz.ui.streamlit_patches import origin_check

if TYPE_CHECKING:
    from starlette.middleware import Middleware
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute
    from starlette.types import ASGIApp, Receive, Scope, Send

    from seqviz.ui.runtime.workers import Workers

STREAM = "/_stcore/stream"  # the websocket of a page
CLOSING_SECONDS = 0.8
log = logging.getLogger(__name__)


def configure(script: str = "") -> None:
    """Before anything is served: settings are checked, log and Streamlit are set up.

    Ends the process with one sentence where a setting cannot be, or the path of the script that
    Streamlit runs for each visitor: it names sessions by it, in UTF-8.
    """
    try:
        settings.check()
        registry.check()
        _check_path(script)
    except ValueError as refusal:
        sys.exit(f"SeqViz does not start: {refusal}")
    logs.begin(settings.value("SEQVIZ_LOG_LEVEL"), settings.value("SEQVIZ_LOG_FORMAT"))
    settings.log_deprecated()
    startup.raise_fd_limit()
    startup.look_for_torch()
    collectors.install()
    streamlit_patches.install()
    # Streamlit takes a folder named `pages` for its old kind of navigation until this function has
    # been called: the first visitor who follows a link to a lesson would get the bare page.
    with contextlib.suppress(st.errors.StreamlitAPIException):
        st.navigation([])


def _check_path(script: str) -> None:
    """Raise ValueError for a path whose letters this locale does not have."""
    try:
        os.path.abspath(script).encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"its path {error.object!r} has letters beyond this locale; set PYTHONUTF8=1."
        ) from None


def routes() -> list[BaseRoute]:
    """What is served besides the pages."""
    from starlette.routing import Route

    metrics_too = [Route("/metrics", _metrics)] if settings.value("SEQVIZ_METRICS") else []
    return [Route("/robots.txt", _robots), *metrics_too]


def middleware() -> list[Middleware]:
    """What every request and answer passes through, first to last."""
    from starlette.middleware import Middleware

    return [
        Middleware(disconnects.DisconnectMiddleware),
        Middleware(hosts.AllowedHostMiddleware),
        Middleware(
            policy.SecurityHeadersMiddleware,
            frame_ancestors=settings.value("SEQVIZ_FRAME_ANCESTORS"),
        ),
        Middleware(MetricsAuthMiddleware),
        *([Middleware(clients.PeerCookieMiddleware)] if settings.value("SEQVIZ_REDIS_URL") else []),
        Middleware(router.LiveMiddleware),
        Middleware(clients.DeviceCookieMiddleware),
        Middleware(admission.AdmissionMiddleware),
        Middleware(static_files.StaticFilesMiddleware),
        Middleware(index_page.IndexPageMiddleware, first=partial(shell.page, undrawn=_undrawn)),
        Middleware(websocket_rate.WebSocketRateMiddleware),
        Middleware(ConnectionCountMiddleware),
    ]


@asynccontextmanager
async def lifespan(_app: Any) -> AsyncIterator[None]:
    """From before the first visitor to after the last."""
    started = time.perf_counter()
    logs.adopt_all()
    startup.configure_process()
    lazy_loading.LAZY.on = True
    _workers()
    _engine("begin")
    _replicas("begin")
    requested = settings.value("SEQVIZ_PRELOAD")
    loaded = await asyncio.to_thread(_preload, requested) if requested else []
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
    origin_check.welcome()
    hashing = asyncio.create_task(asyncio.to_thread(shell.version))  # the first page asks
    beside = [asyncio.create_task(maintenance.run_maintenance()), hashing]
    if not requested:
        loading = startup.preload_in_background(lambda: collectors.connections.open > 0)
        beside.append(asyncio.create_task(loading))
    try:
        with shutdown.announced():
            yield
    finally:
        for task in beside:
            task.cancel()
        await asyncio.to_thread(_close)
        run_context.flush_closed(everyone=True)
        log.info("stop")


def on_script_error(error: Exception) -> bool:
    """Streamlit has logged what a page raised, and shows its own sentence."""
    return False


class MetricsAuthMiddleware:
    """Middleware that shows figures of the process, ours and Streamlit's, to who may see them."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, or answer 403."""
        from starlette.requests import Request
        from starlette.responses import Response

        request = scope["type"] == "http" and scope["path"].endswith("/metrics")
        passed = not request or _may_watch(Request(scope))
        await (self.app if passed else Response(status_code=403))(scope, receive, send)


class ConnectionCountMiddleware:
    """Middleware that counts the pages that are connected."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on; a page is connected as long as its websocket is."""
        if scope["type"] != "websocket" or not scope["path"].endswith(STREAM):
            await self.app(scope, receive, send)
            return
        collectors.connections.open += 1
        try:
            await self.app(scope, receive, send)
        finally:
            collectors.connections.open -= 1


def _preload(names: tuple[str, ...]) -> list[str]:
    """The named models in memory, with the libraries that lessons need and what they have read.

    One that is not here is logged and left out: the lesson offers to fetch it.
    """
    from seqviz.experiments.bert_accuracy import features
    from seqviz.models import pretrained
    from seqviz.ui.prerender import figure

    startup.load_libraries()
    loaded = []
    for name in names:
        try:
            refusing(pretrained.load)(name)
            features.recall(name)
        except UserError:
            log.exception("a model could not be preloaded", extra={"model": name})
        else:
            loaded.append(name)
    figure.draw_all()
    gc_tuning.collect_and_freeze()
    return loaded


def _undrawn(slug: str, lang: str) -> shell.PrerenderedFigure:
    from seqviz.ui.prerender import figure  # with the lesson, for which nothing else here waits

    return figure.undrawn(slug, lang)


def _workers() -> Workers | None:
    """Those that answer moving hands, if any are wanted: what they need is not loaded else."""
    if not settings.value("SEQVIZ_WORKERS"):
        return None
    from seqviz.ui.live import handler

    return handler.workers()


def _engine(does: str) -> None:
    """Begin or end to ask a cluster, where that is wished for: its client is not loaded else."""
    if settings.value("SEQVIZ_ENGINE") == "ray":
        from seqviz.integrations.ray import client

        getattr(client, does)()


def _replicas(does: str) -> None:
    """Begin or end to share with other replicas of the app, where there are any."""
    if settings.value("SEQVIZ_REDIS_URL"):
        from seqviz.ui.quota import redis_sync

        getattr(redis_sync, does)()


def _close() -> None:
    """No job goes on: each is told to stop, and waited for a few seconds in all."""
    if workers := _workers():
        workers.close()
    deadline = time.monotonic() + CLOSING_SECONDS
    for queue in jobs.all_queues().values():
        queue.close(timeout=max(0.1, deadline - time.monotonic()))
    _engine("end")
    _replicas("end")


async def _robots(_request: Request) -> Response:
    """All pages may be found; what is asked for while a hand moves is none."""
    from starlette.responses import PlainTextResponse

    return PlainTextResponse(f"User-agent: *\nDisallow: {static_files.base()}/live/\n")


async def _metrics(_request: Request) -> Response:
    from starlette.responses import Response

    return Response(await asyncio.to_thread(metrics.text), media_type=metrics.TYPE)


def _may_watch(request: Request) -> bool:
    """Whoever has the token; where none is set, this machine, but not what it passes on."""
    token = settings.value("SEQVIZ_METRICS_TOKEN")
    if token:
        given = request.headers.get("authorization", "").removeprefix("Bearer ")
        return hmac.compare_digest(given.encode(), token.encode())
    return request.client is not None and loopback.is_local_request(
        request.client.host, request.headers
    )


def _version() -> str:
    try:
        return metadata.version("seqviz")
    except metadata.PackageNotFoundError:  # run from its folder
        return "unpackaged"
