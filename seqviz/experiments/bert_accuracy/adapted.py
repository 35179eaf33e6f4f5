"""Encoders with a fill-in head: low-rank changes (LoRA) and a head around shared weights.

Imports torch; import it where it is used. The shared model is not changed: an adapted one is a copy
around the same tensors plus a few megabytes.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import torch
from torch.nn.functional import gelu, layer_norm, linear

Tensors = Mapping[str, torch.Tensor]
_A, _B = ".lora_A.weight", ".lora_B.weight"


def _own(tensor: torch.Tensor) -> torch.nn.Parameter:
    """Return a frozen float32 copy, as a tensor that was read lies in its file (`unmapped`)."""
    copied = tensor.to(torch.float32, copy=True)
    return torch.nn.Parameter(copied, requires_grad=False)


class LowRank(torch.nn.Module):
    """Linear layer with a low-rank change: y = W x + b + scale * B A x.

    Args:
        layer: linear layer with W and b, which are shared.
        A: [rank, in].
        B: [out, rank].
        scale: factor of the change.

    References:
        Hu et al. (2022), "LoRA", equation 3.
    """

    def __init__(self, layer: torch.nn.Linear, A: torch.Tensor, B: torch.Tensor, scale: float):
        super().__init__()
        self.layer, self.scale = layer, scale
        self.A, self.B = _own(A), _own(B)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x) + self.scale * linear(linear(x, self.A), self.B)


class FillInHead(torch.nn.Module):
    """Fill-in head: scores of all tokens of the vocabulary from a vector of the last layer.

    h = layer_norm(gelu(v W^T + b)); scores = h E^T + bias, where E is the encoder's word embedding
    (Devlin et al. 2019; the decoder is tied).

    Args:
        words: E, [vocabulary, d_model], shared with the encoder.
        dense: W and b.
        norm: gain and shift of the layer norm.
        bias: bias of the scores, [vocabulary].
        embedding: [rank, d_model] and [vocabulary, rank], a low-rank change of E for the scores
            only.
        eps: epsilon of the layer norm.
    """

    def __init__(
        self,
        words: torch.nn.Parameter,
        dense: tuple[torch.Tensor, torch.Tensor],
        norm: tuple[torch.Tensor, torch.Tensor],
        bias: torch.Tensor,
        embedding: tuple[torch.Tensor, torch.Tensor] | None = None,
        eps: float = 1e-5,
    ):
        super().__init__()
        self.words, self.eps = words, eps
        self.W, self.b = map(_own, dense)
        self.gain, self.shift = map(_own, norm)
        self.bias = _own(bias)
        self.embedding_a = _own(embedding[0]) if embedding else None
        self.embedding_b = _own(embedding[1]) if embedding else None

    def forward(self, v: torch.Tensor) -> torch.Tensor:
        h = layer_norm(
            gelu(linear(v, self.W, self.b)), self.b.shape, self.gain, self.shift, self.eps
        )
        scores = linear(h, self.words, self.bias)
        if self.embedding_a is not None and self.embedding_b is not None:
            scores = scores + linear(linear(h, self.embedding_a), self.embedding_b)
        return scores


def sharing_copy(network: Any) -> Any:
    """Return a copy of the network's modules around the same tensors."""
    same = {id(tensor): tensor for tensor in (*network.parameters(), *network.buffers())}
    return copy.deepcopy(network, same)


def with_low_rank(network: Any, tensors: Tensors, scale: float) -> Any:
    """Return a copy with a `LowRank` in place of each linear layer that has a change.

    Args:
        network: the network.
        tensors: `<layer>.lora_A.weight` and `<layer>.lora_B.weight`, named as in peft.
        scale: factor of the changes.
    """
    other = sharing_copy(network)
    for key in tensors:
        if key.endswith(_A):
            name = key.removesuffix(_A)
            layer = other.get_submodule(name)
            other.set_submodule(name, LowRank(layer, tensors[key], tensors[name + _B], scale))
    return other


def with_shipped_head(network: Any, tensors: Tensors, scale: float) -> Any:
    """Return a copy with the low-rank changes and the head of a shipped file as `fill_in`.

    Args:
        network: the network.
        tensors: tensors of the file, by name.
        scale: factor of the changes.
    """
    other = with_low_rank(network, tensors, scale)
    low = ("embedding.lora_A", "embedding.lora_B")
    other.fill_in = FillInHead(
        other.get_input_embeddings().weight,
        (tensors["dense.weight"], tensors["dense.bias"]),
        (tensors["norm.weight"], tensors["norm.bias"]),
        tensors["bias"],
        (tensors[low[0]], tensors[low[1]]) if low[0] in tensors else None,
    )
    return other.to(network.device).eval()


# Names of the head in files of BERT and DistilBERT: dense layer, layer norm, prefix of the bias.
_PUBLISHED = (
    ("cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm", "cls.predictions."),
    ("vocab_transform", "vocab_layer_norm", "vocab_projector."),
)


def with_own_head(network: Any, tensors: Tensors) -> Any:
    """Return a copy with the head of the network's published file as `fill_in`.

    Args:
        network: the network.
        tensors: tensors of the file, by name; old files call gain and shift of a layer norm gamma
            and beta.

    Returns:
        The copy; None if the file has no head.
    """
    for dense, norm, last in _PUBLISHED:
        if f"{last}bias" not in tensors or f"{dense}.weight" not in tensors:
            continue
        gain, shift = ("weight", "bias") if f"{norm}.weight" in tensors else ("gamma", "beta")
        other = sharing_copy(network)
        other.fill_in = FillInHead(
            other.get_input_embeddings().weight,
            (tensors[f"{dense}.weight"], tensors[f"{dense}.bias"]),
            (tensors[f"{norm}.{gain}"], tensors[f"{norm}.{shift}"]),
            tensors[f"{last}bias"],
            eps=1e-12,  # of the architecture; a constant in DistilBERT
        )
        return other.to(network.device).eval()
    return None
