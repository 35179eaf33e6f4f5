"""Self-attention of one trained layer, number by number: `walk_layer`."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.compute.attention.walkthrough import AttentionWalkthrough, Roles, attend_with
from seqviz.models import attention_hook, texts
from seqviz.models.forward_cache import run_network
from seqviz.models.pretrained import Pretrained, load
from seqviz.models.texts import ModelText, Tokens


def walk_layer(
    model: str, text: ModelText, layer: int = 0, scale: str = "d_k", temperature: float = 1.0,
    operator: str = "add", causal: bool = False,
) -> AttentionWalkthrough:  # fmt: skip
    """Compute the attention of one layer of BERT's form from its weights and what it reads.

    Args:
        model: name of the model.
        text: the text.
        layer: layer, from 0, clipped to the model's last one.
        scale: as in `scaled.divisor`.
        temperature: as in `scaled.attend`.
        operator: as in `scaled.attend`.
        causal: True where a token attends to itself and to earlier ones only.

    Raises:
        ValueError: for a model whose layers are not those of BERT.
    """
    pretrained = load(model)
    if pretrained.network.config.model_type != "bert":
        raise ValueError(f"{model} has no layers of BERT's form.")
    tokens = texts.tokens(pretrained, text)
    read, parts = _read_by(pretrained, tokens, min(layer, pretrained.card.layers - 1))
    *learned, output = parts
    heads, n = pretrained.card.heads, len(read)
    d_k = read.shape[1] // heads
    queries, keys, values = (
        (read @ weight + bias).reshape(n, heads, d_k).swapaxes(0, 1) for weight, bias in learned
    )
    weights = Roles(*(weight.reshape(-1, heads, d_k).swapaxes(0, 1) for weight, _ in learned))
    return attend_with(
        tokens.pieces, tokens.ids, read, weights, Roles(queries, keys, values), output,
        scale, temperature, operator, causal, origin="trained",
    )  # fmt: skip


def _read_by(
    pretrained: Pretrained, tokens: Tokens, layer: int
) -> tuple[Float[np.ndarray, "token d"], list[tuple[np.ndarray, np.ndarray]]]:
    """Return the vectors that a layer reads, and its right factors with their biases."""

    def work(network: Any, device: str) -> Any:
        with attention_hook.hooked(attention_hook.AttentionHook(note=False)):
            output = run_network(
                network, pretrained, tokens.ids[None], tokens.segments[None], device, hidden=True
            )
        attention = network.encoder.layer[layer].attention
        modules = (attention.self.query, attention.self.key, attention.self.value,
                   attention.output.dense)  # fmt: skip
        return (
            output.hidden_states[layer][0].float().cpu().numpy(),
            [
                (m.weight.detach().float().cpu().numpy().T, m.bias.detach().float().cpu().numpy())
                for m in modules
            ],
        )

    return pretrained.run(work)
