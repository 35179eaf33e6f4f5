"""Transformer block in plain torch, several runs in parallel, without biases and gains.

Weights and inputs have a leading axis `run`: inputs are [run, token, width] or [run, batch, token,
width].
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

Layer = tuple[Tensor, ...]  # into [run, d, 3 d], out [run, d, d], up [run, d, d_ff], down


def glorot(random: np.random.Generator, runs: int, rows: int, columns: int) -> Tensor:
    """Draw matrices as in `nn.Transformer`: uniform within sqrt(6 / (rows + columns)).

    Args:
        random: random generator.
        runs: number of matrices.
        rows: input features.
        columns: output features.
    """
    bound = math.sqrt(6 / (rows + columns))
    return torch.from_numpy(bound * (2 * random.random((runs, rows, columns)) - 1))


def layer(random: np.random.Generator, runs: int, width: int, hidden: int) -> Layer:
    """Draw the matrices of one block, in this order: into, out, up, down.

    Args:
        random: random generator.
        runs: number of runs.
        width: width of the residual stream.
        hidden: units of the feed-forward network.
    """
    sizes = ((width, 3 * width), (width, width), (width, hidden), (hidden, width))
    return tuple(glorot(random, runs, *size) for size in sizes)


def block(x: Tensor, weights: Layer, arrangement: str, heads: int) -> Tensor:
    """Apply attention, then a feed-forward network with ReLU.

    "post": LN(x + f(x)) after each part (Vaswani et al. 2017). "pre": x + f(LN(x)) (Xiong et al.
    2020). "none": x + f(x). "plain": f(x), no residual connection and no norm.

    Args:
        x: input.
        weights: matrices of the block.
        arrangement: one of `depth.ARRANGEMENTS`.
        heads: number of heads.
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
    """Return multi-head attention and its weights [..., head, query, key].

    Args:
        x: input of the queries.
        source: input of keys and values: x in self-attention, the encoder's output in
            cross-attention.
        weights: the matrices into and out (Vaswani et al. 2017, 3.2.2).
        heads: number of heads.
        allowed: True where a query may attend to a key; broadcast to the weights.
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
    """Return x W for each run, as one batched matrix product.

    Args:
        x: input.
        weights: matrix of each run.
    """
    return (x.flatten(1, -2) @ weights).unflatten(1, x.shape[1:-1])


def norm(x: Tensor) -> Tensor:
    """Return the LayerNorm of every row, eps 1e-5."""
    return torch.nn.functional.layer_norm(x, x.shape[-1:])
