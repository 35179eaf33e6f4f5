"""WordPiece as BERT reads: clean, lower-case, cut at spaces and signs, then longest match first.

Devlin et al. (2019); the greedy match is that of Google's `tokenization.py`. Every piece keeps its
place in the text as it was typed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from seqviz.compute.text.tokenization.cut import Tokenization, around_special, encoded

INSIDE = "##"  # before a piece that does not begin a word
UNKNOWN = "[UNK]"
MAX_WORD_CHARS = 100  # characters of a word; a longer one is unknown
_KEPT = 20_000  # words whose pieces are remembered
# The ranges that BERT cuts into single characters.
_CHINESE = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip
_SPACES = frozenset("\t\n\r\u2028\u2029")
_TIDY = (" .", " ?", " !", " ,")
Letter = tuple[str, int, int]  # a character as it is read, and its bytes in the text


@dataclass(frozen=True)
class Rung:
    """One search: the prefixes of what is left of a word that were looked up, longest first.

    start: where it begins in the word. is_known: whether the last of them is in the vocabulary.
    """

    start: int
    tried: tuple[str, ...]
    is_known: bool


@dataclass(frozen=True)
class PrefixLookups:
    """How one word is cut. pieces: of an unknown word only `UNKNOWN`. ids: of the pieces."""

    word: str
    rungs: tuple[Rung, ...]
    pieces: tuple[str, ...]
    ids: tuple[int, ...]

    @property
    def lookups(self) -> int:
        """How many strings were looked up."""
        return sum(len(rung.tried) for rung in self.rungs)

    @property
    def parts(self) -> int:
        """How many pieces the word has."""
        return len(self.pieces)

    def after(self, tries: int) -> tuple[str, ...]:
        """The pieces that are found by so many look-ups; after all of them, those of the word."""
        if tries >= self.lookups:
            return self.pieces
        results: list[str] = []
        for rung in self.rungs:
            tries -= len(rung.tried)
            if tries < 0:
                break
            results.append(rung.tried[-1])
        return tuple(results)


class WordPiece:
    """vocabulary: tokens and their ids. lower: also strips accents, as of an uncased model.

    special: those of the tokens that are read whole wherever they stand in a text.
    """

    def __init__(
        self, vocabulary: Mapping[str, int], lower: bool = True, special: Collection[str] = ()
    ) -> None:
        self.vocabulary, self.lower, self.special = vocabulary, lower, special
        self.pieces = lru_cache(_KEPT)(self._pieces)

    def prefix_lookups(self, word: str) -> PrefixLookups:
        """Every prefix that is tried, of one word as it is read."""
        rungs: list[Rung] = []
        pieces: list[str] = []
        index = 0
        while index < len(word) <= MAX_WORD_CHARS:
            tried = []
            for end in range(len(word), index, -1):
                tried.append((INSIDE if index else "") + word[index:end])
                if tried[-1] in self.vocabulary:
                    break
            in_vocabulary = tried[-1] in self.vocabulary
            rungs.append(Rung(index, tuple(tried), in_vocabulary))
            if not in_vocabulary:
                break
            pieces.append(tried[-1])
            index = end
        if index < len(word):
            pieces = [UNKNOWN]
        return PrefixLookups(word, tuple(rungs), tuple(pieces),
                      tuple(self.vocabulary[piece] for piece in pieces))  # fmt: skip

    def _pieces(self, word: str) -> tuple[str, ...]:
        return self.prefix_lookups(word).pieces

    def read(self, text: str) -> list[list[Letter]]:
        """The words of a text as they are read, letter by letter."""
        words: list[list[Letter]] = [[]]
        index = 0
        for sign in text:
            size = len(encoded(sign))
            if _is_space(sign):
                words.append([])
            elif not _is_removed(sign):
                read = self._normal(sign)
                alone = _is_chinese(sign)
                for k, item in enumerate(read):
                    begin = index + k * size // len(read)
                    letter = (item, begin, index + (k + 1) * size // len(read))
                    if alone or _is_punctuation(item):
                        words += [[letter], []]
                    else:
                        words[-1].append(letter)
            index += size
        return [word for word in words if word]

    def _normal(self, sign: str) -> str:
        """A character without its accents and in lower case."""
        if not self.lower or (sign.isascii() and not sign.isupper()):
            return sign
        bare = "".join(
            item
            for item in unicodedata.normalize("NFD", sign)
            if unicodedata.category(item) != "Mn"
        )
        return "".join(item.lower() for item in bare)

    def cut(self, text: str) -> Tokenization:
        """A text in pieces, as BERT reads it without the special tokens that it adds."""
        names: list[str] = []
        payloads: list[str] = []
        starts, ends, special = [], [], []
        parts = around_special(text, self.special)
        begin = 0
        for part, full in parts:
            end = begin + len(encoded(part))
            if full:
                special.append(len(names))
                names.append(part)
                starts.append(begin)
                ends.append(end)
                payloads.append(part)
            for letters in [] if full else self.read(part):
                word = "".join(letter for letter, _, _ in letters)
                index = 0
                for piece in self.pieces(word):
                    size = len(piece) - (2 if index else 0)
                    if piece == UNKNOWN:
                        size = len(word)
                    names.append(piece)
                    starts.append(begin + letters[index][1])
                    ends.append(begin + letters[index + size - 1][2])
                    payloads.append(word if piece == UNKNOWN else piece)
                    index += size
            begin = end
        unknown = np.array([name == UNKNOWN for name in names], bool)
        unknown[special] = False
        back = _together(names)
        return Tokenization(
            tuple(names), np.array([self.vocabulary[name] for name in names], int),
            np.array(starts, int), np.array(ends, int), unknown, back,
            () if back == text else self._lost(parts, bool(unknown.any()), _together(payloads)),
            tuple(special),
        )  # fmt: skip

    def _lost(self, parts: list[tuple[str, bool]], unknown: bool, decoded: str) -> tuple[str, ...]:
        """What makes the text that comes back another one. decoded: it, with unknown words as
        read.
        """
        results = []
        text = "".join(part for part, full in parts if not full)
        if _kept(text) != text:
            results.append("signs")
        apart = unicodedata.normalize("NFD", _kept(text))
        if self.lower and any(item.lower() != item for item in apart):
            results.append("case")
        if self.lower and any(unicodedata.category(item) == "Mn" for item in apart):
            results.append("accents")
        read = (part if full else "".join(map(self._normal, _kept(part))) for part, full in parts)
        if "".join(read) != decoded:
            results.append("spaces")
        return (*results, *(["unknown"] if unknown else []))


def _kept(text: str) -> str:
    return "".join(sign for sign in text if _is_space(sign) or not _is_removed(sign))


def _together(names: list[str]) -> str:
    """The pieces as one text, as transformers decodes it."""
    text = " ".join(names).replace(f" {INSIDE}", "")
    for item in _TIDY:
        text = text.replace(item, item[1:])
    return text


def _is_space(sign: str) -> bool:
    return sign in _SPACES or unicodedata.category(sign) == "Zs"


def _is_removed(sign: str) -> bool:
    """Controls and private signs, and U+FFFD, which says that something is missing."""
    return sign == "\ufffd" or unicodedata.category(sign) in ("Cc", "Cf", "Co", "Cs")


def _is_chinese(sign: str) -> bool:
    return any(low <= ord(sign) <= high for low, high in _CHINESE)


def _is_punctuation(sign: str) -> bool:
    if sign.isascii():
        return 32 < ord(sign) < 127 and not sign.isalnum()
    return unicodedata.category(sign)[0] == "P"
