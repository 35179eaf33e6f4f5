"""The recurrent cells as PyTorch has them, for what their own modules do not give out."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from seqviz.compute.recurrent import RecurrentWeights

NAMES = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
_CELLS = {"rnn": "rnn_tanh_cell", "relu": "rnn_relu_cell", "gru": "gru_cell"}


def step(cell: str, weights: Sequence[Tensor], x: Tensor, h: Tensor, c: Tensor):
    """h and c after one step of a batch; c stays as it is but for the LSTM."""
    W, U, b, b_ = weights
    if cell == "lstm":
        return torch.lstm_cell(x, (h, c), W, U, b, b_)
    if cell == "linear":
        return x @ W.T + b + h @ U.T + b_, c
    return getattr(torch, _CELLS[cell])(x, h, W, U, b, b_), c


def tensors(weights: RecurrentWeights) -> list[Tensor]:
    """The kernel's weights in the order of `NAMES`."""
    return [torch.tensor(part) for part in list(vars(weights).values())[:4]]


def layer(weights: RecurrentWeights, dtype: torch.dtype = torch.float32) -> nn.Module:
    """PyTorch's own layer with the kernel's weights: of which cell, their rows say."""
    kind = {1: nn.RNN, 3: nn.GRU, 4: nn.LSTM}[len(weights.input_bias) // weights.hidden]
    created = kind(weights.input_hidden.shape[1], weights.hidden).to(dtype)
    with torch.no_grad():
        for parameter, part in zip(created.parameters(), tensors(weights), strict=True):
            parameter.copy_(part)
    return created


def weights_of(module: nn.Module, suffix: str = "_l0") -> RecurrentWeights:
    """A module's weights for the kernel."""
    return RecurrentWeights(*(getattr(module, name + suffix).detach().numpy() for name in NAMES))
