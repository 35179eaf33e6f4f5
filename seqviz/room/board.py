"""Texts that students have sent for a bench: nobody is shown one that the teacher has not read."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from seqviz.refusal import Refusal

EACH, ALL, SHOWN = 3, 300, 60  # that wait, of one seat and of all, and on the board
LONGEST = 500  # characters
STACKED = 3  # marks on one letter: more would be drawn over the lines beside it
_GONE = frozenset(("Cs", "Co", "Cn"))  # halves of pairs, private, and none at all
_GAPS = frozenset(("Cc", "Zs", "Zl", "Zp"))
_JOINERS = "\u200c\u200d"  # words of some scripts, and emoji, are other ones without them


@dataclass(frozen=True)
class Line:
    """One text. place: the bench and its settings beside the text, as in `room.shows`. key: of the
    text field."""

    number: int
    seat: int
    place: Mapping[str, Any]
    key: str
    text: str

    def told(self) -> dict[str, Any]:
        """As browsers are told, without the seat."""
        return {"number": self.number, **self.place, "key": self.key, "text": self.text}


@dataclass(eq=False)
class Board:
    """waiting, shown: by their numbers. revision: counts what has changed of what is shown."""

    waiting: dict[int, Line] = field(default_factory=dict)
    shown: dict[int, Line] = field(default_factory=dict)
    sendings: int = 0
    revision: int = 0

    def send(self, seat: int, place: Mapping[str, Any], key: str, text: str) -> None:
        """A text that waits. Raises Refusal("no_text", "long_text", "texts_wait", "much_sent")."""
        text = plain(text)
        if not text:
            raise Refusal("no_text", "There is no text to send.")
        if len(text) > LONGEST:
            raise Refusal("long_text", f"At most {LONGEST} characters.", most=LONGEST)
        own = [one for one in self.waiting.values() if one.seat == seat]
        if any((one.key, one.text) == (key, text) for one in own):
            return
        if len(own) >= EACH:
            raise Refusal("texts_wait", f"{EACH} texts of yours wait already.", most=EACH)
        if len(self.waiting) >= ALL:
            raise Refusal("much_sent", "The teacher has as much as can be kept.")
        self.sendings += 1
        self.waiting[self.sendings] = Line(self.sendings, seat, place, key, text)

    def approve(self, number: int) -> None:
        """Show a text that waits. Raises KeyError where none does, Refusal("board_full")."""
        if number not in self.waiting:
            raise KeyError(number)
        if len(self.shown) >= SHOWN:
            raise Refusal("board_full", f"The board holds {SHOWN} texts.", most=SHOWN)
        self.shown[number] = self.waiting.pop(number)
        self.revision += 1

    def discard(self, number: int) -> None:
        """Throw a text away, one that waits or is shown. Raises KeyError where there is none."""
        if self.waiting.pop(number, None) is None:
            del self.shown[number]
            self.revision += 1

    def discard_of(self, seat: int) -> None:
        """Throw away what a seat has sent, also what is shown of it."""
        of_seat = [line.number for line in (*self.waiting.values(), *self.shown.values())
                   if line.seat == seat]  # fmt: skip
        for number in of_seat:
            self.discard(number)

    def first(self) -> Line | None:
        """Of those that wait."""
        return next(iter(self.waiting.values()), None)


def plain(text: str) -> str:
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
