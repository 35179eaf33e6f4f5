"""Which terms a sequence's loss has: which output each is read from (D-21), and how many (D-20)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from seqviz.stats.facts import Facts

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

    def totals(self, output: str, end: str) -> Facts:
        """State how many characters are read and scored, and the bits of the terms in the sum."""
        return Facts(
            tx=self.read, ty=len(self.pieces), terms=self.summed(end), bits=self.bits(output, end)
        )

    def missing(self, output: str) -> Facts:
        """State how far a sum to T_x falls short of the whole answer, or goes beyond it."""
        tx, ty = self.read, len(self.pieces)
        variant = "left_out" if tx < ty else "not_there" if tx > ty else "equal"
        return Facts(variant, tx=tx, missing=abs(ty - tx), whole=self.bits(output))

    def outputs(self) -> Facts:
        """State the bits of the whole answer by either output."""
        return Facts(ty=len(self.pieces), right=self.bits("before"), wrong=self.bits("same"))
