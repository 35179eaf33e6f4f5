"""Why scores are divided by sqrt(d_k): without it the softmax saturates as d_k grows."""

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
    """Softmax of random scores by d_k: unscaled, divided by sqrt(d_k), by sqrt(d), d = heads d_k.

    variance: of what enters the softmax, measured; theory: the same, d_k / (divisor temperature)^2.
    entropy: of the weights, in bits, mean over the draws; entropy_error: its standard error.
    largest: mean of the largest weight. gradient: mean Frobenius norm of the softmax's Jacobian,
    diag(w) - w w^T: what is left of a gradient that comes back through the softmax.
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
        """Of what enters the softmax, for one of the sizes in `d_k` and one of the scalings."""
        return self.at("variance", d_k, scaling)

    def largest_at(self, d_k: int, scaling: str) -> float:
        """The largest weight, mean over the draws."""
        return self.at("largest", d_k, scaling)

    def compared(self, quantity: str, d_k: int) -> Facts:
        """State a quantity at a d_k by each scaling, beside what it is held against.

        That is the same weight on all keys, or of the variance the theory without scaling.
        """
        even = {
            "entropy": math.log2(self.keys), "largest": 1 / self.keys, "gradient": 0.0,
            "variance": self.at("theory", d_k, "none"),
        }  # fmt: skip
        by_scaling = {scaling: self.at(quantity, d_k, scaling) for scaling in self.scalings}
        return Facts(quantity, keys=self.keys, even=even[quantity], **by_scaling)

    def at(self, quantity: str, d_k: int, scaling: str) -> float:
        """A field, such as "entropy", for one of the sizes in `d_k` and one of the scalings."""
        values = getattr(self, quantity)
        return float(values[self.scalings.index(scaling), self.d_k == d_k].item())


def sizes() -> Int[np.ndarray, "size"]:
    """Values of d_k from 1 to 1024, five to an octave where whole numbers are that close."""
    exponents = np.arange(math.log2(MAX_KEY_SIZE) * _PER_OCTAVE + 1) / _PER_OCTAVE
    return np.unique(np.rint(2**exponents).astype(int))


def saturation(
    keys: int = 16,
    temperature: float = 1.0,
    seed: int = 1,
    draws: int = 200,
    size: str = "base",
) -> SoftmaxSaturation:
    """What the softmax does with the scores of a query and `keys` keys, all entries normal.

    Entries of q and k are independent with mean 0 and variance 1, so q · k has variance d_k
    (Vaswani et al. 2017, footnote 4). keys: 2 to 128. draws: queries, each with keys of its own,
    2 to 400. temperature: the scores are divided by it, too. size: how many heads share d, "base"
    or "big" (`HEADS`).

    Only the queries are drawn entry by entry. Given q, its products with independent standard
    normal keys are independent and normal with mean 0 and variance |q|^2, exactly: one normal
    number a key, times |q|, stands for the 1,024 entries of that key. The numbers are the same for
    all d_k, which makes the lines smooth and leaves each point as it is.
    Raises ValueError for a setting outside these.
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
    # The order of keys means nothing; the largest first lets `_jacobian` avoid a difference of
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
    """Frobenius norm of diag(w) - w w^T, for weights whose first is the largest.

    Its square is sum_i (w_i (1 - w_i))^2 + sum_{i != j} (w_i w_j)^2. Where w_1 is nearly 1, the
    rest of the weights says what 1 - w_1 is.
    """
    first, rest = weights[..., 0], weights[..., 1:]
    squares = rest**2
    others = squares.sum(axis=-1)
    diagonal = (first * rest.sum(axis=-1)) ** 2 + (squares * (1 - rest) ** 2).sum(axis=-1)
    off = 2 * first**2 * others + others**2 - (squares**2).sum(axis=-1)
    return np.sqrt(diagonal + np.maximum(off, 0))
