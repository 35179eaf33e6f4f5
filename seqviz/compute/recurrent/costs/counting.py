"""Parameters of stacked and bidirectional networks: formula, counting, without sharing.

The parameters of one cell are counted in `seqviz.compute.gates.counting`; this module adds layers,
directions, the output layer, and the cost of separate weights at every step.
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
    """Sizes of a recurrent network.

    Attributes:
        directions: 1, or 2 for a bidirectional network.
        biases: bias vectors per block, "none" (S1), "one" (S3 and most papers), "two" (PyTorch);
            the linear layer always has its own.
        outputs: outputs of the linear layer on the last layer's states; 0 for none.
    """

    inputs: int = 1
    hidden: int = 32
    layers: int = 1
    directions: int = 1
    biases: str = "two"
    outputs: int = 1

    def reads(self, layer: int) -> int:
        """Return the number of input features of a layer, from 0."""
        return self.directions * self.hidden if layer else self.inputs


def by_formula(cell: str, wiring: NetworkSizes) -> int:
    """Return d g h ((i + h + b) + (L - 1)(d h + h + b)), the parameters of all cells.

    The linear layer is not included. g = 1 (RNN), 3 (GRU), 4 (LSTM) blocks; i inputs, h hidden
    units, L layers, d directions, b biases.

    Args:
        cell: "rnn", "gru" or "lstm".
        wiring: sizes of the network.
    """
    g, i, h = _CELLS[cell].blocks, wiring.inputs, wiring.hidden
    b, d, above = BIASES[wiring.biases], wiring.directions, wiring.layers - 1
    return d * g * h * ((i + h + b) + above * (d * h + h + b))


def stacked_bidirectional(inputs: int, hidden: int, layers: int) -> int:
    """Return the number of parameters of `nn.LSTM(inputs, hidden, layers, bidirectional=True)`.

    Args:
        inputs: input features.
        hidden: units.
        layers: number of layers.
    """
    return by_formula("lstm", NetworkSizes(inputs, hidden, layers, 2))


def of_output(wiring: NetworkSizes) -> int:
    """Return the number of parameters of the linear layer: o (d h + 1)."""
    return wiring.outputs * (wiring.directions * wiring.hidden + 1)


def by_counting(cell: str, wiring: NetworkSizes) -> int:
    """Allocate all layers, run one step through them, and return the number of their entries.

    Args:
        cell: "rnn", "gru" or "lstm".
        wiring: sizes of the network.
    """
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
    """Parameters of the three cells in one wiring, and of the linear layer.

    Attributes:
        steps: length of the sequence.
        formula: parameters of each cell by formula.
        counted: parameters of each cell by counting.
        output: parameters of the linear layer.
    """

    wiring: NetworkSizes
    steps: int
    cells: tuple[str, ...]
    formula: tuple[int, ...]
    counted: tuple[int, ...]
    output: int

    def count(self, cell: str) -> int:
        """Return the counted parameters of all of a cell's layers."""
        return self.counted[self.cells.index(cell)]

    def total(self, cell: str) -> int:
        """Return the parameters of a cell's network with the linear layer."""
        return self.count(cell) + self.output

    def unshared(self, cell: str, steps: int | None = None) -> int:
        """Return the parameters with a separate cell at each step; the linear layer is shared.

        Args:
            cell: name of the cell.
            steps: length of the sequence; None is that of the bill.
        """
        return (self.steps if steps is None else steps) * self.count(cell) + self.output

    def totals(self) -> Facts:
        """State the sizes of the network, the parameters of each cell, and of the linear layer."""
        cells = dict(zip(self.cells, self.counted, strict=True))
        return Facts(sizes=self.wiring, output=self.output, whole=self.total("rnn"), **cells)

    def sharing(self, cell: str) -> Facts:
        """State the parameters with a separate cell at every step."""
        own = self.unshared(cell)
        return Facts("unshared" if self.steps > 1 else "one_step", steps=self.steps, own=own,
                     ratio=own / self.total(cell))  # fmt: skip


def bill(wiring: NetworkSizes, steps: int) -> ParameterBill:
    """Count the parameters of the three cells.

    Args:
        wiring: sizes of the network.
        steps: length T of the sequence; shared cells do not depend on it.
    """
    return ParameterBill(
        wiring, steps, CELLS, tuple(by_formula(cell, wiring) for cell in CELLS),
        tuple(by_counting(cell, wiring) for cell in CELLS), of_output(wiring),
    )  # fmt: skip


def shapes(cell: str, wiring: NetworkSizes) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the first layer's matrices, one direction, and of the linear layer.

    W_x multiplies the input, W_h the state, and W_y gives the output; a gated cell has its blocks
    stacked in rows.

    Args:
        cell: name of the cell.
        wiring: sizes of the network.
    """
    rows = _CELLS[cell].blocks * wiring.hidden
    result = {"W_x": (rows, wiring.inputs), "W_h": (rows, wiring.hidden), "b_h": (rows,)}
    if wiring.outputs:
        result["W_y"] = (wiring.outputs, wiring.directions * wiring.hidden)
        result["b_y"] = (wiring.outputs,)
    return {name: shape for name, shape in result.items() if prod(shape)}
