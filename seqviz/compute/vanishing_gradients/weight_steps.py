"""Decomposition of dJ/dW by time: contribution of each step to W_hh, W_hx and W_yh."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.compute.recurrent import RNNTrace, backward
from seqviz.compute.vanishing_gradients.experiment import GradientExperiment, unroll
from seqviz.core.units import Share, TwoDigits
from seqviz.stats.facts import Facts

MATRICES = ("hidden_hidden", "input_hidden", "readout")
_NEAR = 0.1


@dataclass(frozen=True)
class WeightSteps:
    """Contribution of each step to the gradient of one matrix.

    Attributes:
        each: the contributions.
        autograd: the whole gradient by automatic differentiation.
    """

    each: Float[np.ndarray, "time rows columns"]
    autograd: Float[np.ndarray, "rows columns"]

    @property
    def total(self) -> Float[np.ndarray, "rows columns"]:
        """Sum of the contributions over the steps."""
        return self.each.sum(0)

    @property
    def shares(self) -> Float[np.ndarray, "time"]:
        """Length of each contribution along the gradient; they add up to the gradient's length."""
        size = self.length
        return np.einsum("tij,ij->t", self.each, self.total) / (size if size > 0 else 1.0)

    @property
    def length(self) -> float:
        """|dJ/dW|, over all entries."""
        return float(np.linalg.norm(self.total))

    @property
    def autograd_length(self) -> float:
        """|dJ/dW| by automatic differentiation."""
        return float(np.linalg.norm(self.autograd))

    @property
    def mismatch(self) -> TwoDigits:
        """|sum - autograd| / |autograd|."""
        size = self.autograd_length
        return float(np.linalg.norm(self.total - self.autograd)) / size if size > 0 else 0.0

    def share_of(self, step: int) -> Share:
        """Return the share of one step (from 1) in the length of the gradient."""
        return float(self.shares[step - 1]) / self.length if self.length > 0 else 0.0

    @property
    def enough(self) -> int:
        """Number of last steps that give the gradient within a tenth, as any more of them do."""
        recent = np.cumsum(self.each[::-1], axis=0)
        misses = np.linalg.norm(recent - self.total, axis=(1, 2))
        far = np.flatnonzero(misses > _NEAR * self.length)
        return int(far[-1]) + 2 if far.size else 1

    def needed(self) -> Facts:
        """State how many of the last steps give the gradient within a tenth, of how many."""
        enough, steps = self.enough, len(self.each)
        few, many = "one" if enough == 1 else "enough", "every" if enough == steps else "all"
        return Facts(few if enough <= steps / 2 else many, enough=enough, steps=steps)


def weight_steps(experiment: GradientExperiment, matrix: str) -> WeightSteps:
    """Return the contribution of each step to dJ/d(matrix) of an RNN.

    dJ/dW_hh = sum_t da_t h_{t-1}^T, dJ/dW_hx = sum_t da_t x_t^T and dJ/dW_yh = sum_t dJ/dyhat_t
    h_t^T, with da_t = dJ/da_t and a the pre-activations.

    Args:
        experiment: an experiment with an RNN.
        matrix: one of `MATRICES`.

    Raises:
        ValueError: for an unknown matrix, and for cells other than the RNN.

    References:
        The lecture text behind this lesson, before equation 43 and after 44, with the error of step
            tau in place of the printed index.
    """
    from seqviz.compute.vanishing_gradients.autograd import matrix_gradient

    if matrix not in MATRICES:
        raise ValueError(f"There is no matrix {matrix!r}.")
    net = unroll(experiment)
    if not isinstance(net.trace, RNNTrace):
        raise ValueError("These sums are those of an RNN.")
    slopes: Any = net.slopes
    sides = slopes.activation * backward(net.cell, net.weights, net.trace, net.errors).hidden[1:]
    left, right = {
        "hidden_hidden": (sides, net.trace.hidden[:-1]),
        "input_hidden": (sides, net.trace.inputs),
        "readout": (net.residuals, net.trace.hidden[1:]),
    }[matrix]
    each = left[:, :, None] * right[:, None, :]
    return WeightSteps(each, matrix_gradient(experiment, matrix))
