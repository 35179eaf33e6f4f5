"""Effect of word order on the state of an untrained cell, and on a sum of vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seqviz.compute.seeded import seeded
from seqviz.core.errors import UserError
from seqviz.stats.facts import Facts

UNITS, WIDTH, OTHERS = 8, 8, 100


@dataclass(frozen=True)
class OrderDistance:
    """Distance between the readings of two texts after each token; a text that has ended stays.

    Attributes:
        states: distance of the hidden states.
        sums: distance of the sums of input vectors, which do not depend on the order.
        others: distance of the last states for other cells.
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    states: Float[np.ndarray, "time"]
    sums: Float[np.ndarray, "time"]
    others: Float[np.ndarray, "cell"]

    @property
    def apart(self) -> float:
        """Distance of the last states."""
        return float(self.states[-1])

    @property
    def sum_apart(self) -> float:
        """Distance of the sums over the texts."""
        return float(self.sums[-1])

    def compared(self) -> Facts:
        """State the distances of sums and states, and of the states of other cells."""
        variant = "other" if self.sum_apart > 0 else "same" if self.apart == 0 else "order"
        return Facts(variant, apart=self.apart, sums=self.sum_apart, low=self.others.min(),
                     high=self.others.max(), cells=len(self.others))  # fmt: skip


def pieces(text: str) -> tuple[str, ...]:
    """Split a text into words at spaces; a single word into characters."""
    words = text.split()
    return tuple(words if len(words) > 1 else "".join(words))


def orders(first: str, second: str, seed: int) -> OrderDistance:
    """Read two texts with a random cell: weights from N(0, 1/8), one random vector per token.

    Args:
        first: a text.
        second: the other text.
        seed: random seed.

    Raises:
        UserError: "no_text" for an empty text.
    """
    item, other = pieces(first), pieces(second)
    if not item or not other:
        raise UserError("no_text", "There is nothing to read. Type a text.")
    random, existing = seeded(seed), sorted({*item, *other})
    table = random.normal(0, 1, (1 + OTHERS, len(existing), WIDTH))
    back, new = random.normal(0, UNITS**-0.5, (2, 1 + OTHERS, UNITS, UNITS))
    last = max(len(item), len(other))
    read = []
    for text in (item, other):
        ids = [existing.index(piece) for piece in text]
        h = np.zeros((1 + OTHERS, 1, UNITS))
        states = []
        for at in ids:
            h = np.tanh(h @ back + table[:, at : at + 1] @ new)
            states.append(h[:, 0])
        # Counts times rows, so that rounding does not depend on the order.
        sums = np.cumsum(np.eye(len(existing))[ids], axis=0) @ table[0]
        retained = np.minimum(np.arange(last), len(text) - 1)
        read.append((np.stack(states)[retained], sums[retained]))
    (h_one, sum_one), (h_other, sum_other) = read
    apart = np.linalg.norm(h_one - h_other, axis=-1)
    sums_apart = np.linalg.norm(sum_one - sum_other, axis=-1)
    return OrderDistance(item, other, apart[:, 0], sums_apart, apart[-1, 1:])
