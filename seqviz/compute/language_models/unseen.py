"""Followers of a context before and after smoothing, and held-out texts that are impossible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.language_models.ngrams import NgramCounts, NgramModel, continuations, fit
from seqviz.core.units import Share
from seqviz.stats.facts import Facts
from seqviz.stats.proportions import Proportion, of_share


@dataclass(frozen=True)
class Followers:
    """Symbols after a context: relative frequencies, and probabilities of a smoothed model.

    Attributes:
        context: the context that was read: the last n - 1 symbols.
        seen: occurrences of the context with a follower.
        kinds: number of different followers.
        symbols: the likeliest symbols, most probable first.
        counts: how often each follows.
        probability: probability of each by the model.
        retained: part of it that comes from the symbol's own count after this context.
        unseen: probability of all symbols that never follow.
    """

    context: tuple[str, ...]
    seen: int
    kinds: int
    symbols: tuple[str, ...]
    counts: Int[np.ndarray, "symbol"]
    probability: Float[np.ndarray, "symbol"]
    retained: Float[np.ndarray, "symbol"]
    unseen: Share

    @property
    def raw(self) -> Float[np.ndarray, "symbol"]:
        """Relative frequency of each symbol after the context; 0 where it was not seen."""
        return np.asarray(self.counts / max(self.seen, 1))

    @property
    def given_away(self) -> Float[np.ndarray, "symbol"]:
        """Part of the relative frequency that smoothing took for shorter contexts."""
        return self.raw - self.retained

    def summary(self) -> Facts:
        """State how often the context was seen, and what the symbols that never follow have."""
        missing = "unseen" if self.probability.any() else "undefined"
        return Facts(
            "seen" if self.seen else missing, seen=self.seen, kinds=self.kinds,
            unseen=self.unseen, first=self.symbols[0], chance=float(self.probability[0]),
        )  # fmt: skip


@dataclass(frozen=True)
class ImpossibleTexts:
    """Held-out sentences with probability 0 under n-gram models without smoothing.

    Attributes:
        shares: share of the sentences, for n = 1, 2, ...
    """

    shares: Proportion

    def at_order(self, n: int) -> Facts:
        """State the number of sentences with probability 0 for one n."""
        share = self.shares[n - 1]
        return Facts(n=n, impossible=share.correct, sentences=share.n, share=share)


@dataclass(frozen=True)
class Continuations:
    """Words by their frequency and by how many different words they follow.

    Attributes:
        words: the words, by how much rarer they are by contexts than by occurrences.
        count: occurrences of each.
        contexts: number of different words in front of each.
        frequency: share of all occurrences.
        continuation: share of all pairs of a word and one before it, as in Kneser-Ney.
        before: the commonest word in front of each.
    """

    words: tuple[str, ...]
    count: Int[np.ndarray, "word"]
    contexts: Int[np.ndarray, "word"]
    frequency: Float[np.ndarray, "word"]
    continuation: Float[np.ndarray, "word"]
    before: tuple[str, ...]


def followers(
    model: NgramModel, names: Sequence[str], context: Sequence[int], limit: int = 15
) -> Followers:
    """Return the likeliest symbols after a context.

    Args:
        model: the model.
        names: symbol of each id.
        context: the symbols before; the last n - 1 are read.
        limit: number of symbols.
    """
    read = list(context[max(len(context) - model.order + 1, 0) :])
    p = model.distribution(read)
    ids, counts = model.counts.followers(read)
    every = np.zeros(len(p), np.int64)
    every[ids] = counts
    low, high = model.counts.range_of(read)
    share = np.zeros(len(p))
    share[ids] = model.shares[len(read)][low:high]
    first = np.lexsort((-every, -p))[:limit]
    return Followers(
        tuple(names[k] for k in read), int(counts.sum()), len(ids),
        tuple(names[k] for k in first), every[first], p[first], share[first],
        float(p[every == 0].sum()),
    )  # fmt: skip


def impossible_texts(
    counts: NgramCounts, held: Sequence[Int[np.ndarray, "_"]], end: int
) -> ImpossibleTexts:
    """Return for each n the share of sentences with probability 0 without smoothing.

    Args:
        counts: counts of the training text.
        held: held-out sentences.
        end: symbol that stands before and after each.
    """
    ends = np.array([end])
    shares = []
    for n in range(1, counts.order + 1):
        model = fit(counts, "none", n)
        zero = [(model.probabilities(np.append(row, end), ends) == 0).any() for row in held]
        shares.append(np.mean(zero))
    return ImpossibleTexts(of_share(np.array(shares), len(held)))


def by_continuation(
    counts: NgramCounts, names: Sequence[str], min_count: int = 20, limit: int = 20
) -> Continuations:
    """Return the words that Kneser-Ney makes rarest, relative to their frequency.

    Args:
        counts: counts of a text, of order 2 or more.
        names: word of each id; the first two, unknown and end of a sentence, are left out.
        min_count: smallest number of occurrences.
        limit: number of words.
    """
    ids, times, contexts = counts.keys[0], counts.counts[0], continuations(counts, 1)
    frequency, continuation = times / times.sum(), contexts / contexts.sum()
    chosen = np.flatnonzero((times >= min_count) & (ids > 1))
    order = chosen[np.argsort(continuation[chosen] / frequency[chosen], kind="stable")][:limit]
    before, after = np.divmod(counts.keys[1], counts.symbols)
    leading = []
    for word in ids[order]:
        pairs = np.flatnonzero(after == word)
        leading.append(names[ids[before[pairs[counts.counts[1][pairs].argmax()]]]])
    return Continuations(
        tuple(names[k] for k in ids[order]), times[order], contexts[order],
        frequency[order], continuation[order], tuple(leading),
    )  # fmt: skip
