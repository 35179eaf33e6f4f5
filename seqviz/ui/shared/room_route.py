"""Where browsers of a class ask: open a room, take a seat, say something, and hear what is said.

Plain routes: none of them runs a script of a page, and a stream that is open costs nothing until
something is told. What is wrong is answered with its code and details, and the browser has the
sentences. A token or a secret is only ever in a header, never in an address.

Where a teacher moves a control, all who follow would ask for the same picture: it is drawn once and
told with the move. A line that is slow is told less often, and always the last.
"""

from __future__ import annotations

import asyncio
import json
import re
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Set
from dataclasses import dataclass, field
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, Protocol

from cachetools import TTLCache
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from seqviz.lessons import in_room
from seqviz.refusal import Refusal
from seqviz.room import codes
from seqviz.room.room import Looks, Room, Seat, Unsaid, shows
from seqviz.room.rooms import LIFE, Rooms
from seqviz.text import Text
from seqviz.ui.server import metrics
from seqviz.ui.server.accounts import Account, Bucket, accounts, by_scope
from seqviz.ui.server.static_files import base

if TYPE_CHECKING:
    from starlette.requests import Request

TEACHER, SEAT = "x-seqviz-teacher", "x-seqviz-seat"
OURS = "x-seqviz-room"  # another site's page cannot send it
LARGEST = 16_384  # bytes of what is said
GZIP = b"\x1f\x8b"
HEARTBEAT = 15.0  # seconds; proxies close what is silent for longer than a minute
PAUSE = 0.05  # seconds between two things told: of what comes faster only the last is
DRAWN_WITHIN = 0.5  # seconds, after which a move is told without its picture
STREAMS = 3  # of one seat
# At once, and a second: seats and new rooms of a device, what a seat says, and codes that are none
# of an address. `rooms.GUESSES` counts on the last.
SEATS, ROOMS, SAID, WRONG = (20, 1 / 10), (6, 1 / 120), (40, 2.0), (30, 1 / 20)
TAUGHT = (120, 12.0)  # what a teacher says: a page tells ten times a second where its hand is
RUNS, PICTURES = (6, 1 / 5), (60, 3.0)  # of a room that runs a bench, and a seat that looks at it


@dataclass
class Used:
    """What one device has used."""

    seats: Bucket = field(default_factory=Bucket)
    rooms: Bucket = field(default_factory=Bucket)


class Runner(Protocol):
    """What computes and draws for a class: `ui.bench.class_run`, which is above this."""

    def start(self, room: Room, account: Account) -> None:
        """Compute the room's run."""

    async def drawn(self, room: Room, lang: str, presenting: bool) -> bytes:
        """It as it stands."""

    async def pictures(
        self,
        place: Mapping[str, Any],
        before: Mapping[str, Any],
        wanted: Set[Looks],
        account: Account,
    ) -> Mapping[Looks, bytes]:
        """What a teacher shows after another place, for pages of these looks, as it is told."""


runner: Callable[[], Runner]  # set by who has it


@dataclass
class Class:
    """All rooms of this process, and who has asked how often."""

    rooms: Rooms = field(default_factory=Rooms)
    used: weakref.WeakKeyDictionary[Account, Used] = field(
        default_factory=weakref.WeakKeyDictionary
    )
    said: weakref.WeakKeyDictionary[Seat | Room, Bucket] = field(
        default_factory=weakref.WeakKeyDictionary
    )
    ran: weakref.WeakKeyDictionary[Room, Bucket] = field(default_factory=weakref.WeakKeyDictionary)
    looked: weakref.WeakKeyDictionary[Seat | Room, Bucket] = field(
        default_factory=weakref.WeakKeyDictionary
    )
    wrong: TTLCache[str, Bucket] = field(default_factory=lambda: TTLCache(20_000, LIFE))
    tried: TTLCache[tuple[str, str], bool] = field(default_factory=lambda: TTLCache(20_000, LIFE))

    def find(self, code: str, address: str) -> Room:
        """A room by its code; an address that has tried many that are none has to wait.

        The same one again is no further guess: a class whose server has died asks for its room
        until its teacher's page has opened it anew.
        """
        bucket = self.wrong.setdefault(address, Bucket())
        _let_in(bucket, WRONG, 0.0)
        try:
            return self.rooms.find(code)
        except Refusal:
            guess = address, codes.read(code)
            if guess not in self.tried:
                self.tried[guess] = True
                bucket.draw(1.0, *WRONG)
            raise


@cache
def the_class() -> Class:
    """Of this process."""
    return Class()


def _let_in(bucket: Bucket, limit: tuple[float, float], amount: float = 1.0) -> None:
    """Count a use. Raises Refusal("too_fast") with the seconds to wait."""
    if wait := bucket.wait(*limit):
        metrics.refused("room")
        raise Refusal("too_fast", f"Too much at once. Wait {wait:.0f} s.", seconds=int(wait) + 1)
    if amount:
        bucket.draw(amount, *limit)


Answering = Callable[["Request"], Awaitable[Response]]
STATUS = {"no_room": 404, "not_yours": 403, "too_fast": 429, "bad": 400, "large": 413}


def _told(answer: Answering) -> Answering:
    """A refusal is an answer, too; where something is said it has to come from a page of ours."""

    @wraps(answer)
    async def answering(request: Request) -> Response:
        try:
            if request.method == "POST" and OURS not in request.headers:
                raise Refusal("bad", "This is for pages of this site.")
            return await answer(request)
        except Refusal as refusal:
            status = STATUS.get(refusal.code, 409)
            return JSONResponse({"problem": refusal.code, **refusal.details}, status)

    return answering


async def _body(request: Request) -> Mapping[str, Any]:
    """What is said, an object of JSON. Raises Refusal("large", "bad")."""
    read = bytearray()
    async for part in request.stream():
        read += part
        if len(read) > LARGEST:
            raise Refusal("large", f"At most {LARGEST} bytes.", most=LARGEST)
    try:
        found = json.loads(read or b"{}")
        json.dumps(found, ensure_ascii=False).encode()  # half a pair could be told to nobody
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Refusal("bad", "This is no object of JSON.")
    return found


def _text(said: Mapping[str, Any], name: str) -> str:
    found = said.get(name, "")
    return found if isinstance(found, str) else ""


@_told
async def opened(request: Request) -> Response:
    """A new room, or the teacher's own once more: {"code", "token"} of both."""
    account = accounts().of(*by_scope(request.scope))
    said = await _body(request)
    used = the_class().used.setdefault(account, Used())
    _let_in(used.rooms, (ROOMS[0] * account.students, ROOMS[1]))
    room = the_class().rooms.open(_text(said, "code"), _text(said, "token"))
    # By that a proxy learns which process the room is in (deploy/haproxy.cfg).
    headers = {OURS: room.code}
    return JSONResponse({"code": room.code, "token": room.token}, headers=headers)


@_told
async def joined(request: Request) -> Response:
    """A seat: {"number", "seat"}; the latter is its secret. It may be claimed by an old one."""
    address, device = by_scope(request.scope)
    account = accounts().of(address, device)
    said = await _body(request)
    room = the_class().find(request.path_params["code"], address)
    used = the_class().used.setdefault(account, Used())
    _let_in(used.seats, (SEATS[0] * account.students, SEATS[1] * account.students))
    seat, secret = the_class().rooms.join(room, _text(said, "seat"))
    return JSONResponse({"number": seat.number, "seat": secret})


def _who(request: Request) -> tuple[Room, Seat | None]:
    """The room, and the seat of who asks; None: its teacher. Raises Refusal("not_yours")."""
    address, _ = by_scope(request.scope)
    room = the_class().find(request.path_params["code"], address)
    if (token := request.headers.get(TEACHER)) is not None:
        if room.is_teachers(token):
            return room, None
    elif seat := room.seat(request.headers.get(SEAT, "")):
        return room, seat
    raise Refusal("not_yours", "This seat is not in this room.")


@_told
async def said(request: Request) -> Response:
    """Something that a teacher or a student says: see `Room.tell` and `Room.hear`."""
    room, seat = _who(request)
    _let_in(the_class().said.setdefault(seat or room, Bucket()), SAID if seat else TAUGHT)
    words = await _body(request)
    runs = seat is None and words.get("kind") == "run"
    if runs:
        _let_in(the_class().ran.setdefault(room, Bucket()), RUNS)
    try:
        if seat is None and words.get("kind") == "place":
            await _place(room, words, accounts().of(*by_scope(request.scope)))
        elif seat is None:
            room.tell(words)
        else:
            if words.get("kind") in ("send", "text"):  # may import a lesson
                words = await asyncio.to_thread(in_room.meant, words)
            room.hear(seat, words)
    except Unsaid:
        raise Refusal("bad", "This cannot be said here.") from None
    if runs:
        runner().start(room, accounts().of(*by_scope(request.scope)))
    return Response(status_code=204)


async def _place(room: Room, words: Mapping[str, Any], account: Account) -> None:
    """Tell where the teacher is, with the pictures that the class would ask for.

    One is drawn at a time; of what is said meanwhile, only the last is drawn and told.
    """
    place = shows(words)
    room.saying = place
    async with room.drawing:
        if room.saying is not place:
            return
        pictures: Mapping[Looks, bytes] = {}
        if wanted := room.looks(place):
            drawn = asyncio.ensure_future(runner().pictures(place, room.place, wanted, account))
            await asyncio.wait((drawn,), timeout=DRAWN_WITHIN)
            pictures = drawn.result() if drawn.done() else {}
        room.tell(words, pictures)


@_told
async def looked(request: Request) -> Response:
    """What the class runs, as it stands."""
    room, seat = _who(request)
    _let_in(the_class().looked.setdefault(seat or room, Bucket()), PICTURES)
    query = request.query_params
    body = await runner().drawn(room, query.get("lang", ""), query.get("present") == "true")
    if not body:
        return Response(status_code=204)
    headers = {"cache-control": "no-store"}
    if body.startswith(GZIP):
        headers["content-encoding"] = "gzip"
    return Response(body, 200, headers, "text/plain; charset=utf-8")


@_told
async def board(request: Request) -> Response:
    """The texts that the teacher has approved: see `Room.texts`."""
    room, seat = _who(request)
    _let_in(the_class().said.setdefault(seat or room, Bucket()), SAID)
    return JSONResponse({"texts": room.texts()})


@_told
async def waiting(request: Request) -> Response:
    """The first text that waits, for the teacher to read: {"number", "text"}; empty for none."""
    room = _teachers(request)
    line = room.board.first()
    return JSONResponse({"number": line.number, "text": line.text} if line else {})


def _teachers(request: Request) -> Room:
    """The room, for its teacher alone. Raises Refusal("not_yours")."""
    room, seat = _who(request)
    if seat is not None:
        raise Refusal("not_yours", "This is the teacher's.")
    return room


@_told
async def left(request: Request) -> Response:
    """What is left of a lecture, for its teacher: see `Room.afterwards`."""
    return JSONResponse(_teachers(request).afterwards())


@_told
async def notebook(request: Request) -> Response:
    """The same as a notebook, in the "language" and with links to the "address" that are said."""
    room, asked = _teachers(request), await _body(request)
    _let_in(the_class().said.setdefault(room, Bucket()), SAID)
    language, address = matching(_text(asked, "language")), _text(asked, "address")
    if language is None or not re.fullmatch(r"https?://[\w.:\[\]~/-]{1,200}/", address):
        raise Refusal("bad", "These are no language and address.")
    from seqviz.lessons import class_notebook  # with what a lesson computes; nobody else waits

    built = await asyncio.to_thread(
        class_notebook.build, room.afterwards(), Text(language), address
    )
    return Response(built, media_type="application/x-ipynb+json")


@_told
async def drawn(request: Request) -> Response:
    """What a class has drawn, once it is revealed: see `Room.drawn`."""
    room, seat = _who(request)
    return JSONResponse(room.drawn(teacher=seat is None))


@_told
async def heard(request: Request) -> Response:
    """What the room is, now and after each change: events as a server sends them."""
    room, seat = _who(request)
    if seat and seat.streams >= STREAMS:
        raise Refusal("too_fast", "This seat is open in several windows.", seconds=60)
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(_events(room, seat), 200, headers, "text/event-stream")


async def _events(room: Room, seat: Seat | None) -> AsyncIterator[bytes]:
    who = seat or _Teacher(room)
    who.streams += 1
    room.change()
    told, pictures = b"", room.pictures  # who comes asks for what stands there
    try:
        while True:
            changed, ended = room.changed, room.ended
            text = room.told_to(seat) if seat else room.told(teacher=True)
            if text != told or pictures is not room.pictures:
                picture = b"" if pictures is room.pictures else room.picture(seat)
                told, pictures = text, room.pictures
                yield b"%bdata: %b\n\n" % (picture, text)
                if ended:
                    return
                await asyncio.sleep(PAUSE)
                continue
            try:
                await asyncio.wait_for(changed.wait(), HEARTBEAT)
            except TimeoutError:
                the_class().rooms.tidy()
                yield b": here\n\n"
    finally:
        who.streams -= 1
        if seat:
            seat.seen = room.clock()
        room.change()


@dataclass
class _Teacher:
    """Counts a stream as the teacher's."""

    room: Room

    @property
    def streams(self) -> int:
        return self.room.teachers

    @streams.setter
    def streams(self, number: int) -> None:
        self.room.teachers = number
        self.room.taught = self.room.clock()


def routes() -> list[Route]:
    """All of them."""
    start = f"{base()}/room"
    return [
        Route(start, opened, methods=["POST"]),
        Route(f"{start}/{{code}}/seat", joined, methods=["POST"]),
        Route(f"{start}/{{code}}/said", said, methods=["POST"]),
        Route(f"{start}/{{code}}/heard", heard),
        Route(f"{start}/{{code}}/board", board),
        Route(f"{start}/{{code}}/waiting", waiting),
        Route(f"{start}/{{code}}/left", left),
        Route(f"{start}/{{code}}/run", looked),
        Route(f"{start}/{{code}}/drawn", drawn),
        Route(f"{start}/{{code}}/notebook", notebook, methods=["POST"]),
    ]
