"""N-gram model: probabilities of a symbol after the preceding ones, as a baseline.

Rows of 1 to `order` symbols are counted in a training text, and each order is interpolated with the
one below it (Witten and Bell, 1991): after a row seen N times with T different successors the lower
order has the weight T / (N + T). The order below single symbols is the uniform distribution.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

ORDER = 5  # symbols of the longest n-gram, the predicted one included


@dataclass(frozen=True)
class Grams:
    """Counts of n-grams in a text, for n = 1, 2, ...

    An n-gram is one number, its symbols as digits.

    Attributes:
        rows: n-grams of each n, in ascending order.
        seen: cumulated counts, the total before each n-gram; one entry longer than `rows`.
    """

    symbols: int
    rows: tuple[Int[np.ndarray, "_"], ...]  # length differs by n
    seen: tuple[Int[np.ndarray, "_"], ...]

    def bits(
        self, ids: Int[np.ndarray, "time"], before: Int[np.ndarray, "earlier"]
    ) -> Float[np.ndarray, "time"]:
        """Return -log2 of the probability of each symbol.

        Args:
            ids: the predicted symbols.
            before: the symbols in front of them.
        """
        text = np.concatenate([before, ids])
        probability = np.full(len(text), 1 / self.symbols)
        for n, (rows, observed) in enumerate(zip(self.rows, self.seen, strict=True)):
            codes = _codes(text, n + 1, self.symbols)
            after = codes // self.symbols * self.symbols  # first n-gram with the same prefix
            begin, end = (np.searchsorted(rows, after + k) for k in (0, self.symbols))
            position = np.searchsorted(rows, codes)
            its = np.searchsorted(rows, codes, "right")
            times, kinds = observed[end] - observed[begin], end - begin
            mixed = (observed[its] - observed[position] + kinds * probability[n:]) / np.maximum(
                times + kinds, 1
            )
            probability[n:] = np.where(times > 0, mixed, probability[n:])
        return np.asarray(-np.log2(probability[len(before) :]))


def counted(ids: Int[np.ndarray, "time"], symbols: int, order: int = ORDER) -> Grams:
    """Count the n-grams of a training text.

    Args:
        ids: the text.
        symbols: size of the vocabulary.
        order: largest n.
    """
    every = [np.unique(_codes(ids, n, symbols), return_counts=True) for n in range(1, order + 1)]
    return Grams(
        symbols,
        tuple(rows for rows, _ in every),
        tuple(np.append(0, np.cumsum(counts)) for _, counts in every),
    )


def _codes(ids: np.ndarray, n: int, symbols: int) -> Int[np.ndarray, "row"]:
    """Return the number of each n-gram, in the order of the text."""
    codes = np.zeros(max(len(ids) - n + 1, 0), np.int64)
    for k in range(n):
        codes = codes * symbols + ids[k : k + len(codes)]
    return codes
