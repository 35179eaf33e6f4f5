"""The weights from which a training starts."""

from __future__ import annotations

import math

import torch
from torch import nn


def draw(network: nn.Module, seed: int) -> None:
    """Allocate a network built on the meta device, on the CPU, and draw its weights.

    Distributions and order of drawing are PyTorch's defaults, so the weights are those that
    `torch.manual_seed(seed)` gives. They come from a generator of their own: seeding the global one
    would disturb other threads, and be disturbed by them. On the CPU for every device.
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
