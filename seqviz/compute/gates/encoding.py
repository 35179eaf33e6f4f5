"""A text as the symbols that a network reads: characters, words, or marks, with their places."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from seqviz.compute.letters import plain_marks

UNKNOWN = "<unk>"
END = "\n"  # between two sentences of the training text, so also what stands before a sentence
# A word, the rest of a negation, the rest of a contraction, or any other visible character.
_WORD = re.compile(r"[^\W_]+?(?=n['’]t\b)|n['’]t\b|['’][^\W\d_]+|[^\W_]+|[^\w\s]|_")

_MARK = re.compile(r"\d\*|\S")


@dataclass(frozen=True)
class Encoded:
    """Symbols of a text. pieces: how each is written there, so that pieces joined by what lies
    between them are the text; unknown ones have the number of `UNKNOWN`.

    spans: first character of each piece, and the one after its last.
    """

    text: str
    ids: Int[np.ndarray, "time"]
    pieces: tuple[str, ...]
    spans: Int[np.ndarray, "time 2"]

    def __len__(self) -> int:
        return len(self.ids)


def normalized(text: str) -> str:
    """Unicode NFC: a letter with its accent is one character; line ends and tabs become spaces.

    Half a surrogate pair, which no screen can be sent, becomes a question mark.
    """
    full = text.encode("utf-8", "replace").decode("utf-8")
    return " ".join(unicodedata.normalize("NFC", full).split())


def characters(text: str, symbols: Sequence[str]) -> Encoded:
    """One symbol per character; the text is normalized first."""
    text = normalized(text)
    return _encoded(text, [(i, i + 1) for i in range(len(text))], tuple(text), symbols)


def words(text: str, symbols: Sequence[str]) -> Encoded:
    """One symbol per word or mark, in lower case; "don't" is "do" and "n't"."""
    text = normalized(text)
    spans = [match.span() for match in _WORD.finditer("".join(plain_marks(text)))]
    return _encoded(text, spans, tuple(word(text[a:b]) for a, b in spans), symbols)


def word(piece: str) -> str:
    """A word as it is looked up: lower case, straight apostrophe."""
    return piece.lower().replace("’", "'")


def marks(text: str, symbols: Sequence[str]) -> Encoded:
    """One symbol per visible character, a digit with its star being one: for the little tasks."""
    text = normalized(text)
    spans = [match.span() for match in _MARK.finditer(text)]
    return _encoded(text, spans, tuple(text[a:b] for a, b in spans), symbols)


def _encoded(
    text: str,
    spans: Sequence[tuple[int, int]],
    looked_up: Sequence[str],
    symbols: Sequence[str],
) -> Encoded:
    number = {symbol: index for index, symbol in enumerate(symbols)}
    unknown = number.get(UNKNOWN, -1)
    ids = np.array([number.get(symbol, unknown) for symbol in looked_up], np.int64)
    positions = np.array(spans, np.int64).reshape(len(spans), 2)
    return Encoded(text, ids, tuple(text[a:b] for a, b in spans), positions)
