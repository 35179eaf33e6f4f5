"""Losses and held-out bits of window networks with a block for each position, and with one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.training.loop import TrainingRecord
from seqviz.core.units import Share
from seqviz.stats.estimate import Estimate, ratio_ci, stack
from seqviz.stats.facts import Facts

MODELS = ("frequency", "trigram", "separate", "single")


@dataclass(frozen=True)
class WindowRecord(TrainingRecord):
    """Loss of a training so far.

    Attributes:
        loss: mean bits per word of the updates since the last record; nan at the beginning.
        tied: True for one block at all positions.
        seed: random seed.
    """

    loss: float
    tied: bool = False
    seed: int = 0


@dataclass(frozen=True)
class TrainedBlocks:
    """Bits of held-out sentences, their ends included, by networks of several seeds.

    Attributes:
        parameters: parameters with a block for each position, and with one in all.
        bits: bits of each sentence; first with a block for each position, then with one.
        counted: bits by the frequencies of words, and by word trigrams.
        words: predicted words of each sentence.
        unknown: share of held-out words outside the vocabulary.
    """

    parameters: Int[np.ndarray, "2"]
    bits: Float[np.ndarray, "2 seed sentence"]
    counted: Float[np.ndarray, "2 sentence"]
    words: Int[np.ndarray, "sentence"]
    unknown: Share

    @property
    def all(self) -> Estimate:
        """Bits per word of `MODELS`, means over seeds, with intervals over sentences."""
        return stack(self._ratio(row) for row in (*self.counted, *self.bits.mean(1)))

    @property
    def by_seed(self) -> Float[np.ndarray, "2 seed"]:
        """Bits per word of each network."""
        return np.asarray(self.bits.sum(-1) / self.words.sum())

    def compared(self) -> Facts:
        """State the bits of both kinds, and by how much one block exceeds separate ones."""
        difference = self._ratio(self.bits[1].mean(0) - self.bits[0].mean(0))
        own = self.by_seed[0]
        return Facts(
            difference.verdict, separate=self.all[2], single=self.all[3], trigram=self.all[1],
            frequency=self.all[0], difference=abs(difference), sentences=len(self.words),
            trainings=len(own), low=float(own.min()), high=float(own.max()),
            many=int(self.parameters[0]), few=int(self.parameters[1]), outside=self.unknown,
        )  # fmt: skip

    def _ratio(self, bits: Float[np.ndarray, "sentence"]) -> Estimate:
        return ratio_ci(bits, self.words, "sentences")
