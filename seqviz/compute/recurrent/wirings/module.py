"""Module for a wiring of PyTorch's own recurrent layers."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from seqviz.compute.recurrent.wirings.graph import WiringGraph

LAYERS = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}
State = Tensor | tuple[Tensor, ...]


class WiredNetwork(nn.Module):
    """Network of one wiring; see `influence.network`."""

    def __init__(self, wiring: WiringGraph, width: int, units: int, out: int):
        super().__init__()
        layer = LAYERS[wiring.cell]
        self.wiring, self.units = wiring, units
        self.core = layer(width, units, wiring.layers, bidirectional=wiring.both)
        after = wiring.read == "after"
        self.decoder = layer(out, units, wiring.layers) if after else None
        self.out = nn.Linear(units if after else units * len(wiring.directions), out)
        if wiring.feedback == "output":
            self.core, self.back = nn.Linear(width, units), nn.Linear(out, units, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Return the outputs for x [input, batch, width], padded with zeros to all steps."""
        if self.wiring.feedback == "output":
            return self._feed_back(x)
        rest = x.new_zeros(self.wiring.steps - len(x), *x.shape[1:])
        states, last = self.core(torch.cat([x, rest]))
        match self.wiring.read:
            case "each":
                read = states
            case "last":  # its backward half has read only the last input
                read = states[-1:]
            case "ends":
                forward, backward = states[-1:, :, : self.units], states[:1, :, self.units :]
                read = torch.cat([forward, backward], -1)
            case _:
                return self._write(last)
        tensor: Tensor = self.out(read)
        return tensor

    def _feed_back(self, x: Tensor) -> Tensor:
        """Return the outputs of a network that reads its last output in place of its state."""
        y, outputs = x.new_zeros(x.shape[1], self.out.out_features), []
        for item in x:
            y = self.out(torch.tanh(self.core(item) + self.back(y)))
            outputs.append(y)
        return torch.stack(outputs)

    def _write(self, last: State) -> Tensor:
        """Return the decoder's outputs; it starts from 0 and reads its own last output."""
        state = tuple(map(self._joined, last)) if isinstance(last, tuple) else self._joined(last)
        assert self.decoder is not None
        batch = state[0].shape[-2]
        y = self.out.weight.new_zeros(1, batch, self.out.out_features)
        outputs = []
        for _ in range(self.wiring.written):
            h, state = self.decoder(y, state)
            y = self.out(h)
            outputs.append(y)
        return torch.cat(outputs)

    def _joined(self, last: Tensor) -> Tensor:
        """Return one state per layer, summed over directions."""
        layers = self.wiring.layers
        return last.unflatten(0, (layers, -1)).sum(1)
