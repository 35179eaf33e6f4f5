"""Character n-gram model, the baseline for a network's bits per character."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

Counts = list[defaultdict[str, Counter[str]]]


def counted(train: str, order: int = 3) -> Counts:
    """Return the counts of each character after each context of 0 ... order - 1 characters."""
    counts: Counts = [defaultdict(Counter) for _ in range(order)]
    for n, table in enumerate(counts):
        for i in range(n, len(train)):
            table[train[i - n : i]][train[i]] += 1
    return counts


def interpolated_bits(train: str, text: str, order: int = 3) -> float:
    """Return mean bits per character of `text` under an n-gram model with Witten-Bell smoothing.

    Each order is interpolated with the next lower one, whose weight is T / (N + T) for a context
    seen N times with T different successors. The lowest order is uniform over the characters of
    `train` and one symbol for all others. Contexts continue across sentences.

    Args:
        train: text from which n-grams are counted.
        text: text to predict.
        order: n.

    References:
        Witten and Bell, 1991.
    """
    return sum(bits(counted(train, order), text)) / len(text)


def bits(counts: Counts, text: str) -> list[float]:
    """Return -log2 of the probability of each character; the first has an empty context."""
    uniform = 1 / (len(counts[0][""]) + 1)
    results = []
    for i, character in enumerate(text):
        p = uniform
        for n, table in enumerate(counts[: i + 1]):
            after = table.get(text[i - n : i])
            if after is None:
                break
            observed, kinds = sum(after.values()), len(after)
            p = (after[character] + kinds * p) / (observed + kinds)
        results.append(-math.log2(p))
    return results
