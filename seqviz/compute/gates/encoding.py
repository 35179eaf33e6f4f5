"""Tokenizers of the small networks: characters, words or marks, with their places."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from seqviz.compute.letters import plain_marks

UNKNOWN = "<unk>"
END = "\n"  # separates the sentences of the training text, so it also precedes a sentence
# A word, the end of a negation or of a contraction, or any other visible character.
_WORD = re.compile(r"[^\W_]+?(?=n['’]t\b)|n['’]t\b|['’][^\W\d_]+|[^\W_]+|[^\w\s]|_")

_MARK = re.compile(r"\d\*|\S")


@dataclass(frozen=True)
class Encoded:
    """Symbols of a text and their places in it.

    Attributes:
        ids: numbers of the symbols; that of `UNKNOWN`, or -1 without one, for unknown symbols.
        pieces: substrings of the text; joined by what lies between them they are the text.
        spans: first character of each piece, and the one after its last.
    """

    text: str
    ids: Int[np.ndarray, "time"]
    pieces: tuple[str, ...]
    spans: Int[np.ndarray, "time 2"]

    def __len__(self) -> int:
        return len(self.ids)


def normalized(text: str) -> str:
    """Return the text in Unicode NFC with line ends and tabs as spaces.

    A letter with its accent becomes one character. Half a surrogate pair, which cannot be sent to a
    browser, becomes a question mark.
    """
    full = text.encode("utf-8", "replace").decode("utf-8")
    return " ".join(unicodedata.normalize("NFC", full).split())


def characters(text: str, symbols: Sequence[str]) -> Encoded:
    """Encode the normalized text with one symbol per character.

    Args:
        text: the text.
        symbols: vocabulary.
    """
    text = normalized(text)
    return _encoded(text, [(i, i + 1) for i in range(len(text))], tuple(text), symbols)


def words(text: str, symbols: Sequence[str]) -> Encoded:
    """Encode the text, one lower-case symbol per word or mark; "don't" is "do" and "n't".

    Args:
        text: the text.
        symbols: vocabulary.
    """
    text = normalized(text)
    spans = _word_spans(text)
    return _encoded(text, spans, tuple(word(text[a:b]) for a, b in spans), symbols)


def split_words(text: str) -> list[str]:
    """Return the lower-case words and marks that `words` encodes.

    Args:
        text: the text.
    """
    text = normalized(text)
    # As `word` does; a corpus has 300,000 of them.
    return [text[a:b].lower().replace("’", "'") for a, b in _word_spans(text)]


def _word_spans(text: str) -> list[tuple[int, int]]:
    plain = text if text.isascii() else "".join(plain_marks(text))
    return [match.span() for match in _WORD.finditer(plain)]


def word(piece: str) -> str:
    """Return a word as in the vocabulary: lower case, straight apostrophe."""
    return piece.lower().replace("’", "'")


def marks(text: str, symbols: Sequence[str]) -> Encoded:
    """Encode a task's text, one symbol per visible character; a starred digit is one.

    Args:
        text: the text.
        symbols: vocabulary.
    """
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
