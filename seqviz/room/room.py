"""One room: who sits in it, what a teacher and students may say, and what everybody is told.

Everything here belongs to one event loop: no lock, and no call waits.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import re
import secrets
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from seqviz.refusal import Refusal
from seqviz.room.ballot import Ballot
from seqviz.room.board import Board
from seqviz.room.run import KEPT, Run
from seqviz.room.sketches import Sketches

SEATS = 300
DESERTED = 1800.0  # seconds after which a room ends whose teacher is gone, and a seat is free
AWAY = 60.0  # seconds after which a seat without a stream is nobody's who is here
STUCK = 180.0  # seconds at one bench without a change
SENT, EACH = 300, 3  # settings that students have sent, of all and of one seat
GOALS = 40  # of one seat
SKETCHED = 40  # drawn questions whose sketches are kept
BENCHES = 80  # that a teacher can allow by name
PLACE = 4000  # characters of what a teacher shows: a lesson's name and the settings of its benches
_KEY = re.compile(r"[a-z]{2}(\.[a-z_][a-z_0-9]*)+")
_NAME = re.compile(r"[a-z_]{1,40}")
Looks = tuple[str, bool, bool]  # of a figure: its language, for a lecture hall, for a dark page


class Unsaid(ValueError):
    """What nobody can say in a room."""


@dataclass(eq=False)
class Seat:
    """One tab of a student. number: from 1 up, which is also its seed. secret: proves that it is.

    streams: connections that are open. bench: where the student is, "lesson/bench"; moved: since
    when, by the room's clock. left: whether the student has left the teacher's settings.
    looks: of the figure there; None where the page would not ask for its picture.
    """

    number: int
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(12), repr=False)
    streams: int = 0
    seen: float = 0.0
    bench: str = ""
    moved: float = 0.0
    left: bool = False
    looks: Looks | None = None
    goals: frozenset[str] = frozenset()  # "lesson/target" that its page has shown as reached


@dataclass(frozen=True)
class Sent:
    """What a student has sent: a state of a bench, which the teacher can open and go on from.

    own: keys of the settings that are texts.
    """

    number: int
    seat: int
    place: Mapping[str, Any]
    own: tuple[str, ...] = ()


@dataclass(eq=False)
class Room:
    """One class. token: of its teacher. place: what the teacher shows, see `shows`. pictures: of
    that, as they are told, for all whose pages show the same figure.
    """

    code: str
    token: str = field(repr=False)
    opened: float
    clock: Callable[[], float] = field(repr=False)
    teachers: int = 0  # streams of the teacher's pages
    taught: float = 0.0  # when the last of them was there
    place: dict[str, Any] = field(default_factory=dict)
    pictures: Mapping[Looks, bytes] = field(default_factory=dict, repr=False)
    saying: object = None  # the place that is being drawn, or waits for it
    paused: bool = False
    allowed: list[str] = field(default_factory=list)  # "lesson/bench" that students may use; [] all
    ballot: Ballot | None = None
    asked: list[Ballot] = field(default_factory=list)  # those before
    questions: int = 0  # that were put, to a vote or to be drawn
    run: Run | None = None
    ran: list[Run] = field(default_factory=list)  # those before
    runs: int = 0
    sketched: list[Sketches] = field(default_factory=list)  # drawn questions; the last is put
    seats: dict[int, Seat] = field(default_factory=dict)
    sent: dict[int, Sent] = field(default_factory=dict)  # by their numbers, in the teacher's order
    sendings: int = 0
    board: Board = field(default_factory=Board)
    version: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    ended: bool = False
    drawing: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)  # of its pictures
    _told: dict[bool, tuple[int, bytes]] = field(default_factory=dict, repr=False)

    def is_teachers(self, token: str) -> bool:
        """Whether this is the teacher's token; takes as long whatever it is."""
        return hmac.compare_digest(self.token.encode(), token.encode("utf-8", "replace"))

    def seat(self, secret: str) -> Seat | None:
        """The seat that has this secret."""
        number, _, _ = secret.partition(".")
        found = self.seats.get(int(number)) if number.isdecimal() and len(number) < 6 else None
        given = secret.encode("utf-8", "replace")
        return found if found and hmac.compare_digest(_named(found).encode(), given) else None

    def join(self, claimed: str = "") -> tuple[Seat, str]:
        """A new seat, or the one that this secret is of; with the secret to show from then on.

        A server that was started anew knows no seats: who claims one that nobody has gets its
        number and keeps the secret. Raises Refusal("room_full").
        """
        if known := self.seat(claimed):
            return known, claimed
        self._forget()
        if len(self.seats) >= SEATS:
            raise Refusal("room_full", f"This room has {SEATS} seats, and all are taken.",
                          most=SEATS)  # fmt: skip
        number, _, secret = claimed.partition(".")
        wanted = int(number) if number.isdecimal() and len(number) < 4 else 0
        if 0 < wanted <= SEATS and wanted not in self.seats and 12 <= len(secret) <= 40:
            seat = Seat(wanted, secret)
        else:
            free = next(n for n in range(1, SEATS + 1) if n not in self.seats)
            seat = Seat(free)
        seat.seen = self.clock()
        self.seats[seat.number] = seat
        self.change()
        return seat, _named(seat)

    def _forget(self) -> None:
        """Seats whose page is gone for long are free again, unless they have voted."""
        old = self.clock() - DESERTED
        voted = {n for b in self._ballots() for votes in b.votes for n in votes}
        voted |= {n for one in self.sketched for n in one.drawn}
        self.seats = {
            n: seat for n, seat in self.seats.items()
            if seat.streams or seat.seen > old or n in voted
        }  # fmt: skip

    def _ballots(self) -> list[Ballot]:
        return [*self.asked, *([self.ballot] if self.ballot else [])]

    def present(self) -> list[Seat]:
        """The seats of who is here."""
        lately = self.clock() - AWAY
        return [seat for seat in self.seats.values() if seat.streams or seat.seen > lately]

    def change(self) -> None:
        """Something is to be told: wake whoever waits for it."""
        self.version += 1
        self.changed.set()
        self.changed = asyncio.Event()

    # What a teacher says -------------------------------------------------------------------

    def tell(self, said: Mapping[str, Any], pictures: Mapping[Looks, bytes] | None = None) -> None:
        """One of the things that a teacher can say: {"kind": ..., ...}. pictures: of a place.

        "place": see `shows`. "pause": {"on": bool}. "allow": {"benches": ["lesson/bench"]}, one, a
        range, or none for all. "ask": {"key", "options"}; "close", "again", "reveal" the question.
        "sketch": a question that is drawn, {"do": "ask", "key", "as": its kind, "most"} as of
        `Sketches`, or {"do": "close" or "reveal"}. "order": what was sent, as numbers in "sent";
        what is not named is thrown away. "approve", "discard": a text, by its "number". "run": a
        bench as a class, as in `shows`; "stop" it. "end". Raises Unsaid for what is none of these,
        Refusal("board_full").
        """
        match said:
            case {"kind": "place"}:
                self.place, self.pictures = shows(said), {**(pictures or {})}
                self._allow_on()
            case {"kind": "pause", "on": bool(on)}:
                self.paused = on
            case {"kind": "allow", "benches": list(benches)}:
                if not all(map(_is_place, benches)) or len(benches) > BENCHES:
                    raise Unsaid("benches")
                self.allowed = benches
            case {"kind": "ask", "key": str(key), "options": int(options)}:
                self._ask(key, options)
            case {"kind": "close" | "again" | "reveal" as kind} if self.ballot:
                self._go_on(kind)
            case {"kind": "sketch", "do": str(what)}:
                self._sketch(what, said)
            case {"kind": "order", "sent": list(numbers)}:
                self._order(numbers)
            case {"kind": "run"}:
                self._run(shows(said))
            case {"kind": "stop"} if self.run:
                self.run.stopped = True
            case {"kind": "approve" | "discard" as kind, "number": int(number)}:
                try:
                    (self.board.approve if kind == "approve" else self.board.discard)(number)
                except KeyError:
                    raise Unsaid("number") from None
            case {"kind": "end"}:
                self.ended = True
            case _:
                raise Unsaid(str(said.get("kind"))[:20])
        self.change()

    def _allow_on(self) -> None:
        """One bench alone is that which the teacher shows; a range ends with its lesson."""
        lesson, bench = self.place["lesson"], self.place["bench"]
        if bench and len(self.allowed) == 1:
            self.allowed = [f"{lesson}/{bench}"]
        elif bench and not any(one.startswith(f"{lesson}/") for one in self.allowed):
            self.allowed = []

    def _ask(self, key: str, options: int) -> None:
        if not _KEY.fullmatch(key) or not 2 <= options <= 8:
            raise Unsaid("question")
        if self.ballot:
            self.asked.append(self.ballot)
        self.questions += 1
        self.ballot = Ballot(key, options, self.questions)

    def _sketch(self, what: str, said: Mapping[str, Any]) -> None:
        if what in ("close", "reveal") and self.sketched:
            getattr(self.sketched[-1], what)()
            return
        match said:
            case {"do": "ask", "key": str(key), "as": str(kind), "most": list(most)}:
                if not _KEY.fullmatch(key):
                    raise Unsaid("sketch")
            case _:
                raise Unsaid("sketch")
        try:
            asked = Sketches(key, kind, tuple(most), self.questions + 1)  # type: ignore[arg-type]
        except ValueError:
            raise Unsaid("sketch") from None
        self.questions += 1
        self.sketched = [*self.sketched[1 - SKETCHED :], asked]

    def _order(self, numbers: list[Any]) -> None:
        if not all(isinstance(number, int) and number in self.sent for number in numbers):
            raise Unsaid("order")
        self.sent = {number: self.sent[number] for number in dict.fromkeys(numbers)}

    def _run(self, place: dict[str, Any]) -> None:
        if self.run and self.run.found:
            self.ran = [*self.ran, self.run][-KEPT:]
        self.runs += 1
        self.run = Run(self.runs, place)

    def _go_on(self, kind: str) -> None:
        assert self.ballot
        if kind == "again":
            self.ballot.again()
        elif kind == "close":
            self.ballot.close()
        else:
            self.ballot.reveal()

    # What a student says -------------------------------------------------------------------

    def hear(self, seat: Seat, said: Mapping[str, Any]) -> None:
        """One of the things that a student can say: {"kind": "vote", "key", "round", "option"},
        {"kind": "sketch", "number", "marks": whole numbers}, {"kind": "where", "bench":
        "lesson/bench", "left": bool, "goals": ["lesson/target"], "looks": `Looks`, or none},
        {"kind": "send", "lesson", "bench", "values", "own"}, as in `shows`, own: which of them are
        texts, or {"kind": "text", "lesson", "bench", "values", "key", "text"}, a text for a bench.
        Of the last two the caller knows that the lesson has them (`lessons.in_room.meant`).

        Raises Unsaid for what is none of these, Refusal("vote_closed", "sketch_closed"), and what
        `Board.send` does.
        """
        seat.seen = self.clock()
        match said:
            case {"kind": "vote", "key": str(key), "round": int(number), "option": int(option)}:
                ballot = self.ballot
                same = ballot is not None and (ballot.key, ballot.round) == (key, number)
                if ballot is None or not same or not ballot.vote(seat.number, option):
                    raise Refusal("vote_closed", "This vote is closed.")
            case {"kind": "sketch", "number": int(number), "marks": list(marks)}:
                asked = self.sketched[-1] if self.sketched else None
                if asked is None or asked.number != number or not asked.draw(seat.number, marks):
                    raise Refusal("sketch_closed", "Nothing is drawn here now.")
            case {"kind": "where", "bench": str(bench), "left": bool(left), "goals": list(goals)}:
                if not all(map(_is_place, (bench, *goals))) or len(goals) > GOALS:
                    raise Unsaid("bench")
                if bench != seat.bench:
                    seat.moved = seat.seen
                seat.bench, seat.left, seat.goals = bench, left, frozenset(goals)
                seat.looks = _looks(said.get("looks"))
            case {"kind": "send"}:
                self._send(seat, shows(said), tuple(said.get("own", ())))
            case {"kind": "text", "key": str(key), "text": str(text)} if _KEY.fullmatch(key):
                self.board.send(seat.number, shows(said), key, text)
            case _:
                raise Unsaid(str(said.get("kind"))[:20])
        self.change()

    def _send(self, seat: Seat, place: dict[str, Any], texts: tuple[str, ...]) -> None:
        """Of one seat the last few are kept; of all, none is pushed out by another's."""
        own = [one.number for one in self.sent.values() if one.seat == seat.number]
        for number in own[: len(own) - EACH + 1]:
            del self.sent[number]
        if len(self.sent) >= SENT:
            raise Refusal("much_sent", "The teacher has as much as can be kept.")
        self.sendings += 1
        self.sent[self.sendings] = Sent(self.sendings, seat.number, place, texts)

    def afterwards(self) -> dict[str, Any]:
        """What is left of a lecture, without seats: questions with their votes and sketches, what
        was sent, the texts on the board, how many have reached which goal, what the class has run.
        """
        asked = [
            {"key": one.key, "options": one.options, "counts": one.counts(), "flow": one.flow()}
            for one in self._ballots()
        ]
        return {
            "seats": len(self.seats),
            "questions": asked,
            "sketches": [
                {"key": one.key, "kind": one.kind, "most": [*one.most], "drawn": one.cloud}
                for one in self.sketched
            ],
            "sent": [dict(one.place) for one in self.sent.values()],
            "texts": self.texts(),
            "goals": self._goals(),
            "runs": [one.left() for one in (*self.ran, *([self.run] if self.run else []))],
        }

    def texts(self) -> list[dict[str, Any]]:
        """Those on the board, as all may read them."""
        return [line.told() for line in self.board.shown.values()]

    def _goals(self) -> dict[str, int]:
        return dict(Counter(goal for seat in self.seats.values() for goal in sorted(seat.goals)))

    # What is told --------------------------------------------------------------------------

    def looks(self, place: Mapping[str, Any]) -> set[Looks]:
        """Of the figure of a place, on the pages that show it and follow."""
        return {
            seat.looks for seat in self.seats.values()
            if seat.looks and seat.streams and _follows(seat, place)
        }  # fmt: skip

    def picture(self, seat: Seat | None) -> bytes:
        """What this page would ask for next; empty where nothing was drawn for it."""
        if seat is None or seat.looks is None or not _follows(seat, self.place):
            return b""
        return self.pictures.get(seat.looks, b"")

    def told(self, teacher: bool) -> bytes:
        """The room as it stands, as JSON: what all are told, and what only the teacher is.

        Made once for all of one kind after each change.
        """
        made, text = self._told.get(teacher, (-1, b""))
        if made != self.version:
            found = self._public() | (self._for_teacher() if teacher else {})
            text = json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode()
            self._told[teacher] = self.version, text
        return text

    def told_to(self, seat: Seat) -> bytes:
        """What students are told, with the own answers of this one to the last questions."""
        marks = self.sketched[-1].drawn.get(seat.number) if self.sketched else None
        own = {
            "vote": self.ballot.votes[-1].get(seat.number) if self.ballot else None,
            "sketch": None if marks is None else [*marks],
        }
        return b'%b,"own":%b}' % (self.told(False)[:-1], json.dumps(own).encode())

    def _public(self) -> dict[str, Any]:
        return {
            "place": self.place,
            "paused": self.paused,
            "allowed": self.allowed,
            "board": [self.board.revision, len(self.board.shown)],
            "ballot": self._ballot(),
            "run": self.run.told(self.seats) if self.run else None,
            "sketch": self._sketched(),
            "present": len(self.present()),
            "ended": self.ended,
        }

    def _ballot(self) -> dict[str, Any] | None:
        """Nobody, not even the projector, is told a count before it is revealed."""
        if (one := self.ballot) is None:
            return None
        shown = {"counts": one.counts(), "flow": one.flow()} if one.state == "revealed" else {}
        return {
            "key": one.key, "number": one.number, "options": one.options, "state": one.state,
            "round": one.round, "voted": len(one.votes[-1]), **shown,
        }  # fmt: skip

    def _sketched(self) -> dict[str, Any] | None:
        """Without what was drawn: that is asked for once, see `drawn`."""
        if not self.sketched:
            return None
        one = self.sketched[-1]
        return {
            "key": one.key, "number": one.number, "state": one.state, "drawn": len(one.drawn),
        }  # fmt: skip

    def drawn(self, teacher: bool) -> dict[str, Any]:
        """What was drawn last: see `Sketches.told`. Raises Refusal("not_revealed")."""
        found = self.sketched[-1].told(teacher) if self.sketched else None
        if found is None:
            raise Refusal("not_revealed", "Nothing is revealed yet.")
        return found

    def _for_teacher(self) -> dict[str, Any]:
        here, now = self.present(), self.clock()
        dots: dict[str, list[int]] = {}  # at each bench: how many, and how many of them are stuck
        for seat in here:
            dot = dots.setdefault(seat.bench, [0, 0])
            dot[0] += 1
            dot[1] += bool(seat.bench) and now - seat.moved > STUCK
        sent = [
            {"number": one.number, "seat": one.seat, "own": one.own, **one.place}
            for one in self.sent.values()
        ]
        left = sum(seat.left for seat in here)
        return {"dots": dots, "left": left, "goals": self._goals(), "sent": sent,
                "waiting": self._waiting()}  # fmt: skip

    def _waiting(self) -> dict[str, Any]:
        """How many texts wait, and where the first belongs; what it says is asked for apart."""
        line = self.board.first()
        where = {"number": line.number, "lesson": line.place["lesson"],
                 "bench": line.place["bench"]} if line else None  # fmt: skip
        return {"count": len(self.board.waiting), "first": where}


def _is_place(text: object) -> bool:
    """Whether this is "lesson/bench", or a lesson alone."""
    if not isinstance(text, str):
        return False
    lesson, _, name = text.partition("/")
    return bool(_NAME.fullmatch(lesson) and (not name or _NAME.fullmatch(name)))


def _looks(told: object) -> Looks | None:
    match told:
        case None:
            return None
        case [str(lang), bool(presenting), bool(dark)] if len(lang) == 2:
            return lang, presenting, dark
    raise Unsaid("looks")


def _follows(seat: Seat, place: Mapping[str, Any]) -> bool:
    return not seat.left and seat.bench == f"{place['lesson']}/{place['bench']}"


def shows(said: Mapping[str, Any]) -> dict[str, Any]:
    """What a teacher shows: {"lesson", "bench", "values"}, as it comes from a browser.

    lesson: "" is home. values: settings as they stand in a link. Raises Unsaid for what cannot be.
    """
    lesson, bench, values = (said.get(name) for name in ("lesson", "bench", "values"))
    if not isinstance(lesson, str) or not isinstance(bench, str) or not isinstance(values, dict):
        raise Unsaid("place")
    if any(name and not _NAME.fullmatch(name) for name in (lesson, bench)):
        raise Unsaid("place")
    for key, text in values.items():
        if not _KEY.fullmatch(key) or not isinstance(text, str):
            raise Unsaid("place")
    if len(lesson) + sum(len(key) + len(text) for key, text in values.items()) > PLACE:
        raise Refusal("long_place", "This text is too long to be shown on all screens.")
    return {"lesson": lesson, "bench": bench, "values": values}


def _named(seat: Seat) -> str:
    return f"{seat.number}.{seat.secret}"
