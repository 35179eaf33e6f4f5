"""Recurrent network between linear and tanh, and its equivalent convolution without tanh.

h_t = phi(W_hh h_{t-1} + W_hx x_t + b), y_t = W_yh h_t, phi(a) = (1 - s) a + s tanh(a). For s = 0
(as S0's `RNN_Cell`, which returns `i2h(combined)` without its tanh) the response to x is sum_k K_k
x_{t-k} with K_k = W_yh W_hh^k W_hx, plus the response to the bias alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seqviz.compute.seeded import seeded
from seqviz.core.units import Count

STEPS = 32
SHARES = (0.0, *(round(10 ** (power / 3), 6) for power in range(-12, 1)))
_RADIUS = 0.9  # spectral radius of W_hh, so that the kernel decays within the sequence


@dataclass(frozen=True)
class CollapseTrace:
    """One network and its equivalent convolution on one input.

    Errors are relative to the largest response of the network to x.

    Attributes:
        kernel: K_k.
        shares: shares s of tanh.
        errors: superposition error at each of them.
        superposition: superposition error of this network.
        error: largest difference of network and convolution.
    """

    x: Float[np.ndarray, "time"]
    network: Float[np.ndarray, "time"]
    convolution: Float[np.ndarray, "time"]
    kernel: Float[np.ndarray, "lag"]
    shares: Float[np.ndarray, "share"]
    errors: Float[np.ndarray, "share"]
    share: float
    superposition: float
    error: float
    units: int
    biased: bool

    @property
    def parameters(self) -> Count:
        """Number of weights and biases of the network, with one input and one output."""
        return float(self.units**2 + (2 + self.biased) * self.units)

    @property
    def numbers(self) -> Count:
        """Size of the convolution: the kernel and, with a bias, the response to zero input."""
        return float((1 + self.biased) * len(self.kernel))

    @property
    def full_error(self) -> float:
        """Superposition error at the full share of tanh."""
        return float(self.errors[-1])


@dataclass(frozen=True)
class _Network:
    back: np.ndarray
    new: np.ndarray
    bias: np.ndarray
    out: np.ndarray

    def read(self, x: np.ndarray, share: float) -> np.ndarray:
        """Return the outputs for x [series, time], in the precision of the weights."""
        h = np.zeros((len(x), len(self.bias)), self.back.dtype)
        outputs = []
        item = self.back.dtype.type(1)
        share = self.back.dtype.type(share)
        for t in range(x.shape[1]):
            a = h @ self.back.T + x[:, t, None] * self.new + self.bias
            h = (item - share) * a + share * np.tanh(a)
            outputs.append(h @ self.out)
        return np.stack(outputs, 1)


def collapse(
    share: float, size: float, units: int, precision: str, seed: int, biased: bool = True
) -> CollapseTrace:
    """Run a random network on noise of standard deviation `size`, `STEPS` steps long.

    Args:
        share: share s of tanh.
        size: standard deviation of the input.
        units: units of the hidden layer.
        precision: "float32" or "float64".
        seed: random seed.
        biased: False sets b to 0, with all else the same.
    """
    random = seeded(seed)
    back = random.normal(0, 1, (units, units))
    back *= _RADIUS / np.abs(np.linalg.eigvals(back)).max()
    new, bias = random.normal(0, 1, units), random.normal(0, 0.1, units) * biased
    out = random.normal(0, units**-0.5, units)
    x, other = size * random.normal(0, 1, (2, STEPS))
    network = _Network(*(part.astype(precision) for part in (back, new, bias, out)))
    series = np.stack([x, other, x + other, np.zeros(STEPS)]).astype(precision)
    series[2] = series[0] + series[1]
    kernel = _kernel(network)
    read = network.read(series, share)
    silent = network.read(series[3:], 0.0)[0]
    convolved = np.convolve(series[0], kernel)[:STEPS] + silent
    largest = float(np.abs(read[0] - read[3]).max())
    return CollapseTrace(
        series[0], read[0], convolved, kernel, np.array(SHARES),
        np.array([_superposition(network.read(series, share)) for share in SHARES]),
        share, _superposition(read), float(np.abs(read[0] - convolved).max()) / largest, units,
        biased,
    )  # fmt: skip


def _kernel(network: _Network) -> np.ndarray:
    """Return K_k = W_yh W_hh^k W_hx for k = 0 ... STEPS - 1."""
    result, v = [], network.new
    for _ in range(STEPS):
        result.append(network.out @ v)
        v = network.back @ v
    return np.array(result)


def _superposition(read: np.ndarray) -> float:
    """Return max |f(x + x') - f(x) - f(x') + f(0)| over the largest response to x."""
    x, other, both, silent = read
    return float(np.abs(both - x - other + silent).max() / np.abs(x - silent).max())
