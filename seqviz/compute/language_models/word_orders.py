"""Probability of a sentence as a product, one factor for each word, in all orders of the words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.language_models.ngrams import count, fit
from seqviz.compute.text.windows.vocabulary import vocabulary
from seqviz.core.errors import UserError
from seqviz.core.units import Log10
from seqviz.stats.facts import Facts

END = "\n"  # stands before the first word, and is predicted behind the last
MAX_WORDS = 5  # words of a sentence: 120 orders


@dataclass(frozen=True)
class WordOrders:
    """All orders of the words of a sentence under an n-gram model, the most probable first.

    Attributes:
        words: the words as given.
        n: words of the longest n-gram.
        orders: the words of each order, as positions in `words`; equal texts are one order.
        bits: -log2 of each factor: the probability of a word after those before, then of the end.
        alone: -log2 of the probability of each word and of the end by frequency (n = 1).
        unknown: words that are not in the corpus.
        left_out: words of the sentence beyond `MAX_WORDS`.
    """

    words: tuple[str, ...]
    n: int
    orders: Int[np.ndarray, "order word"]
    bits: Float[np.ndarray, "order factor"]
    alone: Float[np.ndarray, "factor"]
    unknown: tuple[str, ...]
    left_out: int

    @property
    def totals(self) -> Float[np.ndarray, "order"]:
        """Bits of each order: the sum over its factors."""
        return np.array([math.fsum(row) for row in self.bits])

    @property
    def totals_alone(self) -> Float[np.ndarray, "order"]:
        """Bits of each order by frequencies of words; the same for all orders."""
        rows = [[*self.alone[order], self.alone[-1]] for order in self.orders]
        return np.array([math.fsum(row) for row in rows])

    def text(self, rank: int) -> tuple[str, ...]:
        """Return the words in the order of this rank, from 0."""
        return tuple(self.words[k] for k in self.orders[rank])

    def rank(self, order: Sequence[int]) -> int:
        """Return the rank, from 0, of an order of the words.

        Args:
            order: positions in `words`.
        """
        texts = [self.text(rank) for rank in range(len(self.orders))]
        return texts.index(tuple(self.words[k] for k in order))

    @property
    def spread(self) -> Log10:
        """How many times as probable the most probable order is as the least probable possible one.

        1 where no order is possible.
        """
        finite = self.totals[np.isfinite(self.totals)]
        return float(np.ptp(finite)) * math.log10(2) if len(finite) else 0.0

    def of_unknown(self, order: Sequence[int]) -> Facts:
        """State the bits of the words that are not in the corpus, and those by frequency alone.

        Args:
            order: positions in `words`.
        """
        rank = self.rank(order)
        at = [k for k, word in enumerate(self.text(rank)) if word in self.unknown]
        bits = math.fsum(self.bits[rank, at])
        alone = math.fsum(self.alone[self.orders[rank][at]])
        dearer = alone < bits < math.inf and not math.isclose(alone, bits)
        return Facts("dearer" if dearer else "", unknown=bits, unknown_alone=alone)

    def compared(self, order: Sequence[int]) -> Facts:
        """State the bits of an order, its rank, and the spread over all orders.

        Args:
            order: positions in `words`.
        """
        rank, totals = self.rank(order), self.totals
        finite = totals[np.isfinite(totals)]
        # Sums of the same factors in another order can differ in the last digit.
        same = len(finite) == len(totals) > 1 and np.allclose(totals, totals[0], rtol=1e-12)
        equal = "equal" if self.n == 1 else "alike"
        possible = equal if same else "finite" if len(finite) == len(totals) else "partly"
        return Facts(
            "infinite" if math.isinf(totals[rank]) else possible,
            rank=rank + 1, n_orders=len(totals), bits=float(totals[rank]),
            best=float(totals[0]), worst=float(finite.max()) if len(finite) else math.inf,
            impossible=len(totals) - len(finite),
            spread_alone=float(np.ptp(self.totals_alone)) if np.isfinite(self.alone).all() else 0.0,
            alone=float(self.totals_alone[0]),
        )  # fmt: skip


def word_orders(
    sentences: Sequence[Sequence[str]], words: Sequence[str], n: int, smoothing: str
) -> WordOrders:
    """Rank all orders of the words of a sentence by their probability.

    Args:
        sentences: corpus, as words of each sentence.
        words: the sentence; at most `MAX_WORDS` words are read.
        n: words of the longest n-gram, from 1.
        smoothing: one of `ngrams.SMOOTHINGS`.

    Raises:
        UserError: "no_text" for a corpus or a sentence without words.
    """
    if not any(sentences) or not words:
        raise UserError("no_text", "There is nothing to count. Type a text.")
    read = tuple(words[:MAX_WORDS])
    frequency = Counter(word for sentence in sentences for word in sentence)
    names = vocabulary(frequency, reserved=(END,))
    row = [END, *(word for sentence in sentences if sentence for word in (*sentence, END))]
    counts = count(names.ids(row), len(names), n)
    model = fit(counts, smoothing, n)
    end, ids = names.ids([END]), names.ids(read)
    every = {tuple(read[k] for k in order): order
             for order in reversed([*permutations(range(len(read)))])}  # fmt: skip
    orders = np.array([*every.values()][::-1])
    bits = np.array(
        [bits_of(model.probabilities(np.append(ids[order], end), end)) for order in orders]
    )
    ranked = np.argsort([math.fsum(row) for row in bits], kind="stable")
    alone = np.array(bits_of(fit(counts, smoothing, 1).probabilities(np.append(ids, end), end[:0])))
    unknown = tuple(dict.fromkeys(w for w, k in zip(read, ids, strict=True) if not k))
    return WordOrders(
        read, model.order, orders[ranked], bits[ranked], alone, unknown, len(words) - len(read)
    )


def bits_of(probability: Float[np.ndarray, "factor"]) -> list[float]:
    """Return -log2 of each probability, infinite for 0.

    A vectorized log2 can depend on the position in the last digit.

    Args:
        probability: probability of each factor.
    """
    return [-math.log2(p) if p else math.inf for p in probability.tolist()]
