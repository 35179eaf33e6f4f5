"""Learning byte-pair merges: the most frequent pair becomes a symbol, again and again.

The counts are kept: after a merge only the pairs next to it are counted anew. Of pairs that are
equally frequent the one that is seen first in the words is merged, as in minBPE (Karpathy 2024),
whose dictionary of counts is filled from left to right. No pair crosses the end of a word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Int, Shaped

from seqviz.compute.tokenization.cut import encoded
from seqviz.units import Share

BASE = 1 << 16  # of a pair as one number
_END = 256  # stands behind each word; symbols are from 257 on inside, and one less outside


@dataclass(frozen=True)
class Learned:
    """Merges in their order. pairs: their symbols; 0 to 255 are bytes, 256 + k is what merge k
    makes. counts: how often the pair stood in the words when it was merged."""

    pairs: Int[np.ndarray, "merge 2"]
    counts: Int[np.ndarray, "merge"]

    @cached_property
    def spelled(self) -> tuple[bytes, ...]:
        """The bytes of each symbol."""
        found = [bytes([byte]) for byte in range(256)]
        for left, right in self.pairs.tolist():
            found.append(found[left] + found[right])
        return tuple(found)


class Words:
    """Different words, one after another, as symbols; each counts as often as it occurs.

    Example: the merges of minBPE's example.

    >>> learn({b"aaabdaaabac": 1}, 3).pairs.tolist()
    [[97, 97], [256, 97], [257, 98]]
    """

    def __init__(self, counts: Mapping[bytes, int]) -> None:
        joined = [symbol for word in counts for symbol in (*word, _END)]
        self.symbols = np.array(joined, np.uint16)
        weights = np.fromiter(counts.values(), np.int32, len(counts))
        self.weights = np.repeat(weights, [len(word) + 1 for word in counts])
        self.made = 0  # merges

    def copy(self) -> Words:
        """Another one that merges by itself."""
        made = Words({})
        made.symbols, made.weights, made.made = self.symbols.copy(), self.weights.copy(), self.made
        return made

    @property
    def tokens(self) -> int:
        """Symbols of all words as often as they occur."""
        return int(self.weights[self.symbols != _END].sum())

    def counts(self) -> tuple[Int[np.ndarray, "pair"], Int[np.ndarray, "pair"]]:
        """The pairs that stand side by side, (a, b) as a * `BASE` + b, and how often each does."""
        codes, weights = self.at(np.arange(len(self.symbols) - 1))
        found, where = np.unique(codes, return_inverse=True)
        return found, np.bincount(where, weights, len(found)).astype(np.int64)

    def at(self, places: Int[np.ndarray, "place"]) -> tuple[np.ndarray, np.ndarray]:
        """The pairs that begin at these places, as numbers, and how often each word occurs."""
        left, right = (self.symbols[at].astype(np.int64) for at in (places, places + 1))
        inside = (left != _END) & (right != _END)
        return left[inside] * BASE + right[inside], self.weights[places[inside]]

    def found(self, left: int, right: int) -> Int[np.ndarray, "place"]:
        """Where this pair is merged: of overlapping ones, as in "aaa", the first."""
        places = np.flatnonzero((self.symbols[:-1] == left) & (self.symbols[1:] == right))
        if left == right and len(places) > 1:
            first = np.flatnonzero(np.diff(places, prepend=-2) > 1)
            run = np.arange(len(places)) - np.repeat(first, np.diff(first, append=len(places)))
            places = places[run % 2 == 0]
        return places

    def merge(self, left: int, right: int, counts: _Counts | None = None) -> None:
        """Make one symbol of a pair everywhere. counts: of all pairs, to be kept up to date."""
        places = self.found(left, right)
        if counts is not None:
            beside = _beside(places, (-1, 0, 1), len(self.symbols))
            counts.change(*self.at(beside), -1)
        self.symbols[places] = _END + 1 + self.made
        kept = np.ones(len(self.symbols), bool)
        kept[places + 1] = False
        self.symbols, self.weights = self.symbols[kept], self.weights[kept]
        self.made += 1
        if counts is not None:
            places = places - np.arange(len(places))
            counts.change(*self.at(_beside(places, (-1, 0), len(self.symbols))), 1)

    def first(self, codes: Int[np.ndarray, "pair"]) -> int:
        """Of these pairs the one that is seen first."""
        if len(codes) == 1:
            return int(codes[0])
        seen, _ = self.at(np.arange(len(self.symbols) - 1))
        return int(seen[np.argmax(np.isin(seen, codes))])


class _Counts:
    """How often each pair stands in the words, and of each left symbol the most frequent one."""

    def __init__(self, words: Words, symbols: int) -> None:
        self._table = np.zeros((symbols, symbols), np.int32)
        self._best = np.zeros(symbols, np.int32)
        self.change(*words.counts(), 1)

    def change(self, codes: np.ndarray, weights: np.ndarray, sign: int) -> None:
        """Add these weights to the counts of these pairs, or take them away."""
        left, right = np.divmod(codes, BASE)
        np.add.at(self._table, (left, right), sign * weights.astype(np.int32))
        rows = np.unique(left)
        self._best[rows] = self._table[rows].max(axis=1, initial=0)

    def most(self) -> tuple[int, Int[np.ndarray, "pair"]]:
        """The highest count, and the pairs that have it."""
        highest = int(self._best.max())
        rows = np.flatnonzero(self._best == highest)
        places, right = np.nonzero(self._table[rows] == highest)
        return highest, rows[places] * BASE + right


def _beside(places: np.ndarray, steps: Sequence[int], size: int) -> Int[np.ndarray, "place"]:
    """Places at these steps from the given ones, each once, at which a pair may begin."""
    found = np.unique(np.concatenate([places + step for step in steps]))
    return found[(found >= 0) & (found < size - 1)]


def learn(
    counts: Mapping[bytes, int], most: int, each: Callable[[int], None] | None = None
) -> Learned:
    """At most so many merges of these words; none of a pair that stands there only once.

    counts: how often each word occurs, in the order in which they are first seen. each: is told
    how many merges there are.
    """
    words = Words(counts)
    known = _Counts(words, _END + 1 + most)
    pairs: list[tuple[int, int]] = []
    how_often: list[int] = []
    while len(pairs) < most:
        highest, equal = known.most()
        if highest < 2:
            break
        left, right = divmod(words.first(equal), BASE)
        words.merge(left, right, known)
        pairs.append((_outside(left), _outside(right)))
        how_often.append(highest)
        if each is not None:
            each(len(pairs))
    found = np.array(pairs, np.int32).reshape(-1, 2)
    return Learned(found, np.array(how_often, np.int32))


def _outside(symbol: int) -> int:
    return symbol - (symbol > _END)


def _inside(symbol: int) -> int:
    return symbol + (symbol >= _END)


def applied(words: Words, learned: Learned, merges: int) -> Words:
    """These words after the first so many merges; they may have had some of them already."""
    found = words.copy()
    for left, right in learned.pairs[found.made : merges].tolist():
        found.merge(_inside(left), _inside(right))
    return found


@dataclass(frozen=True)
class Pairs:
    """The most frequent pairs after some merges, the next one to be merged first.

    merges: how many there are. pairs: symbols. counts: how often each stands in the words. equal:
    how many pairs are as frequent as the first. tokens, size: of the words, as often as they occur.
    """

    merges: int
    pairs: Int[np.ndarray, "pair 2"]
    counts: Int[np.ndarray, "pair"]
    equal: int
    tokens: int
    size: int

    @property
    def per_token(self) -> float:
        """Bytes of one token."""
        return self.size / self.tokens if self.tokens else float("nan")

    @property
    def vocabulary(self) -> int:
        """Symbols: the bytes and the merges."""
        return 256 + self.merges

    @property
    def saved(self) -> Share:
        """The share of the bytes that the merges have saved."""
        return 1 - self.tokens / self.size if self.size else float("nan")


def most_frequent(words: Words, size: int, most: int = 10) -> Pairs:
    """The pairs that stand most often in words. size: bytes of the words."""
    codes, counts = words.counts()
    order = np.argsort(-counts, kind="stable")
    equal = int((counts == counts.max(initial=0)).sum())
    if len(codes):
        first = words.first(codes[order[:equal]])
        order[:equal] = np.roll(order[:equal], -int(np.argmax(codes[order[:equal]] == first)))
    top = order[:most]
    pairs = np.stack(np.divmod(codes[top], BASE), axis=-1)
    pairs -= pairs > _END
    return Pairs(words.made, pairs, counts[top], equal, words.tokens, size)


def tokens_after(words: Words, learned: Learned, places: Sequence[int]) -> tuple[int, ...]:
    """Tokens of words after so many merges each, from few to many."""
    found = []
    for place in places:
        words = applied(words, learned, place)
        found.append(words.tokens)
    return tuple(found)


def word_counts(words: Sequence[str]) -> dict[bytes, int]:
    """How often each word occurs, the first seen first."""
    return {encoded(word): count for word, count in Counter(words).items()}


@dataclass(frozen=True)
class Compression:
    """Bytes for one token of several texts, after more and more merges.

    texts: their names. merges: the places. sizes: bytes of each. tokens: of each at each place.
    """

    texts: tuple[str, ...]
    merges: Int[np.ndarray, "place"]
    sizes: Int[np.ndarray, "text"]
    tokens: Int[np.ndarray, "text place"]

    @property
    def per_token(self) -> Shaped[np.ndarray, "text place"]:
        """Bytes for one token; nan of an empty text."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.sizes[:, None] / self.tokens
