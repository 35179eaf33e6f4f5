"""Initial weights of a training."""

from __future__ import annotations

import math

import torch
from torch import nn


def draw(network: nn.Module, seed: int) -> None:
    """Allocate a network of the meta device on the CPU and draw its initial weights.

    Distributions and order of drawing are PyTorch's defaults, so the weights are those that
    `torch.manual_seed(seed)` gives. They come from a separate generator: seeding the global one
    would affect other threads and be affected by them. They are drawn on the CPU for every device.

    Args:
        network: network built on the meta device.
        seed: seed of the generator.
    """
    generator = torch.Generator().manual_seed(seed)
    for part in network.to_empty(device="cpu").modules():
        if isinstance(part, nn.RNNBase):
            bound = 1 / math.sqrt(part.hidden_size)
            for weight in part.parameters():
                nn.init.uniform_(weight, -bound, bound, generator=generator)
        elif isinstance(part, nn.Linear):
            bound = 1 / math.sqrt(part.in_features)
            nn.init.kaiming_uniform_(part.weight, a=math.sqrt(5), generator=generator)
            nn.init.uniform_(part.bias, -bound, bound, generator=generator)
