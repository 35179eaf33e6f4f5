"""`Rooms`: registry of the rooms of a process, with their limits, lookup and expiry."""

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

ROOMS, FOLLOWERS = 50, 1000  # maximum number of rooms, and of seats in all rooms
LIFE = 6 * 3600.0  # seconds after which a room ends, even if it is in use
# Rate limit of wrong codes per address: burst, and rate per second; more have to wait.
WRONG = (30.0, 1.0)
GUESSES = WRONG[0] + LIFE * WRONG[1]  # guesses of one address while a room is open
LETTERS = codes.length(ROOMS, GUESSES, 1e-3)  # without the check letter
MAX_SKEW_S = 60.0  # tolerated setback of the clock since a token was issued


class Rooms:
    """The rooms of this process.

    Args:
        clock: monotonic time, in seconds.
        credentials: issues and verifies tokens.
        closed: rooms that were ended.
        wall_clock: seconds since 1970, which tokens carry across restarts.
        count_addresses: returns the number of addresses that this server sees.
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
        """Open a new room; raise UserError("too_many_rooms") if all rooms are in use."""
        self.tidy()
        self._make_space(address)
        while (code := codes.new(LETTERS)) in self._open:
            pass
        return self._add(code, int(self._wall_clock()), address)

    def find(self, code: str) -> Room:
        """Return the open room of a typed code; raise UserError("no_room") for an unknown one."""
        self.tidy()
        if (result := self._here(codes.read(code))) is None:
            raise _unknown()
        return result

    def get(self, code: str, opened: int | None) -> Room:
        """Return an open room by code and opening time; raise UserError("no_room") if unknown."""
        self.tidy()
        room = self._here(code)
        if room is None or room.opened_at != opened:
            raise _unknown()
        return room

    def _here(self, code: str) -> Room | None:
        """Return the room of a code unless its teacher has ended it in another process."""
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
        """Return the room of a teacher; reopen it if this server has lost it.

        Raises:
            UserError: "no_room" for a token that this server did not issue for this room, or an
                ended room; "too_many_rooms" if it cannot be reopened.
        """
        code = codes.read(code)
        return self._restore(code, self.credentials.opened_by_teacher(token, code), address)

    def find_by_seat(self, code: str, secret: str, address: str = "") -> Room:
        """Return the room of a seat; reopen it if this server has lost it.

        Students can thus return before their teacher. Raises as `find_by_teacher`.
        """
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
        """End the least recently used room if the limit is reached.

        Raises UserError("too_many_rooms") if all are in use.
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
        """Take a seat in a room; at the limit, free the seat with the longest absence for it.

        Arguments and result are those of `Room.join`. A participant whose seat still exists
        (`Room.returned`) needs no free seat.

        Raises UserError("too_many_followers") if no seat can be freed, and the errors of
        `Room.join`.
        """
        if room.returned(claimed) is None:
            held = Counter(
                seat.address for each in self._open.values() for seat in each.seats.values()
            )
            returns = room.can_return(claimed)
            if not may_take(FOLLOWERS, held, address, self._count_addresses(), returns):
                self._free_seat()
        return room.join(claimed, device, address, self._count_addresses())

    def _free_seat(self) -> None:
        """Free the seat with the longest absence; raise UserError("too_many_followers") if none."""
        unused = [(seat.seen, room, seat) for room in self._open.values()
                  for seat in room.unused_seats()]  # fmt: skip
        if not unused:
            message = f"This server has {FOLLOWERS} seats in its rooms, and all are taken."
            raise UserError("too_many_followers", message, most=FOLLOWERS)
        _, room, seat = min(unused, key=lambda item: item[0])
        room.free(seat)

    @property
    def seats(self) -> int:
        """The number of seats in all rooms."""
        return sum(len(room.seats) for room in self._open.values())

    def __iter__(self) -> Iterator[Room]:
        return iter([*self._open.values()])

    def __len__(self) -> int:
        return len(self._open)

    def tidy(self) -> None:
        """End rooms that their teacher has ended or abandoned, or that have expired."""
        now = self.clock()
        for code, room in [*self._open.items()]:
            deserted = not room.teachers and now - room.taught > DESERTED
            if room.ended:
                del self._open[code]
            elif deserted or now - room.opened > LIFE:
                self._end(room)


def _unknown() -> UserError:
    return UserError("no_room", "No room with this code. Please check it.")
