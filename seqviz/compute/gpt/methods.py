"""Surprisal of human text and of texts generated with several decoding strategies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seqviz.core.units import Share
from seqviz.stats.estimate import Estimate, mean_ci, paired_difference
from seqviz.stats.facts import Facts

METHODS = ("human", "greedy", "beam", "nucleus", "plain", "hot")  # plain: no filter, T = 1
BEAMS, NUCLEUS, HOT = 3, 0.9, 1.5  # number of beams, top-p, temperature of "hot"


@dataclass(frozen=True)
class ByMethod:
    """Surprisal -log2 p of each token of continuations of the same prompts, by method.

    Methods are `METHODS`; all texts are scored by the unmodified model (T = 1, no filter).

    Attributes:
        bits: surprisal in half precision; nan behind the end of a text.
        entropy: entropy of the model in bits, mean over texts.
        beginning: pieces of one example prompt.
        pieces: pieces of its continuation by each method.
    """

    bits: Float[np.ndarray, "method text step"]
    entropy: Float[np.ndarray, "method step"]
    beginning: tuple[str, ...]
    pieces: tuple[tuple[str, ...], ...]

    @property
    def texts(self) -> int:
        """Number of prompts."""
        return self.bits.shape[1]

    @property
    def steps(self) -> int:
        """Largest number of tokens of a continuation."""
        return self.bits.shape[2]

    def of_texts(self, method: str) -> Float[np.ndarray, "text"]:
        """Return the bits per token of each text."""
        return np.asarray(np.nanmean(self._of(method), axis=1))

    def mean(self, method: str) -> Estimate:
        """Return the bits per token, mean over texts."""
        return mean_ci(self.of_texts(method), source="texts")

    def more(self, method: str, than: str = "human") -> Estimate:
        """Return the mean paired difference in bits per token, `method` minus `than`, over prompts.

        Args:
            method: one of `METHODS`.
            than: the baseline.
        """
        return paired_difference(self.of_texts(method), self.of_texts(than), source="texts")

    def below(self, method: str) -> Share:
        """Return the share of texts with fewer bits per token than the human text there."""
        return float((self.of_texts(method) < self.of_texts("human")).mean())

    def by_step(self, method: str) -> Estimate:
        """Return the bits at each step, mean over texts."""
        return mean_ci(self._of(method), source="texts")

    def spread(self, method: str) -> float:
        """Return the standard deviation of the bits within a text, mean over texts."""
        return float(np.nanmean(np.nanstd(self._of(method), axis=1)))

    def entropy_of(self, method: str) -> float:
        """Return the entropy of the model in bits per token, mean over steps."""
        return float(self.entropy[METHODS.index(method)].mean())

    def spelled(self, method: str) -> str:
        """Return the example prompt and its continuation by a method."""
        pieces = (*self.beginning, " |", *self.pieces[METHODS.index(method)])
        return "".join(pieces).replace("␣", " ").replace("⏎", " ")

    def compared(self, method: str) -> Facts:
        """State the bits per token of a method's texts against those of human texts."""
        more = self.more(method)
        return Facts(
            more.verdict, texts=self.texts, human=self.mean("human"), method=self.mean(method),
            gap=abs(more), below=self.below(method), expected=self.entropy_of(method),
            spread=self.spread(method),
        )  # fmt: skip

    def split(self) -> Facts:
        """State bits and entropy per token, for human texts and for the model's own samples.

        The excess of people's bits over the model's own entropy is no KL divergence, which is taken
        against the entropy of people; it can be negative.
        """
        human, expected = self.mean("human").mean, self.entropy_of("human")
        return Facts(
            human=human, perplexity=2**human, expected=expected, excess=human - expected,
            plain=self.mean("plain"), plain_expected=self.entropy_of("plain"),
        )  # fmt: skip

    def _of(self, method: str) -> Float[np.ndarray, "text step"]:
        return self.bits[METHODS.index(method)].astype(float)
