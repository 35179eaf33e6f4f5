"""A text cut into windows for training: in random order, or so that batches continue one another.

The two functions are those of Zhang, Lipton, Li and Smola, Dive into Deep Learning, section 8.3
(seq_data_iter_random and seq_data_iter_sequential), with the offset and the order drawn from a seed
by numpy in place of Python's `random`.
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
    """Where the windows begin, in the order in which they are read.

    starts: [batch, row] places in the text, from 0. A window has `steps` tokens; what is to be
    predicted (Y) is the same one token later. offset: tokens left out at the beginning. length: of
    the text, in tokens.
    """

    starts: Int[np.ndarray, "batch row"]
    steps: int
    offset: int
    length: int

    @property
    def x(self) -> Int[np.ndarray, "batch row step"]:
        """Places of the tokens that are read."""
        return self.starts[..., None] + np.arange(self.steps)

    @property
    def y(self) -> Int[np.ndarray, "batch row step"]:
        """Places of the tokens that are to be predicted: those of X, one further on."""
        return self.x + 1

    @property
    def continues(self) -> Bool[np.ndarray, "batch_1 row"]:
        """Whether a window begins where that of the same row of the batch before has ended.

        A state that is carried from batch to batch is carried along a row.
        """
        values: np.ndarray = self.starts[1:] == self.starts[:-1] + self.steps
        return values

    @property
    def continued(self) -> Fraction:
        """How many of the windows behind the first batch continue their row, and of how many."""
        return int(self.continues.sum()), self.continues.size

    @property
    def unread(self) -> int:
        """Tokens of the text that are in no X: before the first, behind the last, in between."""
        return self.length - self.starts.size * self.steps

    def summary(self) -> Facts:
        """State how many windows there are, and how many continue their row."""
        some, behind = self.continued
        return Facts(
            "cut" if behind else "cut_once", tokens=self.length, offset=self.offset,
            windows=self.starts.size, steps=self.steps, batches=len(self.starts), some=some,
            all=behind, unread=self.unread,
        )  # fmt: skip


def random_windows(length: int, batch: int, steps: int, seed: int) -> Windows:
    """Random sampling: windows side by side behind a random offset, read in random order.

    The offset is in [0, steps - 1]; windows that fill no batch are left out. Raises
    UserError("short_for_windows") where not even one batch can be filled.
    """
    random = seeded(seed)
    offset = int(random.randint(0, steps))
    order = random.permutation(count_windows(length, steps, offset))
    batches = len(order) // batch
    _check(batches, length, batch * steps + steps)
    starts = offset + steps * order[: batches * batch].reshape(batches, batch)
    return Windows(starts, steps, offset, length)


def count_windows(length: int, steps: int, offset: int) -> int:
    """How many windows lie side by side behind an offset; the last token of the text is in none."""
    return max((length - offset - 1) // steps, 0)


def sequential_windows(length: int, batch: int, steps: int, seed: int) -> Windows:
    """Sequential partition: the text in `batch` equal rows, each read from its left to its right.

    The offset is in [0, steps]. Raises UserError("short_for_windows") as `random_windows`.
    """
    offset = int(seeded(seed).randint(0, steps + 1))
    row = (length - offset - 1) // batch
    batches = row // steps
    _check(batches, length, batch * steps + steps + 1)
    starts = offset + row * np.arange(batch) + steps * np.arange(batches)[:, None]
    return Windows(starts, steps, offset, length)


def cut(method: str, length: int, batch: int, steps: int, seed: int) -> Windows:
    """One of the two. method: of `WAYS`."""
    make = {"random": random_windows, "sequential": sequential_windows}[method]
    return make(length, batch, steps, seed)


def _check(batches: int, length: int, needed: int) -> None:
    """needed: tokens that are enough at any offset."""
    if batches < 1:
        raise UserError(
            "short_for_windows",
            f"The text has {length} tokens, too few for one batch: {needed} are enough. Write a "
            "longer one, or choose a smaller batch or shorter windows.",
            found=length,
            needed=needed,
        )
