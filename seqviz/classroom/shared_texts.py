"""Texts that students have sent for a bench: nobody is shown one that the teacher has not read."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from seqviz.core.errors import UserError

EACH, ALL, SHOWN = 3, 300, 60  # that wait, of one seat and of all, and on the board
MAX_TEXT_CHARS = 500  # characters
STACKED = 3  # marks on one letter: more would be drawn over the lines beside it
_GONE = frozenset(("Cs", "Co", "Cn"))  # halves of pairs, private, and none at all
_GAPS = frozenset(("Cc", "Zs", "Zl", "Zp"))
_JOINERS = "\u200c\u200d"  # words of some scripts, and emoji, are other ones without them


@dataclass(frozen=True)
class SharedText:
    """One text. location: the bench and its other settings, see `room.shows`. key: of its field."""

    number: int
    seat: int
    location: Mapping[str, Any]
    key: str
    text: str

    def payload(self) -> dict[str, Any]:
        """As browsers are told, without the seat."""
        return {"number": self.number, **self.location, "key": self.key, "text": self.text}


@dataclass(eq=False)
class SharedTexts:
    """pending, approved: by their numbers. revision: counts what has changed of what is shown."""

    pending: dict[int, SharedText] = field(default_factory=dict)
    approved: dict[int, SharedText] = field(default_factory=dict)
    sendings: int = 0
    revision: int = 0

    def send(self, seat: int, location: Mapping[str, Any], key: str, text: str) -> None:
        """A text that waits. Raises UserError("no_text", "long_text", "texts_wait",
        "much_sent")."""
        text = strip_invisible(text)
        if not text:
            raise UserError("no_text", "There is no text to send.")
        if len(text) > MAX_TEXT_CHARS:
            raise UserError(
                "long_text", f"At most {MAX_TEXT_CHARS} characters.", most=MAX_TEXT_CHARS
            )
        own = [shared_text for shared_text in self.pending.values() if shared_text.seat == seat]
        if any((item.key, item.text) == (key, text) for item in own):
            return
        if len(own) >= EACH:
            raise UserError("texts_wait", f"{EACH} texts of yours wait already.", most=EACH)
        if len(self.pending) >= ALL:
            raise UserError("much_sent", "The teacher has as much as can be kept.")
        self.sendings += 1
        self.pending[self.sendings] = SharedText(self.sendings, seat, location, key, text)

    def approve(self, number: int) -> None:
        """Show a text that waits. Raises KeyError where none does, UserError("board_full")."""
        if number not in self.pending:
            raise KeyError(number)
        if len(self.approved) >= SHOWN:
            raise UserError("board_full", f"The board holds {SHOWN} texts.", most=SHOWN)
        self.approved[number] = self.pending.pop(number)
        self.revision += 1

    def discard(self, number: int) -> None:
        """Throw a text away, one that waits or is shown. Raises KeyError where there is none."""
        if self.pending.pop(number, None) is None:
            del self.approved[number]
            self.revision += 1

    def discard_of(self, seat: int) -> None:
        """Throw away what a seat has sent, also what is shown of it."""
        of_seat = [line.number for line in (*self.pending.values(), *self.approved.values())
                   if line.seat == seat]  # fmt: skip
        for number in of_seat:
            self.discard(number)

    def first(self) -> SharedText | None:
        """Of those that wait."""
        return next(iter(self.pending.values()), None)


def strip_invisible(text: str) -> str:
    """The text without what hides, breaks or turns around what stands beside it.

    Controls and gaps of all kinds become one space; marks of direction and other letters without a
    look are gone, and so are heaps of marks.

    >>> plain(" a\\u202eb\\n\\tc ")
    'ab c'
    """
    return " ".join("".join(_letters(unicodedata.normalize("NFC", text))).split())


def _letters(text: str) -> Iterator[str]:
    marks = 0
    for letter in text:
        kind = unicodedata.category(letter)
        marks = marks + 1 if kind in ("Mn", "Me") else 0
        if kind in _GAPS:
            yield " "
        elif marks <= STACKED and kind not in _GONE and (kind != "Cf" or letter in _JOINERS):
            yield letter
