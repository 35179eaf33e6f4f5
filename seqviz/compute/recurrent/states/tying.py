"""Weight tying of a language model: parameters with one table for input and output."""

from __future__ import annotations

from dataclasses import dataclass

from seqviz.core.units import Count, Share

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
