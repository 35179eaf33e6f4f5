"""HTTP routes of embedded benches: pages, updates and print pages.

GET returns the page at the settings of its URL, the same for equal requests. POST, with the
settings in the body (a reader's texts are in no URL and no log), returns the new output and the
session token for live requests (`ui.live.handler`). A page is scheduled as PAGE, an update as
INTERACTION. No cookie is set and no seat occupied; `ui.embed.sessions` limits the number of
sessions.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from seqviz.core import content_hash, settings
from seqviz.lessons.framework.lesson import Bench
from seqviz.ui.embed import page, print_page
from seqviz.ui.embed.payload import EmbedPayload, apply_click, live_source, run_embed
from seqviz.ui.embed.request import ANSWERED, EmbedRequest, bench_of, parse_request
from seqviz.ui.embed.sessions import Embedded, embeds
from seqviz.ui.live import handler
from seqviz.ui.runtime import metrics, result_cache
from seqviz.ui.runtime.clients import ClientQuota, by_scope, client_registry
from seqviz.ui.runtime.run_context import Session
from seqviz.ui.runtime.scheduler import Priority
from seqviz.ui.server import page_head

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

LARGEST = 250_000  # bytes of a body: all texts of a bench, of which some take 10,000 characters
BODY_SECONDS = 10.0
WAITING = 64  # pages that one student may wait for at once
LOOKS = ("lang", "present", "theme", ANSWERED)
PAGE = "text/html; charset=utf-8"
log = logging.getLogger(__name__)
R = TypeVar("R")
Written = Callable[[EmbedRequest, EmbedPayload], str]
_waiting: Counter[ClientQuota] = Counter()
_drawing: dict[bytes, asyncio.Task[CompressedPage]] = {}


@dataclass(frozen=True)
class CachedPage:
    """A compressed page in the shared cache."""

    body: bytes


class CompressedPage(NamedTuple):
    """A compressed page.

    Attributes:
        body: gzip bytes.
        is_for_all: equal requests may get it.
    """

    body: bytes
    is_for_all: bool


class _UncacheableError(Exception):
    """A page that must not enter the shared cache."""

    def __init__(self, body: bytes):
        super().__init__()
        self.body = body


async def get_page(request: Request) -> Response:
    """Respond with the page of a bench."""
    return await _opened(request, page.page)


async def print_view(request: Request) -> Response:
    """Respond with the print page of a bench."""
    origin = page_head.origin(request.scope)
    color = request.query_params.get("color") == "true"
    return await _opened(request, partial(print_page.page, origin, color), origin, color)


async def _opened(request: Request, written: Written, *kind: Any) -> Response:
    """Respond with a page.

    Args:
        request: for a bench.
        written: returns the document from request and payload.
        *kind: what else the document depends on, for the cache key.
    """
    from starlette.responses import Response

    lang = _language(request)
    bench = await asyncio.to_thread(_bench, request)
    if bench is None:
        body = page.none(lang, "embed.none")
        return Response(body, 404, media_type=PAGE)
    query = _known(bench, request.query_params)
    account = client_registry().get(*by_scope(request.scope))
    key = content_hash.hash_value(("embed", bench.prefix, sorted(query.items()), lang, kind))
    cached_page: CachedPage | None = result_cache.result_cache().peek(key)
    result = None if cached_page is None else cached_page.body
    while result is None:
        drawing, is_mine = _drawing.get(key), False
        if drawing is None:
            if _waiting[account] >= WAITING * account.students:
                body = page.waits(lang)
                return Response(body, 429, {"retry-after": "5"}, PAGE)
            work = partial(_page, written, key, bench, query, lang, account)
            drawing, is_mine = _begin(key, account, work), True
        try:
            rendered = await _while_there(request, bench, asyncio.shield(drawing))
        except Exception:
            if is_mine:
                log.exception("embed: a page failed")
            return Response(page.none(lang, "frame.failed"), 500, media_type=PAGE)
        if rendered is None:
            return Response(status_code=408)
        if rendered.is_for_all or is_mine:
            result = rendered.body
    return _zipped(request, result, PAGE)


def _begin(
    key: bytes, account: ClientQuota, work: Callable[[], CompressedPage]
) -> asyncio.Task[CompressedPage]:
    """Render a page when the account gets a slot; equal requests share the task."""
    drawing = asyncio.ensure_future(handler.run_scheduled(Priority.PAGE, account, work))
    _drawing[key] = drawing
    _waiting[account] += 1

    def end(_: object) -> None:
        del _drawing[key]
        _waiting[account] -= 1
        if not _waiting[account]:
            del _waiting[account]

    drawing.add_done_callback(end)
    return drawing


async def post_update(request: Request) -> Response:
    """Respond with the output after a change of settings, and the session's token."""
    from starlette.responses import Response

    bench = await asyncio.to_thread(_bench, request)
    if bench is None:
        return Response(status_code=404)
    # Another site's page cannot send this content type without a CORS preflight.
    if request.headers.get("content-type", "") != "application/json":
        return Response(status_code=415)
    message = await _body(request)
    if message is None:
        return Response(status_code=400)
    account = client_registry().get(*by_scope(request.scope))
    session = embeds().of(request.headers.get(handler.H_SESSION, ""), account)
    if session.n_pending >= handler.MAX_REQUESTS_PER_SESSION:
        return Response(status_code=429)
    session.n_pending += 1
    try:
        work = handler.run_scheduled(
            Priority.INTERACTION,
            session.account,
            _told,
            bench,
            message,
            _language(request, message),
            session,
        )
        result = await _while_there(request, bench, work)
    except Exception:
        log.exception("embed: an update failed")
        return Response(status_code=500)
    finally:
        session.n_pending -= 1
    if result is None:
        return Response(status_code=408)
    return _zipped(request, result, "application/json", store=False)


def _bench(request: Request) -> Bench | None:
    return bench_of(request.path_params["slug"], request.path_params["bench"])


def _language(request: Request, message: Mapping[str, Any] | None = None) -> str:
    query = _texts(message.get("query")) if message else request.query_params
    return settings.language(query.get("lang"), request.headers.get("accept-language", ""))


def _known(bench: Bench, query: Mapping[str, str]) -> dict[str, str]:
    """Return the query parameters that this bench uses."""
    starts = tuple(f"{bench.lesson.prefix(name)}." for name in (*bench.after, bench.name))
    return {key: text for key, text in query.items() if key in LOOKS or key.startswith(starts)}


def _page(
    written: Written,
    key: bytes,
    bench: Bench,
    query: Mapping[str, str],
    lang: str,
    account: ClientQuota,
) -> CompressedPage:
    """Return a page, rendered in a thread with a slot."""

    def build() -> CachedPage:
        embed_request = parse_request(bench, query, {}, lang)
        embed_payload = run_embed(
            embed_request, Session("embed", 0.0, account=account), Priority.PAGE
        )
        body = gzip.compress(written(embed_request, embed_payload).encode(), 6, mtime=0)
        if not embed_payload.is_cacheable:
            raise _UncacheableError(body)
        return CachedPage(body)

    try:
        return CompressedPage(
            result_cache.result_cache().get_or_compute(key, build).result.body, is_for_all=True
        )
    except _UncacheableError as only:
        return CompressedPage(only.body, is_for_all=False)


def _told(bench: Bench, message: Mapping[str, Any], lang: str, session: Embedded) -> bytes:
    """Return an update, rendered in a thread with a slot."""
    query, typed = _known(bench, _texts(message.get("query"))), _texts(message.get("texts"))
    embed_request: EmbedRequest = parse_request(
        bench, query, _known(bench, typed), lang, message.get("dark") is True
    )
    if message.get("begin") is True:
        return gzip.compress(live_source(embed_request, session).encode(), 1, mtime=0)
    if isinstance(position := message.get("pick"), dict):
        embed_request = apply_click(embed_request, session, position.get("x"), position.get("y"))
    return gzip.compress(run_embed(embed_request, session).json(session.token).encode(), 1, mtime=0)


async def _body(request: Request) -> dict[str, Any] | None:
    """Return the body as a JSON object; None if it is too large, slow or invalid."""
    full = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                full += part
                if len(full) > LARGEST:
                    return None
        message = json.loads(full)
    except (ValueError, RecursionError, TimeoutError):
        return None
    return message if isinstance(message, dict) else None


def _texts(message: object) -> dict[str, str]:
    """Return the text values of a browser's object; lone surrogates are replaced."""
    if not isinstance(message, dict):
        return {}
    return {
        key: text.encode("utf-8", "replace").decode()
        for key, text in message.items()
        if isinstance(text, str)
    }


async def _while_there(request: Request, bench: Bench, work: Awaitable[R]) -> R | None:
    """Return the result of the work; None where the client has disconnected."""
    started = time.perf_counter()
    gone: asyncio.Future[Any] = asyncio.ensure_future(handler.wait_for_disconnect(request))
    try:
        result: R | None = await handler.race_disconnect(gone, work)
        return result
    finally:
        gone.cancel()
        metrics.observe_run(bench.lesson.slug, "embed", time.perf_counter() - started)


def _zipped(request: Request, body: bytes, kind: str, store: bool = True) -> Response:
    """Return a response from gzip bytes, decompressed if the client requires it.

    Args:
        request: of the client.
        body: gzip bytes.
        kind: media type.
        store: the browser may cache it and must revalidate.
    """
    from starlette.responses import Response

    headers = {"cache-control": "no-cache" if store else "no-store", "vary": "Accept-Encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["content-encoding"] = "gzip"
    else:
        body = gzip.decompress(body)
    return Response(body, 200, headers, kind)
