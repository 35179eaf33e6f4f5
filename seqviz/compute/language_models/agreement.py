"""Agreement of a verb with its subject, by the number of words between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.stats.estimate import Estimate, mean_ci, paired_difference, stack
from seqviz.stats.facts import Facts


@dataclass(frozen=True)
class AgreementByDistance:
    """P(were) - P(was) after beginnings of sentences, as several models predict it.

    Attributes:
        models: names of the models.
        distance: words inserted between the subject and the ending.
        plural: with a subject in the plural.
        singular: with the same subject in the singular.
    """

    models: tuple[str, ...]
    distance: Int[np.ndarray, "distance"]
    plural: Float[np.ndarray, "model distance sentence"]
    singular: Float[np.ndarray, "model distance sentence"]

    def preference(self, model: str) -> Estimate:
        """Return P(were) - P(was) after a plural by distance, mean over sentences."""
        rows = self.plural[self.models.index(model)]
        return stack(mean_ci(row, source="sentences") for row in rows)

    def effect(self, model: str) -> Estimate:
        """Return by how much the plural raises P(were) - P(was) above the singular, by distance."""
        row = self.models.index(model)
        pairs = zip(self.plural[row], self.singular[row], strict=True)
        return stack(paired_difference(a, b, "sentences") for a, b in pairs)

    def blind(self, model: str) -> bool:
        """Return True where no prediction of a model depends on the number of the subject."""
        row = self.models.index(model)
        return bool((self.plural[row] == self.singular[row]).all())

    def at(self, model: str, distance: int) -> Facts:
        """State what the number of the subject changes at one distance.

        Args:
            model: name of the model.
            distance: number of inserted words.
        """
        effect = self.effect(model)[self.distance.tolist().index(distance)]
        variant = "blind" if self.blind(model) else effect.verdict
        return Facts(variant, effect=effect, distance=distance, sentences=effect.n)
