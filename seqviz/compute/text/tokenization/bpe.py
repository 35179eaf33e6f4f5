"""Byte-pair encoding: merges of a word's bytes, in the order in which they were learned.

Sennrich, Haddow and Birch (2016), "Neural Machine Translation of Rare Words with Subword Units",
ACL, on bytes as in Radford et al. (2019), GPT-2, whose pattern splits a text into words first.
"""

from __future__ import annotations

import heapq
import itertools
import re
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache

import numpy as np
from jaxtyping import Int

from seqviz.compute.text.tokenization.cut import (
    Tokenization,
    around_special,
    encoded,
    one_after_another,
)

_BITS = 20  # bits of a symbol in the code of a pair
_KEPT = 20_000  # words in the cache
# Unicode's White_Space; Python's \s also matches U+001C to U+001F.
_SPACE = "\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"


@cache
def pattern() -> re.Pattern[str]:
    r"""Return GPT-2's pattern: contractions; letters, numbers or other signs after a space.

    Written there as `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`;
    `re` has no \p{L}, so the ranges are spelled out. The space is optional.
    """
    letters, numbers = _ranges("L"), _ranges("N")
    return re.compile(
        f"'s|'t|'re|'ve|'m|'ll|'d| ?[{letters}]+| ?[{numbers}]+| ?[^{_SPACE}{letters}{numbers}]+"
        f"|[{_SPACE}]+(?![^{_SPACE}])|[{_SPACE}]+"
    )


def _ranges(category: str) -> str:
    """Return the code points of a Unicode category, for a character class of `re`."""
    results: list[list[int]] = []
    for code in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code))[0] == category:
            if results and results[-1][1] == code - 1:
                results[-1][1] = code
            else:
                results.append([code, code])
    return "".join(f"{chr(low)}-{chr(high)}" for low, high in results)


@cache
def alphabet() -> tuple[int, ...]:
    """Return the bytes in the order of GPT-2's first 256 ids, visible ones first."""
    observed = [*range(33, 127), *range(161, 173), *range(174, 256)]
    return (*observed, *(byte for byte in range(256) if byte not in observed))


@cache
def byte_letters() -> dict[str, int]:
    """Return the byte of each letter that stands for one in GPT-2's files ("Ġ" is a space)."""
    order = alphabet()
    return {chr(byte if k < 188 else 256 + k - 188): byte for k, byte in enumerate(order)}


class Bpe:
    """Byte-pair encoder: symbols 0 to 255 are bytes, symbol 256 + k is the result of merge k.

    Args:
        pairs: the two symbols of each merge.
        order: byte of each of the first 256 symbols.
        results: symbol of each merge, where it is not 256 + k.
        ids: id of each symbol, where it is not the symbol itself; -1 for a byte without one.
        digits: True where every digit is a separate word.
        special: special tokens, recognized anywhere in a text, and their ids.
    """

    def __init__(
        self,
        pairs: Int[np.ndarray, "merge 2"],
        order: Sequence[int] = tuple(range(256)),
        results: Sequence[int] | None = None,
        ids: Sequence[int] | None = None,
        digits: bool = False,
        special: Mapping[str, int] | None = None,
    ) -> None:
        self.results = range(256, 256 + len(pairs)) if results is None else results
        self.ids, self.digits, self.special = ids, digits, special or {}
        self.spelled = [bytes([byte]) for byte in order]
        self._symbol = {byte: symbol for symbol, byte in enumerate(order)}
        self._ranks: dict[int, int] = {}
        for rank, (left, right) in enumerate(pairs.tolist()):
            self._ranks.setdefault(left << _BITS | right, rank)
            if self.results[rank] == len(self.spelled):
                self.spelled.append(self.spelled[left] + self.spelled[right])
        self.word = lru_cache(_KEPT)(self._word)

    def _word(self, word: bytes) -> tuple[int, ...]:
        """Return the symbols of one word.

        A heap holds candidate pairs by rank, then position; a pair whose symbols have changed since
        is skipped.
        """
        symbols: list[int] = [self._symbol[byte] for byte in word]
        after = [*range(1, len(word)), -1]
        before = list(range(-1, len(word) - 1))
        heap: list[tuple[int, int, int]] = []  # rank, position of the left symbol, right symbol

        def offer(left: int, right: int) -> None:
            rank = self._ranks.get(symbols[left] << _BITS | symbols[right])
            if rank is not None:
                heapq.heappush(heap, (rank, left, symbols[right]))

        pairs = itertools.pairwise(symbols)
        for index, (left, right) in enumerate(pairs):
            if (rank := self._ranks.get(left << _BITS | right)) is not None:
                heap.append((rank, index, right))
        heapq.heapify(heap)
        while heap:
            rank, index, was = heapq.heappop(heap)
            right = after[index]
            if symbols[index] < 0 or right < 0 or symbols[right] != was:
                continue
            if self._ranks.get(symbols[index] << _BITS | was) != rank:
                continue
            symbols[index], symbols[right] = self.results[rank], -1
            after[index] = following = after[right]
            if following >= 0:
                before[following] = index
                offer(index, following)
            if before[index] >= 0:
                offer(before[index], index)
        return tuple(symbol for symbol in symbols if symbol >= 0)

    def words(self, text: str) -> list[str]:
        """Split a text into words; concatenated they are the text."""
        parts = re.split(r"(\d)", text) if self.digits else [text]
        return [word for part in parts for word in pattern().findall(part)]

    def symbols(self, text: str) -> list[int]:
        """Return the symbols of a text."""
        return [item for word in self.words(text) for item in self.word(encoded(word))]

    def cut(self, text: str) -> Tokenization:
        """Tokenize a text; decoding restores it, except for bytes without an id."""
        pieces: list[bytes] = []
        names: list[str] = []
        ids: list[int] = []
        special: list[int] = []
        for part, full in around_special(text, self.special):
            if full:
                special.append(len(pieces))
                pieces.append(encoded(part))
                names.append(part)
                ids.append(self.special[part])
                continue
            symbols = self.symbols(part)
            spelled = [self.spelled[symbol] for symbol in symbols]
            pieces += spelled
            names += map(written, spelled)
            ids += symbols if self.ids is None else [self.ids[symbol] for symbol in symbols]
        tokenization = one_after_another(names, ids, list(map(len, pieces)), text)
        tokenization = replace(tokenization, special=tuple(special))
        if min(ids, default=0) >= 0:
            return tokenization
        existing = b"".join(piece for piece, item in zip(pieces, ids, strict=True) if item >= 0)
        return replace(tokenization, back=existing.decode("utf-8", "replace"), lost=("unknown",),
                       unknown=tokenization.ids < 0)  # fmt: skip


@lru_cache(_KEPT)
def written(piece: bytes) -> str:
    """Return the display form of a piece: "␣" for a space, hex for bytes of no whole character."""
    try:
        visible = piece.decode("utf-8")
    except UnicodeDecodeError:
        visible = " ".join(f"{byte:02X}" for byte in piece)
        return visible if piece[:1] != b" " else f"␣{visible[3:]}"
    return visible.replace(" ", "␣").replace("\n", "⏎").replace("\t", "⇥")
