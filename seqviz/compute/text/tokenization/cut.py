"""A text and the pieces that one cutter makes of it, each with its place in the text."""

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

_JOINER, _SIGN = "\u200d", "\ufe0f"  # glue two emoji to one; ask for a colored sign
_SKINS = range(0x1F3FB, 0x1F400)
_FLAGS = range(0x1F1E6, 0x1F200)
_HAN = ((0x3400, 0x4DC0), (0x4E00, 0xA000), (0xF900, 0xFB00), (0x20000, 0x323B0))


@dataclass(frozen=True)
class Tokenization:
    """The pieces of a text in their order.

    names: as they are written. ids: -1 where the cutter has none. starts, ends: bytes of the
    text's UTF-8; a piece that stands for nothing there (a special token) is empty. unknown: pieces
    that do not say what stood there. back: what the pieces, put together again, give. lost: of
    "case", "accents", "spaces", "signs", "unknown", what makes `back` another text. special: places
    of the pieces that are special tokens, which stood in the text as such.
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
        """How many pieces stand for something in the text."""
        return int((self.ends > self.starts).sum())

    @property
    def share_unknown(self) -> Share:
        """Of these pieces the share that is unknown; nan of none."""
        return float(self.unknown.sum() / self.tokens) if self.tokens else float("nan")

    def within(self, marked: Bool[np.ndarray, "byte"]) -> float:
        """Tokens in the marked bytes of the text; of one that is partly there that part."""
        sums = np.concatenate([[0], np.cumsum(marked)])
        there = self.ends > self.starts
        starts, ends = self.starts[there], self.ends[there]
        return float(((sums[ends] - sums[starts]) / (ends - starts)).sum())


def one_after_another(names: Sequence[str], ids: Sequence[int], sizes: Sequence[int],
                      back: str) -> Tokenization:  # fmt: skip
    """Pieces of so many bytes without gaps, of which nothing is unknown."""
    ends = np.cumsum(np.array(sizes, int))
    return Tokenization(tuple(names), np.array(ids, int), ends - np.array(sizes, int), ends,
               np.zeros(len(sizes), bool), back)  # fmt: skip


def around_special(text: str, special: Iterable[str]) -> list[tuple[str, bool]]:
    """The parts of a text in order, and whether each is one of these special tokens.

    They are taken out before anything else is cut, the longest first, as transformers does it.
    """
    existing = "|".join(map(re.escape, sorted(special, key=len, reverse=True)))
    parts = re.split(f"({existing})", text) if existing else [text]
    return [(part, bool(index % 2)) for index, part in enumerate(parts) if part]


def encoded(text: str) -> bytes:
    """Its UTF-8; half of a pair of surrogates as three bytes, so that no text fails."""
    return text.encode("utf-8", "surrogatepass")


def visible_form(text: str) -> str:
    """The same for a screen: half of a pair of surrogates as "?"."""
    return text.encode("utf-8", "replace").decode("utf-8")


def characters(text: str) -> Tokenization:
    """Each code point is a token, and its number the id."""
    sizes = [len(encoded(item)) for item in text]
    return one_after_another(tuple(text), [ord(item) for item in text], sizes, text)


def single_bytes(text: str) -> Tokenization:
    """Each byte of the UTF-8 is a token, and its value the id."""
    result = encoded(text)
    names = [chr(item) if 32 < item < 127 else f"{item:02X}" for item in result]
    return one_after_another(names, list(result), [1] * len(result), text)


def graphemes(text: str) -> tuple[str, ...]:
    """What a reader takes for one character: with its accents, joined emoji, flags.

    The rules of Unicode's annex 29 but those of Hangul jamo, Indic conjuncts and prepended signs.
    """
    results: list[str] = []
    for sign in text:
        if results and _belongs(results[-1], sign):
            results[-1] += sign
        else:
            results.append(sign)
    return tuple(results)


def _belongs(before: str, sign: str) -> bool:
    """Whether a code point belongs to the character before it."""
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
    """Whether a code point is a Chinese character."""
    return any(low <= ord(sign) < high for low, high in _HAN)


def display_width(visible_text: str) -> int:
    """Columns that a character takes where letters take one."""
    return 2 if unicodedata.east_asian_width(visible_text[0]) in "WF" else 1


@dataclass(frozen=True)
class Strips:
    """One text as several cutters cut it.

    characters: as a reader sees them. sizes: bytes of each. columns: widths of each.
    han: bytes of Chinese characters.
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
        """How many of the characters are Chinese."""
        return sum(map(is_han, self.text))

    def per_character(self, name: str, chinese: bool) -> float:
        """Tokens for one Chinese character, or for one of the others; nan where there is none."""
        count = self.chinese if chinese else len(self.text) - self.chinese
        marked = self.han if chinese else ~self.han
        return self.of(name).within(marked) / count if count else float("nan")

    def of(self, name: str) -> Tokenization:
        """What this cutter makes of it."""
        return self.cuts[self.names.index(name)]


def strips(text: str, cutters: Sequence[tuple[str, Callable[[str], Tokenization]]]) -> Strips:
    """Cut a text by each of these. Raises UserError("no_text") of an empty one."""
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
    """The byte at which each of these begins, and the end of the last."""
    return np.concatenate([[0], np.cumsum([len(encoded(text)) for text in texts])]).astype(int)
