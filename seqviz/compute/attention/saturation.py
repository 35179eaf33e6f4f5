"""Softmax saturation as d_k grows, without and with division of the scores by sqrt(d_k)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.compute.attention.scaled import entropy, softmax
from seqviz.stats.estimate import standard_error
from seqviz.stats.facts import Facts

SCALINGS = ("none", "d_k", "d")
HEADS = {"base": 8, "big": 16}  # d = 512 and 1024 with d_k = 64 (Vaswani et al. 2017, table 3)
MAX_KEY_SIZE = 1024
MOST_KEYS, MOST_DRAWS = 128, 400
_PER_OCTAVE = 5


@dataclass(frozen=True)
class SoftmaxSaturation:
    """Softmax of random scores by d_k, for each scaling.

    Attributes:
        scalings: "none", "d_k" (division by sqrt(d_k)) and "d" (by sqrt(d), d = heads d_k).
        variance: measured variance of what enters the softmax.
        theory: its expectation, d_k / (divisor temperature)^2.
        entropy: entropy of the weights in bits, mean over the draws.
        entropy_error: its standard error.
        largest: mean of the largest weight.
        gradient: mean Frobenius norm of the softmax's Jacobian, diag(w) - w w^T, which multiplies
            a gradient in the backward pass.
        heads: number of heads that share d.
    """

    scalings: tuple[str, ...]
    d_k: Int[np.ndarray, "size"]
    variance: Float[np.ndarray, "scaling size"]
    theory: Float[np.ndarray, "scaling size"]
    entropy: Float[np.ndarray, "scaling size"]
    entropy_error: Float[np.ndarray, "scaling size"]
    largest: Float[np.ndarray, "scaling size"]
    gradient: Float[np.ndarray, "scaling size"]
    keys: int
    heads: int = 8

    def variance_at(self, d_k: int, scaling: str) -> float:
        """Return the variance of what enters the softmax.

        Args:
            d_k: one of the sizes in `d_k`.
            scaling: one of `scalings`.
        """
        return self.at("variance", d_k, scaling)

    def largest_at(self, d_k: int, scaling: str) -> float:
        """Return the largest weight, mean over the draws.

        Args:
            d_k: one of the sizes in `d_k`.
            scaling: one of `scalings`.
        """
        return self.at("largest", d_k, scaling)

    def compared(self, quantity: str, d_k: int) -> Facts:
        """State a quantity at a d_k by each scaling, beside its reference value.

        The reference is that of equal weights; for the variance it is the theory without scaling.

        Args:
            quantity: "entropy", "largest", "gradient" or "variance".
            d_k: one of the sizes in `d_k`.
        """
        even = {
            "entropy": math.log2(self.keys), "largest": 1 / self.keys, "gradient": 0.0,
            "variance": self.at("theory", d_k, "none"),
        }  # fmt: skip
        by_scaling = {scaling: self.at(quantity, d_k, scaling) for scaling in self.scalings}
        return Facts(quantity, keys=self.keys, even=even[quantity], **by_scaling)

    def at(self, quantity: str, d_k: int, scaling: str) -> float:
        """Return a quantity at a d_k by one scaling.

        Args:
            quantity: name of a field, such as "entropy".
            d_k: one of the sizes in `d_k`.
            scaling: one of `scalings`.
        """
        values = getattr(self, quantity)
        return float(values[self.scalings.index(scaling), self.d_k == d_k].item())


def sizes() -> Int[np.ndarray, "size"]:
    """Return values of d_k from 1 to 1024, five per octave where integers are that close."""
    exponents = np.arange(math.log2(MAX_KEY_SIZE) * _PER_OCTAVE + 1) / _PER_OCTAVE
    return np.unique(np.rint(2**exponents).astype(int))


def saturation(
    keys: int = 16,
    temperature: float = 1.0,
    seed: int = 1,
    draws: int = 200,
    size: str = "base",
) -> SoftmaxSaturation:
    """Simulate the softmax of scores of a query and `keys` keys with standard normal entries.

    Entries of q and k are independent with mean 0 and variance 1, so q · k has variance d_k.
    Only the queries are drawn entry by entry. Given q, its products with independent standard
    normal keys are independent and normal with mean 0 and variance |q|^2, exactly: one normal
    number per key, times |q|, stands for the 1,024 entries of that key. The numbers are the same
    for all d_k, which makes the lines smooth and does not change the distribution at any point.

    Args:
        keys: number of keys, 2 to 128.
        temperature: further divisor of the scores.
        seed: seed of the draws.
        draws: number of queries, each with its own keys, 2 to 400.
        size: model size for the number of heads that share d, "base" or "big" (`HEADS`).

    Raises:
        ValueError: a setting outside these.

    References:
        Vaswani et al. (2017), footnote 4.
    """
    if not 2 <= keys <= MOST_KEYS:
        raise ValueError(f"There are 2 to {MOST_KEYS} keys, not {keys}.")
    if not 2 <= draws <= MOST_DRAWS:
        raise ValueError(f"There are 2 to {MOST_DRAWS} draws, not {draws}.")
    if not (math.isfinite(temperature) and temperature > 0):
        raise ValueError(f"The temperature is a positive number, not {temperature}.")
    if size not in HEADS:
        raise ValueError(f"The size is one of {', '.join(HEADS)}, not {size!r}.")
    heads = HEADS[size]
    source = np.random.RandomState(seed)
    d_k = sizes()
    queries = source.standard_normal((draws, MAX_KEY_SIZE))
    lengths = np.sqrt(np.cumsum(queries**2, axis=1)[:, d_k - 1].T)  # [size, draw]
    # The order of keys is arbitrary; the largest first lets `_jacobian` avoid a difference of
    # nearly equal numbers.
    along = -np.sort(-source.standard_normal((draws, keys)), axis=1)
    scores = lengths[..., None] * along
    results = []
    for divide_by in (np.ones(len(d_k)), np.sqrt(d_k), np.sqrt(heads * d_k)):
        entered = scores / (divide_by * temperature)[:, None, None]
        weights = softmax(entered)
        spread = entropy(weights)
        results.append(
            (
                entered.var(axis=(1, 2)),
                d_k / (divide_by * temperature) ** 2,
                spread.mean(axis=1),
                standard_error(spread, axis=1),
                weights[..., 0].mean(axis=1),
                _jacobian(weights).mean(axis=1),
            )
        )
    variance, theory, bits, error, largest, gradient = map(np.array, zip(*results, strict=True))
    return SoftmaxSaturation(
        SCALINGS, d_k, variance, theory, bits, error, largest, gradient, keys, heads
    )


def _jacobian(weights: Float[np.ndarray, "*batch key"]) -> Float[np.ndarray, "*batch"]:
    """Return the Frobenius norm of diag(w) - w w^T, for weights whose first is the largest.

    Its square is sum_i (w_i (1 - w_i))^2 + sum_{i != j} (w_i w_j)^2. Where w_1 is nearly 1, the sum
    of the other weights gives 1 - w_1 without cancellation.
    """
    first, rest = weights[..., 0], weights[..., 1:]
    squares = rest**2
    others = squares.sum(axis=-1)
    diagonal = (first * rest.sum(axis=-1)) ** 2 + (squares * (1 - rest) ** 2).sum(axis=-1)
    off = 2 * first**2 * others + others**2 - (squares**2).sum(axis=-1)
    return np.sqrt(diagonal + np.maximum(off, 0))
