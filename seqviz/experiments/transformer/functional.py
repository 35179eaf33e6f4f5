"""Forward pass in parts, with separate interventions for each text of a batch.

The modules are those of the shared model and are not changed: each row of the batch carries its
interventions. Rows share the layers below their first change, so a late change is cheap. Supported
are decoders of the Llama family (pre-norm) and encoders of the BERT family (post-norm).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from seqviz.models import attention_hook as taps

INTERVENTION_PARTS = ("attention", "mlp", "residual", "norm")
PUT_PARTS = ("attention", "mlp", "stream")
Watch = Callable[[str, int, Any], None]


@dataclass(frozen=True)
class Factor:
    """Factor of a part of a layer; 0 switches it off, 1 leaves it unchanged.

    Attributes:
        part: one of `INTERVENTION_PARTS`. "residual" scales the skip connections around attention
            and MLP; "norm" interpolates between the unnormalized (0) and the normalized (1) vector.
        layer: number of the layer.
        by: the factor.
        unit: one head of "attention" or one neuron of "mlp"; None for the complete part.
    """

    part: str
    layer: int
    by: float = 0.0
    unit: int | None = None


@dataclass(frozen=True)
class Put:
    """Vector that replaces a part's output or is added to it.

    Attributes:
        part: "attention", "mlp", or "stream" for the input of the layer.
        layer: number of the layer.
        vector: [d_model] or [token, d_model].
        add: True to add the vector.
        at: position of the token; None for all.
    """

    part: str
    layer: int
    vector: np.ndarray
    add: bool = False
    at: int | None = None


@dataclass(frozen=True)
class Variant:
    """Interventions in one row of the batch; none by default.

    Attributes:
        factors: factors of parts.
        puts: vectors in place of outputs.
        order: layers from bottom to top, each as often as it is named; None for the model's order.
    """

    factors: tuple[Factor, ...] = ()
    puts: tuple[Put, ...] = ()
    order: tuple[int, ...] | None = None


def off(part: str, layer: int, unit: int | None = None) -> Variant:
    """Return the variant with a part of a layer switched off.

    Args:
        part: one of `INTERVENTION_PARTS`.
        layer: number of the layer.
        unit: head or neuron; None for the complete part.
    """
    return Variant((Factor(part, layer, 0.0, unit),))


def skipped(layers: int, layer: int) -> Variant:
    """Return the variant without one layer.

    Args:
        layers: number of layers.
        layer: the layer.
    """
    return Variant(order=tuple(k for k in range(layers) if k != layer))


def swapped(layers: int, left: int, right: int) -> Variant:
    """Return the variant with two layers exchanged.

    Args:
        layers: number of layers.
        left: a layer.
        right: the other layer.
    """
    positions = {left: right, right: left}
    return Variant(order=tuple(positions.get(k, k) for k in range(layers)))


def repeated(layers: int, layer: int) -> Variant:
    """Return the variant that runs a layer twice in succession.

    Args:
        layers: number of layers.
        layer: the layer.
    """
    return Variant(order=tuple(k for k in range(layers) for _ in range(1 + (k == layer))))


class NetworkParts:
    """Parts of a pretrained network under common names.

    Args:
        network: the network.
        ids: token ids of the text.
        segments: segment ids.
        device: torch device.

    Raises:
        ValueError: a network of another family.
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
        """Return the output of a layer's attention, [batch, token, d_model].

        Args:
            layer: number of the layer.
            x: input, [batch, token, d_model].
        """
        block = self.blocks[layer]
        if self.kind == "llama":
            return block.self_attn(
                hidden_states=x, attention_mask=self.mask, position_embeddings=self.rotary
            )[0]
        return block.attention.output.dense(block.attention.self(x, None)[0])

    def neurons(self, layer: int, x: Any) -> Any:
        """Return the neurons of a layer's MLP, [batch, token, neuron].

        Args:
            layer: number of the layer.
            x: input, [batch, token, d_model].
        """
        block = self.blocks[layer]
        if self.kind == "llama":
            return block.mlp.act_fn(block.mlp.gate_proj(x)) * block.mlp.up_proj(x)
        return block.intermediate(x)

    def down(self, layer: int) -> Any:
        """Return the linear layer from neurons to the output of an MLP."""
        block = self.blocks[layer]
        return block.mlp.down_proj if self.kind == "llama" else block.output.dense

    def output(self, layer: int) -> Any:
        """Return the linear layer from heads to the output of an attention."""
        block = self.blocks[layer]
        return block.self_attn.o_proj if self.kind == "llama" else block.attention.output.dense

    def norms(self, layer: int) -> tuple[Any, Any]:
        """Return the normalizations of attention and MLP of a layer."""
        block = self.blocks[layer]
        if self.kind == "llama":
            return block.input_layernorm, block.post_attention_layernorm
        return block.attention.output.LayerNorm, block.output.LayerNorm

    def last(self, x: Any) -> Any:
        """Return the network's output for the stream of the last layer, normalized in a decoder."""
        return self.body.norm(x) if self.kind == "llama" else x


class _Batch:
    """Rows that run together, each with its own factors and vectors."""

    def __init__(self, parts: NetworkParts, variants: Sequence[Variant], watch: Watch | None):
        self.parts, self.variants, self.watch = parts, variants, watch

    def factor(self, part: str, layer: int, rows: Sequence[int]) -> Any:
        """Return the rows' factors [row, 1, 1] of a part; None if all are 1."""
        results = [
            next((f.by for f in self.variants[row].factors
                  if (f.part, f.layer, f.unit) == (part, layer, None)), 1.0)
            for row in rows
        ]  # fmt: skip
        return (
            None if set(results) <= {1.0} else self.parts.first.new_tensor(results)[:, None, None]
        )

    def units(self, part: str, layer: int, rows: Sequence[int], count: int) -> Any:
        """Return the rows' factors [row, unit] of heads or neurons; None if all are 1."""
        result = self.parts.first.new_ones(len(rows), count)
        for at, row in enumerate(rows):
            for f in self.variants[row].factors:
                if f.part == part and f.layer == layer and f.unit is not None:
                    result[at, f.unit] = f.by
        return None if bool((result == 1).all()) else result

    def put(self, part: str, layer: int, rows: Sequence[int], x: Any) -> Any:
        """Return x [row, token, d_model] with the vectors of the rows."""
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
        """Return the normalized vectors, or their mixture with the input."""
        share = self.factor("norm", layer, rows)
        result = norm(x) if share is None else share * norm(x) + (1 - share) * x
        self.report("normalized", layer, result)
        return result

    def added(self, part: str, layer: int, rows: Sequence[int], x: Any) -> Any:
        """Return the output of attention or MLP of a layer for these rows."""
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
            self.report("weights", layer, attention_hook.stages.weights)  # type: ignore[union-attr]
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
        """Run these rows through one layer."""
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
    """Run variants in one batch and return the stream after the last layer.

    Rows run from their first change; with `watch`, every row runs from the bottom.

    Args:
        parts: parts of the network on a text.
        variants: interventions of each row.
        watch: called with the outputs of the running rows: ("heads", layer, [row, head, token,
            d_k]), ("weights", layer, [row, head, query, key]), ("neurons", layer, [row, token,
            neuron]), ("normalized", "attention", "mlp" or "stream", layer, [row, token, d_model]),
            where the stream is that after the layer and each layer has two normalizations.

    Returns:
        [variant, token, d_model], before `NetworkParts.last`.

    Raises:
        ValueError: unknown layer or part.
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
    """Return the step at which a variant first differs from the model."""
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
    factors = {factor.part for v in variants for factor in v.factors}
    puts = {item.part for v in variants for item in v.puts}
    for named_parts, choices in ((factors, INTERVENTION_PARTS), (puts, PUT_PARTS)):
        if strangers := sorted(named_parts - set(choices)):
            raise ValueError(f"A part is one of {', '.join(choices)}, not {strangers[0]!r}.")
