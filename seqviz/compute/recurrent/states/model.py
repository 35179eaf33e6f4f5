"""Language model around any recurrent layer of torch, as in S3."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from seqviz.compute.recurrent.wirings.module import LAYERS
from seqviz.core.units import Count

Cell = Literal["rnn", "gru", "lstm"]


class RNNModel(nn.Module):
    """Scores of the next symbol by a recurrent and a linear layer (S3; Zhang et al., d2l).

    In the text the code ends within `nn.Linear(self`; the rest follows from the shapes.
    """

    def __init__(self, rnn_layer: nn.RNNBase, vocab_size: int) -> None:
        super().__init__()
        self.rnn, self.vocab_size = rnn_layer, vocab_size
        directions = 2 if rnn_layer.bidirectional else 1
        self.linear = nn.Linear(directions * rnn_layer.hidden_size, vocab_size)

    def forward(
        self, ids: Int[Tensor, "batch steps"], state: Any = None
    ) -> tuple[Float[Tensor, "places symbols"], Any]:
        """Return the scores at all positions, time first, and the last state.

        Args:
            ids: the symbols.
            state: initial state of the recurrent layer; None is zeros.
        """
        x = functional.one_hot(ids.T, self.vocab_size).float()  # (steps, batch, symbols)
        y, state = self.rnn(x, state)  # (steps, batch, directions * hidden)
        return self.linear(y.flatten(0, 1)), state  # (steps * batch, symbols)


@dataclass(frozen=True)
class Wrapped:
    """Untrained model.

    Attributes:
        shape: shape of its scores.
        parameters: number of parameters, counted.
        bits: mean loss per symbol.
        uniform_bits: loss per symbol of a uniform distribution.
    """

    shape: tuple[int, ...]
    parameters: Count
    bits: float
    uniform_bits: float


def wrapped(cell: Cell, ids: Int[np.ndarray, "letters"], symbols: int, hidden: int) -> Wrapped:
    """Build the model around one layer of this cell (seed 0) and read a text untrained.

    Args:
        cell: "rnn", "lstm" or "gru".
        ids: symbols of the text, at least two; each is predicted from those before it.
        symbols: size of the vocabulary.
        hidden: units.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = RNNModel(LAYERS[cell](symbols, hidden), symbols)
    with torch.no_grad():
        scores, _ = model(torch.tensor(ids[None, :-1]))
        loss = functional.cross_entropy(scores, torch.tensor(ids[1:]))
    return Wrapped(
        tuple(scores.shape),
        float(sum(parameter.numel() for parameter in model.parameters())),
        float(loss) / np.log(2.0),
        float(np.log2(symbols)),
    )
