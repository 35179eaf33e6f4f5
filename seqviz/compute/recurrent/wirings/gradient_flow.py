"""Gradient that flows back over each connection of a wiring, by autograd through its cells."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from seqviz.compute.recurrent.wirings.graph import Node
from seqviz.compute.recurrent.wirings.module import WiredNetwork

Parts = tuple[Tensor, ...]  # of a node: x, y, h, or h and c of an LSTM


class UnrolledNetwork:
    """Outputs of a wiring, computed cell by cell in the order of its graph.

    Attributes:
        edge_values: for each edge of the graph, the copy of a value that only this edge reads.
    """

    def __init__(self, net: WiredNetwork, x: Float[Tensor, "input batch in"]) -> None:
        self.net, self.x = net, x
        self.edge_values: dict[tuple[Node, Node], Parts] = {}
        self._values: dict[Node, Parts] = {}
        self._sources: dict[Node, list[Node]] = {}
        for source, node in net.wiring.edges():
            self._sources.setdefault(node, []).append(source)

    def outputs(self) -> Float[Tensor, "output batch out"]:
        """Return all outputs."""
        steps = range(1, self.net.wiring.outputs + 1)
        return torch.stack([self._value(("y", step))[0] for step in steps])

    def _value(self, node: Node) -> Parts:
        if node not in self._values:
            compute = {"x": self._input, "h": self._state, "d": self._state, "y": self._output}
            self._values[node] = compute[str(node[0])](node)
        return self._values[node]

    def _from(self, source: Node, node: Node, all_parts: bool = False) -> Parts:
        """Return a copy of a node's value for one edge: h alone, or with c for `all_parts`."""
        value = self._value(source)
        copy = tuple(part.clone() for part in (value if all_parts else value[:1]))
        self.edge_values[source, node] = copy
        return copy

    def _input(self, node: Node) -> Parts:
        return (self.x[int(node[1]) - 1],)

    def _state(self, node: Node) -> Parts:
        """Return a state: the cell of its layer, of what enters it and of the state before."""
        net, wiring = self.net, self.net.wiring
        sources = self._sources.get(node, [])
        before = [source for source in sources if _is_earlier(source, node)]
        joined = [part for source in before for part in self._from(source, node, all_parts=True)]
        size = len(joined) // max(len(before), 1)
        # A decoder starts from the sum of the states of both directions.
        state = tuple(sum(joined[k::size][1:], joined[k]) for k in range(size))
        below = [self._from(source, node)[0] for source in sources if source not in before]
        if wiring.feedback == "output":
            (item, *fed) = below
            back = net.back(fed[0]) if fed else 0.0
            return (torch.tanh(net.core(item) + back),)
        layer = int(node[1])
        core = net.decoder if node[0] == "d" else net.core
        suffix = f"_l{layer - 1}" + ("_reverse" if node[0] == "h" and node[2] == -1 else "")
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        weights = [getattr(core, name + suffix) for name in names]
        batch = self.x.shape[1]
        entering = torch.cat(below, -1) if below else self.x.new_zeros(batch, weights[0].shape[1])
        zeros = self.x.new_zeros(batch, net.units)
        if wiring.cell == "lstm":
            both: Parts = torch.lstm_cell(entering, state or (zeros, zeros), *weights)
            return both
        cell = torch.gru_cell if wiring.cell == "gru" else torch.rnn_tanh_cell
        return (cell(entering, state[0] if state else zeros, *weights),)

    def _output(self, node: Node) -> Parts:
        read = [self._from(source, node)[0] for source in self._sources[node]]
        return (self.net.out(torch.cat(read, -1)),)


def _is_earlier(source: Node, node: Node) -> bool:
    """Return True for a state one step before in the same layer, or that a decoder begins with."""
    if source[0] not in ("h", "d"):
        return False
    if source[0] == node[0]:
        same = source[1] == node[1] and (node[0] == "d" or source[2] == node[2])
        return same and source[-1] != node[-1]
    return node[0] == "d"


def edge_gradients(
    net: WiredNetwork, x: Float[Tensor, "input sample in"]
) -> Float[Tensor, "output edge"]:
    """Return the norm of what each edge carries back from each output, mean over the samples.

    The gradient of all components of an output with respect to the copy of a value that only this
    edge reads, as a Frobenius norm; of an LSTM's states, h and c together.

    Args:
        net: the network.
        x: its inputs.
    """
    count, out = net.wiring.outputs, net.out.out_features
    copies, samples = count * out, x.shape[1]
    unrolled = UnrolledNetwork(net, x.repeat(1, copies, 1).requires_grad_())
    y = unrolled.outputs().reshape(count, copies, samples, out)
    chosen = torch.arange(copies)
    total = y[chosen // out, chosen, :, chosen % out].sum()
    edges = list(net.wiring.edges())
    parts = [part for edge in edges for part in unrolled.edge_values.get(edge, ())]
    gradients = iter(torch.autograd.grad(total, parts, allow_unused=True))
    rows = []
    for edge in edges:
        squares = x.new_zeros(count, samples)
        for _ in unrolled.edge_values.get(edge, ()):
            gradient = next(gradients)
            if gradient is not None:
                squares = squares + gradient.reshape(count, out, samples, -1).pow(2).sum((1, 3))
        rows.append(squares.sqrt().mean(1))
    return torch.stack(rows, 1)
