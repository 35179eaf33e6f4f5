"""Which terms a sequence's loss has: which output each is read from (D-21), and how many (D-20)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

ENDS = ("ty", "tx")


@dataclass(frozen=True)
class AnswerTerms:
    """An answer of `len(pieces)` = T_y tokens behind a text of `read` = T_x, in bits a token.

    before: of the output of the step before, y_{t-1}, which has not seen the token; same: of the
    output of the same step, y_t, which has. unknown: where the network does not know the token.
    """

    read: int
    pieces: tuple[str, ...]
    before: Float[np.ndarray, "token"]
    same: Float[np.ndarray, "token"]
    unknown: Bool[np.ndarray, "token"]

    def summed(self, end: str) -> int:
        """How many terms a sum to T_y ("ty") or to T_x ("tx") finds."""
        return min(self.read, len(self.pieces)) if end == "tx" else len(self.pieces)

    def bits(self, output: str, end: str = "ty") -> float:
        """The sum of the terms. output: "before" or "same"."""
        return float(getattr(self, output)[: self.summed(end)].sum())

    def perplexity(self, output: str, end: str = "ty") -> float:
        """2 to the bits a term; of no term it is nan."""
        terms = self.summed(end)
        return float(2 ** (self.bits(output, end) / terms)) if terms else float("nan")
