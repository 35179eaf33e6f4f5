"""Times of sequential steps, and of one matrix product with as many multiplications."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.stats.facts import Facts

WAYS = ("steps", "product")


@dataclass(frozen=True)
class StepTimes:
    """Measured seconds by method (`WAYS`), batch size, repeat and length.

    "steps" reads inputs with `hidden` features; "product" multiplies by both matrices side by side,
    [W_hx W_hh], at all steps at once.

    Attributes:
        batches: numbers of sequences read at once.
    """

    hidden: int
    batches: tuple[int, ...]
    lengths: Int[np.ndarray, "length"]
    seconds: Float[np.ndarray, "way batch repeat length"]

    def milliseconds(self, batch: int, length: int) -> tuple[float, float]:
        """Return the median milliseconds of all steps, and of the product.

        Args:
            batch: one of `batches`.
            length: one of `lengths`.
        """
        k = int(np.flatnonzero(self.lengths == length)[0])
        result = 1000 * np.median(self.seconds[:, self.batches.index(batch), :, k], axis=-1)
        return float(result[0]), float(result[1])

    def ratio(self, batch: int, length: int) -> float:
        """Return the time of the steps as a multiple of that of the product.

        Args:
            batch: one of `batches`.
            length: one of `lengths`.
        """
        steps, product = self.milliseconds(batch, length)
        return steps / product

    def a_step(self, batch: int, length: int) -> float:
        """Return the milliseconds of one step.

        Args:
            batch: one of `batches`.
            length: one of `lengths`.
        """
        return self.milliseconds(batch, length)[0] / length

    def compared(self, batch: int, length: int) -> Facts:
        """State the time of sequential steps against one product with as many multiplications.

        Args:
            batch: one of `batches`.
            length: one of `lengths`.
        """
        (steps, product), ratio = self.milliseconds(batch, length), self.ratio(batch, length)
        return Facts(
            "slower" if ratio > 1 else "faster", hidden=self.hidden, batch=batch, length=length,
            steps=steps, step=steps / length, product=product, ratio=ratio,
            inverse=1 / ratio,
        )  # fmt: skip
