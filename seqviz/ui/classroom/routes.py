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
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial, wraps
from typing import TYPE_CHECKING, Any, Protocol

from cachetools import TTLCache
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from seqviz.classroom import codes
from seqviz.classroom.room import EventStream, InvalidMessageError, Room, Seat, ViewKey, shows
from seqviz.classroom.rooms import LETTERS, LIFE, WRONG, Rooms
from seqviz.classroom.storage import ClosedRooms, load_credentials
from seqviz.core import settings
from seqviz.core.errors import UserError
from seqviz.core.i18n import Text
from seqviz.core.languages import matching
from seqviz.lessons.framework import room_validation
from seqviz.models import store
from seqviz.ui.quota import charging
from seqviz.ui.runtime import metrics
from seqviz.ui.runtime.clients import ClientQuota, LeakyBucket, by_scope, client_registry, key_of
from seqviz.ui.runtime.scheduler import Priority
from seqviz.ui.server import deprecated_http, shutdown
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
# Streams of one seat, and of one teacher: where there are more, the oldest gives way.
SEAT_LINES, TEACHER_LINES = 3, 12
# At once, and a second. Whoever holds a token or a seat has a budget of its own: what others do is
# not counted in it.
RETURNS = (60, 1.0)  # of a teacher or a seat: pages that are loaded again, lines that are lost
SEATS, ROOMS, SAID = (20, 1 / 10), (6, 1 / 120), (40, 2.0)  # new ones of a device; what a seat says
SHARED_SEATS = (400, 2.0)  # new ones of all at an address that cannot be told apart: a class
TAUGHT = (120, 12.0)  # what a teacher says: a page tells ten times a second where its hand is
MAX_WAITING = 1000  # look-ups of one address that wait for their turn
RUNS, PICTURES = (6, 1 / 5), (60, 3.0)  # of a room that runs a bench, and a seat that looks at it


@dataclass
class RoomUsage:
    """What one device has used."""

    seats: LeakyBucket = field(default_factory=LeakyBucket)
    rooms: LeakyBucket = field(default_factory=LeakyBucket)


class RoomBackend(Protocol):
    """What computes and draws for a class: `ui.classroom.seed_experiment`, which is above this."""

    def start(self, room: Room, account: ClientQuota) -> None:
        """Compute the room's run."""

    async def render_run(self, room: Room, lang: str, presenting: bool) -> bytes:
        """It as it stands."""

    async def broadcast_frames(
        self,
        location: Mapping[str, Any],
        before: Mapping[str, Any],
        requested: Set[ViewKey],
        account: ClientQuota,
    ) -> Mapping[ViewKey, bytes]:
        """What a teacher shows after another place, for pages with these keys, as it is told."""


runner: Callable[[], RoomBackend]  # set by who has it


@dataclass
class RoomService:
    """All rooms of this process, and who has asked how often."""

    rooms: Rooms = field(default_factory=Rooms)
    used: weakref.WeakKeyDictionary[ClientQuota, RoomUsage] = field(
        default_factory=weakref.WeakKeyDictionary
    )
    message_buckets: weakref.WeakKeyDictionary[Seat | Room, LeakyBucket] = field(
        default_factory=weakref.WeakKeyDictionary
    )
    ran: weakref.WeakKeyDictionary[Room, LeakyBucket] = field(
        default_factory=weakref.WeakKeyDictionary
    )
    looked: weakref.WeakKeyDictionary[Seat | Room, LeakyBucket] = field(
        default_factory=weakref.WeakKeyDictionary
    )
    returned: weakref.WeakKeyDictionary[Seat | Room, LeakyBucket] = field(
        default_factory=weakref.WeakKeyDictionary
    )
    written: weakref.WeakKeyDictionary[Room, dict[str, PendingExport]] = field(
        default_factory=weakref.WeakKeyDictionary
    )
    is_closing: bool = False
    gates: TTLCache[str, Gate] = field(default_factory=lambda: TTLCache(20_000, LIFE))
    tried: TTLCache[tuple[str, str], bool] = field(default_factory=lambda: TTLCache(20_000, LIFE))

    def close(self) -> None:
        """End all streams: the process is told to end, and their pages look for the next one."""
        self.is_closing = True
        for room in self.rooms:
            room.notify()

    async def find(self, code: str, address: str, account: ClientQuota) -> Room:
        """Return a room by its code alone, as a newcomer has it.

        A code whose letters do not fit together is a slip and counts as nothing. One that is none
        counts as a guess of its address; the same one again does not. Where an address has guessed
        much, its look-ups are answered one after another, right or wrong.

        Raises UserError("mistyped", "no_room", "too_fast").
        """
        code = codes.read(code)
        if len(code) != LETTERS + 1 or not codes.is_valid(code):
            raise UserError("mistyped", "A letter of this code is wrong.")
        gate = self.gates.setdefault(address, Gate())
        await gate.pass_through(account)
        try:
            return self.rooms.find(code)
        except UserError:
            if (address, code) not in self.tried:
                self.tried[address, code] = True
                gate.wrong.consume(1.0, *WRONG)
            raise


_pause = asyncio.sleep


class Gate:
    """Look-ups of codes from one address: at once, or in turn while many of them are wrong.

    Devices take turns, so a newcomer with a cookie of its own waits for one look-up of each other
    device at most, however many a single one has sent.
    """

    def __init__(self) -> None:
        self.wrong = LeakyBucket()
        self._waiting: OrderedDict[ClientQuota, deque[asyncio.Future[None]]] = OrderedDict()
        self._serving: asyncio.Task[None] | None = None

    async def pass_through(self, account: ClientQuota) -> None:
        """Wait for a turn.

        Raises UserError("too_fast") for the last one of the device that has most, where very many
        wait.
        """
        if not self.wrong.retry_after(*WRONG):
            return
        metrics.refused("room")
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(account, deque()).append(turn)
        if sum(map(len, self._waiting.values())) > MAX_WAITING:
            self._refuse_one()
        if self._serving is None or self._serving.done():
            self._serving = asyncio.create_task(self._serve())
        await turn

    def _refuse_one(self) -> None:
        longest = max(self._waiting, key=lambda account: len(self._waiting[account]))
        turn = self._waiting[longest].pop()
        if not self._waiting[longest]:
            del self._waiting[longest]
        if not turn.done():
            turn.set_exception(
                UserError("too_fast", "Many codes are being tried from here.", seconds=60)
            )

    async def _serve(self) -> None:
        while self._waiting:
            await _pause(1 / WRONG[1])
            account, turns = self._waiting.popitem(last=False)
            turn = turns.popleft()
            if turns:
                self._waiting[account] = turns
            if not turn.done():
                turn.set_result(None)


@dataclass(eq=False)
class PendingExport:
    """Bytes that a thread writes. version: of the room when it began; None: it waits."""

    variant: object
    version: object = None
    future: asyncio.Future[bytes] = field(init=False)


@cache
def room_service() -> RoomService:
    """Of this process; its rooms come back after a restart where their key is kept."""
    folder = store.cache()
    credentials = load_credentials(folder, settings.value("SEQVIZ_ROOM_KEY"))
    closed = ClosedRooms(folder, LIFE)
    rooms = Rooms(
        credentials=credentials,
        closed=closed,
        count_addresses=lambda: client_registry().n_addresses,
    )
    room_service = RoomService(rooms)
    shutdown.on_shutdown(room_service.close)
    return room_service


def _let_in(bucket: LeakyBucket, limit: tuple[float, float], amount: float = 1.0) -> None:
    """Count a use. Raises UserError("too_fast") with the seconds to wait."""
    if wait := bucket.retry_after(*limit):
        metrics.refused("room")
        raise UserError("too_fast", f"Too much at once. Wait {wait:.0f} s.", seconds=int(wait) + 1)
    if amount:
        bucket.consume(amount, *limit)


Answering = Callable[["Request"], Awaitable[Response]]
STATUS = {"no_room": 404, "not_yours": 403, "sent_out": 403, "too_fast": 429, "bad": 400,
          "mistyped": 400, "large": 413}  # fmt: skip


def _told(answer: Answering) -> Answering:
    """A refusal is an answer, too; where something is said it has to come from a page of ours."""

    @wraps(answer)
    async def answering(request: Request) -> Response:
        try:
            if request.method == "POST" and OURS not in request.headers:
                raise UserError("bad", "This is for pages of this site.")
            if not _is_written_plainly(request):
                raise UserError("no_room", "This is not how a room is asked for.")
            return await answer(request)
        except UserError as refusal:
            status = STATUS.get(refusal.code, 409)
            return JSONResponse({"problem": refusal.code, **refusal.details}, status)

    return answering


def _is_written_plainly(request: Request) -> bool:
    """Return whether the path names the room as our pages do.

    A proxy leads to the process of a room by what stands there (deploy/haproxy.cfg). Written
    otherwise, it would lead to another one, where any seat brings up the same room; and by the
    answer to that, the proxy would lead the class there.
    """
    code = request.path_params.get("code")
    # Servers need not give the raw path; then there is none that could differ.
    raw = (request.scope.get("raw_path") or request.scope["path"].encode()).decode("latin-1")
    result = raw.rpartition("/room")[2].partition("?")[0].split("/")
    return result[:2] == (["", code] if code else [""]) and codes.read(code or "") == (code or "")


async def _body(request: Request) -> Mapping[str, Any]:
    """What is said, an object of JSON. Raises UserError("large", "bad")."""
    read = bytearray()
    async for part in request.stream():
        read += part
        if len(read) > LARGEST:
            raise UserError("large", f"At most {LARGEST} bytes.", most=LARGEST)
    try:
        result = json.loads(read or b"{}")
        json.dumps(result, ensure_ascii=False).encode()  # half a pair could be told to nobody
    except (ValueError, RecursionError):
        result = None
    if not isinstance(result, dict):
        raise UserError("bad", "This is no object of JSON.")
    return result


def _text(message: Mapping[str, Any], name: str) -> str:
    result = message.get(name, "")
    return result if isinstance(result, str) else ""


@_told
async def create_room(request: Request) -> Response:
    """A new room: {"code", "token"}. The server chooses both."""
    address, device = by_scope(request.scope)
    account = client_registry().get(address, device)
    used = room_service().used.setdefault(account, RoomUsage())
    _let_in(used.rooms, (ROOMS[0] * account.students, ROOMS[1]))
    room = room_service().rooms.open(address)
    token = room.credentials.issue_teacher(room.code, room.opened_at)
    return _entered(room, {"code": room.code, "token": token})


@_told
async def taught(request: Request) -> Response:
    """The teacher comes back: {"code"}. The room is opened again where this server has lost it."""
    address, _ = by_scope(request.scope)
    token = request.headers.get(TEACHER, "")
    room = room_service().rooms.find_by_teacher(request.path_params["code"], token, address)
    _let_in(room_service().returned.setdefault(room, LeakyBucket()), RETURNS)
    return _entered(room, {"code": room.code})


@_told
async def join_room(request: Request) -> Response:
    """A seat: {"number", "seat"}; the latter is its secret. It may be claimed by an old one."""
    address, device = by_scope(request.scope)
    account = client_registry().get(address, device)
    claimed, code = _text(await _body(request), "seat"), request.path_params["code"]
    rooms = room_service().rooms
    if rooms.credentials.opened_by_seat(claimed, codes.read(code)):
        room = rooms.find_by_seat(code, claimed, address)
    else:
        room = await room_service().find(code, address, account)
    if not (returns := room.can_return(claimed)):
        used = room_service().used.setdefault(account, RoomUsage())
        _let_in(used.seats, SHARED_SEATS if account.shared else SEATS)
    seat, secret = rooms.join(room, claimed, key_of(device) if device else "", address)
    if returns:
        _let_in(room_service().returned.setdefault(seat, LeakyBucket()), RETURNS)
    return _entered(room, {"number": seat.number, "seat": secret})


def _entered(room: Room, answer: Mapping[str, Any]) -> Response:
    """An answer by which a proxy learns in which process the room is (deploy/haproxy.cfg)."""
    return JSONResponse(answer, headers={OURS: room.code})


async def _who(request: Request) -> tuple[Room, Seat | None]:
    """The room, and the seat of who asks; None: its teacher.

    Whoever proves neither is told the same, whether there is such a room or not: Raises
    UserError("no_room"). UserError("not_yours"): a seat that was freed.
    """
    rooms, code = room_service().rooms, codes.read(request.path_params["code"])
    secret = request.headers.get(SEAT, "")
    if (token := request.headers.get(TEACHER)) is not None:
        opened = rooms.credentials.opened_by_teacher(token, code)
    else:
        opened = (rooms.credentials.opened_by_seat(secret, code) or (0, None))[1]
    room = rooms.get(code, opened)
    if token is not None:
        return room, None
    if seat := room.seat(secret):
        return room, seat
    raise UserError("not_yours", "This seat is not in this room.")


@_told
async def post_message(request: Request) -> Response:
    """Something that a teacher or a student says: see `Room.tell` and `Room.hear`."""
    room, seat = await _who(request)
    _let_in(
        room_service().message_buckets.setdefault(seat or room, LeakyBucket()),
        SAID if seat else TAUGHT,
    )
    words: Mapping[str, Any] = deprecated_http.current_message(await _body(request))
    runs = seat is None and words.get("kind") == "run"
    if runs:
        _let_in(room_service().ran.setdefault(room, LeakyBucket()), RUNS)
    try:
        if seat is None and words.get("kind") == "navigate":
            await _place(room, words, client_registry().get(*by_scope(request.scope)))
        elif seat is None:
            room.apply_teacher_message(words)
        else:
            if words.get("kind") in ("send", "text"):  # may import a lesson
                words = await asyncio.to_thread(room_validation.validate_message, words)
            elif words.get("kind") == "presence":
                where = room_validation.known_place(words.get("bench"))
                goals = room_validation.known_goals(words.get("goals"))
                words = {**words, "bench": where, "goals": goals}
            room.apply_student_message(seat, words)
    except InvalidMessageError:
        raise UserError("bad", "This cannot be said here.") from None
    if runs:
        runner().start(room, client_registry().get(*by_scope(request.scope)))
    return Response(status_code=204)


async def _place(room: Room, words: Mapping[str, Any], account: ClientQuota) -> None:
    """Tell where the teacher is, with the pictures that the class would ask for.

    One is drawn at a time; of what is said meanwhile, only the last is drawn and told.
    """
    position = shows(words)
    room.saying = position
    async with room.drawing:
        if room.saying is not position:
            return
        pictures: Mapping[ViewKey, bytes] = {}
        if requested := room.view_keys(position):
            rendered = asyncio.ensure_future(
                runner().broadcast_frames(position, room.location, requested, account)
            )
            await asyncio.wait((rendered,), timeout=DRAWN_WITHIN)
            pictures = rendered.result() if rendered.done() else {}
        room.apply_teacher_message(words, pictures)


@_told
async def get_run(request: Request) -> Response:
    """What the class runs, as it stands."""
    room, seat = await _who(request)
    _let_in(room_service().looked.setdefault(seat or room, LeakyBucket()), PICTURES)
    query = request.query_params
    body = await runner().render_run(room, query.get("lang", ""), query.get("present") == "true")
    if not body:
        return Response(status_code=204)
    headers = {"cache-control": "no-store"}
    if body.startswith(GZIP):
        headers["content-encoding"] = "gzip"
    return Response(body, 200, headers, "text/plain; charset=utf-8")


@_told
async def list_texts(request: Request) -> Response:
    """The texts that the teacher has approved: see `Room.texts`."""
    room, seat = await _who(request)
    _let_in(room_service().message_buckets.setdefault(seat or room, LeakyBucket()), SAID)

    def prepare() -> Callable[[], bytes]:
        return partial(_to_json, {"texts": room.texts()})

    return await _written(request, room, "board", lambda: room.board.revision, prepare)


@_told
async def next_pending_text(request: Request) -> Response:
    """The first text that waits, for the teacher: {"number", "text", "seat", "device"}, or {}."""
    room = await _teachers(request)
    if (line := room.board.first()) is None:
        return JSONResponse({})
    payload = {"number": line.number, "text": line.text, "seat": line.seat}
    return JSONResponse({**payload, "device": room.is_told_apart(line.seat)})


async def _teachers(request: Request) -> Room:
    """The room, for its teacher alone. Raises UserError("not_yours")."""
    room, seat = await _who(request)
    if seat is not None:
        raise UserError("not_yours", "This is the teacher's.")
    return room


@_told
async def sent(request: Request) -> Response:
    """What a student has sent, for the teacher: {"lesson", "bench", "values", "text_keys"}.

    The stream tells that it is there, and its number; its values may be long.
    """
    room = await _teachers(request)
    result = room.sent.get(request.path_params["number"])
    if result is None:
        raise UserError("bad", "This was thrown away.")
    answer = {**result.location, "text_keys": result.text_keys}
    if deprecated_http.is_deprecated(request.scope):
        answer = deprecated_http.deprecated_answer(answer)
    return JSONResponse(answer)


@_told
async def export_summary(request: Request) -> Response:
    """What is left of a lecture, for its teacher: see `Room.record`."""
    room = await _teachers(request)

    def prepare() -> Callable[[], bytes]:
        record = room.record()
        return lambda: _to_json(record.to_dict())

    return await _written(request, room, "summary", lambda: room.version, prepare)


@_told
async def export_notebook(request: Request) -> Response:
    """The same as a notebook, in the "language" and with links to the "address" that are said."""
    room, query = await _teachers(request), await _body(request)
    _let_in(room_service().message_buckets.setdefault(room, LeakyBucket()), SAID)
    language, address = matching(_text(query, "language")), _text(query, "address")
    if language is None or not re.fullmatch(r"https?://[\w.:\[\]~/-]{1,200}/", address):
        raise UserError("bad", "These are no language and address.")
    from seqviz.export import room_report  # with what a lesson computes; nobody else waits

    def prepare() -> Callable[[], bytes]:
        record = room.record()
        return lambda: room_report.build(record.to_dict(), Text(language), address)

    kind = "application/x-ipynb+json"
    return await _written(
        request, room, "notebook", lambda: room.version, prepare, kind, (language, address)
    )


@_told
async def get_drawings(request: Request) -> Response:
    """What a class has drawn, once it is revealed: see `DrawnPredictions.snapshot`."""
    room, seat = await _who(request)
    sketches, teacher = room.revealed(), seat is None

    def prepare() -> Callable[[], bytes]:
        return lambda: _to_json(sketches.snapshot(teacher))

    name = "drawings for the teacher" if teacher else "drawings"
    return await _written(request, room, name, lambda: sketches.number, prepare)


async def _written(
    request: Request,
    room: Room,
    name: str,
    version: Callable[[], object],
    prepare: Callable[[], Callable[[], bytes]],
    media_type: str = "application/json",
    variant: object = None,
) -> Response:
    """Answer with bytes that a thread writes, once a version for all who ask.

    One thing of each name is written at a time in a room; whoever comes meanwhile waits for the
    next. It counts as computed for who was the first to ask.

    Args:
        request: what is answered.
        room: whose state is written.
        name: of what is written.
        version: of that now.
        prepare: copies what is needed, on the event loop; returns what the thread does with it.
        media_type: of the bytes.
        variant: what the request itself has chosen.

    Raises:
        UserError: "too_fast" where this account has computed too much.
    """
    account = client_registry().get(*by_scope(request.scope))
    written = room_service().written.setdefault(room, {})
    last = written.get(name)
    if last is None or last.variant != variant or last.version not in (None, version()):
        if wait := account.seconds.retry_after(*charging.seconds_of(account)):
            metrics.refused("room")
            raise UserError("too_fast", "Too much at once.", seconds=int(wait) + 1)
        new, before = PendingExport(variant), last

        async def write_in_turn() -> bytes:
            if before is not None:
                await asyncio.wait((before.future,))
            new.version, write = version(), prepare()

            def charged() -> bytes:
                with charging.charge_cpu(account, Priority.EXPORT):
                    return write()

            return await asyncio.to_thread(charged)

        new.future = asyncio.ensure_future(write_in_turn())
        written[name] = last = new
    return Response(await asyncio.shield(last.future), media_type=media_type)


def _to_json(answer: Mapping[str, Any]) -> bytes:
    """Encode one entry of each list at a time: no other thread goes on while the encoder works."""
    encode = partial(json.dumps, ensure_ascii=False, separators=(",", ":"))
    fields = []
    for name, value in answer.items():
        listed = isinstance(value, list)
        text = f"[{','.join([encode(item) for item in value])}]" if listed else encode(value)
        fields.append(f"{encode(name)}:{text}")
    return f"{{{','.join(fields)}}}".encode()


@_told
async def stream_events(request: Request) -> Response:
    """What the room is, now and after each change: events as a server sends them."""
    room, seat = await _who(request)
    _let_in(room_service().returned.setdefault(seat or room, LeakyBucket()), RETURNS)
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    events = _events(room, seat, deprecated_http.is_deprecated(request.scope))
    return StreamingResponse(events, 200, headers, "text/event-stream")


async def _events(
    room: Room, seat: Seat | None, is_deprecated: bool = False
) -> AsyncIterator[bytes]:
    caller = seat or _Teacher(room)
    line = _take_line(room, seat)
    caller.streams += 1
    room.notify()
    payload, pictures = b"", room.pictures  # who comes asks for what stands there
    try:
        while not room_service().is_closing:
            if seat and room.seats.get(seat.number) is not seat:
                yield b'data: {"sent_out": true}\n\n'
                return
            if line.is_displaced:
                yield b'data: {"displaced": true}\n\n'
                return
            changed, ended = room.changed, room.ended
            text = room.snapshot_for(seat) if seat else room.snapshot(teacher=True)
            if text != payload or pictures is not room.pictures:
                picture = b"" if pictures is room.pictures else room.picture(seat)
                payload, pictures = text, room.pictures
                if is_deprecated:
                    text = _to_json(deprecated_http.deprecated_answer(json.loads(text)))
                yield b"%bdata: %b\n\n" % (picture, text)
                if ended:
                    return
                await asyncio.sleep(PAUSE)
                continue
            try:
                await asyncio.wait_for(changed.wait(), HEARTBEAT)
            except TimeoutError:
                room_service().rooms.tidy()
                yield b": here\n\n"
    finally:
        caller.streams -= 1
        with suppress(ValueError):  # displaced
            (seat or room).lines.remove(line)
        if seat:
            seat.seen = seat.line_seen = room.clock()
        room.notify()


def _take_line(room: Room, seat: Seat | None) -> EventStream:
    """A further line of a seat or the teacher; the oldest gives way where there are too many."""
    lines, line = (seat or room).lines, EventStream()
    lines.append(line)
    if len(lines) > (SEAT_LINES if seat else TEACHER_LINES):
        lines.pop(0).is_displaced = True
    return line


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
        Route(start, create_room, methods=["POST"]),
        Route(f"{start}/{{code}}/teacher", taught, methods=["POST"]),
        Route(f"{start}/{{code}}/seat", join_room, methods=["POST"]),
        Route(f"{start}/{{code}}/messages", post_message, methods=["POST"]),
        Route(f"{start}/{{code}}/events", stream_events),
        Route(f"{start}/{{code}}/board", list_texts),
        Route(f"{start}/{{code}}/pending", next_pending_text),
        Route(f"{start}/{{code}}/submissions/{{number:int}}", sent),
        Route(f"{start}/{{code}}/summary", export_summary),
        Route(f"{start}/{{code}}/run", get_run),
        Route(f"{start}/{{code}}/drawings", get_drawings),
        Route(f"{start}/{{code}}/notebook", export_notebook, methods=["POST"]),
    ]
