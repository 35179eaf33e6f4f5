"""One room: who sits in it, what a teacher and students may say, and what everybody is told.

Everything here belongs to one event loop: no lock, and no call waits.
"""

from __future__ import annotations

import asyncio
import hmac
import itertools
import json
import math
import re
import secrets
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from seqviz.classroom.credentials import Credentials
from seqviz.classroom.drawn_predictions import DrawnPredictions
from seqviz.classroom.poll import ROUNDS, Poll
from seqviz.classroom.record import RoomSummary
from seqviz.classroom.seed_experiment import KEPT, SeedExperimentRun
from seqviz.classroom.shared_texts import SharedTexts
from seqviz.classroom.stock import may_take
from seqviz.classroom.storage import ClosedRooms
from seqviz.core.errors import UserError

SEATS = 300
DESERTED = 1800.0  # seconds after which a room ends whose teacher is gone, and a seat is free
AWAY = 60.0  # seconds after which a seat without a stream is nobody's who is here
# In which a page that has lost its line keeps its seat or room, however full it is: as long as it
# was there before, so that a phone or laptop may sleep, within these.
GRACE_S, LONG_GRACE_S = 10.0, 600.0
RESTORE_S = 60.0  # in which pages tell a server that was started anew what was voted and drawn
STUCK = 180.0  # seconds at one bench without a change
SENT, EACH = 300, 3  # settings that students have sent, of all and of one seat
GOALS = 40  # of one seat
QUESTIONS = 40  # of each kind, whose votes or drawings are kept
BENCHES = 80  # that a teacher can allow by name
PLACE = 4000  # characters of what a teacher shows: a lesson's name and the settings of its benches
_KEY = re.compile(r"[a-z]{2}(\.[a-z_][a-z_0-9]*)+")
_NAME = re.compile(r"[a-z_]{1,40}")
_MARK = re.compile(r"[0-9a-f]{24}")
ViewKey = tuple[str, bool, bool]  # of a figure: its language, for a lecture hall, for a dark page


class InvalidMessageError(ValueError):
    """What nobody can say in a room."""


@dataclass(eq=False)
class EventStream:
    """One open stream of a page. is_displaced: a newer one of the same visitor has its place."""

    is_displaced: bool = False


@dataclass(eq=False)
class Seat:
    """One browser of a student. number: from 1 up, which is also its seed. secret: its proof.
    claim: an older one, for which it was given as somebody else had that number. joined_at: when.

    streams: connections that are open. bench: where the student is, "lesson/bench"; moved: since
    when, by the room's clock. is_detached: whether the student has left the teacher's settings.
    view_key: of the figure there; None where the page would not ask for its picture.
    """

    number: int
    secret: str = field(repr=False)
    claim: str = field(default="", repr=False)
    joined_at: float = 0.0
    lines: list[EventStream] = field(default_factory=list, repr=False)
    streams: int = 0
    seen: float = 0.0
    line_seen: float = -math.inf  # when its last stream ended
    device: str = ""  # its mark in this room; empty where the browser brings no name of it
    is_new: bool = False  # nobody had its secret before
    address: str = ""
    bench: str = ""
    moved: float = 0.0
    is_detached: bool = False
    view_key: ViewKey | None = None
    goals: frozenset[str] = frozenset()  # "lesson/target" that its page has shown as reached


@dataclass(frozen=True)
class Sent:
    """What a student has sent: a state of a bench, which the teacher can open and go on from.

    text_keys: of the settings that are texts.
    """

    number: int
    seat: int
    location: Mapping[str, Any]
    text_keys: tuple[str, ...] = ()


@dataclass(eq=False)
class Room:
    """One class. location: what the teacher shows, see `shows`. pictures: of that, as they are
    told, for all whose pages show the same figure.

    opened_at: in seconds since 1970, which its tokens carry; opened: by the room's clock. address:
    from which it was opened. is_door_open: whether newcomers may come in. removed: numbers of seats
    that were sent out, removed_devices: marks of theirs. is_forgotten: this server has lost what it
    knew, and the teacher has said nothing since; restored: when the teacher's page has told it
    again, by the room's clock. epoch: another one after each restart.
    """

    code: str
    opened_at: int
    credentials: Credentials = field(repr=False)
    closed: ClosedRooms = field(repr=False)
    opened: float
    clock: Callable[[], float] = field(repr=False)
    teachers: int = 0  # streams of the teacher's pages
    lines: list[EventStream] = field(default_factory=list, repr=False)  # the same ones
    taught: float = 0.0  # when the last of them was there
    location: dict[str, Any] = field(default_factory=dict)
    pictures: Mapping[ViewKey, bytes] = field(default_factory=dict, repr=False)
    saying: object = None  # the place that is being drawn, or waits for it
    paused: bool = False
    allowed: list[str] = field(default_factory=list)  # "lesson/bench" that students may use; [] all
    ballot: Poll | None = None
    past_polls: list[Poll] = field(default_factory=list)  # those before
    questions: int = 0  # that were put, to a vote or to be drawn
    run: SeedExperimentRun | None = None
    ran: list[SeedExperimentRun] = field(default_factory=list)  # those before
    runs: int = 0
    sketched: list[DrawnPredictions] = field(
        default_factory=list
    )  # drawn questions; the last is put
    seats: dict[int, Seat] = field(default_factory=dict)
    address: str = ""
    is_door_open: bool = True
    removed: set[int] = field(default_factory=set)
    removed_devices: set[str] = field(default_factory=set)
    is_forgotten: bool = False
    restored: float = -math.inf
    epoch: str = field(default_factory=lambda: secrets.token_hex(4))
    sent: dict[int, Sent] = field(default_factory=dict)  # by their numbers, in the teacher's order
    sendings: int = 0
    board: SharedTexts = field(default_factory=SharedTexts)
    version: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    ended: bool = False
    drawing: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)  # of its pictures
    _told: dict[bool, tuple[int, bytes]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Seats that were sent out stay so, whatever happened to the server."""
        closed = self.closed.seats(self.code, self.opened_at)
        self.removed |= {*closed}
        self.removed_devices |= {*closed.values()} - {""}

    def is_teachers(self, token: str) -> bool:
        """Return whether this is the teacher's token; takes as long whatever it is."""
        return self.credentials.opened_by_teacher(token, self.code) == self.opened_at

    def seat(self, secret: str) -> Seat | None:
        """Return the seat that has this secret."""
        number = self._number(secret)
        result = self.seats.get(number) if number else None
        return result if result and hmac.compare_digest(result.secret, secret) else None

    def returned(self, secret: str) -> Seat | None:
        """Return the seat that has this secret, or that was given for it.

        One secret has one seat, whoever has taken its number since the server has lost the room.
        """
        if (result := self.seat(secret)) or not self._number(secret):
            return result
        return next((seat for seat in self.seats.values() if seat.claim == secret), None)

    def can_return(self, secret: str) -> bool:
        """Return whether this secret proves a seat of this room."""
        return bool(self._number(secret))

    def _number(self, secret: str) -> int:
        """The number of the seat for which this room has issued a secret; 0 for any other text."""
        number, opened = self.credentials.opened_by_seat(secret, self.code) or (0, 0)
        return number if opened == self.opened_at else 0

    def join(
        self, claimed: str = "", device: str = "", address: str = "", n_addresses: int = 1
    ) -> tuple[Seat, str]:
        """Take a new seat, or return to the one that this secret is of.

        A server that was started anew knows no seats: who proves to have had one gets a seat, and
        its number again where nobody has that now.

        Args:
            claimed: the secret of a seat, or "".
            device: what the visitor's browser calls its device, if anything; this server has given
                that name, or one before it.
            address: the visitor's.
            n_addresses: how many addresses the server sees.

        Returns:
            The seat, and the secret to show from then on.

        Raises:
            UserError: "sent_out", "door_closed", "room_full".
        """
        if existing := self.returned(claimed):
            return existing, existing.secret
        number = self._number(claimed)
        mark = device and self.credentials.mark_device(self.code, self.opened_at, device)
        if number in self.removed or mark in self.removed_devices:
            raise UserError("sent_out", "The teacher has closed this seat.")
        if not number and not self.is_door_open:
            raise UserError("door_closed", "The teacher lets nobody else in.")
        self._forget()
        held = Counter(seat.address for seat in self.seats.values())
        if not may_take(SEATS, held, address, n_addresses, returns=bool(number)):
            self._free_one()
        secret, claim = claimed, ""
        if is_new := not number or number in self.seats:
            claim = claimed if number else ""
            number = self._free_number()
            secret = self.credentials.issue_seat(self.code, self.opened_at, number)
        now = self.clock()
        seat = Seat(number, secret, claim, now, seen=now, device=mark, is_new=is_new,
                    address=address)  # fmt: skip
        self.seats[number] = seat
        self.notify()
        return seat, secret

    def _free_number(self) -> int:
        """The smallest number that no seat has, nor anybody whose vote or drawing is counted."""
        taken = {*self.seats, *self.removed}
        taken.update(n for ballot in self._ballots() for votes in ballot.votes for n in votes)
        taken.update(n for drawn_predictions in self.sketched for n in drawn_predictions.sketches)
        return next(n for n in itertools.count(1) if n not in taken)

    def is_unused(self) -> bool:
        """Return whether no page of a teacher or student is connected, and none was lately."""
        if self.teachers or any(seat.streams for seat in self.seats.values()):
            return False
        return self.clock() - self.taught > _grace(self.taught - self.opened)

    def unused_seats(self) -> list[Seat]:
        """Return the seats without a line, but for those whose page was there lately."""
        now = self.clock()
        return [
            seat for seat in self.seats.values()
            if not seat.streams and now - seat.seen > _grace(seat.seen - seat.joined_at)
        ]  # fmt: skip

    def _free_one(self) -> None:
        """Free the seat whose page is gone for longest. Raises UserError("room_full")."""
        if not (unused := self.unused_seats()):
            raise UserError("room_full", f"This room has {SEATS} seats, and all are taken.",
                          most=SEATS)  # fmt: skip
        self.free(min(unused, key=lambda seat: seat.seen))

    def free(self, seat: Seat) -> None:
        """Take a seat away; its votes stay counted."""
        del self.seats[seat.number]
        self.notify()

    def remove(self, number: int) -> None:
        """Send a seat out, for as long as this room lives, with what it has voted, drawn and sent.

        Raises KeyError where nobody has it.
        """
        seat = self.seats.pop(number)
        for ballot in self._ballots():
            for votes in ballot.votes:
                votes.pop(number, None)
        for drawn_predictions in self.sketched:
            drawn_predictions.sketches.pop(number, None)
        self.sent = {n: item for n, item in self.sent.items() if item.seat != number}
        self.board.discard_of(number)
        self.removed.add(number)
        self.closed.add(self.code, self.opened_at, number, seat.device)
        if seat.device:
            self.removed_devices.add(seat.device)

    def _of_device(self, number: int) -> list[int]:
        """This seat and, where its device is told apart, all others of that."""
        device = self.seats[number].device
        others = [n for n, seat in self.seats.items() if device and seat.device == device]
        return [*{number, *others}]

    def is_told_apart(self, seat: int) -> bool:
        """Return whether the device of a seat is known from others."""
        return seat in self.seats and bool(self.seats[seat].device)

    def _forget(self) -> None:
        """Seats whose page is gone for long are free again."""
        old = self.clock() - DESERTED
        self.seats = {
            n: seat for n, seat in self.seats.items() if seat.streams or seat.seen > old
        }  # fmt: skip

    def _ballots(self) -> list[Poll]:
        return [*self.past_polls, *([self.ballot] if self.ballot else [])]

    def present(self) -> list[Seat]:
        """The seats of who is here."""
        lately = self.clock() - AWAY
        return [seat for seat in self.seats.values() if seat.streams or seat.seen > lately]

    def notify(self) -> None:
        """Something is to be told: wake whoever waits for it."""
        self.version += 1
        self.changed.set()
        self.changed = asyncio.Event()

    # What a teacher says -------------------------------------------------------------------

    def apply_teacher_message(
        self, message: Mapping[str, Any], pictures: Mapping[ViewKey, bytes] | None = None
    ) -> None:
        """One of the things that a teacher can say: {"kind": ..., ...}. pictures: of a place.

        "navigate": see `shows`. "pause": {"on": bool}. "allow": {"benches": ["lesson/bench"]}, one,
        a range, or none for all. "ask": {"key", "options"}; "close", "reopen", "reveal" the
        question. "sketch": a question that is drawn, {"action": "ask", "key", "type": its kind,
        "most"} as of `DrawnPredictions`, or {"action": "close" or "reveal"}. "door": {"open":
        bool}, whether newcomers may come. "remove": {"seat": its number}, to send it out with all
        of its device. "restore": see `_restore`. "order": what was sent, as numbers in "sent"; what
        is not named is thrown away. "approve", "discard": a text, by its "number". "run": a bench
        as a class, as in `shows`; "stop" it. "end". Raises InvalidMessageError for what is none of
        these, UserError("board_full").
        """
        match message:
            case {"kind": "navigate"}:
                self.location, self.pictures = shows(message), {**(pictures or {})}
                self._allow_on()
            case {"kind": "pause", "on": bool(on)}:
                self.paused = on
            case {"kind": "allow", "benches": list(benches)}:
                if not all(map(_is_place, benches)) or len(benches) > BENCHES:
                    raise InvalidMessageError("benches")
                self.allowed = benches
            case {"kind": "ask", "key": str(key), "options": int(options)}:
                self._ask(key, options)
            case {"kind": "close" | "reopen" | "reveal" as kind} if self.ballot:
                self._go_on(kind)
            case {"kind": "sketch", "action": str(what)}:
                self._sketch(what, message)
            case {"kind": "order", "sent": list(numbers)}:
                self._order(numbers)
            case {"kind": "run"}:
                self._run(shows(message))
            case {"kind": "stop"} if self.run:
                self.run.stopped = True
            case {"kind": "approve" | "discard" as kind, "number": int(number)}:
                try:
                    (self.board.approve if kind == "approve" else self.board.discard)(number)
                except KeyError:
                    raise InvalidMessageError("number") from None
            case {"kind": "door", "open": bool(is_open)}:
                self.is_door_open = is_open
            case {"kind": "remove", "seat": int(number)}:
                if number not in self.seats:
                    raise InvalidMessageError("seat")
                for item in self._of_device(number):
                    self.remove(item)
            case {"kind": "restore"} if self.is_forgotten:
                self._restore(message)
            case {"kind": "end"}:
                self.ended = True
                self.closed.add(self.code, self.opened_at)
            case _:
                raise InvalidMessageError(str(message.get("kind"))[:20])
        self.is_forgotten = False
        self.notify()

    def _restore(self, message: Mapping[str, Any]) -> None:
        """What the teacher's page knows of a room that this server has lost.

        {"paused": bool, "door": bool, "allowed": as of "allow", "removed": numbers of seats,
        "devices": marks of theirs, "ballots": [{"number", "key", "options", "state", "round"}],
        "sketches": [{"number", "key", "type", "most", "state"}]}. Pages of students tell their
        votes and drawings after it ("recall"). Raises InvalidMessageError where it cannot be; the
        room stays as it was.
        """
        match message:
            case {"paused": bool(paused), "door": bool(door), "allowed": list(allowed),
                  "removed": list(removed), "ballots": list(ballots),
                  "sketches": list(sketches)}:  # fmt: skip
                pass
            case _:
                raise InvalidMessageError("restore")
        if not all(map(_is_place, allowed)) or len(allowed) > BENCHES:
            raise InvalidMessageError("benches")
        if not all(type(n) is int and 0 < n < 10_000 for n in removed) or len(removed) > SEATS:
            raise InvalidMessageError("seats")
        devices = message.get("devices", [])
        if not isinstance(devices, list) or len(devices) > SEATS or not all(map(_is_mark, devices)):
            raise InvalidMessageError("devices")
        requests = [_ballot(ballot) for ballot in ballots[-QUESTIONS:]]
        rendered = [_sketches(sketch) for sketch in sketches[-QUESTIONS:]]
        self.paused, self.is_door_open, self.allowed = paused, door, allowed
        self.removed_devices |= {*devices}
        for seat in [*self.seats.values()]:
            proven = self._number(seat.claim if seat.is_new else seat.secret)
            if seat.number in removed and proven not in removed:
                seat.device = ""  # who has come since, and has that number by chance
            if seat.device in self.removed_devices or {seat.number, proven} & {*removed}:
                self.remove(seat.number)
        self.removed |= {*removed}
        self.ballot, self.past_polls = (requests[-1], requests[:-1]) if requests else (None, [])
        self.sketched = rendered
        numbers = [*(item.number for item in requests), *(item.number for item in rendered)]
        self.questions = max(numbers, default=0)
        self.restored = self.clock()

    def _allow_on(self) -> None:
        """One bench alone is that which the teacher shows; a range ends with its lesson."""
        lesson, bench = self.location["lesson"], self.location["bench"]
        if bench and len(self.allowed) == 1:
            self.allowed = [f"{lesson}/{bench}"]
        elif bench and not any(item.startswith(f"{lesson}/") for item in self.allowed):
            self.allowed = []

    def _ask(self, key: str, options: int) -> None:
        if not _KEY.fullmatch(key) or not 2 <= options <= 8:
            raise InvalidMessageError("question")
        if self.ballot:
            self.past_polls = [*self.past_polls, self.ballot][1 - QUESTIONS :]
        self.questions += 1
        self.ballot = Poll(key, options, self.questions)

    def _sketch(self, what: str, message: Mapping[str, Any]) -> None:
        if what in ("close", "reveal") and self.sketched:
            getattr(self.sketched[-1], what)()
            return
        match message:
            case {"action": "ask", "key": key, "type": kind, "most": limits}:
                pass
            case _:
                raise InvalidMessageError("sketch")
        number = self.questions + 1
        drawn_predictions = _sketches(
            {"number": number, "key": key, "type": kind, "most": limits, "state": "open"}
        )
        self.questions = number
        self.sketched = [*self.sketched[1 - QUESTIONS :], drawn_predictions]

    def _order(self, numbers: list[Any]) -> None:
        if not all(isinstance(number, int) and number in self.sent for number in numbers):
            raise InvalidMessageError("order")
        self.sent = {number: self.sent[number] for number in dict.fromkeys(numbers)}

    def _run(self, location: dict[str, Any]) -> None:
        if self.run and self.run.results:
            self.ran = [*self.ran, self.run][-KEPT:]
        self.runs += 1
        self.run = SeedExperimentRun(self.runs, location)

    def _go_on(self, kind: str) -> None:
        assert self.ballot
        if kind == "reopen":
            self.ballot.reopen()
        elif kind == "close":
            self.ballot.close()
        else:
            self.ballot.reveal()

    # What a student says -------------------------------------------------------------------

    def apply_student_message(self, seat: Seat, message: Mapping[str, Any]) -> None:
        """One of the things that a student can say: {"kind": "vote", "number", "round", "option"},
        {"kind": "sketch", "number", "marks": whole numbers}, {"kind": "recall", "votes": [[number,
        round, option]], "sketches": [[number, marks]]}, what a server that was started anew has
        forgotten, {"kind": "presence", "bench": "lesson/bench", "detached": whether it has left the
        teacher's settings, "goals": ["lesson/target"], "view": `ViewKey`, or none},
        {"kind": "send", "lesson", "bench", "values", "text_keys"}, as in `shows`, text_keys: which
        of them are texts, or {"kind": "text", "lesson", "bench", "values", "key", "text"}, a text
        for a bench. Of the last two the caller knows that the lesson has them
        (`lessons.framework.room_validation.validate_message`).

        Raises InvalidMessageError for what is none of these, UserError("vote_closed",
        "sketch_closed"), and what `Board.send` does.
        """
        seat.seen = self.clock()
        match message:
            case {
                "kind": "vote",
                "number": int(number),
                "round": int(round_),
                "option": int(option),
            }:
                self._vote(seat, number, round_, option)
            case {"kind": "recall", "votes": list(votes), "sketches": list(sketches)}:
                self._recall(seat, votes, sketches)
            case {"kind": "sketch", "number": int(number), "marks": list(marks)}:
                request = self.sketched[-1] if self.sketched else None
                if (
                    request is None
                    or request.number != number
                    or not request.draw(seat.number, marks)
                ):
                    raise UserError("sketch_closed", "Nothing is drawn here now.")
            case {
                "kind": "presence",
                "bench": str(bench),
                "detached": bool(is_detached),
                "goals": list(goals),
            }:
                if not all(map(_is_place, (bench, *goals))) or len(goals) > GOALS:
                    raise InvalidMessageError("bench")
                if bench != seat.bench:
                    seat.moved = seat.seen
                seat.bench, seat.is_detached, seat.goals = bench, is_detached, frozenset(goals)
                seat.view_key = _view_key(message.get("view"))
            case {"kind": "send"}:
                self._send(seat, shows(message), tuple(message.get("text_keys", ())))
            case {"kind": "text", "key": str(key), "text": str(text)} if _KEY.fullmatch(key):
                self.board.send(seat.number, shows(message), key, text)
            case _:
                raise InvalidMessageError(str(message.get("kind"))[:20])
        self.notify()

    def _vote(self, seat: Seat, number: int, round_: int, option: int) -> None:
        ballot = self.ballot
        if not seat.streams and seat.line_seen < self.clock() - AWAY:
            raise UserError("no_line", "This page is not connected with the room.")
        if ballot is None or (ballot.number, ballot.round) != (number, round_) \
                or not ballot.vote(seat.number, option, seat.device):  # fmt: skip
            raise UserError("vote_closed", "This vote is closed.")

    def _recall(self, seat: Seat, votes: list[Any], sketches: list[Any]) -> None:
        if self.clock() - self.restored > RESTORE_S:
            raise UserError("vote_closed", "This vote is closed.")
        ballots = {ballot.number: ballot for ballot in self._ballots()}
        rendered = {
            drawn_predictions.number: drawn_predictions for drawn_predictions in self.sketched
        }
        for vote in votes[: 2 * QUESTIONS]:
            match vote:
                case [int(number), int(round_), int(option)] if number in ballots:
                    ballots[number].recall(round_, seat.number, option, seat.device)
        for vote in sketches[:QUESTIONS]:
            match vote:
                case [int(number), list(marks)] if number in rendered:
                    rendered[number].recall(seat.number, marks)

    def _send(self, seat: Seat, location: dict[str, Any], texts: tuple[str, ...]) -> None:
        """Of one seat the last few are kept; of all, none is pushed out by another's."""
        own = [item.number for item in self.sent.values() if item.seat == seat.number]
        for number in own[: len(own) - EACH + 1]:
            del self.sent[number]
        if len(self.sent) >= SENT:
            raise UserError("much_sent", "The teacher has as much as can be kept.")
        self.sendings += 1
        self.sent[self.sendings] = Sent(self.sendings, seat.number, location, texts)

    def record(self) -> RoomSummary:
        """Return a copy of what is left of a lecture; takes little time, whatever it holds."""
        return RoomSummary(
            len(self.seats),
            [
                replace(ballot, votes=[dict(votes) for votes in ballot.votes])
                for ballot in self._ballots()
            ],
            [
                replace(drawn_predictions, sketches=dict(drawn_predictions.sketches))
                for drawn_predictions in self.sketched
            ],
            [item.location for item in self.sent.values()],
            self.texts(),
            self._goals(),
            [
                replace(item, results=dict(item.results))
                for item in (*self.ran, *([self.run] if self.run else []))
            ],
        )

    def texts(self) -> list[dict[str, Any]]:
        """Those on the board, as all may read them."""
        return [line.payload() for line in self.board.approved.values()]

    def _goals(self) -> dict[str, int]:
        return dict(Counter(goal for seat in self.seats.values() for goal in sorted(seat.goals)))

    # What is told --------------------------------------------------------------------------

    def view_keys(self, location: Mapping[str, Any]) -> set[ViewKey]:
        """Of the figure of a place, on the pages that show it and follow."""
        return {
            seat.view_key for seat in self.seats.values()
            if seat.view_key and seat.streams and _follows(seat, location)
        }  # fmt: skip

    def picture(self, seat: Seat | None) -> bytes:
        """What this page would ask for next; empty where nothing was drawn for it."""
        if seat is None or seat.view_key is None or not _follows(seat, self.location):
            return b""
        return self.pictures.get(seat.view_key, b"")

    def snapshot(self, teacher: bool) -> bytes:
        """The room as it stands, as JSON: what all are told, and what only the teacher is.

        Made once for all of one kind after each change.
        """
        created, text = self._told.get(teacher, (-1, b""))
        if created != self.version:
            result = self._public() | (self._for_teacher() if teacher else {})
            text = json.dumps(result, ensure_ascii=False, separators=(",", ":")).encode()
            self._told[teacher] = self.version, text
        return text

    def snapshot_for(self, seat: Seat) -> bytes:
        """What students are told, with the own answers of this one to the last questions."""
        marks = self.sketched[-1].sketches.get(seat.number) if self.sketched else None
        own = {
            "vote": self.ballot.votes[-1].get(seat.number) if self.ballot else None,
            "sketch": None if marks is None else [*marks],
        }
        return b'%b,"answers":%b}' % (self.snapshot(False)[:-1], json.dumps(own).encode())

    def _public(self) -> dict[str, Any]:
        return {
            "place": self.location,
            "paused": self.paused,
            "allowed": self.allowed,
            "board": [self.board.revision, len(self.board.approved)],
            "ballot": self._ballot(),
            "run": self.run.snapshot(self.seats) if self.run else None,
            "sketch": self._sketched(),
            "present": len(self.present()),
            "door": self.is_door_open,
            "epoch": self.epoch,
            "restored": not math.isinf(self.restored),
            "ended": self.ended,
        }

    def _ballot(self) -> dict[str, Any] | None:
        """Nobody, not even the projector, is told a count before it is revealed."""
        if (poll := self.ballot) is None:
            return None
        visible = {"counts": poll.counts(), "flow": poll.flow()} if poll.state == "revealed" else {}
        return {
            "key": poll.key, "number": poll.number, "options": poll.options, "state": poll.state,
            "round": poll.round, "voted": len(poll.votes[-1]), **visible,
        }  # fmt: skip

    def _sketched(self) -> dict[str, Any] | None:
        """Without what was drawn: that is asked for once, see `revealed`."""
        if not self.sketched:
            return None
        item = self.sketched[-1]
        return {
            "key": item.key, "number": item.number, "type": item.kind, "most": [*item.limits],
            "state": item.state, "drawn": len(item.sketches),
        }  # fmt: skip

    def revealed(self) -> DrawnPredictions:
        """Return what was drawn last. Raises UserError("not_revealed")."""
        if not self.sketched or self.sketched[-1].state != "revealed":
            raise UserError("not_revealed", "Nothing is revealed yet.")
        return self.sketched[-1]

    def _for_teacher(self) -> dict[str, Any]:
        here, now = self.present(), self.clock()
        dots: dict[str, list[int]] = {}  # at each bench: how many, and how many of them are stuck
        for seat in here:
            dot = dots.setdefault(seat.bench, [0, 0])
            dot[0] += 1
            dot[1] += bool(seat.bench) and now - seat.moved > STUCK
        sent = [
            {
                "number": item.number,
                "seat": item.seat,
                "device": self.is_told_apart(item.seat),
                "has_text": bool(item.text_keys),
                "lesson": item.location["lesson"],
                "bench": item.location["bench"],
            }
            for item in self.sent.values()
        ]
        left = sum(seat.is_detached for seat in here)
        return {"dots": dots, "detached": left, "goals": self._goals(), "sent": sent,
                "pending": self._waiting(), "removed": sorted(self.removed)[-SEATS:],
                "devices": sorted(self.removed_devices)[-SEATS:],
                "forgotten": self.is_forgotten}  # fmt: skip

    def _waiting(self) -> dict[str, Any]:
        """How many texts wait, and where the first belongs; what it says is asked for apart."""
        line = self.board.first()
        where = {"number": line.number, "lesson": line.location["lesson"],
                 "bench": line.location["bench"]} if line else None  # fmt: skip
        return {"count": len(self.board.pending), "first": where}


def _grace(used: float) -> float:
    """How long what was used for so many seconds is kept for who is gone."""
    return min(max(GRACE_S, used), LONG_GRACE_S)


def _is_place(text: object) -> bool:
    """Whether this is "lesson/bench", or a lesson alone."""
    if not isinstance(text, str):
        return False
    lesson, _, name = text.partition("/")
    return bool(_NAME.fullmatch(lesson) and (not name or _NAME.fullmatch(name)))


def _is_mark(text: object) -> bool:
    """Return whether this is a mark of a device (`Credentials.mark_device`)."""
    return isinstance(text, str) and bool(_MARK.fullmatch(text))


def _ballot(payload: object) -> Poll:
    match payload:
        case {"number": int(number), "key": str(key), "options": int(options),
              "state": "open" | "closed" | "revealed" as state, "round": int(round_)} \
              if _KEY.fullmatch(key) and 2 <= options <= 8 and round_ in (1, ROUNDS):  # fmt: skip
            ballot = Poll(key, options, number)
            if round_ == ROUNDS:
                ballot.reopen()
            ballot.state = state
            return ballot
    raise InvalidMessageError("ballot")


def _sketches(payload: object) -> DrawnPredictions:
    match payload:
        case {"number": int(number), "key": str(key), "type": str(kind), "most": list(limits),
              "state": "open" | "closed" | "revealed" as state} if _KEY.fullmatch(key):  # fmt: skip
            try:
                return DrawnPredictions(key, kind, tuple(limits), number, state)  # type: ignore[arg-type]
            except ValueError:
                pass
    raise InvalidMessageError("sketch")


def _view_key(payload: object) -> ViewKey | None:
    match payload:
        case None:
            return None
        case [str(lang), bool(presenting), bool(dark)] if len(lang) == 2:
            return lang, presenting, dark
    raise InvalidMessageError("view")


def _follows(seat: Seat, location: Mapping[str, Any]) -> bool:
    return not seat.is_detached and seat.bench == f"{location['lesson']}/{location['bench']}"


def shows(message: Mapping[str, Any]) -> dict[str, Any]:
    """What a teacher shows: {"lesson", "bench", "values"}, as it comes from a browser.

    lesson: "" is home. values: settings as they stand in a link. Raises InvalidMessageError for
    what cannot be.
    """
    lesson, bench, values = (message.get(name) for name in ("lesson", "bench", "values"))
    if not isinstance(lesson, str) or not isinstance(bench, str) or not isinstance(values, dict):
        raise InvalidMessageError("place")
    if any(name and not _NAME.fullmatch(name) for name in (lesson, bench)):
        raise InvalidMessageError("place")
    for key, text in values.items():
        if not _KEY.fullmatch(key) or not isinstance(text, str):
            raise InvalidMessageError("place")
    if len(lesson) + sum(len(key) + len(text) for key, text in values.items()) > PLACE:
        raise UserError("long_place", "This text is too long to be shown on all screens.")
    return {"lesson": lesson, "bench": bench, "values": values}
