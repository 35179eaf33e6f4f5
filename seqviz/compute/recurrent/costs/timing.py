"""Steps one after another beside one product with as many multiplications."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.stats.facts import Facts

WAYS = ("steps", "product")


@dataclass(frozen=True)
class StepTimes:
    """Seconds of each way, by number of sequences read at once and by length, of each repeat.

    hidden: units; "steps" reads inputs of as many features, "product" multiplies by both matrices
    side by side, [W_hx W_hh], at all steps at once.
    """

    hidden: int
    batches: tuple[int, ...]
    lengths: Int[np.ndarray, "length"]
    seconds: Float[np.ndarray, "way batch repeat length"]

    def milliseconds(self, batch: int, length: int) -> tuple[float, float]:
        """Medians over the repeats: all steps, and the product."""
        k = int(np.flatnonzero(self.lengths == length)[0])
        result = 1000 * np.median(self.seconds[:, self.batches.index(batch), :, k], axis=-1)
        return float(result[0]), float(result[1])

    def ratio(self, batch: int, length: int) -> float:
        """How many times as long the steps take."""
        steps, product = self.milliseconds(batch, length)
        return steps / product

    def a_step(self, batch: int, length: int) -> float:
        """Milliseconds of one step."""
        return self.milliseconds(batch, length)[0] / length

    def compared(self, batch: int, length: int) -> Facts:
        """State what steps in a row take, against one product with as many multiplications."""
        (steps, product), ratio = self.milliseconds(batch, length), self.ratio(batch, length)
        return Facts(
            "slower" if ratio > 1 else "faster", hidden=self.hidden, batch=batch, length=length,
            steps=steps, step=steps / length, product=product, ratio=ratio,
            inverse=1 / ratio,
        )  # fmt: skip
