"""Followers of a context before and after smoothing, and held-out texts that are impossible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Integer

from seqviz.compute.language_models.ngrams import (
    SMOOTHINGS,
    NgramCounts,
    NgramModel,
    fit,
)
from seqviz.core.units import Share
from seqviz.stats.estimate import Estimate, ratio_ci, stack
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
class Occurrences:
    """Occurrences of an n-gram in a text, and the sentences that contain it.

    Attributes:
        count: number of occurrences.
        sentences: index of each sentence that contains one, ascending.
    """

    count: int
    sentences: Int[np.ndarray, "sentence"]


@dataclass(frozen=True)
class HeldOutTexts:
    """Held-out sentences under n-gram models, for n = 1, 2, ...

    Attributes:
        shares: share of the sentences with probability 0 without smoothing.
        smoothings: names of the other smoothings.
        bits: bits per symbol for each smoothing and n, ends of sentences included.
        excess: by how much they exceed those of the unigram model, on the same sentences.
    """

    shares: Proportion
    smoothings: tuple[str, ...]
    bits: Estimate
    excess: Estimate

    def at_order(self, n: int) -> Facts:
        """State the number of sentences with probability 0 for one n."""
        share = self.shares[n - 1]
        return Facts(n=n, impossible=share.correct, sentences=share.n, share=share)

    def cost(self, smoothing: str, n: int) -> Facts:
        """State bits per symbol, and by how much they exceed those of the unigram model.

        Args:
            smoothing: one of `smoothings`.
            n: the n of the n-grams.
        """
        bits, excess = (
            part[self.smoothings.index(smoothing), n - 1] for part in (self.bits, self.excess)
        )
        verdict = "alone" if n == 1 else excess.verdict
        return Facts(verdict, bits=bits, excess=abs(excess), sentences=excess.n)


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
    count: Integer[np.ndarray, "word"]
    contexts: Integer[np.ndarray, "word"]
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
    share[ids] = model.shares_and_weights(len(read), low, high)[0]
    first = np.lexsort((-every, -p))[:limit]
    return Followers(
        tuple(names[k] for k in read), int(counts.sum()), len(ids),
        tuple(names[k] for k in first), every[first], p[first], share[first],
        float(p[every == 0].sum()),
    )  # fmt: skip


def held_out_texts(
    counts: NgramCounts, held: Sequence[Int[np.ndarray, "_"]], end: int
) -> HeldOutTexts:
    """Return what held-out sentences cost under each smoothing and n, and which are impossible.

    The unigram model of the comparison has Witten-Bell smoothing.

    Args:
        counts: counts of the training text.
        held: held-out sentences.
        end: symbol that stands before and after each.
    """
    texts, before = [np.append(ids, end) for ids in held], np.array([end])
    bits = np.zeros((len(SMOOTHINGS), counts.order, len(texts)))
    for row, n in np.ndindex(bits.shape[:2]):
        model = fit(counts, SMOOTHINGS[row], n + 1)
        bits[row, n] = model.total_bits(texts, before)
    shares = np.isinf(bits[SMOOTHINGS.index("none")]).mean(-1)
    symbols = np.array([len(ids) for ids in texts])
    smoothings = tuple(name for name in SMOOTHINGS if name != "none")
    smooth = bits[[SMOOTHINGS.index(name) for name in smoothings]]
    alone = smooth[smoothings.index("witten_bell"), 0]
    costs, excess = (
        stack(stack(ratio_ci(row, symbols, "sentences") for row in by_n) for by_n in part)
        for part in (smooth, smooth - alone)
    )
    return HeldOutTexts(of_share(shares, len(texts)), smoothings, costs, excess)


def occurrences(text: Int[np.ndarray, "time"], ngram: Sequence[int], end: int) -> Occurrences:
    """Return the occurrences of an n-gram in a text.

    Args:
        text: sentences in one row, an end before the first and after each.
        ngram: the symbols. An occurrence belongs to the sentence of its last symbol.
        end: symbol of the end of a sentence.
    """
    last = np.flatnonzero(text[len(ngram) - 1 :] == ngram[-1]) + len(ngram) - 1
    for back, symbol in enumerate(reversed(ngram)):
        last = last[text[last - back] == symbol]
    sentence = np.searchsorted(np.flatnonzero(text == end), last) - 1
    return Occurrences(len(last), np.unique(sentence[sentence >= 0]))


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
    ids, times, contexts = counts.keys[0], counts.counts[0], counts.continuations[0]
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
