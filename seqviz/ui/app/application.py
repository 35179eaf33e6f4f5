"""ASGI application: configuration, routes, middleware and lifespan of `st.App`."""

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
from seqviz.content import search_index
from seqviz.core import gc_tuning, settings
from seqviz.core.errors import UserError
from seqviz.core.i18n import LANGUAGES
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

STREAM = "/_stcore/stream"  # websocket of a page
CLOSING_SECONDS = 0.8
log = logging.getLogger(__name__)


def configure(script: str = "") -> None:
    """Check settings, set up logging, and patch Streamlit, before anything is served.

    Exits with one sentence for an invalid setting, or a script path that is not encodable in UTF-8,
    with which Streamlit names sessions.
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
    # Until this call Streamlit treats a folder named `pages` as its old navigation: the first
    # visitor with a link to a lesson would get the bare page.
    with contextlib.suppress(st.errors.StreamlitAPIException):
        st.navigation([])


def _check_path(script: str) -> None:
    """Raise ValueError for a path with characters outside the locale's encoding."""
    try:
        os.path.abspath(script).encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"its path {error.object!r} has letters beyond this locale; set PYTHONUTF8=1."
        ) from None


def routes() -> list[BaseRoute]:
    """Return the routes besides the pages."""
    from starlette.routing import Route

    metrics_too = [Route("/metrics", _metrics)] if settings.value("SEQVIZ_METRICS") else []
    return [Route("/robots.txt", _robots), *metrics_too]


def middleware() -> list[Middleware]:
    """Return the ASGI middleware, outermost first."""
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
    """Start background work, yield while the app serves, and shut down."""
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
    hashing = asyncio.create_task(asyncio.to_thread(shell.version))  # needed by the first page
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
    """Return False: Streamlit has logged the error and shows its own message."""
    return False


class MetricsAuthMiddleware:
    """ASGI middleware that protects the metrics of the app and of Streamlit."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or respond 403."""
        from starlette.requests import Request
        from starlette.responses import Response

        request = scope["type"] == "http" and scope["path"].endswith("/metrics")
        passed = not request or _may_watch(Request(scope))
        await (self.app if passed else Response(status_code=403))(scope, receive, send)


class ConnectionCountMiddleware:
    """ASGI middleware that counts connected pages."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; count a page's websocket while it is open."""
        if scope["type"] != "websocket" or not scope["path"].endswith(STREAM):
            await self.app(scope, receive, send)
            return
        collectors.connections.open += 1
        try:
            await self.app(scope, receive, send)
        finally:
            collectors.connections.open -= 1


def _preload(names: tuple[str, ...]) -> list[str]:
    """Load models, the libraries of the lessons, and cached features; return the loaded models.

    A model that is not on this machine is logged and left out: the lesson offers to download it.
    """
    from seqviz.experiments.bert_accuracy import features
    from seqviz.models import accelerator_start, pretrained
    from seqviz.ui.prerender import figure

    startup.load_libraries()
    for lang in LANGUAGES:
        search_index.rows(lang)
    loaded = []
    for name in names:
        try:
            refusing(pretrained.load)(name)
            features.recall(name)
        except UserError:
            log.exception("start: a model could not be preloaded", extra={"model": name})
        else:
            loaded.append(name)
    accelerator_start.prepare(loaded)
    figure.draw_all()
    gc_tuning.collect_and_freeze()
    return loaded


def _undrawn(slug: str, lang: str) -> shell.PrerenderedFigure:
    from seqviz.ui.prerender import figure  # imports the lesson, which is slow

    return figure.undrawn(slug, lang)


def _workers() -> Workers | None:
    """Return the workers, if configured; their module is not imported otherwise."""
    if not settings.value("SEQVIZ_WORKERS"):
        return None
    from seqviz.ui.live import handler

    return handler.workers()


def _engine(does: str) -> None:
    """Begin or end the use of a Ray cluster, if configured; else its client is not imported."""
    if settings.value("SEQVIZ_ENGINE") == "ray":
        from seqviz.integrations.ray import client

        getattr(client, does)()


def _replicas(does: str) -> None:
    """Begin or end the synchronization with replicas, if configured."""
    if settings.value("SEQVIZ_REDIS_URL"):
        from seqviz.ui.quota import redis_sync

        getattr(redis_sync, does)()


def _close() -> None:
    """Stop workers and jobs, waiting for CLOSING_SECONDS in all, and disconnect."""
    if workers := _workers():
        workers.close()
    deadline = time.monotonic() + CLOSING_SECONDS
    for queue in jobs.all_queues().values():
        queue.close(timeout=max(0.1, deadline - time.monotonic()))
    _engine("end")
    _replicas("end")


async def _robots(_request: Request) -> Response:
    """Allow crawlers all pages except live responses."""
    from starlette.responses import PlainTextResponse

    return PlainTextResponse(f"User-agent: *\nDisallow: {static_files.base()}/live/\n")


async def _metrics(_request: Request) -> Response:
    from starlette.responses import Response

    return Response(await asyncio.to_thread(metrics.text), media_type=metrics.TYPE)


def _may_watch(request: Request) -> bool:
    """Return True with the token; if none is set, for local requests without a proxy."""
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
    except metadata.PackageNotFoundError:  # run from the source folder
        return "unpackaged"
