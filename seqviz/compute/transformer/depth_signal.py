"""Untrained stacks of Transformer blocks, five of them side by side, forward and back."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from seqviz.compute.transformer.depth import (
    ARRANGEMENTS,
    HEADS,
    MOST_BLOCKS,
    RUNS,
    TOKENS,
    WIDTH,
    Depth,
)

if TYPE_CHECKING:
    from torch import Tensor

_TINY = 1e-38
Norms = Float[np.ndarray, "run depth"]


def depth(blocks: int = 24, gain: float = 1.0, seed: int = 0) -> Depth:
    """Norms of signal and gradient by depth at the start, for four arrangements of a block.

    "post": LN(x + f(x)) after each part (Vaswani et al. 2017). "pre": x + f(LN(x)) (Xiong et al.
    2020). "none": x + f(x). "plain": f(x), no residual connection and no norm. f is attention with
    4 heads, then a feed-forward network with ReLU, 64 -> 256 -> 64; matrices as `nn.Transformer`
    draws them (Glorot), times `gain`. 8 tokens of standard normal numbers; the loss is the product
    of the output of the last block with a random direction, the same for all arrangements. Five
    runs have other weights, tokens and directions.
    Raises ValueError for a number of blocks outside 2 to 64 or a gain outside 0.5 to 1.2.
    """
    if not 2 <= blocks <= MOST_BLOCKS:
        raise ValueError(f"There are 2 to {MOST_BLOCKS} blocks, not {blocks}.")
    if not 0.5 <= gain <= 1.2:
        raise ValueError(f"The gain is between 0.5 and 1.2, not {gain}.")
    import torch  # two seconds, paid by the first press here and not by the first visitor

    random = np.random.default_rng(seed)

    def drawn(rows: int, columns: int) -> Tensor:
        bound = gain * math.sqrt(6 / (rows + columns))
        return torch.from_numpy(bound * (2 * random.random((RUNS, rows, columns)) - 1))

    x, direction = (torch.from_numpy(random.standard_normal((RUNS, TOKENS, WIDTH))) for _ in "xr")
    sizes = ((WIDTH, 3 * WIDTH), (WIDTH, WIDTH), (WIDTH, 4 * WIDTH), (4 * WIDTH, WIDTH))
    stack = [tuple(drawn(*size) for size in sizes) for _ in range(blocks)]
    found = [_norms(x, direction, stack, arrangement) for arrangement in ARRANGEMENTS]
    signal, gradient = zip(*found, strict=True)
    return Depth(ARRANGEMENTS, blocks, np.stack(signal), np.stack(gradient))


def _norms(
    x: Tensor, direction: Tensor, stack: list[tuple[Tensor, ...]], arrangement: str
) -> tuple[Norms, Norms]:
    """log10 of signal and gradient."""
    import torch

    with torch.enable_grad():
        passed = [x.clone().requires_grad_()]
        for weights in stack:
            passed.append(_block(passed[-1], weights, arrangement))
        found = torch.autograd.grad((passed[-1] * direction).sum(), passed)
    signal = torch.stack([one.detach().pow(2).mean((1, 2)).sqrt() for one in passed], 1)
    gradient = torch.stack([one.norm(dim=(1, 2)) for one in found], 1)
    gradient = gradient / gradient[:, -1:]
    return _log10(signal), _log10(gradient)


def _log10(norms: Tensor) -> Norms:
    return np.log10(np.maximum(norms.numpy(), _TINY))


def _block(x: Tensor, weights: tuple[Tensor, ...], arrangement: str) -> Tensor:
    """One block, tensors [run, token, width]."""
    from seqviz.compute.positions.tiny.network import attention

    into, out, up, down = weights

    def attend(y: Tensor) -> Tensor:
        parts = (y @ into).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        return attention(*parts).transpose(1, 2).flatten(-2) @ out

    for part in (attend, lambda y: (y @ up).relu() @ down):
        if arrangement == "pre":
            x = x + part(_norm(x))
        elif arrangement == "post":
            x = _norm(x + part(x))
        else:
            x = part(x) + (x if arrangement == "none" else 0)
    return x


def _norm(x: Tensor) -> Tensor:
    from torch.nn.functional import layer_norm

    return layer_norm(x, x.shape[-1:])
