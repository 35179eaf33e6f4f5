"""How much an input moves an output, |dy_t / dx_s|, by autograd through PyTorch's own layers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from seqviz.compute.recurrent.wirings.graph import WIRINGS, Influence, WiringGraph

UNITS, INPUT, OUTPUT = 8, 3, 2
SEEDS, SAMPLES = 5, 16


def network(wiring: WiringGraph, seed: int) -> Any:
    """A module from [step, batch, 3] to [output, batch, 2], with PyTorch's first weights, float64.

    It has the layers `core` (nn.RNN, nn.LSTM or nn.GRU), `out`, and for "after" `decoder`.
    """
    import torch

    from seqviz.compute.recurrent.wirings.module import WiredNetwork

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return WiredNetwork(wiring, INPUT, UNITS, OUTPUT).double()


def jacobian(net: Any, x: Any) -> Any:
    """dy_t / dx_s of every sample: [output, out, sample, input, in] for x [input, sample, in].

    Every component of every output gets a copy of the batch of its own: one pass back is enough.
    """
    import torch

    outputs, out = net.wiring.outputs, OUTPUT
    steps, samples, width = x.shape
    copies = outputs * out
    many = x.repeat(1, copies, 1).requires_grad_()
    y = net(many).reshape(outputs, copies, samples, out)
    chosen = torch.arange(copies)
    total = y[chosen // out, chosen, :, chosen % out].sum()
    (result,) = torch.autograd.grad(total, many)
    return result.reshape(steps, outputs, out, samples, width).permute(1, 2, 3, 0, 4)


def influence(wiring: WiringGraph, seed: int = 0) -> Influence:
    """The mean over `SAMPLES` standard normal inputs for each of `SEEDS` networks from this on."""
    import torch

    norms, halves = [], []
    for index in range(seed, seed + SEEDS):
        net = network(wiring, index)
        x = torch.from_numpy(
            np.random.RandomState(index).normal(size=(wiring.inputs, SAMPLES, INPUT))
        )
        norms.append(jacobian(net, x).pow(2).sum((1, 4)).sqrt().mean(1).numpy())
        if wiring.both and wiring.read in ("last", "ends"):
            with torch.no_grad():
                net.out.weight[:, :UNITS] = 0  # what is left is what the backward half gives
            halves.append(jacobian(net, x).pow(2).sum((1, 4)).sqrt().mean(1)[0].numpy())
    backward = np.mean(halves, 0) if halves else np.zeros(0)
    return Influence(wiring, np.mean(norms, 0), backward, SEEDS, SAMPLES)


def of_all(cell: str = "rnn", seed: int = 0) -> tuple[Influence, ...]:
    """The same for the seven wirings that texts draw."""
    return tuple(influence(replace(wiring, cell=cell), seed) for wiring in WIRINGS.values())


def of_one(cell: str, layers: int, both: bool, enter: str, read: str, seed: int = 0) -> Influence:
    """The same for a wiring of one's own, six steps."""
    return influence(WiringGraph(cell, layers, both, enter, read), seed)
