"""What arrives at each depth of a stack of blocks before training: signal and gradient."""

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
    """log10 of norms before block 1 and after each block, for each arrangement and each run.

    signal: root mean square of the entries of the residual stream. gradient: norm of the gradient
    that arrives there, divided by that at the output of the last block.
    """

    arrangements: tuple[str, ...]
    blocks: int
    signal: Float[np.ndarray, "arrangement run depth"]
    gradient: Float[np.ndarray, "arrangement run depth"]

    def at(self, quantity: str, arrangement: str, depth: int) -> Log10:
        """A norm after so many blocks (0: at the input), the median of the runs."""
        values = getattr(self, quantity)[self.arrangements.index(arrangement), :, depth]
        return float(np.median(values))
