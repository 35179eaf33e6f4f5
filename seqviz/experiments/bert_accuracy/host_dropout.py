"""Dropout with the masks that a CPU draws, for networks on any device: `HostDropout`.

A GPU draws other masks than a CPU from the same seed. On a CPU it takes about 25 ns to draw an
entry, which suits a sentence and not a training: a step of MiniLM on 32 sentences has 7 million.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode


class HostDropout(TorchFunctionMode):
    """Context in which dropout and attention draw from torch's generator of the CPU.

    It draws what PyTorch draws for tensors of a CPU, in the same order; there, results are equal to
    the bit.
    """

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Replace dropout, and attention with dropout; leave other functions as they are."""
        named = dict(kwargs or {})
        if function is functional.dropout:
            return _dropout(*args, **named)
        if function is functional.scaled_dot_product_attention and named.get("dropout_p"):
            return _attention(*args, **named)
        return function(*args, **named)


def _dropout(x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    if not training or p == 0:
        return x
    retained = torch.empty_like(x, dtype=torch.uint8, device="cpu").bernoulli_(1 - p)
    return x * retained.to(x.device, x.dtype).div_(1 - p)


def _attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
) -> Tensor:
    """Return attention as PyTorch's plain kernel computes it; the scale is divided between both."""
    if is_causal:
        raise NotImplementedError("a causal mask is not passed on")
    factor = math.sqrt(query.shape[-1] ** -0.5 if scale is None else scale)
    scores = (query * factor) @ (key * factor).transpose(-2, -1)
    if attn_mask is not None:
        bias = attn_mask
        if attn_mask.dtype == torch.bool:
            bias = torch.zeros_like(attn_mask, dtype=query.dtype).masked_fill_(
                ~attn_mask, -math.inf
            )
        scores = scores + bias
    return _dropout(scores.softmax(-1), dropout_p) @ value
