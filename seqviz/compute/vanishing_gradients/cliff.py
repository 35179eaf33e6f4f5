"""The cliff in the error surface of one recurrent unit, and the step off it, clipped or not.

Source: Pascanu, Mikolov and Bengio (2013), section 2.3 and figure 6: x_t = w s(x_{t-1}) + b with
x_0 = 0.5, s the sigmoid, and E = (s(x_50) - 0.7)^2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seqviz.compute.recurrent import Array, sigmoid, sigmoid_slope
from seqviz.core.units import array_item

STEPS, START, TARGET = 50, 0.5, 0.7
WEIGHTS, BIASES = (3.0, 7.0), (-4.0, 0.0)  # where it is looked at
_GRID = 161


@dataclass(frozen=True)
class ErrorSurface:
    """The error over a grid of weights w and biases b."""

    weight: Float[np.ndarray, "weight"]
    bias: Float[np.ndarray, "bias"]
    error: Float[np.ndarray, "bias weight"]


@dataclass(frozen=True)
class DescentPath:
    """Gradient descent on (w, b). error and norm (|g| before clipping): before each update."""

    points: Float[np.ndarray, "update_1 2"]
    error: Float[np.ndarray, "update_1"]
    norm: Float[np.ndarray, "update_1"]

    last_error = array_item("error", -1, "After the last update.")

    @property
    def steps(self) -> Float[np.ndarray, "update"]:
        """Length of each step in (w, b)."""
        return np.linalg.norm(np.diff(self.points, axis=0), axis=1)

    @property
    def steepest(self) -> int:
        """The update, from 1, with the longest gradient."""
        return int(np.argmax(self.norm[:-1])) + 1

    @property
    def largest_norm(self) -> float:
        """The longest gradient, before clipping."""
        return float(self.norm[:-1].max())

    @property
    def longest_step(self) -> float:
        """The longest step in (w, b)."""
        return float(self.steps.max())


def surface() -> ErrorSurface:
    """The error where weights and biases make a cliff."""
    weight, bias = (np.linspace(*ends, _GRID) for ends in (WEIGHTS, BIASES))
    return ErrorSurface(weight, bias, error_and_slopes(weight[None, :], bias[:, None])[0])


def walk(
    weight: float, bias: float, threshold: float | None, learning_rate: float, updates: int = 200
) -> DescentPath:
    """Descend from (weight, bias); a gradient longer than `threshold` (None: any) is shortened."""
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
    """E, dE/dw and dE/db, carried forward through the `STEPS` steps.

    weight, bias: numbers, or arrays that broadcast.
    """
    state, by_weight, by_bias = START + 0 * (weight + bias), 0.0, 0.0
    for _ in range(STEPS):
        visible, slope = sigmoid(state), weight * sigmoid_slope(state)
        by_weight, by_bias = visible + slope * by_weight, 1 + slope * by_bias
        state = weight * visible + bias
    miss = sigmoid(state) - TARGET
    outer = 2 * miss * sigmoid_slope(state)
    return miss**2, outer * by_weight, outer * by_bias
