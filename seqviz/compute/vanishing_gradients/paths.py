"""Paths of equation 44: contributions of errors to dJ/dh_t, and backpropagation by steps.

The text writes the contribution of step tau to dJ/dh_t in a linear RNN as -(2/T) (W^T)^(tau-t)
W_yh^T (y_{T+t-tau} - yhat_{T+t-tau}); the error must be that of step tau. Both are computed here.
With tanh, W^T becomes W^T diag(tanh').
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seqviz.compute.recurrent import State, at, jacobians
from seqviz.compute.vanishing_gradients.experiment import GradientExperiment, unroll
from seqviz.core.units import Share, TwoDigits
from seqviz.stats.facts import Facts


@dataclass(frozen=True)
class PathContributions:
    """Contributions to dJ/dh_t of the errors at tau = t ... T, each a vector.

    Attributes:
        moment: t, counted from 1.
        terms: contributions with the error of step tau.
        printed: contributions with the error that the text's index names.
        total: sum of `terms`.
        autograd: dJ/dh_t by PyTorch's automatic differentiation.
        stretch: largest singular value of dh_tau/dh_t, the largest factor of the path on an error.
        error: |W_yh^T dJ/dyhat_tau|, the length of the error at its own step.
    """

    moment: int
    terms: Float[np.ndarray, "later hidden"]
    printed: Float[np.ndarray, "later hidden"]
    total: Float[np.ndarray, "hidden"]
    autograd: Float[np.ndarray, "hidden"]
    stretch: Float[np.ndarray, "later"]
    error: Float[np.ndarray, "later"]

    @property
    def largest(self) -> tuple[int, float]:
        """Step whose error has the largest share, and that share."""
        shares = self.along(self.terms)
        position = int(np.argmax(shares))
        return self.moment + position, float(shares[position])

    def along(self, vectors: Float[np.ndarray, "later hidden"]) -> Float[np.ndarray, "later"]:
        """Return each vector's length along the gradient; for `terms` they sum to its length."""
        size = float(np.linalg.norm(self.autograd))
        return vectors @ self.autograd / size if size > 0 else np.zeros(len(vectors))

    def largest_share(self) -> Facts:
        """State which error has the largest share, and how far paths and errors differ."""
        step, share = self.largest
        return Facts(
            step=step, share=share, result=self, last=self.moment + len(self.terms) - 1,
            stretch=float(self.stretch[-1]), least=float(self.error.min()),
            most=float(self.error.max()),
        )  # fmt: skip

    @property
    def length(self) -> float:
        """Sum of the lengths of `terms` along the gradient."""
        return float(self.along(self.terms).sum())

    @property
    def autograd_length(self) -> float:
        """|dJ/dh_t| by automatic differentiation."""
        return float(np.linalg.norm(self.autograd))

    @property
    def mismatch(self) -> TwoDigits:
        """|sum of `terms` - autograd| / |autograd|."""
        return _relative(self.total, self.autograd)

    @property
    def printed_mismatch(self) -> Share:
        """|sum of `printed` - autograd| / |autograd|."""
        return _relative(self.printed.sum(0), self.autograd)


@dataclass(frozen=True)
class Recursion:
    """Backpropagation by dJ/dh_t = (dh_{t+1}/dh_t)^T dJ/dh_{t+1} + W_yh^T dJ/dyhat_t.

    Attributes:
        residuals: dJ/dyhat_t; index 0 is t = 1, as in all arrays.
        readout: W_yh.
        jacobian: dh_{t+1}/dh_t, which carries the gradient of the next step into step t; zero at T.
        total: dJ/dh_t.
    """

    residuals: Float[np.ndarray, "time output"]
    readout: Float[np.ndarray, "output hidden"]
    jacobian: Float[np.ndarray, "time hidden hidden"]
    total: Float[np.ndarray, "time hidden"]

    def carried(self, t: int) -> float:
        """Return the length of the gradient that step t (from 1) gets from later steps."""
        after = self.total[t] if t < len(self.total) else np.zeros_like(self.total[0])
        return float(np.linalg.norm(self.jacobian[t - 1].T @ after))

    def own_error(self, t: int) -> float:
        """Return the length of the gradient that the error of step t (from 1) adds."""
        return float(np.linalg.norm(self.residuals[t - 1] @ self.readout))

    def length(self, t: int) -> float:
        """Return |dJ/dh_t|."""
        return float(np.linalg.norm(self.total[t - 1]))


def paths(experiment: GradientExperiment, moment: int) -> PathContributions:
    """Return the contributions to dJ/dh_t at t = `moment`, with J the mean loss over all steps.

    Args:
        experiment: an experiment with an RNN.
        moment: t, from 1 to T.

    Raises:
        ValueError: for a moment outside the sequence, and for cells other than the RNN.

    References:
        The Chinese lecture text behind this lesson, equations 42 to 44.
    """
    from seqviz.compute.vanishing_gradients.autograd import state_gradients

    net = unroll(experiment)
    if not 1 <= moment <= net.steps:
        raise ValueError(f"The step t must lie between 1 and {net.steps}.")
    if experiment.cell not in ("linear", "rnn", "relu"):
        raise ValueError("Equation 44 is about the RNN.")
    last, t = net.steps, moment
    terms: list[np.ndarray] = []
    printed: list[np.ndarray] = []
    for later in range(t, last + 1):
        for error, retained in ((later, terms), (last + t - later, printed)):
            carried = State(net.errors[error - 1])
            for step in range(later, t, -1):  # cross the steps later, ..., t + 1
                carried = net.cell.pullback(net.weights, at(net.slopes, step - 1), carried).state
            retained.append(carried.hidden)
    stacked = np.stack(terms)
    steps = jacobians(net.cell, net.weights, net.trace)
    products = [np.eye(net.weights.hidden)]
    for step in steps[t:]:  # the later factor stands on the left
        products.append(step @ products[-1])
    return PathContributions(
        t,
        stacked,
        np.stack(printed),
        stacked.sum(0),
        state_gradients(experiment)[t - 1],
        np.linalg.norm(np.stack(products), 2, axis=(1, 2)),
        np.linalg.norm(net.errors[t - 1 :], axis=1),
    )


def recursion(experiment: GradientExperiment) -> Recursion:
    """Return the numbers of the backward pass of a small RNN at every step.

    Raises:
        ValueError: for the LSTM, whose state is more than h.
    """
    if experiment.cell == "lstm":
        raise ValueError("This recursion is about h alone; the state of an LSTM is h and c.")
    net = unroll(experiment)
    d = net.weights.hidden
    steps = jacobians(net.cell, net.weights, net.trace)  # steps[t] = dh_{t+1}/dh_t
    carry = np.concatenate([steps[1:], np.zeros((1, d, d))])
    total = np.zeros((net.steps + 1, d))
    for t in reversed(range(net.steps)):
        total[t] = carry[t].T @ total[t + 1] + net.errors[t]
    return Recursion(net.residuals, net.readout, carry, total[:-1])


def _relative(values: np.ndarray, expected: np.ndarray) -> float:
    size = float(np.linalg.norm(expected))
    return float(np.linalg.norm(values - expected)) / size if size > 0 else 0.0
