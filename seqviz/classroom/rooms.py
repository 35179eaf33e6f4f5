"""All rooms of a process: how many there may be, how one is found, and when it ends."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator

from seqviz.classroom import codes
from seqviz.classroom.credentials import Credentials
from seqviz.classroom.room import DESERTED, Room, Seat
from seqviz.classroom.stock import may_take
from seqviz.classroom.storage import ClosedRooms
from seqviz.core.errors import UserError

ROOMS, FOLLOWERS = 50, 1000  # and seats in all of them
LIFE = 6 * 3600.0  # seconds after which a room ends, whoever is in it
# Codes that are none, of one address: so many at once, then so many a second; more have to wait.
WRONG = (30.0, 1.0)
GUESSES = WRONG[0] + LIFE * WRONG[1]  # that one address can try while a room is open
LETTERS = codes.length(ROOMS, GUESSES, 1e-3)  # besides the check letter
MAX_SKEW_S = 60.0  # by which a clock may have been set back since a token was issued


class Rooms:
    """Those of this process.

    Args:
        clock: seconds that only grow.
        credentials: issue and verify tokens.
        closed: which rooms were ended.
        wall_clock: seconds since 1970, which tokens carry across restarts.
        count_addresses: how many addresses this server sees.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        credentials: Credentials | None = None,
        closed: ClosedRooms | None = None,
        wall_clock: Callable[[], float] = time.time,
        count_addresses: Callable[[], int] = lambda: 1,
    ) -> None:
        self.clock = clock
        self.credentials = credentials or Credentials()
        self.closed = closed or ClosedRooms(None, LIFE, wall_clock)
        self._wall_clock, self._count_addresses = wall_clock, count_addresses
        self._open: dict[str, Room] = {}

    def open(self, address: str = "") -> Room:
        """Open a new room. Raises UserError("too_many_rooms")."""
        self.tidy()
        self._make_space(address)
        while (code := codes.new(LETTERS)) in self._open:
            pass
        return self._add(code, int(self._wall_clock()), address)

    def find(self, code: str) -> Room:
        """Return the open room of this code. Raises UserError("no_room")."""
        self.tidy()
        if (result := self._here(codes.read(code))) is None:
            raise _unknown()
        return result

    def get(self, code: str, opened: int | None) -> Room:
        """Return an open room by code and time of opening. Raises UserError("no_room")."""
        self.tidy()
        room = self._here(code)
        if room is None or room.opened_at != opened:
            raise _unknown()
        return room

    def _here(self, code: str) -> Room | None:
        """The room of this code, but none that its teacher has ended in another process."""
        room = self._open.get(code)
        if room and self.closed.has_ended(code, room.opened_at):
            self._end(room)
            return None
        return room

    def _end(self, room: Room) -> None:
        del self._open[room.code]
        room.ended = True
        room.notify()

    def find_by_teacher(self, code: str, token: str, address: str = "") -> Room:
        """Return the room of a teacher, opened again where this server has lost it.

        Raises UserError("no_room") for any token but one that this server has issued for this room,
        and for a room that was ended; UserError("too_many_rooms").
        """
        code = codes.read(code)
        return self._restore(code, self.credentials.opened_by_teacher(token, code), address)

    def find_by_seat(self, code: str, secret: str, address: str = "") -> Room:
        """Return the room of a seat, likewise: a class can be back before its teacher."""
        code = codes.read(code)
        seat = self.credentials.opened_by_seat(secret, code)
        return self._restore(code, seat and seat[1], address)

    def _restore(self, code: str, opened: int | None, address: str) -> Room:
        self.tidy()
        age = self._wall_clock() - (opened or 0)
        if opened is None or not -MAX_SKEW_S <= age <= LIFE or self.closed.has_ended(code, opened):
            raise _unknown()
        if room := self._open.get(code):
            if room.opened_at != opened:
                raise _unknown()
            return room
        self._make_space(address, returns=True)
        room = self._add(code, opened, address)
        room.is_forgotten = True
        return room

    def _add(self, code: str, opened_at: int, address: str) -> Room:
        age = max(0.0, self._wall_clock() - opened_at)
        now = self.clock()
        room = Room(code, opened_at, self.credentials, self.closed, now - age, self.clock,
                    taught=now, address=address)  # fmt: skip
        self._open[code] = room
        return room

    def _make_space(self, address: str, returns: bool = False) -> None:
        """End the room that was used least recently where the stock is used up.

        Raises UserError("too_many_rooms") where all are in use.
        """
        held = Counter(room.address for room in self._open.values())
        if may_take(ROOMS, held, address, self._count_addresses(), returns):
            return
        unused = [room for room in self._open.values() if room.is_unused()]
        if not unused:
            raise UserError("too_many_rooms", f"This server has {ROOMS} rooms, and all are open.",
                          most=ROOMS)  # fmt: skip
        self._end(min(unused, key=lambda room: room.taught))

    def join(
        self,
        room: Room,
        claimed: str = "",
        device: str = "",
        address: str = "",
    ) -> tuple[Seat, str]:
        """Take a seat in a room. Raises UserError("too_many_followers"), and as `Room.join`."""
        if room.returned(claimed) is None:
            held = Counter(
                seat.address for each in self._open.values() for seat in each.seats.values()
            )
            returns = room.can_return(claimed)
            if not may_take(FOLLOWERS, held, address, self._count_addresses(), returns):
                self._free_seat()
        return room.join(claimed, device, address, self._count_addresses())

    def _free_seat(self) -> None:
        """Free the seat whose page is gone for longest. Raises UserError("too_many_followers")."""
        unused = [(seat.seen, room, seat) for room in self._open.values()
                  for seat in room.unused_seats()]  # fmt: skip
        if not unused:
            message = f"This server has {FOLLOWERS} seats in its rooms, and all are taken."
            raise UserError("too_many_followers", message, most=FOLLOWERS)
        _, room, seat = min(unused, key=lambda item: item[0])
        room.free(seat)

    @property
    def seats(self) -> int:
        """In all rooms."""
        return sum(len(room.seats) for room in self._open.values())

    def __iter__(self) -> Iterator[Room]:
        return iter([*self._open.values()])

    def __len__(self) -> int:
        return len(self._open)

    def tidy(self) -> None:
        """Rooms end that their teacher has ended or left, or whose time is over."""
        now = self.clock()
        for code, room in [*self._open.items()]:
            deserted = not room.teachers and now - room.taught > DESERTED
            if room.ended:
                del self._open[code]
            elif deserted or now - room.opened > LIFE:
                self._end(room)


def _unknown() -> UserError:
    return UserError("no_room", "There is no room with this code. Look at it once more.")
