"""Attention hooks for one forward pass: record weights, replace masks, ablate heads.

`transformers` accepts custom attention functions. Ours is the textbook formula, stage by stage, and
consults an `AttentionHook`: what to record in this pass (weights, queries, keys, scores) and what
to change (the mask, heads that are switched off). A hook belongs to one pass in one thread, so
students with different ablations share one model. Entry point: `hooked`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

NAME = "seqviz"
_tap: ContextVar[AttentionHook | None] = ContextVar("tap", default=None)


@dataclass(frozen=True)
class HookedStages:
    """Intermediate tensors of one layer's attention, each [batch, head, query or key, ...].

    Keys and values that several heads share are repeated for each head.

    Attributes:
        queries: after the rotation of rotary positions, where the model has them.
        keys: after that rotation.
        values: value vectors.
        scores: dot products of queries and keys.
        scaled: scores times the scaling factor.
        masked: scaled scores with the mask applied.
        weights: softmax of the masked scores.
        output: weighted sums of the values, after the hook has scaled or replaced heads.
    """

    queries: Any
    keys: Any
    values: Any
    scores: Any
    scaled: Any
    masked: Any
    weights: Any
    output: Any


@dataclass
class AttentionHook:
    """Instructions for one forward pass, and what the pass recorded.

    Attributes:
        allowed: bool [query, key] or [batch, query, key]; replaces the model's own mask.
        on: float [layer, head] or [batch, layer, head]; multiplies each head's output.
        instead: float [layer, head, d_k]; added with the weight 1 - `on`, so that it is the output
            of a head that is off (mean ablation).
        record_layer: layer whose intermediate tensors are recorded in `stages`.
        note: True to record `weights` and `norms`.
        each: called with the number of completed layers after each layer; an exception aborts the
            pass.
        weights: one tensor [batch, head, query, key] per layer.
        norms: one tensor [batch, head, key] per layer: Euclidean norms of the values.
        sums: if a list, receives one tensor [head, d_k] per layer: head outputs before `on`, summed
            over all tokens.
        stages: intermediate tensors of `record_layer`.
        layer: number of layers that have run.
    """

    allowed: Any = None
    on: Any = None
    instead: Any = None
    record_layer: int | None = None
    note: bool = True
    each: Callable[[int], None] | None = None
    weights: list[Any] = field(default_factory=list)
    norms: list[Any] = field(default_factory=list)
    sums: list[Any] | None = None
    stages: HookedStages | None = None
    layer: int = 0


@contextmanager
def hooked(attention_hook: AttentionHook) -> Iterator[AttentionHook]:
    """Apply the hook to every forward pass of this thread within the context."""
    token = _tap.set(attention_hook)
    try:
        yield attention_hook
    finally:
        _tap.reset(token)


def attention(
    module: Any,
    query: Any,
    key: Any,
    value: Any,
    attention_mask: Any,
    scaling: float | None = None,
    dropout: float = 0.0,
    **_: Any,
) -> tuple[Any, Any]:
    """Compute scaled dot-product attention for each head and apply the current hook.

    A query without any allowed key has zero weights and a zero output.

    Args:
        module: the attention module; unused.
        query: [batch, head, query, d_k].
        key: [batch, shared head, key, d_k].
        value: [batch, shared head, key, d_k].
        attention_mask: added to the scaled scores: 0 where allowed, a large negative number
            elsewhere; None for no mask.
        scaling: factor of the scores; by default 1 / sqrt(d_k).
        dropout: unused, since models run in evaluation mode.

    Returns:
        The output [batch, query, head, d_k] and the weights [batch, head, query, key].

    References:
        Vaswani et al. (2017), Attention is all you need, equation 1.
    """
    import torch

    attention_hook = _tap.get() or AttentionHook(note=False)
    shared = query.shape[1] // key.shape[1]
    if shared > 1:  # grouped-query attention
        key, value = key.repeat_interleave(shared, 1), value.repeat_interleave(shared, 1)
    scores = query @ key.transpose(-2, -1)
    scaled = scores * (query.shape[-1] ** -0.5 if scaling is None else scaling)
    if attention_hook.allowed is not None:
        allowed = (
            attention_hook.allowed
            if attention_hook.allowed.dim() == 2
            else attention_hook.allowed[:, None]
        )
        masked = scaled.masked_fill(~allowed, float("-inf"))
        weights = torch.softmax(masked, -1, dtype=torch.float32).nan_to_num(0.0)
    else:
        masked = scaled if attention_mask is None else scaled + attention_mask
        weights = torch.softmax(masked, -1, dtype=torch.float32)
    weights = weights.to(query.dtype)
    output = weights @ value
    if attention_hook.sums is not None:
        attention_hook.sums.append(output.sum((0, 2)))
    if attention_hook.on is not None:
        on = attention_hook.on[..., attention_hook.layer, :, None, None]
        output = output * on
        if attention_hook.instead is not None:
            output = output + (1 - on) * attention_hook.instead[attention_hook.layer, :, None]
    if attention_hook.note:
        attention_hook.weights.append(weights)
        attention_hook.norms.append(value.norm(dim=-1))
    if attention_hook.record_layer == attention_hook.layer:
        attention_hook.stages = HookedStages(
            query, key, value, scores, scaled, masked, weights, output
        )
    attention_hook.layer += 1
    if attention_hook.each is not None:
        attention_hook.each(attention_hook.layer)
    return output.transpose(1, 2).contiguous(), weights


def register() -> None:
    """Register the attention function with transformers as `NAME`, with the masks of "eager"."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import eager_mask

    AttentionInterface.register(NAME, attention)
    AttentionMaskInterface.register(NAME, eager_mask)
