"""Bits per character: one measure for models of letters, words and tokens."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.language_models.ngrams import SMOOTHINGS
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

    def with_smoothing(self, smoothing: str) -> BitsPerCharacter:
        """Return the results without the n-grams of other smoothings.

        Args:
            smoothing: one of `ngrams.SMOOTHINGS`.
        """
        rows = [k for k, name in enumerate(self.models)
                if name[:-1] == smoothing or name[:-1] not in SMOOTHINGS]  # fmt: skip
        models = tuple(self.models[k] for k in rows)
        return BitsPerCharacter(models, self.bits[rows], self.characters)

    def on_sentence(self, sentence: int) -> Facts:
        """State the bits per character of the best model on one sentence.

        Args:
            sentence: place of the sentence.
        """
        bits = self.bits[:, sentence] / self.characters[sentence]
        best = int(bits.argmin())
        return Facts(best=self.models[best], bits=float(bits[best]), n_models=len(bits),
                     characters=int(self.characters[sentence]))  # fmt: skip

    def ranked_on(self, sentence: int) -> Facts:
        """State which model is best on one sentence, and which on all.

        Args:
            sentence: place of the sentence.
        """
        overall, row = self.all.mean, self.bits[:, sentence] / self.characters[sentence]
        best, leader = int(row.argmin()), int(overall.argmin())
        return Facts(
            best=self.models[best], best_bits=float(row[best]), leader=self.models[leader],
            overall=float(overall[leader]), here=float(row[leader]),
            sentences=len(self.characters),
        )  # fmt: skip

    def _ratio(self, bits: Float[np.ndarray, "sentence"]) -> Estimate:
        return ratio_ci(bits, self.characters, "sentences")
