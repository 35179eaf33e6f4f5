"""Signed tokens of teachers and seats; the key stays on the server.

A token holds the time when its room was opened, a nonce, and a keyed digest of its purpose
(teacher, or seat number), the room's code, that time and the nonce. Tokens are verified without
stored state, so they stay valid across restarts as long as the key is kept. Entry point:
`Credentials`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from dataclasses import dataclass, field

KEY_BYTES = 32
_TIME, _NONCE, _DIGEST = 5, 10, 21  # bytes; 36 bytes are 48 base64 letters without padding
_MARK = 12  # bytes


@dataclass(frozen=True)
class Credentials:
    """Issues and verifies tokens.

    Attributes:
        key: at least `KEY_BYTES` random bytes, secret.
        is_lasting: True where the key survives a restart of the process.
    """

    key: bytes = field(default_factory=lambda: secrets.token_bytes(KEY_BYTES), repr=False)
    is_lasting: bool = False

    def issue_teacher(self, code: str, opened: int) -> str:
        """Return a token for the teacher of a room.

        Args:
            code: code of the room.
            opened: opening time, in seconds since 1970.
        """
        return self._issue(b"teacher", code, opened)

    def issue_seat(self, code: str, opened: int, number: int) -> str:
        """Return the secret of a seat: its number, a dot, and a token."""
        return f"{number}.{self._issue(_seat_purpose(number), code, opened)}"

    def mark_device(self, code: str, opened: int, device: str) -> str:
        """Return a pseudonym of a device, valid in one room, that does not reveal the device."""
        message = b"\0".join((b"device", code.encode(), b"%d" % opened, device.encode()))
        return hmac.digest(self.key, message, hashlib.sha256)[:_MARK].hex()

    def opened_by_teacher(self, token: str, code: str) -> int | None:
        """Return the opening time of this teacher's room; None for an invalid token."""
        return self._opened(token, b"teacher", code)

    def opened_by_seat(self, secret: str, code: str) -> tuple[int, int] | None:
        """Return the number of a seat and its room's opening time; None for an invalid secret."""
        digits, _, token = secret.partition(".")
        if not (digits.isascii() and digits.isdecimal() and len(digits) <= 4):
            return None
        opened = self._opened(token, _seat_purpose(int(digits)), code)
        return None if opened is None else (int(digits), opened)

    def _issue(self, purpose: bytes, code: str, opened: int) -> str:
        body = opened.to_bytes(_TIME, "big") + secrets.token_bytes(_NONCE)
        return base64.urlsafe_b64encode(body + self._digest(purpose, code, body)).decode()

    def _opened(self, token: str, purpose: bytes, code: str) -> int | None:
        """Verify a token in constant time for its length; return the opening time or None."""
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
