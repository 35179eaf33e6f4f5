"""Gradients by PyTorch's autograd of a plain loop, as an independent check."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from seqviz.compute.vanishing_gradients.experiment import GradientExperiment, network, signal

_ACTIVATIONS = {"rnn": torch.tanh, "relu": torch.relu, "linear": lambda a: a}


def unrolled_states(experiment: GradientExperiment) -> tuple[list[Tensor], list[Tensor], Tensor]:
    """Return h_1 ... h_T, c_1 ... c_T (LSTM, else empty) and the loss J with autograd's graph.

    One line per equation, in float64. The loop shares only the numbers of the weights with the
    kernel.
    """
    return _unrolled(experiment)[1:]


def _unrolled(
    experiment: GradientExperiment,
) -> tuple[dict[str, Tensor], list[Tensor], list[Tensor], Tensor]:
    """Return the matrices at the start of the graph, then the results of `unrolled_states`."""
    task = signal(experiment)
    _, weights, readout_there = network(experiment, task.inputs.shape[1], task.outputs)
    b, inputs = torch.tensor(weights.input_bias), torch.tensor(task.inputs)
    W, U, readout = (
        torch.tensor(part, requires_grad=True)  # a copy: the kernel's arrays may be read-only
        for part in (weights.input_hidden, weights.hidden_hidden, readout_there)
    )
    matrices = {"input_hidden": W, "hidden_hidden": U, "readout": readout}
    d = experiment.width
    h = torch.zeros(d, dtype=torch.float64, requires_grad=True)
    c = torch.zeros(d, dtype=torch.float64, requires_grad=True)
    states, memories = [], []
    for x in inputs:
        if experiment.cell == "lstm":
            i, f, g, o = (W @ x + b + U @ h).chunk(4)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            memories.append(c)
        elif experiment.cell == "gru":
            (x_r, x_z, x_n), (h_r, h_z, h_n) = (W @ x + b).chunk(3), (U @ h).chunk(3)
            z = torch.sigmoid(x_z + h_z)
            h = z * h + (1 - z) * torch.tanh(x_n + torch.sigmoid(x_r + h_r) * h_n)
        else:
            h = _ACTIVATIONS[experiment.cell](W @ x + b + U @ h)
        states.append(h)
    answers = torch.stack(states) @ readout.T
    targets = torch.tensor(task.targets)
    if targets.ndim == 2:
        losses = ((answers - targets) ** 2).sum(1)
    else:
        losses = torch.nn.functional.cross_entropy(answers, targets, reduction="none")
    loss = losses[-1] if experiment.loss == "last" else losses.mean()
    return matrices, states, memories, loss


def matrix_gradient(
    experiment: GradientExperiment, matrix: str
) -> Float[np.ndarray, "rows columns"]:
    """Return dJ/d(matrix) by autograd.

    Args:
        experiment: the experiment.
        matrix: "hidden_hidden", "input_hidden" or "readout".
    """
    matrices, _, _, loss = _unrolled(experiment)
    return torch.autograd.grad(loss, matrices[matrix])[0].numpy()


def state_gradients(experiment: GradientExperiment) -> Float[np.ndarray, "time hidden"]:
    """Return dJ/dh_t, t = 1 ... T, by autograd."""
    states, _, loss = unrolled_states(experiment)
    result = torch.autograd.grad(loss, states, allow_unused=True)
    zero = torch.zeros_like(states[0])
    return torch.stack([zero if part is None else part for part in result]).numpy()
