"""How likely texts are that people have written, and texts that a model writes in several ways."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seqviz.core.units import Interval, Share

METHODS = ("human", "greedy", "beam", "nucleus", "plain", "hot")  # plain: nothing cut, T = 1
BEAMS, NUCLEUS, HOT = 3, 0.9, 1.5  # of beam search, top-p and the temperature


@dataclass(frozen=True)
class ByMethod:
    """Surprise -log2 p of each token behind the same beginnings, by who goes on (`METHODS`).

    All are read by the model as it is: T = 1, nothing cut. bits: nan behind a text's end, in half
    precision. entropy: of the model at each step, mean over texts. beginning, pieces: of one
    beginning and of each continuation of it.
    """

    bits: Float[np.ndarray, "method text step"]
    entropy: Float[np.ndarray, "method step"]
    beginning: tuple[str, ...]
    pieces: tuple[tuple[str, ...], ...]

    @property
    def texts(self) -> int:
        """How many beginnings."""
        return self.bits.shape[1]

    @property
    def steps(self) -> int:
        """Tokens of a continuation at the most."""
        return self.bits.shape[2]

    def of_texts(self, method: str) -> Float[np.ndarray, "text"]:
        """Bits per token of each text."""
        return np.asarray(np.nanmean(self._of(method), axis=1))

    def mean(self, method: str) -> float:
        """Bits per token, mean over texts."""
        return float(self.of_texts(method).mean())

    def ends(self, method: str) -> Interval:
        """95% interval of that (Student's t over texts)."""
        low, _, high = _interval(self.of_texts(method)[:, None])
        return float(low[0]), float(high[0])

    def less(self, method: str, than: str = "human") -> float:
        """How many bits per token fewer than in the other's texts, mean over beginnings."""
        return float((self.of_texts(than) - self.of_texts(method)).mean())

    def less_ends(self, method: str, than: str = "human") -> Interval:
        """95% interval of that, beginning by beginning (Student's t)."""
        low, _, high = _interval((self.of_texts(than) - self.of_texts(method))[:, None])
        return float(low[0]), float(high[0])

    def below(self, method: str) -> Share:
        """How often a text costs fewer bits per token than what a person wrote there."""
        return float((self.of_texts(method) < self.of_texts("human")).mean())

    def band(self, method: str) -> tuple[Float[np.ndarray, "step"], ...]:
        """Low end, mean and high end of the bits at each step, 95% (Student's t over texts)."""
        return _interval(self._of(method))

    def spread(self, method: str) -> float:
        """Standard deviation of the bits within a text, mean over texts."""
        return float(np.nanmean(np.nanstd(self._of(method), axis=1)))

    def entropy_of(self, method: str) -> float:
        """Bits per token that the model expects there, mean over steps."""
        return float(self.entropy[METHODS.index(method)].mean())

    def _of(self, method: str) -> Float[np.ndarray, "text step"]:
        return self.bits[METHODS.index(method)].astype(float)


def _interval(values: Float[np.ndarray, "text step"]) -> tuple[Float[np.ndarray, "step"], ...]:
    """Low end, mean and high end of each column; nan left out, no end of fewer than two."""
    from scipy.stats import t

    n = np.isfinite(values).sum(0)
    mean = np.nansum(values, 0) / np.maximum(n, 1)
    squares = np.nansum((values - mean) ** 2, 0) / np.maximum(n - 1, 1)
    reach = np.where(n > 1, t.ppf(0.975, np.maximum(n - 1, 1)) * np.sqrt(squares / n), np.nan)
    return mean - reach, mean, mean + reach
