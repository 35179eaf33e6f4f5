"""Cliff in the error surface of one recurrent unit, and descent with and without clipping.

The unit is x_t = w s(x_{t-1}) + b with x_0 = 0.5 and s the sigmoid; the error is E = (s(x_50) -
0.7)^2.

References:
    Pascanu, Mikolov & Bengio, 2013, section 2.3 and figure 6.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seqviz.compute.recurrent import Array, sigmoid, sigmoid_slope
from seqviz.core.units import array_item

STEPS, START, TARGET = 50, 0.5, 0.7
WEIGHTS, BIASES = (3.0, 7.0), (-4.0, 0.0)  # ranges of the plotted surface
NUDGE = 1e-12  # of the start: what rounding does to a descent within a few updates
_GRID = 161
_SAME = 0.01  # largest relative difference of two errors that count as one


@dataclass(frozen=True)
class ErrorSurface:
    """Error over a grid of weights w and biases b."""

    weight: Float[np.ndarray, "weight"]
    bias: Float[np.ndarray, "bias"]
    error: Float[np.ndarray, "bias weight"]


@dataclass(frozen=True)
class DescentPath:
    """Gradient descent on (w, b).

    Attributes:
        points: (w, b) before each update and after the last.
        error: error at each point.
        norm: length of the gradient at each point, before clipping.
    """

    points: Float[np.ndarray, "update_1 2"]
    error: Float[np.ndarray, "update_1"]
    norm: Float[np.ndarray, "update_1"]

    last_error = array_item("error", -1, "After the last update.")

    @property
    def steps(self) -> Float[np.ndarray, "update"]:
        """Length of each step in (w, b)."""
        return np.linalg.norm(np.diff(self.points, axis=0), axis=1)

    def ends_like(self, other: DescentPath) -> bool:
        """Return whether both descents end with the same error, to a hundredth.

        Args:
            other: the descent from a start moved by `NUDGE`. If it ends elsewhere, rounding decides
                where this one ends: a path that meets the cliff again and again is chaotic.
        """
        return abs(self.last_error - other.last_error) <= _SAME * self.last_error

    @property
    def steepest(self) -> int:
        """Update with the longest gradient, counted from 1."""
        return int(np.argmax(self.norm[:-1])) + 1

    @property
    def largest_norm(self) -> float:
        """Length of the longest gradient, before clipping."""
        return float(self.norm[:-1].max())

    @property
    def longest_step(self) -> float:
        """Length of the longest step in (w, b)."""
        return float(self.steps.max())


def surface() -> ErrorSurface:
    """Return the error over the range of weights and biases with a cliff."""
    weight, bias = (np.linspace(*ends, _GRID) for ends in (WEIGHTS, BIASES))
    return ErrorSurface(weight, bias, error_and_slopes(weight[None, :], bias[:, None])[0])


def walk(
    weight: float, bias: float, threshold: float | None, learning_rate: float, updates: int = 200
) -> DescentPath:
    """Descend from (weight, bias) by gradient descent with clipping.

    Args:
        weight: w at the start.
        bias: b at the start.
        threshold: length to which a longer gradient is shortened; None for no clipping.
        learning_rate: factor of the gradient.
        updates: number of updates.
    """
    position = np.array([weight, bias])
    positions, errors, norms = [position], [], []
    for update in range(updates + 1):
        error, *slopes = error_and_slopes(position[0], position[1])
        gradient = np.array(slopes, float)
        norm = float(np.linalg.norm(gradient))
        errors.append(float(error))
        norms.append(norm)
        if update < updates:
            if threshold is not None and norm > threshold:
                gradient *= threshold / norm
            position = position - learning_rate * gradient
            positions.append(position)
    return DescentPath(np.stack(positions), np.array(errors), np.array(norms))


def error_and_slopes(weight: Array, bias: Array) -> tuple[Array, Array, Array]:
    """Return E, dE/dw and dE/db, computed forward through the `STEPS` steps.

    Args:
        weight: a number, or an array that broadcasts with `bias`.
        bias: a number or an array.
    """
    state, by_weight, by_bias = START + 0 * (weight + bias), 0.0, 0.0
    for _ in range(STEPS):
        visible, slope = sigmoid(state), weight * sigmoid_slope(state)
        by_weight, by_bias = visible + slope * by_weight, 1 + slope * by_bias
        state = weight * visible + bias
    miss = sigmoid(state) - TARGET
    outer = 2 * miss * sigmoid_slope(state)
    return miss**2, outer * by_weight, outer * by_bias
