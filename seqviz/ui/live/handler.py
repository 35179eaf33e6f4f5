"""Serve a bench for given control values without a Streamlit rerun (the "fast path").

The page gives the browser a URL (`live_descriptor`). While a slider is dragged, `bench/live.js`
requests it (`endpoint`) and patches figure, metrics and text in place; on release the page reruns
once with the final value. Responses are cached process-wide, scheduled as INTERACTION or DRAG, and
their CPU time is charged to the client's quota. A request starts no job, download or model load:
the response is empty where the bench would have to wait, and the page says why.

The URL carries what a permalink does, but no user text: the page's texts are stored in the session,
which the browser names by a token, and a text that is being typed travels in a header
(`H_LIVE_TEXT`). While nothing is dragged, the browser prefetches neighboring values; a busy server
rejects these requests. For a bench with a `ClientRenderer` the route serves its payloads, once per
drag. A large array that the browser already has is not sent again: the request lists known arrays,
and their names replace them in the response.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Set
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote

from seqviz import lessons
from seqviz.content import catalog
from seqviz.core import content_hash, settings
from seqviz.core.i18n import Text
from seqviz.core.languages import DEFAULT, matching
from seqviz.lessons.framework import controls
from seqviz.lessons.framework.host import PendingError
from seqviz.lessons.framework.lesson import Bench
from seqviz.lessons.framework.output_html import note_html
from seqviz.plotting.style import Style
from seqviz.ui.live.live_host import LiveHost
from seqviz.ui.live.worker_host import (
    NeedsMainProcessError,
    RenderRequest,
    RenderResponse,
    WorkerHost,
)
from seqviz.ui.quota import charging
from seqviz.ui.render.encoding import GZIP, compress
from seqviz.ui.render.html import LiveResponse, serialize, style
from seqviz.ui.runtime import metrics, result_cache, run_context, startup
from seqviz.ui.runtime.clients import ClientQuota
from seqviz.ui.runtime.run_context import Session
from seqviz.ui.runtime.scheduler import MAX_CONCURRENT, Priority, draw_queue, holding
from seqviz.ui.runtime.workers import WorkerDiedError, Workers
from seqviz.ui.server.static_files import base

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

H_SESSION = "x-seqviz-session"
H_KNOWN_ARRAYS = "x-seqviz-known-arrays"
H_PREFETCH = "x-seqviz-prefetch"  # the value is not on screen yet
H_LIVE_TEXT = "x-seqviz-live-text"  # live texts as JSON, by control name
H_PAYLOAD = "x-seqviz-payload"  # name of a payload of a client renderer
H_DRAGGING = "x-seqviz-dragging"  # the drag has not paused at this value
VIEW_PARAMS = ("lang", "present", "dark", "own")  # names in the query that are no parameters
MAX_REQUESTS_PER_SESSION = 4  # a browser has one for each bench that a drag affects
MAX_REMEMBERED_ADDRESSES = 1000  # queries known to need the main process
log = logging.getLogger(__name__)
R = TypeVar("R")


def live_descriptor(
    bench: Bench, params: Mapping[str, Any], lang: str, presenting: bool, dark: bool
) -> dict[str, Any] | None:
    """Return the descriptor of live requests for a bench; None if no control is live.

    Args:
        bench: to be requested.
        params: by bench prefix, the parameters of the bench and of those that it depends on.
        lang: language code.
        presenting: presenter mode.
        dark: dark theme.
    """
    start = f"{bench.prefix}."
    typed = _live_texts(bench)
    moved = {
        key: controls.encoded(getattr(params[bench.prefix], key.removeprefix(start)))
        for key in (*_dragged_keys(bench), *typed)
    }
    if not moved:
        return None
    query: dict[str, str] = {"lang": lang}
    session = run_context.session()
    own: dict[str, str] = {}
    for prefix, values in params.items():
        texts = _text_names(type(values))
        session.texts[prefix] = {name: getattr(values, name) for name in texts}
        link = controls.permalink(prefix, values, lang)
        own |= {key: link.pop(key) for key in (f"{prefix}.{name}" for name in texts) if key in link}
        query |= link
    if own:  # the URL changes with the text but does not reveal it
        query["own"] = content_hash.hash_value((session.token, sorted(own.items()))).hex()[:8]
    query |= {"present": "true"} if presenting else {}
    query |= {"dark": "true"} if dark else {}
    return {
        "bench": bench.prefix,
        "address": f"{base()}/live/{bench.lesson.slug}/{bench.name}",
        "query": query,
        "values": moved,
        "typed": list(typed),
        "limits": _text_limits(bench),
        "token": session.token,
        **({"client_renderer": _client_renderer(bench)} if bench.answers else {}),
    }


def _text_limits(bench: Bench) -> dict[str, int]:
    """Return the longest text of each field of a bench."""
    fields = controls.controls(bench.declaration)
    limits = {name: part.limit for name, part in fields if isinstance(part, controls.TextInput)}
    return {f"{bench.prefix}.{name}": limit for name, limit in limits.items()}


def _client_renderer(bench: Bench) -> dict[str, Any]:
    """Return the script of the client renderer and the query names that it depends on."""
    assert bench.answers is not None
    needs = [f"{bench.prefix}.{name}" for name in bench.answers.needs]
    return {"script": bench.answers.script, "dependencies": ["lang", "present", "own", *needs]}


@cache
def _dragged_keys(bench: Bench) -> tuple[str, ...]:
    """Return the query names of the draggable controls."""
    return tuple(
        f"{bench.prefix}.{name}"
        for name, control in controls.controls(bench.declaration)
        if isinstance(control, controls.DRAGGABLE) and not control.client
    )


@cache
def _live_texts(bench: Bench) -> dict[str, controls.TextInput]:
    """Return the text controls whose figure updates while the user types, by query name."""
    return {
        f"{bench.prefix}.{name}": control
        for name, control in controls.controls(bench.declaration)
        if isinstance(control, controls.TextInput) and control.typed
    }


def typed_texts(bench: Bench, payload: str) -> dict[str, str]:
    """Return the validated live texts of a request header, by query name.

    The header may contain anything. Raises ValueError for anything but texts of live text controls.
    A lone surrogate, which JSON can express, becomes the replacement character.
    """
    texts = json.loads(unquote(payload)) if payload else {}
    existing = _live_texts(bench)
    if not isinstance(texts, dict) or not texts.keys() <= existing.keys():
        raise ValueError(payload)
    if not all(isinstance(text, str) for text in texts.values()):
        raise ValueError(payload)
    full = {key: text.encode("utf-16", "surrogatepass") for key, text in texts.items()}
    return {
        key: existing[key].parse(text.decode("utf-16", "replace")) for key, text in full.items()
    }


def _text_names(declaration: type[Any]) -> frozenset[str]:
    """Return the names of the text controls."""
    return frozenset(
        name
        for name, control in controls.controls(declaration)
        if isinstance(control, controls.TextInput)
    )


def is_veiled(bench: Bench, session: Session) -> bool:
    """Return True where the reader has not answered all predictions about a bench."""
    return bool(
        settings.value("SEQVIZ_GUIDED") and not session.answered.issuperset(bench.veiled_by)
    )


class _UncacheableError(Exception):
    """A response that must not enter the shared cache."""

    def __init__(self, answer: LiveResponse):
        super().__init__()
        self.answer = answer


def render_bench(
    bench: Bench,
    query: Mapping[str, str],
    session: Session,
    host_type: type[LiveHost] = LiveHost,
    shared: bool = False,
    veiled: bool = False,
) -> LiveResponse:
    """Return the output of a bench for the values of a query.

    Raises ValueError for values that no control has, PendingError where the page would wait, and
    the errors of the bench's body.

    Args:
        bench: to be rendered.
        query: language, view and control values, as in a permalink.
        session: provides the texts if the query has "own".
        host_type: `LiveHost`, or `WorkerHost` in a worker.
        shared: the response is broadcast to a class.
        veiled: without the result.
    """
    view, values = _parse_query(bench, query, session)
    own, dark = "own" in query, query.get("dark") == "true"
    host = host_type(session=session, prefix=bench.prefix, dark=dark)

    def build() -> LiveResponse:
        output = bench.run(values, style=view, host=host, code=False, veiled=veiled)
        live_response = serialize(output, Text(view.lang))
        if not host.is_cacheable:
            around = {**live_response.around, "is_transient": True, "layout_signature": None}
            raise _UncacheableError(replace(live_response, around=around))
        if own:
            raise _UncacheableError(live_response)
        return live_response

    key = content_hash.hash_value(
        ("live", bench.prefix, sorted(values.items()), view, dark, veiled)
    )
    try:
        return result_cache.result_cache().get_or_compute(key, build, shared).result
    except _UncacheableError as uncacheable:
        return uncacheable.answer


def _parse_query(
    bench: Bench, query: Mapping[str, str], session: Session
) -> tuple[Style, dict[str, Any]]:
    """Return style and control values of a query, with the texts of the session."""
    lang = query.get("lang", DEFAULT)
    view = style(matching(lang) or DEFAULT, query.get("present") == "true")
    prefix = f"{bench.lesson.record.code}."
    values: dict[str, Any] = {}
    if "own" in query:
        for name in (bench.name, *bench.after):
            start = "" if name == bench.name else f"{name}."
            retained = session.texts.get(bench.lesson.prefix(name), {})
            values |= {f"{start}{key}": text for key, text in retained.items()}
    values |= {
        key.removeprefix(prefix).removeprefix(f"{bench.name}."): text
        for key, text in query.items()
        if key not in VIEW_PARAMS and not (bench.steps and key == bench.step_key)
    }
    return view, values


def client_payload(bench: Bench, name: str, query: Mapping[str, str], session: Session) -> bytes:
    """Return a payload of a client renderer, as JSON.

    Raises the errors of `render_bench`, and KeyError for an unknown payload.
    """
    view, values = _parse_query(bench, query, session)
    needs = bench.answers.needs if bench.answers else ()
    values = {key: value for key, value in values.items() if key in (*needs, controls.DEFAULTS)}
    host = LiveHost(session=session, prefix=bench.prefix)

    def build() -> bytes:
        result = bench.part(name, values, view, host)
        return compress((json.dumps(result, ensure_ascii=False, default=note_html).encode(),))

    if "own" in query:
        return build()
    key = content_hash.hash_value(("part", bench.prefix, name, sorted(values.items()), view))
    return result_cache.result_cache().get_or_compute(key, build).result


@cache
def render_threads() -> ThreadPoolExecutor:
    """Return the threads that render responses, MAX_CONCURRENT of them."""
    return ThreadPoolExecutor(MAX_CONCURRENT, "live")


async def endpoint(request: Request) -> Response:
    """Respond to a live request; a request whose client has disconnected is not started."""
    from starlette.responses import Response

    slug, name = request.path_params["slug"], request.path_params["bench"]
    session = run_context.by_token(request.headers.get(H_SESSION, ""))
    registered = slug in {record.slug for record in catalog.LESSONS}
    bench = getattr(lessons, slug).lesson.benches.get(name) if registered else None
    if bench is None:
        return Response(status_code=404)
    payload = request.headers.get(H_PAYLOAD)
    if payload is not None and (bench.answers is None or payload not in bench.answers.parts):
        return Response(status_code=404)
    if session is None:  # a session of another process, or a closed one
        return Response(status_code=403)
    if is_veiled(bench, session):  # its page has no descriptor of live requests
        return Response(status_code=403)
    is_prefetch = H_PREFETCH in request.headers
    if is_prefetch and (session.n_pending > 0 or draw_queue().busy or workers().busy):
        return Response(status_code=204)
    if session.n_pending >= MAX_REQUESTS_PER_SESSION:
        return Response(status_code=429)
    query = dict(request.query_params)
    try:
        typed = typed_texts(bench, request.headers.get(H_LIVE_TEXT, ""))
    except ValueError:
        return Response(status_code=400)
    if typed:  # private like the page's texts: not shared, in no URL
        query = {"own": H_LIVE_TEXT, **query, **typed}
    known_arrays = frozenset(request.headers.get(H_KNOWN_ARRAYS, "").split(","))
    session.n_pending += not is_prefetch  # an abandoned prefetch must not block a drag
    started = time.perf_counter()
    gone: asyncio.Future[Any] = asyncio.ensure_future(wait_for_disconnect(request))
    try:
        result = None
        if payload is not None:
            work = partial(
                _render_response,
                bench,
                query,
                session,
                known_arrays,
                rank=Priority.PAGE,
                payload=payload,
            )
            result = await race_disconnect(
                gone, run_scheduled(Priority.PAGE, session.account, work)
            )
        elif (sent := _dispatch_to_worker(bench, query, session, known_arrays)) is not None:
            result = await race_disconnect(gone, asyncio.wrap_future(sent))
        if result is None and not gone.done():
            rank = (
                Priority.DRAG
                if is_prefetch or H_DRAGGING in request.headers
                else Priority.INTERACTION
            )
            result = await race_disconnect(
                gone, _render_scheduled(rank, bench, query, session, known_arrays)
            )
    finally:
        session.n_pending -= not is_prefetch
        gone.cancel()
    if result is None:
        return Response(status_code=408)
    status, body = result
    seconds = time.perf_counter() - started
    metrics.observe_run(slug, "live", seconds)
    headers = {"cache-control": "no-store", "server-timing": f"app;dur={1000 * seconds:.1f}"}
    if body.startswith(GZIP):
        headers["content-encoding"] = "gzip"
    return Response(body, status, headers, "text/plain; charset=utf-8")


async def race_disconnect(disconnected: asyncio.Future[Any], work: Awaitable[Any]) -> Any:
    """Return status and body; None where the client has disconnected or the worker has died."""
    waiting = asyncio.ensure_future(work)
    await asyncio.wait({waiting, disconnected}, return_when=asyncio.FIRST_COMPLETED)
    if not waiting.done():
        waiting.cancel()
        return None
    try:
        result = waiting.result()
    except WorkerDiedError:
        return None
    if isinstance(result, RenderResponse):
        return None if result.status is None else (result.status, result.body)
    return result


async def _render_scheduled(
    rank: Priority, bench: Bench, query: Mapping[str, str], session: Session, known_arrays: Set[str]
) -> tuple[int, bytes]:
    """Return status and body, rendered in a thread with a slot."""
    work = partial(_render_response, bench, query, session, known_arrays, rank=rank)
    return await run_scheduled(rank, session.account, work)


async def run_scheduled(
    rank: Priority, account: ClientQuota, work: Callable[..., R], *args: Any
) -> R:
    """Return the result of `work(*args)`, run in a thread when the account gets a slot."""
    turn = await draw_queue().acquire(rank, account)

    def build() -> R:
        with holding(turn):
            return work(*args)

    done = render_threads().submit(build)
    done.add_done_callback(lambda _: draw_queue().release(turn))
    return await asyncio.shield(asyncio.wrap_future(done))


def _render_response(
    bench: Bench,
    query: Mapping[str, str],
    session: Session,
    known_arrays: Set[str],
    host_type: type[LiveHost] = LiveHost,
    rank: Priority = Priority.INTERACTION,
    payload: str | None = None,
) -> tuple[int, bytes]:
    """Return status and body of a bench, or of one payload of its client renderer.

    Raises NeedsMainProcessError in a worker.
    """
    name = bench.lesson.slug
    with (
        run_context.acting_as(session, name, bench.name),
        charging.charge_cpu(session.account, rank),
    ):
        try:
            if payload is not None:
                return 200, client_payload(bench, payload, query, session)
            return 200, render_bench(bench, query, session, host_type).encode(known_arrays)
        except NeedsMainProcessError:
            raise
        except (PendingError, ValueError):  # the page says what to do
            return 204, b""
        except Exception:
            log.exception("live: a bench failed")
            return 500, b""


@cache
def workers() -> Workers:
    """Return the workers of this process, started at the first call."""
    return Workers(settings.value("SEQVIZ_WORKERS"), _prepare_worker, _worker_main)


def _dispatch_to_worker(
    bench: Bench, query: Mapping[str, str], session: Session, known_arrays: Set[str]
) -> Future[RenderResponse] | None:
    """Return the future response of a worker; None where this process must answer."""
    moved = {*_dragged_keys(bench), *_live_texts(bench)}
    fixed = (bench.prefix, *sorted(item for item in query.items() if item[0] not in moved))
    if fixed in _main_process_only or (account := charging.lease(session.account)) is None:
        return None
    texts = session.texts if "own" in query else {}
    request = RenderRequest(bench.lesson.slug, bench.name, query, texts, known_arrays, account)
    sent = workers().submit((bench.prefix, *sorted(query.items())), request)
    if sent is not None:  # charged even after a disconnect
        sent.add_done_callback(partial(_charge_reply, session, bench.lesson.slug, fixed))
    return sent


def _charge_reply(
    session: Session, slug: str, signature: Any, sent: Future[RenderResponse]
) -> None:
    if sent.cancelled() or sent.exception() is not None:
        return
    reply = sent.result()
    reply.charge(session, slug)
    if reply.status is None:
        if len(_main_process_only) >= MAX_REMEMBERED_ADDRESSES:
            _main_process_only.clear()
        _main_process_only.add(signature)


# Queries without their live values for which a worker lacked something.
_main_process_only: set[Any] = set()


def _prepare_worker() -> None:
    """Prepare a worker before its first request."""
    from seqviz.ui.runtime import logs  # imported only in a worker

    logs.begin(settings.value("SEQVIZ_LOG_LEVEL"), settings.value("SEQVIZ_LOG_FORMAT"))
    metrics.drain_buffer()
    for record in catalog.LESSONS:
        getattr(lessons, record.slug)
    startup.load_libraries()
    startup.configure_process()


def _worker_main(request: RenderRequest) -> RenderResponse:
    """Render a response in a worker."""
    bench = getattr(lessons, request.slug).lesson.benches[request.bench]
    status: int | None = None
    body = b""
    with suppress(NeedsMainProcessError):
        status, body = _render_response(
            bench, request.query, request.visitor(), request.known_arrays, WorkerHost
        )
    return RenderResponse(status, body, request.account, metrics.drain_buffer())


async def wait_for_disconnect(request: Request) -> None:
    """Return when the client has disconnected."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
