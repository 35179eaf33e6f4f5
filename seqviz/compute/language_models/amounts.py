"""Bits per character of n-gram models that have counted less of the training text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.language_models.ngrams import count, fit
from seqviz.compute.language_models.ruler import BitsPerCharacter
from seqviz.stats.estimate import Estimate
from seqviz.stats.facts import Facts

SHARES = (1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)


@dataclass(frozen=True)
class BitsByAmount:
    """Bits per character for growing amounts of training text and n = 1, 2, ....

    Attributes:
        characters: characters that were counted, ends of sentences included.
        held: bits on held-out sentences.
        train: bits on sentences that were counted.
    """

    characters: Int[np.ndarray, "amount"]
    held: Estimate  # [amount, n]
    train: Float[np.ndarray, "amount n"]

    def summary(self, n: int) -> Facts:
        """State the bits with the least and the most text for one n, and the best n of each.

        Args:
            n: the n of the n-grams.
        """
        best = self.held.mean.argmin(-1) + 1
        return Facts(
            n=n, first=self.held[0, n - 1], last=self.held[-1, n - 1],
            fewest=int(self.characters[0]), most=int(self.characters[-1]),
            best_first=int(best[0]), best_last=int(best[-1]),
            counted=float(self.train[-1, n - 1]),
        )  # fmt: skip


def spaced(n_sentences: int, share: float) -> Int[np.ndarray, "chosen"]:
    """Return the places of a share of the sentences, evenly spaced, at least one.

    A larger share of `SHARES` contains a smaller one, and each has sentences of all sources.

    Args:
        n_sentences: number of sentences.
        share: share to take.
    """
    return np.arange(0, n_sentences, round(1 / share))


def bits_of_orders(
    row: Int[np.ndarray, "time"],
    sentences: tuple[Int[np.ndarray, "_"], ...],
    symbols: int,
    smoothing: str,
    order: int,
    end: int,
) -> BitsPerCharacter:
    """Return the bits of sentences under models of n = 1 to `order` that have counted a text.

    Args:
        row: the text, with an end before and after each sentence.
        sentences: the sentences to read, without ends.
        symbols: size of the vocabulary.
        smoothing: one of `ngrams.SMOOTHINGS`.
        order: largest n.
        end: symbol of the end of a sentence.
    """
    counts = count(row, symbols, order)
    texts, before = [np.append(ids, end) for ids in sentences], np.array([end])
    models = [fit(counts, smoothing, n) for n in range(1, order + 1)]
    bits = np.array([model.total_bits(texts, before) for model in models])
    names = tuple(str(n) for n in range(1, order + 1))
    return BitsPerCharacter(names, bits, np.array([len(ids) for ids in texts]))
