"""Vectors that a decoder returns for a text, one for each token."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seqviz.compute.attention.tokens import Tokens
from seqviz.core.units import Count


@dataclass(frozen=True)
class TextVectors:
    """Vectors after the last layer.

    Attributes:
        tokens: tokens of the text.
        vectors: a row for each token.
    """

    tokens: Tokens
    vectors: Float[np.ndarray, "token d"]

    @property
    def positions(self) -> Count:
        """Number of tokens, and of vectors."""
        return float(len(self.vectors))

    @property
    def width(self) -> int:
        """Number of entries of a vector."""
        return self.vectors.shape[1]

    @property
    def numbers(self) -> Count:
        """Number of all entries."""
        return float(self.vectors.size)

    def task_parameters(self, outputs: int) -> Count:
        """Return the parameters of a linear layer with biases on one vector.

        Args:
            outputs: number of outputs, such as classes.
        """
        return float((self.width + 1) * outputs)
