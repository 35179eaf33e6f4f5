"""A block of a Transformer in plain torch, several runs side by side, without biases and gains.

Weights have a leading axis `run`, and so has what they read: [run, token, width], or
[run, batch, token, width].
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

Layer = tuple[Tensor, ...]  # into [run, d, 3 d], out [run, d, d], up [run, d, d_ff], down


def glorot(random: np.random.Generator, runs: int, rows: int, columns: int) -> Tensor:
    """Matrices as `nn.Transformer` draws them: uniform within sqrt(6 / (rows + columns))."""
    bound = math.sqrt(6 / (rows + columns))
    return torch.from_numpy(bound * (2 * random.random((runs, rows, columns)) - 1))


def layer(random: np.random.Generator, runs: int, width: int, hidden: int) -> Layer:
    """The matrices of one block, drawn in this order: into, out, up, down."""
    sizes = ((width, 3 * width), (width, width), (width, hidden), (hidden, width))
    return tuple(glorot(random, runs, *size) for size in sizes)


def block(x: Tensor, weights: Layer, arrangement: str, heads: int) -> Tensor:
    """Attention, then a feed-forward network with ReLU.

    "post": LN(x + f(x)) after each part (Vaswani et al. 2017). "pre": x + f(LN(x)) (Xiong et al.
    2020). "none": x + f(x). "plain": f(x), no residual connection and no norm.
    """
    into, out, up, down = weights
    for part in (
        lambda y: attend(y, y, (into, out), heads)[0],
        lambda y: linear(linear(y, up).relu(), down),
    ):
        if arrangement == "pre":
            x = x + part(norm(x))
        elif arrangement == "post":
            x = norm(x + part(x))
        else:
            x = part(x) + (x if arrangement == "none" else 0)
    return x


def attend(
    x: Tensor, source: Tensor, weights: Sequence[Tensor], heads: int, allowed: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Multi-head attention (Vaswani et al. 2017, 3.2.2), and its weights [..., head, query, key].

    x asks for queries, `source` for keys and values: the same tensor in self-attention, the
    encoder's output in cross-attention. allowed: which keys a query sees, broadcast to the weights.
    """
    into, out = weights
    width = into.shape[1]
    request, retained = linear(x, into[..., :width]), linear(source, into[..., width:])
    query = request.unflatten(-1, (heads, -1)).transpose(-3, -2)  # [..., head, token, d_k]
    key, value = retained.unflatten(-1, (2, heads, -1)).movedim(-3, 0).transpose(-3, -2)
    scores = query @ key.transpose(-2, -1) / math.sqrt(width // heads)
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -math.inf)
    result = scores.softmax(-1)
    return linear((result @ value).transpose(-3, -2).flatten(-2), out), result


def linear(x: Tensor, weights: Tensor) -> Tensor:
    """x W for each run: one multiplication of stacked matrices."""
    return (x.flatten(1, -2) @ weights).unflatten(1, x.shape[1:-1])


def norm(x: Tensor) -> Tensor:
    """LayerNorm of every row, eps 1e-5."""
    return torch.nn.functional.layer_norm(x, x.shape[-1:])
