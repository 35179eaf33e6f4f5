"""What of rooms outlives the process: the key of their tokens, and what was ended or sent out.

Both lie in the server's cache folder. A process that cannot write there works with a key of its
own, and its rooms end with it.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from seqviz.classroom.credentials import KEY_BYTES, Credentials
from seqviz.core.atomic_write import atomic_write

KEY_FILE, CLOSED_FILE = "room.key", "room.closed"
MAX_CLOSED = 20_000  # entries that are read or kept
log = logging.getLogger(__name__)


def load_credentials(folder: Path | None, key: str = "") -> Credentials:
    """Return the credentials of this server, made at its first room and kept for the next start.

    Args:
        folder: where the key lies; None keeps it in memory alone.
        key: one that is set by the operator, for several processes or a machine without a disk.
    """
    if key:
        return Credentials(key.encode(), is_lasting=True)
    if folder is None:
        return Credentials()
    try:
        return Credentials(_read_or_create(folder / KEY_FILE), is_lasting=True)
    except (OSError, ValueError) as error:
        log.warning("rooms: %s cannot be kept (%s); rooms end with this process",
                    KEY_FILE, type(error).__name__)  # fmt: skip
        return Credentials()


def _read_or_create(path: Path) -> bytes:
    """The key in this file, which is created with mode 0600 where there is none.

    A link that is made exclusively is a whole file or none, also where two processes start at once.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        handle, name = tempfile.mkstemp(prefix=f".{KEY_FILE}-", dir=path.parent)  # mode 0600
        try:
            with os.fdopen(handle, "w") as file:
                file.write(secrets.token_hex(KEY_BYTES))
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):
                os.link(name, path)
        finally:
            os.unlink(name)
    key = bytes.fromhex(path.read_text("ascii"))
    if len(key) < KEY_BYTES:
        raise ValueError("The key is too short.")
    return key


class ClosedRooms:
    """Rooms that were ended and seats that were sent out, until their tokens expire.

    They are appended to a file where there is one, so a restart or a second process on the same
    disk knows them, too.

    Args:
        folder: of the file; None remembers in memory alone.
        life_s: seconds from the opening of a room to the end of its tokens.
        clock: seconds since 1970.
    """

    def __init__(
        self, folder: Path | None, life_s: float, clock: Callable[[], float] = time.time
    ) -> None:
        self._path = folder / CLOSED_FILE if folder else None
        self._life_s, self._clock = life_s, clock
        # The mark of its device, by code, opening and seat (0: the room itself).
        self._entries: dict[tuple[str, int, int], str] = {}
        self._size = -1

    def add(self, code: str, opened: int, seat: int = 0, mark: str = "") -> None:
        """Remember that a room has ended, or that one of its seats was sent out.

        mark: of the seat's device, see `Credentials.mark_device`.
        """
        self._entries[code, opened, seat] = mark
        self._forget_expired()
        if self._path is None:
            return
        line = json.dumps([code, opened, seat, mark]) + "\n"
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="ascii") as file:
                file.write(line)
        except OSError as error:
            log.warning("rooms: %s cannot be written (%s)", CLOSED_FILE, type(error).__name__)

    def has_ended(self, code: str, opened: int) -> bool:
        """Return whether this room was ended."""
        self._read()
        return (code, opened, 0) in self._entries

    def seats(self, code: str, opened: int) -> dict[int, str]:
        """Return the seats that were sent out of a room, by number, with marks of their devices."""
        self._read()
        return {
            seat: mark
            for (entry, at, seat), mark in self._entries.items()
            if (entry, at) == (code, opened) and seat
        }

    def _read(self) -> None:
        """Read what another process has added; forget what has expired, in the file as well."""
        if self._path is None:
            return
        try:
            size = self._path.stat().st_size
            if size == self._size:
                return
            lines = self._path.read_text("ascii").splitlines()[-MAX_CLOSED:]
        except (OSError, ValueError):
            return
        self._size = size
        for line in lines:
            with suppress(ValueError, TypeError):
                code, opened, seat, *marks = json.loads(line)
                self._entries[str(code), int(opened), int(seat)] = str(marks[0]) if marks else ""
        self._forget_expired()
        if len(lines) > 2 * len(self._entries) + 100:
            self._rewrite()

    def _forget_expired(self) -> None:
        oldest = self._clock() - self._life_s
        self._entries = {key: mark for key, mark in self._entries.items() if key[1] > oldest}

    def _rewrite(self) -> None:
        assert self._path
        text = "".join(json.dumps([*key, mark]) + "\n" for key, mark in self._entries.items())
        with suppress(OSError), atomic_write(self._path) as path:
            path.write_text(text, "ascii")
