"""Training windows of a text: random sampling, or sequential partition for a carried state.

The two functions are those of Zhang, Lipton, Li and Smola, Dive into Deep Learning, section 8.3
(seq_data_iter_random and seq_data_iter_sequential), with the offset and the order drawn from a seed
by numpy instead of Python's `random`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int

from seqviz.compute.seeded import seeded
from seqviz.core.errors import UserError
from seqviz.core.units import Fraction
from seqviz.stats.facts import Facts

WAYS = ("random", "sequential")


@dataclass(frozen=True)
class Windows:
    """Start positions of windows, in reading order; the target Y is each window one token later.

    Attributes:
        starts: positions in the text, from 0.
        steps: tokens of a window.
        offset: tokens left out at the beginning.
        length: tokens of the text.
    """

    starts: Int[np.ndarray, "batch row"]
    steps: int
    offset: int
    length: int

    @property
    def x(self) -> Int[np.ndarray, "batch row step"]:
        """Positions of the input tokens."""
        return self.starts[..., None] + np.arange(self.steps)

    @property
    def y(self) -> Int[np.ndarray, "batch row step"]:
        """Positions of the target tokens: those of X plus one."""
        return self.x + 1

    @property
    def continues(self) -> Bool[np.ndarray, "batch_1 row"]:
        """True where a window begins at the end of the same row's window in the previous batch.

        A state carried from batch to batch is carried along a row.
        """
        values: np.ndarray = self.starts[1:] == self.starts[:-1] + self.steps
        return values

    @property
    def continued(self) -> Fraction:
        """Number of windows after the first batch that continue their row, and of all of them."""
        return int(self.continues.sum()), self.continues.size

    @property
    def unread(self) -> int:
        """Number of tokens in no X: before the first, after the last, in between."""
        return self.length - self.starts.size * self.steps

    def summary(self) -> Facts:
        """State the number of windows, and of those that continue their row."""
        some, behind = self.continued
        return Facts(
            "cut" if behind else "cut_once", tokens=self.length, offset=self.offset,
            windows=self.starts.size, steps=self.steps, batches=len(self.starts), some=some,
            all=behind, unread=self.unread,
        )  # fmt: skip


def random_windows(length: int, batch: int, steps: int, seed: int) -> Windows:
    """Return adjacent windows behind a random offset, in random order (random sampling).

    The offset is in [0, steps - 1]; windows of an incomplete batch are left out.

    Args:
        length: tokens of the text.
        batch: windows of a batch.
        steps: tokens of a window.
        seed: random seed.

    Raises:
        UserError: "short_for_windows" where the text does not fill one batch.
    """
    random = seeded(seed)
    offset = int(random.randint(0, steps))
    order = random.permutation(count_windows(length, steps, offset))
    batches = len(order) // batch
    _check(batches, length, batch * steps + steps)
    starts = offset + steps * order[: batches * batch].reshape(batches, batch)
    return Windows(starts, steps, offset, length)


def count_windows(length: int, steps: int, offset: int) -> int:
    """Return the number of adjacent windows behind an offset; the text's last token is in none.

    Args:
        length: tokens of the text.
        steps: tokens of a window.
        offset: tokens left out at the beginning.
    """
    return max((length - offset - 1) // steps, 0)


def sequential_windows(length: int, batch: int, steps: int, seed: int) -> Windows:
    """Return windows of `batch` equal rows of the text, each read from left to right.

    The offset is in [0, steps] (sequential partition).

    Args:
        length: tokens of the text.
        batch: windows of a batch.
        steps: tokens of a window.
        seed: random seed.

    Raises:
        UserError: "short_for_windows" where the text does not fill one batch.
    """
    offset = int(seeded(seed).randint(0, steps + 1))
    row = (length - offset - 1) // batch
    batches = row // steps
    _check(batches, length, batch * steps + steps + 1)
    starts = offset + row * np.arange(batch) + steps * np.arange(batches)[:, None]
    return Windows(starts, steps, offset, length)


def cut(method: str, length: int, batch: int, steps: int, seed: int) -> Windows:
    """Return the windows of one of both methods.

    Args:
        method: one of `WAYS`.
        length: tokens of the text.
        batch: windows of a batch.
        steps: tokens of a window.
        seed: random seed.
    """
    make = {"random": random_windows, "sequential": sequential_windows}[method]
    return make(length, batch, steps, seed)


def _check(batches: int, length: int, needed: int) -> None:
    """Check the number of batches; `needed` tokens are enough at any offset."""
    if batches < 1:
        raise UserError(
            "short_for_windows",
            f"The text has {length} tokens, too few for one batch: {needed} are enough. Write a "
            "longer one, or choose a smaller batch or shorter windows.",
            found=length,
            needed=needed,
        )
