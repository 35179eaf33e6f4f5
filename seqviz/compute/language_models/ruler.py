"""Bits per character: one measure for models of letters, words and tokens."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.stats.estimate import Estimate, ratio_ci, stack
from seqviz.stats.facts import Facts


@dataclass(frozen=True)
class BitsPerCharacter:
    """Bits that several models need for the same sentences.

    A sentence is its characters and its end, which each model predicts after the end before it.

    Attributes:
        models: names of the models.
        bits: bits of each sentence.
        characters: characters of each sentence, its end included.
    """

    models: tuple[str, ...]
    bits: Float[np.ndarray, "model sentence"]
    characters: Int[np.ndarray, "sentence"]

    def of(self, model: str) -> Estimate:
        """Return bits per character of a model, with its interval over sentences."""
        return self._ratio(self.bits[self.models.index(model)])

    @property
    def all(self) -> Estimate:
        """Bits per character of all models."""
        return stack(self.of(model) for model in self.models)

    def difference(self, model: str, reference: str) -> Estimate:
        """Return by how many bits per character a model exceeds another, on the same sentences.

        Args:
            model: name of the model.
            reference: name of the other model.
        """
        a, b = (self.bits[self.models.index(name)] for name in (model, reference))
        return self._ratio(a - b)

    def compared(self, model: str, reference: str) -> Facts:
        """State the bits of two models and their paired difference.

        Args:
            model: name of the model.
            reference: name of the other model.
        """
        difference = self.difference(model, reference)
        return Facts(
            difference.verdict, model=model, reference=reference, bits=self.of(model),
            other=self.of(reference), difference=abs(difference),
            sentences=difference.n,
        )  # fmt: skip

    def _ratio(self, bits: Float[np.ndarray, "sentence"]) -> Estimate:
        return ratio_ci(bits, self.characters, "sentences")
