"""The way of a moving hand: a bench with these values, without a run of its page.

A page tells the browser where to ask (`live_descriptor`). While a slider moves, the browser asks
that route (`endpoint`) for figure, read-outs and sentences, and draws them (`bench/live.js`); the
page hears of the value when the hand has come to rest. What stands in the address is what a link
carries, but no text of a student's: that is kept with the session, which the browser names by a
token. A text that is being typed travels in a header. The answer is drawn in the draw queue as a
press, is kept for the class, and what has to be computed for it counts for the student. Nothing is
started, fetched or trained for it: where a bench would have to wait, there is no answer, and the
page says why. While a hand rests, the browser asks for the steps beside it, which a class that is
busy does not get. Where a bench answers in the browser (`ClientRenderer`) the route gives what that
takes, once for all that a hand moves. A large array that the browser has from the answer before
does not travel again: it names those that it has, and their names stand in their places.
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
H_PREFETCH = "x-seqviz-prefetch"  # nobody looks at it yet
H_LIVE_TEXT = "x-seqviz-live-text"  # texts being typed, as JSON by the names of their controls
H_PAYLOAD = "x-seqviz-payload"  # of what answers in the browser
H_DRAGGING = "x-seqviz-dragging"  # the hand has not stopped here
VIEW_PARAMS = ("lang", "present", "dark", "own")  # names in the address that are no parameter's
MAX_REQUESTS_PER_SESSION = (
    4  # requests of one visitor; a browser has one for each bench that a hand moves
)
MAX_REMEMBERED_ADDRESSES = 1000  # addresses that are remembered as not for a worker
log = logging.getLogger(__name__)
R = TypeVar("R")


def live_descriptor(
    bench: Bench, params: Mapping[str, Any], lang: str, presenting: bool, dark: bool
) -> dict[str, Any] | None:
    """Where the browser asks for this bench; None where it has nothing that a hand moves.

    params: by prefix, its parameters and those of the benches that it builds on.
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
        link = controls.permalink(prefix, values)
        own |= {key: link.pop(key) for key in (f"{prefix}.{name}" for name in texts) if key in link}
        query |= link
    if own:  # another text is another address; nobody else can tell from it which
        query["own"] = content_hash.hash_value((session.token, sorted(own.items()))).hex()[:8]
    query |= {"present": "true"} if presenting else {}
    query |= {"dark": "true"} if dark else {}
    return {
        "bench": bench.prefix,
        "address": f"{base()}/live/{bench.lesson.slug}/{bench.name}",
        "query": query,
        "values": moved,
        "typed": list(typed),
        "token": session.token,
        **({"client_renderer": _client_renderer(bench)} if bench.answers else {}),
    }


def _client_renderer(bench: Bench) -> dict[str, Any]:
    """The script that answers in the browser, and the names in an address that it depends on."""
    assert bench.answers is not None
    needs = [f"{bench.prefix}.{name}" for name in bench.answers.needs]
    return {"script": bench.answers.script, "dependencies": ["lang", "present", "own", *needs]}


@cache
def _dragged_keys(bench: Bench) -> tuple[str, ...]:
    """The parameters that a hand moves, as they stand in an address."""
    return tuple(
        f"{bench.prefix}.{name}"
        for name, control in controls.controls(bench.declaration)
        if isinstance(control, controls.DRAGGABLE) and not control.client
    )


@cache
def _live_texts(bench: Bench) -> dict[str, controls.TextInput]:
    """The texts whose figure follows while they are typed, as they would stand in an address."""
    return {
        f"{bench.prefix}.{name}": control
        for name, control in controls.controls(bench.declaration)
        if isinstance(control, controls.TextInput) and control.typed
    }


def typed_texts(bench: Bench, payload: str) -> dict[str, str]:
    """What is being typed, as the browser tells it; what it says may be anything.

    Raises ValueError for what is no text of such a control. Half of a character, which JSON can
    say, becomes the sign for one that cannot be read.
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
    """The parameters in which students write."""
    return frozenset(
        name
        for name, control in controls.controls(declaration)
        if isinstance(control, controls.TextInput)
    )


class _UncacheableError(Exception):
    """An answer that is not for what the class shares."""

    def __init__(self, answer: LiveResponse):
        super().__init__()
        self.answer = answer


def render_bench(
    bench: Bench,
    query: Mapping[str, str],
    session: Session,
    host_type: type[LiveHost] = LiveHost,
    shared: bool = False,
) -> LiveResponse:
    """What a bench shows with the values of an address. shared: a whole class is sent it.

    Raises ValueError for values that no control has, PendingError where the page would wait, and
    what the body of the bench raises.
    """
    view, values = _parse_query(bench, query, session)
    own, dark = "own" in query, query.get("dark") == "true"
    host = host_type(session=session, prefix=bench.prefix, dark=dark)

    def build() -> LiveResponse:
        output = bench.run(values, style=view, host=host, code=False)
        live_response = serialize(output, Text(view.lang))
        if not host.is_cacheable:
            around = {**live_response.around, "is_transient": True, "layout_signature": None}
            raise _UncacheableError(replace(live_response, around=around))
        if own:
            raise _UncacheableError(live_response)
        return live_response

    key = content_hash.hash_value(("live", bench.prefix, sorted(values.items()), view, dark))
    try:
        return result_cache.result_cache().get_or_compute(key, build, shared).result
    except _UncacheableError as only:
        return only.answer


def _parse_query(
    bench: Bench, query: Mapping[str, str], session: Session
) -> tuple[Style, dict[str, Any]]:
    """The looks and the values of an address, with the texts that are kept with the session."""
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
        if key not in VIEW_PARAMS
    }
    return view, values


def client_payload(bench: Bench, name: str, query: Mapping[str, str], session: Session) -> bytes:
    """Return a payload of a client renderer, as JSON.

    Raises as `render_bench` does, and KeyError where there is no such payload.
    """
    view, values = _parse_query(bench, query, session)
    needs = bench.answers.needs if bench.answers else ()
    values = {key: value for key, value in values.items() if key in needs}
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
    """The threads in which answers are made; as many as compute at a time."""
    return ThreadPoolExecutor(MAX_CONCURRENT, "live")


async def endpoint(request: Request) -> Response:
    """Answer one request; one that nobody waits for any more is not begun."""
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
    if session is None:  # of another process, or of one that has gone
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
    if typed:  # as the page's own text: for nobody else, and in no address
        query = {"own": H_LIVE_TEXT, **query, **typed}
    known_arrays = frozenset(request.headers.get(H_KNOWN_ARRAYS, "").split(","))
    session.n_pending += not is_prefetch  # one that is given up is not in the way of the hand
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
    """Status and body; None where somebody has gone: who asks, or the worker that answers."""
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
    """Status and body. known_arrays: names of arrays that the browser has."""
    work = partial(_render_response, bench, query, session, known_arrays, rank=rank)
    return await run_scheduled(rank, session.account, work)


async def run_scheduled(
    rank: Priority, account: ClientQuota, work: Callable[..., R], *args: Any
) -> R:
    """What `work(*args)` returns, in a thread, when it is this account's turn."""
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
        except (PendingError, ValueError):  # the page says what is to be done
            return 204, b""
        except Exception:
            log.exception("a bench failed under a moving hand")
            return 500, b""


@cache
def workers() -> Workers:
    """Those of this process; they begin to run when this is first called."""
    return Workers(settings.value("SEQVIZ_WORKERS"), _prepare_worker, _worker_main)


def _dispatch_to_worker(
    bench: Bench, query: Mapping[str, str], session: Session, known_arrays: Set[str]
) -> Future[RenderResponse] | None:
    """The reply of a worker, if this can be answered by one and one is there."""
    moved = {*_dragged_keys(bench), *_live_texts(bench)}
    fixed = (bench.prefix, *sorted(item for item in query.items() if item[0] not in moved))
    if fixed in _only_here or (account := charging.lease(session.account)) is None:
        return None
    texts = session.texts if "own" in query else {}
    request = RenderRequest(bench.lesson.slug, bench.name, query, texts, known_arrays, account)
    sent = workers().submit((bench.prefix, *sorted(query.items())), request)
    if sent is not None:  # also where nobody waits any more
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
        if len(_only_here) >= MAX_REMEMBERED_ADDRESSES:
            _only_here.clear()
        _only_here.add(signature)


# Addresses without what a hand moves, for which a worker did not have all that it takes.
_only_here: set[Any] = set()


def _prepare_worker() -> None:
    """In a worker, before the first request."""
    from seqviz.ui.runtime import logs  # a page needs nothing of it

    logs.begin(settings.value("SEQVIZ_LOG_LEVEL"), settings.value("SEQVIZ_LOG_FORMAT"))
    metrics.drain_buffer()
    for record in catalog.LESSONS:
        getattr(lessons, record.slug)
    startup.load_libraries()
    startup.configure_process()


def _worker_main(request: RenderRequest) -> RenderResponse:
    """In a worker: answer for a visitor of its parent."""
    bench = getattr(lessons, request.slug).lesson.benches[request.bench]
    status: int | None = None
    body = b""
    with suppress(NeedsMainProcessError):
        status, body = _render_response(
            bench, request.query, request.visitor(), request.known_arrays, WorkerHost
        )
    return RenderResponse(status, body, request.account, metrics.drain_buffer())


async def wait_for_disconnect(request: Request) -> None:
    """Returns when who has asked waits no more."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
