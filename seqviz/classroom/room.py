"""One room: its seats, the messages that teacher and students send, and its snapshots.

All methods run in one event loop, so there are no locks, and no method blocks.
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
from seqviz.classroom.ink import parse_strokes
from seqviz.classroom.poll import ROUNDS, Poll
from seqviz.classroom.record import RoomSummary
from seqviz.classroom.seed_experiment import KEPT, SeedExperimentRun
from seqviz.classroom.shared_texts import SharedTexts
from seqviz.classroom.stock import may_take
from seqviz.classroom.storage import ClosedRooms
from seqviz.core.errors import UserError

SEATS = 300
DESERTED = 1800.0  # seconds without a page until a room ends, or a seat is freed
AWAY = 60.0  # seconds without a stream until a seat counts as absent
# A disconnected page keeps its seat or room for as many seconds as it was connected before, within
# these bounds, even if the room is full: a phone or laptop may sleep.
GRACE_S, LONG_GRACE_S = 10.0, 600.0
RESTORE_S = 60.0  # seconds in which pages may restore votes and drawings after a restart
STUCK = 180.0  # seconds at one bench after which a student counts as stuck
SENT, EACH = 300, 3  # maximum number of states sent by students: in all, per seat
GOALS = 40  # maximum number of targets per seat
QUESTIONS = 40  # maximum number of stored polls, and of stored drawn predictions
BENCHES = 80  # maximum number of benches allowed by name
PLACE = 4000  # maximum characters of a location: names and settings
_KEY = re.compile(r"[a-z]{2}(\.[a-z_][a-z_0-9]*)+")
_NAME = re.compile(r"[a-z_]{1,40}")
_MARK = re.compile(r"[0-9a-f]{24}")
ViewKey = tuple[str, bool, bool]  # view of a figure: language, presentation mode, dark theme


class InvalidMessageError(ValueError):
    """A room message that fails validation."""


@dataclass(eq=False)
class EventStream:
    """One open event stream of a page.

    Attributes:
        is_displaced: True where a newer stream of the same visitor has replaced it.
    """

    is_displaced: bool = False


@dataclass(eq=False)
class Seat:
    """One browser of a student.

    Attributes:
        number: number of the seat from 1, which is also its seed.
        secret: token that proves the right to the seat.
        claim: an older secret for which the seat was given, because its number was taken.
        joined_at: time of joining, by the room's clock.
        lines: open event streams.
        streams: number of open connections.
        seen: time of the last activity, by the room's clock.
        line_seen: time when its last stream ended, by the room's clock.
        device: pseudonym of the device in this room; empty if the browser sends no name of it.
        is_new: True where the secret was newly issued, not presented on joining.
        address: the visitor's address.
        bench: current location, "lesson/bench".
        moved: time of arrival there, by the room's clock.
        is_detached: True where the student has left the teacher's settings.
        view_key: view of the figure there; None where the page does not request its picture.
        goals: reached targets as the page reports them, "lesson/target".
    """

    number: int
    secret: str = field(repr=False)
    claim: str = field(default="", repr=False)
    joined_at: float = 0.0
    lines: list[EventStream] = field(default_factory=list, repr=False)
    streams: int = 0
    seen: float = 0.0
    line_seen: float = -math.inf
    device: str = ""
    is_new: bool = False
    address: str = ""
    bench: str = ""
    moved: float = 0.0
    is_detached: bool = False
    view_key: ViewKey | None = None
    goals: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Sent:
    """A state of a bench that a student has sent, for the teacher to open.

    Attributes:
        number: number of the message.
        seat: number of the seat.
        location: lesson, bench and values (see `shows`).
        text_keys: keys of the settings that are texts.
        note: the student's line about it; the teacher reads it on request only.
    """

    number: int
    seat: int
    location: Mapping[str, Any]
    text_keys: tuple[str, ...] = ()
    note: str = ""


@dataclass(eq=False)
class Room:
    """State of one room.

    Attributes:
        code: the code that students type.
        opened_at: opening time in seconds since 1970, as in its tokens.
        credentials: issues and verifies tokens.
        closed: ended rooms and removed seats.
        opened: opening time by the room's clock.
        clock: monotonic time, in seconds.
        location: what the teacher shows (see `shows`).
        pictures: rendered responses of that location by view, shared by all pages with that view.
        ink: strokes that the teacher has drawn on the figure there (`parse_strokes`).
        address: address from which the room was opened.
        is_door_open: True where new students may join.
        removed: numbers of removed seats.
        removed_devices: pseudonyms of their devices.
        is_forgotten: True where a restarted server has lost the room's content and the teacher has
            not sent a message since.
        restored: time when the teacher's page restored it, by the room's clock.
        epoch: identifier that changes with each restart.
    """

    code: str
    opened_at: int
    credentials: Credentials = field(repr=False)
    closed: ClosedRooms = field(repr=False)
    opened: float
    clock: Callable[[], float] = field(repr=False)
    teachers: int = 0  # streams of the teacher's pages
    lines: list[EventStream] = field(default_factory=list, repr=False)  # the same streams
    taught: float = 0.0  # time when the last of them was open
    location: dict[str, Any] = field(default_factory=dict)
    pictures: Mapping[ViewKey, bytes] = field(default_factory=dict, repr=False)
    ink: list[dict[str, Any]] = field(default_factory=list, repr=False)
    saying: object = None  # the location that is being drawn or waits to be drawn
    paused: bool = False
    allowed: list[str] = field(default_factory=list)  # "lesson/bench" open to students; [] for all
    ballot: Poll | None = None
    past_polls: list[Poll] = field(default_factory=list)  # before `ballot`
    questions: int = 0  # number of polls and drawn predictions so far
    run: SeedExperimentRun | None = None
    ran: list[SeedExperimentRun] = field(default_factory=list)  # before `run`
    runs: int = 0
    sketched: list[DrawnPredictions] = field(default_factory=list)  # the last one is current
    seats: dict[int, Seat] = field(default_factory=dict)
    address: str = ""
    is_door_open: bool = True
    removed: set[int] = field(default_factory=set)
    removed_devices: set[str] = field(default_factory=set)
    is_forgotten: bool = False
    restored: float = -math.inf
    epoch: str = field(default_factory=lambda: secrets.token_hex(4))
    sent: dict[int, Sent] = field(default_factory=dict)  # by number, in the teacher's order
    sendings: int = 0
    board: SharedTexts = field(default_factory=SharedTexts)
    version: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    ended: bool = False
    drawing: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)  # guards `pictures`
    _told: dict[bool, tuple[int, bytes]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Load the removed seats, which stay removed across restarts."""
        closed = self.closed.seats(self.code, self.opened_at)
        self.removed |= {*closed}
        self.removed_devices |= {*closed.values()} - {""}

    def is_teachers(self, token: str) -> bool:
        """Return True for the teacher's token; takes constant time."""
        return self.credentials.opened_by_teacher(token, self.code) == self.opened_at

    def seat(self, secret: str) -> Seat | None:
        """Return the seat with this secret, or None."""
        number = self._number(secret)
        result = self.seats.get(number) if number else None
        return result if result and hmac.compare_digest(result.secret, secret) else None

    def returned(self, secret: str) -> Seat | None:
        """Return the seat with this secret, or the one that was given for it.

        One secret has one seat, even if its number was taken after the server lost the room.
        """
        if (result := self.seat(secret)) or not self._number(secret):
            return result
        return next((seat for seat in self.seats.values() if seat.claim == secret), None)

    def can_return(self, secret: str) -> bool:
        """Return True where this secret was issued for a seat of this room."""
        return bool(self._number(secret))

    def _number(self, secret: str) -> int:
        """Return the number of the seat that a secret was issued for; 0 for any other text."""
        number, opened = self.credentials.opened_by_seat(secret, self.code) or (0, 0)
        return number if opened == self.opened_at else 0

    def join(
        self, claimed: str = "", device: str = "", address: str = "", n_addresses: int = 1
    ) -> tuple[Seat, str]:
        """Take a new seat, or return to the seat of a secret.

        A restarted server knows no seats: a visitor with a valid secret gets a seat, with the
        former number if that is free.

        Args:
            claimed: the secret of a seat, or "".
            device: name of the device that the visitor's browser sends, if any; issued by this
                server or an earlier process.
            address: the visitor's address.
            n_addresses: number of addresses that the server sees.

        Returns:
            The seat, and the secret to present from then on.

        Raises:
            UserError: "sent_out", "door_closed" or "room_full".
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
        """Return the smallest number without a seat, a counted vote or a counted drawing."""
        taken = {*self.seats, *self.removed}
        taken.update(n for ballot in self._ballots() for votes in ballot.votes for n in votes)
        taken.update(n for drawn_predictions in self.sketched for n in drawn_predictions.sketches)
        return next(n for n in itertools.count(1) if n not in taken)

    def is_unused(self) -> bool:
        """Return True where no page is connected and the teacher's was not recently."""
        if self.teachers or any(seat.streams for seat in self.seats.values()):
            return False
        return self.clock() - self.taught > _grace(self.taught - self.opened)

    def unused_seats(self) -> list[Seat]:
        """Return the seats without a connection, except recently disconnected ones."""
        now = self.clock()
        return [
            seat for seat in self.seats.values()
            if not seat.streams and now - seat.seen > _grace(seat.seen - seat.joined_at)
        ]  # fmt: skip

    def _free_one(self) -> None:
        """Free the seat with the longest absence; raise UserError("room_full") if there is none."""
        if not (unused := self.unused_seats()):
            raise UserError("room_full", f"This room has {SEATS} seats, and all are taken.",
                          most=SEATS)  # fmt: skip
        self.free(min(unused, key=lambda seat: seat.seen))

    def free(self, seat: Seat) -> None:
        """Free a seat; its votes stay counted."""
        del self.seats[seat.number]
        self.notify()

    def remove(self, number: int) -> None:
        """Remove a seat for the life of the room, with its votes, drawings and messages.

        Raises KeyError for an unknown seat.
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
        """Return this seat and, if its device can be distinguished, all seats of that device."""
        device = self.seats[number].device
        others = [n for n, seat in self.seats.items() if device and seat.device == device]
        return [*{number, *others}]

    def is_told_apart(self, seat: int) -> bool:
        """Return True where the device of a seat can be distinguished from others."""
        return seat in self.seats and bool(self.seats[seat].device)

    def _forget(self) -> None:
        """Free the seats with a long absence."""
        old = self.clock() - DESERTED
        self.seats = {
            n: seat for n, seat in self.seats.items() if seat.streams or seat.seen > old
        }  # fmt: skip

    def revealed_keys(self) -> set[str]:
        """Return the keys of the predictions whose answers the class has seen."""
        questions: list[Poll | DrawnPredictions] = [*self._ballots(), *self.sketched]
        return {question.key for question in questions if question.state == "revealed"}

    def _ballots(self) -> list[Poll]:
        return [*self.past_polls, *([self.ballot] if self.ballot else [])]

    def present(self) -> list[Seat]:
        """Return the seats whose page is connected or was recently."""
        lately = self.clock() - AWAY
        return [seat for seat in self.seats.values() if seat.streams or seat.seen > lately]

    def notify(self) -> None:
        """Increment the version and wake the streams that wait for a change."""
        self.version += 1
        self.changed.set()
        self.changed = asyncio.Event()

    # Messages of the teacher ---------------------------------------------------------------

    def apply_teacher_message(
        self, message: Mapping[str, Any], pictures: Mapping[ViewKey, bytes] | None = None
    ) -> None:
        """Apply a message of the teacher, {"kind": ..., ...}.

        * "navigate": show a location; see `shows`.
        * "ink": {"lesson", "bench", "strokes"}: the drawing on the figure shown; [] erases it.
        * "pause": {"on": bool}.
        * "allow": {"benches": ["lesson/bench"]}: one, a range, or none for all.
        * "ask": {"key", "options"}; "close", "reopen", "reveal": the poll.
        * "sketch": {"action": "ask", "key", "type", "most"} asks for drawings, type and most as
          kind and limits of `DrawnPredictions`; {"action": "close" or "reveal"}.
        * "door": {"open": bool}: whether new students may join.
        * "remove": {"seat": number}: remove a seat and all others of its device.
        * "restore": see `_restore`.
        * "order": {"sent": numbers}: order of the messages sent by students; others are deleted.
        * "approve", "discard": {"number"}: a text.
        * "run": a seed experiment, with a location as in `shows`; "stop": stop it.
        * "end": end the room.

        Args:
            message: the message.
            pictures: rendered responses of the location, for "navigate".

        Raises:
            InvalidMessageError: for any other message.
            UserError: "board_full"; for a location, "long_place".
        """
        match message:
            case {"kind": "navigate"}:
                self._navigate(shows(message), {**(pictures or {})})
            case {"kind": "ink", "lesson": str(lesson), "bench": str(bench), "strokes": strokes}:
                self._ink(lesson, bench, strokes)
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
        """Restore from the teacher's page a room that this server has lost.

        {"paused": bool, "door": bool, "allowed": as in "allow", "removed": numbers of seats,
        "devices": pseudonyms of theirs, "ballots": [{"number", "key", "options", "state",
        "round"}], "sketches": [{"number", "key", "type", "most", "state"}]}. Pages of students then
        send their votes and drawings ("recall"). Raises InvalidMessageError for an invalid message;
        the room is then unchanged.
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
                seat.device = ""  # a later visitor who received that number by chance
            if seat.device in self.removed_devices or {seat.number, proven} & {*removed}:
                self.remove(seat.number)
        self.removed |= {*removed}
        self.ballot, self.past_polls = (requests[-1], requests[:-1]) if requests else (None, [])
        self.sketched = rendered
        numbers = [*(item.number for item in requests), *(item.number for item in rendered)]
        self.questions = max(numbers, default=0)
        self.restored = self.clock()

    def _navigate(self, location: dict[str, Any], pictures: dict[ViewKey, bytes]) -> None:
        """Show a location; a drawing belongs to the figure at its settings."""
        if location != self.location:
            self.ink = []
        self.location, self.pictures = location, pictures
        self._allow_on()

    def _ink(self, lesson: str, bench: str, strokes: object) -> None:
        """Replace the drawing; one for a figure that the teacher has left is dropped."""
        try:
            drawing = parse_strokes(strokes)
        except ValueError:
            raise InvalidMessageError("ink") from None
        if (lesson, bench) == (self.location.get("lesson"), self.location.get("bench")):
            self.ink = drawing

    def _allow_on(self) -> None:
        """Let a single allowed bench follow the teacher; drop a range of another lesson."""
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

    # Messages of students ------------------------------------------------------------------

    def apply_student_message(self, seat: Seat, message: Mapping[str, Any]) -> None:
        """Apply a message of a student, {"kind": ..., ...}.

        * "vote": {"number", "round", "option"}.
        * "sketch": {"number", "marks": integers}.
        * "recall": {"votes": [[number, round, option]], "sketches": [[number, marks]]}: what a
          restarted server has lost.
        * "presence": {"bench": "lesson/bench", "detached": bool, "goals": ["lesson/target"],
          "view": `ViewKey` or None}; detached: the student has left the teacher's settings.
        * "send": {"lesson", "bench", "values", "text_keys", "note"}: a location as in `shows`, the
          keys of settings that are texts, and the student's line about it, if any.
        * "text": {"lesson", "bench", "values", "key", "text"}: a text for a bench.

        The caller has validated the last two against the lesson
        (`lessons.framework.room_validation.validate_message`).

        Args:
            seat: the sender.
            message: the message.

        Raises:
            InvalidMessageError: for any other message.
            UserError: "vote_closed", "no_line", "sketch_closed", "much_sent" or "long_place", and
                errors of `SharedTexts.send`.
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
                texts, note = tuple(message.get("text_keys", ())), message.get("note", "")
                if not isinstance(note, str):
                    raise InvalidMessageError("note")
                self._send(seat, shows(message), texts, note)
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

    def _send(
        self, seat: Seat, location: dict[str, Any], texts: tuple[str, ...], note: str
    ) -> None:
        """Store a sent state: the latest few per seat; no seat displaces another's."""
        own = [item.number for item in self.sent.values() if item.seat == seat.number]
        for number in own[: len(own) - EACH + 1]:
            del self.sent[number]
        if len(self.sent) >= SENT:
            raise UserError("much_sent", "The teacher has as much as can be kept.")
        self.sendings += 1
        self.sent[self.sendings] = Sent(self.sendings, seat.number, location, texts, note)

    def record(self) -> RoomSummary:
        """Return a copy of the room's content for export, in short time for any content."""
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
        """Return the approved texts as students may read them."""
        return [line.payload() for line in self.board.approved.values()]

    def _goals(self) -> dict[str, int]:
        return dict(Counter(goal for seat in self.seats.values() for goal in sorted(seat.goals)))

    # Snapshots -----------------------------------------------------------------------------

    def view_keys(self, location: Mapping[str, Any]) -> set[ViewKey]:
        """Return the view keys of the pages that show a location and follow the teacher."""
        return {
            seat.view_key for seat in self.seats.values()
            if seat.view_key and seat.streams and _follows(seat, location)
        }  # fmt: skip

    def picture(self, seat: Seat | None) -> bytes:
        """Return the rendered response that this page requests next; empty if there is none."""
        if seat is None or seat.view_key is None or not _follows(seat, self.location):
            return b""
        return self.pictures.get(seat.view_key, b"")

    def snapshot(self, teacher: bool) -> bytes:
        """Return the state of the room as JSON, with the teacher's part if requested.

        The JSON is created once per audience after each change.
        """
        created, text = self._told.get(teacher, (-1, b""))
        if created != self.version:
            result = self._public() | (self._for_teacher() if teacher else {})
            text = json.dumps(result, ensure_ascii=False, separators=(",", ":")).encode()
            self._told[teacher] = self.version, text
        return text

    def snapshot_for(self, seat: Seat) -> bytes:
        """Return the students' snapshot with this seat's answers to the latest questions."""
        marks = self.sketched[-1].sketches.get(seat.number) if self.sketched else None
        own = {
            "vote": self.ballot.votes[-1].get(seat.number) if self.ballot else None,
            "sketch": None if marks is None else [*marks],
        }
        return b'%b,"answers":%b}' % (self.snapshot(False)[:-1], json.dumps(own).encode())

    def _public(self) -> dict[str, Any]:
        return {
            "place": self.location,
            "ink": self.ink,
            "paused": self.paused,
            "allowed": self.allowed,
            "board": [self.board.revision, len(self.board.approved)],
            "ballot": self._ballot(),
            "revealed": sorted(self.revealed_keys()),
            "run": self.run.snapshot(self.seats) if self.run else None,
            "sketch": self._sketched(),
            "present": len(self.present()),
            "door": self.is_door_open,
            "epoch": self.epoch,
            "restored": not math.isinf(self.restored),
            "ended": self.ended,
        }

    def _ballot(self) -> dict[str, Any] | None:
        """Return the state of the poll; counts are hidden from all until they are revealed."""
        if (poll := self.ballot) is None:
            return None
        visible = {"counts": poll.counts(), "flow": poll.flow()} if poll.state == "revealed" else {}
        return {
            "key": poll.key, "number": poll.number, "options": poll.options, "state": poll.state,
            "round": poll.round, "voted": len(poll.votes[-1]), **visible,
        }  # fmt: skip

    def _sketched(self) -> dict[str, Any] | None:
        """Return the state of the drawn prediction without the sketches (see `revealed`)."""
        if not self.sketched:
            return None
        item = self.sketched[-1]
        return {
            "key": item.key, "number": item.number, "type": item.kind, "most": [*item.limits],
            "state": item.state, "drawn": len(item.sketches),
        }  # fmt: skip

    def revealed(self) -> DrawnPredictions:
        """Return the last drawn prediction; raise UserError("not_revealed") while it is hidden."""
        if not self.sketched or self.sketched[-1].state != "revealed":
            raise UserError("not_revealed", "Nothing is revealed yet.")
        return self.sketched[-1]

    def _for_teacher(self) -> dict[str, Any]:
        here, now = self.present(), self.clock()
        dots: dict[str, list[int]] = {}  # by bench: number of students, and of stuck ones
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
                "has_note": bool(item.note),
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
        """Return the number of pending texts and the location of the first, without its text."""
        line = self.board.first()
        where = {"number": line.number, "lesson": line.location["lesson"],
                 "bench": line.location["bench"]} if line else None  # fmt: skip
        return {"count": len(self.board.pending), "first": where}


def _grace(used: float) -> float:
    """Return the seconds for which a seat or room is reserved after `used` seconds of use."""
    return min(max(GRACE_S, used), LONG_GRACE_S)


def _is_place(text: object) -> bool:
    """Return True for "lesson/bench", or a lesson alone."""
    if not isinstance(text, str):
        return False
    lesson, _, name = text.partition("/")
    return bool(_NAME.fullmatch(lesson) and (not name or _NAME.fullmatch(name)))


def _is_mark(text: object) -> bool:
    """Return True for a device pseudonym (`Credentials.mark_device`)."""
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
    """Return a validated location from a browser: {"lesson", "bench", "values"}.

    lesson: "" is the home page. values: settings as in a permalink.

    Raises:
        InvalidMessageError: for an invalid location.
        UserError: "long_place" for too long a text.
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
