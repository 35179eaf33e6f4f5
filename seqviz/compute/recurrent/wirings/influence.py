"""Influence of an input on an output, |dy_t / dx_s|, by autograd through PyTorch's layers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from seqviz.compute.recurrent.wirings.graph import HISTORY, WIRINGS, Influence, WiringGraph

UNITS, INPUT, OUTPUT = 8, 3, 2
SEEDS, SAMPLES = 5, 16


def network(wiring: WiringGraph, seed: int) -> Any:
    """Return a float64 module from [step, batch, 3] to [output, batch, 2], as initialized.

    It has the layers `core` (nn.RNN, nn.LSTM or nn.GRU), `out`, and for "after" `decoder`.

    Args:
        wiring: the wiring.
        seed: random seed.
    """
    import torch

    from seqviz.compute.recurrent.wirings.module import WiredNetwork

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return WiredNetwork(wiring, INPUT, UNITS, OUTPUT).double()


def jacobian(net: Any, x: Any) -> Any:
    """Return dy_t / dx_s of every sample: [output, out, sample, input, in].

    Every component of every output gets its own copy of the batch, so one backward pass is enough.

    Args:
        net: a module of `network`.
        x: [input, sample, in].
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


def influence(wiring: WiringGraph, seed: int = 0, by_edge: bool = False) -> Influence:
    """Return the mean influence over `SAMPLES` standard normal inputs and `SEEDS` networks.

    Args:
        wiring: the wiring.
        seed: seed of the first network.
        by_edge: True for the gradient that each edge carries back, too.
    """
    import torch

    from seqviz.compute.recurrent.wirings.gradient_flow import edge_gradients

    norms, halves, flows = [], [], []
    for index in range(seed, seed + SEEDS):
        net = network(wiring, index)
        x = torch.from_numpy(
            np.random.RandomState(index).normal(size=(wiring.inputs, SAMPLES, INPUT))
        )
        norms.append(jacobian(net, x).pow(2).sum((1, 4)).sqrt().mean(1).numpy())
        if by_edge:
            flows.append(edge_gradients(net, x).numpy())
        if wiring.both and wiring.read in ("last", "ends"):
            with torch.no_grad():
                net.out.weight[:, :UNITS] = 0  # leaves only the backward half
            halves.append(jacobian(net, x).pow(2).sum((1, 4)).sqrt().mean(1)[0].numpy())
    backward = np.mean(halves, 0) if halves else np.zeros(0)
    flow = np.mean(flows, 0) if flows else None
    return Influence(wiring, np.mean(norms, 0), backward, SEEDS, SAMPLES, flow)


def of_all(cell: str = "rnn", seed: int = 0) -> tuple[Influence, ...]:
    """Return the influence in the seven wirings of `WIRINGS`.

    Args:
        cell: "rnn", "lstm" or "gru".
        seed: seed of the first network.
    """
    return tuple(influence(replace(wiring, cell=cell), seed) for wiring in WIRINGS.values())


def of_one(cell: str, layers: int, both: bool, enter: str, read: str, seed: int = 0) -> Influence:
    """Return the influence in one wiring with six steps; arguments as in `WiringGraph`.

    Args:
        cell: "rnn", "lstm" or "gru".
        layers: number of layers.
        both: True for both directions.
        enter: one of `ENTER`.
        read: one of `READ`.
        seed: seed of the first network.
    """
    return influence(WiringGraph(cell, layers, both, enter, read), seed, by_edge=True)


def of_past(name: str, seed: int = 0) -> Influence:
    """Return the influence in one of the networks of `HISTORY`.

    Args:
        name: name of the network.
        seed: seed of the first network.
    """
    return influence(HISTORY[name][1], seed, by_edge=True)


def parameters(wiring: WiringGraph) -> int:
    """Return the number of parameters of a network of `network`."""
    return sum(weight.numel() for weight in network(wiring, 0).parameters())
