"""Parameter counts of recurrent cells: by formula and by counting arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seqviz.compute.recurrent import GRU, LSTM, RNN, Cell, RecurrentWeights, run

CELLS = ("rnn", "gru", "lstm")
BIASES = {"none": 0, "one": 1, "two": 2}
_CELLS: dict[str, Cell] = {"rnn": RNN(), "gru": GRU(), "lstm": LSTM()}


@dataclass(frozen=True)
class Parameters:
    """Numbers of parameters of a cell.

    Attributes:
        input: entries of the matrices that read the input.
        recurrent: entries of the matrices that read the old state.
        biases: entries of the biases.
    """

    input: int
    recurrent: int
    biases: int

    @property
    def total(self) -> int:
        """Number of all parameters."""
        return self.input + self.recurrent + self.biases


def by_formula(cell: str, inputs: int, hidden: int, biases: str = "two") -> Parameters:
    """Return g (h i + h h + b h) with g = 1 (RNN), 3 (GRU), 4 (LSTM) blocks.

    For one input and 32 units PyTorch has 1,120, 3,360 and 4,480.

    Args:
        cell: one of `CELLS`.
        inputs: entries i of an input.
        hidden: number of units h.
        biases: b per block: "none" (S0's GRU, S1), "one" (S3 and most papers) or "two" (PyTorch,
            cuDNN).
    """
    g = _CELLS[cell].blocks
    return Parameters(g * hidden * inputs, g * hidden * hidden, g * BIASES[biases] * hidden)


def by_counting(cell: str, inputs: int, hidden: int, biases: str = "two") -> Parameters:
    """Create the arrays, run the cell on them for one step, and count their entries.

    Args:
        cell: one of `CELLS`.
        inputs: entries of an input.
        hidden: number of units.
        biases: as in `by_formula`.
    """
    kind = _CELLS[cell]
    rows = kind.blocks * hidden
    draw = np.random.RandomState(0).standard_normal
    first, second = (np.zeros(rows) for _ in range(2))
    weights = RecurrentWeights(draw((rows, inputs)), draw((rows, hidden)), first, second)
    run(kind, weights, draw((1, inputs)))
    retained = (first, second)[: BIASES[biases]]
    return Parameters(
        weights.input_hidden.size, weights.hidden_hidden.size, sum(part.size for part in retained)
    )


@dataclass(frozen=True)
class ParameterTable:
    """Parameter counts of the three cells.

    Attributes:
        formula: counts by formula, one per cell.
        counted: counts of the arrays; equal to `formula` unless the code is wrong.
    """

    cells: tuple[str, ...]
    formula: tuple[Parameters, ...]
    counted: tuple[Parameters, ...]

    def count(self, cell: str) -> int:
        """Return the number of all parameters of a cell, counted."""
        return self.counted[self.cells.index(cell)].total

    def sets(self, cell: str) -> int:
        """Return the number of weight matrices of a cell: two per block, for input and old state.

        S1 counts 8 for the LSTM and 2 for the RNN; a feed-forward layer has 1.
        """
        return 2 * _CELLS[cell].blocks

    def by_formula(self, cell: str) -> int:
        """Return the number of all parameters of a cell, by formula."""
        return self.formula[self.cells.index(cell)].total


def table(inputs: int, hidden: int, biases: str = "two") -> ParameterTable:
    """Count the parameters of an RNN, a GRU and an LSTM of one size, by both methods.

    Args:
        inputs: entries of an input.
        hidden: number of units.
        biases: as in `by_formula`.
    """
    return ParameterTable(
        CELLS,
        tuple(by_formula(cell, inputs, hidden, biases) for cell in CELLS),
        tuple(by_counting(cell, inputs, hidden, biases) for cell in CELLS),
    )
