"""The way of a moving hand: a bench with these values, without a run of its page.

A page tells the browser where to ask (`source`). While a slider moves, the browser asks that route
(`live_route`) for figure, read-outs and sentences, and draws them (`assets/static/live.js`); the
page hears of the value when the hand has come to rest. What stands in the address is what a link
carries, but no text of a student's: that is kept with the session, which the browser names by a
token. A text that is being typed travels in a header. The answer is drawn in the draw queue as a
press, is kept for the class, and what has to be computed for it counts for the student. Nothing is
started, fetched or trained for it: where a bench would have to wait, there is no answer, and the
page says why. While a hand rests, the browser asks for the steps beside it, which a class that is
busy does not get. Where a bench answers in the browser (`lesson.Answers`) the route gives what that
takes, once for all that a hand moves. A large array that the browser has from the answer before
does not travel again: it names those that it has, and their names stand in their places.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence, Set
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote

from seqviz import catalog, fingerprint, lessons, settings
from seqviz.figures.grammar.figure import Array, Figure
from seqviz.figures.grammar.style import LIVE, Style
from seqviz.languages import DEFAULT, matching
from seqviz.lessons.bench import controls
from seqviz.lessons.bench.host import NotYet
from seqviz.lessons.bench.lesson import Bench
from seqviz.lessons.bench.output import Chart, Item, Note, Output, Passage, Readout, Target
from seqviz.text import Text
from seqviz.ui.bench.afar import DistantHand, OnlyThere, Question, Reply
from seqviz.ui.bench.badge import badge
from seqviz.ui.bench.moving_hand import MovingHand
from seqviz.ui.bench.packed import GZIP, packed
from seqviz.ui.server import metrics, run_context
from seqviz.ui.server.accounts import Account
from seqviz.ui.server.run_context import Session
from seqviz.ui.server.static_files import base
from seqviz.ui.server.workers import Gone, Workers
from seqviz.ui.shared import caching, limits, markdown, startup
from seqviz.ui.shared.draw_queue import MOST, Rank, draw_queue, held

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

TOKEN = "x-seqviz-visitor"
HAS = "x-seqviz-has"
AHEAD = "x-seqviz-ahead"  # nobody looks at it yet
TYPED = "x-seqviz-typed"  # texts that are being typed, as JSON by the names of their controls
PART = "x-seqviz-part"  # of what answers in the browser
MOVING = "x-seqviz-moving"  # the hand has not stopped here
LOOKS = ("lang", "present", "dark", "own")  # names in the address that are no parameter's
AT_ONCE = 4  # requests of one visitor; a browser has one for each bench that a hand moves
FEW = 1000  # addresses that are remembered as not for a worker
log = logging.getLogger(__name__)
R = TypeVar("R")


def style(lang: str, presenting: bool) -> Style:
    """Charts in the theme's colors; larger for the lecture hall."""
    return Style(LIVE, lang, height=525, scale=1.25) if presenting else Style(LIVE, lang)


def source(
    bench: Bench, params: Mapping[str, Any], lang: str, presenting: bool, dark: bool
) -> dict[str, Any] | None:
    """Where the browser asks for this bench; None where it has nothing that a hand moves.

    params: by prefix, its parameters and those of the benches that it builds on.
    """
    start = f"{bench.prefix}."
    typed = _typed(bench)
    moved = {
        key: controls.encoded(getattr(params[bench.prefix], key.removeprefix(start)))
        for key in (*_moved(bench), *typed)
    }
    if not moved:
        return None
    query: dict[str, str] = {"lang": lang}
    session = run_context.session()
    own: dict[str, str] = {}
    for prefix, values in params.items():
        texts = _texts(type(values))
        session.texts[prefix] = {name: getattr(values, name) for name in texts}
        link = controls.permalink(prefix, values)
        own |= {key: link.pop(key) for key in (f"{prefix}.{name}" for name in texts) if key in link}
        query |= link
    if own:  # another text is another address; nobody else can tell from it which
        query["own"] = fingerprint.digest((session.token, sorted(own.items()))).hex()[:8]
    query |= {"present": "true"} if presenting else {}
    query |= {"dark": "true"} if dark else {}
    return {
        "bench": bench.prefix,
        "address": f"{base()}/live/{bench.lesson.slug}/{bench.name}",
        "query": query,
        "values": moved,
        "typed": list(typed),
        "token": session.token,
        **({"answers": _answers(bench)} if bench.answers else {}),
    }


def _answers(bench: Bench) -> dict[str, Any]:
    """The script that answers in the browser, and the names in an address that it depends on."""
    assert bench.answers is not None
    needs = [f"{bench.prefix}.{name}" for name in bench.answers.needs]
    return {"script": bench.answers.script, "needs": ["lang", "present", "own", *needs]}


@cache
def _moved(bench: Bench) -> tuple[str, ...]:
    """The parameters that a hand moves, as they stand in an address."""
    return tuple(
        f"{bench.prefix}.{name}"
        for name, control in controls.controls(bench.declaration)
        if isinstance(control, controls.MOVED) and not control.client
    )


@cache
def _typed(bench: Bench) -> dict[str, controls.Sentence]:
    """The texts whose figure follows while they are typed, as they would stand in an address."""
    return {
        f"{bench.prefix}.{name}": control
        for name, control in controls.controls(bench.declaration)
        if isinstance(control, controls.Sentence) and control.typed
    }


def typed_texts(bench: Bench, told: str) -> dict[str, str]:
    """What is being typed, as the browser tells it; what it says may be anything.

    Raises ValueError for what is no text of such a control. Half of a character, which JSON can
    say, becomes the sign for one that cannot be read.
    """
    texts = json.loads(unquote(told)) if told else {}
    known = _typed(bench)
    if not isinstance(texts, dict) or not texts.keys() <= known.keys():
        raise ValueError(told)
    if not all(isinstance(text, str) for text in texts.values()):
        raise ValueError(told)
    whole = {key: text.encode("utf-16", "surrogatepass") for key, text in texts.items()}
    return {key: known[key].clean(text.decode("utf-16", "replace")) for key, text in whole.items()}


def _texts(declaration: type[Any]) -> frozenset[str]:
    """The parameters in which students write."""
    return frozenset(
        name
        for name, control in controls.controls(declaration)
        if isinstance(control, controls.Sentence)
    )


@dataclass(frozen=True)
class Answer:
    """around: what is said around the figure. figure: its JSON, large arrays apart."""

    around: Mapping[str, Any]
    figure: tuple[bytes | Array, ...]

    def sent(self, known: Set[str] = frozenset()) -> bytes:
        """Two lines of JSON, the figure in the second, compressed where that is worth it.

        known: names of arrays that the browser has.
        """
        names = [part.name for part in self.figure if isinstance(part, Array)]
        head = json.dumps({**self.around, "arrays": names}, ensure_ascii=False).encode()
        named = (
            b"#" + part.name.encode() if isinstance(part, Array) and part.name in known else part
            for part in self.figure
        )
        return packed((head, b"\n", *named))


class _OnlyNow(Exception):
    """An answer that is not for what the class shares."""

    def __init__(self, answer: Answer):
        super().__init__()
        self.answer = answer


def answer(
    bench: Bench,
    query: Mapping[str, str],
    session: Session,
    hand: type[MovingHand] = MovingHand,
    shared: bool = False,
) -> Answer:
    """What a bench shows with the values of an address. shared: a whole class is sent it.

    Raises ValueError for values that no control has, NotYet where the page would wait, and what the
    body of the bench raises.
    """
    looks, values = _asked(bench, query, session)
    own, dark = "own" in query, query.get("dark") == "true"
    host = hand(session=session, prefix=bench.prefix, dark=dark)

    def made() -> Answer:
        output = bench.run(values, style=looks, host=host, code=False)
        shown = written(output, Text(looks.lang))
        if not host.settled:
            around = {**shown.around, "passing": True, "shape": None}
            raise _OnlyNow(replace(shown, around=around))
        if own:
            raise _OnlyNow(shown)
        return shown

    key = fingerprint.digest(("live", bench.prefix, sorted(values.items()), looks, dark))
    try:
        return caching.shelves().ask(key, made, shared).result
    except _OnlyNow as only:
        return only.answer


def _asked(
    bench: Bench, query: Mapping[str, str], session: Session
) -> tuple[Style, dict[str, Any]]:
    """The looks and the values of an address, with the texts that are kept with the session."""
    lang = query.get("lang", DEFAULT)
    looks = style(matching(lang) or DEFAULT, query.get("present") == "true")
    prefix = f"{bench.lesson.record.code}."
    values: dict[str, Any] = {}
    if "own" in query:
        for name in (bench.name, *bench.after):
            start = "" if name == bench.name else f"{name}."
            kept = session.texts.get(bench.lesson.prefix(name), {})
            values |= {f"{start}{key}": text for key, text in kept.items()}
    values |= {
        key.removeprefix(prefix).removeprefix(f"{bench.name}."): text
        for key, text in query.items()
        if key not in LOOKS
    }
    return looks, values


def part(bench: Bench, name: str, query: Mapping[str, str], session: Session) -> bytes:
    """A part of what answers in the browser, as JSON. Raises as `answer`, KeyError for no part."""
    looks, values = _asked(bench, query, session)
    needs = bench.answers.needs if bench.answers else ()
    values = {key: value for key, value in values.items() if key in needs}
    host = MovingHand(session=session, prefix=bench.prefix)

    def made() -> bytes:
        found = bench.part(name, values, looks, host)
        return packed((json.dumps(found, ensure_ascii=False, default=html).encode(),))

    if "own" in query:
        return made()
    key = fingerprint.digest(("part", bench.prefix, name, sorted(values.items()), looks))
    return caching.shelves().ask(key, made).result


def shape(items: Sequence[Item]) -> str | None:
    """What a page shows of a bench besides what an answer tells; None where it never tells enough.

    Two runs of one shape differ only in what the browser has drawn already.
    """
    parts: list[tuple[object, ...]] = []
    for item in items:
        match item:
            case Chart() if isinstance(item.drawn.chart, Figure):
                parts.append(("chart", item.provenance.kind, item.clicks))
            case Readout():
                parts.append(("readout", item.label, item.help, item.beside is None))
            case Note() if "$" not in item.sentence:  # only the page can set a formula
                parts.append((item.kind,))
            case Passage():
                parts.append(("passage",))
            case _:
                return None
    alone = [kind for kind, *_ in parts].count("chart") == 1
    return hashlib.blake2b(repr(parts).encode(), digest_size=8).hexdigest() if alone else None


def written(output: Output, text: Text) -> Answer:
    """What is said and drawn, as the browser is told it.

    Of a figure that is not Plotly's there is no JSON: the page draws it. Raises NotYet where there
    is no figure at all.
    """
    items = output.items
    charts = [item for item in items if isinstance(item, Chart)]
    if not charts:
        raise NotYet
    drawn = charts[0].drawn
    around = {
        "alt": drawn.alt,
        "readouts": [
            {"value": item.value, "beside": item.beside}
            for item in items
            if isinstance(item, Readout)
        ],
        "notes": [html(item) for item in items if isinstance(item, Note | Passage)],
        "badge": badge(charts[0].provenance, output, text),
        "shape": shape(items),
    }
    return Answer(around, drawn.parts if isinstance(drawn.chart, Figure) else ())


def html(note: Note | Passage) -> str | None:
    """A sentence in Markdown as HTML; what looks like HTML in it stays text.

    None for a formula, which only the page can set: it stays as it is.
    """
    if isinstance(note, Passage):
        return note.html
    if isinstance(note, Target):  # `assets/static/progress.js` looks for it
        state = f'data-target="{note.name}" data-reached="{str(note.reached).lower()}"'
        return f'<div class="seqviz-target" {state}>{markdown.html(note.sentence)}</div>'
    return None if "$$" in note.sentence else markdown.html(note.sentence)


@cache
def pool() -> ThreadPoolExecutor:
    """The threads in which answers are made; as many as compute at a time."""
    return ThreadPoolExecutor(MOST, "live")


async def endpoint(request: Request) -> Response:
    """Answer one request; one that nobody waits for any more is not begun."""
    from starlette.responses import Response

    slug, name = request.path_params["slug"], request.path_params["bench"]
    session = run_context.by_token(request.headers.get(TOKEN, ""))
    known = slug in {record.slug for record in catalog.LESSONS}
    bench = getattr(lessons, slug).lesson.benches.get(name) if known else None
    if bench is None:
        return Response(status_code=404)
    asked = request.headers.get(PART)
    if asked is not None and (bench.answers is None or asked not in bench.answers.parts):
        return Response(status_code=404)
    if session is None:  # of another process, or of one that has gone
        return Response(status_code=403)
    ahead = AHEAD in request.headers
    if ahead and (session.asked > 0 or draw_queue().busy or workers().busy):
        return Response(status_code=204)
    if session.asked >= AT_ONCE:
        return Response(status_code=429)
    query = dict(request.query_params)
    try:
        typed = typed_texts(bench, request.headers.get(TYPED, ""))
    except ValueError:
        return Response(status_code=400)
    if typed:  # as the page's own text: for nobody else, and in no address
        query = {"own": TYPED, **query, **typed}
    has = frozenset(request.headers.get(HAS, "").split(","))
    session.asked += not ahead  # one that is given up is not in the way of the hand
    started = time.perf_counter()
    gone: asyncio.Future[Any] = asyncio.ensure_future(left(request))
    try:
        found = None
        if asked is not None:
            work = partial(_answered, bench, query, session, has, rank=Rank.PAGE, asked=asked)
            found = await unless(gone, in_turn(Rank.PAGE, session.account, work))
        elif (sent := _sent_away(bench, query, session, has)) is not None:
            found = await unless(gone, asyncio.wrap_future(sent))
        if found is None and not gone.done():
            rank = Rank.MOVING if ahead or MOVING in request.headers else Rank.PRESS
            found = await unless(gone, _respond(rank, bench, query, session, has))
    finally:
        session.asked -= not ahead
        gone.cancel()
    if found is None:
        return Response(status_code=408)
    status, body = found
    seconds = time.perf_counter() - started
    metrics.ran(slug, "live", seconds)
    headers = {"cache-control": "no-store", "server-timing": f"app;dur={1000 * seconds:.1f}"}
    if body.startswith(GZIP):
        headers["content-encoding"] = "gzip"
    return Response(body, status, headers, "text/plain; charset=utf-8")


async def unless(gone: asyncio.Future[Any], work: Awaitable[Any]) -> Any:
    """Status and body; None where somebody has gone: who asks, or the worker that answers."""
    waiting = asyncio.ensure_future(work)
    await asyncio.wait({waiting, gone}, return_when=asyncio.FIRST_COMPLETED)
    if not waiting.done():
        waiting.cancel()
        return None
    try:
        found = waiting.result()
    except Gone:
        return None
    if isinstance(found, Reply):
        return None if found.status is None else (found.status, found.body)
    return found


async def _respond(
    rank: Rank, bench: Bench, query: Mapping[str, str], session: Session, has: Set[str]
) -> tuple[int, bytes]:
    """Status and body. has: names of arrays that the browser has."""
    work = partial(_answered, bench, query, session, has, rank=rank)
    return await in_turn(rank, session.account, work)


async def in_turn(rank: Rank, account: Account, work: Callable[..., R], *args: Any) -> R:
    """What `work(*args)` returns, in a thread, when it is this account's turn."""
    turn = await draw_queue().reached(rank, account)

    def made() -> R:
        with held(turn):
            return work(*args)

    done = pool().submit(made)
    done.add_done_callback(lambda _: draw_queue().leave(turn))
    return await asyncio.shield(asyncio.wrap_future(done))


def _answered(
    bench: Bench,
    query: Mapping[str, str],
    session: Session,
    has: Set[str],
    hand: type[MovingHand] = MovingHand,
    rank: Rank = Rank.PRESS,
    asked: str | None = None,
) -> tuple[int, bytes]:
    """As `_respond`, without a turn; asked: a part instead. Raises OnlyThere, in a worker."""
    name = bench.lesson.slug
    with run_context.answering(session, name, bench.name), limits.charged(session.account, rank):
        try:
            if asked is not None:
                return 200, part(bench, asked, query, session)
            return 200, answer(bench, query, session, hand).sent(has)
        except OnlyThere:
            raise
        except (NotYet, ValueError):  # the page says what is to be done
            return 204, b""
        except Exception:
            log.exception("a bench failed under a moving hand")
            return 500, b""


@cache
def workers() -> Workers:
    """Those of this process; they begin to run when this is first called."""
    return Workers(settings.value("SEQVIZ_WORKERS"), _prepare, _answer_afar)


def _sent_away(
    bench: Bench, query: Mapping[str, str], session: Session, has: Set[str]
) -> Future[Reply] | None:
    """The reply of a worker, if this can be answered by one and one is there."""
    moved = {*_moved(bench), *_typed(bench)}
    fixed = (bench.prefix, *sorted(item for item in query.items() if item[0] not in moved))
    if fixed in _only_here or (account := limits.lent(session.account)) is None:
        return None
    texts = session.texts if "own" in query else {}
    question = Question(bench.lesson.slug, bench.name, query, texts, has, account)
    sent = workers().ask((bench.prefix, *sorted(query.items())), question)
    if sent is not None:  # also where nobody waits any more
        sent.add_done_callback(partial(_settle, session, bench.lesson.slug, fixed))
    return sent


def _settle(session: Session, slug: str, fixed: Any, sent: Future[Reply]) -> None:
    if sent.cancelled() or sent.exception() is not None:
        return
    reply = sent.result()
    reply.settle(session, slug)
    if reply.status is None:
        if len(_only_here) >= FEW:
            _only_here.clear()
        _only_here.add(fixed)


# Addresses without what a hand moves, for which a worker did not have all that it takes.
_only_here: set[Any] = set()


def _prepare() -> None:
    """In a worker, before the first question."""
    from seqviz.ui.server import logs  # a page needs nothing of it

    logs.begin(settings.value("SEQVIZ_LOG_LEVEL"), settings.value("SEQVIZ_LOG_FORMAT"))
    metrics.noted()
    for record in catalog.LESSONS:
        getattr(lessons, record.slug)
    startup.load_libraries()
    startup.prepare()


def _answer_afar(question: Question) -> Reply:
    """In a worker: answer for a visitor of its parent."""
    bench = getattr(lessons, question.slug).lesson.benches[question.bench]
    status: int | None = None
    body = b""
    with suppress(OnlyThere):
        status, body = _answered(
            bench, question.query, question.visitor(), question.has, DistantHand
        )
    return Reply(status, body, question.account, metrics.noted())


async def left(request: Request) -> None:
    """Returns when who has asked waits no more."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
