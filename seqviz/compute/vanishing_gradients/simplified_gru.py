"""Jacobian of a linear GRU with constant gates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seqviz.compute.vanishing_gradients.experiment import recurrent_matrix
from seqviz.core.units import Log10, array_item


@dataclass(frozen=True)
class SimplifiedGRU:
    """J = I - D_u (I - D_r W), eigenvalues, and norms of its powers and those of W.

    Attributes:
        jacobian: J.
        eigenvalues: eigenvalues of J.
        eigenvalues_rnn: eigenvalues of W.
        log10_norm: log10 of the largest singular value of J^k, k = 0 ... K; -inf where the power is
            exactly zero.
        log10_norm_rnn: the same of W^k.
    """

    jacobian: Float[np.ndarray, "hidden hidden"]
    eigenvalues: np.ndarray
    eigenvalues_rnn: np.ndarray
    log10_norm: Float[np.ndarray, "power"]
    log10_norm_rnn: Float[np.ndarray, "power"]

    @property
    def radius(self) -> float:
        """Spectral radius of J."""
        return float(np.abs(self.eigenvalues).max())

    @property
    def radius_rnn(self) -> float:
        """Spectral radius of W."""
        return float(np.abs(self.eigenvalues_rnn).max())

    last_norm = array_item("log10_norm", -1, "log10 |J^K|.", Log10)
    last_norm_rnn = array_item("log10_norm_rnn", -1, "log10 |W^K|.", Log10)


def simplified_gru(
    update: float, reset: float, init: str, width: int, gain: float, seed: int, steps: int
) -> SimplifiedGRU:
    """Return the Jacobian of h_t = (1 - u) h_{t-1} + u (r W h_{t-1} + ...), u and r constant.

    Limits: u = 0 gives I (nothing is forgotten), u = 1 and r = 0 gives 0 (nothing is kept), u = r =
    1 gives W (the linear RNN).

    Args:
        update: u in [0, 1], the weight of the candidate (the text's convention; PyTorch's z is 1 -
            u).
        reset: r in [0, 1].
        init: as in `recurrent_matrix`.
        width: hidden units.
        gain: as in `recurrent_matrix`.
        seed: seed of the draw.
        steps: largest power K.

    Raises:
        ValueError: for gates outside [0, 1].

    References:
        The lecture text, equations 45 and 46, with the same gate for all units.
    """
    if not (0 <= update <= 1 and 0 <= reset <= 1):
        raise ValueError("Gates lie between 0 and 1.")
    w, unit = recurrent_matrix(init, width, gain, seed), np.eye(width)
    # The same as I - u (I - r W), written so that the three limits are exact in floating point.
    jacobian = (1 - update) * unit + update * reset * w
    return SimplifiedGRU(
        jacobian,
        np.linalg.eigvals(jacobian),
        np.linalg.eigvals(w),
        _powers(jacobian, steps),
        _powers(w, steps),
    )


def _powers(matrix: np.ndarray, steps: int) -> Float[np.ndarray, "power"]:
    """Return log10 of the largest singular value of matrix^k, k = 0 ... steps."""
    product, power = np.eye(len(matrix)), 0.0
    logs = np.zeros(steps + 1)
    for k in range(1, steps + 1):
        product = product @ matrix
        size = float(np.linalg.norm(product, 2))
        if size == 0:
            logs[k:] = -np.inf
            break
        product /= size
        power += np.log10(size)
        logs[k] = power
    return logs
