"""All rooms of a process: how many there may be, how one is found, and when it ends."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable

from seqviz.refusal import Refusal
from seqviz.room import codes
from seqviz.room.room import DESERTED, Room, Seat

ROOMS, FOLLOWERS = 50, 1000  # and seats in all of them
LIFE = 6 * 3600.0  # seconds after which a room ends, whoever is in it
GUESSES = 30 + LIFE / 20  # wrong codes that one address can try while a room is open
LETTERS = codes.length(ROOMS, GUESSES, 1e-3)


class Rooms:
    """Those of this process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._open: dict[str, Room] = {}

    def open(self, code: str = "", token: str = "") -> Room:
        """A new room; or the one of this code and token again, where this server has lost it.

        Raises Refusal("too_many_rooms"), and Refusal("no_room") where the code is another's.
        """
        self.tidy()
        again = codes.read(code) if len(token) >= 20 else ""
        if again in self._open:
            if not self._open[again].is_teachers(token):
                raise _unknown()
            return self._open[again]
        if len(self._open) >= ROOMS:
            raise Refusal("too_many_rooms", f"This server has {ROOMS} rooms, and all are open.",
                          most=ROOMS)  # fmt: skip
        if len(again) != LETTERS:
            again, token = self._free(), secrets.token_urlsafe(24)
        room = Room(again, token, self.clock(), self.clock, taught=self.clock())
        self._open[again] = room
        return room

    def _free(self) -> str:
        while (code := codes.new(LETTERS)) in self._open:
            pass
        return code

    def find(self, code: str) -> Room:
        """An open room. Raises Refusal("no_room")."""
        self.tidy()
        if (found := self._open.get(codes.read(code))) is None:
            raise _unknown()
        return found

    def join(self, room: Room, claimed: str = "") -> tuple[Seat, str]:
        """A seat in a room. Raises Refusal("room_full", "too_many_followers")."""
        if room.seat(claimed) is None and self.seats >= FOLLOWERS:
            said = f"This server has {FOLLOWERS} seats in its rooms, and all are taken."
            raise Refusal("too_many_followers", said, most=FOLLOWERS)
        return room.join(claimed)

    @property
    def seats(self) -> int:
        """In all rooms."""
        return sum(len(room.seats) for room in self._open.values())

    def __len__(self) -> int:
        return len(self._open)

    def tidy(self) -> None:
        """Rooms end that their teacher has ended or left, or whose time is over."""
        now = self.clock()
        for code, room in [*self._open.items()]:
            deserted = not room.teachers and now - room.taught > DESERTED
            if room.ended or deserted or now - room.opened > LIFE:
                del self._open[code]
                if not room.ended:
                    room.ended = True
                    room.change()


def _unknown() -> Refusal:
    return Refusal("no_room", "There is no room with this code. Look at it once more.")
