"""Training of byte-pair merges: the most frequent pair becomes a symbol, repeatedly.

After a merge only the counts of adjacent pairs are updated. Among equally frequent pairs the one
that occurs first in the words is merged, as in minBPE (Karpathy 2024), whose dictionary of counts
is filled from left to right. No pair crosses the end of a word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Int, Shaped

from seqviz.compute.text.tokenization.cut import encoded
from seqviz.core.units import Share

BASE = 1 << 16  # base of the code of a pair
SHOWN = 10  # number of most frequent pairs recorded
_END = 256  # end of a word; internally the symbols of merges are one higher, from 257 on


@dataclass(frozen=True)
class LearnedMerges:
    """Learned merges, with the most frequent pairs before each of them and after the last.

    Attributes:
        frequent: symbols of these pairs, the next to be merged first, -1 where there are fewer; 0
            to 255 are bytes, 256 + k is the result of merge k.
        often: count of each in the words.
        equal: number of pairs as frequent as the first.
        tokens: tokens of all words, weighted by their counts.
    """

    frequent: Int[np.ndarray, "state pair 2"]
    often: Int[np.ndarray, "state pair"]
    equal: Int[np.ndarray, "state"]
    tokens: Int[np.ndarray, "state"]

    @property
    def pairs(self) -> Int[np.ndarray, "merge 2"]:
        """Merged pairs in order."""
        return self.frequent[:-1, 0]

    @property
    def counts(self) -> Int[np.ndarray, "merge"]:
        """Count of each of these pairs at the time of its merge."""
        return self.often[:-1, 0]

    def after(self, merges: int) -> PairCounts:
        """Return the most frequent pairs after some merges, or after all where there are fewer."""
        merges = min(merges, len(self.tokens) - 1)
        there = self.often[merges] > 0
        return PairCounts(
            merges, self.frequent[merges][there].astype(np.int64),
            self.often[merges][there].astype(np.int64), int(self.equal[merges]),
            int(self.tokens[merges]), int(self.tokens[0]),
        )  # fmt: skip

    @cached_property
    def spelled(self) -> tuple[bytes, ...]:
        """Bytes of each symbol."""
        results = [bytes([byte]) for byte in range(256)]
        for left, right in self.pairs.tolist():
            results.append(results[left] + results[right])
        return tuple(results)


class WordSymbols:
    """Distinct words as concatenated symbols, weighted by their counts.

    Example: the merges of minBPE's example.

    >>> learn({b"aaabdaaabac": 1}, 3).pairs.tolist()
    [[97, 97], [256, 97], [257, 98]]
    """

    def __init__(self, counts: Mapping[bytes, int]) -> None:
        joined = [symbol for word in counts for symbol in (*word, _END)]
        self.symbols = np.array(joined, np.uint16)
        weights = np.fromiter(counts.values(), np.int32, len(counts))
        self.weights = np.repeat(weights, [len(word) + 1 for word in counts])
        self.made = 0  # number of merges

    def copy(self) -> WordSymbols:
        """Return a copy that is merged independently."""
        word_symbols = WordSymbols({})
        word_symbols.symbols, word_symbols.weights, word_symbols.made = (
            self.symbols.copy(),
            self.weights.copy(),
            self.made,
        )
        return word_symbols

    @property
    def tokens(self) -> int:
        """Number of symbols of all words, weighted by their counts."""
        return int(self.weights[self.symbols != _END].sum())

    def counts(self) -> tuple[Int[np.ndarray, "pair"], Int[np.ndarray, "pair"]]:
        """Return the adjacent pairs, (a, b) as a * `BASE` + b, and the count of each."""
        codes, weights = self.at(np.arange(len(self.symbols) - 1))
        result, where = np.unique(codes, return_inverse=True)
        return result, np.bincount(where, weights, len(result)).astype(np.int64)

    def at(self, positions: Int[np.ndarray, "place"]) -> tuple[np.ndarray, np.ndarray]:
        """Return the codes of the pairs that begin at positions, and their words' counts."""
        left, right = (self.symbols[at].astype(np.int64) for at in (positions, positions + 1))
        inside = (left != _END) & (right != _END)
        return left[inside] * BASE + right[inside], self.weights[positions[inside]]

    def merge_positions(self, left: int, right: int) -> Int[np.ndarray, "place"]:
        """Return the positions where a pair is merged; of overlapping ones, as in "aaa", the first.

        Args:
            left: left symbol.
            right: right symbol.
        """
        indices = np.flatnonzero((self.symbols[:-1] == left) & (self.symbols[1:] == right))
        if left == right and len(indices) > 1:
            first = np.flatnonzero(np.diff(indices, prepend=-2) > 1)
            run = np.arange(len(indices)) - np.repeat(first, np.diff(first, append=len(indices)))
            indices = indices[run % 2 == 0]
        return indices

    def merge(self, left: int, right: int, counts: _Counts | None = None) -> int:
        """Replace a pair by a new symbol everywhere and return the number of tokens saved.

        Args:
            left: left symbol.
            right: right symbol.
            counts: pair counts to update.
        """
        positions = self.merge_positions(left, right)
        fewer = int(self.weights[positions].sum())
        if counts is not None:
            beside = _beside(positions, (-1, 0, 1), len(self.symbols))
            counts.change(*self.at(beside), -1)
        self.symbols[positions] = _END + 1 + self.made
        retained = np.ones(len(self.symbols), bool)
        retained[positions + 1] = False
        self.symbols, self.weights = self.symbols[retained], self.weights[retained]
        self.made += 1
        if counts is not None:
            positions = positions - np.arange(len(positions))
            counts.change(*self.at(_beside(positions, (-1, 0), len(self.symbols))), 1)
        return fewer

    def first(self, codes: Int[np.ndarray, "pair"]) -> int:
        """Return the pair that occurs first, of these codes."""
        if len(codes) == 1:
            return int(codes[0])
        observed, _ = self.at(np.arange(len(self.symbols) - 1))
        return int(observed[np.argmax(np.isin(observed, codes))])


class _Counts:
    """Count of each pair in the words, and the largest count by left symbol."""

    def __init__(self, words: WordSymbols, symbols: int) -> None:
        self._table = np.zeros((symbols, symbols), np.int32)
        self._best = np.zeros(symbols, np.int32)
        self.change(*words.counts(), 1)

    def change(self, codes: np.ndarray, weights: np.ndarray, sign: int) -> None:
        """Add weights to the counts of pairs (`sign` 1) or subtract them (-1)."""
        left, right = np.divmod(codes, BASE)
        np.add.at(self._table, (left, right), sign * weights.astype(np.int32))
        rows = np.unique(left)
        self._best[rows] = self._table[rows].max(axis=1, initial=0)

    def most_frequent(self, many: int) -> tuple[Int[np.ndarray, "pair"], Int[np.ndarray, "pair"]]:
        """Return the pairs with the `many` highest counts, and all ties with the last of them.

        They are in the rows whose largest count is among the highest.
        """
        minimum = max(1, int(np.partition(self._best, -many)[-many]))
        rows = np.flatnonzero(self._best >= minimum)
        positions, right = np.nonzero(self._table[rows] >= minimum)
        codes, counts = rows[positions] * BASE + right, self._table[rows[positions], right]
        order = np.argsort(-counts, kind="stable")
        return codes[order], counts[order]


def _beside(positions: np.ndarray, steps: Sequence[int], size: int) -> Int[np.ndarray, "place"]:
    """Return distinct positions at these steps from the given ones, where a pair may begin."""
    result = np.unique(np.concatenate([positions + step for step in steps]))
    return result[(result >= 0) & (result < size - 1)]


def learn(
    counts: Mapping[bytes, int], maximum: int, each: Callable[[int], None] | None = None
) -> LearnedMerges:
    """Learn merges from words; a pair that occurs only once is not merged.

    Args:
        counts: count of each word, in the order of first occurrence.
        maximum: largest number of merges.
        each: called with the number of merges so far.
    """
    words = WordSymbols(counts)
    existing = _Counts(words, _END + 1 + maximum)
    frequent = np.full((maximum + 1, SHOWN, 2), -1, np.int16)
    often = np.zeros((maximum + 1, SHOWN), np.int32)
    equal, tokens = np.zeros(maximum + 1, np.int32), np.zeros(maximum + 1, np.int32)
    tokens[0] = words.tokens
    for index in range(maximum + 1):
        codes, how_often = existing.most_frequent(SHOWN)
        if len(codes):
            equal[index] = alike = int((how_often == how_often[0]).sum())
            first = words.first(codes[:alike])
            codes[:alike] = np.roll(codes[:alike], -int(np.argmax(codes[:alike] == first)))
            pairs = np.stack(np.divmod(codes[:SHOWN], BASE), axis=-1)
            frequent[index, : len(pairs)] = _outside(pairs)
            often[index, : len(pairs)] = how_often[:SHOWN]
        if index == maximum or often[index, 0] < 2:
            break
        tokens[index + 1] = tokens[index] - words.merge(*divmod(int(codes[0]), BASE), existing)
        if each is not None:
            each(index + 1)
    states = index + 1
    return LearnedMerges(frequent[:states], often[:states], equal[:states], tokens[:states])


def _outside(symbols: Int[np.ndarray, "pair 2"]) -> Int[np.ndarray, "pair 2"]:
    return symbols - (symbols > _END)


def _inside(symbol: int) -> int:
    return symbol + (symbol >= _END)


def applied(words: WordSymbols, pairs: Int[np.ndarray, "merge 2"]) -> WordSymbols:
    """Return words after merges; they may have had the first of them already.

    Args:
        words: the words.
        pairs: the merges.
    """
    result = words.copy()
    for left, right in pairs[result.made :].tolist():
        result.merge(_inside(left), _inside(right))
    return result


@dataclass(frozen=True)
class PairCounts:
    """Most frequent pairs after some merges, the next to be merged first.

    Attributes:
        counts: count of each pair in the words.
        equal: number of pairs as frequent as the first.
        tokens: tokens of all words, weighted by their counts.
        size: bytes of all words, weighted likewise.
    """

    merges: int
    pairs: Int[np.ndarray, "pair 2"]
    counts: Int[np.ndarray, "pair"]
    equal: int
    tokens: int
    size: int

    @property
    def per_token(self) -> float:
        """Bytes per token."""
        return self.size / self.tokens if self.tokens else float("nan")

    @property
    def vocabulary(self) -> int:
        """Number of symbols: the bytes and the merges."""
        return 256 + self.merges

    @property
    def saved(self) -> Share:
        """Share of tokens that the merges save against single bytes."""
        return 1 - self.tokens / self.size if self.size else float("nan")


def tokens_after(
    words: WordSymbols, learned: LearnedMerges, positions: Sequence[int]
) -> tuple[int, ...]:
    """Return the number of tokens of words after several numbers of merges.

    Args:
        words: the words.
        learned: the merges.
        positions: numbers of merges, ascending.
    """
    results = []
    for position in positions:
        words = applied(words, learned.pairs[:position])
        results.append(words.tokens)
    return tuple(results)


def word_counts(words: Sequence[str]) -> dict[bytes, int]:
    """Return the count of each word, in the order of first occurrence."""
    return {encoded(word): count for word, count in Counter(words).items()}


@dataclass(frozen=True)
class Compression:
    """Bytes per token of several texts by number of merges.

    Attributes:
        merges: numbers of merges.
        sizes: bytes of each text.
    """

    texts: tuple[str, ...]
    merges: Int[np.ndarray, "place"]
    sizes: Int[np.ndarray, "text"]
    tokens: Int[np.ndarray, "text place"]

    @property
    def per_token(self) -> Shaped[np.ndarray, "text place"]:
        """Bytes per token; nan for an empty text."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.sizes[:, None] / self.tokens
