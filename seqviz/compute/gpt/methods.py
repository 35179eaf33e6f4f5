"""How likely texts are that people have written, and texts that a model writes in several ways."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from seqviz.core.units import Share
from seqviz.stats.estimate import Estimate, mean_ci, paired_difference
from seqviz.stats.facts import Facts

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

    def mean(self, method: str) -> Estimate:
        """Bits per token, mean over texts."""
        return mean_ci(self.of_texts(method), source="texts")

    def more(self, method: str, than: str = "human") -> Estimate:
        """How many bits per token more than in the other's texts, beginning by beginning."""
        return paired_difference(self.of_texts(method), self.of_texts(than), source="texts")

    def below(self, method: str) -> Share:
        """How often a text costs fewer bits per token than what a person wrote there."""
        return float((self.of_texts(method) < self.of_texts("human")).mean())

    def by_step(self, method: str) -> Estimate:
        """The bits at each step, mean over texts."""
        return mean_ci(self._of(method), source="texts")

    def spread(self, method: str) -> float:
        """Standard deviation of the bits within a text, mean over texts."""
        return float(np.nanmean(np.nanstd(self._of(method), axis=1)))

    def entropy_of(self, method: str) -> float:
        """Bits per token that the model expects there, mean over steps."""
        return float(self.entropy[METHODS.index(method)].mean())

    def spelled(self, method: str) -> str:
        """Return the beginning that is there to read, and how a method goes on."""
        pieces = (*self.beginning, "…", *self.pieces[METHODS.index(method)])
        return "".join(pieces).replace("␣", " ").replace("⏎", " ")

    def compared(self, method: str) -> Facts:
        """State what a method's texts cost the model, against those of people."""
        more = self.more(method)
        return Facts(
            more.verdict, texts=self.texts, human=self.mean("human"), method=self.mean(method),
            gap=abs(more), below=self.below(method), expected=self.entropy_of(method),
            spread=self.spread(method),
        )  # fmt: skip

    def split(self) -> Facts:
        """State what of the bits of people's texts the model expects, and of its own draws."""
        human, expected = self.mean("human").mean, self.entropy_of("human")
        return Facts(
            human=human, expected=expected, misfit=human - expected,
            plain=self.mean("plain"), plain_expected=self.entropy_of("plain"),
        )  # fmt: skip

    def _of(self, method: str) -> Float[np.ndarray, "text step"]:
        return self.bits[METHODS.index(method)].astype(float)
