"""Weight tying of a language model: parameters with one table for input and output."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from seqviz.core.units import Count, Share
from seqviz.stats.estimate import mean_ci, ratio_ci
from seqviz.stats.facts import Facts

TIED_PARTS = ("input", "cell", "output")


@dataclass(frozen=True)
class Tables:
    """Parameters of embedding, GRU (two biases) and output layer, with and without weight tying.

    Tied (E = V, Press and Wolf, 2017), rows of the input table are as long as the state; untied
    they may be narrower. Each count is (input table, cell, output table with biases).

    Attributes:
        width: width of the narrow input table.
    """

    symbols: int
    hidden: int
    width: int

    def _parts(self, width: int, tied: bool) -> tuple[int, int, int]:
        cell = 3 * (self.hidden * (width + self.hidden) + 2 * self.hidden)
        output = self.symbols * (1 if tied else self.hidden + 1)
        return self.symbols * width, cell, output

    @property
    def narrow(self) -> tuple[int, int, int]:
        """Counts with two tables, the input table `width` wide."""
        return self._parts(self.width, False)

    @property
    def untied(self) -> tuple[int, int, int]:
        """Counts with two tables of equal width."""
        return self._parts(self.hidden, False)

    @property
    def tied(self) -> tuple[int, int, int]:
        """Counts with one table; the output layer adds only its biases."""
        return self._parts(self.hidden, True)

    @property
    def all_narrow(self) -> Count:
        """Parameters of the network with a narrow input table."""
        return float(sum(self.narrow))

    @property
    def all_untied(self) -> Count:
        """Parameters of the network with two tables of equal width."""
        return float(sum(self.untied))

    @property
    def all_tied(self) -> Count:
        """Parameters of the network with one table."""
        return float(sum(self.tied))

    @property
    def saved(self) -> Share:
        """Share of parameters saved by tying two tables of equal width."""
        return 1 - self.all_tied / self.all_untied

    @property
    def table(self) -> int:
        """Entries of the shared table."""
        return self.symbols * self.hidden

    @property
    def narrow_verdict(self) -> str:
        """Size with a narrow input table against the tied network: "more", "less" or "same"."""
        more = self.all_narrow - self.all_tied
        return "more" if more > 0 else "less" if more < 0 else "same"


def tables(symbols: int, hidden: int, width: int) -> Tables:
    """Return the parameter counts; see `Tables`.

    Args:
        symbols: size of the vocabulary.
        hidden: units.
        width: width of the narrow input table.
    """
    return Tables(symbols, hidden, width)


@dataclass(frozen=True)
class TrainedTied:
    """Bits of held-out sentences by word models with two tables and with one.

    Attributes:
        symbols: size of the vocabulary, with the unknown word and the end mark.
        widths: units, and length of the rows of both tables.
        bits: of each sentence; first two tables, then one.
        words: predicted words of each sentence, its end among them.
    """

    symbols: int
    widths: Int[np.ndarray, "width"]
    bits: Float[np.ndarray, "tables width seed sentence"]
    words: Int[np.ndarray, "sentence"]

    def perplexity(self, tied: bool, width: int) -> float:
        """Return 2 to the power of the mean bits per word, mean over seeds.

        Args:
            tied: True for one table.
            width: one of `widths`.
        """
        bits = self._bits(width)[int(tied)].mean(0)
        return float(2 ** (bits.sum() / self.words.sum()))

    def compared(self, width: int) -> Facts:
        """State both sizes and perplexities, and the paired difference in bits per word.

        The difference is that of one table minus two.

        Args:
            width: one of `widths`.
        """
        double, single = self._bits(width)
        sentences = ratio_ci((single - double).mean(0), self.words, source="sentences")
        seeds = mean_ci((single - double).sum(1) / self.words.sum(), source="seeds")
        verdict = sentences.verdict if seeds.is_significant else "null"
        sizes = tables(self.symbols, width, width)
        return Facts(
            verdict, single=self.perplexity(True, width),
            double=self.perplexity(False, width),
            single_size=sizes.all_tied, double_size=sizes.all_untied,
            sentences=sentences, seeds=seeds, trainings=self.bits.shape[2], width=width,
            symbols=self.symbols, held=len(self.words),
        )  # fmt: skip

    def _bits(self, width: int) -> Float[np.ndarray, "tables seed sentence"]:
        values: np.ndarray = self.bits[:, self.widths.tolist().index(width)]
        return values
