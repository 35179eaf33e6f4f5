"""A forward pass that is written out, so that each text of a batch can have changes of its own.

The modules are those of the shared model and nobody changes them: a change goes along with its row
of the batch. Rows share the layers below their first change, so that what is changed late costs
little. Decoders of the Llama family (the normalization stands before each part) and encoders of the
BERT family (it stands behind each sum).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from seqviz.models import attention_hook as taps

INTERVENTION_PARTS = ("attention", "mlp", "residual", "norm")
Watch = Callable[[str, int, Any], None]


@dataclass(frozen=True)
class Factor:
    """What a part of a layer is multiplied with: 0 switches it off, 1 leaves it.

    part: one of `PARTS`. Of "residual" it is what goes around attention and MLP; of "norm" 0 gives
    the vector as it is in place of the normalized one, and what lies between mixes both. unit: of
    "attention" one head, of "mlp" one neuron; None: all of the part.
    """

    part: str
    layer: int
    by: float = 0.0
    unit: int | None = None


@dataclass(frozen=True)
class Put:
    """A vector in place of a part's output, or (`add`) added to it.

    part: "attention", "mlp", or "stream" for what enters the layer. vector: [d_model], or
    [token, d_model]. at: the token whose output it is; None: of all.
    """

    part: str
    layer: int
    vector: np.ndarray
    add: bool = False
    at: int | None = None


@dataclass(frozen=True)
class Variant:
    """What is different in one row of the batch; nothing by default.

    order: the layers from bottom to top, each as often as it is named; None: as they are.
    """

    factors: tuple[Factor, ...] = ()
    puts: tuple[Put, ...] = ()
    order: tuple[int, ...] | None = None


def off(part: str, layer: int, unit: int | None = None) -> Variant:
    """The variant in which a part of a layer is switched off."""
    return Variant((Factor(part, layer, 0.0, unit),))


def skipped(layers: int, layer: int) -> Variant:
    """The variant without one layer."""
    return Variant(order=tuple(k for k in range(layers) if k != layer))


def swapped(layers: int, left: int, right: int) -> Variant:
    """The variant in which two layers stand in each other's place."""
    positions = {left: right, right: left}
    return Variant(order=tuple(positions.get(k, k) for k in range(layers)))


def repeated(layers: int, layer: int) -> Variant:
    """The variant in which a layer is run twice, one time after the other."""
    return Variant(order=tuple(k for k in range(layers) for _ in range(1 + (k == layer))))


class NetworkParts:
    """The parts of a pretrained network by one set of names.

    Raises ValueError for a network of another family.
    """

    def __init__(self, network: Any, ids: np.ndarray, segments: np.ndarray, device: str):
        import torch

        self.network, self.kind = network, network.config.model_type
        if self.kind not in ("llama", "bert"):
            raise ValueError(f"There is no forward pass of parts for a {self.kind!r} network.")
        body = network.model if self.kind == "llama" else network
        self.body = body
        self.blocks = body.layers if self.kind == "llama" else body.encoder.layer
        tokens = torch.tensor(ids, device=device)[None]
        if self.kind == "llama":
            self.first = body.embed_tokens(tokens)
            positions = torch.arange(len(ids), device=device)[None]
            self.rotary = body.rotary_emb(self.first, position_ids=positions)
            mask = torch.full((len(ids), len(ids)), torch.finfo(self.first.dtype).min)
            self.mask = mask.triu(1).to(self.first.dtype).to(device)[None, None]
        else:
            self.first = body.embeddings(tokens, torch.tensor(segments, device=device)[None])

    def attention(self, layer: int, x: Any) -> Any:
        """What the attention of a layer adds, [batch, token, d_model]."""
        block = self.blocks[layer]
        if self.kind == "llama":
            return block.self_attn(
                hidden_states=x, attention_mask=self.mask, position_embeddings=self.rotary
            )[0]
        return block.attention.output.dense(block.attention.self(x, None)[0])

    def neurons(self, layer: int, x: Any) -> Any:
        """The neurons of the MLP of a layer, [batch, token, neuron]."""
        block = self.blocks[layer]
        if self.kind == "llama":
            return block.mlp.act_fn(block.mlp.gate_proj(x)) * block.mlp.up_proj(x)
        return block.intermediate(x)

    def down(self, layer: int) -> Any:
        """The linear layer from the neurons of a layer to what the MLP adds."""
        block = self.blocks[layer]
        return block.mlp.down_proj if self.kind == "llama" else block.output.dense

    def output(self, layer: int) -> Any:
        """The linear layer from the heads of a layer to what the attention adds."""
        block = self.blocks[layer]
        return block.self_attn.o_proj if self.kind == "llama" else block.attention.output.dense

    def norms(self, layer: int) -> tuple[Any, Any]:
        """The normalization of the attention and that of the MLP."""
        block = self.blocks[layer]
        if self.kind == "llama":
            return block.input_layernorm, block.post_attention_layernorm
        return block.attention.output.LayerNorm, block.output.LayerNorm

    def last(self, x: Any) -> Any:
        """The stream behind the last layer as the network gives it: normalized, in a decoder."""
        return self.body.norm(x) if self.kind == "llama" else x


class _Batch:
    """Rows that run together, each with its own factors and vectors."""

    def __init__(self, parts: NetworkParts, variants: Sequence[Variant], watch: Watch | None):
        self.parts, self.variants, self.watch = parts, variants, watch

    def factor(self, part: str, layer: int, rows: Sequence[int]) -> Any:
        """[row, 1, 1], or None where every row leaves the part as it is."""
        results = [
            next((f.by for f in self.variants[row].factors
                  if (f.part, f.layer, f.unit) == (part, layer, None)), 1.0)
            for row in rows
        ]  # fmt: skip
        return (
            None if set(results) <= {1.0} else self.parts.first.new_tensor(results)[:, None, None]
        )

    def units(self, part: str, layer: int, rows: Sequence[int], count: int) -> Any:
        """[row, unit], or None where every row leaves all units as they are."""
        result = self.parts.first.new_ones(len(rows), count)
        for at, row in enumerate(rows):
            for f in self.variants[row].factors:
                if f.part == part and f.layer == layer and f.unit is not None:
                    result[at, f.unit] = f.by
        return None if bool((result == 1).all()) else result

    def put(self, part: str, layer: int, rows: Sequence[int], x: Any) -> Any:
        """x [row, token, d_model] with the vectors that rows bring along."""
        for at, row in enumerate(rows):
            for item in self.variants[row].puts:
                if (item.part, item.layer) != (part, layer):
                    continue
                where = slice(None) if item.at is None else item.at
                vector = x.new_tensor(item.vector)
                x = x.clone()
                x[at, where] = x[at, where] + vector if item.add else vector
        return x

    def normed(self, norm: Any, layer: int, rows: Sequence[int], x: Any) -> Any:
        """The normalized vectors, or in part those that came."""
        share = self.factor("norm", layer, rows)
        return norm(x) if share is None else share * norm(x) + (1 - share) * x

    def added(self, part: str, layer: int, rows: Sequence[int], x: Any) -> Any:
        """What attention or MLP of a layer gives these rows."""
        parts = self.parts
        if part == "attention":
            heads = parts.network.config.num_attention_heads
            on = self.units(part, layer, rows, heads)
            attention_hook = taps.AttentionHook(
                on=None if on is None else on[:, None], record_layer=0, note=False
            )
            with taps.hooked(attention_hook):
                result = parts.attention(layer, x)
            self.report("heads", layer, attention_hook.stages.output)  # type: ignore[union-attr]
        else:
            neurons = parts.neurons(layer, x)
            on = self.units(part, layer, rows, neurons.shape[-1])
            neurons = neurons if on is None else neurons * on[:, None]
            self.report("neurons", layer, neurons)
            result = parts.down(layer)(neurons)
        by = self.factor(part, layer, rows)
        result = self.put(part, layer, rows, result if by is None else result * by)
        self.report(part, layer, result)
        return result

    def report(self, part: str, layer: int, x: Any) -> None:
        if self.watch is not None:
            self.watch(part, layer, x)

    def through(self, layer: int, rows: Sequence[int], x: Any) -> Any:
        """These rows through one layer."""
        x = self.put("stream", layer, rows, x)
        for part, norm in zip(("attention", "mlp"), self.parts.norms(layer), strict=True):
            around = self.factor("residual", layer, rows)
            retained = x if around is None else x * around
            if self.parts.kind == "llama":
                x = retained + self.added(part, layer, rows, self.normed(norm, layer, rows, x))
            else:
                x = self.normed(norm, layer, rows, self.added(part, layer, rows, x) + retained)
        self.report("stream", layer, x)
        return x


def forward(parts: NetworkParts, variants: Sequence[Variant], watch: Watch | None = None) -> Any:
    """The vectors behind the last layer, [variant, token, d_model], before `Parts.last`.

    watch: called with what the rows that run give: ("heads", layer, [row, head, token, d_k]),
    ("neurons", layer, [row, token, neuron]), ("attention", "mlp" or "stream", layer, [row, token,
    d_model]), the stream behind the layer; every row runs from the bottom then. Without it rows
    run from their first change on. Raises ValueError for a layer that there is not.
    """
    import torch

    count = len(parts.blocks)
    own = tuple(range(count))
    orders = [own if variant.order is None else variant.order for variant in variants]
    _check(variants, orders, count)
    batch = _Batch(parts, variants, watch)
    plain = _Batch(parts, (Variant(),), None)
    starts = [0 if watch else _first(v, o, count) for v, o in zip(variants, orders, strict=True)]
    before = parts.first  # the stream of a text without changes
    x = before[:0].expand(0, *before.shape[1:])
    running: list[int] = []
    for step in range(max(map(len, orders), default=0) + 1):
        new = [row for row, start in enumerate(starts) if start == step]
        if new:
            x = torch.cat([x, before.expand(len(new), *before.shape[1:])])
            running += new
        for layer in {orders[row][step] for row in running if step < len(orders[row])}:
            at = [k for k, row in enumerate(running) if orders[row][step : step + 1] == (layer,)]
            rows = [running[k] for k in at]
            if len(at) == len(running):
                x = batch.through(layer, rows, x)
            else:
                x = x.index_copy(0, torch.tensor(at, device=x.device),
                                 batch.through(layer, rows, x[at]))  # fmt: skip
        if step < max(starts, default=0):
            before = plain.through(step, [0], before)
    back = sorted(range(len(running)), key=lambda k: running[k])
    return x if all(a < b for a, b in pairwise(back)) else x[back]


def _first(variant: Variant, order: tuple[int, ...], count: int) -> int:
    """The step at which a variant is first another than the model as it is."""
    changed = [
        *(factor.layer for factor in variant.factors),
        *(item.layer for item in variant.puts),
    ]
    moved = [step for step, layer in enumerate(order) if layer != step]
    short = [len(order)] if len(order) < count else []
    return min([*changed, *moved[:1], *short, count])


def _check(variants: Sequence[Variant], orders: Sequence[tuple[int, ...]], count: int) -> None:
    named = [factor.layer for v in variants for factor in v.factors]
    named += [item.layer for v in variants for item in v.puts]
    named += [layer for order in orders for layer in order]
    if strange := sorted({layer for layer in named if not 0 <= layer < count}):
        raise ValueError(f"There is no layer {strange[0]}: they go from 0 to {count - 1}.")
    parts = {factor.part for v in variants for factor in v.factors} - set(INTERVENTION_PARTS)
    if parts:
        raise ValueError(
            f"A part is one of {', '.join(INTERVENTION_PARTS)}, not {sorted(parts)[0]!r}."
        )
