"""HTTP routes of rooms: create, join, post messages, stream events, export.

No route runs a page's script, and an open stream costs nothing until an event is sent. Errors are
returned as code and details; the browser has the sentences. Tokens and secrets travel only in
headers, never in a URL.

When a teacher moves a control, all followers would request the same figure: it is rendered once and
sent with the event. A slow connection gets fewer events, and always the latest.
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
OURS = "x-seqviz-room"  # a page of another site cannot send this header
LARGEST = 16_384  # bytes of a message
GZIP = b"\x1f\x8b"
HEARTBEAT = 15.0  # seconds; proxies close a connection that is silent for a minute
PAUSE = 0.05  # seconds between two events; of faster changes only the last is sent
DRAWN_WITHIN = 0.5  # seconds, after which a move is sent without its figure
# Streams of one seat and of one teacher; a further one replaces the oldest.
SEAT_LINES, TEACHER_LINES = 3, 12
# Rate limits: burst, and refill per second. Each token or seat has its own budget.
RETURNS = (60, 1.0)  # of a teacher or a seat: reloads and reconnects
SEATS, ROOMS, SAID = (20, 1 / 10), (6, 1 / 120), (40, 2.0)  # new ones per device; a seat's messages
SHARED_SEATS = (400, 2.0)  # new ones of a shared address, such as a class
TAUGHT = (120, 12.0)  # messages of a teacher: a drag sends ten per second
MAX_WAITING = 1000  # waiting look-ups of one address
RUNS, PICTURES = (6, 1 / 5), (60, 3.0)  # runs of a room; a seat's requests of their figure


@dataclass
class RoomUsage:
    """Rate limits of one device.

    Attributes:
        seats: new seats.
        rooms: new rooms.
    """

    seats: LeakyBucket = field(default_factory=LeakyBucket)
    rooms: LeakyBucket = field(default_factory=LeakyBucket)


class RoomBackend(Protocol):
    """Interface of what computes and renders for a class (`ui.classroom.seed_experiment`)."""

    def start(self, room: Room, account: ClientQuota) -> None:
        """Compute the room's run."""

    async def render_run(self, room: Room, lang: str, presenting: bool) -> bytes:
        """Return the current figure of the run."""

    async def broadcast_frames(
        self,
        location: Mapping[str, Any],
        before: Mapping[str, Any],
        requested: Set[ViewKey],
        account: ClientQuota,
        answered: Set[str],
    ) -> Mapping[ViewKey, bytes]:
        """Return the events of a move, by view key; see `broadcast.broadcast_frames`."""


runner: Callable[[], RoomBackend]  # set by `ui.app.router`


@dataclass
class RoomService:
    """All rooms of this process, with their rate limits and exports.

    Attributes:
        rooms: by code.
        used: per device.
        message_buckets: messages per seat or teacher.
        ran: seed experiments per room.
        looked: requests of the run's figure per seat or teacher.
        returned: reconnects per seat or teacher.
        written: exports in progress per room.
        is_closing: the process is ending.
        gates: look-ups of codes per address.
        tried: wrong codes per address.
    """

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
        """End all streams at shutdown; their pages reconnect to another process."""
        self.is_closing = True
        for room in self.rooms:
            room.notify()

    async def find(self, code: str, address: str, account: ClientQuota) -> Room:
        """Return a room by its code alone, as for a newcomer.

        A code with a wrong check letter is a typing error and not counted. A valid code without a
        room counts as a guess of its address, once per code. After many guesses the look-ups of an
        address are answered one after another, right or wrong.

        Args:
            code: as typed.
            address: of the client.
            account: quota of the client.

        Raises:
            UserError: "mistyped", "no_room" or "too_fast".
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
    """Look-ups of codes from one address: immediate, or one after another after many wrong ones.

    Devices take turns, so a newcomer with a cookie waits for at most one look-up of each other
    device, however many that device has sent.
    """

    def __init__(self) -> None:
        self.wrong = LeakyBucket()
        self._waiting: OrderedDict[ClientQuota, deque[asyncio.Future[None]]] = OrderedDict()
        self._serving: asyncio.Task[None] | None = None

    async def pass_through(self, account: ClientQuota) -> None:
        """Wait for a turn.

        Raises UserError("too_fast") for the last look-up of the device with the most, where more
        than MAX_WAITING wait.
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
    """An export that a thread writes.

    Attributes:
        variant: options of the request.
        version: of the room when writing began; None: it waits.
        future: the bytes.
    """

    variant: object
    version: object = None
    future: asyncio.Future[bytes] = field(init=False)


@cache
def room_service() -> RoomService:
    """Return the rooms of this process, restored after a restart if their key is kept."""
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
    """Count a use; raises UserError("too_fast") with the seconds to wait."""
    if wait := bucket.retry_after(*limit):
        metrics.refused("room")
        raise UserError("too_fast", f"Too much at once. Wait {wait:.0f} s.", seconds=int(wait) + 1)
    if amount:
        bucket.consume(amount, *limit)


Answering = Callable[["Request"], Awaitable[Response]]
STATUS = {"no_room": 404, "not_yours": 403, "sent_out": 403, "too_fast": 429, "bad": 400,
          "mistyped": 400, "large": 413}  # fmt: skip


def _told(answer: Answering) -> Answering:
    """Make a handler respond with the code of a UserError, and check the origin of a POST."""

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
    """Return True where the path names the room exactly as the app's pages do.

    A proxy selects the process of a room by that part of the path (deploy/haproxy.cfg). Another
    spelling would select another process, where any seat restores the same room; from that
    response, the proxy would send the class there.
    """
    code = request.path_params.get("code")
    # Servers need not provide the raw path; without one nothing can differ.
    raw = (request.scope.get("raw_path") or request.scope["path"].encode()).decode("latin-1")
    result = raw.rpartition("/room")[2].partition("?")[0].split("/")
    return result[:2] == (["", code] if code else [""]) and codes.read(code or "") == (code or "")


async def _body(request: Request) -> Mapping[str, Any]:
    """Return the message, a JSON object; raises UserError("large", "bad")."""
    read = bytearray()
    async for part in request.stream():
        read += part
        if len(read) > LARGEST:
            raise UserError("large", f"At most {LARGEST} bytes.", most=LARGEST)
    try:
        result = json.loads(read or b"{}")
        json.dumps(result, ensure_ascii=False).encode()  # rejects lone surrogates
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
    """Create a room and respond with {"code", "token"}, both chosen by the server."""
    address, device = by_scope(request.scope)
    account = client_registry().get(address, device)
    used = room_service().used.setdefault(account, RoomUsage())
    _let_in(used.rooms, (ROOMS[0] * account.students, ROOMS[1]))
    room = room_service().rooms.open(address)
    token = room.credentials.issue_teacher(room.code, room.opened_at)
    return _entered(room, {"code": room.code, "token": token})


@_told
async def taught(request: Request) -> Response:
    """Reconnect a teacher and respond with {"code"}; a lost room is restored."""
    address, _ = by_scope(request.scope)
    token = request.headers.get(TEACHER, "")
    room = room_service().rooms.find_by_teacher(request.path_params["code"], token, address)
    _let_in(room_service().returned.setdefault(room, LeakyBucket()), RETURNS)
    return _entered(room, {"code": room.code})


@_told
async def join_room(request: Request) -> Response:
    """Respond with a seat: {"number", "seat"}, the latter its secret; an old secret reclaims it."""
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
    """Return a response that tells a proxy the process of the room (deploy/haproxy.cfg)."""
    return JSONResponse(answer, headers={OURS: room.code})


async def _who(request: Request) -> tuple[Room, Seat | None]:
    """Return the room and the caller's seat; None for its teacher.

    Without a valid token or seat it raises UserError("no_room"), whether the room exists or not,
    and UserError("not_yours") for a seat that was freed.
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
    """Apply a message of a teacher or student: see `Room.apply_teacher_message`."""
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
            if words.get("kind") in ("send", "text"):  # validation may import a lesson
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
    """Send the teacher's location with the figures that followers would request.

    One move is rendered at a time; of moves that arrive meanwhile, only the last is rendered and
    sent.
    """
    position = shows(words)
    room.saying = position
    async with room.drawing:
        if room.saying is not position:
            return
        pictures: Mapping[ViewKey, bytes] = {}
        if requested := room.view_keys(position):
            rendered = asyncio.ensure_future(
                runner().broadcast_frames(
                    position, room.location, requested, account, room.revealed_keys()
                )
            )
            await asyncio.wait((rendered,), timeout=DRAWN_WITHIN)
            pictures = rendered.result() if rendered.done() else {}
        room.apply_teacher_message(words, pictures)


@_told
async def get_run(request: Request) -> Response:
    """Respond with the current figure of the seed experiment."""
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
    """Respond with the texts that the teacher has approved: see `Room.texts`."""
    room, seat = await _who(request)
    _let_in(room_service().message_buckets.setdefault(seat or room, LeakyBucket()), SAID)

    def prepare() -> Callable[[], bytes]:
        return partial(_to_json, {"texts": room.texts()})

    return await _written(request, room, "board", lambda: room.board.revision, prepare)


@_told
async def next_pending_text(request: Request) -> Response:
    """Respond to the teacher with the first pending text, or {}.

    Its fields are "number", "text", "seat" and "device".
    """
    room = await _teachers(request)
    if (line := room.board.first()) is None:
        return JSONResponse({})
    payload = {"number": line.number, "text": line.text, "seat": line.seat}
    return JSONResponse({**payload, "device": room.is_told_apart(line.seat)})


async def _teachers(request: Request) -> Room:
    """Return the room if the caller is its teacher; raises UserError("not_yours")."""
    room, seat = await _who(request)
    if seat is not None:
        raise UserError("not_yours", "This is the teacher's.")
    return room


@_told
async def sent(request: Request) -> Response:
    """Respond to the teacher with a submission: a location, "text_keys" and "note".

    The event stream has only its number, because the values may be long.
    """
    room = await _teachers(request)
    result = room.sent.get(request.path_params["number"])
    if result is None:
        raise UserError("bad", "This was thrown away.")
    answer = {**result.location, "text_keys": result.text_keys, "note": result.note}
    if deprecated_http.is_deprecated(request.scope):
        answer = deprecated_http.deprecated_answer(answer)
    return JSONResponse(answer)


@_told
async def export_summary(request: Request) -> Response:
    """Respond to the teacher with the record of the lecture: see `Room.record`."""
    room = await _teachers(request)

    def prepare() -> Callable[[], bytes]:
        record = room.record()
        return lambda: _to_json(record.to_dict())

    return await _written(request, room, "summary", lambda: room.version, prepare)


@_told
async def export_notebook(request: Request) -> Response:
    """Respond with the record as a notebook, in a "language" and with links to an "address"."""
    room, query = await _teachers(request), await _body(request)
    _let_in(room_service().message_buckets.setdefault(room, LeakyBucket()), SAID)
    language, address = matching(_text(query, "language")), _text(query, "address")
    if language is None or not re.fullmatch(r"https?://[\w.:\[\]~/-]{1,200}/", address):
        raise UserError("bad", "These are no language and address.")
    from seqviz.export import room_report  # slow to import, needed only here

    def prepare() -> Callable[[], bytes]:
        record = room.record()
        return lambda: room_report.build(record.to_dict(), Text(language), address)

    kind = "application/x-ipynb+json"
    return await _written(
        request, room, "notebook", lambda: room.version, prepare, kind, (language, address)
    )


@_told
async def get_drawings(request: Request) -> Response:
    """Respond with the revealed drawings of the class: see `DrawnPredictions.snapshot`."""
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
    """Respond with bytes that a thread writes, once per version for all callers.

    One export of each name is written at a time in a room; later callers wait for the next. The
    first caller is charged.

    Args:
        request: to respond to.
        room: whose state is written.
        name: of the export.
        version: returns its current version.
        prepare: copies the state on the event loop; returns the function that the thread runs.
        media_type: of the bytes.
        variant: options of the request.

    Raises:
        UserError: "too_fast" where the account has no CPU time left.
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
    """Return JSON, encoding lists entry by entry, because the encoder blocks all other threads."""
    encode = partial(json.dumps, ensure_ascii=False, separators=(",", ":"))
    fields = []
    for name, value in answer.items():
        listed = isinstance(value, list)
        text = f"[{','.join([encode(item) for item in value])}]" if listed else encode(value)
        fields.append(f"{encode(name)}:{text}")
    return f"{{{','.join(fields)}}}".encode()


@_told
async def stream_events(request: Request) -> Response:
    """Stream the room's state, now and after each change, as server-sent events."""
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
    payload, pictures = b"", room.pictures  # a new stream requests the current figure itself
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
    """Register a stream of a seat or teacher; the oldest ends where there are too many."""
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
    """Return the routes of rooms."""
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
