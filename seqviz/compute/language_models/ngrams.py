"""N-gram language models: counts of a text, and five ways to smooth them.

`count` counts the n-grams of a text, `fit` turns the counts into a model. The n-grams of each n are
numbered in ascending order of their key: the number of the first n - 1 symbols, times the size of
the vocabulary, plus the last symbol. So a key never overflows, and the n-grams that continue one
context are neighbors. A model computes what one context needs from its neighbors, and the tables
of all contexts only where a whole text is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int, Integer

from seqviz.core.errors import UserError

SMOOTHINGS = ("none", "add_k", "witten_bell", "kneser_ney", "modified_kneser_ney")
ORDER = 6  # largest n by default
_DISCOUNTS = {"kneser_ney": (0.75,) * 3, "modified_kneser_ney": (0.5, 1.0, 1.5)}


@dataclass(frozen=True)
class NgramCounts:
    """Counts of the n-grams of a text for n = 1, 2, ...; entry n - 1 of each tuple belongs to n.

    Attributes:
        symbols: size of the vocabulary, symbols without a count included.
        keys: keys of the n-grams, ascending.
        counts: occurrences of each.
        continuations: number of different symbols before each n-gram; not for the largest n.
    """

    symbols: int
    keys: tuple[Integer[np.ndarray, "_"], ...]  # length differs by n
    counts: tuple[Integer[np.ndarray, "_"], ...]
    continuations: tuple[Integer[np.ndarray, "_"], ...]

    @property
    def order(self) -> int:
        """Largest n with an n-gram."""
        return len(self.keys)

    def followers(
        self, context: Sequence[int]
    ) -> tuple[Integer[np.ndarray, "follower"], Integer[np.ndarray, "follower"]]:
        """Return the symbols that follow a context in the text, ascending, and their counts.

        Args:
            context: up to `order` - 1 symbols.
        """
        low, high = self.range_of(context)
        n = len(context)
        return self.keys[n][low:high] % self.symbols, self.counts[n][low:high]

    def range_of(self, context: Sequence[int]) -> tuple[int, int]:
        """Return the numbers of the n-grams that continue a context, as (first, last + 1).

        Args:
            context: up to `order` - 1 symbols.
        """
        number = 0
        for keys, symbol in zip(self.keys, context, strict=False):
            key = number * self.symbols + symbol
            number = int(
                keys.searchsorted(keys.dtype.type(key))
            )  # of another type, keys are copied
            if number == len(keys) or keys[number] != key:
                return 0, 0
        first, keys = number * self.symbols, self.keys[len(context)]
        low, high = keys.searchsorted(np.array((first, first + self.symbols), keys.dtype))
        return int(low), int(high)


@dataclass(frozen=True)
class NgramModel:
    """N-gram language model: p(w | context) = share(context w) + weight(context) * p(w) below.

    What stands below is the model of the context without its first symbol, at last the uniform
    distribution. A model that is not interpolated has the uniform distribution below every context.

    Attributes:
        counts: the counts that give the n-grams their numbers.
        smoothing: one of `SMOOTHINGS`.
        order: the n of the n-grams.
        k: number added to each count by "add_k".
    """

    counts: NgramCounts
    smoothing: str
    order: int
    k: float = 1.0

    @property
    def interpolated(self) -> bool:
        """True where each context falls back on a shorter one."""
        return self.smoothing not in ("none", "add_k")

    def probabilities(
        self, ids: Int[np.ndarray, "time"], before: Int[np.ndarray, "earlier"]
    ) -> Float[np.ndarray, "time"]:
        """Return the probability of each symbol after the n - 1 before it, fewer at the beginning.

        Args:
            ids: the symbols.
            before: the symbols in front of them.
        """
        text = np.concatenate([before, ids])
        return self._probabilities(text, np.arange(len(text)))[len(before) :]

    def _probabilities(
        self, text: Int[np.ndarray, "time"], offsets: Int[np.ndarray, "time"]
    ) -> Float[np.ndarray, "time"]:
        """Return the probability of each symbol of texts in a row.

        Args:
            text: the symbols.
            offsets: number of symbols before each in its own text.
        """
        uniform = 1 / self.counts.symbols
        result = np.full(len(text), uniform)
        numbers = np.zeros(len(text) + 1, np.int64)  # of the context before each symbol
        for n, (share, weight) in enumerate(self._tables):
            context = numbers[:-1]
            exists = context >= 0
            key = np.where(exists, context * self.counts.symbols + text[n:], -1)
            numbers = find(self.counts.keys[n], key)
            below = result[n:] if self.interpolated else uniform
            rest = np.where(exists, weight[context], self._unknown)
            p = np.where(numbers >= 0, share[numbers], 0.0) + rest * below
            result[n:] = np.where(offsets[n:] >= n, p, result[n:])
        return result

    def bits(
        self, ids: Int[np.ndarray, "time"], before: Int[np.ndarray, "earlier"]
    ) -> Float[np.ndarray, "time"]:
        """Return -log2 of the probability of each symbol; inf for probability 0.

        Args:
            ids: the symbols.
            before: the symbols in front of them.
        """
        with np.errstate(divide="ignore"):
            return np.asarray(-np.log2(self.probabilities(ids, before)))

    def total_bits(
        self, texts: Sequence[Int[np.ndarray, "_"]], before: Int[np.ndarray, "earlier"]
    ) -> Float[np.ndarray, "text"]:
        """Return the sum of the bits of each text.

        Args:
            texts: the symbols of each.
            before: the symbols in front of each.
        """
        extended = [np.concatenate([before, ids]) for ids in texts]
        offsets = np.concatenate([np.arange(len(text)) for text in extended])
        with np.errstate(divide="ignore"):
            bits = -np.log2(self._probabilities(np.concatenate(extended), offsets))
        ends = np.cumsum([len(text) for text in extended])
        return np.array(
            [bits[end - len(ids) : end].sum() for ids, end in zip(texts, ends, strict=True)]
        )

    def distribution(self, context: Sequence[int]) -> Float[np.ndarray, "symbols"]:
        """Return the probabilities of all symbols after a context; only the last n - 1 count.

        Without smoothing they are all 0 after a context that the text does not contain.

        Args:
            context: the symbols before.
        """
        result = np.full(self.counts.symbols, 1 / self.counts.symbols)
        longest = min(len(context), self.order - 1)
        for n in range(longest + 1) if self.interpolated else (longest,):
            low, high = self.counts.range_of(context[len(context) - n :])
            if low == high:
                result *= self._unknown
                continue
            shares, (weight,) = self.shares_and_weights(n, low, high)
            result *= weight
            result[self.counts.keys[n][low:high] % self.counts.symbols] += shares
        return result

    def shares_and_weights(
        self, n: int, low: int = 0, high: int | None = None
    ) -> tuple[Float[np.ndarray, "ngram"], Float[np.ndarray, "context"]]:
        """Return the first summand of each n-gram, and the weight of each context.

        Args:
            n: symbols of the context.
            low: number of the first n-gram of one context; with `high`, for this context only.
            high: number of its last n-gram, plus 1; None for all contexts.
        """
        used, symbols = self._used(n)[low:high], self.counts.symbols
        if high is None:
            context = self.counts.keys[n] // symbols
            n_contexts = len(self.counts.keys[n - 1]) if n else 1
        else:
            context, n_contexts = np.zeros(high - low, np.int64), 1
        taken = self._taken[n][np.minimum(used, 3)]
        total = np.bincount(context, used, n_contexts)
        added = self.k * symbols if self.smoothing == "add_k" else 0.0
        moved = np.bincount(context, taken, n_contexts) + added
        denominator = total + (moved if self.smoothing in ("add_k", "witten_bell") else 0)
        retained = used - taken if self.smoothing in _DISCOUNTS else used
        with np.errstate(invalid="ignore"):
            weights = np.where(total > 0, moved / denominator, self._unknown)
        return retained / np.maximum(denominator, 1e-300)[context], weights

    @cached_property
    def _tables(self) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
        return tuple(self.shares_and_weights(n) for n in range(self.order))

    @cached_property
    def _taken(self) -> tuple[Float[np.ndarray, "4"], ...]:
        """Part of a count of 0, 1, 2, and 3 or more that goes to the model below, for each n."""
        if self.smoothing in _DISCOUNTS:
            every = (discounts(self._used(n), self.smoothing) for n in range(self.order))
            return tuple(np.array((0.0, *of_n)) for of_n in every)
        return (np.full(4, float(self.smoothing == "witten_bell")),) * self.order

    def _used(self, n: int) -> Integer[np.ndarray, "ngram"]:
        """Return the counts that the model reads."""
        by_continuation = self.smoothing in _DISCOUNTS and n + 1 < self.order
        return (self.counts.continuations if by_continuation else self.counts.counts)[n]

    @property
    def _unknown(self) -> float:
        """Weight of a context that the text does not contain."""
        return float(self.smoothing != "none")


def count(ids: Int[np.ndarray, "time"], symbols: int, order: int = ORDER) -> NgramCounts:
    """Count the n-grams of a text.

    Args:
        ids: the text.
        symbols: size of the vocabulary.
        order: largest n, reduced to the length of the text.

    Raises:
        UserError: "no_text" for an empty text.
    """
    if not len(ids):
        raise UserError("no_text", "There is nothing to count. Type a text.")
    keys: list[np.ndarray] = []
    counts: list[np.ndarray] = []
    continuations: list[np.ndarray] = []
    numbers = np.zeros(len(ids) + 1, np.int64)  # of the (n - 1)-gram that begins at each symbol
    for n in range(min(order, len(ids))):
        every = numbers[: len(ids) - n] * symbols + ids[n:]
        ordered = np.sort(every)
        starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        counts.append(_small(np.diff(np.append(starts, len(ordered)))))
        keys.append(ordered[starts])
        above = np.searchsorted(keys[-1], every)
        if n:
            suffixes = np.empty(len(starts), np.int64)  # numbers without the first symbol
            suffixes[above] = numbers[1 : len(every) + 1]
            continuations.append(_small(np.bincount(suffixes, minlength=len(keys[n - 1]))))
        numbers = above
    contexts = (1, *map(len, keys))
    short = (np.uint32 if rows * symbols < 2**32 else np.int64 for rows in contexts)
    keys = [part.astype(dtype) for part, dtype in zip(keys, short, strict=False)]
    return NgramCounts(symbols, tuple(keys), tuple(counts), tuple(continuations))


def _small(counts: Integer[np.ndarray, "ngram"]) -> Integer[np.ndarray, "ngram"]:
    """Return counts as the smallest integers that hold them; a class shares millions."""
    return counts.astype(np.min_scalar_type(int(counts.max(initial=0))))


def fit(
    counts: NgramCounts, smoothing: str, order: int | None = None, k: float = 1.0
) -> NgramModel:
    """Return the n-gram model with these counts.

    * "none": relative frequencies. A context without a count has probability 0 for every symbol.
    * "add_k": k is added to the count of every symbol.
    * "witten_bell": after a context seen N times with T different followers, the shorter context
      has the weight T / (N + T).
    * "kneser_ney": a discount is taken from each count and given to the shorter context. Below the
      longest context, the count of an n-gram is the number of different symbols before it.
    * "modified_kneser_ney": the same, with separate discounts for counts of 1, 2, and 3 or more.

    Discounts are estimated for each n from the numbers of n-grams with counts 1 to 4. Where a text
    is too small for that, they are 0.75, or 0.5, 1 and 1.5.

    Args:
        counts: counts of the training text.
        smoothing: one of `SMOOTHINGS`.
        order: n; by default the largest that was counted.
        k: number added to each count by "add_k".

    References:
        Witten and Bell, 1991. Kneser and Ney, 1995. Chen and Goodman, 1999. Heafield et al., 2013.
    """
    if smoothing not in SMOOTHINGS:
        raise ValueError(f"Unknown smoothing: {smoothing}. Known: {', '.join(SMOOTHINGS)}.")
    order = counts.order if order is None else min(order, counts.order)
    return NgramModel(counts, smoothing, order, k)


def witten_bell(count: int, total: int, kinds: int, below: float) -> float:
    """Return the Witten-Bell probability of a symbol after a context, as `fit` computes it.

    Args:
        count: occurrences of the symbol after the context.
        total: occurrences of the context with a follower.
        kinds: number of different followers.
        below: probability of the symbol after the shorter context.
    """
    return (count + kinds * below) / (total + kinds)


def add_k(count: int, total: int, symbols: int, k: float = 1.0) -> float:
    """Return the add-k probability of a symbol after a context, as `fit` computes it.

    Args:
        count: occurrences of the symbol after the context.
        total: occurrences of the context with a follower.
        symbols: number of different symbols.
        k: number added to each count.
    """
    return (count + k) / (total + k * symbols)


def discounts(counts: Integer[np.ndarray, "ngram"], smoothing: str) -> tuple[float, float, float]:
    """Return the discounts of counts of 1, 2, and 3 or more.

    Args:
        counts: counts of all n-grams of one n.
        smoothing: "kneser_ney" or "modified_kneser_ney".
    """
    once, twice, thrice, four = (int((counts == times).sum()) for times in (1, 2, 3, 4))
    fallback = _DISCOUNTS[smoothing]
    if not once or not twice:
        return fallback
    y = once / (once + 2 * twice)
    if smoothing == "kneser_ney":
        return y, y, y
    if not thrice or not four:
        return fallback
    result = 1 - 2 * y * twice / once, 2 - 3 * y * thrice / twice, 3 - 4 * y * four / thrice
    return result if min(result) > 0 else fallback


def find(
    keys: Integer[np.ndarray, "ngram"], query: Int[np.ndarray, "key"]
) -> Int[np.ndarray, "key"]:
    """Return the number of each key of a query among ascending keys; -1 where it is missing."""
    alike = query.astype(keys.dtype)  # of another type, the keys would be copied
    numbers = np.minimum(np.searchsorted(keys, alike), len(keys) - 1)
    return np.where(keys[numbers] == query, numbers, -1)
