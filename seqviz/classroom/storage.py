"""Room state that survives a restart: the signing key, ended rooms, and removed seats.

Both files are in the server's cache folder. A process that cannot write there uses a key in memory,
and its rooms end with it.
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
MAX_CLOSED = 20_000  # maximum number of entries read from the file
log = logging.getLogger(__name__)


def load_credentials(folder: Path | None, key: str = "") -> Credentials:
    """Return the credentials of this server; the key is created with the first room and stored.

    Args:
        folder: folder of the key file; None keeps the key in memory only.
        key: a key set by the operator, for several processes or a machine without a disk.
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
    """Return the key in this file; create it with mode 0600 if it does not exist.

    An exclusively created hard link makes the file complete or absent, even if two processes start
    at the same time.
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
    """Ended rooms and removed seats, until their tokens expire.

    They are appended to a file, if there is one, so that a restarted process or a second one on the
    same disk reads them.

    Args:
        folder: folder of the file; None keeps them in memory only.
        life_s: seconds from the opening of a room to the expiry of its tokens.
        clock: seconds since 1970.
    """

    def __init__(
        self, folder: Path | None, life_s: float, clock: Callable[[], float] = time.time
    ) -> None:
        self._path = folder / CLOSED_FILE if folder else None
        self._life_s, self._clock = life_s, clock
        # Device pseudonyms by code, opening time and seat (0: the room itself).
        self._entries: dict[tuple[str, int, int], str] = {}
        self._size = -1

    def add(self, code: str, opened: int, seat: int = 0, mark: str = "") -> None:
        """Record that a room has ended, or that one of its seats was removed.

        Args:
            code: code of the room.
            opened: opening time of the room, in seconds since 1970.
            seat: number of the removed seat; 0 for the room itself.
            mark: pseudonym of the seat's device (`Credentials.mark_device`).
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
        """Return True where this room was ended."""
        self._read()
        return (code, opened, 0) in self._entries

    def seats(self, code: str, opened: int) -> dict[int, str]:
        """Return the removed seats of a room: device pseudonyms by seat number."""
        self._read()
        return {
            seat: mark
            for (entry, at, seat), mark in self._entries.items()
            if (entry, at) == (code, opened) and seat
        }

    def _read(self) -> None:
        """Read the entries of other processes and drop expired ones, in the file as well."""
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
