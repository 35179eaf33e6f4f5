"""Gradient clipping on a network whose gradients explode."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seqviz.compute.recurrent import RNN, RecurrentWeights, backward, run
from seqviz.compute.vanishing_gradients.experiment import recurrent_matrix

_BATCH = 16
_NOISE = 0.3
FLOAT32_MAX = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Descent:
    """One training run, update by update.

    Attributes:
        loss: mean squared error of the batch before the update.
        norm: norm of all gradients together, before clipping.
        clipped: number of clipped updates.
        left_float32: update (from 1) at which loss or norm exceeded the range of float32, where the
            run ends; None otherwise.
    """

    loss: Float[np.ndarray, "update"]
    norm: Float[np.ndarray, "update"]
    clipped: int
    left_float32: int | None

    @property
    def last_loss(self) -> float | None:
        """Last loss; None where not even the first was in the range of float32."""
        return float(self.loss[-1]) if len(self.loss) else None

    @property
    def largest_norm(self) -> float | None:
        """Largest gradient norm before clipping; None where there is none."""
        return float(self.norm.max()) if len(self.norm) else None


def descend(
    activation: str,
    radius: float,
    threshold: float | None,
    learning_rate: float = 0.02,
    seed: int = 1,
    steps: int = 30,
    width: int = 16,
    updates: int = 150,
) -> Descent:
    """Train an RNN to recall, after `steps` steps, the sign of its first input.

    Plain gradient descent. The batches, 16 fresh sequences each (first +1 or -1, then Gaussian
    noise of standard deviation 0.3), depend only on the seed, so runs with and without clipping see
    the same ones.

    Args:
        activation: "linear" or "tanh".
        radius: spectral radius of the recurrent matrix at the start.
        threshold: theta; the gradient g of all parameters together becomes min(1, theta / |g|) g.
            None for no clipping.
        learning_rate: factor of the gradient.
        seed: seed of weights and batches.
        steps: length of the sequences.
        width: hidden units.
        updates: number of updates.

    References:
        Pascanu, Mikolov & Bengio, 2013, for the clipping.
    """
    cell = RNN(activation)  # type: ignore[arg-type]
    rng = np.random.RandomState(seed + 30_000)
    weights = RecurrentWeights(
        rng.standard_normal((width, 1)),
        recurrent_matrix("radius", width, radius, seed),
        np.zeros(width),
        np.zeros(width),
    )
    readout = rng.standard_normal((1, width)) / np.sqrt(width)
    losses, norms, clipped, left = [], [], 0, None
    for update in range(1, updates + 1):
        inputs = _NOISE * rng.standard_normal((steps, _BATCH, 1))
        inputs[0] = targets = rng.choice([-1.0, 1.0], (_BATCH, 1))
        with np.errstate(over="ignore", invalid="ignore"):
            trace = run(cell, weights, inputs)
            misses = trace.hidden[-1] @ readout.T - targets
            errors = np.zeros_like(trace.hidden[1:])
            errors[-1] = 2 * misses @ readout / _BATCH
            result = backward(cell, weights, trace, errors).weights
            gradients = (
                result.input_hidden,
                result.hidden_hidden,
                result.input_bias,
                2 * misses.T @ trace.hidden[-1] / _BATCH,
            )
            loss = float((misses**2).mean())
            norm = float(np.sqrt(sum(float((g**2).sum()) for g in gradients)))
        if not (loss <= FLOAT32_MAX and norm <= FLOAT32_MAX):
            left = update
            break
        losses.append(loss)
        norms.append(norm)
        rate = learning_rate
        if threshold is not None and norm > threshold:
            rate *= threshold / norm
            clipped += 1
        weights = RecurrentWeights(
            weights.input_hidden - rate * gradients[0],
            weights.hidden_hidden - rate * gradients[1],
            weights.input_bias - rate * gradients[2],
            weights.hidden_bias,
        )
        readout = readout - rate * gradients[3]
    return Descent(np.array(losses), np.array(norms), clipped, left)
