"""A look into the attention of any transformer of the library, and a hand on it, for one pass.

`transformers` lets a program bring its own attention function. Ours is the textbook's, stage by
stage, and talks to a `Tap`: what the pass is asked to note (weights, queries, keys, scores) and to
change (another mask, heads switched off). A tap belongs to one pass in one thread, so two students
with different heads switched off share one model.
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
    """One layer's attention from the inside, tensors [batch, head, query or key, ...].

    queries, keys: after the rotation of rotary positions, where the model has them. keys and values
    that several heads share are repeated for each. forbidden: added to the scaled scores.
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
    """What to note and what to change in one forward pass.

    allowed: bool [query, key] or [batch, query, key] in place of the model's own mask. on: float
    [layer, head] or [batch, layer, head], the factor on each head's output. instead: float [layer,
    head, d_k], what takes the place of the output of a head that is off. record_layer: the layer
    whose stages are kept. weights: filled with one tensor [batch, head, query, key] per layer.
    norms: filled with one tensor [batch, head, key] per layer, the Euclidean norms of the values.
    sums: where it is a list, filled with one tensor [head, d_k] per layer, the heads' outputs added
    over all tokens. each: called with the number of the layer that is done; what it raises ends the
    pass.
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
    """Every forward pass of this thread within the body goes through the tap."""
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
    """Scaled dot-product attention as in Vaswani et al. (2017), equation 1, head by head.

    query: [batch, head, query, d_k]; key, value: [batch, shared head, key, d_k]. attention_mask: 0
    where allowed and a very negative number elsewhere, or None. A query without any allowed key
    gets no weights and the output 0. Returns the output [batch, query, head, d_k] and the weights.
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
    """Make the attention known to transformers under `NAME`; the masks are those of "eager"."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import eager_mask

    AttentionInterface.register(NAME, attention)
    AttentionMaskInterface.register(NAME, eager_mask)
