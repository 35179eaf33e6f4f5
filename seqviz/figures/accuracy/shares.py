"""How many answers are right, of many rows at once, in percent with 95 % intervals (Wilson)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from seqviz.compute.proportions import Proportion, of, wilson
from seqviz.figures.grammar.style import Style


def answers_right(
    probability: Float[np.ndarray, "*rows case"], positive: Bool[np.ndarray, "case"]
) -> Float[np.ndarray, "*rows case"]:
    """1 where the answer is right, 0 where it is wrong, nan where there is none (nan).

    The answer is "positive" where that is likelier than not.
    """
    return np.where(np.isfinite(probability), (probability > 0.5) == positive, np.nan)


@dataclass(frozen=True)
class Shares:
    """Shares of many rows in percent with their intervals, and of how many cases; nan of none."""

    share: Float[np.ndarray, "*rows"]
    low: Float[np.ndarray, "*rows"]
    high: Float[np.ndarray, "*rows"]
    n: Int[np.ndarray, "*rows"]

    def said(self, style: Style) -> np.ndarray:
        """In words, for hover texts: an array of the same shape."""
        words = [
            style.text("figure.acc_said", share=f"{s:.1f}", low=f"{a:.1f}", high=f"{b:.1f}",
                       n=f"{n:,}")
            if n
            else style.text("figure.acc_none")
            for s, a, b, n in zip(*map(np.ravel, (self.share, self.low, self.high, self.n)),
                                  strict=True)
        ]  # fmt: skip
        return np.array(words, object).reshape(self.n.shape)


def shares(right: Float[np.ndarray, "*rows case"]) -> Shares:
    """Share of each row that is right (1, not 0), with its 95 % interval; cases of nan left out."""
    n = np.asarray(np.isfinite(right).sum(axis=-1))
    some = np.maximum(n, 1)
    share = np.where(n > 0, np.nansum(right, axis=-1) / some, np.nan)
    low, high = wilson(share, some)
    return Shares(100 * share, 100 * np.asarray(low), 100 * np.asarray(high), n)


def counted(right: Float[np.ndarray, "case"]) -> Proportion:
    """One row as a proportion."""
    return of(int(np.nansum(right)), int(np.isfinite(right).sum()))
