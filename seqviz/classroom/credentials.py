"""Tokens of teachers and seats: only this server's key makes one, and it proves a right again.

A token holds the time when its room was opened, a nonce, and a keyed digest over its purpose (a
teacher, or the number of a seat), the room's code, that time and the nonce. Nothing has to be
remembered to check one, so it is valid across restarts for as long as the key is kept.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from dataclasses import dataclass, field

KEY_BYTES = 32
_TIME, _NONCE, _DIGEST = 5, 10, 21  # bytes; 36 in all are 48 letters without padding
_MARK = 12  # bytes


@dataclass(frozen=True)
class Credentials:
    """Issues and verifies tokens.

    Attributes:
        key: at least `KEY_BYTES` random bytes, which nobody else has.
        is_lasting: whether the key is the same after a restart of the process.
    """

    key: bytes = field(default_factory=lambda: secrets.token_bytes(KEY_BYTES), repr=False)
    is_lasting: bool = False

    def issue_teacher(self, code: str, opened: int) -> str:
        """Return a token for the teacher of a room.

        Args:
            code: of the room.
            opened: when it was opened, in seconds since 1970.
        """
        return self._issue(b"teacher", code, opened)

    def issue_seat(self, code: str, opened: int, number: int) -> str:
        """Return a secret for a seat: its number, a point, and a token."""
        return f"{number}.{self._issue(_seat_purpose(number), code, opened)}"

    def mark_device(self, code: str, opened: int, device: str) -> str:
        """Return a name of a device in a room, which says nothing of it and is of no other room."""
        message = b"\0".join((b"device", code.encode(), b"%d" % opened, device.encode()))
        return hmac.digest(self.key, message, hashlib.sha256)[:_MARK].hex()

    def opened_by_teacher(self, token: str, code: str) -> int | None:
        """Return when the room of this teacher was opened; None where the token is not valid."""
        return self._opened(token, b"teacher", code)

    def opened_by_seat(self, secret: str, code: str) -> tuple[int, int] | None:
        """Return the number of a seat and when its room was opened; None where it is not valid."""
        digits, _, token = secret.partition(".")
        if not (digits.isascii() and digits.isdecimal() and len(digits) <= 4):
            return None
        opened = self._opened(token, _seat_purpose(int(digits)), code)
        return None if opened is None else (int(digits), opened)

    def _issue(self, purpose: bytes, code: str, opened: int) -> str:
        body = opened.to_bytes(_TIME, "big") + secrets.token_bytes(_NONCE)
        return base64.urlsafe_b64encode(body + self._digest(purpose, code, body)).decode()

    def _opened(self, token: str, purpose: bytes, code: str) -> int | None:
        """Check a token; takes as long for any of the right length."""
        try:
            raw = base64.b64decode(token.encode("ascii"), b"-_", validate=True)
        except (ValueError, binascii.Error):
            return None
        body = raw[: _TIME + _NONCE]
        is_ours = hmac.compare_digest(raw[_TIME + _NONCE :], self._digest(purpose, code, body))
        return int.from_bytes(body[:_TIME], "big") if is_ours else None

    def _digest(self, purpose: bytes, code: str, body: bytes) -> bytes:
        message = b"\0".join((purpose, code.encode("utf-8", "replace"), body))
        return hmac.digest(self.key, message, hashlib.sha256)[:_DIGEST]


def _seat_purpose(number: int) -> bytes:
    return b"seat %d" % number
