"""Result of tokenization: the pieces of a text and their positions in it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Int, Shaped

from seqviz.core.errors import UserError
from seqviz.core.units import Share

_JOINER, _SIGN = "\u200d", "\ufe0f"  # zero-width joiner; emoji variation selector
_SKINS = range(0x1F3FB, 0x1F400)
_FLAGS = range(0x1F1E6, 0x1F200)
_HAN = ((0x3400, 0x4DC0), (0x4E00, 0xA000), (0xF900, 0xFB00), (0x20000, 0x323B0))


@dataclass(frozen=True)
class Tokenization:
    """Pieces of a text in their order.

    Attributes:
        names: display forms.
        ids: -1 where the tokenizer has none.
        starts: first byte of each in the text's UTF-8.
        ends: byte behind each; equal to the start for a piece without text (a special token).
        unknown: True for pieces that do not represent their text.
        back: decoded text.
        lost: of "case", "accents", "spaces", "signs", "unknown", the losses that make `back`
            differ.
        special: indices of pieces that are special tokens written in the text.
    """

    names: tuple[str, ...]
    ids: Int[np.ndarray, "piece"]
    starts: Int[np.ndarray, "piece"]
    ends: Int[np.ndarray, "piece"]
    unknown: Bool[np.ndarray, "piece"]
    back: str
    lost: tuple[str, ...] = ()
    special: tuple[int, ...] = ()

    @property
    def tokens(self) -> int:
        """Number of pieces that stand for something in the text."""
        return int((self.ends > self.starts).sum())

    @property
    def share_unknown(self) -> Share:
        """Share of unknown pieces among the tokens; nan without any."""
        return float(self.unknown.sum() / self.tokens) if self.tokens else float("nan")

    def within(self, marked: Bool[np.ndarray, "byte"]) -> float:
        """Return the number of tokens in the marked bytes; a token partly inside counts in part."""
        sums = np.concatenate([[0], np.cumsum(marked)])
        there = self.ends > self.starts
        starts, ends = self.starts[there], self.ends[there]
        return float(((sums[ends] - sums[starts]) / (ends - starts)).sum())


def one_after_another(names: Sequence[str], ids: Sequence[int], sizes: Sequence[int],
                      back: str) -> Tokenization:  # fmt: skip
    """Return adjacent pieces, none of them unknown.

    Args:
        names: display forms.
        ids: -1 where there is none.
        sizes: bytes of each piece.
        back: decoded text.
    """
    ends = np.cumsum(np.array(sizes, int))
    return Tokenization(tuple(names), np.array(ids, int), ends - np.array(sizes, int), ends,
               np.zeros(len(sizes), bool), back)  # fmt: skip


def around_special(text: str, special: Iterable[str]) -> list[tuple[str, bool]]:
    """Split a text at special tokens; each part has True where it is one.

    They are split off before any other tokenization, longest first, as in transformers.

    Args:
        text: the text.
        special: the special tokens.
    """
    existing = "|".join(map(re.escape, sorted(special, key=len, reverse=True)))
    parts = re.split(f"({existing})", text) if existing else [text]
    return [(part, bool(index % 2)) for index, part in enumerate(parts) if part]


def encoded(text: str) -> bytes:
    """Return the UTF-8 of a text; a lone surrogate becomes three bytes, so that no text fails."""
    return text.encode("utf-8", "surrogatepass")


def visible_form(text: str) -> str:
    """Return a text for display, with "?" for a lone surrogate."""
    return text.encode("utf-8", "replace").decode("utf-8")


def characters(text: str) -> Tokenization:
    """Tokenize a text into code points, with their numbers as ids."""
    sizes = [len(encoded(item)) for item in text]
    return one_after_another(tuple(text), [ord(item) for item in text], sizes, text)


def single_bytes(text: str) -> Tokenization:
    """Tokenize a text into the bytes of its UTF-8, with their values as ids."""
    result = encoded(text)
    names = [chr(item) if 32 < item < 127 else f"{item:02X}" for item in result]
    return one_after_another(names, list(result), [1] * len(result), text)


def graphemes(text: str) -> tuple[str, ...]:
    """Split a text into grapheme clusters: characters with accents, joined emoji, flags.

    The rules of Unicode's annex 29 except those of Hangul jamo, Indic conjuncts and prepended
    signs.
    """
    results: list[str] = []
    for sign in text:
        if results and _belongs(results[-1], sign):
            results[-1] += sign
        else:
            results.append(sign)
    return tuple(results)


def _belongs(before: str, sign: str) -> bool:
    """Return True where a code point belongs to the character before it."""
    if sign == "\n":
        return before == "\r"
    if before[-1] < " ":
        return False
    code = ord(sign)
    if code < 0x300:
        return False
    if sign in (_JOINER, _SIGN) or code in _SKINS or unicodedata.category(sign)[0] == "M":
        return True
    if code in _FLAGS and ord(before[-1]) in _FLAGS:
        return len(before) == 1
    return before[-1] == _JOINER and ord(before[0]) > 0x2000


def is_han(sign: str) -> bool:
    """Return True where a code point is a Chinese character."""
    return any(low <= ord(sign) < high for low, high in _HAN)


def display_width(visible_text: str) -> int:
    """Return the display width of a character in columns: 1 or 2."""
    return 2 if unicodedata.east_asian_width(visible_text[0]) in "WF" else 1


@dataclass(frozen=True)
class Strips:
    """One text under several tokenizers.

    Attributes:
        cuts: result of each.
        characters: grapheme clusters.
        sizes: bytes of each.
        columns: display width of each.
        han: True at bytes of Chinese characters.
    """

    text: str
    names: tuple[str, ...]
    cuts: tuple[Tokenization, ...]
    characters: tuple[str, ...]
    sizes: Int[np.ndarray, "character"]
    columns: Int[np.ndarray, "character"]
    han: Bool[np.ndarray, "byte"]

    @cached_property
    def chinese(self) -> int:
        """Number of Chinese characters."""
        return sum(map(is_han, self.text))

    def per_character(self, name: str, chinese: bool) -> float:
        """Return the tokens per Chinese character, or per other character; nan without any.

        Args:
            name: the tokenizer.
            chinese: True for Chinese characters.
        """
        count = self.chinese if chinese else len(self.text) - self.chinese
        marked = self.han if chinese else ~self.han
        return self.of(name).within(marked) / count if count else float("nan")

    def of(self, name: str) -> Tokenization:
        """Return the result of this tokenizer."""
        return self.cuts[self.names.index(name)]


def strips(text: str, cutters: Sequence[tuple[str, Callable[[str], Tokenization]]]) -> Strips:
    """Tokenize a text with several tokenizers.

    Args:
        text: the text.
        cutters: name and function of each tokenizer.

    Raises:
        UserError: "no_text" for an empty text.
    """
    if not text:
        raise UserError("no_text", "There is nothing to read. Type a text.")
    visible = graphemes(text)
    sizes = np.array([len(encoded(item)) for item in visible], int)
    han = np.repeat([is_han(sign) for sign in text], [len(encoded(sign)) for sign in text])
    return Strips(
        text, tuple(name for name, _ in cutters), tuple(cut(text) for _, cut in cutters), visible,
        sizes, np.array([display_width(item) for item in visible], int), han,
    )  # fmt: skip


def offsets(texts: Sequence[str]) -> Shaped[np.ndarray, "boundary"]:
    """Return the first byte of each text in their concatenation, and the end of the last."""
    return np.concatenate([[0], np.cumsum([len(encoded(text)) for text in texts])]).astype(int)
