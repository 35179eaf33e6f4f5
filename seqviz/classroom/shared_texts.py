"""Texts that students send for a bench; the teacher approves each before it is shown."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from seqviz.core.errors import UserError

EACH, ALL, SHOWN = 3, 300, 60  # maximum numbers: pending per seat, pending in all, displayed
MAX_TEXT_CHARS = 500
STACKED = 3  # combining marks on one letter; more would cover adjacent lines
_GONE = frozenset(("Cs", "Co", "Cn"))  # surrogates, private use, unassigned
_GAPS = frozenset(("Cc", "Zs", "Zl", "Zp"))
_JOINERS = "\u200c\u200d"  # kept: they distinguish words of some scripts, and emoji


@dataclass(frozen=True)
class SharedText:
    """One text of a student.

    Attributes:
        number: number of the text.
        seat: number of the seat.
        location: the bench and its other settings (see `room.shows`).
        key: permalink key of its input.
        text: the text.
    """

    number: int
    seat: int
    location: Mapping[str, Any]
    key: str
    text: str

    def payload(self) -> dict[str, Any]:
        """Return the text as JSON values for browsers, without the seat."""
        return {"number": self.number, **self.location, "key": self.key, "text": self.text}


@dataclass(eq=False)
class SharedTexts:
    """Pending and approved texts of a room.

    Attributes:
        pending: texts that wait for approval, by number.
        approved: texts on display, by number.
        sendings: number of texts sent so far.
        revision: counts the changes of the displayed texts.
    """

    pending: dict[int, SharedText] = field(default_factory=dict)
    approved: dict[int, SharedText] = field(default_factory=dict)
    sendings: int = 0
    revision: int = 0

    def send(self, seat: int, location: Mapping[str, Any], key: str, text: str) -> None:
        """Add a pending text.

        Args:
            seat: number of the seat.
            location: the bench and its other settings.
            key: permalink key of the input.
            text: the text; invisible characters are removed.

        Raises:
            UserError: "no_text", "long_text", "texts_wait" or "much_sent".
        """
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
        """Display a pending text.

        Raises KeyError for an unknown number, UserError("board_full").
        """
        if number not in self.pending:
            raise KeyError(number)
        if len(self.approved) >= SHOWN:
            raise UserError("board_full", f"The board holds {SHOWN} texts.", most=SHOWN)
        self.approved[number] = self.pending.pop(number)
        self.revision += 1

    def discard(self, number: int) -> None:
        """Delete a pending or displayed text; raise KeyError for an unknown number."""
        if self.pending.pop(number, None) is None:
            del self.approved[number]
            self.revision += 1

    def discard_of(self, seat: int) -> None:
        """Delete all texts of a seat, displayed ones included."""
        of_seat = [line.number for line in (*self.pending.values(), *self.approved.values())
                   if line.seat == seat]  # fmt: skip
        for number in of_seat:
            self.discard(number)

    def first(self) -> SharedText | None:
        """Return the first pending text, or None."""
        return next(iter(self.pending.values()), None)


def strip_invisible(text: str) -> str:
    r"""Return a text without characters that hide, break or reorder adjacent text.

    Control characters and spaces of all kinds become one space. Direction marks, other invisible
    characters, and more than `STACKED` combining marks on one letter are removed.

    >>> strip_invisible(" a\u202eb\n\tc ")
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
