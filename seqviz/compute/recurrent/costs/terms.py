"""Terms of a sequence's loss: the output of each (D-21) and their number (D-20)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from seqviz.stats.facts import Facts

ENDS = ("ty", "tx")


@dataclass(frozen=True)
class AnswerTerms:
    """Answer of T_y = `len(pieces)` tokens behind a text of T_x = `read`, in bits per token.

    Attributes:
        before: bits by the output of the previous step, y_{t-1}, which has not read the token.
        same: bits by the output of the same step, y_t, which has read it.
        unknown: True where the network does not know the token.
    """

    read: int
    pieces: tuple[str, ...]
    before: Float[np.ndarray, "token"]
    same: Float[np.ndarray, "token"]
    unknown: Bool[np.ndarray, "token"]

    def summed(self, end: str) -> int:
        """Return the number of terms in a sum to T_y ("ty") or to T_x ("tx")."""
        return min(self.read, len(self.pieces)) if end == "tx" else len(self.pieces)

    def bits(self, output: str, end: str = "ty") -> float:
        """Return the sum of the terms.

        Args:
            output: "before" or "same".
            end: one of `ENDS`.
        """
        return float(getattr(self, output)[: self.summed(end)].sum())

    def perplexity(self, output: str, end: str = "ty") -> float:
        """Return 2 to the bits per term; nan without terms.

        Args:
            output: "before" or "same".
            end: one of `ENDS`.
        """
        terms = self.summed(end)
        return float(2 ** (self.bits(output, end) / terms)) if terms else float("nan")

    def totals(self, output: str, end: str) -> Facts:
        """State the number of characters read and scored, and the bits of the terms in the sum.

        Args:
            output: "before" or "same".
            end: one of `ENDS`.
        """
        return Facts(
            tx=self.read, ty=len(self.pieces), terms=self.summed(end), bits=self.bits(output, end)
        )

    def missing(self, output: str) -> Facts:
        """State the number of terms by which a sum to T_x misses or exceeds the answer."""
        tx, ty = self.read, len(self.pieces)
        variant = "left_out" if tx < ty else "not_there" if tx > ty else "equal"
        return Facts(variant, tx=tx, missing=abs(ty - tx), whole=self.bits(output))

    def outputs(self) -> Facts:
        """State the bits of the answer by either output."""
        return Facts(ty=len(self.pieces), right=self.bits("before"), wrong=self.bits("same"))
