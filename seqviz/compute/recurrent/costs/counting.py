"""Parameters of stacked and bidirectional networks: by formula, by counting, and without sharing.

The cell itself is counted by the lesson on gates (`seqviz.compute.gates.counting`); here are what
stands around it, and what weights of their own at every step would cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from seqviz.compute.gates.counting import BIASES, CELLS
from seqviz.compute.recurrent import GRU, LSTM, RNN, Cell, RecurrentWeights, run
from seqviz.stats.facts import Facts

_CELLS: dict[str, Cell] = {"rnn": RNN(), "gru": GRU(), "lstm": LSTM()}


@dataclass(frozen=True)
class NetworkSizes:
    """Sizes of a network. outputs: of the linear layer on the last layer's states, 0 for none.

    biases: how many vectors a block has, "none" (S1), "one" (S3 and most papers), "two" (PyTorch).
    The linear layer always has its own.
    """

    inputs: int = 1
    hidden: int = 32
    layers: int = 1
    directions: int = 1
    biases: str = "two"
    outputs: int = 1

    def reads(self, layer: int) -> int:
        """Features that a layer reads, from 0: the input, or both directions of the layer below."""
        return self.directions * self.hidden if layer else self.inputs


def by_formula(cell: str, wiring: NetworkSizes) -> int:
    """d g h ((i + h + b) + (L - 1)(d h + h + b)): all cells, without the linear layer.

    g = 1 (RNN), 3 (GRU), 4 (LSTM) blocks; i inputs, h hidden units, L layers, d directions,
    b biases.
    """
    g, i, h = _CELLS[cell].blocks, wiring.inputs, wiring.hidden
    b, d, above = BIASES[wiring.biases], wiring.directions, wiring.layers - 1
    return d * g * h * ((i + h + b) + above * (d * h + h + b))


def stacked_bidirectional(inputs: int, hidden: int, layers: int) -> int:
    """Parameters of `nn.LSTM(inputs, hidden, layers, bidirectional=True)`."""
    return by_formula("lstm", NetworkSizes(inputs, hidden, layers, 2))


def of_output(wiring: NetworkSizes) -> int:
    """Parameters of the linear layer: o (d h + 1)."""
    return wiring.outputs * (wiring.directions * wiring.hidden + 1)


def by_counting(cell: str, wiring: NetworkSizes) -> int:
    """Make the arrays of every layer and direction, run one step through all, count the entries."""
    kind, h, retained = _CELLS[cell], wiring.hidden, 0
    state = np.zeros((1, wiring.inputs), np.float32)
    for layer in range(wiring.layers):
        built = [_arrays(kind, wiring.reads(layer), h) for _ in range(wiring.directions)]
        state = np.concatenate([run(kind, item, state).hidden[1:] for item in built], axis=-1)
        for entry in built:
            biases = (entry.input_bias, entry.hidden_bias)[: BIASES[wiring.biases]]
            parts = (entry.input_hidden, entry.hidden_hidden, *biases)
            retained += sum(part.size for part in parts)
    return retained


def _arrays(kind: Cell, reads: int, hidden: int) -> RecurrentWeights:
    rows = kind.blocks * hidden
    sizes = ((rows, reads), (rows, hidden), (rows,), (rows,))
    return RecurrentWeights(*(np.zeros(size, np.float32) for size in sizes))


@dataclass(frozen=True)
class ParameterBill:
    """Parameters of the three cells in one wiring, in the order of `cells`, and of what reads them.

    unshared: what a cell of its own at every step costs: steps times as much.
    """

    wiring: NetworkSizes
    steps: int
    cells: tuple[str, ...]
    formula: tuple[int, ...]
    counted: tuple[int, ...]
    output: int

    def count(self, cell: str) -> int:
        """All of one cell's layers, counted."""
        return self.counted[self.cells.index(cell)]

    def total(self, cell: str) -> int:
        """With the linear layer."""
        return self.count(cell) + self.output

    def unshared(self, cell: str, steps: int | None = None) -> int:
        """The same with cells of their own at each of so many steps; the linear layer is shared."""
        return (self.steps if steps is None else steps) * self.count(cell) + self.output

    def totals(self) -> Facts:
        """State the sizes of the network, the parameters of each cell, and of the linear layer."""
        cells = dict(zip(self.cells, self.counted, strict=True))
        return Facts(sizes=self.wiring, output=self.output, whole=self.total("rnn"), **cells)

    def sharing(self, cell: str) -> Facts:
        """State what a cell of its own at every step would cost."""
        own = self.unshared(cell)
        return Facts("unshared" if self.steps > 1 else "one_step", steps=self.steps, own=own,
                     ratio=own / self.total(cell))  # fmt: skip


def bill(wiring: NetworkSizes, steps: int) -> ParameterBill:
    """Count the three cells. steps: of the sequence, T; a shared cell does not ask for it."""
    return ParameterBill(
        wiring, steps, CELLS, tuple(by_formula(cell, wiring) for cell in CELLS),
        tuple(by_counting(cell, wiring) for cell in CELLS), of_output(wiring),
    )  # fmt: skip


def shapes(cell: str, wiring: NetworkSizes) -> dict[str, tuple[int, ...]]:
    """Shapes of the matrices of the first layer, in one direction, and of the linear layer.

    The names of S0: W_hx, W_hh, W_yh; a cell with gates has its blocks one below the other.
    """
    rows = _CELLS[cell].blocks * wiring.hidden
    result = {"W_hx": (rows, wiring.inputs), "W_hh": (rows, wiring.hidden), "b_h": (rows,)}
    if wiring.outputs:
        result["W_yh"] = (wiring.outputs, wiring.directions * wiring.hidden)
        result["b_y"] = (wiring.outputs,)
    return {name: shape for name, shape in result.items() if prod(shape)}
