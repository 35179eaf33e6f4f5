"""Norms of signal and gradient by depth in an untrained stack of blocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seqviz.core.units import Log10

ARRANGEMENTS = ("post", "pre", "none", "plain")
QUANTITIES = ("signal", "gradient")
MOST_BLOCKS, RUNS, WIDTH, HEADS, TOKENS = 64, 5, 64, 4, 8


@dataclass(frozen=True)
class Depth:
    """Log10 of norms before block 1 and after each block, by arrangement and run.

    Attributes:
        signal: root mean square of the entries of the residual stream.
        gradient: norm of the gradient there, relative to that at the output of the last block.
    """

    arrangements: tuple[str, ...]
    blocks: int
    signal: Float[np.ndarray, "arrangement run depth"]
    gradient: Float[np.ndarray, "arrangement run depth"]

    def at(self, quantity: str, arrangement: str, depth: int) -> Log10:
        """Return the norm at a depth, median over runs.

        Args:
            quantity: one of `QUANTITIES`.
            arrangement: one of `ARRANGEMENTS`.
            depth: number of blocks passed; 0 is the input.
        """
        values = getattr(self, quantity)[self.arrangements.index(arrangement), :, depth]
        return float(np.median(values))
