"""One table for input and output of a language model: what it saves, counted."""

from __future__ import annotations

from dataclasses import dataclass

from seqviz.core.units import Count, Share

TIED_PARTS = ("input", "cell", "output")


@dataclass(frozen=True)
class Tables:
    """Parameters of embedding, GRU (two biases) and read-out over `symbols` with `hidden` units.

    Tied (E = V, Press and Wolf, 2017) the rows of the input table are as long as the state; untied
    they may be as narrow as `width`. Each count is (input table, cell, output table with biases).
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
        """Two tables, that of the input `width` wide."""
        return self._parts(self.width, False)

    @property
    def untied(self) -> tuple[int, int, int]:
        """Two tables of equal width."""
        return self._parts(self.hidden, False)

    @property
    def tied(self) -> tuple[int, int, int]:
        """One table; what is left of the output are its biases."""
        return self._parts(self.hidden, True)

    @property
    def all_narrow(self) -> Count:
        """Of the network with a narrow input table."""
        return float(sum(self.narrow))

    @property
    def all_untied(self) -> Count:
        """Of the network with two tables of equal width."""
        return float(sum(self.untied))

    @property
    def all_tied(self) -> Count:
        """Of the network with one table."""
        return float(sum(self.tied))

    @property
    def saved(self) -> Share:
        """What tying two tables of equal width saves."""
        return 1 - self.all_tied / self.all_untied

    @property
    def table(self) -> int:
        """Numbers in the table that serves twice."""
        return self.symbols * self.hidden

    @property
    def narrow_verdict(self) -> str:
        """ "more", "less" or "same": a narrow input table against one table for both."""
        more = self.all_narrow - self.all_tied
        return "more" if more > 0 else "less" if more < 0 else "same"


def tables(symbols: int, hidden: int, width: int) -> Tables:
    """What a vocabulary, a number of units and a width cost."""
    return Tables(symbols, hidden, width)
