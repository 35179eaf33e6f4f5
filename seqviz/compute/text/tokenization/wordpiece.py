"""WordPiece as in BERT: clean, lower case, split at spaces and punctuation, longest match.

Devlin et al. (2019); the greedy match is that of Google's `tokenization.py`. Every piece keeps its
position in the original text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from seqviz.compute.text.tokenization.cut import Tokenization, around_special, encoded

INSIDE = "##"  # prefix of a piece inside a word
UNKNOWN = "[UNK]"
MAX_WORD_CHARS = 100  # a longer word is unknown
_KEPT = 20_000  # words in the cache
# Ranges that BERT splits into single characters.
_CHINESE = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip
_SPACES = frozenset("\t\n\r\u2028\u2029")
_TIDY = (" .", " ?", " !", " ,")
Letter = tuple[str, int, int]  # normalized character, start and end byte in the text


@dataclass(frozen=True)
class Rung:
    """Search for the longest token with which the unmatched rest of a word begins.

    Attributes:
        start: index in the word of the first character of the rest.
        tried: prefixes of the rest in the order looked up, longest first; inside a word with `##`.
        is_known: True where the last of them is in the vocabulary, which ends the search.
    """

    start: int
    tried: tuple[str, ...]
    is_known: bool


@dataclass(frozen=True)
class PrefixLookups:
    """Lookups of one word.

    Attributes:
        pieces: only `UNKNOWN` for an unknown word.
    """

    word: str
    rungs: tuple[Rung, ...]
    pieces: tuple[str, ...]
    ids: tuple[int, ...]

    @property
    def lookups(self) -> int:
        """Number of strings looked up."""
        return sum(len(rung.tried) for rung in self.rungs)

    @property
    def parts(self) -> int:
        """Number of pieces of the word."""
        return len(self.pieces)

    def after(self, tries: int) -> tuple[str, ...]:
        """Return the pieces matched after some lookups; after all of them, the word's pieces."""
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
    """WordPiece tokenizer.

    Args:
        vocabulary: ids of the tokens.
        lower: True for an uncased model: lower case, without accents.
        special: special tokens, recognized anywhere in a text.
    """

    def __init__(
        self, vocabulary: Mapping[str, int], lower: bool = True, special: Collection[str] = ()
    ) -> None:
        self.vocabulary, self.lower, self.special = vocabulary, lower, special
        self.pieces = lru_cache(_KEPT)(self._pieces)

    def prefix_lookups(self, word: str) -> PrefixLookups:
        """Return every prefix looked up for one normalized word."""
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
        """Return the normalized words of a text, letter by letter."""
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
        """Return a character in lower case without accents, for an uncased model."""
        if not self.lower or (sign.isascii() and not sign.isupper()):
            return sign
        bare = "".join(
            item
            for item in unicodedata.normalize("NFD", sign)
            if unicodedata.category(item) != "Mn"
        )
        return "".join(item.lower() for item in bare)

    def cut(self, text: str) -> Tokenization:
        """Tokenize a text as BERT, without the special tokens that BERT adds."""
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
        """Return what decoding loses, any of signs, case, accents, spaces, unknown.

        Args:
            parts: parts of the text, each with True for a special token.
            unknown: True where a word is unknown.
            decoded: decoded text with the normalized word in place of each `UNKNOWN`, so that an
                unknown word does not count as lost spaces.
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
    """Return the decoded pieces, as transformers does it."""
    text = " ".join(names).replace(f" {INSIDE}", "")
    for item in _TIDY:
        text = text.replace(item, item[1:])
    return text


def _is_space(sign: str) -> bool:
    return sign in _SPACES or unicodedata.category(sign) == "Zs"


def _is_removed(sign: str) -> bool:
    """Return True for controls, private characters and U+FFFD, the replacement character."""
    return sign == "\ufffd" or unicodedata.category(sign) in ("Cc", "Cf", "Co", "Cs")


def _is_chinese(sign: str) -> bool:
    return any(low <= ord(sign) <= high for low, high in _CHINESE)


def _is_punctuation(sign: str) -> bool:
    if sign.isascii():
        return 32 < ord(sign) < 127 and not sign.isalnum()
    return unicodedata.category(sign)[0] == "P"
