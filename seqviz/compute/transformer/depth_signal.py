"""Forward and backward pass through untrained stacks of blocks, five runs in parallel."""

from __future__ import annotations

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
    """Return the norms of signal and gradient by depth at initialization, for four arrangements.

    "post": LN(x + f(x)) after each part (Vaswani et al. 2017). "pre": x + f(LN(x)) (Xiong et al.
    2020). "none": x + f(x). "plain": f(x), no residual connection and no norm. f is attention with
    4 heads, then a feed-forward network with ReLU, 64 -> 256 -> 64; matrices as `nn.Transformer`
    draws them (Glorot), times `gain`. The input is 8 tokens of standard normal numbers; the loss is
    the product of the last block's output with a random direction, the same for all arrangements.
    Five runs differ in weights, tokens and directions.

    Args:
        blocks: 2 to 64.
        gain: 0.5 to 1.2.
        seed: random seed.

    Raises:
        ValueError: blocks or gain are out of range.
    """
    if not 2 <= blocks <= MOST_BLOCKS:
        raise ValueError(f"There are 2 to {MOST_BLOCKS} blocks, not {blocks}.")
    if not 0.5 <= gain <= 1.2:
        raise ValueError(f"The gain is between 0.5 and 1.2, not {gain}.")
    import torch  # Imported on first use, because it takes two seconds.

    from seqviz.compute.transformer.stack import layer

    random = np.random.default_rng(seed)
    x, direction = (torch.from_numpy(random.standard_normal((RUNS, TOKENS, WIDTH))) for _ in "xr")
    stack = [
        tuple(gain * matrix for matrix in layer(random, RUNS, WIDTH, 4 * WIDTH))
        for _ in range(blocks)
    ]
    results = [_norms(x, direction, stack, arrangement) for arrangement in ARRANGEMENTS]
    signal, gradient = zip(*results, strict=True)
    return Depth(ARRANGEMENTS, blocks, np.stack(signal), np.stack(gradient))


def _norms(
    x: Tensor, direction: Tensor, stack: list[tuple[Tensor, ...]], arrangement: str
) -> tuple[Norms, Norms]:
    """Return the log10 of signal and gradient."""
    import torch

    from seqviz.compute.transformer.stack import block

    with torch.enable_grad():
        passed = [x.clone().requires_grad_()]
        for weights in stack:
            passed.append(block(passed[-1], weights, arrangement, HEADS))
        result = torch.autograd.grad((passed[-1] * direction).sum(), passed)
    signal = torch.stack([item.detach().pow(2).mean((1, 2)).sqrt() for item in passed], 1)
    gradient = torch.stack([item.norm(dim=(1, 2)) for item in result], 1)
    gradient = gradient / gradient[:, -1:]
    return _log10(signal), _log10(gradient)


def _log10(norms: Tensor) -> Norms:
    return np.log10(np.maximum(norms.numpy(), _TINY))
