"""Norms of dJ/dh_t that neither overflow nor vanish, and the horizon of the error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.compute.recurrent import Cell, LSTMTrace, RecurrentWeights, State, Trace
from seqviz.compute.vanishing_gradients.experiment import (
    GradientExperiment,
    recurrent_matrix,
    unroll,
)
from seqviz.core.units import Log10, Share, unbroken
from seqviz.stats.facts import Facts

THRESHOLD = 0.01  # smallest share of an error that counts as arriving
# Range of float32: its largest number, and half its smallest (anything below rounds to zero).
FLOAT32 = (float(np.log10(np.finfo(np.float32).max)), float(np.log10(2.0**-150)))
LOG2 = np.log10(2.0)
# Steps between checks of the size: each would have to shrink a vector of 1e-60 by 1e-23 to lose
# its square (tanh' of 17 is 1e-14), and every check costs a quarter of an RNN's step.
_BETWEEN = 4
_ROUNDING = 9  # correct decimals of a singular value of 1


@dataclass(frozen=True)
class LogNorms:
    """Decimal logarithms of the norms of dJ/dh_t and, for the LSTM, of dJ/dc_t, t = 1 ... T.

    They are -inf where the gradient is exactly zero.
    """

    hidden: Float[np.ndarray, "time"]
    cell_state: Float[np.ndarray, "time"] | None

    @property
    def on_gradient_path(self) -> Float[np.ndarray, "time"]:
        """Norms on c for the LSTM, along which its gradient travels far, else on h."""
        return self.hidden if self.cell_state is None else self.cell_state


@dataclass(frozen=True)
class GradientReach:
    """Gradient through time of one network.

    The gradient path is c for the LSTM, else h.

    Attributes:
        norms: log10 norms of the gradient of the loss.
        arrived: log10 of the share of the last step's error that arrives at each step, on the
            gradient path; nan where the last step has no error.
        horizon: largest number of steps back over which at least `THRESHOLD` of that error arrives;
            0 where there is none.
        horizon_hidden: the same on h for every cell.
        left_float32: step t at which the norm on the gradient path first leaves float32 on the way
            back, or None.
        overflow: first step whose state left float64 on the way forward, or None; the sequence ends
            before it.
        labels: input tokens of a sentence.
    """

    norms: LogNorms
    loss: float
    arrived: Float[np.ndarray, "time"]
    horizon: int
    horizon_hidden: int
    left_float32: int | None
    overflow: int | None
    labels: tuple[str, ...] | None

    def horizon_seen(self, on_h: bool = False) -> str:
        """Return the horizon as text, with ≥ where the sequence ended before the gradient did.

        Args:
            on_h: True for the horizon on h.
        """
        steps = self.horizon_hidden if on_h else self.horizon
        return unbroken(f"≥ {steps}") if steps == len(self.arrived) - 1 else str(steps)

    @property
    def factor(self) -> float:
        """Factor of the last step's error per step back: geometric mean over all T - 1 steps."""
        return float(10 ** (self.arrived[0] / max(1, len(self.arrived) - 1)))

    @property
    def peak(self) -> float:
        """Largest length of the last step's error on its way back, relative to its length there."""
        return float(10 ** np.max(self.arrived))

    def arrives(self, step: int) -> Share:
        """Return the share of the last step's error that arrives at a step, counted from 1."""
        return float(10 ** self.arrived[step - 1])

    @property
    def left_with(self) -> Log10 | None:
        """log10 of the norm at the step that left float32, or None."""
        step = self.left_float32
        return None if step is None else float(self.norms.on_gradient_path[step - 1])

    def end_of_float32(self) -> Facts:
        """State at which step and with what norm the gradient left float32, and on which side."""
        value = self.left_with
        below = "zero" if value == -np.inf else "below"
        variant = "above" if value is not None and value > 0 else below
        return Facts(variant, step=self.left_float32, value=value)


@dataclass(frozen=True)
class MatrixSpectrum:
    """Largest singular value, spectral radius and eigenvalues of a recurrent matrix."""

    sigma_max: float
    radius: float
    eigenvalues: np.ndarray

    @property
    def verdict(self) -> str:
        """Effect of the powers of W on an error, by sigma_max and rho without rounding errors.

        "shrinks": sigma_max < 1. "keeps": both are 1. "edge": rho = 1 < sigma_max. "between": rho <
        1 <= sigma_max. "grows": rho > 1.
        """
        sigma, radius = (round(item, _ROUNDING) for item in (self.sigma_max, self.radius))
        if radius > 1 or sigma < 1:
            return "grows" if radius > 1 else "shrinks"
        if radius < 1:
            return "between"
        return "keeps" if sigma == 1 else "edge"

    def bound(self, steps: int) -> Log10:
        """Return log10 of sigma_max^steps, the bound of an RNN's factor on an error."""
        return steps * float(np.log10(self.sigma_max))


def spectrum(init: str, width: int, gain: float, seed: int) -> MatrixSpectrum:
    """Return sigma_max(W), rho(W) and the eigenvalues of the matrix from `recurrent_matrix`.

    In a linear RNN, |dh_T/dh_t| is at most sigma_max^(T-t) and falls or grows like rho^(T-t) in the
    end. sigma_max < 1 is sufficient for vanishing (|tanh'| <= 1); sigma_max > 1 is necessary for
    exploding, not sufficient.

    Args:
        init: as in `recurrent_matrix`.
        width: hidden units.
        gain: as in `recurrent_matrix`.
        seed: seed of the draw.

    References:
        Pascanu, Mikolov & Bengio, 2013.
    """
    w = recurrent_matrix(init, width, gain, seed)
    values = np.linalg.eigvals(w)
    return MatrixSpectrum(float(np.linalg.norm(w, 2)), float(np.abs(values).max()), values)


def log_norms(
    cell: Cell,
    weights: RecurrentWeights,
    trace: Trace,
    errors: Float[np.ndarray, "time *batch hidden"],
) -> LogNorms:
    """Return log10 |dJ/dh_t|, with the norm taken over units and any batch together.

    The gradient is stored as a vector of moderate size and a power of two, so it is followed far
    beyond the range of float64.

    Args:
        cell: the cell.
        weights: its weights.
        trace: the forward pass.
        errors: dJ/dh_t directly from the output of step t.
    """
    slopes: Any = cell.slopes(weights, trace)  # type: ignore[arg-type]
    steps = len(errors)
    gated = isinstance(trace, LSTMTrace)
    zero = np.zeros_like(trace.hidden[0])
    carried, power = State(zero, zero if gated else None), 0
    # dJ/dh_t and dJ/dc_t, each divided by 2 ** powers[t].
    hidden, powers = np.empty_like(trace.hidden[1:]), np.empty(steps, int)
    memory = np.empty_like(hidden) if gated else None
    contributes = (errors.reshape(steps, -1) != 0).any(axis=1)
    with np.errstate(under="ignore"):
        each = [type(slopes)(*parts) for parts in zip(*slopes, strict=True)]
        for t in reversed(range(steps)):
            now = each[t]
            if contributes[t]:
                carried, power = _plus(carried, power, errors[t])
            hidden[t], powers[t] = carried.hidden, power
            if memory is not None:
                memory[t] = carried.cell_state + carried.hidden * now.to_memory
            carried = cell.pullback(weights, now, carried).state
            if contributes[t] or t % _BETWEEN == 0:
                carried, power = _rescaled(carried, power)
    return LogNorms(
        _log_norms(hidden, powers), None if memory is None else _log_norms(memory, powers)
    )


def reach(experiment: GradientExperiment) -> GradientReach:
    """Run the experiment and follow its gradient back through time."""
    net = unroll(experiment)
    norms = last = log_norms(net.cell, net.weights, net.trace, net.errors)
    if experiment.loss != "last":  # the horizon concerns only the last step's error
        errors = np.zeros_like(net.errors)
        errors[-1] = net.errors[-1]
        last = log_norms(net.cell, net.weights, net.trace, errors)
    observed = norms.on_gradient_path
    left = np.flatnonzero((observed > FLOAT32[0]) | (observed < FLOAT32[1]))
    with np.errstate(invalid="ignore"):
        arrived = last.on_gradient_path - last.on_gradient_path[-1]
    return GradientReach(
        norms,
        net.loss,
        arrived,
        _horizon(last.on_gradient_path),
        _horizon(last.hidden),
        int(left[-1]) + 1 if left.size else None,
        net.overflow,
        net.signal.labels,
    )


def _horizon(norms: np.ndarray) -> int:
    """Return the number of steps back from the last over which a hundredth of the norm arrives."""
    if not np.isfinite(norms[-1]):
        return 0
    # A hundredth itself counts, however the last digits of the logarithms were rounded.
    arrives = np.flatnonzero(norms >= norms[-1] + np.log10(THRESHOLD) - 1e-9)
    return len(norms) - 1 - int(arrives[0])


def _plus(carried: State, power: int, error: np.ndarray) -> tuple[State, int]:
    """Add an error of moderate size to a gradient of any size."""
    if power < -900:  # the carried gradient is negligible beside the error
        carried, power = carried.each(np.zeros_like), 0
    elif power < 0:  # bring it to the error's scale
        carried, power = carried.each(lambda part: np.ldexp(part, power)), 0
    return State(carried.hidden + np.ldexp(error, -power), carried.cell_state), power


def _rescaled(carried: State, power: int) -> tuple[State, int]:
    """Rescale the vector of a gradient to about one; most steps need nothing."""
    squares = sum(float(np.vdot(part, part)) for part in carried if part is not None)
    if 1e-120 < squares < 1e120:  # the cheap test first: the exact one took half of the time
        return carried, power
    size = max(float(np.abs(part).max()) for part in carried if part is not None)
    if size == 0 or 1e-60 < size < 1e60:
        return carried, power
    shift = int(np.frexp(size)[1])
    return carried.each(lambda part: np.ldexp(part, -shift)), power + shift


def _log_norms(vectors: np.ndarray, powers: np.ndarray) -> np.ndarray:
    """Return log10 of |vectors[t]| 2^powers[t]."""
    squares = (vectors.reshape(len(vectors), -1) ** 2).sum(axis=1)
    with np.errstate(divide="ignore"):
        return 0.5 * np.log10(squares) + powers * LOG2
